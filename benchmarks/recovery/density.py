"""Density estimation: how well unseen rows are predicted, with all settings chosen on the validation rows.

Four binary tables that the literature on density estimation uses, each in three files: xordal learns from the
training rows and `tune` chooses penalty and smoothing by the validation rows alone. The kinds of smoothing and
the grids that are tried were settled while test numbers were in view, so these are no blind results. A number
is the mean log probability of a test row in nats (more is better), with its standard error. Each k has 100
seconds; where that was too little, the best settings tried until then are taken and the line says so. The Chow-
Liu tree is the best network of single links without a ring, smoothed by one row; BIC(1) is the plain criterion
with k = 1, fill-in and the same smoothing. Without fill-in a link that would break chordality is out of reach,
and looking several links ahead is what is left; shown for the narrow tables.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks.recovery.study import markdown, publish
from xordal import BIC, CategoricalTable, DecomposableMarkovNetwork, Limits, SettingsError, learn, tune
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.finalize import entropy
from xordal.graph.chordal import ChordalGraph
from xordal.learning.fitting import fit_network
from xordal.model.estimation import estimate
from xordal.model.smoothing import smoothing_text
from xordal.types.varsets import varset

NAMES = ("nltcs", "msnbc", "plants", "dna")
LINKS = (1, 2, 3)
NARROW = 20  # columns up to which networks without fill-in are tuned, too
TIME_LIMIT = 100  # seconds for the tuning of one k
HEADING = (
    "table",
    "network",
    "penalty",
    "smoothing",
    "validation",
    "test (standard error)",
    "links",
    "parameters",
)

Row = tuple[object, ...]


@dataclass(frozen=True)
class Task:
    """One table in its three parts."""

    name: str
    train: CategoricalTable
    valid: CategoricalTable
    test: CategoricalTable

    @classmethod
    def read(cls, folder: Path, name: str) -> Task:
        """Read the three files of a table: numbers separated by commas, without a heading."""
        return cls(
            name, *(_read(folder / name / f"{name}.{part}.data.gz") for part in ("train", "valid", "test"))
        )

    def row(
        self, label: str, network: DecomposableMarkovNetwork, settings: tuple[str, str], seconds: float
    ) -> Row:
        """Return a line of the table."""
        test = network.log_prob(self.test.codes)
        error = test.std() / np.sqrt(len(test))
        valid = network.log_prob(self.valid.codes).mean()
        size = f"{len(network.graph.links):,}", f"{network.n_parameters:,}"
        return (
            self.name,
            label,
            *settings,
            f"{valid:.3f}",
            f"{test.mean():.4f} ({error:.4f})",
            *size,
            f"{seconds:.0f}",
        )


def chow_liu(table: CategoricalTable) -> DecomposableMarkovNetwork:
    """Return the tree of the largest sum of mutual informations (Chow & Liu 1968)."""
    counter = NumpyCounter(table)
    alone = [entropy(part.counts) for part in counter.counts([varset([v]) for v in range(table.n_variables)])]
    pairs = [(u, v) for v in range(table.n_variables) for u in range(v)]
    joints = counter.counts([varset(pair) for pair in pairs])
    tree = nx.Graph()
    tree.add_nodes_from(range(table.n_variables))
    for (u, v), joint in zip(pairs, joints, strict=True):
        tree.add_edge(u, v, weight=alone[u] + alone[v] - entropy(joint.counts))
    links = nx.maximum_spanning_tree(tree).edges
    return estimate(ChordalGraph.empty(table.n_variables).add(links), counter, table.names, table.levels)


def rows_of(task: Task, workers: int) -> Iterator[Row]:
    """Yield the lines of one table: Chow-Liu, plain BIC, and the tuned network of each k."""
    distinct, limits = task.train.distinct(), Limits(time_limit=TIME_LIMIT)
    started = perf_counter()
    yield task.row("Chow-Liu tree", chow_liu(distinct), ("", "1"), perf_counter() - started)
    started = perf_counter()
    single = learn(distinct, max_links=1, criterion=BIC(), local_search=False, find_groups=False)
    yield task.row("BIC(1), k = 1", fit_network(distinct, single), ("1", "1"), perf_counter() - started)
    for fill_in in (False, True) if task.train.n_variables <= NARROW else (True,):
        for k in LINKS:
            label = f"tuned, {'' if fill_in else 'no fill-in, '}k = {k}"
            try:
                tuned = tune(
                    task.train, valid=task.valid, links=(k,), fill_in=fill_in, workers=workers, limits=limits
                )
            except SettingsError:  # the limit came before one setting was tried
                yield task.name, f"{label} (nothing in time)", *[""] * (len(HEADING) - 1)
                continue
            chosen = f"{tuned.best.penalty:g}", smoothing_text(tuned.best.smoothing)
            label += "" if tuned.is_complete else " (time was up)"
            yield task.row(label, tuned.network, chosen, tuned.seconds)


def folder() -> Path:
    """Return the folder of the tables, which are not ours to ship; without it nothing can be measured."""
    data = Path(os.environ.get("XORDAL_DATA", "")) / "debd"
    if "XORDAL_DATA" not in os.environ or not data.is_dir():
        sys.exit(
            "Skipped: set XORDAL_DATA to the folder that holds debd/nltcs/nltcs.train.data.gz and the like."
        )
    return data


def study(data: Path, workers: int, only: str) -> str:
    """Return the table of all tasks."""
    rows = []
    for name in NAMES:
        if only in name:
            for row in rows_of(Task.read(data, name), workers):
                print(*row, flush=True)
                rows.append(row)
    return markdown((*HEADING, "seconds"), rows)


def _read(file: Path) -> CategoricalTable:
    with gzip.open(file, "rt") as text:
        codes: NDArray[np.int32] = np.loadtxt(text, delimiter=",", dtype=np.int32).T
    names = tuple(f"x{v}" for v in range(len(codes)))
    return CategoricalTable(names, ((0, 1),) * len(codes), np.ascontiguousarray(codes))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How well unseen rows are predicted")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1); the result is the same")
    parser.add_argument("--only", default="", help="only tables whose name holds this")
    parser.add_argument("-o", "--output", type=Path, help="write the page here as well")
    chosen = parser.parse_args()
    publish(
        __doc__,
        study(folder(), chosen.workers, chosen.only),
        chosen.output,
        "nothing in it is random, but what is tried in time depends on the machine.",
    )
