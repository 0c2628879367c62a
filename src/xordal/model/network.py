"""The learned distribution: a chordal graph with a table on every clique and separator.

The log probability of a row is one signed sum over the graph's signed sets: plus the cliques' tables, minus the
separators'.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounter
from xordal.data.column import Column
from xordal.errors import DataError, SettingsError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.model.parameters import ProbabilityTable, probability_table


@dataclass(frozen=True, slots=True, eq=False)
class DecomposableMarkovNetwork:
    """A decomposable Markov network over named categorical variables.

    Attributes
    ----------
    variables
        Names, in the order of the columns learned from.
    levels
        The levels of each variable, in their order.
    graph
        The chordal graph.
    factors
        The sign (+ for cliques, - for separators, times how often) and the table of each variable set.
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    graph: ChordalGraph
    factors: tuple[tuple[int, ProbabilityTable], ...]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return free_parameters(signed_sets(self.graph), tuple(map(len, self.levels)))

    def encode(self, columns: list[Column]) -> NDArray[np.int64]:
        """Return columns, given in the network's order, as codes of its levels; -1 for a level never seen."""
        codes = []
        for levels, column in zip(self.levels, columns, strict=True):
            _check_types(column, levels)
            code_of = {level: code for code, level in enumerate(levels)}
            here = column.regrouped([code_of.get(level, -1) for level in column.levels], levels)
            codes.append(here.codes.astype(np.int64))
        return np.stack(codes)

    def log_prob(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability in nats of rows of level codes, shape (variables, rows).

        A row with a level that was never seen, or in a cell that is impossible, has -inf.
        """
        total = np.zeros(codes.shape[1])
        possible = np.ones(codes.shape[1], dtype=np.bool_)
        for sign, table in self.factors:
            logs = table.log_prob(codes)
            finite = np.isfinite(logs)
            possible &= finite
            total += sign * np.where(finite, logs, 0.0)
        return np.where(possible, total, -np.inf)


def estimate(
    graph: ChordalGraph,
    counter: CellCounter,
    variables: tuple[str, ...],
    levels: tuple[tuple[Hashable, ...], ...],
    *,
    prior_rows: float = 1.0,
) -> DecomposableMarkovNetwork:
    """Return the network of a graph with tables estimated from counts.

    ``prior_rows`` is the equivalent sample size of the smoothing (:mod:`xordal.model.parameters`).
    """
    if not 0 <= prior_rows < np.inf:
        raise SettingsError(f"The smoothing must be zero or a positive number of rows, not {prior_rows}.")
    terms = sorted(signed_sets(graph).items())
    counted = counter.counts([variables for variables, _ in terms])
    n_levels = tuple(map(len, levels))
    factors = tuple(
        (sign, probability_table(part, counts, n_levels, prior_rows))
        for (part, sign), counts in zip(terms, counted, strict=True)
    )
    return DecomposableMarkovNetwork(variables, levels, graph, factors)


def _check_types(column: Column, levels: tuple[Hashable, ...]) -> None:
    """Refuse text where numbers were learned from, and numbers where text was: no level could be found."""
    if (
        column.levels
        and levels
        and all(isinstance(level, str) for level in levels)
        != any(isinstance(level, str) for level in column.levels)
    ):
        raise DataError(
            f"Column {column.name!r} holds values such as {column.levels[0]!r}; the network knows levels such "
            f"as {levels[0]!r}. Levels of a text file are strings: convert the column to the type learned from."
        )
