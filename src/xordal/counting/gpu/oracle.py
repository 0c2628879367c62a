"""The GPU backend: long scans and large batches of counts on a device, everything else on the processor.

The device scans sets of three columns of two to five levels, pairs of them with a base of two to five cells (a
target, say), and sets of four columns where all are binary. Other scans, and sets with a column of more levels,
are the processor's: it is asked for nothing before that. What no device has to count, since it is known, are
sets with a constant column.

If the device has no memory left or is lost, the processor goes on with the first variables that are not done:
what was found is kept, and nothing is scanned twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import comb, inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xordal.counting.best import Best
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.finalize import entropies_of_tables, entropy
from xordal.counting.gpu.engine import LEVELS, Engine
from xordal.counting.gpu.fours import MOST_ROWS
from xordal.counting.gpu.scan import Asked, DeviceScan, Found, TooMany, is_there
from xordal.counting.gpu.screening import Columns
from xordal.counting.oracle import Bar, CellCounter, CellCounts, Measure, ScanBlock
from xordal.data.table import CategoricalTable
from xordal.types.varsets import EMPTY, VarSet, members, varset

if TYPE_CHECKING:
    from xordal.counting.oracle import TableOracle

_ERROR = 1e-6  # nats by which what a scan says of a set may be off, as of the processor's
_MOST_CELLS = 1024  # of a set's table that the device counts
_MOST_ROWS = 1 << 24  # single precision holds every count up to this
_FEW = 64  # sets from which a batch is worth sending the table

MakeOracle = Callable[[CategoricalTable], "TableOracle"]


class GpuOracle:
    """Counts, entropies, scans and extensions of the rows of a table.

    Parameters
    ----------
    table
        The data.
    engine
        The device.
    on_processor
        Makes what does the rest; called when that is needed first.
    notice
        Called with one line when the device fails and the processor goes on.
    """

    error: float = _ERROR

    def __init__(
        self,
        table: CategoricalTable,
        engine: Engine,
        on_processor: MakeOracle,
        notice: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._table, self._engine, self._notice = table, engine, notice
        self._make = on_processor
        self._levels = np.array(table.n_levels, dtype=np.int64)
        self._narrow = np.flatnonzero((self._levels > 1) & (self._levels < LEVELS))
        self._is_lost = table.n_rows > _MOST_ROWS

    @cached_property
    def _processor(self) -> TableOracle:
        return self._make(self._table)

    @property
    def _others_counter(self) -> CellCounter:
        """Counts what the device does not: the processor's kernels where they are loaded, being quicker."""
        return self._processor if _has(self, "_processor") else self._plain_counter

    @cached_property
    def _plain_counter(self) -> NumpyCounter:
        return NumpyCounter(self._table)

    @cached_property
    def _columns(self) -> Columns:
        codes = self._table.codes
        if len(self._narrow) < len(codes):
            codes = codes[self._narrow]
        own = self._engine.load(codes, self._table.weights)
        return Columns(self._engine, own, self._levels[self._narrow])

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        """Of each variable among the narrow ones; -1 where it is not."""
        found = np.full(len(self._levels), -1)
        found[self._narrow] = np.arange(len(self._narrow))
        return found

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        found: dict[int, CellCounts] = {}
        for places, tables in self._by_size(sets):
            for place, table in zip(places, tables, strict=True):
                cells = np.argwhere(table > 0)
                found[place] = CellCounts(cells, table[tuple(cells.T)].astype(np.int64))
        if rest := [place for place in range(len(sets)) if place not in found]:
            found.update(zip(rest, self._others_counter.counts([sets[place] for place in rest]), strict=True))
        return [found[place] for place in range(len(sets))]

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        if _has(self, "_processor"):
            return self._processor.entropies(sets)
        found, is_known = np.zeros(len(sets)), np.zeros(len(sets), dtype=bool)
        for places, tables in self._by_size(sets):
            found[places] = entropies_of_tables(tables.reshape(len(tables), -1).astype(np.int64))
            is_known[places] = True
        if rest := np.flatnonzero(~is_known).tolist():
            others = self._others_counter.counts([sets[place] for place in rest])
            found[rest] = [entropy(table.counts) for table in others]
        return found

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what every variable shares with each base, shape (bases, variables), in nats."""
        return self._processor.extensions(bases)

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
        """Yield the sets of ``order`` variables that can reach the bar; ``shared`` is right to 1e-6 nats."""
        asked = Asked(at_least, measure, Best(top, 2 * self.error))
        device = self._device_scan(order, base, asked)
        finished = set(done)
        if device is not None:
            try:
                for block in self._by_device(device, order, asked, base, finished):
                    yield block
                    finished.update(block.firsts)
                return
            except Exception as error:
                if not isinstance(error, TooMany) and not self._engine.is_failure(error):
                    raise
                self._is_lost = not isinstance(error, TooMany)
                self._notice(f"the GPU cannot go on ({type(error).__name__}); the processor does")
        yield from self._processor.scan(order, at_least, measure=measure, top=top, base=base, done=finished)

    def _by_size(self, sets: Sequence[VarSet]) -> Iterator[tuple[list[int], NDArray[np.int32]]]:
        """Yield the places of sets of one size that the device counts, and their full tables."""
        if self._is_lost or not len(self._narrow) or _has(self, "_processor"):
            return
        if len(sets) < _FEW and not _has(self, "_columns"):  # to send the table costs more than to count
            return
        columns = self._columns
        n_levels = int(columns.n_levels.max())
        by_size: dict[int, tuple[list[int], list[NDArray[np.int64]]]] = {}
        for place, variables in enumerate(sets):
            chosen = self._place[list(members(variables))]
            if len(chosen) and n_levels ** len(chosen) <= _MOST_CELLS and (chosen >= 0).all():
                where, rows = by_size.setdefault(len(chosen), ([], []))
                where.append(place)
                rows.append(chosen)
        for where, rows in by_size.values():
            chosen = self._engine.xp.asarray(np.array(rows, dtype=np.int32))
            tables = self._engine.tables(columns.codes, chosen, n_levels)
            yield where, np.asarray(tables.get() if hasattr(tables, "get") else tables)

    def _device_scan(self, order: int, base: VarSet, asked: Asked) -> DeviceScan | None:
        """Return the scan of narrow columns; None where the processor has to do all of it."""
        if self._is_lost or order not in ((2,) if base else (3, 4)) or len(self._narrow) < order:
            return None
        others = self._others(base)
        if order == 4 and not self._may_be_four(asked):
            return None
        is_wide = bool((self._levels[others] >= LEVELS).any())
        if (base and is_wide) or not self._constants_are_known(order, base, others, asked):
            return None
        ids, n_cells = self._cells_of(base) if base else (None, 0)
        if base and not 1 < n_cells < LEVELS:
            return None
        try:
            columns = self._columns
            of_base = None if ids is None else self._base_column(ids, n_cells)
        except Exception as error:
            if not self._engine.is_failure(error):
                raise
            self._is_lost = True
            self._notice(f"the GPU cannot hold the table ({type(error).__name__}); the processor counts")
            return None
        left_out = frozenset(int(p) for p in self._place[list(members(base))] if p >= 0)
        return DeviceScan(columns, of_base, left_out, asked, order)

    def _may_be_four(self, asked: Asked) -> bool:
        """Whether the device can look at all sets of four that count: those of binary columns."""
        has_constants = bool((self._levels == 1).any())
        is_known = not has_constants or asked.measure != "total"
        is_small = int(self._levels.max()) == 2 and self._table.n_rows <= MOST_ROWS
        return is_known and is_small and self._engine.takes_fours

    def _others(self, base: VarSet) -> list[int]:
        own = frozenset(members(base))
        return [v for v in range(len(self._levels)) if v not in own]

    def _cells_of(self, base: VarSet) -> tuple[NDArray[np.int32], int]:
        """Return the number of each row's cell of a base, and how many there are."""
        number = np.zeros(self._table.codes.shape[1], dtype=np.int64)
        for v in members(base):
            joined = number * self._levels[v] + self._table.codes[v]
            number = np.unique(joined, return_inverse=True)[1].reshape(-1)
        return number.astype(np.int32), int(number.max()) + 1

    def _base_column(self, ids: NDArray[np.int32], n_cells: int) -> Columns:
        own = self._engine.load(ids[None], self._table.weights)
        return Columns(self._engine, own, np.array([n_cells]))

    def _constants_are_known(self, order: int, base: VarSet, others: Sequence[int], asked: Asked) -> bool:
        """Whether sets with a constant column need not be looked at, or follow from pairs.

        Such a set has neither a needed variable nor an interaction, and shares what its other columns do. Where
        all of them reach the bar the processor lists them.
        """
        if (self._levels[others] > 1).all():
            return True
        n_of_level = Counter(self._levels[others].tolist())
        shapes = {tuple(sorted((1, *rest))) for rest in product(n_of_level, repeat=order - 1)}
        bars = {shape: asked.at_least(shape) for shape in shapes if is_there(shape, n_of_level)}
        if all(bar == inf or (asked.measure != "total" and bar > self.error) for bar in bars.values()):
            return True
        of_two = [bar for shape, bar in bars.items() if shape[:2] == (1, 1)]
        return asked.measure == "total" and not base and all(bar > self.error for bar in of_two)

    def _by_device(
        self, device: DeviceScan, order: int, asked: Asked, base: VarSet, done: Collection[int]
    ) -> Iterator[ScanBlock]:
        """Yield blocks: sets of narrow columns from the device, those with others from the processor."""
        left = frozenset(done)
        others = self._others(base)
        n_begin = {v: comb(later, order - 1) for later, v in enumerate(reversed(others))}
        firsts = [v for v in others if v not in left]
        besides = self._besides(order, asked, base)
        places = [place for place in self._place[firsts].tolist() if place >= 0]
        device.draw(places)
        at = begin = 0
        while begin < len(firsts):
            taken = device.range_after(places, at)
            found = device.scan(places[at : at + taken])
            at += taken
            end = bisect_left(firsts, int(self._narrow[places[at]])) if at < len(places) else len(firsts)
            group, begin = tuple(firsts[begin:end]), end
            sets, shared = _with(self._narrow[found[0]].astype(np.int32), found[1], besides, group)
            yield ScanBlock(group, sets, shared, sum(n_begin[v] for v in group))

    def _besides(self, order: int, asked: Asked, base: VarSet) -> Found:
        """Return the sets with a column that is constant or has many levels, those that reach the bar."""
        found = [(np.empty((0, order), np.int32), np.empty(0))]
        if not base:
            wide = np.flatnonzero(self._levels >= LEVELS).tolist()
            for number, v in enumerate(wide):
                found.append(self._with_one(order, asked, v, wide[:number]))
            constant = np.flatnonzero(self._levels == 1).tolist()
            found += self._with_constants(order, asked, constant)
        return np.concatenate([sets for sets, _ in found]), np.concatenate([shared for _, shared in found])

    def _with_one(self, order: int, asked: Asked, v: int, before: Sequence[int]) -> Found:
        """Return the sets that hold one variable and none of some others."""
        levels = int(self._levels[v])

        def bar(others: tuple[int, ...]) -> float:
            return asked.at_least(tuple(sorted((*others, levels))))

        top = asked.best.top
        blocks = self._processor.scan(order - 1, bar, measure=asked.measure, top=top, base=varset([v]))
        every = [(block.sets, block.shared) for block in blocks]
        rest = np.concatenate([np.empty((0, order - 1), np.int32), *(sets for sets, _ in every)])
        shared = np.concatenate([np.empty(0), *(values for _, values in every)])
        constant = np.flatnonzero(self._levels == 1)
        is_new = ~np.isin(rest, np.concatenate([np.array(before, np.int64), constant])).any(axis=1)
        own = np.full((int(is_new.sum()), 1), v, dtype=np.int32)
        return np.sort(np.hstack([rest[is_new], own]), axis=1), shared[is_new]

    def _with_constants(self, order: int, asked: Asked, constant: Sequence[int]) -> Iterator[Found]:
        """Yield the sets of a constant and a pair: they share what the pair does."""
        if not constant or asked.measure != "total":
            return

        def bar(others: tuple[int, ...]) -> float:
            return inf if 1 in others else asked.at_least((1, *others))

        n_of_level = Counter(self._levels.tolist())
        pairs = (tuple(sorted(pair)) for pair in product(n_of_level, repeat=order - 1))
        if all(bar(pair) == inf for pair in pairs if is_there((1, *pair), n_of_level)):
            return
        for block in self._processor.scan(order - 1, bar, top=asked.best.top):
            is_pair = (self._levels[block.sets] > 1).all(axis=1)
            for v in constant:
                own = np.full((int(is_pair.sum()), 1), v, dtype=np.int32)
                yield np.sort(np.hstack([block.sets[is_pair], own]), axis=1), block.shared[is_pair]


def _has(oracle: GpuOracle, name: str) -> bool:
    """Whether a property that is made once has been made."""
    return name in oracle.__dict__


def _with(sets: NDArray[np.int32], shared: NDArray[np.float64], besides: Found, firsts: Any) -> Found:
    """Return sets together with those of others that begin with one of some variables, in order."""
    mine = np.isin(besides[0][:, 0], firsts)
    if not mine.any():
        return sets, shared
    every = np.concatenate([sets, besides[0][mine]])
    values = np.concatenate([shared, besides[1][mine]])
    order = np.lexsort(every.T[::-1])
    return every[order], values[order]
