"""Mean and variance of the G2 of a fitted table when the fit is true: right also where cells hold few rows.

G2 is a sum over cells of 2 (X log(X / mu) - X + mu). A cell that expects 20 rows or more adds 1 on average, so
the mean is the number of cells, less one for each parameter that was fitted: the degrees of freedom. A cell
that expects 1 row adds 1.15, and one that expects a tenth of a row 0.47. So here each cell adds the mean of its
own Poisson law. What fitting takes away is counted alike, from the margins: a pair takes what its own table
adds, less what its two columns take. With many rows a cell this is the degrees of freedom again.

It holds while the margins themselves have rows enough; where they do not, fitting takes away less than counted
here, and the degrees of freedom are the larger number. Callers take the larger of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from xordal.statistics.fitting import Axes, terms_of

Floats = NDArray[np.float64]

_LEAST, _MOST = 1e-4, 200.0  # expected rows between which moments are read off a table
_N_KNOTS = 400  # of that table: between two of them moments change by less than 1 %


def moments_of_fit(table: Floats, fitted: Floats, margins: Sequence[Axes]) -> tuple[float, float]:
    """Return mean and variance of the G2 of a table fitted to some margins, were the fit the truth.

    Examples
    --------
    >>> many = np.full((2, 2, 2), 1000.0)
    >>> mean, variance = moments_of_fit(many, many, [(0, 1), (0, 2), (1, 2)])
    >>> round(mean, 2), round(variance, 2)
    (1.0, 2.0)
    """
    taken: dict[Axes, Floats] = {}
    for term in terms_of(tuple(margins)):
        others = tuple(axis for axis in range(table.ndim) if axis not in term)
        inside = [taken[part] for size in range(len(term)) for part in combinations(term, size)]
        taken[term] = _added(table.sum(axis=others)) - sum(inside, np.zeros(2))
    mean, variance = _added(fitted) - sum(taken.values(), np.zeros(2))
    return float(mean), float(variance)


def _added(expected: Floats) -> Floats:
    """Return what cells add to mean and variance; that part of the variance which margins hold is left out."""
    rows = expected[expected > 0].reshape(-1)
    knots, moments = _knots()
    at = np.log(rows)
    found = np.array([np.interp(at, knots, of).sum() for of in moments])
    rare = rows[rows < _LEAST]
    if len(rare):  # one row, or none: the term of a single row is 2 log(1 / mu), less what is linear in it
        found[0] += (2 * rare * (-np.log(rare)) - moments[0, 0]).sum()
        found[1] -= len(rare) * moments[1, 0]
    return found


@cache
def _knots() -> tuple[Floats, Floats]:
    """Return logs of expected rows, and mean and variance of the term of a Poisson cell at each.

    They are the same for all tables; worked out each time, learning twenty columns took 1.2 of the time.
    """
    logs = np.linspace(np.log(_LEAST), np.log(_MOST), _N_KNOTS)
    return logs, np.array([_poisson_term(mu) for mu in np.exp(logs)]).T


def _poisson_term(mu: float) -> tuple[float, float]:
    """Return mean of a cell's term, and its variance without the part that is linear in the count."""
    from scipy.special import gammaln

    k = np.arange(int(mu + 12 * np.sqrt(mu) + 30), dtype=np.float64)
    law = np.exp(k * np.log(mu) - mu - gammaln(k + 1))
    term = 2 * (k * np.log(np.maximum(k, 1) / mu) - k + mu)
    mean = float(law @ term)
    linear = float(law @ (term * (k - mu))) / np.sqrt(mu)
    return mean, float(law @ term**2) - mean**2 - linear**2
