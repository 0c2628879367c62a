"""How long a search still scans: what is left of the present scan by its own pace, and the scans after it.

A search scans all pairs, then all triples, and so on as far as it looks; that is most of its work in tables of
many columns, and it is known beforehand how many sets there are. What follows from links already learned (sets
around them, fill-in) is not, so that nothing is said of the time once all scans are done.

Pairs take other times than sets of five columns, and kernels are compiled at first. So the pace is that of the
last seconds of the scan that runs; scans still to come take the time that was measured for them before the
search began, or where nobody measured, the present time a set.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

_WINDOW = 10.0  # seconds whose pace tells how long the rest takes
_LEAST_WINDOW = 3.0  # seconds until a pace is told


class TimeLeft:
    """The time that the scans of a search still take.

    Parameters
    ----------
    sets
        How many sets of each size are scanned.
    seconds
        How long the scan of each size takes, where that was measured.

    Examples
    --------
    >>> left = TimeLeft({2: 50, 3: 1000}, {2: 1.0, 3: 20.0})
    >>> left.scanned(2, 50, now=0.0), left.seconds
    (None, None)
    >>> left.scanned(3, 0, now=1.0); left.scanned(3, 100, now=6.0); left.seconds
    45.0
    """

    def __init__(self, sets: Mapping[int, int], seconds: Mapping[int, float] | None = None) -> None:
        self._left = dict(sets)
        self._expected = dict(seconds or {})
        self._size = 0
        self._seen: deque[tuple[float, int]] = deque()
        self._pace: float | None = None

    def scanned(self, size: int, n_sets: int, now: float) -> None:
        """Take note that so many more sets of a size were looked at, and that it is now so many seconds."""
        if size not in self._left:
            return
        if size != self._size:
            self._size, self._pace = size, None
            self._seen.clear()
        self._left[size] -= n_sets
        self._seen.append((now, self._left[size]))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _WINDOW:
            self._seen.popleft()
        began, n_before = self._seen[0]
        n_done = n_before - self._left[size]
        self._pace = (now - began) / n_done if now - began >= _LEAST_WINDOW and n_done > 0 else None

    @property
    def seconds(self) -> float | None:
        """The seconds left, all scans together; None where there is no pace yet, or nothing left to scan."""
        if self._pace is None or self._left[self._size] <= 0:
            return None
        later = [size for size in self._left if size > self._size]
        return self._left[self._size] * self._pace + sum(
            self._expected.get(size, self._left[size] * self._pace) for size in later
        )
