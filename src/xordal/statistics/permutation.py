"""Mean and variance of G2 by shuffling: the fallback where a step has too many cells to sum over.

The values of y are shuffled within the strata of S, which is the very law whose moments
:mod:`xordal.statistics.moments` sums up. A few hundred shuffles cannot show a p-value of 1e-8; they give the
two moments, with their own uncertainty added on the safe side, and the tail is the same as for summed ones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from xordal.counting.threads import interruptible
from xordal.statistics.moments import Floats, Integers, Moments

N_SHUFFLES = 200
"""Shuffles of a step: a mean is then right to a fourteenth of a standard deviation."""


def shuffled_moments(
    x: Integers,
    y: Integers,
    stratum: Integers,
    generator: np.random.Generator,
    n_shuffles: int = N_SHUFFLES,
    check: Callable[[], None] = lambda: None,
    has_kernels: bool = False,
) -> Moments:
    """Return mean and variance of the G2 of x and y within strata when they are independent there.

    Parameters
    ----------
    x, y, stratum
        Shape (rows,): codes from 0.
    generator
        Where chance comes from.
    n_shuffles
        How often to shuffle. The mean is raised by two of its standard errors and the variance by three.
    check
        Called before each shuffle; it may end the work by raising.
    has_kernels
        Whether a kernel shuffles: eight times as fast, and the same to the bit.
    """
    by_stratum = np.argsort(stratum, kind="stable")
    x, y, stratum = x[by_stratum], y[by_stratum], stratum[by_stratum]
    row = stratum * (int(x.max()) + 1) + x
    fixed = _n_log_n(stratum) - _n_log_n(row) - _n_log_n(stratum * (int(y.max()) + 1) + y)
    cells = _cells_by_kernel(x, y, stratum) if has_kernels else _cells_of(row, y, stratum)
    values = []
    for _ in range(n_shuffles):
        check()
        values.append(2 * (_sum_of(cells(generator.random(len(y)))) + fixed))
    mean, variance = float(np.mean(values)), float(np.var(values, ddof=1))
    return Moments(mean + 2 * sqrt(variance / n_shuffles), variance * (1 + 3 * sqrt(2 / n_shuffles)))


def _cells_of(row: Integers, y: Integers, stratum: Integers) -> Callable[[Floats], Integers]:
    """Return what gives the cells of a shuffle from a random number for each row."""
    width = int(y.max()) + 1

    def cells(chance: Floats) -> Integers:
        order = np.lexsort((chance, stratum))
        return np.asarray(np.unique(row * width + y[order], return_counts=True)[1])

    return cells


def _cells_by_kernel(x: Integers, y: Integers, stratum: Integers) -> Callable[[Floats], Integers]:
    """Return the same by a kernel; rows come by stratum."""
    from xordal.statistics._permutation import shuffled_cells

    ends = np.append(np.flatnonzero(np.diff(stratum)) + 1, len(stratum))
    n_levels = np.array([int(x.max()) + 1, int(y.max()) + 1])
    found = np.empty(len(x), dtype=np.int64)

    def cells(chance: Floats) -> Integers:
        with interruptible():
            return found[: shuffled_cells(x, y, ends, n_levels, chance, found)]

    return cells


def _n_log_n(codes: Integers) -> float:
    """Return the sum of n log n over the numbers of rows n that share a code."""
    return _sum_of(np.unique(codes, return_counts=True)[1])


def _sum_of(counts: Integers) -> float:
    return float((counts * np.log(counts)).sum())


def expanded(cells: NDArray[np.int64], counts: Integers) -> NDArray[np.int64]:
    """Return every cell as often as it was counted: the rows behind a table, shape (rows, variables)."""
    return np.repeat(cells, counts, axis=0)
