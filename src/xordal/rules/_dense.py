"""Compiled elimination modulo p: what plain.py does, for systems of some hundred unknowns.

``system`` is float32 of shape (unknowns, rows + unknowns); ``own`` the chosen row of each combination, -1 for
none. Answers equal those of plain.py to the last number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import kernel
from xordal.rules.plain import FIRST, FITTING, MOST_PAIRS, TESTED


@kernel
def pivot(system: Any, one: int, row: int, p: int, inverse: Any) -> None:
    """Make a combination 1 in a row, and all others 0 there."""
    width = system.shape[1]
    step = np.float32(1.0 / p)
    half = np.float32(0.5)
    modulus = np.float32(p)
    factor = np.float32(inverse[int(system[one, row])])
    mine = system[one]
    for t in range(width):
        value = mine[t] * factor
        mine[t] = value - modulus * np.floor((value + half) * step)
    for k in range(system.shape[0]):
        if k == one or system[k, row] == 0:
            continue
        factor = modulus - system[k, row]
        theirs = system[k]
        for t in range(width):
            value = theirs[t] + factor * mine[t]
            theirs[t] = value - modulus * np.floor((value + half) * step)


@kernel
def reduce_system(system: Any, p: int, order: Any, inverse: Any) -> Any:
    """Bring a system into systematic form; return the chosen rows."""
    own = np.full(system.shape[0], -1, np.int64)
    left = system.shape[0]
    for row in order:
        for one in range(system.shape[0]):
            if own[one] == -1 and system[one, row] != 0:
                pivot(system, one, row, p, inverse)
                own[one] = row
                left -= 1
                break
        if left == 0:
            break
    return own


@kernel
def has_full_rank(system: Any, p: int, inverse: Any) -> bool:
    """Whether no combination of the lines is zero modulo p in all places; the lines are changed."""
    size, width = system.shape
    step, half, modulus = np.float32(1.0 / p), np.float32(0.5), np.float32(p)
    for one in range(size):
        mine, lead = system[one], 0
        while lead < width and mine[lead] == 0:
            lead += 1
        if lead == width:
            return False
        factor = inverse[int(mine[lead])]
        for k in range(one + 1, size):
            theirs = system[k]
            if theirs[lead] == 0:
                continue
            times = np.float32((p - int(theirs[lead])) * factor % p)
            for t in range(lead, width):
                value = theirs[t] + times * mine[t]
                theirs[t] = value - modulus * np.floor((value + half) * step)
    return True


@kernel
def exchange(system: Any, own: Any, n_rows: int, p: int, inverse: Any, leaving: Any, entering: Any) -> None:
    """Give some combinations other rows of their own."""
    is_chosen = np.zeros(n_rows, np.bool_)
    for one in range(len(own)):
        is_chosen[own[one]] = True
    for k in range(len(leaving)):
        one = leaving[k]
        for far in range(n_rows):
            row = (entering[k] + far) % n_rows
            if not is_chosen[row] and system[one, row] != 0:
                is_chosen[own[one]] = False
                is_chosen[row] = True
                own[one] = row
                pivot(system, one, row, p, inverse)
                break


@kernel
def search(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    system: Any, own: Any, n_rows: int, p: int, least: float, inverse: Any, ratio: Any, leaving: Any,
    entering: Any, out: Any,
) -> int:  # fmt: skip
    """Look at one choice of rows after another; write what is zero in enough of the others to ``out``.

    ``leaving`` and ``entering`` have one row for each choice. ``ratio`` is empty where pairs are not looked at.
    Return how many were written, the first ones where there are more than ``out`` holds.
    """
    size = system.shape[0]
    values = np.empty((size, TESTED), np.int16)
    pairs = np.empty((MOST_PAIRS, 3), np.int64)
    free = np.empty(n_rows, np.int64)
    n_found = 0
    for choice in range(len(leaving)):
        n_found = solving_alone(system, n_rows, least, out, n_found)
        if len(ratio):
            n_free = free_rows(own, n_rows, free)
            n_tested = min(n_free, TESTED)
            for one in range(size):
                for t in range(n_tested):
                    values[one, t] = int(system[one, free[t]])
            n_pairs = promising(values[:, :n_tested], p, least, ratio, pairs)
            for k in range(n_pairs):
                n_found = confirm(system, free[:n_free], n_rows, p, least, pairs[k], out, n_found)
        exchange(system, own, n_rows, p, inverse, leaving[choice], entering[choice])
    return n_found


@kernel
def solving_alone(system: Any, n_rows: int, least: float, out: Any, n_found: int) -> int:
    """Write the combinations that are 0 in enough of the rows not chosen; in the others all but one are 0."""
    size = system.shape[0]
    most = (1 - least) * (n_rows - size)
    for one in range(size):
        n_other = -1
        for t in range(n_rows):
            n_other += system[one, t] != 0
        if n_other <= most and n_found < len(out):
            out[n_found] = system[one, n_rows:]
            n_found += 1
    return n_found


@kernel
def free_rows(own: Any, n_rows: int, out: Any) -> int:
    """Write the rows that are not chosen."""
    is_chosen = np.zeros(n_rows, np.bool_)
    for one in range(len(own)):
        is_chosen[own[one]] = True
    n_free = 0
    for row in range(n_rows):
        if not is_chosen[row]:
            out[n_free] = row
            n_free += 1
    return n_free


@kernel
def confirm(
    system: Any, free: Any, n_rows: int, p: int, least: float, pair: Any, out: Any, n_found: int
) -> int:
    """Write the sum of two combinations (one, other, factor) if it is 0 in enough of the free rows."""
    mine, theirs, factor = system[pair[0]], system[pair[1]], pair[2]
    n_zero = 0
    for row in free:
        n_zero += (int(mine[row]) + factor * int(theirs[row])) % p == 0
    if n_zero / len(free) >= least and n_found < len(out):
        for unknown in range(system.shape[1] - n_rows):
            both = int(mine[n_rows + unknown]) + factor * int(theirs[n_rows + unknown])
            out[n_found, unknown] = both % p
        n_found += 1
    return n_found


@kernel
def promising(values: Any, p: int, least: float, ratio: Any, out: Any) -> int:
    """Write pairs of combinations, and a factor with which their sum is 0 in most rows, to ``out``.

    ``values`` holds small whole numbers, shape (combinations, rows); ``ratio[a, b]`` is -a/b modulo p, 0 where
    there is none. The factor is the commonest, the smallest of those, in the first ``FIRST`` rows, of which it
    must fit ``FITTING`` at least. Return the number of pairs.
    """
    n_rows = values.shape[1]
    n_first = min(FIRST, n_rows)
    most_unfit = n_rows - int(np.ceil(least * n_rows - 1e-9))
    counts, asked = np.zeros(p, np.int64), np.zeros(n_first, np.int64)
    n_found = 0
    for one in range(values.shape[0]):
        for other in range(one + 1, values.shape[0]):
            best, factor, n_zero = 0, 0, 0
            for t in range(n_first):
                factor_here = ratio[values[one, t], values[other, t]]
                asked[t] = factor_here
                if factor_here == 0:
                    n_zero += values[one, t] == 0 and values[other, t] == 0
                    continue
                count = counts[factor_here] + 1
                counts[factor_here] = count
                if count > best or (count == best and factor_here < factor):
                    best, factor = count, factor_here
            for t in range(n_first):
                counts[asked[t]] = 0
            if best == 0 or best + n_zero < FITTING:
                continue
            unfit = 0
            for t in range(n_rows):
                a, b = values[one, t], values[other, t]
                unfit += not (ratio[a, b] == factor or (a == 0 and b == 0))
                if unfit > most_unfit:
                    break
            if unfit <= most_unfit and n_found < len(out):
                out[n_found, 0], out[n_found, 1], out[n_found, 2] = one, other, factor
                n_found += 1
    return n_found
