"""Counting with NumPy: short and always there.

A call costs NumPy microseconds however little it counts, so sets are counted many at a time: each gets numbers
of its own, and one ``bincount`` serves them all. A table with few distinct rows becomes those rows, weighted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropies_of_tables, entropy
from xordal.counting.oracle import FEW_CELLS, CellCounts, cells_of
from xordal.data.table import CategoricalTable
from xordal.types.varsets import VarSet, members

_LARGEST_CODE = 2**62  # of a cell: what an integer of 64 bits still holds
_SMALL_TABLES = 1 << 14  # cells of the tables that are kept, in all
_FEW, _FEW_CELLS = 1 << 19, 1 << 14  # numbers multiplied, and cells, of sets that are counted in one go
_TOGETHER = 1 << 18  # rows, or cells, of sets that are counted together: what caches hold


class NumpyCounter:
    """Counts cells by giving every row the number of its cell.

    Memory is proportional to the rows, never to the full table of a large variable set: small tables are
    counted with ``bincount``, large ones by sorting. A weighted row counts as often as its weight says; sums
    of weights stay below 2^53, so ``bincount`` adds them exactly. ``check`` is called between sets and may end
    the work by raising.
    """

    def __init__(self, table: CategoricalTable, check: Callable[[], None] = lambda: None) -> None:
        self._check = check
        self._codes = table.codes.astype(np.int64)
        self._n_levels = table.n_levels
        self._weights = table.weights
        self._kept: dict[tuple[int, ...], NDArray[np.int64]] = {}  # full tables that were counted already
        self._n_kept = 0
        self._collapse()

    def _collapse(self) -> None:
        """Go on with the distinct rows, where finding them is as cheap as counting one set and they are few."""
        n_rows = self._codes.shape[1]
        if prod(self._n_levels) <= max(n_rows, FEW_CELLS):
            distinct = self._count(tuple(range(len(self._n_levels))))
            if 2 * len(distinct.counts) <= n_rows:
                self._codes, self._weights = np.ascontiguousarray(distinct.cells.T), distinct.counts

    @property
    def n_distinct(self) -> int:
        """Number of rows that are counted: the distinct ones, where these are few."""
        return int(self._codes.shape[1])

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        if len(sets) * len(self._n_levels) * self._codes.shape[1] <= _FEW:
            plan = _plan(tuple(sets), self._n_levels)
            if plan is not None:
                return self._in_one_go(plan)
        found = np.empty(len(sets))
        chosen = [members(variables) for variables in sets]
        for places, shape in self._batches(chosen):
            self._check()
            if shape is None:
                found[places] = [entropy(self._count(chosen[place]).counts) for place in places]
            else:
                together = [chosen[place] for place in places]
                tables = self._tables(together, shape)
                found[places] = entropies_of_tables(tables)
                if tables.size <= _SMALL_TABLES - self._n_kept:
                    self._n_kept += tables.size
                    tables.setflags(write=False)
                    self._kept.update(zip(together, tables, strict=True))
        return found

    def _in_one_go(self, plan: _Plan) -> NDArray[np.float64]:
        """Return the entropies of sets of any shapes: each table is followed by cells that do not exist."""
        n_sets = len(plan.chosen)
        codes = (plan.strides @ self._codes + plan.begins).astype(np.int64)
        weights = None if self._weights is None else np.broadcast_to(self._weights, codes.shape).reshape(-1)
        counted = np.bincount(codes.reshape(-1), weights=weights, minlength=n_sets * plan.width)
        tables = counted.astype(np.int64).reshape(n_sets, plan.width)
        if tables.size <= _SMALL_TABLES - self._n_kept:
            self._n_kept += tables.size
            tables.setflags(write=False)
            for chosen, n_cells, table in zip(plan.chosen, plan.n_cells, tables, strict=True):
                self._kept[chosen] = table[:n_cells]
        return entropies_of_tables(tables)

    def _batches(self, sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[list[int], tuple[int, ...] | None]]:
        """Yield places of sets with the same numbers of levels, and these; None where each is counted alone."""
        by_shape: dict[tuple[int, ...], list[int]] = {}
        for place, variables in enumerate(sets):
            by_shape.setdefault(tuple([self._n_levels[v] for v in variables]), []).append(place)
        n_rows = self._codes.shape[1]
        for shape, places in by_shape.items():
            n_cells = prod(shape)
            most = _TOGETHER // max(n_cells, n_rows)
            if n_cells > max(n_rows, FEW_CELLS) or most < 2:
                yield places, None
                continue
            for start in range(0, len(places), most):
                yield places[start : start + most], shape

    def _tables(self, sets: Sequence[tuple[int, ...]], shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the counts of all cells of sets with these numbers of levels, shape (sets, cells)."""
        n_cells, n_rows = prod(shape), self._codes.shape[1]
        codes = np.zeros((len(sets), n_rows), dtype=np.int64)
        for levels, column in zip(shape, np.array(sets, dtype=np.int64).T, strict=True):
            codes *= levels
            codes += self._codes[column]
        codes += (np.arange(len(sets)) * n_cells)[:, None]
        weights = None if self._weights is None else np.tile(self._weights, len(sets))
        counted = np.bincount(codes.reshape(-1), weights=weights, minlength=len(sets) * n_cells)
        return counted.astype(np.int64).reshape(len(sets), n_cells)

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        return [self._count(members(variables)) for variables in sets]

    def _count(self, variables: tuple[int, ...]) -> CellCounts:
        self._check()
        shape = tuple(self._n_levels[v] for v in variables)
        n_cells = prod(shape)
        if (kept := self._kept.get(variables)) is not None and n_cells <= FEW_CELLS:
            if kept.all():
                return CellCounts(cells_of(shape), kept)
            occupied = np.flatnonzero(kept)
            return CellCounts(cells_of(shape)[occupied], kept[occupied])
        n_rows = self._codes.shape[1]
        if n_cells > _LARGEST_CODE:
            cells, place = np.unique(self._codes[list(variables)].T, axis=0, return_inverse=True)
            return CellCounts(cells, self._bincount(place.reshape(-1), len(cells)))
        codes = self._cell_codes(variables)
        if n_cells <= max(n_rows, FEW_CELLS):
            table = self._bincount(codes, n_cells)
            occupied = np.flatnonzero(table)
            counts = table[occupied]
            if n_cells <= FEW_CELLS:
                return CellCounts(cells_of(shape)[occupied], counts)
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
        if not variables:
            return np.zeros(self._codes.shape[1], dtype=np.int64)
        first, *others = variables
        codes: NDArray[np.int64] = self._codes[first]
        for v in others:
            codes = codes * self._n_levels[v] + self._codes[v]
        return codes


class _Plan(NamedTuple):
    """How sets of different shapes are counted in one go."""

    chosen: list[tuple[int, ...]]
    n_cells: list[int]
    width: int  # cells of the largest table
    strides: NDArray[np.float64]  # (sets, columns): a product of floats is quick, and exact up to 2^53
    begins: NDArray[np.float64]  # (sets, 1)


@lru_cache(maxsize=16)
def _plan(sets: tuple[VarSet, ...], n_levels: tuple[int, ...]) -> _Plan | None:
    """Return the plan of sets, None where they have too many cells.

    Those that a search of few columns begins with are always the same.
    """
    chosen = [members(variables) for variables in sets]
    n_cells = [prod([n_levels[v] for v in variables]) for variables in chosen]
    width = max(n_cells, default=1)
    if len(sets) * width > _FEW_CELLS:
        return None
    strides = np.zeros((len(sets), len(n_levels)))
    for row, variables in zip(strides, chosen, strict=True):
        stride = 1
        for v in reversed(variables):
            row[v] = stride
            stride *= n_levels[v]
    return _Plan(chosen, n_cells, width, strides, np.arange(len(sets), dtype=np.float64)[:, None] * width)
