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

The steps of a block are worked out together, cell behind cell (:mod:`xordal.statistics.margins`). Every sum is
over the cells of one step, in their order: the steps beside it do not change a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from xordal.statistics.margins import Margins
from xordal.statistics.sparse_cells import DEGREE, sparse_terms

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DENSE = 40.0
"""From this fitted count on, expansions in 1 / mu replace sums over the law of a cell."""

_SIGNS = np.array([[-1.0], [1.0], [-1.0], [1.0]])
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
    >>> from xordal.statistics.margins import StepCounts, margins_of
    >>> of_x, of_y = (CellCounts(np.array([[0], [1]]), np.array(counts)) for counts in ((400, 600), (500, 500)))
    >>> (found,) = step_moments(margins_of([StepCounts(of_x, of_y, (0, 0), ())]))
    >>> round(found.mean, 3), round(found.variance, 3)
    (1.002, 2.007)
    """
    cells = _Cells.of(margins)
    coefficients, rest = _coefficients(cells)
    means = np.add.reduceat(coefficients[0], cells.first)
    variances = np.zeros(len(means)) if rest is None else np.add.reduceat(rest, cells.first)
    for of_degree in _variances(coefficients[1:], margins, cells):
        variances += of_degree
    both = zip(means.tolist(), np.maximum(variances, 0.0).tolist(), strict=True)
    return [Moments(mean, variance) for mean, variance in both]


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells of positive fitted counts: all pairs of a row and a column of one stratum.

    ``row``, ``column`` and ``stratum`` are the places of each; ``a`` and ``b`` are its margins, ``n`` is the
    total of its stratum. ``first`` tells where the cells of each step begin; ``totals`` are of all strata.
    """

    row: Integers
    column: Integers
    stratum: Integers
    a: Integers
    b: Integers
    n: Floats
    first: Integers
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
        first = np.searchsorted(margins.step[stratum], np.arange(int(margins.step[-1]) + 1))
        a, b = margins.rows[row], margins.columns[column]
        return cls(row, column, stratum, a, b, totals[stratum], first, totals)


def _coefficients(cells: _Cells) -> tuple[Floats, Floats | None]:
    """Return the coefficients of each cell, shape (degrees, cells), and the rest of its variance.

    Where all fitted counts are large there is no rest, and no degree above 2. A row or column that is a whole
    stratum leaves nothing to vary: all is zero there, exactly.
    """
    mu, dense = _dense(cells)
    is_sparse = _is_sparse(cells, mu)
    if not is_sparse.any():
        return dense, None
    coefficients, rest = np.zeros((DEGREE + 1, len(mu))), np.zeros(len(mu))
    coefficients[:3] = dense
    n = cells.n[is_sparse].astype(np.int64)
    coefficients[:, is_sparse], rest[is_sparse] = sparse_terms(cells.a[is_sparse], cells.b[is_sparse], n)
    return coefficients, rest


def _dense(cells: _Cells) -> tuple[Floats, Floats]:
    """Return the fitted counts, and the coefficients of degree 0 to 2 as if all of them were large."""
    mu = cells.a.astype(np.float64) * cells.b / cells.n  # as integers, products of 2^32 rows would overflow
    low, high = np.minimum(cells.a, cells.b), np.maximum(cells.a, cells.b)
    return mu, _expanded(mu, low / cells.n, high / cells.n, cells.n)


def _is_sparse(cells: _Cells, mu: Floats) -> NDArray[np.bool_]:
    return np.asarray((mu < DENSE) & (cells.a < cells.n) & (cells.b < cells.n))


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


def _variances(alpha: Floats, margins: Margins, cells: _Cells) -> Floats:
    """Return, shape (degrees, steps), the sum over pairs of cells of a stratum of alpha alpha' (r s)^degree.

    The matrix of r^d is diagonal plus a product: diag(1 - (-1)^d v^2) + (-1)^d v v', with
    v_i = (q_i / (1 - q_i))^(d/2). So is that of s^d, and the sum falls into four.
    """
    n_rows, n_columns = len(margins.rows), len(margins.columns)
    shares = np.concatenate([margins.rows, margins.columns]) / np.concatenate(
        [cells.totals[margins.row_stratum], cells.totals[margins.column_stratum]]
    )
    sign, odds = _SIGNS[: len(alpha)], _powers(shares, len(alpha))
    diagonal = 1 - sign * odds**2
    column = cells.column + n_rows
    v, w = odds[:, cells.row], odds[:, column]
    own = diagonal[:, cells.row] * diagonal[:, column] * alpha**2
    # Rows, columns and strata are numbered one behind the other, so that one sum by number serves all three.
    group = np.concatenate([cells.row, column, cells.stratum + (n_rows + n_columns)])
    values = np.concatenate([w * alpha, v * alpha, v * w * alpha], axis=1)
    squares = np.array([np.bincount(group, weights=of_degree) for of_degree in values]) ** 2
    squares[:, : n_rows + n_columns] *= diagonal
    first = np.searchsorted(margins.step, np.arange(len(cells.first)))
    begins = [
        np.searchsorted(margins.row_stratum, first),
        np.searchsorted(margins.column_stratum, first) + n_rows,
        first + (n_rows + n_columns),
    ]
    in_groups = np.add.reduceat(squares, np.concatenate(begins), axis=1).reshape(len(alpha), 3, -1)
    in_cells = np.add.reduceat(own, cells.first, axis=1)
    return np.asarray(in_cells + sign * (in_groups[:, 0] + in_groups[:, 1]) + in_groups[:, 2])


def _powers(share: Floats, n_degrees: int) -> Floats:
    """Return (q / (1 - q))^(d/2) for the degrees from 1 on; a share of one is taken as a little less."""
    q = np.minimum(share, 1 - 1e-12)
    odds = q / (1 - q)
    return np.array([odds ** (degree / 2) for degree in range(1, n_degrees + 1)])
