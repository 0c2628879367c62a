"""Compiled steps of the meeting in the middle (meeting.py), on keys of some rows and on words of 64 rows.

``keys`` (int64) and ``words`` (uint64) hold the sampled rows and 64 other rows of every column; those of a set
of columns are the exclusive or of its columns'. Column 0 is zero in all rows, so that sets with it are sets of
fewer columns. Sets are made of ``members``, numbers of columns. The number of a set (uint32) is three places in
``members``, i < j < k: i in the highest bits and j and k in ``width`` bits each. Pairs are the sets with i = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import popcount
from xordal.counting._jit import kernel


@kernel
def lay_out_pairs(keys: Any, members: Any, width: int, start: Any, out: Any) -> None:
    """Sort all pairs by key: those of key x are ``out[start[x] : start[x + 1]]``, by the later of their places.

    ``start`` is zero and two longer than there are keys. Pairs are counted in one walk and written in another.
    """
    n = len(members)
    own = keys[members]
    for k in range(2, n):
        for j in range(1, k):
            start[(own[j] ^ own[k]) + 2] += 1
    for x in range(1, len(start)):
        start[x] += start[x - 1]
    for k in range(2, n):
        for j in range(1, k):
            at = (own[j] ^ own[k]) + 1
            out[start[at]] = (j << width) | k
            start[at] += 1


@kernel
def lay_out_triples(pairs: Any, keys: Any, widths: Any, start: Any, out: Any) -> None:
    """Sort all triples by key as ``lay_out_pairs`` does pairs: of a pair and a column after both.

    ``pairs`` are (start, keys, numbers) of pairs sorted by the highest bits of their keys; ``keys`` are of the
    places of triples, one below those of pairs. ``widths`` are the lower bits of a key, and the bits of a place
    in pairs and in triples. Triples with the same highest bits are counted and written before any with others:
    what they take stays near the processor, and ten million take a third of the time.
    """
    n_low, width, own_width = widths
    pair_start, pair_keys, numbers = pairs
    mask, n_keys = (1 << width) - 1, 1 << n_low
    n_sets = 0
    for high in range(len(pair_start) - 2):
        here = start[high << n_low :]
        for k in range(len(keys)):
            run = high ^ (keys[k] >> n_low)
            for pair in range(pair_start[run], pair_start[run + 1]):
                if (np.int64(numbers[pair]) & mask) - 1 >= k:
                    break
                here[((pair_keys[pair] ^ keys[k]) & (n_keys - 1)) + 1] += 1
        here[0] = n_sets
        for x in range(n_keys):
            n_sets += here[x + 1]
            here[x + 1] = n_sets
        for k in range(len(keys) - 1, -1, -1):
            run = high ^ (keys[k] >> n_low)
            for pair in range(pair_start[run], pair_start[run + 1]):
                number = np.int64(numbers[pair])
                i, j = (number >> width) - 1, (number & mask) - 1
                if j >= k:
                    break
                low = (pair_keys[pair] ^ keys[k]) & (n_keys - 1)
                here[low + 1] -= 1
                out[here[low + 1]] = (((i << own_width) | j) << own_width) | k
        for x in range(n_keys):
            here[x] = here[x + 1]
        here[n_keys] = n_sets


@kernel
def of_sets(values: Any, members: Any, numbers: Any, width: int, out: Any) -> None:
    """Write the exclusive or of the columns of each set."""
    own = values[members]
    mask = (1 << width) - 1
    for at in range(len(numbers)):
        number = np.int64(numbers[at])
        i, j, k = number >> (2 * width), (number >> width) & mask, number & mask
        out[at] = own[i] ^ own[j] ^ own[k]


@kernel
def meet_pairs(start: Any, words: Any, longest: int, in_word: int, out: Any) -> int:
    """Write the places of two sets that share a key, and 64 other rows but for ``in_word``, to ``out``.

    ``words`` are those of the sorted sets. Runs of one key above ``longest`` are left out. Return how many.
    """
    n_found = 0
    for x in range(len(start) - 2):
        first, last = start[x], start[x + 1]
        if last - first > longest:
            continue
        for one in range(first, last):
            word = words[one]
            for other in range(one + 1, last):
                ones = popcount(word ^ words[other])
                if (ones <= in_word or ones >= 64 - in_word) and n_found < len(out):
                    out[n_found, 0], out[n_found, 1] = one, other
                    n_found += 1
    return n_found


@kernel
def meet_triples(start: Any, words: Any, pairs: Any, singles: Any, limits: Any, out: Any) -> int:
    """Do the same for sorted sets and the triples of a pair and a single column: set, pair and single.

    ``pairs`` are (start, keys, words) of pairs sorted by the highest bits of their keys, ``singles`` keys and
    words. All triples with the same highest bits are looked up before any with others, so that the part of
    ``start`` and ``words`` they meet stays near the processor. ``limits`` are the lower bits, ``longest`` and
    ``in_word``.
    """
    n_low, longest, in_word = limits
    pair_start, pair_keys, pair_words = pairs
    keys, single_words = singles
    n_found = 0
    for high in range(len(pair_start) - 2):
        for single in range(len(keys)):
            run = high ^ (keys[single] >> n_low)
            for pair in range(pair_start[run], pair_start[run + 1]):
                key = pair_keys[pair] ^ keys[single]
                first, last = start[key], start[key + 1]
                if last - first > longest:
                    continue
                for at in range(first, last):
                    ones = popcount(words[at] ^ pair_words[pair] ^ single_words[single])
                    if (ones <= in_word or ones >= 64 - in_word) and n_found < len(out):
                        out[n_found, 0], out[n_found, 1], out[n_found, 2] = at, pair, single
                        n_found += 1
    return n_found


@kernel
def count_ones(packed: Any, columns: Any, out: Any) -> None:
    """Write in how many rows an odd number of some columns is 1; -1 for sets that hold a column twice.

    ``columns`` has six for each set, column 0 in place of those it lacks.
    """
    for at in range(len(columns)):
        out[at] = -1
        is_twice = False
        for one in range(6):
            for other in range(one + 1, 6):
                is_twice |= columns[at, one] == columns[at, other] and columns[at, one] > 0
        if is_twice:
            continue
        a, b, c = columns[at, 0], columns[at, 1], columns[at, 2]
        d, e, f = columns[at, 3], columns[at, 4], columns[at, 5]
        ones = 0
        for t in range(packed.shape[1]):
            odd = packed[a, t] ^ packed[b, t] ^ packed[c, t] ^ packed[d, t] ^ packed[e, t] ^ packed[f, t]
            ones += popcount(odd)
        out[at] = ones
