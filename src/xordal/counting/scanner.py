"""All sets of one size that can reach a bar: which sets are counted how, in which groups, on which thread.

Variables with few levels are scanned in bits, sets with any other by codes. Work is cut into groups of firsts
of about equal cost; what a group found is sorted, so that blocks do not depend on who made them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.bit_scan import BitScan
from xordal.counting.extensions import extensions
from xordal.counting.oracle import Bar, ScanBlock
from xordal.counting.rows import MOST_LEVELS, Rows
from xordal.counting.threads import in_threads
from xordal.types import EMPTY, VarSet

_LARGEST_TABLE = 4096  # cells of sets scanned in bits
_LARGEST_BINARY = 1 << 16  # the same where all variables are binary
_TASK, _LEAST_TASK = 1 << 28, 1 << 22  # words multiplied by one task: some tens of milliseconds at most
_MOST_SETS = 1 << 21  # that a block of several firsts may hold
_SCORING = 24  # what scoring a set costs, in words
_BATCH = 1024  # sets counted by codes at once

Found = tuple[NDArray[np.int32], NDArray[np.float64]]


class Scan(NamedTuple):
    """One scan: its base and bar, and which variables are scanned in bits."""

    rows: Rows
    order: int
    at_least: Bar
    base: VarSet
    base_ids: NDArray[np.int64]
    n_base: int
    base_entropy: float
    others: tuple[int, ...]
    narrow: frozenset[int]
    n_sets: dict[int, int]  # how many begin with each variable

    @classmethod
    def of(cls, rows: Rows, order: int, at_least: Bar, base: VarSet) -> Scan:
        """Prepare a scan."""
        ids, n_base = rows.codes.ids(base)
        of_base = 0.0
        if base != EMPTY:
            of_base = float(-rows.shared(0.0, rows.log_sums(ids, n_base, np.empty((1, 0), np.int64)))[0])
        others = tuple(v for v in range(len(rows.n_levels)) if not base >> v & 1)
        most = 0
        if rows.bits is not None and n_base << order <= _LARGEST_BINARY:
            most = min(max(int((_LARGEST_TABLE / n_base) ** (1 / order) + 1e-9), 2), MOST_LEVELS)
        narrow = frozenset(v for v in others if rows.n_levels[v] <= most)
        n_sets = {v: comb(later, order - 1) for later, v in enumerate(reversed(others))}
        return cls(rows, order, at_least, base, ids, n_base, of_base, others, narrow, n_sets)


def scan(scan: Scan, done: frozenset[int], threads: int) -> Iterator[ScanBlock]:
    """Yield the sets that can reach the bar, by groups of firsts; the firsts that are done left out."""
    firsts = [v for v in scan.others if v not in done]
    if scan.order == 1:
        yield from _singles(scan, firsts, threads)
        return
    bits = None
    if len(scan.narrow) >= scan.order:
        bits = BitScan(scan.rows, scan.order, scan.at_least, sorted(scan.narrow))
        bits.start(scan.base_ids, scan.n_base, scan.base_entropy, with_base=scan.base != EMPTY)
    unwanted = Event()

    def run(group: tuple[int, ...]) -> ScanBlock:
        found = _by_codes(scan, group, unwanted)
        if bits is not None:
            found.append(bits.scan([v for v in group if v in scan.narrow], unwanted))
        sets, shared = _sorted(found, scan.order)
        return ScanBlock(group, sets, shared, sum(scan.n_sets[v] for v in group))

    yield from in_threads(threads, run, _groups(scan, firsts, threads), unwanted.set)


def _groups(scan: Scan, firsts: Sequence[int], threads: int) -> Iterator[tuple[int, ...]]:
    """Yield the firsts in groups; for several threads ever smaller ones, so that all end together."""
    planes = max((scan.rows.n_levels[v] - 1 for v in scan.narrow), default=1)
    word_cost = (-(-scan.rows.n_rows // 64) + _SCORING) * max(planes, 1) ** 2
    if len(scan.narrow) < len(scan.others):
        word_cost = 64 * scan.rows.codes.codes.shape[1]  # by codes, some nanoseconds per row
    cost = [scan.n_sets[v] * word_cost for v in firsts]
    left = sum(cost)
    least = max(_LEAST_TASK, left // (16 * threads))
    group: list[int] = []
    size, most, n_sets = 0, 0, 0
    for v, work in zip(firsts, cost, strict=True):
        if group and (size + work > most or n_sets + scan.n_sets[v] > _MOST_SETS):
            yield tuple(group)
            group, left, size, n_sets = [], left - size, 0, 0
        if not group:
            most = min(max(2 * left // (3 * threads), least), _TASK) if threads > 1 else _TASK
        group.append(v)
        size, n_sets = size + work, n_sets + scan.n_sets[v]
    if group:
        yield tuple(group)


def _singles(scan: Scan, firsts: Sequence[int], threads: int) -> Iterator[ScanBlock]:
    if firsts:
        levels = scan.rows.n_levels
        shared = extensions(scan.rows, [scan.base], threads)[0]
        bars = {r: scan.at_least((r,)) for r in {levels[v] for v in firsts}}
        found = [v for v in firsts if shared[v] >= bars[levels[v]] - 3 * scan.rows.margin]
        sets = np.array(found, dtype=np.int32).reshape(-1, 1)
        yield ScanBlock(tuple(firsts), sets, shared[found], len(firsts))


def _by_codes(scan: Scan, firsts: Sequence[int], unwanted: Event) -> list[Found]:
    """Return the sets that hold a variable which is not scanned in bits."""
    if len(scan.narrow) == len(scan.others) >= scan.order:
        return []
    rows = scan.rows
    bars: dict[tuple[int, ...], float] = {}
    wanted = (
        (first, *rest)
        for first in firsts
        for rest in combinations([v for v in scan.others if v > first], scan.order - 1)
        if first not in scan.narrow or not scan.narrow.issuperset(rest)
    )
    kept: list[Found] = []
    while not unwanted.is_set() and (block := list(islice(wanted, _BATCH))):
        sets = np.array(block, dtype=np.int32)
        sums = rows.log_sums(scan.base_ids, scan.n_base, block)
        shared = rows.shared(scan.base_entropy + rows.alone[sets].sum(axis=1), sums)
        shapes = [tuple(sorted(rows.n_levels[v] for v in chosen)) for chosen in block]
        bars.update({shape: scan.at_least(shape) for shape in set(shapes) - set(bars)})
        bar = np.array([bars[shape] for shape in shapes])
        reach = shared >= bar - 3 * rows.margin
        kept.append((sets[reach], np.maximum(shared[reach], 0.0)))
    return kept


def _sorted(found: Sequence[Found], order: int) -> Found:
    """Return all that was found in lexicographic order."""
    sets = np.concatenate([np.empty((0, order), np.int32), *(sets for sets, _ in found)])
    shared = np.concatenate([np.empty(0), *(values for _, values in found)])
    place = np.lexsort(sets.T[::-1])
    return sets[place], shared[place]
