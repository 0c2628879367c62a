"""What answers the search: counts summed over row ranges, or scans split by first variables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.counting.dask.cluster import Cluster
from xordal.counting.dask.tasks import (
    Asked,
    Place,
    count_range,
    entropies_of,
    error_of,
    extensions_of,
    scan_range,
    tables_in,
)
from xordal.counting.oracle import Bar, CellCounts, Measure, ScanBlock, TableOracle
from xordal.counting.select import Backend
from xordal.data.large.store import BLOCK
from xordal.types.varsets import EMPTY, VarSet

_AT_ONCE = 4096  # sets asked for in one round of tasks
_MOST_BLOCKS = 64  # 16 million rows, that one task counts
_TASKS_A_WORKER = 4  # of a scan: more even out what takes unequally long, and cost a few milliseconds each
_HERE = 1 << 28  # sets times rows that are counted before a task would have been sent


class RowsOnDask:
    """Counts the cells of variable sets by ranges of row blocks, each counted by a task."""

    def __init__(self, cluster: Cluster, place: Place, inner: str | Backend = "blocks") -> None:
        self._cluster, self._place, self._inner = cluster, place, inner

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        found: list[CellCounts] = []
        for at in range(0, len(sets), _AT_ONCE):
            some = tuple(sets[at : at + _AT_ONCE])
            tasks = [
                (count_range, self._place, start, stop, some, self._inner) for start, stop in self._ranges()
            ]
            found += tables_in(self._cluster.sum(tasks))
        return found

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the ranges of blocks: two for each worker, or more, so that none is long."""
        n_blocks = -(-self._place.n_rows // BLOCK)
        each = max(1, min(_MOST_BLOCKS, -(-n_blocks // (2 * len(self._cluster.workers())))))
        return [(start, min(start + each, n_blocks)) for start in range(0, n_blocks, each)]


class SetsOnDask:
    """Splits scans, and questions about many sets, over workers that hold the whole table.

    What is quickly counted is counted here, by the one who counts for a single machine.
    """

    def __init__(self, cluster: Cluster, place: Place, here: TableOracle) -> None:
        self._cluster, self._place, self._here = cluster, place, here
        self.error: float = max(here.error, next(cluster.answers([(error_of, place)])))

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        return self._here.counts(sets)

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        if len(sets) * self._place.n_rows <= _HERE:
            return self._here.entropies(sets)
        return np.concatenate([np.empty(0), *self._split(entropies_of, sets)])

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what every variable shares with each base, shape (bases, variables), in nats."""
        n = len(self._place.n_levels)
        if len(bases) * n * self._place.n_rows <= _HERE:
            return self._here.extensions(bases)
        return np.concatenate([np.empty((0, n)), *self._split(extensions_of, bases)])

    def _split(self, ask: Callable[..., Any], sets: Sequence[VarSet]) -> Iterator[Any]:
        n_tasks = _TASKS_A_WORKER * len(self._cluster.workers())
        each = max(1, -(-len(sets) // n_tasks))
        return self._cluster.answers(
            [(ask, self._place, tuple(sets[at : at + each])) for at in range(0, len(sets), each)]
        )

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
        """Yield the sets of ``order`` variables that can reach the bar, by their first variables."""
        n_levels = self._place.n_levels
        others = [v for v in range(len(n_levels)) if not base >> v & 1]
        bars = {shape: at_least(shape) for shape in _shapes([n_levels[v] for v in others], order)}
        asked = Asked(order, bars, measure, top, base)
        n_begin = {first: comb(len(others) - at - 1, order - 1) for at, first in enumerate(others)}
        left = [first for first in others if first not in done]
        groups = _even(left, n_begin, _TASKS_A_WORKER * len(self._cluster.workers()))
        for blocks in self._cluster.answers([(scan_range, self._place, asked, group) for group in groups]):
            yield from blocks


def _shapes(levels: Sequence[int], order: int) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of levels that sets of so many variables have, each once, in increasing order."""
    times = {r: levels.count(r) for r in sorted(set(levels))}
    for shape in combinations_with_replacement(times, order):
        if all(shape.count(r) <= times[r] for r in set(shape)):
            yield shape


def _even(firsts: Sequence[int], n_begin: dict[int, int], n_groups: int) -> list[frozenset[int]]:
    """Return the firsts in groups, in order, that begin about equally many sets."""
    total = sum(n_begin[first] for first in firsts)
    groups: list[frozenset[int]] = []
    group: list[int] = []
    n_sets = 0
    for first in firsts:
        group.append(first)
        n_sets += n_begin[first]
        if n_sets * n_groups >= total * (len(groups) + 1):
            groups.append(frozenset(group))
            group = []
    return [*groups, *([frozenset(group)] if group else [])]
