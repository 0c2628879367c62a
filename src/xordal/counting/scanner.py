"""All sets of one size that can reach a bar: which sets are counted how, in which groups, on which thread.

Variables with few levels are scanned in bits, sets with any other by codes. Work is cut into groups of firsts,
large enough that what Python does between them does not matter, small enough that a scan can be ended at any
time. Each thread works on a group in one call: triples it takes by turns from what is left, of other sets it
gets a share of the same cost. What they found is sorted, so that it does not depend on who found it.
"""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import accumulate, combinations, compress, filterfalse, islice, repeat
from math import comb
from threading import Event
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from xordal.counting._turns import first_turn
from xordal.counting.best import ALL, Best
from xordal.counting.bit_scan import BitScan, Part, parts_of
from xordal.counting.extensions import extensions
from xordal.counting.measures import measured
from xordal.counting.oracle import Bar, Measure, ScanBlock
from xordal.counting.rows import Rows
from xordal.counting.threads import in_threads
from xordal.data.packed import MOST_LEVELS
from xordal.types.varsets import EMPTY, VarSet, members

_LARGEST_TABLE = 4096  # cells of sets scanned in bits
_LARGEST_BINARY = 1 << 16  # the same where all variables are binary
_TASK, _LEAST_TASK = 1 << 28, 1 << 22  # words multiplied by one call: some tens of milliseconds, some tenths
_LONG = 1 << 30  # words of the sets of one first, from which a scan for the best takes them in parts
_MOST_SETS = 1 << 21  # that a block of several firsts may hold
_SCORING = 24  # what scoring a set costs, in words
_BATCH = 1024  # sets counted by codes at once

Found = tuple[NDArray[np.int32], NDArray[np.float64]]


class Field(NamedTuple):
    """The variables of a scan, and which of them are scanned in bits."""

    others: tuple[int, ...]
    narrow: tuple[int, ...]
    n_sets: dict[int, int]  # how many begin with each variable
    cost: int  # of a set: about so many words are multiplied
    narrow_cost: int  # of one that is scanned in bits

    @classmethod
    def of(cls, rows: Rows, order: int, base: VarSet, n_base: int) -> Field:
        """Return what a scan goes over: all but its base."""
        own = frozenset(members(base))
        others = tuple(filterfalse(own.__contains__, range(len(rows.n_levels))))
        most = 0
        if rows.bits is not None and n_base << order <= _LARGEST_BINARY:
            most = min(max(int((_LARGEST_TABLE / n_base) ** (1 / order) + 1e-9), 2), MOST_LEVELS)
        is_narrow = (rows.codes.n_levels <= most).tolist()
        narrow = tuple(compress(others, map(is_narrow.__getitem__, others)))
        n_sets = dict(zip(reversed(others), map(comb, range(len(others)), repeat(order - 1)), strict=True))
        is_all, cost = len(narrow) == len(others), _cost_in_bits(rows, narrow)
        return cls(others, narrow, n_sets, cost if is_all else _cost_by_codes(rows), cost)


_FIELDS: WeakKeyDictionary[Rows, dict[int, Field]] = WeakKeyDictionary()  # of scans without a base, by order


class Scan(NamedTuple):
    """One scan: its base and bar, and what it goes over."""

    rows: Rows
    order: int
    at_least: Bar
    base: VarSet
    base_ids: NDArray[np.int64]
    n_base: int
    base_entropy: float
    field: Field
    measure: Measure
    best: Best

    @classmethod
    def of(
        cls, rows: Rows, order: int, at_least: Bar, base: VarSet, measure: Measure = "total", best: Best = ALL
    ) -> Scan:
        """Prepare a scan."""
        ids, n_base = rows.codes.ids(base)
        if base == EMPTY:
            known = _FIELDS.setdefault(rows, {})
            if order not in known:
                known[order] = Field.of(rows, order, base, n_base)
            return cls(rows, order, at_least, base, ids, n_base, 0.0, known[order], measure, best)
        of_base = float(-rows.shared(0.0, rows.log_sums(ids, n_base, np.empty((1, 0), np.int64)))[0])
        field = Field.of(rows, order, base, n_base)
        return cls(rows, order, at_least, base, ids, n_base, of_base, field, measure, best)


def scan(
    scan: Scan, done: frozenset[int], threads: int, check: Callable[[], None] | None = None
) -> Iterator[ScanBlock]:
    """Yield the sets that can reach the bar, by groups of firsts; the firsts that are done left out.

    ``check`` is called several times a second and may end the scan by raising.
    """
    field = scan.field
    firsts = [v for v in field.others if v not in done] if done else field.others
    if scan.order == 1:
        yield from _singles(scan, firsts, threads)
        return
    bits = None
    if len(field.narrow) >= scan.order:
        bits = BitScan(scan.rows, scan.order, scan.at_least, field.narrow, measure=scan.measure, best=scan.best)
        bits.start(scan.base_ids, scan.n_base, scan.base_entropy, with_base=scan.base != EMPTY)
    is_narrow, narrow = len(field.narrow) == len(field.others), frozenset(field.narrow)
    unwanted = Event()
    under_way: deque[tuple[tuple[int, ...], int, int]] = deque()

    def tasks() -> Iterator[_Share | Part | _Chunk]:
        for group in _groups(scan, firsts, threads):
            n_sets = sum(map(field.n_sets.__getitem__, group))
            if _is_long(scan, group):
                for part in _parts(scan, group[0], bits):
                    n_sets -= part.n_sets
                    under_way.append((() if n_sets else group, 1, part.n_sets))
                    yield part
                continue
            shares = _shares(scan, group, threads)
            under_way.append((group, len(shares), n_sets))
            yield from shares

    def run(share: _Share | Part | _Chunk) -> list[Found]:
        if isinstance(share, _Chunk):
            return _by_codes(scan, share.sets, unwanted)
        if isinstance(share, Part):
            assert bits is not None
            return [bits.scan_part(share, unwanted)]
        found = _by_codes(scan, _with_a_wide_one(scan, share.own), unwanted)
        if bits is not None:
            mine = share.common if scan.order == 3 else share.own
            mine = mine if is_narrow else tuple(v for v in mine if v in narrow)
            found.append(bits.scan(mine, share.turn, unwanted))
        return found

    with closing(
        in_threads(threads, run, tasks(), unwanted.set, helps=is_narrow and scan.order <= 3, check=check)
    ) as answers:
        for found in answers:
            group, n_shares, n_scanned = under_way.popleft()
            rest = [one for share in islice(answers, n_shares - 1) for one in share]
            sets, shared = _sorted([*found, *rest], scan.order)
            yield ScanBlock(group, sets, shared, n_scanned)


def _groups(scan: Scan, firsts: Sequence[int], threads: int) -> Iterator[tuple[int, ...]]:
    """Yield the firsts in groups that keep all threads busy for one call each.

    Pairs are scanned by ranges of firsts, so that no group goes across firsts that are done: the best of these
    would count among the best so many.
    """
    of, most = scan.field.n_sets, threads * _TASK // scan.field.cost
    if scan.best.top is None:  # of which a block may hold nearly all
        most = min(most, _MOST_SETS)
    for run in _runs(scan, firsts):
        ends = list(accumulate(map(of.__getitem__, run)))
        begin = done = 0
        while begin < len(run):
            end = max(bisect(ends, done + most), begin + 1)
            yield tuple(run[begin:end])
            begin, done = end, ends[end - 1]


def _runs(scan: Scan, firsts: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the firsts, of pairs in parts between which others are done."""
    every = scan.field.others
    if scan.order != 2 or len(firsts) == len(every):
        yield firsts
        return
    place = {v: number for number, v in enumerate(every)}
    begin = 0
    for end in range(1, len(firsts) + 1):
        if end == len(firsts) or place[firsts[end]] - place[firsts[end - 1]] > 1:
            yield firsts[begin:end]
            begin = end


class _Share(NamedTuple):
    """What a thread does of a group: its own firsts; or the common ones, in turn with the others."""

    own: tuple[int, ...]
    common: tuple[int, ...]
    turn: NDArray[np.int64]


def _shares(scan: Scan, group: tuple[int, ...], threads: int) -> list[_Share]:
    """Return a group in shares of about the same cost, one for each thread; whole where it is not worth it.

    Costs fall from first to first, so firsts are dealt out to and fro. Pairs are scanned by ranges of firsts.
    """
    of, turn = scan.field.n_sets, first_turn()
    n_sets = sum(map(of.__getitem__, group))
    if threads == 1 or n_sets * scan.field.cost < _LEAST_TASK:
        return [_Share(group, group, turn)]
    if scan.order == 2:
        done = list(accumulate(map(of.__getitem__, group)))
        cuts = [bisect(done, n_sets * t // threads) for t in range(threads)]
        shares = [group[begin:end] for begin, end in zip(cuts, [*cuts[1:], None], strict=True)]
    else:
        there = 2 * threads
        shares = [group[t::there] + group[there - 1 - t :: there] for t in range(threads)]
    return [_Share(share, group, turn) for share in shares if share]


def _cost_by_codes(rows: Rows) -> int:
    """Return in words what a set costs that is counted by codes: some nanoseconds per row."""
    return 64 * int(rows.codes.codes.shape[1])


def _cost_in_bits(rows: Rows, narrow: Sequence[int]) -> int:
    """Return about how many words are multiplied for one set."""
    planes = int(rows.codes.n_levels[list(narrow)].max(initial=2)) - 1
    return (-(-rows.n_rows // 64) + _SCORING) * max(planes, 1) ** 2


def _singles(scan: Scan, firsts: Sequence[int], threads: int) -> Iterator[ScanBlock]:
    if firsts:
        levels = scan.rows.n_levels
        shared = extensions(scan.rows, [scan.base], threads)[0]
        bars = {r: scan.at_least((r,)) for r in {levels[v] for v in firsts}}
        found = [v for v in firsts if shared[v] >= bars[levels[v]] - 3 * scan.rows.margin]
        sets = np.array(found, dtype=np.int32).reshape(-1, 1)
        yield ScanBlock(tuple(firsts), sets, shared[found], len(firsts))


class _Chunk(NamedTuple):
    """Some of the sets of one first that are counted by codes."""

    sets: list[tuple[int, ...]]

    @property
    def n_sets(self) -> int:
        return len(self.sets)


def _is_long(scan: Scan, group: Sequence[int]) -> bool:
    """Whether the sets of a group are looked at in parts: those of one first that would take long.

    Only where the best are sought, as no more than these are kept: else a block is what may be taken up again.
    """
    if scan.best.top is None or len(group) > 1 or scan.order < 3:
        return False
    first, field = group[0], scan.field
    n_sets, n_narrow = field.n_sets[first], _n_in_bits(scan, first)
    return (n_sets - n_narrow) * _cost_by_codes(scan.rows) + n_narrow * field.narrow_cost > _LONG


def _n_in_bits(scan: Scan, first: int) -> int:
    """Return how many sets that begin with a variable are scanned in bits."""
    narrow = scan.field.narrow
    place = bisect(narrow, first)
    is_narrow = len(narrow) >= scan.order and place > 0 and narrow[place - 1] == first
    return comb(len(narrow) - place, scan.order - 1) if is_narrow else 0


def _parts(scan: Scan, first: int, bits: BitScan | None) -> Iterator[Part | _Chunk]:
    """Yield the sets that begin with one variable, in parts that take some tenths of a second."""
    narrow, field = scan.field.narrow, scan.field
    if bits is not None and _n_in_bits(scan, first):
        later, most = narrow[bisect(narrow, first) :], max(_TASK // field.narrow_cost, 1)
        yield from parts_of((first,), later, scan.order, most, bits.largest_prefix)
    wanted, most = _with_a_wide_one(scan, (first,)), max(_TASK // _cost_by_codes(scan.rows), _BATCH)
    while chunk := list(islice(wanted, most)):
        yield _Chunk(chunk)


def _with_a_wide_one(scan: Scan, firsts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Return the sets that hold a variable which is not scanned in bits."""
    if len(scan.field.narrow) == len(scan.field.others) >= scan.order:
        return iter(())
    narrow = frozenset(scan.field.narrow if len(scan.field.narrow) >= scan.order else ())
    return (
        (first, *rest)
        for first in firsts
        for rest in combinations([v for v in scan.field.others if v > first], scan.order - 1)
        if first not in narrow or not narrow.issuperset(rest)
    )


def _by_codes(scan: Scan, wanted: Iterable[tuple[int, ...]], unwanted: Event) -> list[Found]:
    """Return those of some sets that can reach the bar, counted by codes."""
    rows, wanted = scan.rows, iter(wanted)
    bars: dict[tuple[int, ...], float] = {}
    kept: list[Found] = []
    while not unwanted.is_set() and (block := list(islice(wanted, _BATCH))):
        sets = np.array(block, dtype=np.int32)
        sums = rows.log_sums(scan.base_ids, scan.n_base, block)
        shared = rows.shared(scan.base_entropy + rows.alone[sets].sum(axis=1), sums)
        shapes = [tuple(sorted(rows.n_levels[v] for v in chosen)) for chosen in block]
        bars.update({shape: scan.at_least(shape) for shape in set(shapes) - set(bars)})
        floor = {shape: max(bars[shape] - 3 * rows.margin, scan.best.floor(shape)) for shape in set(shapes)}
        kept.append(_measured(scan, sets, shared, shapes, np.array([floor[shape] for shape in shapes])))
    return kept


def _measured(
    scan: Scan,
    sets: NDArray[np.int32],
    shared: NDArray[np.float64],
    shapes: list[tuple[int, ...]],
    bars: NDArray[np.float64],
) -> Found:
    """Return the sets that reach their bars and what is measured of them, given what they share in all."""
    reach = np.flatnonzero(shared >= bars)
    if scan.measure != "total":
        shared = shared.copy()
        shared[reach] = measured(scan.measure, sets[reach], scan.base != EMPTY, partial(_entropies, scan))
        reach = reach[shared[reach] >= bars[reach]]
    if scan.best.top is not None and scan.measure != "interaction":  # of which this is a bound
        for shape in {shapes[x] for x in reach.tolist()}:
            scan.best.take(shape, shared[[x for x in reach.tolist() if shapes[x] == shape]])
    return sets[reach], np.maximum(shared[reach], 0.0)


def _entropies(scan: Scan, sets: NDArray[np.int32], with_base: bool) -> NDArray[np.float64]:
    """Return the entropy of each set, together with the base or not."""
    ids, n_ids = (scan.base_ids, scan.n_base) if with_base else scan.rows.codes.ids(EMPTY)
    return np.asarray(-scan.rows.shared(0.0, scan.rows.log_sums(ids, n_ids, sets.astype(np.int64))))


def _sorted(found: Sequence[Found], order: int) -> Found:
    """Return all that was found in lexicographic order."""
    sets = np.concatenate([np.empty((0, order), np.int32), *(sets for sets, _ in found)])
    shared = np.concatenate([np.empty(0), *(values for _, values in found)])
    place = _lexicographic(sets)
    return sets[place], shared[place]


def _lexicographic(sets: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the order that sorts sets; those of each first are sorted already, which a stable sort uses."""
    base = int(sets.max(initial=0)) + 1
    if base ** sets.shape[1] >= 1 << 63:
        return np.lexsort(sets.T[::-1])
    number = np.zeros(len(sets), dtype=np.int64)
    for column in sets.T:
        number = number * base + column
    return np.argsort(number, kind="stable")
