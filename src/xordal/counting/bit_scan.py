"""Scans in bits: prefixes are followed from Python, their last three or two variables by kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, permutations
from threading import Event

import numpy as np
from numpy.typing import NDArray

from xordal.counting import _binary, _cells, _scan
from xordal.counting._bits import LANES
from xordal.counting._turns import first_turn
from xordal.counting.oracle import Bar
from xordal.counting.rows import Rows
from xordal.data.packed import pack

_MOST_PAIRS = 1 << 27  # bytes of pair counts kept to save one cell per parent

Found = tuple[NDArray[np.int32], NDArray[np.float64]]
Prefix = tuple[_cells.Cells, NDArray[np.int32]]


@lru_cache(maxsize=8)
def _array(variables: tuple[int, ...]) -> NDArray[np.int64]:
    """Return variables as kernels take them; nobody writes to it."""
    return np.array(variables, dtype=np.int64)


class BitScan:
    """All sets of some variables with few levels, together with a base."""

    def __init__(self, rows: Rows, order: int, at_least: Bar, variables: tuple[int, ...]) -> None:
        self._rows, self._order, self._at_least = rows, order, at_least
        self._layout, self._root = rows.layout_of(variables)
        self._variables = _array(variables)
        classes, sizes = np.unique(rows.codes.n_levels[self._variables], return_counts=True)
        self._classes: list[int] = classes.tolist()
        self._n_of_class: list[int] = sizes.tolist()
        self._bars: dict[tuple[int, ...], NDArray[np.float64]] = {}
        self._prefix: Prefix = self._root, np.empty((1, 0, 0), np.int32)
        self._columns: _binary.Columns | None = None
        self._base_entropy = 0.0

    def start(self, ids: NDArray[np.int64], n_ids: int, entropy: float, *, with_base: bool) -> None:
        """Divide the rows by the cells of the base, and count their pairs."""
        cells, keep = self._root, np.ones(self._root.ones.shape[1] // LANES, dtype=np.bool_)
        if with_base:
            weights = self._rows.codes.weights
            masks = pack(ids[None].astype(np.int32), [n_ids], None, weights if len(weights) else None).planes
            masks = masks[masks.any(axis=1)]
            cells = _cells.split(self._root, masks.reshape(-1), len(masks), keep)
            cells.weight[:] = self._rows.n_rows / cells.rows
            self._base_entropy = entropy
        pairs = np.empty((len(cells.rows), 0, 0), np.int32)
        if self._order > 2 and self._may_count_pairs(cells, 1):
            pairs = _cells.pair_counts(cells, keep)
        self._prefix = cells, pairs
        self._columns = self._binary_columns()

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
        found = [self._longer(self._prefix, (), first, unwanted) for first in firsts]
        return np.concatenate([sets for sets, _ in found]), np.concatenate([shared for _, shared in found])

    def _longer(self, parent: Prefix, prefix: tuple[int, ...], v: int, unwanted: Event) -> Found:
        """Return the sets that begin with a prefix and one more variable."""
        prefix = (*prefix, v)
        levels = self._rows.n_levels[v]
        cells = _cells.children(parent[0], self._layout, v, self._may_count_pairs(parent[0], levels))
        later = self._variables[self._variables > v]
        if len(prefix) == self._order - 3:
            return self._triples(cells, prefix, later, first_turn())
        found = [self._longer(cells, prefix, int(u), unwanted) for u in later if not unwanted.is_set()]
        empty = np.empty((0, self._order), np.int32), np.empty(0)
        return (
            np.concatenate([empty[0], *(sets for sets, _ in found)]),
            np.concatenate([empty[1], *(shared for _, shared in found)]),
        )

    def _may_count_pairs(self, cells: _cells.Cells, times: int) -> bool:
        n_slots = cells.ones.shape[1]
        return bool(len(cells.rows) * times * n_slots * n_slots * 4 <= _MOST_PAIRS)

    def _triples(
        self, parent: Prefix, prefix: tuple[int, ...], firsts: NDArray[np.int64], turn: NDArray[np.int64]
    ) -> Found:
        if not len(firsts):
            return np.empty((0, self._order), np.int32), np.empty(0)
        if self._columns is not None and not prefix:
            return self._binary_triples(self._columns, firsts, turn)
        goal = self._goal(prefix)
        pairs, shared, taken, ends = _scan.scan_sets(*parent, self._layout, firsts, turn, (0, 0), goal)
        sets = np.empty((len(pairs), self._order), np.int32)
        sets[:, : len(prefix)] = prefix
        sets[:, -3] = np.repeat(taken, np.diff(ends, prepend=0))
        sets[:, -2:] = pairs
        return sets, np.maximum(shared, 0.0)

    def _binary_triples(
        self, columns: _binary.Columns, firsts: NDArray[np.int64], turn: NDArray[np.int64]
    ) -> Found:
        """Return triples of binary variables."""
        bar = float(self._goal(()).bars[0, 0, 0])
        slots = np.searchsorted(self._variables, firsts)
        later, shared, taken, ends = _binary.scan_binary(columns, slots, turn, bar)
        sets = np.empty((len(later), 3), np.int32)
        sets[:, 0] = self._variables[np.repeat(taken, np.diff(ends, prepend=0))]
        sets[:, 1:] = self._variables[later]
        return sets, np.maximum(shared, 0.0)

    def _binary_columns(self) -> _binary.Columns | None:
        """Return what the kernel of binary triples takes; None if that is not what is scanned.

        All being binary, slots and variables are in the same order.
        """
        cells, pairs = self._prefix
        if self._order != 3 or self._classes != [2] or len(cells.rows) > 1 or not pairs.size:
            return None
        layout, n_columns, rows = self._layout, len(self._variables), self._rows
        entropies = np.zeros(cells.ones.shape[1])
        entropies[:n_columns] = rows.alone[self._variables]
        return _binary.Columns(
            cells.words, int(cells.width[0]), rows.n_rows, n_columns, cells.ones[0], pairs.reshape(-1),
            layout.share, layout.scale, entropies, rows.logs,
        )  # fmt: skip

    def _pairs(self, firsts: Sequence[int]) -> Found:
        span, none = (min(firsts), max(firsts) + 1), np.empty(0, np.int64)
        goal = self._goal(())
        sets, shared, _, _ = _scan.scan_sets(*self._prefix, self._layout, none, first_turn(), span, goal)
        wanted = np.isin(sets[:, 0], np.array(firsts))
        return sets[wanted], np.maximum(shared[wanted], 0.0)

    def _goal(self, prefix: tuple[int, ...]) -> _scan.Goal:
        """Return what to look for behind a prefix."""
        rows = self._rows
        classes = tuple(sorted(self._classes.index(rows.n_levels[v]) for v in prefix))
        if classes not in self._bars:
            self._bars[classes] = self._bars_after(classes)
        entropy = self._base_entropy + float(rows.alone[list(prefix)].sum())
        return _scan.Goal(self._bars[classes], rows.alone, entropy, rows.n_rows, rows.logs)

    def _bars_after(self, prefix: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the bars by classes of the other variables, infinite where there are no such sets."""
        n_free = min(self._order, 3)
        bars: NDArray[np.float64] = np.full((len(self._classes),) * 3, np.inf)
        for free in combinations_with_replacement(range(len(self._classes)), n_free):
            classes = prefix + free
            if all(classes.count(c) <= self._n_of_class[c] for c in set(classes)):
                bar = self._at_least(tuple(sorted(self._classes[c] for c in classes))) - 3 * self._rows.margin
                for order in permutations(free):
                    bars.T[order[::-1]] = bar  # of two classes, the last two indices
        return bars
