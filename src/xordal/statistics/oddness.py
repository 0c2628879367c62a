"""Odd cells: what only all columns of a set together show, where each has two levels.

Call a cell of a table of two-level columns odd when an odd number of its columns is at the second level. The
highest-order interaction of the columns has one degree of freedom, and it is a contrast of odd cells with even
ones. So it can be tested with one degree of freedom where a test of "is this piece needed?" has 2^(m-1) - 1 of
them, and needs fewer rows.

The test answers the question of :mod:`xordal.statistics.needed`, *is a piece U of the set W independent of the
rest R?*, and no other. If it is, then whether U is odd is independent of the cell of R. Given how many rows
there are in each cell of R, n_r, and how many are odd in U, the odd ones are spread over the cells of R by
chance: the numbers X_r follow the multivariate hypergeometric law, exactly, whatever the columns inside U or
inside R share. Dependent pairs cannot spoil that. The statistic is

    T = sum over r of +-X_r / (n_r + 8),    + where r is even, - where it is odd.

Weights that depend on n_r alone change nothing in its law. With 1 / n_r, T is blind to what fewer columns show,
and best where every smaller set is independent; with equal weights it is best for a noisy exclusive-or, whose
cells of few rows would count too much otherwise. So cells of few rows weigh alike, and others by 1 / n_r. The
p-value of a set is the largest of its pieces'.

Its tail is that of the double saddlepoint approximation (Skovgaard 1987), whose relative error stays small
however far out: the odds of a row to be odd are tilted to log odds = a + b c_r until both totals are as seen,
which is a logistic regression. At the very end of what T can reach the probability is counted. As p-value it
takes half of the probability of T itself ("mid-p"), twice for two sides.

References
----------
Skovgaard (1987), Saddlepoint expansions for conditional distributions. Journal of Applied Probability 24.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf, lgamma, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from xordal.graph.pieces import pieces
from xordal.statistics.criterion import Evidence
from xordal.statistics.null_law import NullLaw
from xordal.types.varsets import members

Floats = NDArray[np.float64]

MOST_COLUMNS = 10
"""Of a set that is tested."""

SHARE = 4 / 5
"""Of a set's weight: of this test; the rest is of its parts (:mod:`xordal.statistics.needed`).

Chosen by ``benchmarks/recovery/shares.py``: more would gain next to nothing, and leave the parts half as much.
"""

_STEADY = 8.0
"""Rows of a cell from which on its weight falls with them.

With more, skewed parities need fewer rows, but odd cells say more of columns in a chain, which are better
learned link by link (``benchmarks/recovery/shares.py``).
"""

_MOST_STEPS, _LONGEST_STEP = 60, 2.0  # of Newton's method, the latter in log odds; four to nine steps were seen
_PRECISION = 1e-9  # of both totals, in rows, at which tilting ends
_ROUNDING = 1e-9  # relative, within which T is the largest that it can be
_CENTRAL = 0.05  # of the signed root: below, p-values are 1 for all purposes


def is_tested(n_levels: Sequence[int]) -> bool:
    """Whether a set of columns is tested: three or more of two levels each, not too many.

    >>> is_tested((2, 2, 2)), is_tested((2, 2, 3)), is_tested((2, 2))
    (True, False, False)
    """
    return 3 <= len(n_levels) <= MOST_COLUMNS and all(levels == 2 for levels in n_levels)


def of_sets(batch: Sequence[Evidence], law: NullLaw) -> list[float]:
    """Return the log p-value of each of some sets that are tested."""
    found = np.zeros(len(batch))
    alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for number, one in enumerate(batch):
        place = {v: at for at, v in enumerate(members(one.variables))}
        its_pieces = pieces(one.variables, one.links)
        alike.setdefault(tuple(tuple(place[v] for v in members(u)) for u in its_pieces), []).append(number)
    counted = law.tables([one.variables for one in batch])
    for its_places, numbers in alike.items():
        shape = (2,) * sum(map(len, its_places))
        tables = np.zeros((len(numbers), *shape))
        for table, number in zip(tables, numbers, strict=True):
            table[tuple(counted[number].cells.T)] = counted[number].counts
        found[numbers] = log_p_values(tables, its_places)
    return found.tolist()


def log_p_values(tables: Floats, its_pieces: Sequence[Sequence[int]]) -> Floats:
    """Return for each table of a batch the log p-value of its piece that is needed least.

    All pieces are tested together, since a call of NumPy costs as much as some tests. A large piece has a small
    rest; the cells that others have beside those are cells of no rows, which add nothing to any sum.

    Parameters
    ----------
    tables
        Shape (tables, 2, 2, ...): counts.
    its_pieces
        The columns of each piece, by their places from 0 on.

    Examples
    --------
    >>> xor = np.array([[[[10.0, 0], [0, 10]], [[0, 10], [10, 0]]]])
    >>> bool(log_p_values(xor, [[0], [1], [2]])[0] < -20)
    True
    """
    rows, odd = np.zeros((2, len(its_pieces), len(tables), tables[0].size // 2))
    for of_piece, of_odd, piece in zip(rows, odd, its_pieces, strict=True):
        rest = [v for v in range(tables.ndim - 1) if v not in piece]
        ordered = tables.transpose([0, *(1 + v for v in (*rest, *piece))])
        cells = ordered.reshape(len(tables), 2 ** len(rest), 2 ** len(piece))
        of_piece[:, : cells.shape[1]] = cells.sum(axis=2)
        of_odd[:, : cells.shape[1]] = cells[:, :, _signs(len(piece)) < 0].sum(axis=2)
    n_tests, n_cells = rows.size // rows.shape[2], rows.shape[2]
    found = tail(rows.reshape(n_tests, n_cells), odd.reshape(n_tests, n_cells))
    return np.asarray(found.reshape(len(its_pieces), -1).max(axis=0))


@cache
def _signs(n_columns: int) -> Floats:
    """Return 1 for the even cells of some columns of two levels, and -1 for the odd ones."""
    return np.asarray((-1.0) ** np.indices((2,) * n_columns).sum(axis=0).reshape(-1))


def tail(rows: Floats, odd: Floats) -> Floats:
    """Return log p-values of how many rows are odd in each cell, shape (tests, cells), of how many there are.

    Examples
    --------
    >>> (found,) = tail(np.array([[8.0, 8.0]]), np.array([[8.0, 0.0]]))
    >>> bool(np.isclose(found, -log(12870)))  # one of so many ways to choose 8 of 16 rows, half of it, twice
    True
    """
    n, n_odd = rows.sum(axis=1), odd.sum(axis=1)
    found = np.zeros(len(rows))
    able = np.flatnonzero((n_odd > 0) & (n_odd < n))
    if len(able):
        found[able] = _upper(*_ordered(rows[able], odd[able]))
    return np.asarray(np.minimum(found + log(2), 0.0))


def _ordered(rows: Floats, odd: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rows, odd ones and weights of cells so that T is not below what is expected.

    Cells are put in an order of their own, and of odd and even the rarer is counted, so that what the levels
    are called and which is the first cannot change a bit.
    """
    n, n_odd = rows.sum(axis=1, keepdims=True), odd.sum(axis=1, keepdims=True)
    contrast = _signs(rows.shape[1].bit_length() - 1) * _STEADY / (rows + _STEADY)
    odd, n_odd = np.where(2 * n_odd > n, rows - odd, odd), np.minimum(n_odd, n - n_odd)
    excess = (contrast * (odd - rows * n_odd / n)).sum(axis=1, keepdims=True)
    found = _sorted(rows, odd, np.where(excess < 0, -contrast, contrast))
    is_half = 2 * n_odd[:, 0] == n[:, 0]
    if is_half.any():  # neither is rarer
        other = _sorted(rows, rows - odd, np.where(excess < 0, contrast, -contrast))
        for place in np.flatnonzero(is_half):
            if [part[place].tolist() for part in other] < [part[place].tolist() for part in found]:
                for mine, its in zip(found, other, strict=True):
                    mine[place] = its[place]
    rows, odd, contrast = found
    contrast -= (contrast * rows).sum(axis=1, keepdims=True) / n  # so that 0 is expected
    return rows, odd, contrast


def _sorted(rows: Floats, odd: Floats, contrast: Floats) -> tuple[Floats, Floats, Floats]:
    order = np.lexsort((odd, rows, contrast), axis=1)
    number = np.arange(len(order))[:, None]
    return rows[number, order], odd[number, order], contrast[number, order]


def _upper(rows: Floats, odd: Floats, contrast: Floats) -> Floats:
    """Return the log of P(T > t) + P(T = t) / 2, for t not below what is expected; cells by contrast."""
    n_odd, t = odd.sum(axis=1), (contrast * odd).sum(axis=1)
    highest = _highest(rows, contrast, n_odd)
    is_end = highest - t <= _ROUNDING * np.maximum(1.0, highest)
    found = np.empty(len(t))
    for place in np.flatnonzero(is_end):
        found[place] = _at_the_end(rows[place].tolist(), odd[place].tolist(), contrast[place].tolist())
    if not is_end.all():
        inner = ~is_end
        found[inner] = _by_saddlepoint(rows[inner], contrast[inner], n_odd[inner], t[inner])
    return found


def _by_saddlepoint(rows: Floats, contrast: Floats, n_odd: Floats, t: Floats) -> Floats:
    n = rows.sum(axis=1)
    begin = np.log(n_odd / (n - n_odd))
    at, slope, is_done = _tilted(rows, contrast, n_odd, t, begin)
    height = _likelihood(rows, contrast, n_odd, t, at, slope) - (begin * n_odd - n * np.logaddexp(0.0, begin))
    root = np.sqrt(2 * np.maximum(height, 0.0))
    moments = _moments(rows, contrast, at[:, None] + slope[:, None] * contrast)
    area = np.maximum(moments[0] * moments[2] - moments[1] ** 2, 0.0) / (n_odd * (n - n_odd) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = log_ndtr(-(root + np.log(slope * np.sqrt(area) / root) / root))
    return np.asarray(np.where(root < _CENTRAL, log(0.5), np.where(is_done, found, 0.0)))


def _highest(rows: Floats, contrast: Floats, n_odd: Floats) -> Floats:
    """Return the largest T there can be: the odd rows fill the cells from the highest contrast down."""
    room = rows[:, ::-1]
    before = np.cumsum(room, axis=1) - room
    taken = np.minimum(np.maximum(n_odd[:, None] - before, 0.0), room)
    return np.asarray((taken * contrast[:, ::-1]).sum(axis=1))


def _moments(rows: Floats, contrast: Floats, log_odds: Floats) -> Floats:
    """Return the variances of the odd rows of all cells, times the contrast to the power 0, 1 and 2, summed."""
    small = np.exp(-np.abs(log_odds))
    spread = rows * (small / (1 + small) ** 2)
    once = spread * contrast
    return np.asarray([spread.sum(axis=1), once.sum(axis=1), (once * contrast).sum(axis=1)])


def _likelihood(rows: Floats, contrast: Floats, n_odd: Floats, t: Floats, at: Floats, slope: Floats) -> Floats:
    log_odds = at[:, None] + slope[:, None] * contrast
    return np.asarray(at * n_odd + slope * t - (rows * np.logaddexp(0.0, log_odds)).sum(axis=1))


def _tilted(
    rows: Floats, contrast: Floats, n_odd: Floats, t: Floats, begin: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the log odds a + b c that give both totals, by Newton's method, and where there are such."""
    at, slope = begin, np.zeros_like(begin)
    steepest = np.abs(np.where(rows > 0, contrast, 0.0)).max(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):  # where nothing gives both totals
        for _ in range(_MOST_STEPS):
            log_odds = at[:, None] + slope[:, None] * contrast
            expected = rows / (1 + np.exp(-log_odds))
            lacking, off = n_odd - expected.sum(axis=1), t - (contrast * expected).sum(axis=1)
            is_done = np.maximum(np.abs(lacking), np.abs(off)) <= _PRECISION
            if is_done.all():
                break
            m0, m1, m2 = _moments(rows, contrast, log_odds)
            area = np.maximum(m0 * m2 - m1 * m1, 1e-300)
            of_at, of_slope = (m2 * lacking - m1 * off) / area, (m0 * off - m1 * lacking) / area
            size = np.maximum(np.abs(of_at), steepest * np.abs(of_slope))
            short = np.where(is_done, 0.0, np.minimum(1.0, _LONGEST_STEP / np.maximum(size, 1e-300)))
            at, slope = at + short * of_at, slope + short * of_slope
    return at, slope, is_done


def _at_the_end(rows: list[float], odd: list[float], contrast: list[float]) -> float:
    """Return the log of half the probability of the largest T; within cells of one contrast all ways count."""
    left, ways, level, here = sum(odd), 0.0, inf, 0.0
    for n, c in zip(reversed(rows), reversed(contrast), strict=True):
        if round(c, 12) != level:
            ways += _log_choose(here, min(here, left))
            left -= min(here, left)
            level, here = round(c, 12), 0.0
        here += n
    ways += _log_choose(here, min(here, left))
    return min(ways - _log_choose(sum(rows), sum(odd)) + log(0.5), 0.0)


def _log_choose(n: float, k: float) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
