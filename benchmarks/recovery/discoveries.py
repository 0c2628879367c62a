"""Discoveries: the share of false sets among those that are accepted, and how many more are found.

Columns stand in planted groups of two or three, which do not depend on each other, beside columns of noise. A
set that is learned is false if it holds a piece that gains nothing when it comes in. Listed are, by the
default, `Significance(0.05)`, and by `Significance(0.05, control="fdr")`, the true sets that a run learns on
average, and the false discovery rate: the average over runs of the share of false sets, 0 where nothing is
learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.recovery.study import arguments, markdown, publish, repeat, table_of
from xordal import Significance, learn
from xordal.graph.chordal import ChordalGraph
from xordal.graph.pieces import pieces
from xordal.types.choices import Control
from xordal.types.trace import TraceEntry
from xordal.types.varsets import members, varset

ALPHA = 0.05
Group = Callable[[int, np.random.Generator], list[NDArray[np.int64]]]


def pair(agrees: float, share: float, n_rows: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Two columns of two levels, the second mostly a copy of the first."""
    x = (generator.random(n_rows) < share).astype(np.int64)
    other = (generator.random(n_rows) < share).astype(np.int64)
    return [x, np.where(generator.random(n_rows) < agrees, x, other)]


def of_levels(
    n_levels: int, agrees: float, n_rows: int, generator: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Two columns of several levels, the second sometimes a copy of the first."""
    x, other = generator.integers(n_levels, size=(2, n_rows))
    return [x, np.where(generator.random(n_rows) < agrees, x, other)]


def xor(noise: float, n_rows: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Three columns, an exclusive-or that is broken in a share of rows."""
    x, y = generator.integers(2, size=(2, n_rows))
    return [x, y, x ^ y ^ (generator.random(n_rows) < noise)]


@dataclass(frozen=True)
class Setting:
    """Groups, columns of noise and rows."""

    name: str
    group: Callable[..., list[NDArray[np.int64]]]
    n_groups: int
    n_noise: int
    n_rows: int
    n_levels: int = 2
    max_links: int = 3

    def found(self, control: Control, seed: int) -> tuple[int, int]:
        """Return how many true and how many false sets one run learns."""
        generator = np.random.default_rng([seed, 15])
        drawn = [self.group(self.n_rows, generator) for _ in range(self.n_groups)]
        noise = generator.integers(self.n_levels, size=(self.n_noise, self.n_rows))
        table = table_of([*(column for group in drawn for column in group), *noise])
        size = len(drawn[0]) if drawn else 1
        groups = [set(range(size * g, size * (g + 1))) for g in range(self.n_groups)]
        criterion = Significance(ALPHA, control=control)
        learned = learn(
            table, criterion=criterion, max_links=self.max_links, find_groups=False, find_rules=False
        )
        false = sum(verdicts(learned.trace, groups, table.n_variables))
        return sum(entry.action == "add" for entry in learned.trace) - false, false


def verdicts(trace: Iterable[TraceEntry], groups: list[set[int]], n_variables: int) -> list[bool]:
    """Return of each set that was learned whether it is false: whether a piece of it gained nothing."""
    graph, found = ChordalGraph.empty(n_variables), []
    for entry in trace:
        if entry.action == "remove":
            graph = graph.without(entry.links)
            continue
        inside = {v for link in entry.links for v in link}
        found.append(
            any(
                not any(group & own and group & (inside - own) and group <= inside for group in groups)
                for own in (set(members(u)) for u in pieces(varset(inside), entry.links))
            )
        )
        graph = graph.add(entry.links)
    return found


SETTINGS = [
    Setting("nothing, 40 coins, n=500", pair, 0, 40, 500),
    Setting("20 pairs, 20 coins, n=300", partial(pair, 0.3, 0.5), 20, 20, 300),
    Setting("40 pairs, n=300", partial(pair, 0.3, 0.5), 40, 0, 300),
    Setting("10 pairs, 80 coins, n=300", partial(pair, 0.3, 0.5), 10, 80, 300),
    Setting("20 pairs of shares of 5 %, 20 coins, n=500", partial(pair, 0.3, 0.05), 20, 20, 500),
    Setting("20 pairs, 60 coins, n=2000, k=1", partial(pair, 0.1, 0.5), 20, 60, 2000, 2, 1),
    Setting("60 pairs, n=1000, k=1", partial(pair, 0.15, 0.5), 60, 0, 1000, 2, 1),
    Setting("10 exclusive-ors, 10 coins, n=100", partial(xor, 0.2), 10, 10, 100),
    Setting("20 exclusive-ors, n=100", partial(xor, 0.2), 20, 0, 100),
    Setting("15 pairs of 8 levels, 10 columns, n=500, k=1", partial(of_levels, 8, 0.2), 15, 10, 500, 8, 1),
]


def study(runs: int, workers: int, only: str = "") -> str:
    """Return the table of all settings."""
    rows = []
    for setting in SETTINGS:
        if only in setting.name:
            line: list[object] = [setting.name, runs]
            for control in ("fwer", "fdr"):
                found = np.array(repeat(partial(setting.found, control), range(runs), workers))
                shares = found[:, 1] / np.maximum(found.sum(axis=1), 1)
                error = shares.std(ddof=1) / runs**0.5
                rate = f"{100 * shares.mean():.2f} % (up to {100 * (shares.mean() + 1.96 * error):.2f})"
                line += [f"{found[:, 0].mean():.2f}", rate]
            rows.append(tuple(line))
            print(*line, flush=True)
    heading = ("groups", "runs", "true sets", "rate (95 % limit)", 'true sets, "fdr"', "rate (95 % limit)")
    return markdown(heading, rows)


if __name__ == "__main__":
    chosen = arguments("The share of false sets, and how many true ones are found", runs=200)
    publish(__doc__, study(chosen.runs, chosen.workers, chosen.only), chosen.output)
