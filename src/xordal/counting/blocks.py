"""Counting a table larger than memory: block after block of its rows, as they lie on disk.

Counts of row blocks add up, so no more than one block a thread need be in memory. A block is 2^18 rows: bit
planes of 32 kB for columns of few levels, which AND and popcount go through in the processor's caches, and
codes for the others. Sets with small tables are counted in full tables that are added up; of larger ones, the
occupied cells of the blocks are merged. Any number of threads, blocks and machines gives the same counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import prod
from operator import add
from tempfile import gettempdir

import numpy as np
from numpy.typing import NDArray

from xordal.counting import _kernels
from xordal.counting._jit import is_compiled
from xordal.counting.batch import Batch
from xordal.counting.oracle import CellCounts
from xordal.counting.threads import in_threads, n_threads
from xordal.data.large.cache import written_aside
from xordal.data.large.pack import write_table
from xordal.data.large.store import Blocks
from xordal.data.packed import PackedColumns
from xordal.data.table import CategoricalTable
from xordal.types.varsets import VarSet, members

_LARGEST_TABLE = 256  # cells up to which AND and popcount beat counting codes
_DENSE = 1 << 16  # cells up to which a full table is counted from codes
_TOGETHER = 16  # blocks, 4 million rows, that one task counts


class BlockCounter:
    """Counts the cells of variable sets in some blocks of a table.

    Parameters
    ----------
    blocks
        The table on disk.
    only
        Which of its blocks to count; all where None.
    threads
        How many threads count; all cores this process may use where None.
    notice
        Called with one line when the kernels are to be compiled first.
    check
        Called between blocks and while they are waited for; it may end the work by raising.
    """

    def __init__(
        self,
        blocks: Blocks,
        only: Sequence[int] | None = None,
        *,
        threads: int | None = None,
        notice: Callable[[str], None] = lambda line: None,
        check: Callable[[], None] | None = None,
    ) -> None:
        if not is_compiled(_kernels.count_tables):
            notice("compiling the counting kernels (once; half a minute or so)")
        self._blocks = blocks
        self._only = range(len(blocks)) if only is None else only
        self._threads = n_threads(threads)
        self._check = check
        self._levels = np.array(blocks.n_levels, dtype=np.int64)
        self._first = blocks.first

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        batch = Batch.of(sets, self._levels)
        no_rows = PackedColumns(np.empty((int(self._first[-1]), 0), np.uint64), self._first, 0)
        small = np.flatnonzero(batch.fits(no_rows, _LARGEST_TABLE))
        is_small = set(small.tolist())
        large = [place for place in range(len(sets)) if place not in is_small]
        parts = [self._only[at : at + _TOGETHER] for at in range(0, len(self._only), _TOGETHER)]
        chosen = batch.only(small)
        tables = np.zeros(int(chosen.sizes.sum()), np.int64)
        found: list[CellCounts | None] = [None] * len(large)
        members_of = [members(sets[place]) for place in large]
        answers_of = in_threads(
            self._threads,
            lambda part: self._part(part, chosen, members_of),
            parts,
            check=self._check,
        )
        for more, cells in answers_of:
            tables += more
            found = [new if old is None else old + new for old, new in zip(found, cells, strict=True)]
        answers: dict[int, CellCounts] = {p: c for p, c in zip(large, found, strict=True) if c is not None}
        ends = np.cumsum(chosen.sizes.astype(np.int64))
        for place, table in zip(small.tolist(), np.split(tables, ends[:-1]), strict=True) if len(small) else ():
            answers[place] = self._occupied(members(sets[place]), table)
        return [answers[place] for place in range(len(sets))]

    def _part(
        self, part: Iterable[int], small: Batch, large: Sequence[tuple[int, ...]]
    ) -> tuple[NDArray[np.int64], list[CellCounts]]:
        """Return full tables of the small sets, end to end, and the occupied cells of the large ones."""
        sizes = small.sizes.astype(np.int64)
        starts = np.cumsum(sizes) - sizes
        total, one = np.zeros(int(sizes.sum()), np.int64), np.empty(int(sizes.sum()), np.int64)
        cells: list[list[CellCounts]] = [[] for _ in large]
        for block in part:
            if len(sizes):
                bits = self._blocks.bits(block)
                where = bits.planes, bits.first, self._levels, bits.n_rows
                _kernels.count_tables(*where, small.members, small.ends, starts, one)
                total += one
                self._blocks.let_go(block)
            for place, variables in enumerate(large):
                cells[place].append(self._cells(variables, self._blocks.rows(block)))
        return total, [reduce(add, some) for some in cells]

    def _cells(self, variables: tuple[int, ...], rows: slice) -> CellCounts:
        """Return the occupied cells of one set in one block, from codes."""
        weights = None if self._blocks.weights is None else self._blocks.weights[rows]
        columns = [self._blocks.codes[v, rows] for v in variables]
        shape = [self._blocks.n_levels[v] for v in variables]
        if prod(shape) > _DENSE:
            return _merged(np.stack(columns, axis=1).astype(np.int64), weights)
        number = np.zeros(rows.stop - rows.start, dtype=np.int64)
        for column, r in zip(columns, shape, strict=True):
            number *= r
            number += column
        table = np.bincount(number, weights=weights, minlength=prod(shape)).astype(np.int64)
        return self._occupied(variables, table)

    def _occupied(self, variables: tuple[int, ...], table: NDArray[np.int64]) -> CellCounts:
        """Return the occupied cells of a full table."""
        number = np.flatnonzero(table)
        counts = table[number]
        cells = np.empty((len(number), len(variables)), dtype=np.int64)
        for place in reversed(range(len(variables))):
            number, cells[:, place] = np.divmod(number, self._blocks.n_levels[variables[place]])
        return CellCounts(cells, counts)


def on_disk(table: CategoricalTable) -> Blocks:
    """Return the blocks of a table; one that is in memory is packed into files that end with this process."""
    if table.blocks is not None:
        return table.blocks
    with written_aside(gettempdir()) as folder:
        return write_table(table, folder)  # mapped files live on when their names are gone


def _merged(rows: NDArray[np.int64], weights: NDArray[np.int64] | None) -> CellCounts:
    counts = np.ones(len(rows), np.int64) if weights is None else weights
    return CellCounts(rows, counts).over(range(rows.shape[1]))
