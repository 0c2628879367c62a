"""Kernels that count tables of many cells: arrays in, arrays out.

A table is given by the numbers of its occupied cells in the full table, the last variable running fastest, in
increasing order, and by the count of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import kernel
from xordal.counting._kernels import slot_of

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
    room = 16
    while room < 2 * n:
        room *= 2
    keys, counts = np.full(room, -1, np.int64), np.zeros(room, np.int64)
    for begin in range(0, n, _BLOCK):
        end = min(n, begin + _BLOCK)
        number_rows(codes, n_levels, chosen, begin, end, numbers)
        for t in range(end - begin):
            place = slot_of(keys, numbers[t])
            keys[place] = numbers[t]
            counts[place] += weights[begin + t] if len(weights) > 0 else 1
    there = np.flatnonzero(keys >= 0)
    there = there[np.argsort(keys[there])]
    return keys[there], counts[there]


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
    order = np.argsort(left)
    found, sums, n = np.empty(len(left), np.int64), np.empty(len(left), np.int64), 0
    for i in order:
        if n > 0 and found[n - 1] == left[i]:
            sums[n - 1] += counts[i]
        else:
            found[n], sums[n] = left[i], counts[i]
            n += 1
    return found[:n].copy(), sums[:n].copy()
