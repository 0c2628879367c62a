"""Kernels that count tables of many cells: arrays in, arrays out.

A table is given by the numbers of its occupied cells in the full table, the last variable running fastest, and
by the count of each. Cells come in increasing order where the full table is small. Where it is large they come
as they are met: entropies need no order, and sorting took most of the time there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import inner, kernel

_SMALL = 4096  # cells that are counted in place however few the rows are
_BLOCK = 1024  # rows numbered together: their numbers stay next to the core


@kernel
def number_rows(codes: Any, n_levels: Any, chosen: Any, begin: int, end: int, numbers: Any) -> None:
    """Fill in the number of the cell of each row of a block."""
    for t in range(end - begin):
        numbers[t] = 0
    for v in chosen:
        r, column = n_levels[v], codes[v]
        for t in range(end - begin):
            numbers[t] = numbers[t] * r + column[begin + t]


@kernel
def count_rows(codes: Any, n_levels: Any, weights: Any, chosen: Any) -> Any:
    """Return the table of some variables, counted from rows."""
    n, size = codes.shape[1], 1
    for v in chosen:
        size *= n_levels[v]
    numbers = np.empty(_BLOCK, np.int64)
    if size <= max(2 * n, _SMALL):
        table = np.zeros(size, np.int64)
        for begin in range(0, n, _BLOCK):
            end = min(n, begin + _BLOCK)
            number_rows(codes, n_levels, chosen, begin, end, numbers)
            for t in range(end - begin):
                table[numbers[t]] += weights[begin + t] if len(weights) > 0 else 1
        return occupied(table)
    slots, keys, counts = no_slots(n), np.empty(n, np.int64), np.zeros(n, np.int64)
    n_found = 0
    for begin in range(0, n, _BLOCK):
        end = min(n, begin + _BLOCK)
        number_rows(codes, n_levels, chosen, begin, end, numbers)
        slots = with_room(slots, keys, n_found, end - begin)
        for t in range(end - begin):
            weight = weights[begin + t] if len(weights) > 0 else 1
            n_found = put(slots, keys, counts, n_found, numbers[t], weight)
    return keys[:n_found].copy(), counts[:n_found].copy()


@kernel
def no_slots(n: int) -> Any:
    """Return an empty hash table for some cells of which there are not known to be many."""
    room = 16
    while room < 2 * min(n, _BLOCK):
        room *= 2
    return np.full(room, -1, np.int32)


@kernel
def with_room(slots: Any, keys: Any, n_found: int, n_more: int) -> Any:
    """Return a hash table of the same cells that has room for more: half of it stays empty."""
    room = len(slots)
    if room >= 2 * (n_found + n_more):
        return slots
    while room < 2 * (n_found + n_more):
        room *= 2
    larger = np.full(room, -1, np.int32)
    for number in range(n_found):
        larger[slot_of_cell(larger, keys, keys[number])] = number
    return larger


@inner
def slot_of_cell(slots: Any, keys: Any, key: int) -> int:
    """Return where the place of a cell among those found stands in a hash table, or may be put."""
    mask = len(slots) - 1
    slot = (((key ^ (key >> 31)) & 0x7FFFFFFF) * 0x9E3779B1 >> 16) & mask  # no more than 63 bits
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@inner
def put(slots: Any, keys: Any, counts: Any, n_found: int, key: int, weight: int) -> int:
    """Add to the count of a cell; return how many cells were found."""
    slot = slot_of_cell(slots, keys, key)
    if slots[slot] < 0:
        slots[slot] = n_found
        keys[n_found] = key
        n_found += 1
    counts[slots[slot]] += weight
    return n_found


@kernel
def occupied(table: Any) -> Any:
    """Return the numbers and counts of the occupied cells of a full table."""
    n = 0
    for count in table:
        n += count > 0
    numbers, counts, at = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for number in range(len(table)):
        if table[number] > 0:
            numbers[at], counts[at] = number, table[number]
            at += 1
    return numbers, counts


@kernel
def sum_out(numbers: Any, counts: Any, r: int, below: int, size: int) -> Any:
    """Return a table without one variable of r levels, behind which there are ``below`` cells.

    ``size`` is the number of cells of the full table that is left.
    """
    left = np.empty(len(numbers), np.int64)
    for i in range(len(numbers)):
        above = numbers[i] // below
        left[i] = above // r * below + (numbers[i] - above * below)
    if size <= max(4 * len(numbers), _SMALL):
        table = np.zeros(size, np.int64)
        for i in range(len(left)):
            table[left[i]] += counts[i]
        return occupied(table)
    slots, keys, sums = no_slots(len(left)), np.empty(len(left), np.int64), np.zeros(len(left), np.int64)
    n_found = 0
    for i in range(len(left)):
        if i % _BLOCK == 0:
            slots = with_room(slots, keys, n_found, min(_BLOCK, len(left) - i))
        n_found = put(slots, keys, sums, n_found, left[i], counts[i])
    return keys[:n_found].copy(), sums[:n_found].copy()
