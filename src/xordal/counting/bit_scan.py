"""Scans in bits: prefixes are followed from Python, their last three or two variables by kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, permutations
from math import comb
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting import _binary, _cells, _fours, _measures, _scan
from xordal.counting._llvm import LANES
from xordal.counting._turns import first_turn
from xordal.counting.best import ALL, Best
from xordal.counting.oracle import Bar, Measure
from xordal.counting.rows import Rows
from xordal.data.packed import pack

_MOST_PAIRS = 1 << 27  # bytes of pair counts kept to save one cell per parent
_MOST_TRIPLES = 1 << 28  # bytes of triple counts kept while sets of four are scanned: about 400 columns

Found = tuple[NDArray[np.int32], NDArray[np.float64]]
Prefix = tuple[_cells.Cells, NDArray[np.int32]]
EVERY = (0, 1 << 62)
_FEW = 8  # variables that come next


class Part(NamedTuple):
    """Sets that begin with some variables, and one of those that may come next; these follow each other."""

    prefix: tuple[int, ...]
    nexts: tuple[int, ...]
    n_sets: int


def parts_of(
    prefix: tuple[int, ...], later: Sequence[int], order: int, most: int, largest_prefix: int
) -> Iterator[Part]:
    """Yield the sets that begin with a prefix and go on in later variables, about so many at a time, in order.

    >>> [(p.prefix, p.nexts, p.n_sets) for p in parts_of((0,), [1, 2, 3, 4], 3, most=4, largest_prefix=1)]
    [((0,), (1,), 3), ((0,), (2, 3), 3)]
    """
    n_after, nexts, n_sets = order - len(prefix) - 1, list[int](), 0
    for place, v in enumerate(later):
        n_own = comb(len(later) - place - 1, n_after)
        if nexts and (n_sets + n_own > most or not n_own):
            yield Part(prefix, tuple(nexts), n_sets)
            nexts, n_sets = [], 0
        if not n_own:
            return
        if n_own > most and len(prefix) < largest_prefix:
            yield from parts_of((*prefix, v), later[place + 1 :], order, most, largest_prefix)
            continue
        nexts.append(v)
        n_sets += n_own
    if nexts:
        yield Part(prefix, tuple(nexts), n_sets)


@lru_cache(maxsize=8)
def _array(variables: tuple[int, ...]) -> NDArray[np.int64]:
    """Return variables as kernels take them; nobody writes to it."""
    return np.array(variables, dtype=np.int64)


class BitScan:
    """All sets of some variables with few levels, together with a base."""

    def __init__(
        self,
        rows: Rows,
        order: int,
        at_least: Bar,
        variables: tuple[int, ...],
        *,
        measure: Measure = "total",
        best: Best = ALL,
    ) -> None:
        self._rows, self._order, self._at_least = rows, order, at_least
        self._measure, self._best = measure, best
        self._layout, self._root = rows.layout_of(variables)
        self._variables = _array(variables)
        classes, sizes = np.unique(rows.codes.n_levels[self._variables], return_counts=True)
        self._classes: list[int] = classes.tolist()
        self._n_of_class: list[int] = sizes.tolist()
        self._bars: dict[tuple[int, ...], _Bars] = {}
        self._prefix: Prefix = self._root, np.empty((1, 0, 0), np.int32)
        self._columns: _binary.Columns | None = None
        self._triple_counts: NDArray[np.int32] | None = None  # where sets of four are all binary
        self._of_base: tuple[tuple[int, ...], tuple[float, ...]] = (
            (),
            (),
        )  # its cells and entropy, if there is one

    def start(self, ids: NDArray[np.int64], n_ids: int, entropy: float, *, with_base: bool) -> None:
        """Divide the rows by the cells of the base, and count their pairs."""
        cells, keep = self._root, np.ones(self._root.ones.shape[1] // LANES, dtype=np.bool_)
        if with_base:
            weights = self._rows.codes.weights
            masks = pack(ids[None].astype(np.int32), [n_ids], None, weights if len(weights) else None).planes
            masks = masks[masks.any(axis=1)]
            cells = _cells.split(self._root, masks.reshape(-1), len(masks), keep)
            cells.weight[:] = self._rows.n_rows / cells.rows
            self._of_base = (len(masks),), (entropy,)
        pairs = np.empty((len(cells.rows), 0, 0), np.int32)
        if self._order > 2 and self._may_count_pairs(cells, 1):
            pairs = _cells.pair_counts(cells, keep)
        self._prefix = cells, pairs
        self._columns = self._binary_columns()
        if self._order == 4 and self._columns is not None:
            self._triple_counts = _fours.triple_counts(self._columns)

    def scan(self, firsts: Sequence[int], turn: NDArray[np.int64], unwanted: Event) -> Found:
        """Return the sets that begin with one of the firsts and can reach the bar; fewer once unwanted.

        Callers that share a ``turn`` get the triples of different firsts, all of them together.
        """
        if not firsts:
            return np.empty((0, self._order), np.int32), np.empty(0)
        if self._order == 2:
            return self._pairs(firsts)
        if self._order == 3:
            return self._triples(self._prefix, (), _array(tuple(firsts)), turn)
        found = [self._longer(self._prefix, (), first, unwanted) for first in firsts if not unwanted.is_set()]
        return _joined(found, self._order)

    def scan_part(self, part: Part, unwanted: Event) -> Found:
        """Return what :meth:`scan` would of a part of the sets of one first; none once unwanted."""
        if unwanted.is_set():
            return np.empty((0, self._order), np.int32), np.empty(0)
        if self._triple_counts is not None:
            return self._binary_fours(part.prefix[0], np.array(part.nexts))
        parent, kept = self._prefix, part.prefix[: self._order - 3]
        for place, v in enumerate(kept):
            # To count all pairs for a few variables costs more than it saves.
            parent = self._below(parent, v, is_whole=place + 1 < len(kept) or len(part.nexts) > _FEW)
        if len(part.prefix) > len(kept):
            span = part.nexts[0], part.nexts[-1] + 1
            return self._triples(parent, kept, np.array(part.prefix[-1:]), first_turn(), span)
        if len(kept) == self._order - 3:
            return self._triples(parent, kept, np.array(part.nexts), first_turn())
        found = [self._longer(parent, kept, v, unwanted) for v in part.nexts if not unwanted.is_set()]
        return _joined(found, self._order)

    @property
    def largest_prefix(self) -> int:
        """How many variables a prefix may have whose sets are looked at in parts."""
        return 1 if self._triple_counts is not None else self._order - 2

    def _longer(self, parent: Prefix, prefix: tuple[int, ...], v: int, unwanted: Event) -> Found:
        """Return the sets that begin with a prefix and one more variable."""
        later = self._variables[self._variables > v]
        if self._triple_counts is not None:
            return self._binary_fours(v, later)
        cells, prefix = self._below(parent, v), (*prefix, v)
        if len(prefix) == self._order - 3:
            return self._triples(cells, prefix, later, first_turn())
        found = [self._longer(cells, prefix, int(u), unwanted) for u in later if not unwanted.is_set()]
        return _joined(found, self._order)

    def _below(self, parent: Prefix, v: int, *, is_whole: bool = True) -> Prefix:
        """Return the cells of a prefix with one more variable, and their pairs where all may be asked for."""
        may_count = is_whole and self._may_count_pairs(parent[0], self._rows.n_levels[v])
        below: Prefix = _cells.children(parent[0], self._layout, v, may_count)
        return below

    def _may_count_pairs(self, cells: _cells.Cells, times: int) -> bool:
        n_slots = cells.ones.shape[1]
        return bool(len(cells.rows) * times * n_slots * n_slots * 4 <= _MOST_PAIRS)

    def _triples(
        self,
        parent: Prefix,
        prefix: tuple[int, ...],
        firsts: NDArray[np.int64],
        turn: NDArray[np.int64],
        span: tuple[int, int] = EVERY,
    ) -> Found:
        if not len(firsts):
            return np.empty((0, self._order), np.int32), np.empty(0)
        if self._columns is not None:
            return self._binary_triples(self._columns, firsts, turn, span)
        pairs, shared, taken, ends = self._scan_sets(parent, prefix, firsts, turn, span)
        sets = np.empty((len(pairs), self._order), np.int32)
        sets[:, : len(prefix)] = prefix
        sets[:, -3] = np.repeat(taken, np.diff(ends, prepend=0))
        sets[:, -2:] = pairs
        return sets, np.maximum(shared, 0.0)

    def _binary_triples(
        self,
        columns: _binary.Columns,
        firsts: NDArray[np.int64],
        turn: NDArray[np.int64],
        span: tuple[int, int],
    ) -> Found:
        """Return triples of binary variables."""
        slots = np.searchsorted(self._variables, firsts)
        low, high = np.searchsorted(self._variables, span).tolist()
        goal, levels = self._goal(())
        later, shared, taken, ends = _binary.scan_binary(columns, slots, turn, (low, high), goal)
        self._learn_of(goal, levels)
        sets = np.empty((len(later), 3), np.int32)
        sets[:, 0] = self._variables[np.repeat(taken, np.diff(ends, prepend=0))]
        sets[:, 1:] = self._variables[later]
        return sets, np.maximum(shared, 0.0)

    def _binary_fours(self, first: int, seconds: NDArray[np.int64]) -> Found:
        """Return sets of four binary variables, of one first and one of some seconds."""
        assert self._columns is not None and self._triple_counts is not None
        slot, slots = int(np.searchsorted(self._variables, first)), np.searchsorted(self._variables, seconds)
        goal, levels = self._goal((first,))
        later, shared, ends = _fours.scan_fours(self._columns, self._triple_counts, slot, slots, goal)
        self._learn_of(goal, levels)
        sets = np.empty((len(later), 4), np.int32)
        sets[:, 0] = first
        sets[:, 1] = np.repeat(seconds, np.diff(ends, prepend=0))
        sets[:, 2:] = self._variables[later]
        return sets, np.maximum(shared, 0.0)

    def _binary_columns(self) -> _binary.Columns | None:
        """Return what the kernels of binary triples and sets of four take; None if that is not what is scanned.

        All being binary, slots and variables are in the same order.
        """
        cells, pairs = self._prefix
        layout, n_columns, rows = self._layout, len(self._variables), self._rows
        if self._classes != [2] or self._of_base != ((), ()) or not pairs.size:
            return None
        if self._order > 4 or (self._order == 4 and n_columns * pairs.nbytes > _MOST_TRIPLES):
            return None
        entropies = np.zeros(cells.ones.shape[1])
        entropies[:n_columns] = rows.alone[self._variables]
        return _binary.Columns(
            cells.words, int(cells.width[0]), rows.n_rows, n_columns, cells.ones[0], pairs.reshape(-1),
            layout.share, layout.scale, entropies, rows.logs,
        )  # fmt: skip

    def _pairs(self, firsts: Sequence[int]) -> Found:
        span, none = (min(firsts), max(firsts) + 1), np.empty(0, np.int64)
        sets, shared, _, _ = self._scan_sets(self._prefix, (), none, first_turn(), span)
        if span[1] - span[0] == len(firsts):  # which are all in the span
            return sets, np.maximum(shared, 0.0)
        wanted = np.isin(sets[:, 0], np.array(firsts))
        return sets[wanted], np.maximum(shared[wanted], 0.0)

    def _scan_sets(
        self,
        parent: Prefix,
        prefix: tuple[int, ...],
        firsts: NDArray[np.int64],
        turn: NDArray[np.int64],
        span: tuple[int, int],
    ) -> Any:
        """Call the kernel."""
        goal, levels = self._goal(prefix)
        answer = _scan.scan_sets(*parent, self._layout, firsts, turn, span, goal)
        self._learn_of(goal, levels)
        return answer

    def _goal(self, prefix: tuple[int, ...]) -> tuple[_measures.Goal, list[tuple[int, ...]]]:
        """Return what a kernel seeks behind a prefix, and the levels of each shape of sets."""
        rows, best = self._rows, self._best
        bars, shapes, levels = self._bars_after(prefix)
        cells, entropies = self._of_base
        goal = _measures.Goal(
            _MEASURES[self._measure], bars, shapes, np.array([best.floor(shape) for shape in levels]),
            np.empty((len(levels), best.top or 0)), np.zeros(len(levels), np.int64), best.slack,
            np.array([*cells, *(rows.n_levels[v] for v in prefix)], dtype=np.int64),
            np.array([*entropies, *rows.alone[list(prefix)]]), rows.alone, rows.n_rows, rows.logs,
        )  # fmt: skip
        return goal, levels

    def _learn_of(self, goal: _measures.Goal, levels: list[tuple[int, ...]]) -> None:
        """Let what a kernel found to be known raise the floors of the calls to come."""
        for shape, n_known, heap in zip(levels, goal.n_known.tolist(), goal.heaps, strict=True):
            self._best.take(shape, heap[:n_known])

    def _bars_after(self, prefix: tuple[int, ...]) -> _Bars:
        """Return the bars by classes of the other variables, infinite where there are no such sets."""
        known = tuple(sorted(self._classes.index(self._rows.n_levels[v]) for v in prefix))
        if known not in self._bars:
            self._bars[known] = self._bars_by_class(known)
        return self._bars[known]

    def _bars_by_class(self, prefix: tuple[int, ...]) -> _Bars:
        n_free, n = min(self._order, 3), len(self._classes)
        bars: NDArray[np.float64] = np.full((n, n, n), np.inf)
        shapes: NDArray[np.int64] = np.zeros((n, n, n), np.int64)
        levels: list[tuple[int, ...]] = [()]  # the first is that of sets that are not there
        for free in combinations_with_replacement(range(n), n_free):
            classes = prefix + free
            if all(classes.count(c) <= self._n_of_class[c] for c in set(classes)):
                shape = tuple(sorted(self._classes[c] for c in classes))
                bar = self._at_least(shape) - 3 * self._rows.margin
                for order in permutations(free):
                    bars.T[order[::-1]] = bar  # of two classes, the last two indices
                    shapes.T[order[::-1]] = len(levels)
                levels.append(shape)
        return _Bars(bars, shapes, levels)


def _joined(found: Sequence[Found], order: int) -> Found:
    """Return what was found as one."""
    return (
        np.concatenate([np.empty((0, order), np.int32), *(sets for sets, _ in found)]),
        np.concatenate([np.empty(0), *(shared for _, shared in found)]),
    )


class _Bars(NamedTuple):
    """Bars and shapes by the classes of a set's last three variables, and the levels of each shape."""

    bars: NDArray[np.float64]
    shapes: NDArray[np.int64]
    levels: list[tuple[int, ...]]


_MEASURES: dict[Measure, int] = {
    "total": _measures.TOTAL, "needed": _measures.NEEDED, "interaction": _measures.INTERACTION,
}  # fmt: skip
