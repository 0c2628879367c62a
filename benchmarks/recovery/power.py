"""Power: how many rows the search needs to find a set, beside an oracle that tests the true set alone.

The search must find exactly the set among noise columns. The oracle computes the same p-value for the true set
and nothing else. It is told the size of the set, so it pays for the C(N, m) sets of that size: who does not
know the set cannot pay less. A second oracle is told the set itself and pays nothing.

*Before* is commit 39b992e, which tested sets as a whole, without odd cells, and shared the level evenly between
sizes (`--before` names the folder src/ of a version). It learned from the same samples; the interval of the
ratio is that of whole runs drawn again. A run counts only if nothing but the set is learned. Today's level is
used more fully, so that more runs hold a false link besides (of an exclusive-or with 20 % noise about 2 %
instead of 1 %), which takes a little of what the tests gain. The row of that set is of today; the others were
run before what is shown passed its level on (docs/statistics.md), when sets without a link inside and columns
that join a link had less of the level. With k=3 Table 1 is learned in steps, so that an
oracle of all its four columns at once is no measure for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb, exp, log

import numpy as np
from numpy.typing import NDArray

from benchmarks.recovery.graphs import Task, zoo
from benchmarks.recovery.study import markdown, parser_of, publish, repeat, table_of
from benchmarks.recovery.versions import Version, links_of, with_before
from xordal import CategoricalTable, Significance
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.plain import CountingOracle
from xordal.counting.total_correlation import total_correlations
from xordal.graph.signed_sets import free_parameters
from xordal.pi.zoo import table_1
from xordal.statistics.criterion import Evidence, Sample
from xordal.types.varsets import LinkSet, SignedSets, VarSet, varset

ALPHA = 0.05
WANTED = 0.9
_STEP = 1.12  # from one number of rows to the next
_DRAWN = 1000  # choices of runs, for intervals of ratios
# As many runs as of the other sets, where the gain is small beside chance:
_TIMES = {"XOR of 3, 20 % noise, among 20, k=3": 3}

TASKS = [
    Task("XOR of 3 among 20, k=3", zoo("parity", variables=3, noise=0), 17, max_links=3),
    Task("XOR of 3, 20 % noise, among 20, k=3", zoo("parity", variables=3, noise="1/5"), 17, max_links=3),
    Task("parity of 4, 5 % noise, among 12, m=4", zoo("parity", variables=4), 8, max_variables=4),
    Task("parity of 4, 20 % noise, among 12, m=4", zoo("parity", variables=4, noise="1/5"), 8, max_variables=4),
    Task("z = (x + y) mod 3 among 6, k=3", zoo("modulus"), 3, max_links=3),
    Task("z = (x + y) mod 3, 40 % noise, among 6, k=3", zoo("modulus", noise="2/5"), 3, max_links=3),
    Task("the paper's Table 1, in steps, k=3", table_1, max_links=3),
]


@dataclass(frozen=True)
class Curve:
    """In which share of runs each number of rows sufficed."""

    n_rows: tuple[int, ...]
    shares: tuple[float, ...]

    def reaches(self, wanted: float = WANTED) -> float:
        """Return the number of rows at which the share is reached, by interpolation of the monotone curve."""
        shares = monotone(self.shares)
        place = next((at for at, share in enumerate(shares) if share >= wanted), None)
        if place is None or place == 0:
            return float("nan")
        low, high = shares[place - 1], shares[place]
        part = (wanted - low) / (high - low)
        return exp(log(self.n_rows[place - 1]) * (1 - part) + log(self.n_rows[place]) * part)


def monotone(shares: tuple[float, ...]) -> list[float]:
    """Return the nearest curve that never falls (pool adjacent violators).

    >>> monotone((0.1, 0.5, 0.3, 0.9))
    [0.1, 0.4, 0.4, 0.9]
    """
    blocks: list[list[float]] = []
    for share in shares:
        blocks.append([share])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [float(np.mean(block)) for block in blocks for _ in block]


def true_log_p(task: Task, n_rows: int, seed: int) -> float:
    """Return the log p-value of the true set in one random sample."""
    return log_p_of_all(table_of(list(task.model().joint.sample_table(n_rows, seed=seed).codes)))


def log_p_of_all(table: CategoricalTable) -> float:
    """Return the log p-value of all columns of a table as one set."""
    counter, every = NumpyCounter(table), varset(range(table.n_variables))
    change: SignedSets = {every: 1, **{VarSet(1 << v): -1 for v in range(table.n_variables)}}
    (shared,) = total_correlations(CountingOracle(counter, table.n_levels), [every])
    links = tuple(combinations(range(table.n_variables), 2))
    dof = free_parameters(change, table.n_levels)
    evidence = Evidence(every, links, change, shared, dof, table.n_rows)
    # At a level of almost 1 nothing is too weak to be given a p-value.
    judge = Significance(1 - 1e-12).on(
        Sample(table.n_levels, table.n_rows, counter, len(links), table.n_variables)
    )
    return judge.judge([evidence])[0].log_p_value or 0.0


def oracles(task: Task, runs: int, workers: int) -> tuple[Curve, Curve]:
    """Return the curves of the oracle that knows the size and of the one that knows the set."""
    size = len(task.model().joint.variables)
    level = log(ALPHA / comb(size + task.n_noise, size))
    n_rows: list[int] = []
    of_size: list[float] = []
    of_set: list[float] = []
    n = 6
    while len(of_size) < 2 or min(of_size[-2:]) < 0.99:
        log_ps = np.array(repeat(partial(true_log_p, task, n), range(runs), workers))
        n_rows.append(n)
        of_size.append(float(np.mean(log_ps <= level)))
        of_set.append(float(np.mean(log_ps <= log(ALPHA))))
        n = max(round(n * _STEP), n + 1)
    return Curve(tuple(n_rows), tuple(of_size)), Curve(tuple(n_rows), tuple(of_set))


Search = Callable[[CategoricalTable, Mapping[str, int | None]], LinkSet]


@dataclass(frozen=True)
class Searched:
    """Whether each run found the set and nothing else, shape (runs, numbers of rows)."""

    n_rows: tuple[int, ...]
    is_found: NDArray[np.bool_]

    def reaches(self, runs: NDArray[np.int64] | None = None) -> float:
        """Return the number of rows at which the wanted share of runs, or of a choice of them, is reached."""
        of_runs = self.is_found if runs is None else self.is_found[runs]
        return Curve(self.n_rows, tuple(of_runs.mean(axis=0).tolist())).reaches()


def searched(task: Task, runs: int, oracle: Curve, searches: Sequence[Search]) -> list[Searched]:
    """Return what each search finds in the same samples, from where the oracle has most of its power on."""
    n = next(rows for rows, share in zip(oracle.n_rows, oracle.shares, strict=True) if share >= 0.8)
    n_rows: list[int] = []
    found: list[NDArray[np.bool_]] = []  # of each number of rows, shape (searches, runs)
    true = task.model().graph.links
    while len(found) < 2 or min(np.mean(found[-2:], axis=2).min(axis=1)) < 0.93:
        samples = [task.sample(n, seed) for seed in range(runs)]
        n_rows.append(n)
        found.append(
            np.array([[search(table, task.settings) == true for table in samples] for search in searches])
        )
        n = max(round(n * _STEP), n + 1)
    return [Searched(tuple(n_rows), np.stack(of_one, axis=1)) for of_one in zip(*found, strict=True)]


def ratio_text(one: Searched, other: Searched) -> str:
    """Return the ratio of the rows that two searches need, with its 95 % interval: whole runs drawn again."""
    generator = np.random.default_rng(0)
    runs = len(one.is_found)
    drawn = [generator.integers(runs, size=runs) for _ in range(_DRAWN)]
    low, high = np.nanpercentile([one.reaches(some) / other.reaches(some) for some in drawn], [2.5, 97.5])
    return f"{one.reaches() / other.reaches():.2f} ({low:.2f} to {high:.2f})"


def study(fewest: int, workers: int, only: str = "", before: Version | None = None) -> str:
    """Return the table of all tasks."""
    heading = ["set", "runs", "search", "oracle, knows the size", "ratio", "oracle, knows the set"]
    if before is not None:
        heading += ["search before", "ratio (95 % interval)"]
    rows = []
    for task in TASKS:
        if only in task.name:
            runs = fewest * _TIMES.get(task.name, 1)
            of_size, of_set = oracles(task, runs, workers)
            found = searched(task, runs, of_size, [links_of, *([] if before is None else [before.links_of])])
            search, size = found[0].reaches(), of_size.reaches()
            row = [task.name, f"{runs:,}", f"{search:.0f}", f"{size:.0f}", f"{search / size:.2f}"]
            row += [f"{of_set.reaches():.0f}"]
            if before is not None:
                row += [f"{found[1].reaches():.0f}", ratio_text(*found)]
            rows.append(row)
            print(*row, flush=True)
    return markdown(heading, rows)


def main() -> None:
    """Measure, and write the page."""
    chosen = with_before(parser_of("Rows needed to find a set in 90 % of runs", runs=200)).parse_args()
    with ExitStack() as stack:
        before = None if chosen.before is None else stack.enter_context(Version(chosen.before))
        table = study(chosen.runs, chosen.workers, chosen.only, before)
    publish(__doc__, table, chosen.output)


if __name__ == "__main__":
    main()
