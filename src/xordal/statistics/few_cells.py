"""Mean and variance of G2 for tables of few cells: the sums of :mod:`xordal.statistics.moments`, cell by cell.

Most steps of a search have four or eight cells, all with large fitted counts. There NumPy's calls cost twenty
times the arithmetic. This module does the same arithmetic in the same order, so that the two agree to the bit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import sqrt

import numpy as np

from xordal.statistics.moments import DEGREE, DENSE, Margins, Moments, sparse_terms

_Stratum = tuple[list[float], list[float]]
"""The odds q / (1 - q) of the shares of its rows and of its columns."""

_Sums = tuple[list[float], list[float], list[float], list[float]]
"""Terms of a variance: of single cells, of rows, of columns, of strata."""

_PAIRWISE = 8  # from so many values on NumPy does not add from left to right
_MOST_SUMS = 64  # from so many on NumPy is quicker


def few_cell_moments(margins: Sequence[Margins]) -> Moments:
    """Return mean and variance of the G2 of a step whose link is absent, given its margins.

    Examples
    --------
    >>> found = few_cell_moments([([400, 600], [500, 500])])
    >>> round(found.mean, 3), round(found.variance, 3)
    (1.002, 2.007)
    """
    if all(_is_plain(*of_stratum) for of_stratum in margins):
        return _plain_moments(margins)
    strata: list[_Stratum] = []
    cells: list[tuple[int, int, int]] = []
    for rows, columns in margins:
        n = sum(rows)
        strata.append((_odds(rows, n), _odds(columns, n)))
        cells += [(a, b, n) for a in rows for b in columns]
    mus = [float(a * b) / n for a, b, n in cells]
    coefficients, variance = _expanded(cells, mus), 0.0
    if min(mus) < DENSE:  # elsewhere all coefficients beyond degree 2 are zero
        variance = _put_sparse(coefficients, cells, mus)
    for degree in range(1, len(coefficients)):
        variance += _variance(degree, coefficients[degree], strata)
    return Moments(_sum(coefficients[0]), max(variance, 0.0))


def _is_plain(rows: Sequence[int], columns: Sequence[int]) -> bool:
    """Whether a stratum has two rows, two columns and no small fitted count: by far the commonest."""
    return len(rows) == 2 == len(columns) and float(min(rows) * min(columns)) / sum(rows) >= DENSE


def _plain_moments(margins: Sequence[Margins]) -> Moments:
    """Return the moments where all strata are plain, without a loop over cells."""
    means: list[float] = []
    sums: tuple[_Sums, _Sums] = ([], [], [], []), ([], [], [], [])
    for (a, a_2), (b, b_2) in margins:
        n = a + a_2
        p, p_2, q, q_2 = a / n, a_2 / n, b / n, b_2 / n
        of_cells = (
            _coefficients(float(a * b) / n, p, q, n, a <= b),
            _coefficients(float(a * b_2) / n, p, q_2, n, a <= b_2),
            _coefficients(float(a_2 * b) / n, p_2, q, n, a_2 <= b),
            _coefficients(float(a_2 * b_2) / n, p_2, q_2, n, a_2 <= b_2),
        )
        constant, linear, square = zip(*of_cells, strict=True)
        means += constant
        odds, column_odds = [_odd(p), _odd(p_2)], [_odd(q), _odd(q_2)]
        _put_two_by_two(-1.0, list(map(sqrt, odds)), list(map(sqrt, column_odds)), linear, sums[0])
        _put_two_by_two(1.0, odds, column_odds, square, sums[1])
    variance = 0.0
    for sign, (own, in_row, in_column, overall) in zip((-1.0, 1.0), sums, strict=True):
        variance += _sum(own) + sign * (_sum(in_row) + _sum(in_column)) + _sum(overall)
    return Moments(_sum(means), max(variance, 0.0))


def _coefficients(mu: float, p: float, q: float, n: int, p_is_less: bool) -> tuple[float, float, float]:
    """Return the coefficients of degree 0 to 2 of a cell with the shares p and q of n rows."""
    less, more = (p, q) if p_is_less else (q, p)
    second = mu * (1 - less) * (1 - more) * n / (n - 1 or 1)
    third = second * (1 - 2 * less) * (1 - 2 * more)
    square, squared = mu * mu, second * second
    return (
        second / mu - third / (3 * square) + squared / (2 * (square * mu)),
        (third / mu - squared / square) / sqrt(second if second > 1e-300 else 1e-300),
        _ROOT_2 * second / mu * (1 + 1 / (6 * mu)),
    )


def _expanded(cells: Sequence[tuple[int, int, int]], mus: Sequence[float]) -> list[list[float]]:
    """Return the coefficients of degree 0 to 2 of each cell."""
    found = [_coefficients(mu, a / n, b / n, n, a <= b) for (a, b, n), mu in zip(cells, mus, strict=True)]
    return [list(of_degree) for of_degree in zip(*found, strict=True)]


def _put_sparse(
    coefficients: list[list[float]], cells: Sequence[tuple[int, int, int]], mus: Sequence[float]
) -> float:
    """Put in the coefficients of cells with small fitted counts, and return the rest of the variance."""
    places: dict[tuple[int, int, int], list[int]] = {}
    for place, (a, b, n) in enumerate(cells):
        if mus[place] < DENSE:
            places.setdefault((min(a, b), max(a, b), n), []).append(place)
    coefficients += [[0.0] * len(cells) for _ in range(DEGREE + 1 - len(coefficients))]
    rest = [0.0] * len(cells)
    for (column, own), alike in zip(_summed(places), places.values(), strict=True):
        for place in alike:
            rest[place] = own
            for degree, value in enumerate(column):
                coefficients[degree][place] = value
    return _sum(rest)


_Cell = tuple[int, int, int]
_Terms = tuple[list[float], float]
_MOST_KNOWN = 1 << 16
_known: dict[_Cell, _Terms] = {}  # sparse cells that came before; only added to, so that threads can share it


def sum_up_sparse(many: Iterable[Sequence[Margins]]) -> None:
    """Work out the sparse cells of many steps in one go, before the moments of each are asked for.

    A sum over the law of a cell is a few calls of NumPy, which cost the same for one cell as for hundreds.
    """
    _summed(
        [
            (min(a, b), max(a, b), n)
            for margins in many
            for rows, columns in margins
            for n in [sum(rows)]
            for a in rows
            for b in columns
            if float(a * b) / n < DENSE
        ]
    )


def _summed(cells: Collection[_Cell]) -> list[_Terms]:
    """Return the coefficients of sparse cells and the rest of their variance, worked out where not known."""
    global _known  # noqa: PLW0603 - a fresh one when it is full
    known = _known
    new = [cell for cell in dict.fromkeys(cells) if cell not in known]
    if new:
        if len(known) + len(new) > _MOST_KNOWN:
            known = {cell: known[cell] for cell in cells if cell in known}
            _known = known
        found, rests = sparse_terms(*np.array(new, dtype=np.int64).T)
        known.update(zip(new, zip(found.T.tolist(), rests.tolist(), strict=True), strict=True))
    return [known[cell] for cell in cells]


_ROOT_2 = float(np.sqrt(2.0))


def _variance(degree: int, alphas: Sequence[float], strata: Sequence[_Stratum]) -> float:
    """Return the sum over pairs of cells of a stratum of alpha alpha' (r s)^degree."""
    sign = (-1.0) ** degree
    own: list[float] = []
    in_row: list[float] = []
    in_column: list[float] = []
    overall: list[float] = []
    at = 0
    for row_odds, column_odds in strata:
        here = alphas[at : at + len(row_odds) * len(column_odds)]
        at += len(here)
        if len(row_odds) == 1 or len(column_odds) == 1:  # nothing can vary
            own += [0.0] * len(here)
            in_row += [0.0] * len(row_odds)
            in_column += [0.0] * len(column_odds)
            overall.append(0.0)
            continue
        vs, ws = _powers(degree, row_odds), _powers(degree, column_odds)
        if len(here) == 4:
            _put_two_by_two(sign, vs, ws, here, (own, in_row, in_column, overall))
            continue
        d_columns = [1 - sign * (w * w) for w in ws]
        of_column, of_all = [0.0] * len(ws), 0.0
        cells = iter(here)
        for v in vs:
            d_row, of_row = 1 - sign * (v * v), 0.0
            for place, (w, d_column, alpha) in enumerate(zip(ws, d_columns, cells, strict=False)):
                own.append(d_row * d_column * (alpha * alpha))
                of_row += w * alpha
                of_column[place] += v * alpha
                of_all += v * w * alpha
            in_row.append(d_row * (of_row * of_row))
        in_column += [d * (s * s) for d, s in zip(d_columns, of_column, strict=True)]
        overall.append(of_all * of_all)
    return _sum(own) + sign * (_sum(in_row) + _sum(in_column)) + _sum(overall)


def _put_two_by_two(
    sign: float,
    vs: Sequence[float],
    ws: Sequence[float],
    alphas: Sequence[float],
    sums: _Sums,
) -> None:
    """Put in the terms of two rows by two columns, by far the commonest, without a loop."""
    (v, v_2), (w, w_2), (a, b, c, d) = vs, ws, alphas
    row, row_2 = 1 - sign * (v * v), 1 - sign * (v_2 * v_2)
    column, column_2 = 1 - sign * (w * w), 1 - sign * (w_2 * w_2)
    of_row, of_row_2 = w * a + w_2 * b, w * c + w_2 * d
    of_column, of_column_2 = v * a + v_2 * c, v * b + v_2 * d
    of_all = v * w * a + v * w_2 * b + v_2 * w * c + v_2 * w_2 * d
    own, in_row, in_column, overall = sums
    own += (
        row * column * (a * a),
        row * column_2 * (b * b),
        row_2 * column * (c * c),
        row_2 * column_2 * (d * d),
    )
    in_row += (row * (of_row * of_row), row_2 * (of_row_2 * of_row_2))
    in_column += (column * (of_column * of_column), column_2 * (of_column_2 * of_column_2))
    overall.append(of_all * of_all)


def _odds(counts: Sequence[int], n: int) -> list[float]:
    """Return q / (1 - q) for the share q of each count."""
    return [_odd(count / n) for count in counts]


def _odd(share: float) -> float:
    q = min(share, 1 - 1e-12)
    return q / (1 - q)


def _powers(degree: int, odds: list[float]) -> list[float]:
    """Return the odds to the power of degree / 2."""
    if degree == 1:
        return [sqrt(odd) for odd in odds]
    return odds if degree == 2 else (np.array(odds) ** (degree / 2)).tolist()


def _sum(values: Sequence[float]) -> float:
    """Return a sum as NumPy rounds it: few values one by one, more of them in eight sums side by side."""
    n = len(values)
    if n > _MOST_SUMS:
        return float(np.add.reduce(values))
    if n < _PAIRWISE:
        total = 0.0
        for value in values:
            total += value
        return total
    a, b, c, d, e, f, g, h = values[:8]
    for at in range(8, n - n % 8, 8):
        a, b, c, d = a + values[at], b + values[at + 1], c + values[at + 2], d + values[at + 3]
        e, f, g, h = e + values[at + 4], f + values[at + 5], g + values[at + 6], h + values[at + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for value in values[n - n % 8 :]:
        total += value
    return total
