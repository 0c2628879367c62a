"""Noisy parities of few among many binary columns, by meeting in the middle.

Elimination needs about as many clean rows as there are columns: among a thousand it finds parities that fewer
than one row in a hundred breaks. A parity of few columns can be found through more noise, because its halves
can be listed. If a + b + c + d is even in almost all rows, a + b and c + d are both even or both odd in almost
all rows. Draw twenty rows. With a share e of rows that break the parity, the halves agree in all twenty with
chance (1 - e)^20, .12 at e = 10 %. So the parities of each pair of columns in those rows are written down as a
key of bits, and pairs that share a key meet. Of the 500,000 pairs of a thousand columns, a quarter of a million
pairs of pairs meet by accident; 64 other rows rule nearly all of those out, and the rest are counted in all
rows. Then another twenty rows are drawn.

A parity of five is a pair that meets a triple, one of six is two triples. A thousand columns have 166 million
triples, too many for each draw, but a parity of five can be cut into a pair and a triple in ten ways, and one
that is met suffices. So triples are made of random parts of the columns, other ones in each draw: those that
are looked up of a pair of one part and a column of another, so that they need not be listed.

Keys hold whether a row agrees with the first row drawn, so that even and odd parities meet alike. The number
of draws follows from the number of columns, never from a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, log, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST = 24
"""Binary columns from which this is worth it; among fewer, elimination finds as noisy rules."""
LARGEST = 6
"""Columns of the largest parity that can be sought."""
_MOST_PAIRS = 10_000_000  # laid out at once, 120 MB: pairs of 4,470 columns
_MOST_TRIPLES = 10_000_000  # listed at once, 120 MB
_TRIPLES_PER_PAIR = 8  # of a parity of five: where a draw costs least for its chance to meet (flat optimum)
_MOST_SKEWED = 0.75  # share of a column's commonest level: keys of more skewed ones are all alike
_LEAST_HOLDS = 0.74  # a rule holds in three quarters of the rows or more: it settles half of an even chance
_IN_WORD = 21  # ones of 64 rows: by accident 1 in 120 has as few, at 20 % noise 99 in 100 parities do
MOST_ROWS = 8_192
"""Rows in which parities are sought; whether they are rules is judged from all rows."""
_LONGEST = 16  # times the mean run of one key: longer ones come of columns that are nearly the same
_LEAST_REACH = 0.005  # share of broken rows from which a search is worth it: elimination finds cleaner ones
_MISSED = 0.01  # chance of missing a parity at which no more draws are made
_LOW_BITS = 11  # of a key: what has the same higher bits is looked up together and fits a processor's cache
_WIDTHS = {True: 16, False: 10}  # bits of a place in the members of a side, of pairs and of triples
_WORK = {4: 2.5e8, 5: 7e9, 6: 6e9}  # sets listed, looked up and met: about 1.5 s, 30 s and 30 s

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plan:
    """How parities of an order are sought.

    Attributes
    ----------
    listed
        How many columns make up the triples that are listed; 0 where all pairs are.
    paired, single
        How many columns make up the pairs and the single columns of the triples that are looked up; 0 where
        pairs meet each other.
    n_listed, n_looked_up
        How many sets these are.
    chance
        That both halves of a parity are among them.
    work
        How much may be done in all.
    """

    listed: int
    paired: int
    single: int
    n_listed: int
    n_looked_up: int
    chance: float
    work: float

    @property
    def n_bits(self) -> int:
        """Bits of a key: about as many keys as sets that are listed."""
        return max(6, round(log2(self.n_listed)))

    @property
    def by_accident(self) -> float:
        """How many sets share a key with another in one draw although no parity is there."""
        return self.n_listed * self.n_looked_up / (1 << self.n_bits)

    @property
    def most_met(self) -> int:
        """How many are looked at in one draw: far more than 64 rows leave of those."""
        return 1000 + int(self.by_accident / 20)

    @property
    def n_draws(self) -> int:
        """Draws until the work is done, or until a parity that a quarter of the rows break is hardly missed."""
        bounded = self.work / (3 * self.n_listed + self.n_looked_up + self.by_accident)
        enough = log(_MISSED) / log(1 - self.chance * 0.75 ** (self.n_bits + 1))
        return max(1, int(min(bounded, ceil(enough))))

    def reach(self, missed: float = 0.05) -> float:
        """Return the share of rows that may break a parity which is missed with the given chance."""
        in_one = 1 - missed ** (1 / self.n_draws)
        return float(1 - min(1.0, in_one / self.chance) ** (1 / (self.n_bits + 1)))


def plan(order: int, n: int) -> Plan | None:
    """Return how parities of an order are sought among n columns; None where not even clean ones are met.

    Examples
    --------
    >>> [round(plan(order, 1000).reach(), 2) for order in (4, 5, 6)], plan(6, 2000)
    ([0.17, 0.16, 0.05], None)
    """
    if comb(n + 1, 2) > _MOST_PAIRS:
        return None
    how = _of_pairs(n) if order <= 4 else _of_five(n) if order == 5 else _of_six(n)
    return how if how.reach() > _LEAST_REACH else None


def _of_pairs(n: int) -> Plan:
    pairs = comb(n + 1, 2)
    return Plan(0, 0, 0, pairs, pairs // 2, 1.0, _WORK[4])


def _of_five(n: int) -> Plan:
    """Pairs of all columns meet triples; of five columns at least two must be paired and one single."""
    pairs = comb(n + 1, 2)
    part = min(n // 2, int((2 * _TRIPLES_PER_PAIR * pairs) ** (1 / 3)))
    a = part / n
    few_paired, none_single = (1 - a) ** 5 + 5 * a * (1 - a) ** 4, (1 - a) ** 5
    neither = (1 - 2 * a) ** 5 + 5 * a * (1 - 2 * a) ** 4
    return Plan(
        0, part, part, pairs, comb(part + 1, 2) * part, 1 - few_paired - none_single + neither, _WORK[5]
    )


def _of_six(n: int) -> Plan:
    """Triples of one part meet triples of the rest; of six columns 3 must be listed, 2 paired and 1 single."""
    listed = min(int(0.45 * n), int((6 * _MOST_TRIPLES) ** (1 / 3)))
    single = (n - listed) // 3
    paired = n - listed - single
    chance = 60 * (listed / n) ** 3 * (paired / n) ** 2 * (single / n)
    looked_up = comb(paired + 1, 2) * single
    return Plan(listed, paired, single, comb(listed + 1, 3), looked_up, chance, _WORK[6])


def noisy_parities(
    bits: NDArray[np.uint8],
    largest: int,
    generator: np.random.Generator,
    check: Callable[[], None] = lambda: None,
) -> list[tuple[int, ...]]:
    """Return sets of 3 to ``largest`` columns whose parity is the same in most rows.

    ``bits`` has shape (columns, rows), in random order of rows. Sets that part into independent ones are left
    out. Columns that are nearly always 0 or nearly always 1 are not looked at. ``check`` is called before each
    draw and may end the search by raising.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> bits = generator.integers(0, 2, (40, 2000), dtype=np.uint8)
    >>> bits[7] = bits[3] ^ bits[20] ^ bits[31] ^ (generator.random(2000) < 0.15)
    >>> noisy_parities(bits, 4, generator)
    [(3, 7, 20, 31)]
    """
    share = bits.mean(axis=1)
    even = np.flatnonzero((share > 1 - _MOST_SKEWED) & (share < _MOST_SKEWED))
    if len(even) < FEWEST or bits.shape[1] < 64:
        return []
    met: set[tuple[int, ...]] = set()
    rows = np.vstack([np.zeros_like(bits[:1]), bits[even]])
    for order in range(4, largest + 1):
        how = plan(order, len(even))
        if how is not None:
            met |= _drawn(rows, how, generator, check)
    found = [columns for columns in sorted(met) if _is_whole(rows[list(columns)])]
    return [tuple(int(even[c - 1]) for c in columns) for columns in found]


def _drawn(
    rows: NDArray[np.uint8], how: Plan, generator: np.random.Generator, check: Callable[[], None]
) -> set[tuple[int, ...]]:
    """Return what meets in any of the draws, as places in ``rows``, of which the first is zero."""
    from xordal.rules.elimination import words_of

    packed, n_rows = words_of(rows), rows.shape[1]
    found: set[tuple[int, ...]] = set()
    for _ in range(how.n_draws):
        check()
        chosen = generator.choice(n_rows, size=how.n_bits + 1, replace=False)
        keys = (rows[:, chosen[1:]] ^ rows[:, chosen[:1]]).astype(np.int64) @ (1 << np.arange(how.n_bits))
        words = np.ascontiguousarray(packed[:, generator.integers(n_rows // 64)])
        met = _met(keys, words, how, generator)
        found |= _counted(packed, n_rows, met)
    return found


def _met(keys: Numbers, words: NDArray[np.uint64], how: Plan, generator: np.random.Generator) -> Numbers:
    """Return the columns of the halves that meet in one draw, six for each, column 0 in place of none."""
    from xordal.rules import _meeting

    columns = np.arange(1, len(keys))
    if how.paired:
        columns = generator.permutation(columns)
    paired, single, rest = np.split(columns, [how.paired, how.paired + how.single])
    listed = _Sorted(keys, words, rest[: how.listed] if how.listed else columns, not how.listed, how.n_bits)
    longest = _LONGEST * (1 + (how.n_listed >> how.n_bits))
    if not how.paired:
        out = np.empty((how.most_met, 2), dtype=np.int64)
        n_met = _meeting.meet_pairs(listed.start, listed.words, longest, _IN_WORD, out)
        return np.hstack([listed.columns(out[:n_met, 0]), listed.columns(out[:n_met, 1])])
    n_low = min(_LOW_BITS, how.n_bits)
    pairs = _Sorted(keys >> n_low, words, paired, True, how.n_bits - n_low)
    single = np.concatenate([[0], single])
    out = np.empty((how.most_met, 3), dtype=np.int64)
    of_pairs, of_single = (pairs.start, pairs.taken(keys), pairs.words), (keys[single], words[single])
    limits = (n_low, longest, _IN_WORD)
    n_met = _meeting.meet_triples(listed.start, listed.words, of_pairs, of_single, limits, out)
    met = pairs.columns(out[:n_met, 1])
    met[:, 0] = single[out[:n_met, 2]]  # the first of a pair's three columns is column 0
    return np.hstack([listed.columns(out[:n_met, 0]), met])


class _Sorted:
    """Sets of some columns, sorted by their keys; ``is_pairs`` for pairs and single columns, else triples."""

    def __init__(
        self, keys: Numbers, words: NDArray[np.uint64], columns: Numbers, is_pairs: bool, n_bits: int
    ) -> None:
        from xordal.rules import _meeting

        self._members = np.concatenate([[0, 0] if is_pairs else [0], columns])
        self._width = _WIDTHS[is_pairs]
        n = len(self._members)
        self.start = np.zeros(2**n_bits + 2, dtype=np.int32)
        self._numbers = np.empty(comb(n - 1, 2) if is_pairs else comb(n, 3), dtype=np.uint32)
        if is_pairs:
            _meeting.lay_out_pairs(keys, self._members, self._width, self.start, self._numbers)
        else:
            n_low = min(_LOW_BITS, n_bits)
            pairs = _Sorted(keys >> n_low, words, columns, True, n_bits - n_low)
            _meeting.lay_out_triples(
                (pairs.start, pairs.taken(keys), pairs._numbers), keys[self._members],
                (n_low, pairs._width, self._width), self.start, self._numbers,
            )  # fmt: skip
        self.words = self.taken(words)

    def taken(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the exclusive or of the columns of each set."""
        from xordal.rules import _meeting

        found = np.empty(len(self._numbers), dtype=values.dtype)
        _meeting.of_sets(values, self._members, self._numbers, self._width, found)
        return found

    def columns(self, places: Numbers) -> Numbers:
        """Return the columns of some of the sets."""
        numbers, mask = self._numbers[places].astype(np.int64), (1 << self._width) - 1
        shifts = (2 * self._width, self._width, 0)
        return self._members[np.stack([numbers >> shift & mask for shift in shifts], axis=1)]


def _counted(packed: NDArray[np.uint64], n_rows: int, met: Numbers) -> set[tuple[int, ...]]:
    """Return the sets of three or more columns whose parity is the same in most rows."""
    from xordal.rules import _meeting

    ones = np.empty(len(met), dtype=np.int64)
    _meeting.count_ones(packed, met, ones)
    most = (1 - _LEAST_HOLDS) * n_rows
    hits = met[(ones >= 0) & (np.minimum(ones, n_rows - ones) <= most)]
    found = {tuple(sorted(set(columns) - {0})) for columns in hits.tolist()}
    return {columns for columns in found if len(columns) > 2}


def _is_whole(rows: NDArray[np.uint8]) -> bool:
    """Whether the parity is the same far more often than if some columns were independent of the others."""
    m = len(rows)
    total = np.bitwise_xor.reduce(rows)
    odd = float(total.mean())
    is_even, holds = odd < 0.5, max(odd, 1 - odd)
    for size in range(1, m // 2 + 1):
        for part in combinations(range(m), size):
            one = np.bitwise_xor.reduce(rows[list(part)])
            p, q = float(one.mean()), float((one ^ total).mean())
            same = p * q + (1 - p) * (1 - q)
            by_chance = same if is_even else 1 - same
            if holds - by_chance <= 0.5 * (1 - by_chance):
                return False
    return True
