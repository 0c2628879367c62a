"""The kernel of :mod:`xordal.statistics.permutation`: the cells of shuffled rows, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import rounded_kernel

_FEW = 32  # rows up to which they are sorted by insertion


@rounded_kernel
def sort(values: Any, order: Any, begin: int, end: int) -> None:
    """Write the places of some values to ``order``, the lowest value first, equal ones as they come."""
    if end - begin > _FEW:
        order[begin:end] = begin + np.argsort(values[begin:end])
        return
    for i in range(begin, end):
        place = i
        while place > begin and values[order[place - 1]] > values[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


@rounded_kernel
def shuffled_cells(x: Any, y: Any, ends: Any, n_levels: Any, chance: Any, found: Any) -> int:
    """Write how many rows each cell has once y is shuffled within strata; return the number of cells.

    Rows come by stratum, those of each up to one of ``ends``. They take the values of y in the order of random
    numbers, and cells come by stratum, then by x and y.
    """
    n_found, begin = 0, 0
    n_cells = n_levels[0] * n_levels[1]
    counts, codes = np.zeros(n_cells, np.int64), np.empty(len(x), np.int64)
    order = np.empty(len(x), np.int64)
    for end in ends:
        sort(chance, order, begin, end)
        for i in range(begin, end):
            codes[i] = x[i] * n_levels[1] + y[order[i]]
        if n_cells <= 8 * (end - begin):
            for i in range(begin, end):
                counts[codes[i]] += 1
            for cell in range(n_cells):
                if counts[cell] > 0:
                    found[n_found] = counts[cell]
                    n_found += 1
                    counts[cell] = 0
        else:
            sort(codes, order, begin, end)
            for i in range(begin, end):
                if i == begin or codes[order[i]] != codes[order[i - 1]]:
                    n_found += 1
                    found[n_found - 1] = 0
                found[n_found - 1] += 1
        begin = end
    return n_found
