"""What learning is doing, and how long each part of it took.

Parts lie inside each other: a link set is scored, for which p-values are worked out. The clock of the outer
part stops while an inner one runs, so that the seconds of all parts add up to those that passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from xordal.types.choices import Phase


class Phases:
    """Keeps the time of each part, from the first on, which has taken some seconds already.

    Examples
    --------
    >>> phases = Phases("scoring")
    >>> with phases.of("p-values"):
    ...     phases.now
    'p-values'
    >>> phases.now, list(phases.seconds())
    ('scoring', ['scoring', 'p-values'])
    """

    def __init__(self, first: Phase, seconds: float = 0.0) -> None:
        self.now = first
        self._seconds: dict[Phase, float] = {first: seconds}
        self._since = perf_counter()

    @contextmanager
    def of(self, phase: Phase) -> Iterator[None]:
        """Count the time of a block as that of a phase."""
        outer = self.now
        self.turn_to(phase)
        try:
            yield
        finally:
            self.turn_to(outer)

    def turn_to(self, phase: Phase) -> None:
        """Count the time from now on as that of a phase."""
        now = perf_counter()
        self._seconds[self.now] += now - self._since
        self._seconds.setdefault(phase, 0.0)
        self.now, self._since = phase, now

    def seconds(self) -> dict[Phase, float]:
        """Return the seconds of each phase up to now."""
        self.turn_to(self.now)
        return dict(self._seconds)
