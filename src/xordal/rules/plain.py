"""The steps of elimination in NumPy, for small systems: compiled code would take longer to load than they take.

A system is an array of shape (unknowns, rows + unknowns) over GF(p), in float32, which holds whole numbers up
to 2^24 exactly: on the left the value of each of ``unknowns`` combinations in each row, on the right what the
combination is made of. At first combination u is unknown u itself, so the right half is the identity.

``reduce_system`` brings it into *systematic form*: as many rows as the rank, the *chosen* rows, hold an
identity matrix, so that each combination is 1 in one chosen row, its own, and 0 in the others. Combinations
that are zero everywhere solve all rows and have no row of their own.

In systematic form each combination is a rule that exactly one chosen row breaks. So if a rule is broken by one
chosen row only, it *is* one of the combinations, and if by two, it is the sum of two of them, one multiplied
by some factor. Rules that few rows break are therefore found by looking at combinations and at pairs of them,
for many different choices of rows (in coding theory: information set decoding; Lee and Brickell 1988).
``exchanged`` changes some of the chosen rows, which is cheaper than beginning anew (Canteaut and Chabaud 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

NO_ROW = -1
"""In place of a chosen row, for a combination that is zero in all rows."""
TESTED = 48
"""Rows in which a pair of combinations is tried first; whoever passes is counted in all rows."""
FIRST = 8
"""Rows of those from which the factor of the pair is taken."""
FITTING = 3
"""Of the first rows, as many as the factor must fit. A rule that holds in three quarters of the rows does so in
996 of 1,000 pairs; of two combinations without a rule modulo 11, one in eight does."""

MOST_PAIRS = 1000
"""Pairs that are counted in all rows for one choice of rows."""

Array = NDArray[np.float32]
Places = NDArray[np.int64]


def reduce_system(system: Array, n_rows: int, p: int, order: Places) -> Places:
    """Bring a system into systematic form, rows being tried in the given order; return the chosen rows."""
    own = np.full(len(system), NO_ROW, dtype=np.int64)
    for row in order:
        hits = np.flatnonzero((own == NO_ROW) & (system[:, row] != 0))
        if len(hits):
            pivot(system, int(hits[0]), int(row), p)
            own[hits[0]] = row
            if (own != NO_ROW).all():
                break
    return own


def pivot(system: Array, one: int, row: int, p: int) -> None:
    """Make a combination 1 in a row, and all others 0 there."""
    system[one] = reduced(system[one] * pow(int(system[one, row]), -1, p), p)
    others = np.flatnonzero(system[:, row])
    others = others[others != one]
    factors = p - system[others, row]
    system[others] = reduced(system[others] + factors[:, None] * system[one], p)


def reduced(values: Array, p: int) -> Array:
    """Return non-negative whole numbers modulo p; half a step keeps the division from rounding down."""
    whole = np.floor((values + np.float32(0.5)) * np.float32(1 / p))
    return np.asarray(values - np.float32(p) * whole)


def exchanged(system: Array, own: Places, n_rows: int, p: int, leaving: Places, entering: Places) -> None:
    """Give some combinations other rows of their own: the first that fits after each of the entering ones."""
    is_chosen = np.zeros(n_rows, dtype=bool)
    is_chosen[own] = True
    for one, start in zip(leaving, entering, strict=True):
        fits = np.flatnonzero(~is_chosen & (system[one, :n_rows] != 0))
        if len(fits):
            row = int(fits[np.searchsorted(fits, start) % len(fits)])
            is_chosen[own[one]], is_chosen[row] = False, True
            own[one] = row
            pivot(system, int(one), row, p)


def search(
    system: Array,
    own: Places,
    n_rows: int,
    p: int,
    least: float,
    pairs: bool,
    leaving: Places,
    entering: Places,
) -> Array:
    """Look at one choice of rows after another, and return what is zero in enough of the other rows.

    ``leaving`` and ``entering`` have one row for each choice: see ``exchanged``.
    """
    found = [system[:0, n_rows:]]
    for out, into in zip(leaving, entering, strict=True):
        found.append(nearly_solving(system, own, n_rows, p, least, pairs))
        exchanged(system, own, n_rows, p, out, into)
    return np.concatenate(found)


def nearly_solving(system: Array, own: Places, n_rows: int, p: int, least: float, pairs: bool) -> Array:
    """Return the combinations, and sums of two, that are 0 in at least this share of the rows not chosen.

    They come as rows over the unknowns.
    """
    found = solving_alone(system, n_rows, least)
    if not pairs:
        return found
    free = free_rows(own, n_rows)
    tried = _promising(system[:, free[:TESTED]].astype(np.int64), p, least)
    return np.concatenate([found, confirmed(system, free, n_rows, p, least, tried[:MOST_PAIRS])])


def solving_alone(system: Array, n_rows: int, least: float) -> Array:
    """Return the combinations that are 0 in enough of the rows not chosen; in the others all but one are 0."""
    n_chosen = len(system)
    n_other = np.count_nonzero(system[:, :n_rows], axis=1) - 1
    return np.asarray(system[n_other <= (1 - least) * (n_rows - n_chosen)][:, n_rows:])


def free_rows(own: Places, n_rows: int) -> Places:
    """Return the rows that are not chosen."""
    is_free = np.ones(n_rows, dtype=bool)
    is_free[own] = False
    return np.flatnonzero(is_free)


def confirmed(
    system: Array, free: Places, n_rows: int, p: int, least: float, pairs: Sequence[Sequence[int]]
) -> Array:
    """Return those sums of two combinations (one, other, factor) that are 0 in enough of the free rows."""
    found = []
    for one, other, factor in pairs:
        both = reduced(system[one] + np.float32(factor) * system[other], p)
        if (both[free] == 0).mean() >= least:
            found.append(both[n_rows:])
    return np.array(found, dtype=np.float32).reshape(len(found), system.shape[1] - n_rows)


def _promising(values: Places, p: int, least: float) -> list[tuple[int, int, int]]:
    """Return pairs of combinations, and a factor with which their sum is 0 in most of some rows.

    The factor must be the commonest one, among the rows that ask for one, in the first few rows.
    """
    found = []
    inverse = inverses(p)
    for one in range(len(values) - 1):
        rest = values[one + 1 :]
        ratios = (-values[one] * inverse[rest]) % p  # 0 where nothing fits, or where both are 0
        keys = ratios[:, :FIRST] + p * np.arange(len(rest))[:, None]
        counts = np.bincount(keys.ravel(), minlength=p * len(rest)).reshape(len(rest), p)
        counts[:, 0] = 0
        factor = counts.argmax(axis=1)
        fits = (ratios == factor[:, None]) | ((rest == 0) & (values[one] == 0))
        enough = (fits.sum(axis=1) >= least * values.shape[1]) & (fits[:, :FIRST].sum(axis=1) >= FITTING)
        for place in np.flatnonzero(enough & (counts.max(axis=1) > 0)):
            found.append((one, one + 1 + int(place), int(factor[place])))
    return found


@lru_cache
def inverses(p: int) -> Places:
    """Return the inverse of each number modulo p, 0 for 0."""
    return np.array([0, *(pow(a, -1, p) for a in range(1, p))], dtype=np.int64)
