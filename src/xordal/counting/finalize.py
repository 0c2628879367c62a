"""Counts to entropy: the one place where a number that is reported or compared is made.

The entropy is a function of the *sorted non-zero* counts, so empty cells, cell order, level order and the
backend that counted cannot change a bit of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def entropy(counts: NDArray[np.int64] | NDArray[np.float64]) -> float:
    """Return the entropy in nats of a table of counts, or of probabilities.

    Examples
    --------
    >>> entropy(np.array([2, 0, 2]))
    0.6931471805599453
    >>> entropy(np.array([7])), entropy(np.array([0]))
    (0.0, 0.0)
    """
    occupied = np.sort(counts[counts > 0], axis=None)
    if occupied.size <= 1:
        return 0.0
    shares = occupied / occupied.sum()
    return float(-np.sum(shares * np.log(shares)))


def entropies_of_sorted(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropies of many tables of equally many occupied cells, each equal to ``entropy`` to the bit.

    ``counts`` has shape (tables, cells), all positive and increasing along each row.

    Examples
    --------
    >>> entropies_of_sorted(np.array([[2, 2], [1, 3]])).tolist()
    [0.6931471805599453, 0.5623351446188083]
    """
    if counts.shape[1] <= 1:
        return np.zeros(len(counts))
    shares = counts / counts.sum(axis=1, keepdims=True)
    terms = shares * np.log(shares)
    return np.asarray(-np.add.reduce(terms, axis=1))
