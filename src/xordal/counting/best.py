"""How good the best sets known so far are: what a scan for the best so many leaves out sets by.

Sets with different numbers of levels cannot be compared in nats, since chance alone makes larger tables share
more. So each combination of levels has its own best, and whoever scans ranks them against each other.
"""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

Levels = tuple[int, ...]


class Best:
    """The largest values known so far, ``top`` of them for each combination of numbers of levels.

    Parameters
    ----------
    top
        How many sets are wanted; None for all, and then there is no floor.
    slack
        By how much two values may be out of order: twice the error of each.

    Examples
    --------
    >>> best = Best(2, slack=0.0)
    >>> best.take((2, 2), np.array([0.1, 0.3, 0.2]))
    >>> best.floor((2, 2)), best.floor((2, 3))
    (0.2, -inf)
    """

    def __init__(self, top: int | None, slack: float) -> None:
        self.top = top
        self.slack = slack
        self._values: dict[Levels, NDArray[np.float64]] = {}
        self._taking = Lock()

    def floor(self, levels: Levels) -> float:
        """Return what a set must reach to be among the best; minus infinity while fewer are known."""
        values = self._values.get(levels)
        if self.top is None or values is None or len(values) < self.top:
            return -np.inf
        return float(values[0]) - self.slack

    def take(self, levels: Levels, values: NDArray[np.float64]) -> None:
        """Take in what was measured of sets that are returned; values that are only bounds do not count."""
        if self.top is None or not len(values):
            return
        with self._taking:
            every = np.sort(np.concatenate([self._values.get(levels, np.empty(0)), values]))
            self._values[levels] = every[-self.top :]


ALL = Best(None, 0.0)
"""Of a scan that wants all sets above the bar."""
