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


def entropies_of_tables(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropies of many tables of equally many cells, each equal to ``entropy`` to the bit.

    ``tables`` has shape (tables, cells); every table has a positive count.

    Examples
    --------
    >>> entropies_of_tables(np.array([[2, 0, 2], [3, 1, 0], [0, 7, 0]])).tolist()
    [0.6931471805599453, 0.5623351446188083, 0.0]
    """
    ordered = np.sort(tables, axis=1)
    shares = ordered / ordered.sum(axis=1, keepdims=True)
    terms = shares * np.log(np.where(ordered > 0, shares, 1.0))
    n_occupied = (ordered > 0).sum(axis=1)
    found = np.zeros(len(tables))
    for occupied in set(n_occupied.tolist()) - {1}:
        alike = n_occupied == occupied
        # Sums are rounded by how many terms they have, so those of empty cells are left out.
        found[alike] = -np.add.reduce(terms[alike, terms.shape[1] - occupied :], axis=1)
    return found


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
