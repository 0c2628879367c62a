"""A scan by a device: in ranges of first variables, with buffers that grow and a floor that rises.

Sets of three narrow columns, or of two together with a base, are screened on the device
(:mod:`~xordal.counting.gpu.screening`), and so are sets of four binary columns
(:mod:`~xordal.counting.gpu.fours`); what is left is measured there (:mod:`~xordal.counting.gpu.measuring`).

A scan for the best so many has no bar at first. Some sets drawn at random give a floor, and each range raises
it by what it found; a range has at most some sixty times as many sets as were seen before it, so that about as
many times ``top`` sets reach the floor in each range, however many sets there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import groupby, islice
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.best import Best
from xordal.counting.gpu.engine import LEVELS, TILE_J, threes_bytes
from xordal.counting.gpu.fours import Fours
from xordal.counting.gpu.measuring import Measured, fitted, measured
from xordal.counting.gpu.screening import Columns
from xordal.counting.oracle import Bar, Measure

MARGIN = 1e-8
"""Nats by which a bar is lowered: sums of some hundred logarithms in double precision are right to 1e-12."""
_WORK = 2e14  # rows times products of planes in one call: about a tenth of a second on a large device
_GROWTH = 64  # sets of a range for each that was seen before it
_GROWTH_OF_FOURS = 12  # the same where ten times as many sets for each that reaches the floor pass the screen
_DRAWN = 1 << 18  # sets drawn at random for a first floor
_RHO_BYTES = 1 << 29  # of the correlations of a range with all slots
THREES_BYTES = 1 << 30  # of the counts of triples of a range, where sets of four are looked for
_FIRST_ROOM = 1 << 20  # sets that there is room for at first
_PER_VARIABLE = 4  # bytes of a set in that room
_CELLS = 1 << 26  # of tables that are measured at once
_ON_HOST = 1 << 14  # sets whose interactions are fitted on the host, where calls cost less

Found = tuple[NDArray[np.int32], NDArray[np.float64]]


class TooMany(Exception):
    """More sets reach the bar than there is memory for."""


class Asked(NamedTuple):
    """What is asked of a scan."""

    at_least: Bar
    measure: Measure
    best: Best


class DeviceScan:
    """All sets of some columns, by the places of their first variables.

    Parameters
    ----------
    columns
        The narrow columns of a table.
    base
        One more column that takes part in every set, or None. Sets have two variables besides it, or three.
    left_out
        Places of columns that take part in no set: those that the base is made of.
    asked
        Bar, measure and the best so far.
    order
        Variables of a set, the base not counted: 2 with a base, otherwise 3, or 4 where all are binary.
    """

    def __init__(
        self, columns: Columns, base: Columns | None, left_out: frozenset[int], asked: Asked, order: int
    ) -> None:
        self._columns, self._base, self._left_out, self._asked = columns, base, left_out, asked
        self._order = order
        self._room = _FIRST_ROOM
        self._drawn = Best(asked.best.top, asked.best.slack)
        self._n_seen = 0
        of_places = enumerate(columns.n_levels.tolist())
        self._n_of_level = Counter(levels for place, levels in of_places if place not in left_out)

    def draw(self, places: Sequence[int]) -> None:
        """Measure some sets drawn at random that begin with one of some places, for a first floor."""
        n = len(self._columns.n_levels)
        if self._asked.best.top is None or not n:
            return
        chosen = np.sort(np.random.default_rng(0).integers(0, n, (_DRAWN, self._order)), axis=1)
        powers = n ** np.arange(self._order)[::-1]  # none twice; one integer sorts ten times as fast as a row
        numbers = np.sort(chosen @ powers)  # which is much faster than np.unique
        sets = (numbers[np.diff(numbers, prepend=-1) > 0, None] // powers % n).astype(np.int32)
        begins, takes_part = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
        begins[list(places)], takes_part[list(self._left_out)] = True, False
        is_set = (np.diff(sets, axis=1) > 0).all(axis=1) & begins[sets[:, 0]]
        sets = sets[is_set & takes_part[sets].all(axis=1)]
        self._n_seen = len(sets)
        self._measured(self._columns.engine.xp.asarray(sets), self._drawn)

    def range_after(self, places: Sequence[int], at: int) -> int:
        """Return how many of some places, in order, make the next range, which begins with one of them."""
        planes = self._columns.slots.planes
        n, n_rows = len(self._columns.n_levels), self._columns.n_rows
        most = _WORK / (n_rows * planes**3)
        if self._asked.best.top is not None:
            growth = _GROWTH if self._order < 4 else _GROWTH_OF_FOURS
            most = min(most, growth * max(self._n_seen, _DRAWN))
        if self._order == 4:
            widest = max(1, THREES_BYTES // threes_bytes(n))
        else:
            widest = max(1, _RHO_BYTES // (4 * planes * self._columns.room_slots)) if self._base is None else n
        n_sets = taken = 0
        for place in islice(places, at, None):
            more = comb(n - 1 - place, self._order - 1)
            if taken and (n_sets + more > most or taken >= widest):
                break
            n_sets, taken = n_sets + more, taken + 1
        if self._base is not None and taken:  # whole tiles, since no others are looked at
            taken += -(places[at] + taken) % (TILE_J // planes)
        self._n_seen += n_sets
        return min(taken, len(places) - at)

    def scan(self, places: Sequence[int]) -> Found:
        """Return the sets that begin with one of some places and can reach the bar, and what they reach."""
        found = [self._run(run[0], run[-1] + 1) for run in _runs(places)]
        sets = np.concatenate([np.empty((0, self._order), np.int32), *(sets for sets, _ in found)])
        shared = np.concatenate([np.empty(0), *(shared for _, shared in found)])
        return sets, np.maximum(shared, 0.0)

    def _run(self, begin: int, end: int) -> Found:
        """Return the same for a run of places, in halves where there are too many."""
        try:
            sets = self._screened(begin, end)
        except TooMany:
            if end - begin == 1:
                raise
            middle = (begin + end) // 2
            (sets_a, shared_a), (sets_b, shared_b) = self._run(begin, middle), self._run(middle, end)
            return np.concatenate([sets_a, sets_b]), np.concatenate([shared_a, shared_b])
        if self._base is not None:
            sets = sets[:, 1:]
            sets = sets[(sets[:, 0] >= begin) & (sets[:, 0] < end)]
        for place in self._left_out:
            sets = sets[(sets != place).all(axis=1)]
        return self._measured(sets, self._asked.best)

    def _screened(self, begin: int, end: int) -> Any:
        """Return the sets whose bound reaches the bar; the buffer is made larger where it overflows."""
        columns, engine = self._columns, self._columns.engine
        screen: Callable[[int], tuple[Any, int]]
        if self._order == 4:
            of_fours = self._fours.job(begin, end, self._bar((2,) * 4), self._asked.measure)
            screen = partial(engine.fours, of_fours)
        elif self._base is None:
            screen = partial(engine.screen, columns.job(begin, end, self._bar, self._asked.measure))
        else:
            job = columns.job_with(self._base, begin, end, self._bar, self._asked.measure)
            screen = partial(engine.screen, job)
        sets, n = screen(self._room)
        if n > self._room:
            if n * _PER_VARIABLE * sets.shape[1] > engine.free_bytes() // 2:
                raise TooMany
            self._room = n + n // 4
            sets, n = screen(self._room)
        return self._sorted(sets)

    @cached_property
    def _fours(self) -> Fours:
        return Fours(self._columns)

    def _sorted(self, sets: Any) -> Any:
        """Return sets in lexicographic order: a number for each, sorted on the device, which is far faster."""
        xp, n = self._columns.engine.xp, len(self._columns.n_levels)
        of_set = sets if self._base is None else sets[:, 1:]
        if n**self._order < 1 << 63:
            number = xp.zeros(len(sets), xp.int64)
            for column in of_set.T:
                number = number * n + column
            return sets[xp.argsort(number)]
        return sets[xp.lexsort(of_set.T[::-1])]

    def _bar(self, levels: tuple[int, ...]) -> float:
        """Return what a set must reach, or be known to reach to be among the best, less what rounding takes.

        Infinite where there are no such sets.
        """
        if not is_there(levels, self._n_of_level):
            return np.inf
        floor = max(self._asked.best.floor(levels), self._drawn.floor(levels))
        return max(self._asked.at_least(levels), floor) - MARGIN

    def _measured(self, sets: Any, best: Best) -> Found:
        """Return those of some sets that reach the bar, and what they reach; the best take in what is known."""
        n_cells = self._axis ** (self._order + (self._base is not None))
        step = max(1, _CELLS // n_cells)
        found = [self._reaching(sets[at : at + step], best) for at in range(0, len(sets), step)]
        return (
            np.concatenate([np.empty((0, self._order), np.int32), *(sets for sets, _ in found)]),
            np.concatenate([np.empty(0), *(shared for _, shared in found)]),
        )

    @property
    def _axis(self) -> int:
        """Levels that an axis of a table has room for."""
        own = int(self._columns.n_levels.max(initial=1))
        return own if self._base is None else max(own, int(self._base.n_levels[0]))

    def _reaching(self, sets: Any, best: Best) -> Found:
        columns, measure, xp = self._columns, self._asked.measure, self._columns.engine.xp
        kinds, bars = self._kinds(xp, sets)
        tables = self._tables(sets)
        found = measured(xp, tables, measure, columns.n_rows)
        reach = xp.flatnonzero(found.values >= bars)
        if measure == "interaction":
            if best is self._drawn:  # enough of the most promising ones
                chosen = _first_of_each(
                    _on_host(kinds[reach]), -_on_host(found.values[reach]), _promising(best)
                )
                reach = reach[xp.asarray(chosen)]
            found = self._fitted(tables[reach])
            is_kept = found.values >= bars[reach]
            found, reach = Measured(found.values[is_kept], found.are_known[is_kept]), reach[is_kept]
        else:
            found = Measured(found.values[reach], found.are_known[reach])
        values, kinds, are_known = (
            _on_host(of_set) for of_set in (found.values, kinds[reach], found.are_known)
        )
        for kind in _occurring(kinds) if best.top is not None else ():
            best.take(_levels_of(kind, self._order), values[(kinds == kind) & are_known])
        return _on_host(sets[reach]).astype(np.int32), values

    def _fitted(self, tables: Any) -> Measured:
        """Return interactions, in batches that the device has room for."""
        xp, n_rows = self._columns.engine.xp, self._columns.n_rows
        if len(tables) <= _ON_HOST:
            on_host = fitted(np, _on_host(tables), n_rows)
            return Measured(xp.asarray(on_host.values), xp.asarray(on_host.are_known))
        step = max(1, _CELLS // 8 // int(tables[0].size))
        parts = [fitted(xp, tables[at : at + step], n_rows) for at in range(0, len(tables), step)]
        return Measured(
            xp.concatenate([part.values for part in parts]), xp.concatenate([part.are_known for part in parts])
        )

    def _tables(self, sets: Any) -> Any:
        columns, xp = self._columns, self._columns.engine.xp
        if self._base is None:
            return columns.engine.tables(columns.codes, sets, self._axis)
        own = xp.full((len(sets), 1), len(columns.n_levels), xp.int32)  # the base is the last column
        return columns.engine.tables(self._with_base, xp.concatenate([own, sets], axis=1), self._axis)

    @cached_property
    def _with_base(self) -> Any:
        """The codes of all columns, and of the base."""
        assert self._base is not None
        xp = self._columns.engine.xp
        return xp.concatenate([self._columns.codes, self._base.codes])

    def _kinds(self, xp: Any, sets: Any) -> tuple[Any, Any]:
        """Return the number of each set's combination of levels, and its bar."""
        there = sorted(set(self._columns.n_levels.tolist()))
        if len(there) == 1:
            levels = (there[0],) * self._order
            return xp.full(len(sets), _kind_of(levels)), xp.full(len(sets), self._bar(levels))
        by_place = xp.asarray(self._columns.n_levels)
        kinds = xp.zeros(len(sets), xp.int64)
        for column in xp.sort(by_place[sets], axis=1).T:
            kinds = kinds * LEVELS + column
        bars = np.full(LEVELS**self._order, np.inf)
        for kind in _occurring(_on_host(kinds)):
            bars[kind] = self._bar(_levels_of(kind, self._order))
        return kinds, xp.asarray(bars)[kinds]


def is_there(levels: Sequence[int], n_of_level: Counter[int]) -> bool:
    """Whether there are sets of so many levels, where so many variables have each number of levels.

    Examples
    --------
    >>> is_there((2, 2), Counter([2, 3])), is_there((2, 3), Counter([2, 3]))
    (False, True)
    """
    return all(n <= n_of_level[of_variable] for of_variable, n in Counter(levels).items())


def _promising(best: Best) -> int:
    """Return how many sets drawn at random, best by their bound, are enough for a floor."""
    return 4 * (best.top or 0) + 64


def _first_of_each(kinds: NDArray[Any], values: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return the places of the n least values of each kind, in order."""
    found = [np.empty(0, np.int64)]
    for kind in _occurring(kinds):
        where = np.flatnonzero(kinds == kind)
        found.append(where[np.argpartition(values[where], n - 1)[:n]] if len(where) > n else where)
    return np.sort(np.concatenate(found))


def _occurring(kinds: NDArray[Any]) -> list[int]:
    """Return the kinds that occur, which are small numbers; np.unique takes ten times as long."""
    return np.flatnonzero(np.bincount(kinds)).tolist()


def _kind_of(levels: tuple[int, ...]) -> int:
    kind = 0
    for of_variable in levels:
        kind = kind * LEVELS + of_variable
    return kind


def _levels_of(kind: int, order: int) -> tuple[int, ...]:
    return tuple(kind // LEVELS**power % LEVELS for power in reversed(range(order)))


def _on_host(array: Any) -> NDArray[Any]:
    return np.asarray(array.get() if hasattr(array, "get") else array)


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    """Yield places, in order, in runs without a gap."""
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        yield [place for _, place in run]
