"""Directed networks: how much of the skeleton of a known Bayesian network is found, beside pyAgrum.

10,000 rows are drawn from each network. xordal learns a decomposable network and directs it (`to_bayesian`);
pyAgrum learns a directed one by greedy hill climbing with its default score, from the same rows. F1 compares
the pairs that are joined by an arc, whatever its direction, with those of the true network: twice the true
pairs found over the pairs found and the true ones together. Seconds are of the whole call beside other work,
to be compared within this page only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer import pyagrum_learner
from benchmarks.recovery.networks import table_of
from benchmarks.recovery.study import arguments, markdown, publish
from xordal import BIC, BayesianNetwork, learn
from xordal.formats.bif import read_bif
from xordal.learning.fitting import fit_network

NAMES = ("asia", "sachs", "child", "alarm")
N_ROWS = 10_000
HEADING = ("network", "learned by", "skeleton F1, mean (range)", "arcs", "seconds")

Codes = NDArray[np.int32]
Pairs = set[frozenset[str]]


def skeleton(network: BayesianNetwork) -> Pairs:
    """Return the pairs that an arc joins."""
    return {frozenset(arc) for arc in network.arcs}


def by_xordal(**settings: Any) -> Callable[[BayesianNetwork, Codes], Pairs]:
    """Return a learner with some settings."""

    def pairs(network: BayesianNetwork, rows: Codes) -> Pairs:
        table = table_of(network, rows)
        return skeleton(fit_network(table, learn(table, find_groups=False, **settings)).to_bayesian())

    return pairs


def by_pyagrum(network: BayesianNetwork, rows: Codes) -> Pairs:
    """Learn by greedy hill climbing with pyAgrum's default score."""
    import pandas as pd

    learner = pyagrum_learner(pd.DataFrame(rows.T.astype(str), columns=list(network.variables)))
    learner.useGreedyHillClimbing()
    found = learner.learnBN()
    return {frozenset(found.variable(end).name() for end in arc) for arc in found.arcs()}


LEARNERS: dict[str, Callable[[BayesianNetwork, Codes], Pairs]] = {
    "xordal, default": by_xordal(),
    "xordal, BIC": by_xordal(criterion=BIC()),
    "pyAgrum, hill climbing": by_pyagrum,
}


def f1(found: Pairs, true: Pairs) -> float:
    """Return the harmonic mean of the share of found pairs that are true and of true pairs that are found."""
    return 2 * len(found & true) / (len(found) + len(true))


def rows_of(name: str, network: BayesianNetwork, n_runs: int) -> Iterator[tuple[tuple[object, ...], float]]:
    """Yield the lines of one network, with the mean F1."""
    true = skeleton(network)
    for label, learner in LEARNERS.items():
        scores, seconds, sizes = [], [], []
        for seed in range(n_runs):
            rows = network.sample_codes(N_ROWS, seed)
            started = perf_counter()
            found = learner(network, rows)
            seconds.append(perf_counter() - started)
            scores.append(f1(found, true))
            sizes.append(len(found))
        told = f"{np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})"
        size = f"{np.mean(sizes):.1f} of {len(true)}"
        yield (name, label, told, size, f"{np.mean(seconds):.1f}"), float(np.mean(scores))


def main() -> None:
    """Measure all networks."""
    chosen = arguments("How much of a known skeleton is found", runs=5)
    folder = Path(os.environ.get("XORDAL_DATA", "")) / "bif"
    if "XORDAL_DATA" not in os.environ or not folder.is_dir():
        sys.exit("Skipped: set XORDAL_DATA to the folder that holds bif/asia.bif and the like.")
    rows: list[tuple[object, ...]] = []
    means: dict[str, list[float]] = {label: [] for label in LEARNERS}
    for name in NAMES:
        if chosen.only in name:
            network = read_bif((folder / f"{name}.bif").read_text(encoding="utf-8"))
            for row, mean in rows_of(name, network, chosen.runs):
                print(*row, flush=True)
                rows.append(row)
                means[str(row[1])].append(mean)
    rows += [("all, on average", label, f"{np.mean(found):.3f}", "", "") for label, found in means.items()]
    print(*rows[-len(LEARNERS) :], sep="\n")
    publish(__doc__, markdown(HEADING, rows), chosen.output)


if __name__ == "__main__":
    main()
