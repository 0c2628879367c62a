"""Tables of many cells: each counted once, from rows or, where that is less work, from a larger table.

The entropy of a set of columns is asked for first, and later, of those sets that matter, the table itself. What
a link x-y behind S gains asks for Sxy, Sx, Sy and S. So tables are kept, and those of one call are made in the
order of their sizes: with Sxy counted from 100,000 rows, the other three are sums over its few hundred cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting import _tables
from xordal.counting.oracle import CellCounts
from xordal.counting.rows import Codes
from xordal.counting.threads import in_threads
from xordal.types.varsets import VarSet, members

Integers = NDArray[np.int64]
Table = tuple[Integers, Integers]
"""Numbers and counts of the occupied cells."""

LARGEST = 2**62
"""Cells of the largest full table whose cells have numbers."""

_MOST_KEPT = 1 << 22  # cells of all tables that are kept, 16 bytes each
_AT_ONCE = 1 << 19  # rows of all sets that a thread counts in one go: some milliseconds
_FEWER = 4  # times fewer cells than rows, from which on a table is summed instead of rows


class LargeTables:
    """Counts the cells of variable sets from codes.

    Parameters
    ----------
    codes
        The rows.
    threads
        How many threads count.
    check
        Called between tables; it may end the work by raising.
    """

    def __init__(self, codes: Codes, threads: int, check: Callable[[], None]) -> None:
        self._codes, self._threads, self._check = codes, threads, check
        self._n_levels: list[int] = codes.n_levels.tolist()
        self._n_rows = codes.codes.shape[1]
        self._kept: dict[VarSet, Table] = {}
        self._n_kept = 0

    def sorted_counts(self, sets: Sequence[VarSet]) -> list[Integers]:
        """Return the counts of the occupied cells of each set, in increasing order."""
        return [np.sort(counts) for _, counts in self._tables(sets)]

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        tables = map(self._in_order, sets, self._tables(sets))
        return [
            CellCounts(self._cells(s, numbers), counts)
            for s, (numbers, counts) in zip(sets, tables, strict=True)
        ]

    def _in_order(self, variables: VarSet, table: Table) -> Table:
        """Return a table with its cells in increasing order, and keep it so."""
        numbers, counts = table
        if (numbers[1:] < numbers[:-1]).any():
            order = np.argsort(numbers)
            table = numbers[order], counts[order]
            if variables in self._kept:
                self._kept[variables] = table
        return table

    def _cells(self, variables: VarSet, numbers: Integers) -> Integers:
        """Return the level codes of cells, from their numbers."""
        chosen = members(variables)
        cells = np.empty((len(numbers), len(chosen)), dtype=np.int64)
        for place in reversed(range(len(chosen))):
            r = self._n_levels[chosen[place]]
            above = numbers // r
            cells[:, place] = numbers - above * r
            numbers = above
        return cells

    def _tables(self, sets: Sequence[VarSet]) -> list[Table]:
        found = {s: self._kept[s] for s in sets if s in self._kept}
        by_size: dict[int, list[VarSet]] = {}
        for s in dict.fromkeys(sets):
            if s not in found:
                by_size.setdefault(s.bit_count(), []).append(s)
        if self._n_kept > _MOST_KEPT:
            self._kept, self._n_kept = {}, 0
        for size in sorted(by_size, reverse=True):
            from_rows = []
            for s in by_size[size]:
                self._check()
                larger = self._larger(s)
                if larger is None:
                    from_rows.append(s)
                else:
                    found[s] = self._keep(s, self._summed(s, larger))

            found.update((s, self._keep(s, table)) for s, table in self._counted(from_rows))
        return [found[s] for s in sets]

    def _counted(self, sets: Sequence[VarSet]) -> Iterator[tuple[VarSet, Table]]:
        """Yield the tables of sets, counted from rows by all threads."""
        n_together = max(_AT_ONCE // max(self._n_rows, 1), 1)
        tasks = [sets[at : at + n_together] for at in range(0, len(sets), n_together)]

        def run(task: Sequence[VarSet]) -> list[Table]:
            chosen = (np.array(members(s), dtype=np.int64) for s in task)
            return [_tables.count_rows(*self._codes, variables) for variables in chosen]

        answers = in_threads(self._threads, run, tasks, helps=True, check=self._check)
        for task, tables in zip(tasks, answers, strict=True):
            yield from zip(task, tables, strict=True)

    def _keep(self, variables: VarSet, table: Table) -> Table:
        if self._n_kept <= _MOST_KEPT:
            self._kept[variables] = table
            self._n_kept += len(table[0])
        return table

    def _larger(self, variables: VarSet) -> int | None:
        """Return the column that makes of a set one whose table is kept, the smallest of these."""
        best, at = self._n_rows // _FEWER, None
        for v in range(len(self._n_levels)):
            table = None if variables >> v & 1 else self._kept.get(VarSet(variables | 1 << v))
            if table is not None and len(table[0]) < best:
                best, at = len(table[0]), v
        return at

    def _summed(self, variables: VarSet, v: int) -> Table:
        """Return the table of a set from the one that has a column more."""
        levels = [self._n_levels[u] for u in members(variables)]
        below = prod(self._n_levels[u] for u in members(VarSet(variables >> (v + 1) << (v + 1))))
        numbers, counts = self._kept[VarSet(variables | 1 << v)]
        found: Table = _tables.sum_out(numbers, counts, self._n_levels[v], below, prod(levels))
        return found
