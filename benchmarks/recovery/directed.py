"""Directed networks: arcs and marks where both are known, and skeletons beside pyAgrum.

Below "known arcs", 2,000 rows are drawn from each of four models whose arcs are known: the music box, in which
fair coins leave no direction identified, and three colliders with skewed parents, whose child is the first
column, so that the order of the columns speaks against the truth. Counted are the samples (seeds 0, 1, 2, ...)
in which the arcs found are the true ones, and those in which all of them are marked as they should be too, with
a 95 % interval.

Below "skeletons", 10,000 rows are drawn from each network. xordal learns a decomposable network and directs it
(`to_bayesian`); pyAgrum learns a directed one by greedy hill climbing with its default score (BDeu), BIC or K2,
from the same rows. F1 compares the pairs that are joined by an arc, whatever its direction, with those of the
true network: twice the true pairs found over the pairs found and the true ones together. Seconds are of the
processor, of the whole call.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer import pyagrum_learner
from benchmarks.recovery.networks import table_of
from benchmarks.recovery.study import arguments, markdown, publish, share_text
from xordal import BIC, BayesianNetwork, CategoricalTable, learn
from xordal.formats.bif import read_bif
from xordal.learning.fitting import fit_network
from xordal.model.directed import Family
from xordal.pi.zoo import music_box

NAMES = ("asia", "sachs", "child", "alarm")
N_ROWS = 10_000
HEADING = ("network", "learned by", "skeleton F1, mean (range)", "arcs", "seconds")

N_KNOWN_ROWS, RUNS_OF_KNOWN = 2000, 1000
KNOWN_HEADING = ("model", "samples", "true arcs", "true arcs, all marked as they should be")
BOX_ARCS = {
    ("ball1", "music_box"), ("ball2", "music_box"), ("ball3", "music_box"), ("light1", "dog"),
    ("light2", "dog"), ("music_box", "John"), ("dog", "John"),
}  # fmt: skip

Codes = NDArray[np.int32]
Pairs = set[frozenset[str]]


def collider(parents: list[float], noise: float) -> BayesianNetwork:
    """Return independent binary parents with given chances and their parity, which comes first, with noise."""
    n = len(parents)
    odd = np.indices((2,) * n).sum(axis=0) % 2
    rule = np.stack([np.where(odd, noise, 1 - noise), np.where(odd, 1 - noise, noise)], axis=-1)
    families = [Family(0, tuple(range(1, n + 1)), rule)]
    families += [Family(v + 1, (), np.array([1 - p, p])) for v, p in enumerate(parents)]
    names = ("child", *(f"parent{v}" for v in range(1, n + 1)))
    return BayesianNetwork(names, ((0, 1),) * (n + 1), tuple(families))


COLLIDERS = {
    "exclusive-or, parents 0.2 and 0.7": collider([0.2, 0.7], 0.0),
    "exclusive-or, parents 0.3 and 0.25, 10 % noise": collider([0.3, 0.25], 0.1),
    "parity of three, parents 0.2, 0.3 and 0.7, 2 % noise": collider([0.2, 0.3, 0.7], 0.02),
}


def _sample(network: BayesianNetwork, seed: int) -> CategoricalTable:
    return network.sample(N_KNOWN_ROWS, seed=seed)


def known_rows(n_runs: int) -> Iterator[tuple[object, ...]]:
    """Yield a line for each model whose arcs are known."""
    box = music_box().joint
    models: dict[str, tuple[set[tuple[str, str]], int, Callable[[int], Any]]] = {
        "music box": (BOX_ARCS, len(BOX_ARCS), lambda seed: box.sample_table(N_KNOWN_ROWS, seed))
    }
    for label, truth in COLLIDERS.items():
        models[label] = set(truth.arcs), 0, partial(_sample, truth)
    for label, (arcs, n_unidentified, sample) in models.items():
        n_true = n_marked = 0
        for seed in range(n_runs):
            table = sample(seed)
            found = fit_network(table, learn(table)).to_bayesian()
            is_true = set(found.arcs) == arcs
            n_true += is_true
            n_marked += is_true and len(found.unidentified or ()) == n_unidentified
        yield label, n_runs, share_text(n_true, n_runs), share_text(n_marked, n_runs)


def skeleton(network: BayesianNetwork) -> Pairs:
    """Return the pairs that an arc joins."""
    return {frozenset(arc) for arc in network.arcs}


def by_xordal(**settings: Any) -> Callable[[BayesianNetwork, Codes], Pairs]:
    """Return a learner with some settings."""

    def pairs(network: BayesianNetwork, rows: Codes) -> Pairs:
        table = table_of(network, rows)
        return skeleton(fit_network(table, learn(table, find_groups=False, **settings)).to_bayesian())

    return pairs


def by_pyagrum(score: str | None = None) -> Callable[[BayesianNetwork, Codes], Pairs]:
    """Return greedy hill climbing with pyAgrum's default score (BDeu), or another."""

    def pairs(network: BayesianNetwork, rows: Codes) -> Pairs:
        import pandas as pd

        learner = pyagrum_learner(pd.DataFrame(rows.T.astype(str), columns=list(network.variables)))
        learner.useGreedyHillClimbing()
        if score is not None:
            getattr(learner, f"useScore{score}")()
        return {frozenset(network.variables[end] for end in arc) for arc in learner.learnDAG().arcs()}

    return pairs


LEARNERS: dict[str, Callable[[BayesianNetwork, Codes], Pairs]] = {
    "xordal, default": by_xordal(),
    "xordal, BIC": by_xordal(criterion=BIC()),
    "pyAgrum, hill climbing": by_pyagrum(),
    "pyAgrum, hill climbing, BIC": by_pyagrum("BIC"),
    "pyAgrum, hill climbing, K2": by_pyagrum("K2"),
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
            started = process_time()
            found = learner(network, rows)
            seconds.append(process_time() - started)
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
    known = [] if chosen.only else list(known_rows(RUNS_OF_KNOWN))
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
    tables = f"## Known arcs\n\n{markdown(KNOWN_HEADING, known)}\n## Skeletons\n\n{markdown(HEADING, rows)}"
    publish(__doc__, tables if known else markdown(HEADING, rows), chosen.output)


if __name__ == "__main__":
    main()
