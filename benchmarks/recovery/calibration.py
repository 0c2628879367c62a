"""Calibration: p-values of candidates that gain nothing, sparse tables and conditional chains included.

A good p-value is at most 5 % in 5 % of samples, and so on down. The columns depend on their context, and on
nothing else. "x, y given c" is one link behind c; "x, y, z given c" are three links, each behind c and what
came before; in the last case only two of three columns share the context. The nominal law stands beside.

The second table is of odd cells (:mod:`xordal.statistics.oddness`), of columns of two levels of which one piece
at least is independent of the rest, while the others depend on each other. Beside them the nominal law of what
is usually called the highest-order interaction: its G2 against the table of largest entropy with the same
smaller margins, one degree of freedom. In the last two cases every piece depends on the rest, so that nothing
is promised of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from benchmarks.recovery.study import arguments, markdown, publish, repeat, table_of
from xordal import CategoricalTable
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.plain import CountingOracle
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change, free_parameters
from xordal.statistics.chi_squared import log_tail
from xordal.statistics.criterion import Evidence
from xordal.statistics.interaction import interactions
from xordal.statistics.null_law import NullLaw, log_p_value
from xordal.statistics.oddness import log_p_values
from xordal.types.varsets import Link, LinkSet, varset

LEVELS = (0.05, 0.01, 0.001)


@dataclass(frozen=True)
class Case:
    """Columns of some numbers of levels, the last ones the context; ``known`` links are there already."""

    name: str
    n_levels: tuple[int, ...]
    n_context: int
    n_rows: int
    known: tuple[Link, ...]
    links: LinkSet

    def log_p_values(self, seed: int) -> tuple[float, float]:
        """Return the log p-value of the links in one random sample, and the nominal one."""
        return log_ps(self.draw(np.random.default_rng([seed, 5])), self.known, self.links)

    def draw(self, generator: np.random.Generator) -> CategoricalTable:
        """Draw the context at random, and each other column given it."""
        n_own = len(self.n_levels) - self.n_context
        context = [generator.integers(levels, size=self.n_rows) for levels in self.n_levels[n_own:]]
        stratum = np.zeros(self.n_rows, dtype=np.int64)
        for column, levels in zip(context, self.n_levels[n_own:], strict=True):
            stratum = stratum * levels + column
        own = [self._given(v, stratum, generator) for v in range(n_own)]
        return table_of([*own, *context])

    def _given(self, v: int, stratum: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        levels = self.n_levels[v]
        is_linked = any(v in link for link in self.known)
        n_strata = int(stratum.max()) + 1
        shares = generator.dirichlet(np.full(levels, 4.0), size=n_strata if is_linked else 1)
        chosen = shares[stratum if is_linked else np.zeros_like(stratum)].cumsum(axis=1)
        places = (chosen < generator.random((self.n_rows, 1))).sum(axis=1)
        return np.asarray(np.minimum(places, levels - 1), dtype=np.int64)


def log_ps(table: CategoricalTable, known: tuple[Link, ...], links: LinkSet) -> tuple[float, float]:
    """Return the log p-value of adding links to those known, and the nominal one."""
    graph = ChordalGraph.empty(table.n_variables).add(known)
    chain = additions(graph, links)
    assert chain is not None
    changed = change(chain)
    counter = NumpyCounter(table)
    entropies = CountingOracle(counter, table.n_levels).entropies(list(changed))
    gain = -float(sum(sign * h for sign, h in zip(changed.values(), entropies, strict=True)))
    dof = free_parameters(changed, table.n_levels)
    ends = varset(v for link in links for v in link)
    evidence = Evidence(ends, links, changed, gain, dof, table.n_rows)
    (law,) = NullLaw(counter, table.n_levels).moments([evidence])
    g2 = 2 * table.n_rows * gain
    return log_p_value(g2, law), float(log_tail(g2, max(dof, 1)))


@dataclass(frozen=True)
class Odd:
    """Columns of two levels in pieces, in which each column mostly copies the one before it."""

    name: str
    pieces: tuple[tuple[int, ...], ...]
    n_rows: int
    share: float = 0.5  # of the second level, in the first column of a piece
    agrees: float = 0.8  # share of rows in which a column copies the one before it

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return sum(map(len, self.pieces))

    def draw(self, n_tables: int, generator: np.random.Generator) -> NDArray[np.float64]:
        """Draw tables of counts, shape (tables, 2, 2, ...)."""
        codes = np.indices((2,) * self.n_columns).reshape(self.n_columns, -1)
        law = np.ones(codes.shape[1])
        for piece in self.pieces:
            law *= np.where(codes[piece[0]] == 1, self.share, 1 - self.share)
            for before, v in pairwise(piece):
                law *= np.where(codes[v] == codes[before], self.agrees, 1 - self.agrees)
        drawn = generator.multinomial(self.n_rows, law, size=n_tables)
        return drawn.reshape(n_tables, *(2,) * self.n_columns).astype(np.float64)

    def log_p_values(self, runs: int, tested: tuple[tuple[int, ...], ...] | None) -> NDArray[np.float64]:
        """Return log p-values of odd cells and nominal ones, shape (2, tables); single columns are pieces."""
        tables = self.draw(runs, np.random.default_rng([self.n_rows, 16]))
        found = log_p_values(tables, tested or tuple((v,) for v in range(self.n_columns)))
        nominal = log_tail(2 * self.n_rows * interactions(tables), 1)
        return np.array([found, nominal])


ODD = [
    Odd("x - y, z apart, n=300", ((0, 1), (2,)), 300),
    Odd("x - y, z apart, n=100", ((0, 1), (2,)), 100),
    Odd("x - y, z apart, n=100, shares of 15 %", ((0, 1), (2,)), 100, share=0.15),
    Odd("x - y, z apart, n=1000, shares of 3 %", ((0, 1), (2,)), 1000, share=0.03),
    Odd("w - x - y, z apart, n=300", ((0, 1, 2), (3,)), 300),
    Odd("w - x - y, z apart, n=50", ((0, 1, 2), (3,)), 50),
    Odd("w - x - y, z apart, n=50, shares of 15 %", ((0, 1, 2), (3,)), 50, share=0.15),
    Odd("v - w - x - y, z apart, n=100", ((0, 1, 2, 3), (4,)), 100),
    Odd("w, x, y, z apart, n=40", ((0,), (1,), (2,), (3,)), 40),
    Odd("w - x, y - z, n=100", ((0, 1), (2, 3)), 100),
    Odd("x - y - z, n=300", ((0, 1, 2),), 300),
    Odd("x - y - z, n=300, shares of 15 %", ((0, 1, 2),), 300, share=0.15),
]
ODD_LEVELS = (0.05, 0.01, 0.001, 0.0001)


def of_odd_cells(runs: int, only: str = "") -> str:
    """Return the table of odd cells."""
    rows = []
    for case in ODD:
        if only in case.name:
            is_two = all(len(piece) > 1 for piece in case.pieces) and len(case.pieces) > 1
            found = case.log_p_values(runs, case.pieces if is_two else None)
            ours, nominal = ([f"{np.mean(law <= log(level)):.5f}" for level in ODD_LEVELS] for law in found)
            rows.append((case.name, runs, *ours, *nominal[2:]))
            print(*rows[-1], flush=True)
    nominal_names = (f"nominal p ≤ {level}" for level in ODD_LEVELS[2:])
    return markdown(("case", "samples", *(f"p ≤ {level}" for level in ODD_LEVELS), *nominal_names), rows)


def _all(n: int) -> LinkSet:
    return tuple(combinations(range(n), 2))


def _behind(n_own: int, n_context: int) -> tuple[Link, ...]:
    inside = tuple(combinations(range(n_own, n_own + n_context), 2))
    return (*((v, n_own + c) for v in range(n_own) for c in range(n_context)), *inside)


CASES = [
    Case("x, y of 2 levels, n=500", (2, 2), 0, 500, (), _all(2)),
    Case("x, y of 20 levels, n=1000", (20, 20), 0, 1000, (), _all(2)),
    Case("x, y, z of 6 levels, n=500", (6, 6, 6), 0, 500, (), _all(3)),
    Case("w, x, y, z of 5 levels, n=1000", (5, 5, 5, 5), 0, 1000, (), _all(4)),
    Case("x, y of 2 levels given c of 50, n=500", (2, 2, 50), 1, 500, _behind(2, 1), _all(2)),
    Case("x, y of 4 levels given c of 20, n=1000", (4, 4, 20), 1, 1000, _behind(2, 1), _all(2)),
    Case("x, y of 3 levels given 3 of 4 levels, n=500", (3, 3, 4, 4, 4), 3, 500, _behind(2, 3), _all(2)),
    Case("x, y, z of 3 levels given c of 10, n=1000", (3, 3, 3, 10), 1, 1000, _behind(3, 1), _all(3)),
    Case("x, y given c of 10, beside z, 4 levels, n=500", (4, 4, 4, 10), 1, 500, ((0, 3), (1, 3)), _all(3)),
]


def study(runs: int, workers: int, only: str = "") -> str:
    """Return the table of all cases."""
    rows = []
    for case in CASES:
        if only in case.name:
            found = np.array(repeat(case.log_p_values, range(runs), workers))
            ours, nominal = (
                [f"{np.mean(found[:, at] <= log(level)):.4f}" for level in LEVELS] for at in (0, 1)
            )
            rows.append((case.name, runs, *ours, nominal[1]))
            print(*rows[-1], flush=True)
    heading = ("case", "samples", *(f"p ≤ {level}" for level in LEVELS), "nominal p ≤ 0.01")
    return markdown(heading, rows)


if __name__ == "__main__":
    chosen = arguments("How often p-values are small where nothing is there", runs=2000)
    tables = study(chosen.runs, chosen.workers, chosen.only), of_odd_cells(100 * chosen.runs, chosen.only)
    publish(__doc__, "\n".join(tables), chosen.output)
