"""The kernel of :mod:`xordal.statistics.mean_bounds`: one pass over the counts of both ends of each link.

A side is three flat arrays, as in :mod:`xordal.statistics._moments`.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from xordal.counting._jit import kernel

_TWO, _THREE = log(2), log(2) - log(3) / 2
_N_SUMS = 5  # over the columns of a stratum: what the bounds of its rows are made of


@kernel
def sums_of(counts: Any, strata: Any, totals: Any, sums: Any) -> None:
    """Add up, by stratum, what the bounds of the rows need of the columns b, p the share of each."""
    for i in range(len(counts)):
        b, s = float(counts[i]), strata[i]
        p = b / totals[s]
        sums[0, s] += 1 - p
        sums[1, s] += (1 - p) * (1 - 2 * p) / b
        sums[2, s] += b * log(b)
        sums[3, s] += b * (b - 1)
        sums[4, s] += b * (b - 1) * (b - 2)


@kernel
def bound_of(counts: Any, strata: Any, totals: Any, sums: Any) -> float:
    """Return the sum of the bounds of all rows, given the sums over the columns of their strata."""
    found = 0.0
    for i in range(len(counts)):
        a, s = float(counts[i]), strata[i]
        n = totals[s]
        q = a / n
        if not (n > 2 and q < 1 and sums[0, s] > 0.5):
            continue
        dense = (1 - q) * (sums[0, s] - n * n / (3 * (n - 2)) * (1 - 2 * q) / a * sums[1, s])
        dense *= n / (n - 1)
        sparse = -a * (log(q) + sums[2, s] / n)
        sparse += _TWO * a * (a - 1) * sums[3, s] / (n * (n - 1))
        sparse -= _THREE * a * (a - 1) * (a - 2) * sums[4, s] / (n * (n - 1) * (n - 2))
        found += max(dense, 2 * sparse, 0.0)
    return found


@kernel
def bound_steps(of_x: Any, of_y: Any, n_strata: Any, least: Any, n_cells: Any) -> None:
    """Fill in the bound of each step, a little of it not yet left off, and the number of its cells."""
    x_begin, y_begin = 0, 0
    for step in range(len(n_strata)):
        x_end, y_end = x_begin + of_x[2][step], y_begin + of_y[2][step]
        x, x_strata = of_x[0][x_begin:x_end], of_x[1][x_begin:x_end]
        y, y_strata = of_y[0][y_begin:y_end], of_y[1][y_begin:y_end]
        x_begin, y_begin = x_end, y_end
        n = n_strata[step]
        totals, width = np.zeros(n), np.zeros(n, np.int64)
        for i in range(len(x)):
            totals[x_strata[i]] += x[i]
            width[x_strata[i]] += 1
        cells = 0
        for s in y_strata:
            cells += width[s]
        n_cells[step] = cells
        of_columns, of_rows = np.zeros((_N_SUMS, n)), np.zeros((_N_SUMS, n))
        sums_of(y, y_strata, totals, of_columns)
        sums_of(x, x_strata, totals, of_rows)
        by_rows = bound_of(x, x_strata, totals, of_columns)
        least[step] = max(by_rows, bound_of(y, y_strata, totals, of_rows))
