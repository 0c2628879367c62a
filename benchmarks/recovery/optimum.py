"""The best network by BIC: what is learned beside the best of all decomposable networks.

*Forward* only adds links, *pruned* takes idle ones out again, *sequences* goes on with up to three links that
come and go, and *default* is what `criterion=BIC()` does: up to 8 columns it ends at the best network of all.
*Best of all* comes from dynamic programming over all decomposable networks, which the tests compare with
exhaustive search.

Scores are log-likelihood minus log(n)/2 per parameter; higher is better. The first table is of published
contingency tables. The second gives the share of random tables on which the optimum is reached, with 95 %
confidence, and by how much it is missed on average where it is missed. Random distributions have cells of
random size (gamma with shape 0.2 to 3), 2 or 3 levels; random networks are binary, with up to three parents and
probabilities from Beta(1/2, 1/2). They have 50 to 5000 rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import fsum, log
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.recovery.study import arguments, markdown, publish, repeat, share_text, table_of
from xordal import BIC, CategoricalTable, learn, read_table
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CachedOracle
from xordal.counting.plain import CountingOracle, PlainScanner
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.search.problem import Problem
from xordal.search.refine.optimum import best_network
from xordal.statistics.criterion import Sample
from xordal.types.varsets import LinkSet

PUBLISHED = [
    "reinis__gRbase", "lizard__gRbase", "UCBAdmissions__datasets", "HairEyeColor__datasets", "PreSex__vcd",
    "Titanic__datasets", "DaytonSurvey__vcdExtra", "Rochdale__vcd",
]  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "forward": {"prune": False},
    "pruned": {"local_search": False},
    "sequences": {},
    "default": {},
}
SAME = 1e-6


@dataclass(frozen=True)
class Random:
    """A kind of random table."""

    name: str
    make: Callable[[np.random.Generator, int, int], CategoricalTable]
    columns: int

    def table(self, seed: int) -> CategoricalTable:
        """Return the table of a seed."""
        generator = np.random.default_rng([self.columns, seed])
        return self.make(generator, self.columns, int(generator.choice([50, 200, 1000, 5000])))


def random_distribution(generator: np.random.Generator, columns: int, n_rows: int) -> CategoricalTable:
    """Return rows drawn from cells of random size."""
    levels = generator.integers(2, 4, columns)
    shares = generator.gamma(float(generator.choice([0.2, 0.5, 1.0, 3.0])), size=int(np.prod(levels)))
    cells = generator.choice(len(shares), size=n_rows, p=shares / shares.sum())
    return table_of(np.unravel_index(cells, tuple(levels.tolist())))


def random_network(generator: np.random.Generator, columns: int, n_rows: int) -> CategoricalTable:
    """Return rows drawn from a random Bayesian network, its columns shuffled."""
    drawn: list[Any] = []
    for v in range(columns):
        parents = generator.permutation(v)[: generator.integers(0, 4)]
        shares = generator.beta(0.5, 0.5, size=1 << len(parents))
        cell = sum((drawn[u] << i for i, u in enumerate(parents)), start=np.zeros(n_rows, dtype=np.int64))
        drawn.append((generator.random(n_rows) < shares[cell]).astype(np.int64))
    return table_of([drawn[v] for v in generator.permutation(columns)])


RANDOM = [
    Random("random distributions, 5 columns", random_distribution, 5),
    Random("random distributions, 6 columns", random_distribution, 6),
    Random("random networks, 6 columns", random_network, 6),
    Random("random networks, 8 columns", random_network, 8),
]


def bic(table: CategoricalTable, links: LinkSet) -> float:
    """Return the score of a network."""
    terms = signed_sets(ChordalGraph.empty(table.n_variables).add(links))
    oracle = CountingOracle(NumpyCounter(table), table.n_levels)
    entropies = oracle.entropies(list(terms))
    entropy = fsum(sign * h for sign, h in zip(terms.values(), entropies.tolist(), strict=True))
    return -table.n_rows * entropy - log(table.n_rows) / 2 * free_parameters(terms, table.n_levels)


def optimum(table: CategoricalTable) -> float:
    """Return the score of the best network of all."""
    counter = NumpyCounter(table)
    oracle = CachedOracle(CountingOracle(counter, table.n_levels))
    judge = BIC().on(Sample(table.n_levels, table.n_rows, counter, 3, 4))
    scanner = PlainScanner(oracle, table.n_levels)
    return bic(table, best_network(Problem(oracle, scanner, judge, table.n_levels, table.n_rows))[0])


def reached(table: CategoricalTable) -> Iterator[float]:
    """Yield the score of what each way learns, and the optimum."""
    for way, settings in WAYS.items():
        with patch("xordal.search.refine.local._EXACT", 0 if way == "sequences" else 8):
            yield bic(table, learn(table, criterion=BIC(), **settings).links)
    yield optimum(table)


def published(folder: Path) -> str:
    """Return the table of published tables."""
    rows = []
    for name in PUBLISHED:
        table = read_table(folder / "loglinear" / f"{name}.csv", weights="Freq")
        scores = [f"{score:.2f}" for score in reached(table)]
        rows.append((name.split("__")[0], table.n_rows, table.n_variables, *scores))
        print(*rows[-1], flush=True)
    return markdown(("table", "rows", "columns", *WAYS, "best of all"), rows)


def _missed(kind: Random, seed: int) -> tuple[float, ...]:
    *scores, best = reached(kind.table(seed))
    return tuple(best - score for score in scores)


def random_tables(runs: int, workers: int, only: str) -> str:
    """Return the table of random tables."""
    rows = []
    for kind in RANDOM:
        if only in kind.name:
            missed = np.array(repeat(partial(_missed, kind), range(runs), workers))
            rows.append((kind.name, runs, *map(_told, missed.T)))
            print(*rows[-1], flush=True)
    return markdown(("tables", "runs", *WAYS), rows)


def _told(missed: Any) -> str:
    far = missed[missed > SAME]
    share = share_text(len(missed) - len(far), len(missed))
    return share if not len(far) else f"{share}, else {far.mean():.1f} short"


if __name__ == "__main__":
    chosen = arguments(
        "Scores learned beside the optimum (tables in the folder named by XORDAL_DATA)", runs=100
    )
    first = "" if chosen.only else published(Path(os.environ["XORDAL_DATA"])) + "\n"
    publish(__doc__, first + random_tables(chosen.runs, chosen.workers, chosen.only), chosen.output)
