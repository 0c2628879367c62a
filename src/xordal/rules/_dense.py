"""Compiled elimination modulo p: what plain.py does, for systems of some hundred unknowns.

``system`` is float32 of shape (unknowns, rows + unknowns); ``own`` the chosen row of each combination, -1 for
none. Answers equal those of plain.py to the last number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import kernel


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
def promising(values: Any, p: int, least: float, n_first: int, ratio: Any, out: Any) -> int:
    """Write pairs of combinations, and a factor with which their sum is 0 in most rows, to ``out``.

    ``values`` holds small whole numbers, shape (combinations, rows); ``ratio[a, b]`` is -a/b modulo p, 0 where
    there is none. The factor is the commonest, the smallest of those, in the first ``n_first`` rows. Return the
    number of pairs.
    """
    n_rows = values.shape[1]
    n_first = min(n_first, n_rows)
    asked = np.zeros(n_first, np.int64)
    n_found = 0
    for one in range(values.shape[0]):
        for other in range(one + 1, values.shape[0]):
            for t in range(n_first):
                asked[t] = ratio[values[one, t], values[other, t]]
            best, factor = 0, 0
            for t in range(n_first):
                if asked[t] == 0:
                    continue
                count = 0
                for s in range(n_first):
                    count += asked[s] == asked[t]
                if count > best or (count == best and asked[t] < factor):
                    best, factor = count, asked[t]
            if best == 0:
                continue
            fitting = 0
            for t in range(n_rows):
                a, b = values[one, t], values[other, t]
                fitting += ratio[a, b] == factor or (a == 0 and b == 0)
                if fitting + n_rows - 1 - t < least * n_rows:
                    break
            if fitting >= least * n_rows and n_found < len(out):
                out[n_found, 0], out[n_found, 1], out[n_found, 2] = one, other, factor
                n_found += 1
    return n_found
