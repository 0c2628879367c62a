"""Compiled elimination modulo 2 on words of 64 bits, for systems of up to thousands of unknowns.

``system`` is uint64 of shape (unknowns, words): ``n_rows`` bits of rows, padded to whole words, then one bit
for each unknown. The steps are those of plain.py, with which they are compared in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import popcount
from xordal.counting._jit import kernel


@kernel
def pivot(system: Any, one: int, row: int) -> None:
    """Make all other combinations 0 in a row in which one is 1."""
    word, bit = row >> 6, np.uint64(row & 63)
    width = system.shape[1]
    mine = system[one]
    for k in range(system.shape[0]):
        if k != one and (system[k, word] >> bit) & np.uint64(1):
            theirs = system[k]
            for t in range(width):
                theirs[t] ^= mine[t]


@kernel
def reduce_system(system: Any, order: Any) -> Any:
    """Bring a system into systematic form; return the chosen rows, -1 for combinations that are zero in all."""
    own = np.full(system.shape[0], -1, np.int64)
    left = system.shape[0]
    for row in order:
        word, bit = row >> 6, np.uint64(row & 63)
        for one in range(system.shape[0]):
            if own[one] == -1 and (system[one, word] >> bit) & np.uint64(1):
                pivot(system, one, row)
                own[one] = row
                left -= 1
                break
        if left == 0:
            break
    return own


@kernel
def solve(columns: Any, parts: Any) -> Any:
    """Add to each column earlier ones of those that are left, so that its first row with a 1 is not theirs.

    Return which are then zero in all rows. ``parts`` says what each is made of, a bit for each column; it comes
    as each column by itself. What a column that becomes zero is made of does not depend on the order of rows.
    """
    n_words = columns.shape[1]
    with_first, is_zero = np.full(n_words * 64, -1, np.int64), np.zeros(len(columns), np.bool_)
    for one in range(len(columns)):
        mine, own, word = columns[one], parts[one], 0
        while True:
            while word < n_words and mine[word] == 0:
                word += 1
            if word == n_words:
                is_zero[one] = True
                break
            bit = 64 * word + popcount((mine[word] & -mine[word]) - np.uint64(1))
            if with_first[bit] < 0:
                with_first[bit] = one
                break
            theirs, more = columns[with_first[bit]], parts[with_first[bit]]
            for t in range(word, n_words):
                mine[t] ^= theirs[t]
            for t in range(len(own)):
                own[t] ^= more[t]
    return is_zero


@kernel
def exchange(system: Any, own: Any, n_rows: int, leaving: Any, entering: Any) -> None:
    """Give some combinations other rows of their own."""
    is_chosen = np.zeros(n_rows, np.bool_)
    for one in range(len(own)):
        is_chosen[own[one]] = True
    for k in range(len(leaving)):
        one = leaving[k]
        for far in range(n_rows):
            row = (entering[k] + far) % n_rows
            if not is_chosen[row] and (system[one, row >> 6] >> np.uint64(row & 63)) & np.uint64(1):
                is_chosen[own[one]] = False
                is_chosen[row] = True
                own[one] = row
                pivot(system, one, row)
                break


@kernel
def few_ones(system: Any, n_words: int, most: int, most_in_two: int, start: int, out: Any) -> int:
    """Write the combinations (k, k) and pairs (i, j) with at most this many ones in all rows to ``out``.

    Pairs are first looked at in two words, from ``start`` on, in which they may have ``most_in_two`` ones.
    """
    n_found = 0
    size = system.shape[0]
    second = (start + 1) % n_words
    for one in range(size):
        ones = 0
        for t in range(n_words):
            ones += popcount(system[one, t])
        if ones <= most and n_found < len(out):
            out[n_found, 0], out[n_found, 1] = one, one
            n_found += 1
        first_word, second_word = system[one, start], system[one, second]
        for other in range(one + 1, size):
            ones = popcount(first_word ^ system[other, start]) + popcount(second_word ^ system[other, second])
            if ones > most_in_two:
                continue
            ones = 0
            for t in range(n_words):
                ones += popcount(system[one, t] ^ system[other, t])
            if ones <= most and n_found < len(out):
                out[n_found, 0], out[n_found, 1] = one, other
                n_found += 1
    return n_found
