"""The cliques of a network with what was counted in them, the fullest cells first.

A network that was given and not counted shows what is expected in so many rows of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from xordal.counting.oracle import CellCounts
from xordal.formats.shown import shown
from xordal.model.exact import ExactTable
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.parameters import Table
from xordal.types.varsets import members

EXPECTED_OF = 10_000
"""Rows of which a network that was not counted from any shows how many are expected in a cell."""

_MOST_CELLS = 2500  # in a page, so that it stays small however many cliques there are
_MOST_OF_ONE = 64


@dataclass(frozen=True, slots=True)
class CliqueSummary:
    """A clique: its variables, how many cells there could be and how many occur, the fullest with counts."""

    names: tuple[str, ...]
    n_cells: int
    n_occupied: int
    cells: tuple[tuple[tuple[str, ...], int], ...]


def rows_in(table: Table) -> CellCounts:
    """Return the rows counted in each cell of a table, or those expected."""
    return table.expected(EXPECTED_OF) if isinstance(table, ExactTable) else table.counted


def clique_summaries(network: DecomposableMarkovNetwork) -> tuple[CliqueSummary, ...]:
    """Return the cliques of two or more variables."""
    tables = [table for table in network.clique_tables() if table.variables.bit_count() > 1]
    most = max(4, min(_MOST_OF_ONE, _MOST_CELLS // max(len(tables), 1)))
    summaries = []
    for table in tables:
        inside, counted = members(table.variables), rows_in(table)
        fullest = np.argsort(-counted.counts, kind="stable")[:most]
        cells = tuple(
            (
                tuple(shown(network.levels[v][code]) for v, code in zip(inside, cell, strict=True)),
                int(count),
            )
            for cell, count in zip(counted.cells[fullest].tolist(), counted.counts[fullest], strict=True)
        )
        n_cells = prod(len(network.levels[v]) for v in inside)
        names = tuple(map(shown, network.names(table.variables)))
        summaries.append(CliqueSummary(names, n_cells, len(counted.counts), cells))
    return tuple(summaries)
