"""The logarithm of the chi-squared tail, and its inverse.

Ranking by significance needs p-values far below the smallest number of double precision: a strong link among
many rows has p = exp(-10^5). So everything here speaks in log p. With a = dof / 2 and x = G2 / 2 the tail is
Q(a, x), the regularised upper incomplete gamma function:

* where the body holds less than half, log p = log(1 - P(a, x)), which keeps its digits as p goes to 1;
* where Q is a normal number, log p = log Q;
* beyond, log Q = a log x - x - log Gamma(a) + log F, with F the continued fraction of Legendre (DLMF 8.9.2),
  by the modified Lentz algorithm. There |log p| > 600, so cancellation in the first three terms does no harm.

Degrees of freedom may be any positive number: effective ones (:mod:`xordal.statistics.moments`) are fractions.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEW = 16
"""Values up to which one at a time is quicker: one takes 1.5 microseconds, an array of any few of them 18.

A music box asks some seventy times for a few, so that it is learned 1.1 times as fast.
"""

_UNDERFLOWS = 1e-280  # below it the fraction takes over, well before Q loses digits
_TINY = 1e-300  # in the place of zero, of which neither a logarithm nor a share is taken
_MOST_TERMS = 100_000  # of a series or fraction; two to six were seen where it is used
_PRECISION = 1e-15  # relative, of a series or fraction: the last digit of a double
_NEWTON_STEPS = 60  # at most; three to five were seen


def log_tail(g2: ArrayLike, dof: ArrayLike) -> NDArray[np.float64]:
    """Return log P(X >= g2) for chi-squared X, element by element.

    Parameters
    ----------
    g2
        Values of the statistic; at or below zero the tail is whole, log p = 0.
    dof
        Degrees of freedom, positive, whole or not.

    Examples
    --------
    >>> log_tail([3.841459, 1e6], 1).round(3)
    array([-2.99600000e+00, -5.00007134e+05])
    """
    from scipy.special import gammainc, gammaincc

    x, a = _halves(np.maximum(g2, 0), dof)
    upper = gammaincc(a, x)
    body = np.log1p(-np.minimum(gammainc(a, x), 0.5))
    result = np.asarray(np.where(upper < 0.5, np.log(np.maximum(upper, _TINY)), body))
    is_far = upper < _UNDERFLOWS
    if is_far.any():
        result[is_far] = _far_log_tail(a[is_far], x[is_far])
    return result


def log_tails(g2: list[float], dof: list[float]) -> list[float]:
    """Return the same for pairs of numbers, few or many: to the bit what :func:`log_tail` returns.

    Examples
    --------
    >>> [round(log_p, 3) for log_p in log_tails([3.841459, 1e6], [1, 1])]
    [-2.996, -500007.134]
    """
    if len(g2) > FEW:
        found: list[float] = log_tail(g2, dof).tolist()
        return found
    return [log_tail_of(*both) for both in zip(g2, dof, strict=True)]


def log_tail_of(g2: float, dof: float) -> float:
    """Return the same for one pair, by functions of NumPy: unlike those of math they round as arrays do."""
    special, x, a = _special(), max(g2, 0.0) / 2, dof / 2
    upper = float(special.gammaincc(a, x))
    if upper < _UNDERFLOWS:
        return float(a * np.log(x) - x - special.gammaln(a) + np.log(_fraction(a, x)))
    if upper < 0.5:
        return float(np.log(upper))
    return float(np.log1p(-min(float(special.gammainc(a, x)), 0.5)))


def log_f_tail(g2: float, dof: float, n_units: float) -> float:
    """Return log P(X >= g2) where X / dof has the F law with dof and dof * n_units degrees of freedom.

    So a G2 is judged whose scale was estimated from so many units; of very many it is a chi-squared.

    Examples
    --------
    >>> round(log_f_tail(3.841459, 1, 1e9), 3), round(log_f_tail(3.841459, 1, 10), 3)
    (-2.996, -2.545)
    """
    special = _special()
    a, b = dof * n_units / 2, dof / 2
    x = 2 * a / (2 * a + max(g2, 0.0))
    tail = float(special.betainc(a, b, x))
    if tail > _UNDERFLOWS:
        return float(np.log(tail))
    # I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) * sum of products of (a + b + k) / (a + 1 + k) x (DLMF 8.17.8).
    term, series = 1.0, 1.0
    for k in range(_MOST_TERMS):
        term *= (a + b + k) / (a + 1 + k) * x
        series += term
        if term < _PRECISION * series:
            break
    return float(a * np.log(x) + b * np.log1p(-x) - np.log(a) - special.betaln(a, b) + np.log(series))


@cache
def _special() -> Any:
    """Return SciPy's special functions, imported when they are needed first."""
    from scipy import special

    return special


@lru_cache(maxsize=1 << 12)
def quantile_of(log_p: float, dof: float) -> float:
    """Return the same for one number, worked out once: bars are asked for in every search anew.

    Without, a further search of twenty columns took 1.08 of the time.
    """
    return float(quantile(log_p, dof))


def quantile(log_p: ArrayLike, dof: ArrayLike) -> NDArray[np.float64]:
    """Return the G2 whose log p-value is the given one: the inverse of :func:`log_tail`.

    Examples
    --------
    >>> quantile(np.log(0.05), 1).round(6).item()
    3.841459
    >>> quantile(-1e5, 4).round(3).item()
    200023.026
    """
    from scipy.special import gammainccinv

    half, a = _halves(log_p, dof)
    wanted = 2 * half
    x = np.asarray(gammainccinv(a, np.exp(np.maximum(wanted, np.log(_UNDERFLOWS)))))
    is_far = wanted < np.log(_UNDERFLOWS)
    if is_far.any():
        x[is_far] = _far_quantile(wanted[is_far], a[is_far], x[is_far])
    return np.asarray(2 * x)


def _halves(one: ArrayLike, other: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first: NDArray[np.float64] = np.asarray(one, dtype=np.float64) / 2
    second: NDArray[np.float64] = np.asarray(other, dtype=np.float64) / 2
    if first.shape != second.shape:
        first, second = np.broadcast_arrays(first, second)
    return first, second


def _far_quantile(
    wanted: NDArray[np.float64], a: NDArray[np.float64], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve log Q(a, x) = wanted by Newton's method; the slope, minus the hazard rate, is nearly constant."""
    x: NDArray[np.float64] = start + np.log(_UNDERFLOWS) - wanted
    for _ in range(_NEWTON_STEPS):
        fraction = _fractions(a, x)
        error = _log_of_far_tail(a, x, fraction) - wanted
        x = np.maximum(x + error * x * fraction, start)  # density / tail = 1 / (x F)
        if np.all(np.abs(error) <= 1e-14 * np.abs(wanted)):
            break
    return x


def _far_log_tail(a: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    return _log_of_far_tail(a, x, _fractions(a, x))


def _log_of_far_tail(
    a: NDArray[np.float64], x: NDArray[np.float64], fraction: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy.special import gammaln

    return np.asarray(a * np.log(x) - x - gammaln(a) + np.log(fraction))


def _fractions(a: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F for many: few values are so far out, and each takes about a microsecond."""
    return np.array([_fraction(*both) for both in zip(a.tolist(), x.tolist(), strict=True)])


def _fraction(a: float, x: float) -> float:
    """Return F = Gamma(a, x) e^x / x^a, for x well above a: 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(...)))."""
    below = x + 1 - a
    upper = 1 / _TINY
    lower = 1 / below
    value = lower
    for term in range(1, _MOST_TERMS):
        numerator = -term * (term - a)
        below = below + 2
        lower = numerator * lower + below
        lower = 1 / (lower if abs(lower) >= _TINY else _TINY)
        upper = below + numerator / upper
        upper = upper if abs(upper) >= _TINY else _TINY
        factor = lower * upper
        value *= factor
        if abs(factor - 1) < _PRECISION:
            break
    return value
