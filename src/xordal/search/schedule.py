"""Which lookahead comes next: Algorithm ML (section 3) as a pure state machine.

Glossary: j is the stage (ML line 2), i the number of lookahead links (ML line 3), k the largest of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from xordal.errors import SettingsError, nearest
from xordal.types.choices import ScheduleName


@dataclass(frozen=True, slots=True)
class Position:
    """Stage j of the search, about to run ``lookahead(i)``."""

    j: int
    i: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """How lookaheads of different lengths follow one another.

    ``printed`` is the paper's pseudo-code. ``as_run`` drops the guard (i > 1) of its line 6, which gives the
    counts of the paper's Tables 3 and 4. ``straightforward`` never backtracks, as the earlier algorithm [8].
    ``single`` is ``lookahead(1)`` alone, the search of the common learners.

    Examples
    --------
    >>> schedule = Schedule("printed", max_links=2)
    >>> schedule.after(Position(j=2, i=2), modified=True)
    Position(j=2, i=1)
    >>> schedule.after(Position(j=2, i=2), modified=False) is None
    True
    """

    name: ScheduleName
    max_links: int

    def __post_init__(self) -> None:
        if self.name not in get_args(ScheduleName):
            raise SettingsError(f"Unknown schedule {self.name!r}; {nearest(self.name, get_args(ScheduleName))}")
        if self.max_links < 1:
            raise SettingsError(f"max_links must be at least 1, not {self.max_links}.")

    @property
    def start(self) -> Position:
        """Where the search begins."""
        return Position(j=1, i=1)

    def after(self, position: Position, modified: bool) -> Position | None:
        """Return what follows a lookahead that did or did not modify the graph; None when the search ends."""
        j, i = position.j, position.i
        if modified and self._backtracks(i):  # ML lines 6-7
            return Position(j, 1)
        if i < j:  # ML lines 4 and 8
            return Position(j, i + 1)
        last_stage = 1 if self.name == "single" else self.max_links
        return Position(j + 1, j + 1) if j < last_stage else None  # ML lines 2-3

    def _backtracks(self, i: int) -> bool:
        return self.name == "as_run" or (self.name == "printed" and i > 1)
