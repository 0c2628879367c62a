"""A bound below the mean of a step's G2 that needs no sum over cells: most sets that show nothing end here.

With the notation of :mod:`xordal.statistics.moments` a cell of margins a and b in a stratum of n rows holds a
hypergeometric X with the mean mu = ab/n and adds t(X) = 2 (X log(X / mu) - X + mu) to G2. Two bounds hold
below its mean.

* t(x) >= (x - mu)^2 / mu - (x - mu)^3 / (3 mu^2): Taylor's polynomial of degree 3 at mu, and the fourth
  derivative is positive. The mean of the right side needs the second and third central moments of X alone. It
  is sharp where mu is large.
* k log k >= c k(k - 1) - d k(k - 1)(k - 2) for k = 0, 1, 2, ..., with c = log 2 and d = log 2 - log(3) / 2:
  equal up to k = 3, and beyond the right side falls behind. So the mean of 2 X log(X / mu) is at least twice
  -mu log mu + c E X(X - 1) - d E X(X - 1)(X - 2). That is sharp where mu is small.

Either, summed over the columns of a row, is made of a few sums over the columns. So each row takes the better
one, and a stratum of R rows and C columns costs R + C, not RC. The same by columns; the better of the two is
the bound of a step.

A little is left off: dense cells have their means from expansions, which are off by less than that.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.statistics.margins import Strata

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TWO, _THREE = log(2), log(2) - log(3) / 2  # c and d above
_LEFT_OFF = 1e-3  # of a bound


class MeanBounds(NamedTuple):
    """Bounds below the means of some steps, and the number of cells of each."""

    least: Floats
    n_cells: Floats


def mean_bounds(steps: Strata, has_kernels: bool = False) -> MeanBounds:
    """Return a bound below the mean of each step's G2, its link absent and its margins given.

    A kernel adds up in another order than NumPy, so that its bounds differ by rounding; nothing but what need
    not be worked out depends on them.

    Examples
    --------
    >>> from xordal.counting.oracle import CellCounts
    >>> from xordal.statistics.margins import StepCounts, margins_of, strata
    >>> from xordal.statistics.moments import step_moments
    >>> of_x, of_y = (CellCounts(np.array([[0], [1]]), np.array(counts)) for counts in ((40, 60), (50, 50)))
    >>> step = strata([StepCounts(of_x, of_y, (0, 0), ())])
    >>> bool(0.98 < mean_bounds(step).least[0] < step_moments(margins_of(step))[0].mean)
    True
    """
    if has_kernels:
        from xordal.statistics._mean_bounds import bound_steps

        found = MeanBounds(np.empty(len(steps.n_strata)), np.empty(len(steps.n_strata)))
        bound_steps(steps.of_x, steps.of_y, steps.n_strata, *found)
        return found._replace(least=(1 - _LEFT_OFF) * found.least)
    x, y = map(_Side, [steps.of_x[0].astype(np.float64), steps.of_y[0].astype(np.float64)], steps.numbered())
    owner = np.repeat(np.arange(len(steps.n_strata)), steps.n_strata)
    totals = _sums(x.stratum, x.counts, len(owner))
    widths = [_sums(side.stratum, np.ones(len(side.counts)), len(owner)) for side in (x, y)]
    least = [
        _sums(owner[one.stratum], _of_rows(one, other, totals), len(steps.n_strata))
        for one, other in ((x, y), (y, x))
    ]
    n_cells = _sums(owner, widths[0] * widths[1], len(steps.n_strata))
    return MeanBounds((1 - _LEFT_OFF) * np.maximum(*least), n_cells)


class _Side(NamedTuple):
    """The counts of one end of each link, and the stratum of each."""

    counts: Floats
    stratum: Integers


def _of_rows(rows: _Side, columns: _Side, totals: Floats) -> Floats:
    """Return the bound of each row: the better one of the two, and nothing where neither says anything."""
    a, of_row, b, of_column = rows.counts, rows.stratum, columns.counts, columns.stratum

    def by_stratum(values: Floats) -> Floats:
        return _sums(of_column, values, len(totals))[of_row]

    n, p = totals[of_row], b / totals[of_column]
    q = a / n
    pairs, triples = np.maximum(n * (n - 1), 1), np.maximum(n * (n - 1) * (n - 2), 1)
    dense = (1 - q) * (
        by_stratum(1 - p)
        - n * n / (3 * np.maximum(n - 2, 1)) * (1 - 2 * q) / a * by_stratum((1 - p) * (1 - 2 * p) / b)
    )
    dense *= n / np.maximum(n - 1, 1)
    sparse = -a * (np.log(q) + by_stratum(b * np.log(b)) / n)
    sparse += _TWO * a * (a - 1) * by_stratum(b * (b - 1)) / pairs
    sparse -= _THREE * a * (a - 1) * (a - 2) * by_stratum(b * (b - 1) * (b - 2)) / triples
    varies = (n > 2) & (q < 1) & (by_stratum(1 - p) > 0.5)  # with two columns or more that is at least 1
    return np.asarray(np.where(varies, np.maximum(np.maximum(dense, 2 * sparse), 0), 0), dtype=np.float64)


def _sums(number: Integers, values: Floats, n: int) -> Floats:
    """Return the sum of the values of each number below n."""
    return np.asarray(np.bincount(number, weights=values, minlength=n), dtype=np.float64)
