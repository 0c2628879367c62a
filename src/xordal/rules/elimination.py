"""What solves all rows, and what solves almost all of them.

One system serves both. Brought into systematic form (plain.py says what that is), combinations that are zero in
all rows are the rules without exception. For the others the chosen rows are changed again and again, and
combinations that are zero in most of the other rows are collected. A rule that a share e of the rows breaks is
met when at most two of the chosen rows break it; with D unknowns these are about D e rows, so that the chance
of one choice is that of a Poisson number of mean D e to be 2 or less: .68 at D e = 2, .12 at 5, .01 at 8.

The number of choices is fixed by the number of unknowns, never by a clock: the same table gives the same rules
on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xordal.rules import plain
from xordal.rules.coding import Coding

Solutions = NDArray[np.int64]
"""Solutions modulo p, one in each row, shape (solutions, unknowns)."""

SLACK = 64
"""Rows beyond the unknowns: a false solution would have to solve all of them, at most one chance in 2^64."""
MOST_MODULUS = 1021
"""The largest prime: products stay below 2^20, where float32 arithmetic divides without error."""
_SPARE = 16  # rows beyond the unknowns that show that nothing solves all rows
_ROWS_PER_UNKNOWN = 2  # rows to choose from, so that choices differ; 3 cost a third more and hardly find more
_MOST_PAIRED = 97  # primes up to which pairs are looked at: their table of ratios stays small
_WORK = 8e6  # numbers written for one prime: about 4 ms compiled
_EXCHANGED = 5  # of so many chosen rows one is exchanged before the next look
_PACKED_WORK = 3e9  # words written modulo 2: about 2 s
_CHOICES_A_DRAW = 24  # choices modulo 2 among the same rows
_DRAWS_IN_BRIEF = 2  # one missed a rule with D e = 2.4, in 1 of 16 searches that found it otherwise
_PACKED_FROM = 160  # unknowns from which words of bits are quicker than numbers
_SETTLED = 0.45  # share of what chance leaves open that a combination must settle in the rows tried
_MOST_FOUND = 20_000  # solutions of most rows, of all choices
_WORTH = 0.25  # seconds of NumPy from which compiled code is loaded


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done to find rules that some rows break.

    ``exact`` leaves that out altogether. ``is_compiled`` chooses compiled code. ``largest_parity`` is how many
    binary columns a parity may have that is sought by meeting in the middle. ``check`` is called several times
    a second and may end the search by raising; nothing else depends on a clock. ``is_brief`` is for learning,
    which looks at few choices of rows before it searches a wide table, and so finds rules that hardly any row
    breaks: the search that follows then makes few choices too.
    """

    exact: bool
    is_compiled: bool
    largest_parity: int = 4
    check: Callable[[], None] = lambda: None
    is_brief: bool = False


def solutions(
    coding: Coding,
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    p: int,
    effort: Effort,
    generator: np.random.Generator,
) -> tuple[Solutions, Solutions]:
    """Return solutions modulo p: a basis of those of all rows taken, and some of those of most of them.

    ``rows`` are the rows that may be used, in random order; the first are taken.
    """
    effort.check()
    size = coding.n_unknowns
    wanted = size + SLACK if effort.exact else _ROWS_PER_UNKNOWN * size + SLACK
    if p == 2 and size >= _PACKED_FROM:
        return _packed(coding, codes, rows, wanted, effort, generator)
    if p == MOST_MODULUS and size >= _PACKED_FROM and (effort.exact or effort.is_brief):
        if _solves_nothing(coding, codes, rows, p):
            return (np.zeros((0, size), dtype=np.int64),) * 2
        effort = replace(effort, exact=True)
    return _dense(coding, codes, rows[:wanted], p, effort, generator)


def n_choices(size: int, p: int = 3) -> int:
    """Return how many choices of rows are made for a number of unknowns."""
    if p == 2 and size >= _PACKED_FROM:
        words = (_ROWS_PER_UNKNOWN + 1) * size / 64
        return int(np.clip(_PACKED_WORK / (size / 8 * size / 2 * words + 2 * size * size), 4, 600))
    work = size / _EXCHANGED * size * (_ROWS_PER_UNKNOWN + 1) * size + plain.TESTED * size * size / 2
    return int(np.clip(_WORK / work, 6, 8 + size / 2))


def seconds_of_numpy(size: int, n_moduli: int, exact: bool) -> float:
    """Return about how long NumPy takes for the moduli."""
    width = (1 if exact else _ROWS_PER_UNKNOWN) + 1
    pivots = size if exact else size + n_choices(size) * size / _EXCHANGED
    each = 15e-6 + size * size * width * 1.2e-9
    pairs = 0.0 if exact else n_choices(size) * size * (30e-6 + size * plain.TESTED * 8e-9)
    return n_moduli * (pivots * each + pairs)


def wants_compiled(size: int, n_moduli: int, exact: bool) -> bool:
    """Whether compiled code is worth its loading, or is loaded already."""
    return "numba" in sys.modules or size >= _PACKED_FROM or seconds_of_numpy(size, n_moduli, exact) > _WORTH


def _dense(
    coding: Coding,
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    p: int,
    effort: Effort,
    generator: np.random.Generator,
) -> tuple[Solutions, Solutions]:
    size, n_rows = coding.n_unknowns, len(rows)
    system = np.concatenate([coding.matrix(codes, rows, p), np.eye(size, dtype=np.float32)], axis=1)
    own = _reduced(system, n_rows, p, effort)
    has_row = own != plain.NO_ROW
    of_all, of_most = system[~has_row, n_rows:], system[:0, n_rows:]
    system, own = np.ascontiguousarray(system[has_row]), own[has_row]
    if not effort.exact and len(own) < n_rows:
        shape = n_choices(size), -(-size // _EXCHANGED)
        leaving = generator.integers(len(own), size=shape)
        of_most = _searched(system, own, n_rows, p, effort, leaving, generator.integers(n_rows, size=shape))
    return of_all.astype(np.int64), _distinct(of_most, p)


def _solves_nothing(coding: Coding, codes: NDArray[np.int32], rows: NDArray[np.int64], p: int) -> bool:
    """Whether no combination is zero in all of some rows, told without working out what combinations are."""
    from xordal.rules import _dense

    system = coding.matrix(codes, rows[: coding.n_unknowns + _SPARE], p)
    return bool(_dense.has_full_rank(system, p, plain.inverses(p)))


def _reduced(system: plain.Array, n_rows: int, p: int, effort: Effort) -> plain.Places:
    """Bring a system into systematic form, in NumPy or compiled; return the chosen rows."""
    if not effort.is_compiled:
        return plain.reduce_system(system, n_rows, p, np.arange(n_rows))
    from xordal.rules import _dense

    own: plain.Places = _dense.reduce_system(system, p, np.arange(n_rows), plain.inverses(p))
    return own


def _searched(
    system: plain.Array, own: plain.Places, n_rows: int, p: int, effort: Effort, leaving: plain.Places,
    entering: plain.Places,
) -> plain.Array:  # fmt: skip
    """Return what is zero in most rows for some choice of rows, in NumPy or compiled."""
    least, pairs = 1 / p + _SETTLED * (1 - 1 / p), p <= _MOST_PAIRED
    if not effort.is_compiled:
        return plain.search(system, own, n_rows, p, least, pairs, leaving, entering)[:_MOST_FOUND]
    from xordal.rules import _dense

    inverse, numbers = plain.inverses(p), np.arange(p if pairs else 0)
    ratio = (-numbers[:, None] * inverse[numbers] % p).astype(np.int16)
    out = np.empty((_MOST_FOUND, system.shape[1] - n_rows), dtype=np.float32)
    n_found = _dense.search(system, own, n_rows, p, least, inverse, ratio, leaving, entering, out)
    return out[:n_found]


def _packed(
    coding: Coding,
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    n_taken: int,
    effort: Effort,
    generator: np.random.Generator,
) -> tuple[Solutions, Solutions]:
    """Return solutions modulo 2, by words of bits: of the first rows, and of most of other draws of rows.

    Of some draws so many rows break a rule that hardly a choice among them finds it. So other rows are drawn
    after some choices, which costs as much as three choices.
    """
    taken = rows[:n_taken]
    system = _WordSystem.of(coding, codes, taken)
    of_all, found = system.solved, [system.solved[:0]]
    left = 0 if effort.exact or system.is_used_up else n_choices(coding.n_unknowns, 2)
    left = min(left, _DRAWS_IN_BRIEF * _CHOICES_A_DRAW) if effort.is_brief else left
    while left > 0:
        effort.check()
        found += [system.look(generator) for _ in range(min(left, _CHOICES_A_DRAW))]
        left -= _CHOICES_A_DRAW
        if left > 0:
            taken = rows[generator.choice(len(rows), len(taken), replace=False)]
            system = _WordSystem.of(coding, codes, taken)
    size = coding.n_unknowns
    return _bits_of(of_all, size), _distinct(_bits_of(np.concatenate(found), size), 2)


@dataclass(frozen=True, slots=True, eq=False)
class _WordSystem:
    """Some rows modulo 2 in systematic form: words of rows, then words of unknowns (_packed.py).

    ``solved`` are the combinations that are zero in all of the rows, ``own`` the chosen rows of the others.
    """

    words: NDArray[np.uint64]
    own: NDArray[np.int64]
    solved: NDArray[np.uint64]
    n_rows: int
    n_words: int

    @classmethod
    def of(cls, coding: Coding, codes: NDArray[np.int32], rows: NDArray[np.int64]) -> _WordSystem:
        from xordal.rules import _packed as steps

        left = words_of(coding.bits(codes, rows))
        system = np.concatenate([left, words_of(np.eye(coding.n_unknowns, dtype=np.uint8))], axis=1)
        own = steps.reduce_system(system, np.arange(len(rows)))
        has_row, n_words = own >= 0, left.shape[1]
        words = np.ascontiguousarray(system[has_row])
        return cls(words, own[has_row], system[~has_row, n_words:], len(rows), n_words)

    @property
    def is_used_up(self) -> bool:
        """Whether no row is left to try combinations on."""
        return len(self.own) >= self.n_rows

    def look(self, generator: np.random.Generator) -> NDArray[np.uint64]:
        """Return combinations of one or two that are zero in most rows, and choose some other rows."""
        from xordal.rules import _packed as steps

        most = int((1 - _SETTLED) / 2 * (self.n_rows - len(self.own)))
        start, out = int(generator.integers(self.n_words - 1)), np.empty((1000, 2), dtype=np.int64)
        n_found = steps.few_ones(self.words, self.n_words, most, int(128 * 0.3), start, out)
        one, other = (self.words[places, self.n_words :] for places in out[:n_found].T)
        found = np.where((out[:n_found, 0] == out[:n_found, 1])[:, None], one, one ^ other)
        leaving = generator.integers(len(self.own), size=-(-len(self.own) // 8))
        steps.exchange(
            self.words, self.own, self.n_rows, leaving, generator.integers(self.n_rows, size=len(leaving))
        )
        return found


def _bits_of(words: NDArray[np.uint64], size: int) -> Solutions:
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    return bits[:, :size].astype(np.int64)


def words_of(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return rows of bits as words of 64, the last one padded with zeros."""
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 64), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _distinct(vectors: plain.Array | Solutions, p: int) -> Solutions:
    """Return the solutions, each once and multiplied so that its last number other than 0 is 1."""
    if not len(vectors):
        return vectors.astype(np.int64)
    if "numba" in sys.modules:
        from xordal.rules import _voting

        return np.asarray(_voting.distinct(vectors, p, plain.inverses(p)))
    vectors = vectors.astype(np.int64)
    last = vectors.shape[1] - 1 - np.argmax(vectors[:, ::-1] != 0, axis=1)
    leading = vectors[np.arange(len(vectors)), last]
    scaled = vectors * plain.inverses(p)[leading][:, None] % p
    octets, width = scaled.astype(np.int16).tobytes(), 2 * vectors.shape[1]
    first = {octets[at : at + width]: at for at in range(len(octets) - width, -1, -width)}
    return np.asarray(scaled[[at // width for at in sorted(first.values())]])
