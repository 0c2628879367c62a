"""Counting with NumPy: short and always there."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounts
from xordal.data.table import CategoricalTable
from xordal.types import VarSet, members

_LARGEST_CODE = 2**62


class NumpyCounter:
    """Counts cells by giving every row the number of its cell.

    Memory is proportional to the rows, never to the full table of a large variable set: small tables are
    counted with ``bincount``, large ones by sorting. A weighted row counts as often as its weight says; sums
    of weights stay below 2^53, so ``bincount`` adds them exactly.
    """

    def __init__(self, table: CategoricalTable) -> None:
        self._codes = table.codes.astype(np.int64)
        self._n_levels = table.n_levels
        self._weights = table.weights

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        return [self._count(members(variables)) for variables in sets]

    def _count(self, variables: tuple[int, ...]) -> CellCounts:
        shape = tuple(self._n_levels[v] for v in variables)
        n_cells = prod(shape)
        n_rows = self._codes.shape[1]
        if n_cells > _LARGEST_CODE:
            cells, place = np.unique(self._codes[list(variables)].T, axis=0, return_inverse=True)
            return CellCounts(cells, self._bincount(place.reshape(-1), len(cells)))
        codes = self._cell_codes(variables)
        if n_cells <= max(n_rows, 1024):
            table = self._bincount(codes, n_cells)
            occupied = np.flatnonzero(table)
            counts = table[occupied]
        else:
            occupied, place = np.unique(codes, return_inverse=True)
            counts = self._bincount(place, len(occupied))
        cells = np.empty((len(occupied), len(variables)), dtype=np.int64)
        for position in reversed(range(len(variables))):  # NumPy's unravel_index knows few dimensions
            occupied, cells[:, position] = np.divmod(occupied, shape[position])
        return CellCounts(cells, counts)

    def _bincount(self, codes: NDArray[np.int64], n_cells: int) -> NDArray[np.int64]:
        """Return how many rows have each code."""
        return np.bincount(codes, weights=self._weights, minlength=n_cells).astype(np.int64)

    def _cell_codes(self, variables: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the number of each row's cell in the full table, the last variable running fastest."""
        codes = np.zeros(self._codes.shape[1], dtype=np.int64)
        for v in variables:
            codes *= self._n_levels[v]
            codes += self._codes[v]
        return codes
