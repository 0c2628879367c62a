"""How far a search may go: the one home of everything that ends it early.

A search that reaches a limit, or is told to stop, ends with what it has learned: a valid network. Whatever may
take long asks the clock several times a second (:meth:`Watch.check`): scans while they wait for threads,
counting and p-values between blocks, the search between candidates, and all that follows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from numbers import Integral, Real
from pathlib import Path
from time import monotonic

from xordal.errors import SettingsError
from xordal.search.phases import Phases
from xordal.types.choices import Phase, StoppedBy

# What may follow a search that used up its time: less than the tenth of the limit, or the second, within which
# a limit holds, since a network is made and printed after that.
_AFTER, _LEAST_AFTER = 0.05, 0.5
_LONG = 5.0  # seconds after which a note says what is being done
_BETWEEN = 0.05  # seconds between two looks at the memory in use, which take some microseconds


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
    since
        When the time began to count, as ``time.monotonic()`` tells it; None for when learning is called. The
        command line counts from its own start.
    """

    max_clique: int | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    threads: int | None = None
    since: float | None = field(default=None, compare=False)

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
    """Watches over the limits from the moment it is made, and knows what is being done.

    Parameters
    ----------
    limits
        The time and the memory there is.
    on_long
        Called once when five seconds have passed: with what is being done, how many seconds it are, and about
        how many more the scans take, None where nobody knows.

    Attributes
    ----------
    to_scan
        Returns the latter; whoever knows puts it here.
    """

    def __init__(
        self,
        limits: Limits,
        on_long: Callable[[Phase, float, float | None], None] = lambda phase, seconds, to_scan: None,
    ) -> None:
        self.to_scan: Callable[[], float | None] = lambda: None
        now = monotonic()
        self._began = now if limits.since is None else limits.since
        self.phases = Phases("reading", now - self._began)
        self._deadline = inf if limits.time_limit is None else self._began + limits.time_limit
        self._after = max(_LEAST_AFTER, _AFTER * (limits.time_limit or 0.0))
        self._most_memory = inf if limits.memory_limit is None else limits.memory_limit
        self._memory_seen = -inf
        self._on_long = on_long
        self._long = self._began + _LONG

    @property
    def seconds(self) -> float:
        """Seconds since the time began to count."""
        return monotonic() - self._began

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit; infinite where there is none."""
        return self._deadline - monotonic()

    def check(self) -> None:
        """Raise :class:`Stopped` when a limit is reached. It takes less than a microsecond, so ask often."""
        now = monotonic()
        if now > self._deadline:
            raise Stopped("time limit")
        if self._most_memory < inf and now - self._memory_seen > _BETWEEN:
            if memory_in_use() > self._most_memory:
                raise Stopped("memory limit")
            self._memory_seen = now
        if now > self._long:
            self._long = inf
            self._on_long(self.phases.now, now - self._began, self.to_scan())

    def allow_what_follows(self) -> None:
        """Allow a little more time for what follows a search that used up its own: hidden groups and rules."""
        self._deadline += self._after


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
