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
