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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Margins = tuple[list[int], list[int]]
"""The positive counts of x and of y in one stratum, each in increasing order."""

DEGREE = 4
DENSE = 40.0  # from this fitted count on, expansions in 1 / mu replace sums over the law of a cell
_STEP = 16  # laws are summed up to a multiple of it: few lengths, many cells at once
_LARGEST_CODE = 2**62
_FEW = 256  # cells up to which Python is quicker than NumPy


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and variance of a G2; those of the steps of a chain add up."""

    mean: float
    variance: float

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.mean + other.mean, self.variance + other.variance)


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The margins of a step x-y behind S: the counts of the cells of Sx and Sy, and the stratum of each.

    Attributes
    ----------
    rows, columns
        Counts n_xs and n_ys of the occupied cells.
    row_stratum, column_stratum
        The number of the stratum s of each; strata are numbered from 0.
    """

    rows: Integers
    columns: Integers
    row_stratum: Integers
    column_stratum: Integers

    @classmethod
    def of(cls, margins: Sequence[Margins]) -> Strata:
        """Return margins that stand stratum by stratum."""
        numbers = np.arange(len(margins))
        return cls(
            np.array([count for rows, _ in margins for count in rows], dtype=np.int64),
            np.array([count for _, columns in margins for count in columns], dtype=np.int64),
            np.repeat(numbers, [len(rows) for rows, _ in margins]),
            np.repeat(numbers, [len(columns) for _, columns in margins]),
        )

    @property
    def totals(self) -> Integers:
        """Counts n_s of the strata."""
        return np.bincount(self.row_stratum, weights=self.rows).astype(np.int64)

    @property
    def n_cells(self) -> int:
        """Cells with a positive fitted count."""
        return int(self._per_stratum(self.row_stratum) @ self._per_stratum(self.column_stratum))

    @property
    def dof(self) -> int:
        """Degrees of freedom of the strata: (rows - 1)(columns - 1) of each, empty margins left out."""
        return int((self._per_stratum(self.row_stratum) - 1) @ (self._per_stratum(self.column_stratum) - 1))

    def _per_stratum(self, stratum: Integers) -> Integers:
        return np.bincount(stratum, minlength=int(self.row_stratum.max()) + 1)


def margins_of(
    of_x: CellCounts, of_y: CellCounts, places: tuple[int, int], n_levels: Sequence[int]
) -> list[Margins]:
    """Return the margins of a step from the counts of Sx and Sy, stratum by stratum.

    ``places`` are the positions of x and y among the variables of each; ``n_levels`` are those of S. Rows,
    columns and strata come in the order of their counts, so that the names of levels, or which of the two is
    called x, cannot change a bit of what follows.
    """
    by_stratum = _few_by_stratum if len(of_x.counts) + len(of_y.counts) <= _FEW else _many_by_stratum
    rows, columns = by_stratum((of_x, of_y), places, n_levels)
    if sorted(columns) < sorted(rows):
        rows, columns = columns, rows
    return sorted(zip(rows, columns, strict=True))


def strata(of_x: CellCounts, of_y: CellCounts, places: tuple[int, int], n_levels: Sequence[int]) -> Strata:
    """Return the same as arrays."""
    return Strata.of(margins_of(of_x, of_y, places, n_levels))


def n_cells_of(margins: Sequence[Margins]) -> int:
    """Return the number of cells with a positive fitted count."""
    return sum(len(rows) * len(columns) for rows, columns in margins)


def _few_by_stratum(
    of: tuple[CellCounts, CellCounts], places: tuple[int, int], n_levels: Sequence[int]
) -> Iterator[list[list[int]]]:
    """Yield the counts of x, then those of y, of each stratum in increasing order."""
    number: dict[tuple[int, ...], int] = {}
    for counted, place in zip(of, places, strict=True):
        found: list[list[int]] = [[] for _ in number]
        for cell, count in zip(counted.cells.tolist(), counted.counts.tolist(), strict=True):
            del cell[place]
            stratum = number.setdefault(tuple(cell), len(number))
            if stratum == len(found):
                found.append([])
            found[stratum].append(count)
        yield [sorted(counts) for counts in found]


def _many_by_stratum(
    of: tuple[CellCounts, CellCounts], places: tuple[int, int], n_levels: Sequence[int]
) -> Iterator[list[list[int]]]:
    """Yield the same, by sorting."""
    kept = [np.delete(counted.cells, place, axis=1) for counted, place in zip(of, places, strict=True)]
    stratum = _numbered(np.concatenate(kept), n_levels)
    yield _by_stratum(of[0].counts, stratum[: len(kept[0])])
    yield _by_stratum(of[1].counts, stratum[len(kept[0]) :])


def _numbered(cells: Integers, n_levels: Sequence[int]) -> Integers:
    """Return the number of each row's combination of levels, numbered from 0."""
    if prod(n_levels) > _LARGEST_CODE:
        _, number = np.unique(cells, axis=0, return_inverse=True)
    else:
        codes = np.zeros(len(cells), dtype=np.int64)
        for place, levels in enumerate(n_levels):
            codes = codes * levels + cells[:, place]
        _, number = np.unique(codes, return_inverse=True)
    return number.reshape(-1).astype(np.int64)


def _by_stratum(counts: Integers, stratum: Integers) -> list[list[int]]:
    """Return the counts of each stratum in increasing order."""
    order = np.lexsort((counts, stratum))
    ends = np.cumsum(np.bincount(stratum))[:-1]
    return [part.tolist() for part in np.split(counts[order], ends)]


def step_moments(margins: Strata) -> Moments:
    """Return mean and variance of the G2 of a step whose link is absent, given its margins."""
    row, column = _fitted_cells(margins)
    stratum = margins.row_stratum[row]
    a, b, n = margins.rows[row], margins.columns[column], margins.totals[stratum]
    coefficients, rest = _cell_terms(a, b, n)
    shares = (margins.rows / margins.totals[margins.row_stratum])[row]
    others = (margins.columns / margins.totals[margins.column_stratum])[column]
    variance = float(rest.sum())
    for degree in range(1, DEGREE + 1):
        variance += _variance(degree, coefficients[degree], (shares, others), (row, column, stratum))
    return Moments(float(coefficients[0].sum()), max(variance, 0.0))


def _fitted_cells(margins: Strata) -> tuple[Integers, Integers]:
    """Return, for each cell with a positive fitted count, the places of its row and of its column."""
    by_stratum = np.argsort(margins.column_stratum, kind="stable")
    width = np.bincount(margins.column_stratum, minlength=len(margins.totals))
    start = np.cumsum(width) - width
    repeats = width[margins.row_stratum]
    row = np.repeat(np.arange(len(margins.rows)), repeats)
    within = np.arange(len(row)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return row, by_stratum[start[margins.row_stratum[row]] + within]


def _variance(
    degree: int,
    alpha: Floats,
    shares: tuple[Floats, Floats],
    groups: tuple[Integers, Integers, Integers],
) -> float:
    """Return the sum over pairs of cells of a stratum of alpha alpha' (r s)^degree.

    The matrix of r^d is diagonal plus a product: diag(1 - (-1)^d v^2) + (-1)^d v v', with
    v_i = (q_i / (1 - q_i))^(d/2). So is that of s^d, and the sum falls into four. A row that is a whole stratum
    has no variance and no part in it.
    """
    sign = (-1.0) ** degree
    q, p = (np.minimum(share, 1 - 1e-12) for share in shares)
    v, w = (q / (1 - q)) ** (degree / 2), (p / (1 - p)) ** (degree / 2)
    alpha = np.where((shares[0] == 1) | (shares[1] == 1), 0.0, alpha)
    row, column, stratum = groups
    d_row, d_column = 1 - sign * v**2, 1 - sign * w**2
    own = float((d_row * d_column * alpha**2).sum())
    in_row = _group_squares(row, w * alpha, d_row)
    in_column = _group_squares(column, v * alpha, d_column)
    overall = _group_squares(stratum, v * w * alpha, np.ones_like(alpha))
    return own + sign * (in_row + in_column) + overall


def _group_squares(group: Integers, values: Floats, factor: Floats) -> float:
    """Return the sum over groups of factor * (sum of values)^2; the factor is the same within a group."""
    sums = np.bincount(group, weights=values)
    of_group = np.zeros(len(sums))
    of_group[group] = factor
    return float((of_group * sums**2).sum())


def _cell_terms(a: Integers, b: Integers, n: Integers) -> tuple[Floats, Floats]:
    """Return each cell's coefficients of degree 0 to 4, and the rest of its variance.

    The cell has the margins a and b in a stratum of n rows. Cells alike are looked at once.
    """
    low, high = np.minimum(a, b), np.maximum(a, b)
    distinct, place = np.unique(np.stack([low, high, n]), axis=1, return_inverse=True)
    a, b, n = distinct
    mu = a * b / n
    coefficients, rest = np.zeros((DEGREE + 1, len(mu))), np.zeros(len(mu))
    is_dense = mu >= DENSE
    coefficients[:, is_dense] = _expanded(a[is_dense], b[is_dense], n[is_dense])
    coefficients[:, ~is_dense], rest[~is_dense] = sparse_terms(a[~is_dense], b[~is_dense], n[~is_dense])
    place = place.reshape(-1)
    return coefficients[:, place], rest[place]


def sparse_terms(a: Integers, b: Integers, n: Integers) -> tuple[Floats, Floats]:
    """Return the same for cells of small fitted counts, a <= b, each one once.

    How far a cell's law is summed depends on that cell alone, so that those beside it do not change a bit.
    """
    mu = a * b / n
    coefficients, rest = np.zeros((DEGREE + 1, len(mu))), np.zeros(len(mu))
    steps = np.ceil(np.minimum(a, mu + 12 * np.sqrt(mu) + 25) / _STEP).astype(np.int64)
    for number in sorted(set(steps.tolist())):
        alike = steps == number
        coefficients[:, alike], rest[alike] = _summed(a[alike], b[alike], n[alike], number * _STEP)
    return coefficients, rest


def _expanded(a: Integers, b: Integers, n: Integers) -> Floats:
    """Return the coefficients for large fitted counts, from the cumulants of the hypergeometric law."""
    mu, q, p = a * b / n, a / n, b / n
    second = mu * (1 - q) * (1 - p) * n / np.maximum(n - 1, 1)
    third = second * (1 - 2 * q) * (1 - 2 * p)
    found = np.zeros((DEGREE + 1, len(mu)))
    found[0] = second / mu - third / (3 * mu**2) + second**2 / (2 * (mu * mu * mu))
    found[1] = (third / mu - second**2 / mu**2) / np.sqrt(np.maximum(second, 1e-300))
    found[2] = np.sqrt(2.0) * second / mu * (1 + 1 / (6 * mu))
    return found


def _summed(a: Integers, b: Integers, n: Integers, most: int) -> tuple[Floats, Floats]:
    """Return the coefficients and the rest, by sums over the law of each cell, up to a count."""
    k, law = _hypergeometric(a, b, n, most)
    mu = (a * b / n)[:, None]
    term = 2 * (k * np.log(np.maximum(k, 1) / mu) - k + mu)
    found = np.zeros((DEGREE + 1, len(a)))
    weighted, law_k = law * term, law * k
    previous, current = np.zeros_like(law), np.ones_like(law)
    norm = np.zeros((len(a), 1))
    for degree in range(DEGREE + 1):
        found[degree] = np.add.reduce(weighted * current, axis=1)
        if degree == DEGREE:
            break
        centre = np.add.reduce(law_k * current**2, axis=1, keepdims=True)
        following = (k - centre) * current - norm * previous
        norm = np.sqrt(np.add.reduce(law * following**2, axis=1, keepdims=True))
        is_new = norm > 1e-7 * (1 + mu)  # a law of d points has polynomials up to degree d - 1
        previous, current = current, np.where(is_new, following / np.where(is_new, norm, 1), 0)
        norm = np.where(is_new, norm, 0)
    variance = np.add.reduce(law * term**2, axis=1) - found[0] ** 2
    return found, np.maximum(variance - np.add.reduce(found[1:] ** 2, axis=0), 0)


def _hypergeometric(a: Integers, b: Integers, n: Integers, most: int) -> tuple[Floats, Floats]:
    """Return the values 0, 1, ..., up to one beyond all that matter, and their probabilities, row by row."""
    from scipy.special import gammaln

    k = np.arange(most + 1, dtype=np.float64)[None, :]
    a, b, n = a[:, None], b[:, None], n[:, None]
    is_possible = (k <= a) & (k >= a + b - n)

    def log_factorial(values: Floats | Integers) -> Floats:
        return np.asarray(gammaln(np.maximum(values, 0) + 1.0))

    whole = log_factorial(a) + log_factorial(b) + log_factorial(n - a) + log_factorial(n - b) - log_factorial(n)
    parts = log_factorial(k) + log_factorial(a - k) + log_factorial(b - k) + log_factorial(n - a - b + k)
    law = np.where(is_possible, np.exp(whole - parts), 0)
    return k, law / law.sum(axis=1, keepdims=True)
