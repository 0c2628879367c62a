"""Cells of small fitted counts: their terms of G2 by sums over the law of each.

A cell with the margins a and b in a stratum of n rows holds a hypergeometric number k of them. Its law follows
from the ratio of neighbouring probabilities,

    P(k + 1) / P(k) = (a - k)(b - k) / ((k + 1)(n - a - b + k + 1)),

from the smallest k on that there can be; log factorials would lose digits where n is large. The polynomials
come from each other by their three-term recurrence (Stieltjes).

Here many cells are worked out side by side, one column each; :mod:`xordal.statistics._moments` does one after
the other, compiled. Both do the same operations in the same order, so that they agree to the bit: sums run from
the smallest k to the largest, and logarithms are those of ``math``.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DEGREE = 4
"""Degree of the polynomials up to which cells are correlated with each other."""

DENSE = 40.0
"""From this fitted count on, expansions in 1 / mu replace sums over the law of a cell."""

NEW = 1e-7
"""Of a norm: a law of d points has polynomials up to degree d - 1, and beyond only rounding."""

LOGS = np.array([0.0, *(log(k) for k in range(1, 128))])
"""The logarithms of all counts that the law of a sparse cell is summed up to: at most 103."""

_AT_ONCE = 1 << 15  # values summed together: what they take stays in the cache of a core


def sparse_terms(a: Integers, b: Integers, n: Integers) -> Floats:
    """Return each cell's coefficients of degree 0 to 4 and the rest of its variance, shape (6, cells).

    Margins in any order; cells alike are looked at once.
    """
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((n, high, low))
    low, high, n = low[order], high[order], n[order]
    is_first = np.ones(len(low), dtype=np.bool_)
    is_first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1]) | (n[1:] != n[:-1])
    found = _distinct_terms(low[is_first], high[is_first], n[is_first])
    number = np.empty(len(low), dtype=np.int64)
    number[order] = np.cumsum(is_first) - 1
    return found[:, number]


def _distinct_terms(a: Integers, b: Integers, n: Integers) -> Floats:
    """Return the same for cells that differ, a <= b: those of laws of similar lengths together."""
    mu = a.astype(np.float64) * b / n
    # What lies beyond changes no coefficient by more than 1e-11: the law's tail is lighter than a Poisson's.
    most = np.minimum(a, np.ceil(mu + 8 * np.sqrt(mu) + 11).astype(np.int64))
    length = most - np.maximum(a + b - n, 0) + 1
    order = np.argsort(length, kind="stable")
    found, start = np.empty((DEGREE + 2, len(mu))), 0
    while start < len(order):
        n_more = max(_AT_ONCE // int(length[order[start]]), 1)
        while n_more > 1 and n_more * length[order[min(start + n_more, len(order)) - 1]] > 2 * _AT_ONCE:
            n_more //= 2
        cells = order[start : start + n_more]
        start += n_more
        found[:, cells] = _summed(a[cells], b[cells], n[cells], mu[cells], length[cells])
    return found


def _summed(a: Integers, b: Integers, n: Integers, mu: Floats, length: Integers) -> Floats:
    """Return the same by sums over the law of each cell, in arrays of shape (values, cells)."""
    if len(a) == 1:  # of a single column NumPy adds up pairs
        twice = np.zeros(2, dtype=np.int64)
        return _summed(a[twice], b[twice], n[twice], mu[twice], length[twice])[:, :1]
    step = np.arange(int(length[-1]))[:, None]
    k = (step + np.maximum(a + b - n, 0)).astype(np.float64)
    law = np.ones_like(k)
    law[1:] = ((a - k) * (b - k) / ((k + 1) * ((n - a - b) + k + 1)))[:-1]
    law = np.multiply.accumulate(law, axis=0)
    law[step >= length] = 0
    law /= np.add.reduce(law, axis=0)
    log_mu = np.array([log(value) for value in mu.tolist()])
    term = 2 * (k * (LOGS[np.minimum(k, len(LOGS) - 1).astype(np.int64)] - log_mu) - k + mu)
    found = np.zeros((DEGREE + 2, len(a)))
    weighted, law_k = law * term, law * k
    found[0] = np.add.reduce(weighted, axis=0)
    previous, current, norm = np.zeros_like(law), np.ones_like(law), np.zeros(len(a))
    for degree in range(1, DEGREE + 1):
        centre = np.add.reduce(law_k * (current * current), axis=0)
        following = (k - centre) * current - norm * previous
        norm = np.sqrt(np.add.reduce(law * (following * following), axis=0))
        is_new = norm > NEW * (1 + mu)
        previous, current = current, np.where(is_new, following / np.where(is_new, norm, 1), 0)
        norm = np.where(is_new, norm, 0)
        found[degree] = np.add.reduce(weighted * current, axis=0)
    variance = np.add.reduce(law * (term * term), axis=0) - found[0] * found[0]
    squares = found * found
    found[-1] = np.maximum(variance - (((squares[1] + squares[2]) + squares[3]) + squares[4]), 0)
    return found
