"""Mean and variance of G2 when a link is absent, from the margins alone: right on sparse tables too.

A step x-y behind S has G2 = sum over cells of 2 (X log(X / mu) - X + mu) with mu = n_xs n_ys / n_s. When x and
y are independent given S and the margins are held, each X is hypergeometric, exactly; that is the law of a
permutation of y within the strata of S. So the mean of G2 is an exact sum over cells.

For the variance, two cells of one stratum have the correlation r_ik s_jl, with r_ii = 1,
r_ik = -sqrt(q_i q_k / ((1 - q_i)(1 - q_k))), q_i the share of row i, and s alike for columns. Write each cell's
term in the orthonormal polynomials of its own law, with coefficients alpha_0, alpha_1, ...: as for multinomial
cells, whose joint laws are diagonal in such polynomials (Lancaster 1969), polynomials of degree d are taken to
have the correlation (r_ik s_jl)^d, and

    Var G2 = sum over d >= 1 of sum over cells ij, kl of alpha_d(ij) alpha_d(kl) (r_ik s_jl)^d,

which needs only sums by row, by column and by stratum. Degrees above 4 are counted within cells only. For large
counts it is 2 (R - 1)(C - 1), of degree 2 alone.

The steps of a block are worked out together, cell behind cell (:mod:`xordal.statistics.margins`). Sums are over
the cells of one stratum in their order, then over the strata of a step from the least to the largest, each term
added to those before: so the steps beside it do not change a bit, nor does it matter whether NumPy or a kernel
adds up (:mod:`xordal.statistics._moments`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from xordal.statistics.margins import Margins
from xordal.statistics.sparse_cells import DEGREE, DENSE, sparse_terms

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SIGNS = (-1.0, 1.0, -1.0, 1.0)
"""(-1)^d for the degrees 1 to 4."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and variance of a G2; those of the steps of a chain add up.

    ``n_units`` is from how many units they are estimated; infinity where they follow from the margins.
    """

    mean: float
    variance: float
    n_units: float = inf

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.mean + other.mean, self.variance + other.variance, min(self.n_units, other.n_units))


def step_moments(margins: Margins) -> list[Moments]:
    """Return mean and variance of the G2 of each step of a block whose link is absent, given its margins.

    Examples
    --------
    >>> from xordal.counting.oracle import CellCounts
    >>> from xordal.statistics.margins import StepCounts, margins_of, strata
    >>> of_x, of_y = (CellCounts(np.array([[0], [1]]), np.array(counts)) for counts in ((400, 600), (500, 500)))
    >>> (found,) = step_moments(margins_of(strata([StepCounts(of_x, of_y, (0, 0), ())])))
    >>> round(found.mean, 3), round(found.variance, 3)
    (1.002, 2.007)
    """
    cells = _Cells.of(margins)
    coefficients = _coefficients(cells)
    means = _sums(cells.stratum, coefficients[0])
    variances = _variances(coefficients, margins, cells)
    return moments_of(_sorted_sums(means, margins.step), _sorted_sums(variances, margins.step))


def moments_of(means: Floats, variances: Floats) -> list[Moments]:
    """Return means and variances in pairs; rounding makes no variance negative."""
    both = zip(means.tolist(), np.maximum(variances, 0.0).tolist(), strict=True)
    return [Moments(mean, variance) for mean, variance in both]


def _sorted_sums(of_strata: Floats, step: Integers) -> Floats:
    """Return the sum over the strata of each step, from the least to the largest."""
    return _sums(step, of_strata[np.lexsort((of_strata, step))])


def _sums(number: Integers, values: Floats) -> Floats:
    """Return the sum of the values of each number, each added to those before it."""
    return np.asarray(np.bincount(number, weights=values), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells of positive fitted counts: all pairs of a row and a column of one stratum.

    ``row``, ``column`` and ``stratum`` are the places of each; ``a`` and ``b`` are its margins, ``n`` is the
    total of its stratum; ``totals`` are of all strata.
    """

    row: Integers
    column: Integers
    stratum: Integers
    a: Integers
    b: Integers
    n: Floats
    totals: Floats

    @classmethod
    def of(cls, margins: Margins) -> _Cells:
        width = np.bincount(margins.column_stratum)
        row_width = width[margins.row_stratum]
        ends = np.cumsum(row_width)
        row = np.repeat(np.arange(len(margins.rows)), row_width)
        before = ends - row_width - (np.cumsum(width) - width)[margins.row_stratum]
        column = np.arange(len(row)) - before[row]
        stratum = margins.row_stratum[row]
        # Sums of counts stay below 2^53, so that they are exact.
        totals = np.asarray(np.bincount(margins.row_stratum, weights=margins.rows), dtype=np.float64)
        return cls(row, column, stratum, margins.rows[row], margins.columns[column], totals[stratum], totals)


def _coefficients(cells: _Cells) -> Floats:
    """Return the coefficients of each cell and the rest of its variance, shape (degrees + 1, cells).

    Where all fitted counts are large there is no degree above 2. A row or column that is a whole stratum leaves
    nothing to vary: all is zero there, exactly.
    """
    mu = cells.a.astype(np.float64) * cells.b / cells.n  # as integers, products of 2^32 rows would overflow
    is_sparse = (mu < DENSE) & (cells.a < cells.n) & (cells.b < cells.n)
    found = np.zeros((DEGREE + 2 if is_sparse.any() else 4, len(mu)))
    low, high = np.minimum(cells.a, cells.b), np.maximum(cells.a, cells.b)
    found[:3] = _expanded(mu, low / cells.n, high / cells.n, cells.n)
    if is_sparse.any():
        n = cells.n[is_sparse].astype(np.int64)
        found[:, is_sparse] = sparse_terms(cells.a[is_sparse], cells.b[is_sparse], n)
    return found


def _expanded(mu: Floats, q: Floats, p: Floats, n: Floats) -> Floats:
    """Return the coefficients of degree 0 to 2 for large fitted counts, from the cumulants of each law."""
    second = mu * (1 - q) * (1 - p) * n / np.maximum(n - 1, 1)
    third = second * (1 - 2 * q) * (1 - 2 * p)
    square, squared = mu * mu, second * second
    found = np.empty((3, len(mu)))
    found[0] = second / mu - third / (3 * square) + squared / (2 * (square * mu))
    found[1] = (third / mu - squared / square) / np.sqrt(np.maximum(second, 1e-300))
    found[2] = np.sqrt(2.0) * second / mu * (1 + 1 / (6 * mu))
    return found


def _variances(coefficients: Floats, margins: Margins, cells: _Cells) -> Floats:
    """Return for each stratum the sum, over degrees and pairs of its cells, of alpha alpha' (r s)^degree.

    The matrix of r^d is diagonal plus a product: diag(1 - (-1)^d v^2) + (-1)^d v v', with
    v_i = (q_i / (1 - q_i))^(d/2). So is that of s^d, and the sum falls into four.
    """
    alpha, rest = coefficients[1:-1], coefficients[-1]
    n_rows, n_columns = len(margins.rows), len(margins.columns)
    shares = np.concatenate([margins.rows, margins.columns]) / np.concatenate(
        [cells.totals[margins.row_stratum], cells.totals[margins.column_stratum]]
    )
    column = cells.column + n_rows
    # Rows, columns and strata are numbered one behind the other, so that one sum by number serves all three.
    group = np.concatenate([cells.row, column, cells.stratum + (n_rows + n_columns)])
    found = _sums(cells.stratum, rest)
    for sign, odds, of_degree in zip(_SIGNS, _powers(shares), alpha, strict=False):
        diagonal = 1 - sign * (odds * odds)
        v, w = odds[cells.row], odds[column]
        own = diagonal[cells.row] * diagonal[column] * (of_degree * of_degree)
        values = np.concatenate([w * of_degree, v * of_degree, v * w * of_degree])
        sums = _sums(group, values)
        squares = sums * sums
        squares[: n_rows + n_columns] *= diagonal
        by_row = _sums(margins.row_stratum, squares[:n_rows])
        by_column = _sums(margins.column_stratum, squares[n_rows : n_rows + n_columns])
        in_cells = _sums(cells.stratum, own)
        found += in_cells + sign * (by_row + by_column) + squares[n_rows + n_columns :]
    return found


def _powers(share: Floats) -> Floats:
    """Return (q / (1 - q))^(d/2) for the degrees from 1 on; a share of one is taken as a little less."""
    q = np.minimum(share, 1 - 1e-12)
    odds = q / (1 - q)
    root = np.sqrt(odds)
    return np.array([root, odds, odds * root, odds * odds])
