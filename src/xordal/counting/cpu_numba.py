"""Counting with compiled kernels on all cores: counts, entropies, scans and extensions.

Rows are kept twice: as codes, and, of columns with few levels, as bits. Weighted rows are repeated in the
bits unless that would be far longer than counting codes; a table with few distinct rows becomes those, with
weights. Threads share no state and the order of additions never depends on them, so results do not either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting import _kernels
from xordal.counting._jit import is_compiled
from xordal.counting._scan import scan_sets
from xordal.counting.batch import Batch
from xordal.counting.best import Best
from xordal.counting.extensions import extensions
from xordal.counting.finalize import entropies_of_sorted
from xordal.counting.large_tables import LARGEST, LargeTables
from xordal.counting.oracle import Bar, CellCounts, Measure, ScanBlock, cells_of
from xordal.counting.rows import Rows
from xordal.counting.scanner import Scan, scan
from xordal.counting.threads import in_threads, n_threads
from xordal.data.table import CategoricalTable
from xordal.types.varsets import EMPTY, VarSet, members

_LARGEST_TABLE = 256  # cells up to which AND and popcount beat counting codes
_SHARED_ERROR = 1e-6  # nats by which what a scan says of a set may be off, rounding of sums apart
_BATCH = 4096  # sets counted at once by a thread, at most
_ROWS_AT_ONCE = 1 << 24  # rows of all these sets together: about a tenth of a second
_FEWEST = 16  # sets counted at once, however many rows there are


class NumbaOracle:
    """Counts, entropies, scans and extensions of the rows of a table.

    Parameters
    ----------
    table
        The data.
    threads
        How many threads count; all cores this process may use where None.
    notice
        Called with one line when the kernels are to be compiled first.
    check
        Called several times a second; it may end the work by raising.

    Examples
    --------
    >>> table = CategoricalTable.from_rows("abc", [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)])
    >>> oracle = NumbaOracle(table, threads=1)
    >>> oracle.entropies([VarSet(0b001), VarSet(0b111)]).tolist()
    [0.6931471805599453, 1.3862943611198906]
    >>> [block.sets.tolist() for block in oracle.scan(3, lambda levels: 0.5) if len(block.sets)]
    [[[0, 1, 2]]]
    """

    def __init__(
        self,
        table: CategoricalTable,
        *,
        threads: int | None = None,
        notice: Callable[[str], None] = lambda line: None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        if not is_compiled(scan_sets):
            notice("compiling the counting kernels (once; half a minute or so)")
        self._threads = n_threads(threads)
        self._rows = Rows(table, self._threads)
        self._check = check
        self._large = LargeTables(self._rows.codes, self._threads, check)
        self._at_once = max(_FEWEST, min(_BATCH, _ROWS_AT_ONCE // max(self._rows.n_rows, 1)))
        self.error = max(_SHARED_ERROR, 3 * self._rows.margin)

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        batch = Batch.of(sets, self._rows.codes.n_levels)
        fits = batch.fits(self._rows.bits, _LARGEST_TABLE)
        small = np.flatnonzero(fits)
        found: dict[int, CellCounts] = {}
        most = self._at_once
        for start in range(0, len(small), most):
            self._check()
            part = batch if len(small) == len(sets) <= most else batch.only(small[start : start + most])
            tables = np.split(self._tables(part), np.cumsum(part.sizes.astype(np.int64))[:-1])
            for place, table in zip(small[start : start + most].tolist(), tables, strict=True):
                found[place] = self._occupied(sets[place], table)
        others = iter(self._by_codes([s for place, s in enumerate(sets) if place not in found]))
        return [found[place] if place in found else next(others) for place in range(len(sets))]

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        batch = Batch.of(sets, self._rows.codes.n_levels)
        found = np.zeros(len(sets))
        fits = batch.fits(self._rows.bits, _LARGEST_TABLE)
        small, large = np.flatnonzero(fits), np.flatnonzero(~fits)
        most = self._at_once

        def run(part: NDArray[np.int64]) -> None:
            found[part] = _entropies(*self._small(batch if len(part) == len(sets) else batch.only(part)))

        tasks = [small[at : at + most] for at in range(0, len(small), most)]
        for _ in in_threads(self._threads, run, tasks, helps=True, check=self._check):
            pass
        for at in range(0, len(large), most):
            part = large[at : at + most]
            counts = self._sorted_by_codes([sets[place] for place in part])
            found[part] = _entropies(np.concatenate(counts), np.array([len(one) for one in counts]))
        return found

    def scan(
        self,
        order: int,
        at_least: Bar,
        *,
        measure: Measure = "total",
        top: int | None = None,
        base: VarSet = EMPTY,
        done: Collection[int] = (),
    ) -> Iterator[ScanBlock]:
        """Yield the sets of ``order`` variables that can reach the bar; ``shared`` is right to 1e-6 nats.

        Of an interaction it may be a bound: where a table has more than 16 levels in a column or is not fitted
        within some hundred rounds.
        """
        best = Best(top, self.error + 6 * self._rows.margin)
        asked = Scan.of(self._rows, order, at_least, base, measure, best)
        return scan(asked, frozenset(done), self._threads, self._check)

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what every variable shares with each base, shape (bases, variables), in nats.

        Zero for variables of the base. The error is at most 1e-9 + rows log(rows) 2^-51 nats.
        """
        return extensions(self._rows, bases, self._threads, self._check)

    def _occupied(self, variables: VarSet, table: NDArray[np.int64]) -> CellCounts:
        """Return the occupied cells of a full table."""
        occupied = np.flatnonzero(table)
        shape = tuple([self._rows.n_levels[v] for v in members(variables)])
        return CellCounts(cells_of(shape)[occupied], table[occupied])

    def _by_codes(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of sets whatever their sizes."""
        numbered = [s for s in sets if self._has_numbers(s)]
        found = iter(self._large.counts(numbered))
        return [next(found) if self._has_numbers(s) else self._by_refining(s) for s in sets]

    def _sorted_by_codes(self, sets: Sequence[VarSet]) -> list[NDArray[np.int64]]:
        """Return the counts of the occupied cells of sets whatever their sizes, in increasing order."""
        numbered = [s for s in sets if self._has_numbers(s)]
        found = iter(self._large.sorted_counts(numbered))
        return [next(found) if self._has_numbers(s) else np.sort(self._by_refining(s).counts) for s in sets]

    def _has_numbers(self, variables: VarSet) -> bool:
        """Whether the cells of the full table can be numbered."""
        return prod([self._rows.n_levels[v] for v in members(variables)]) <= LARGEST

    def _by_refining(self, variables: VarSet) -> CellCounts:
        """Return the occupied cells of a set of any size, its columns taken in one by one."""
        self._check()
        codes = self._rows.codes
        ids, n_ids = codes.ids(variables)
        counts = codes.rows_with(ids, n_ids)
        example = np.empty(n_ids, np.int64)
        example[ids] = np.arange(len(ids))
        occupied = np.flatnonzero(counts)
        cells = codes.codes[list(members(variables))][:, example[occupied]].astype(np.int64)
        order = np.lexsort(cells[::-1]) if variables else slice(None)
        return CellCounts(np.ascontiguousarray(cells.T[order]), counts[occupied][order])

    def _tables(self, batch: Batch) -> NDArray[np.int64]:
        """Return the full tables of the sets, one after the other, from bits."""
        bits = self._rows.bits
        assert bits is not None
        sizes = batch.sizes.astype(np.int64)
        tables = np.empty(int(sizes.sum()), np.int64)
        where = bits.planes, bits.first, self._rows.codes.n_levels, bits.n_rows
        _kernels.count_tables(*where, batch.members, batch.ends, np.cumsum(sizes) - sizes, tables)
        return tables

    def _small(self, batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sorted counts of the occupied cells of small tables, from bits, and how many each has."""
        tables, sizes = self._tables(batch), batch.sizes.astype(np.int64)
        starts, n_cells = np.cumsum(sizes) - sizes, np.empty(len(sizes), np.int64)
        _kernels.sorted_counts(tables, starts, sizes, n_cells)
        within = np.arange(len(tables)) - np.repeat(starts, sizes)
        return tables[within < np.repeat(n_cells, sizes)], n_cells


def _entropies(counts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropy of each run of sorted counts, those of equally many cells at once."""
    begins = np.cumsum(lengths) - lengths
    found = np.zeros(len(lengths))
    for n_cells in set(lengths.tolist()):
        where = np.flatnonzero(lengths == n_cells)
        found[where] = entropies_of_sorted(counts[begins[where, None] + np.arange(n_cells)])
    return found
