"""Cells of small fitted counts: their terms of G2 by sums over the law of each.

A cell with the margins a and b in a stratum of n rows holds a hypergeometric number of them. The values that
this number can have stand one behind the other in a flat array, cell by cell, so that many cells of different
lengths are summed in the same calls of NumPy. How far the law of a cell is summed depends on that cell alone,
so that the cells beside it do not change a bit.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DEGREE = 4
"""Degree of the polynomials up to which cells are correlated with each other."""

_STEP = 4  # laws are summed up to a multiple of it
_AT_ONCE = 1 << 15  # values summed together: what they take stays in the cache of a core
_TABLED = 1 << 16  # numbers whose log factorials stand in a table: half a megabyte
_NEW = 1e-7  # of a norm: a law of d points has polynomials up to degree d - 1, and beyond only rounding


def sparse_terms(a: Integers, b: Integers, n: Integers) -> tuple[Floats, Floats]:
    """Return each cell's coefficients of degree 0 to 4, shape (5, cells), and the rest of its variance.

    Margins in any order; cells alike are looked at once.
    """
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((n, high, low))
    low, high, n = low[order], high[order], n[order]
    is_first = np.ones(len(low), dtype=np.bool_)
    is_first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1]) | (n[1:] != n[:-1])
    coefficients, rest = _distinct_terms(low[is_first], high[is_first], n[is_first])
    number = np.empty(len(low), dtype=np.int64)
    number[order] = np.cumsum(is_first) - 1
    return coefficients[:, number], rest[number]


def _distinct_terms(a: Integers, b: Integers, n: Integers) -> tuple[Floats, Floats]:
    """Return the same for cells that differ, a <= b."""
    mu = a * b / n
    # What lies beyond changes no coefficient by more than 1e-11: the law's tail is lighter than a Poisson's.
    most = np.ceil(np.minimum(a, mu + 8 * np.sqrt(mu) + 11) / _STEP).astype(np.int64) * _STEP
    ends = np.cumsum(most + 2)
    coefficients, rest = np.empty((DEGREE + 1, len(mu))), np.empty(len(mu))
    start = 0
    while start < len(mu):
        before = ends[start - 1] if start else 0
        end = max(int(np.searchsorted(ends, before + _AT_ONCE)), start + 1)
        cells = slice(start, end)
        coefficients[:, cells], rest[cells] = _summed(a[cells], b[cells], n[cells], most[cells])
        start = end
    return coefficients, rest


def _summed(a: Integers, b: Integers, n: Integers, most: Integers) -> tuple[Floats, Floats]:
    """Return the same by sums over the values -1, 0, ..., most of each cell.

    The value -1, of probability 0, begins every sum: ``np.add.reduceat`` takes the first term as it is and adds
    the others pairwise, which behind a zero is what ``np.sum`` returns for the terms of this cell.
    """
    lengths = most + 2
    first = np.cumsum(lengths) - lengths
    cell = np.repeat(np.arange(len(a)), lengths)

    def sums(terms: Floats) -> Floats:
        return np.add.reduceat(terms, first)

    count = np.arange(len(cell)) - first[cell] - 1
    law = _hypergeometric(a, b, n, cell, count)
    law /= sums(law)[cell]
    k, mu = count.astype(np.float64), a * b / n
    term = _terms(k, mu[cell])
    found = np.zeros((DEGREE + 1, len(a)))
    weighted, law_k = law * term, law * k
    found[0] = sums(weighted)
    previous, current, norm = np.zeros_like(law), np.ones_like(law), np.zeros(len(a))
    for degree in range(1, DEGREE + 1):
        centre = sums(law_k * current**2)
        following = (k - centre[cell]) * current - norm[cell] * previous
        norm = np.sqrt(sums(law * following**2))
        is_new = norm > _NEW * (1 + mu)
        previous, current = current, np.where(is_new[cell], following / np.where(is_new, norm, 1)[cell], 0)
        norm = np.where(is_new, norm, 0)
        found[degree] = sums(weighted * current)
    variance = sums(law * term**2) - found[0] ** 2
    return found, np.maximum(variance - np.add.reduce(found[1:] ** 2, axis=0), 0)


def _terms(count: Integers | Floats, mu: Floats) -> Floats:
    """Return what cells add to G2 by the counts they hold and those that were fitted."""
    return np.asarray(2 * (count * np.log(np.maximum(count, 1) / mu) - count + mu))


def _hypergeometric(a: Integers, b: Integers, n: Integers, cell: Integers, count: Integers) -> Floats:
    """Return the probability of each count, not yet divided by their sum."""
    of_a, of_b, of_others, of_rest, of_all = _log_factorials(np.array([a, b, n - a, n - b, n]))
    whole = of_a + of_b + of_others + of_rest - of_all
    table = np.array([count, a[cell] - count, b[cell] - count, (n - a - b)[cell] + count])
    log_law = whole[cell] - np.add.reduce(_log_factorials(np.maximum(table, 0)), axis=0)
    return np.where(table.min(axis=0) >= 0, np.exp(log_law), 0)


def _log_factorials(values: Integers) -> Floats:
    """Return log n! of each value; those of all small numbers are worked out once."""
    if values.max(initial=0) < _TABLED:
        return np.asarray(_table_of_log_factorials()[values])
    return _exact_log_factorials(values)


@cache
def _table_of_log_factorials() -> Floats:
    return _exact_log_factorials(np.arange(_TABLED))


def _exact_log_factorials(values: Integers) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(values + 1.0))
