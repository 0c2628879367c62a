"""The rows of a table as kernels take them: codes with weights, bits of columns with few levels, logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from math import log
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting import _kernels
from xordal.counting._cells import Cells, Layout, ones_of
from xordal.counting.finalize import entropies_of_tables
from xordal.counting.layout import lay_out
from xordal.counting.threads import in_threads
from xordal.data.packed import MOST_LEVELS, PackedColumns, pack
from xordal.data.table import CategoricalTable
from xordal.types.varsets import members

_REPEATS = 512  # rows a weighted row may stand for before its bits take longer than its code
_MOST_BITS = 2**31 - 64  # rows that 32-bit counts can hold
_MOST_BYTES = 1 << 28  # of the bits of repeated rows, unless their codes take more
_FEW = 1024  # a table with so many times fewer distinct rows becomes those
_LOGS = 1 << 20  # c log c is looked up below this


class Codes(NamedTuple):
    """Level codes, shape (variables, rows), and how often each row counts: empty where once."""

    codes: NDArray[np.int32]
    n_levels: NDArray[np.int64]
    weights: NDArray[np.int64]

    def ids(self, variables: int) -> tuple[NDArray[np.int64], int]:
        """Return the number of each row's cell of a variable set, and how many numbers may occur."""
        chosen = np.array(members(variables), dtype=np.int64)
        ids, n_ids = _kernels.cell_ids(self.codes, self.n_levels, chosen)
        return ids, int(n_ids)

    def rows_with(self, ids: NDArray[np.int64], n_ids: int) -> NDArray[np.int64]:
        """Return how many rows have each number."""
        return np.asarray(_kernels.count_ids(ids, n_ids, self.weights))

    def are_few(self) -> bool:
        """Whether a look at some of the rows suggests that few of them are distinct."""
        n, some = self.codes.shape[1], 64
        while n >= 2 * _FEW and some < min(n, 1 << 16):
            if np.unique(self.codes[:, :: n // some], axis=1).shape[1] * _FEW > n:
                return False
            some *= 16
        return bool(n >= 2 * _FEW)

    def distinct(self) -> Codes:
        """Return the distinct rows with weights, if they are far fewer; otherwise the same rows."""
        n = self.codes.shape[1]
        ids, n_ids = self.ids((1 << len(self.n_levels)) - 1)
        counts = self.rows_with(ids, n_ids)
        occupied = np.flatnonzero(counts)
        if len(occupied) * _FEW > n:
            return self
        example = np.empty(n_ids, np.int64)
        example[ids] = np.arange(n)
        return Codes(np.ascontiguousarray(self.codes[:, example[occupied]]), self.n_levels, counts[occupied])


class Rows:
    """The rows of a table, prepared once for all questions about it."""

    def __init__(self, table: CategoricalTable, threads: int = 1) -> None:
        weights = np.empty(0, np.int64) if table.weights is None else table.weights.astype(np.int64)
        codes = Codes(
            np.require(table.codes, np.int32, ["C", "W"]), np.array(table.n_levels, dtype=np.int64), weights
        )
        self.codes = codes.distinct() if codes.are_few() else codes
        self.n_levels: list[int] = list(table.n_levels)
        self.n_rows = table.n_rows
        self.bits = self._packed(threads)
        self._laid_out: dict[tuple[int, ...], tuple[Layout, Cells]] = {}
        self._laying_out = Lock()

    def _packed(self, threads: int) -> PackedColumns | None:
        """Return the bits of the columns with few levels; None where counting codes is quicker."""
        codes, n_levels, weights = self.codes
        is_few = n_levels <= MOST_LEVELS
        few = None if is_few.all() else frozenset(np.flatnonzero(is_few).tolist())
        n_bytes = self.n_rows // 8 * int(n_levels[is_few].sum())
        if self.n_rows > min(_MOST_BITS, _REPEATS * codes.shape[1]):
            return None
        if len(weights) and n_bytes > max(_MOST_BYTES, codes.nbytes):
            return None
        at_once = partial(in_threads, threads, helps=True)
        return pack(codes, self.n_levels, few, weights if len(weights) else None, at_once)

    @property
    def margin(self) -> float:
        """The most by which sums of c log c over the occupied cells can be off, per row: see ``extensions``.

        A sum of m terms, each right to a unit in the last place, is off by at most m + 1 such units of the
        sum of their sizes, n log n; tables have no more occupied cells than there are rows.
        """
        return 1e-9 + float(self.codes.codes.shape[1]) * log(max(self.n_rows, 2)) * 2.0**-51

    @cached_property
    def alone(self) -> NDArray[np.float64]:
        """The entropy of each variable in nats."""
        levels, bits = self.codes.n_levels, self.bits
        if bits is not None and (np.diff(bits.first) == levels).all():
            counts = ones_of(bits.planes)
        else:
            counts = _kernels.count_levels(*self.codes)
        ends, found = np.cumsum(levels), np.empty(len(levels))
        for r in np.unique(levels).tolist():
            alike = np.flatnonzero(levels == r)
            found[alike] = entropies_of_tables(counts[(ends[alike] - r)[:, None] + np.arange(r)])
        return found

    @cached_property
    def logs(self) -> NDArray[np.float64]:
        """C log c for all c that are looked up."""
        counts = np.arange(min(self.n_rows, _LOGS) + 1, dtype=np.float64)
        counts[1:] *= np.log(counts[1:])
        return counts

    def layout_of(self, variables: tuple[int, ...] | None = None) -> tuple[Layout, Cells]:
        """Return some packed columns, or all, in the order they are multiplied; the last two are kept."""
        assert self.bits is not None
        chosen = tuple(np.flatnonzero(np.diff(self.bits.first)).tolist()) if variables is None else variables
        with self._laying_out:  # once, however many threads ask
            if chosen not in self._laid_out:
                self._laid_out = dict(list(self._laid_out.items())[-1:])
                self._laid_out[chosen] = lay_out(self.bits, self.n_levels, chosen)
            return self._laid_out[chosen]

    def shared(self, alone: NDArray[np.float64] | float, log_sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what variables share, from the sum of their entropies and that of c log c of their table."""
        return np.asarray(alone - (log(self.n_rows) - log_sums / self.n_rows))

    def log_sums(
        self, ids: NDArray[np.int64], n_ids: int, sets: Sequence[Sequence[int]] | NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the sum of c log c over the cells of each set with a base whose cells are given."""
        chosen = np.array(sets, dtype=np.int64)
        return np.asarray(_kernels.log_sums(*self.codes, ids, n_ids, chosen, self.logs))
