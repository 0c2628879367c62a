"""How far a search may go: the one home of everything that ends it early.

A search that reaches a limit, or is told to stop, ends between two blocks of candidates with what it has
learned: a valid network.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from pathlib import Path
from time import monotonic

from xordal.errors import SettingsError
from xordal.types.choices import StoppedBy

_AFTER = 0.1  # of the time limit: what may follow the search
_LEAST_AFTER = 1.0  # seconds of it that are always there


@dataclass(frozen=True, slots=True)
class Limits:
    """How large cliques may grow, and how much time, memory and how many threads a search may take.

    Parameters
    ----------
    max_clique
        Largest number of variables in a clique.
    time_limit
        Seconds after which the search returns what it has learned.
    memory_limit
        Bytes of memory of the whole process, data included, beyond which it does so.
    threads
        Number of threads to count with; all cores of this process where None. It changes nothing but the time.
    """

    max_clique: int | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("max_clique", 2), ("threads", 1)):
            number = getattr(self, name)
            if number is not None and (not isinstance(number, Integral) or int(number) < least):
                raise SettingsError(f"{name} must be a whole number of at least {least}, not {number!r}.")
        for name, unit in (("time_limit", "seconds"), ("memory_limit", "bytes")):
            limit = getattr(self, name)
            if limit is not None and (not isinstance(limit, Real) or not 0 < float(limit) < inf):
                raise SettingsError(f"{name} must be a positive number of {unit}, not {limit!r}.")


class Stopped(Exception):
    """A limit was reached within a pass; what the pass had seen so far does not count."""

    def __init__(self, by: StoppedBy) -> None:
        super().__init__(f"stopped by the {by}")
        self.by: StoppedBy = by


class Watch:
    """Watches over the limits from the moment it is made.

    What follows a search that used up its time, the look for hidden groups, has a tenth of it more.
    """

    def __init__(self, limits: Limits) -> None:
        self._deadline = inf if limits.time_limit is None else monotonic() + limits.time_limit
        self._after = max(_LEAST_AFTER, _AFTER * (limits.time_limit or 0.0))
        self._most_memory = inf if limits.memory_limit is None else limits.memory_limit

    def check(self) -> None:
        """Raise :class:`Stopped` when a limit is reached."""
        self._check(self._deadline)

    def check_after(self) -> None:
        """Raise it when what follows the search has used up its time, too."""
        self._check(self._deadline + self._after)

    def _check(self, deadline: float) -> None:
        if monotonic() > deadline:
            raise Stopped("time limit")
        if self._most_memory < inf and memory_in_use() > self._most_memory:
            raise Stopped("memory limit")


def memory_in_use() -> int:
    """Return the bytes of memory that this process holds; where nobody can tell, the most it ever held."""
    try:
        import resource
    except ImportError:  # Windows
        raise SettingsError(
            "This system does not tell how much memory a process holds: leave the limit out."
        ) from None
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
