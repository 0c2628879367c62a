"""What goes on the screen, for every command: results to stdout, progress to stderr.

Names and values are data: they are printed as they are, never read as markup, and control characters in them
are escaped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from xordal.errors import counted

if TYPE_CHECKING:
    from xordal.data.large.gather import RowsRead
    from xordal.scanning.ranking import RankProgress
    from xordal.search.driver import Progress as SearchProgress
    from xordal.types.learned import Learned
    from xordal.types.trace import TraceEntry

_WIDE = 100_000  # columns where nobody looks: a pipe or a file need not be wrapped
_SOME_SECONDS = 3  # of reading, from which on its speed is worth a line
_LEGEND = (
    "Each step learns a set of i links at once. Gain: nats by which it lowers the\n"
    "entropy of the network (a fair coin has 0.69). Graphs tested: sets so far."
)
_NARROW = 24  # columns the links need to stand beside the numbers


def output() -> Console:
    """Return the console for results."""
    return _console(stderr=False)


def notes() -> Console:
    """Return the console for progress, notes and errors."""
    return _console(stderr=True)


def note(line: str) -> None:
    """Print a note beside the results, in lines as wide as the terminal."""
    from xordal.formats.shown import shown

    print_lines(notes(), [f"Note: {shown(line)}"])


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDE
    return console


def has_blocks(console: Console) -> bool:
    """Whether the console's encoding can show block characters."""
    try:
        "▏█".encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers in a trace table; ``cell`` makes its text from the step (1, 2, ...) and the entry."""

    heading: str
    cell: Callable[[int, TraceEntry], str]
    width: int = 0


STEP = Column("step", lambda step, entry: str(step))
LOOKAHEAD = Column("i", lambda step, entry: str(entry.lookahead) if entry.links else "", width=2)
# What is told of a rule is no change of the network's entropy, which the legend says that a gain is.
GAIN = Column("gain", lambda step, entry: "" if entry.action == "rule" else f"{entry.gain:.8f}", width=10)
GRAPHS_TESTED = Column("graphs tested", lambda step, entry: f"{entry.graphs_tested:,}")


def _p_value(step: int, entry: TraceEntry) -> str:
    from xordal.formats.text import p_value_text

    return "" if entry.log_p_value is None else p_value_text(entry.log_p_value)


P_VALUE = Column("p-value", _p_value, width=9)


def chance(n_rows: int) -> Column:
    """Return the column of what chance alone would gain on average: dof / (2 n)."""
    from xordal.statistics.chance import expected_gain

    return Column("by chance", lambda step, entry: f"{expected_gain(entry.dof, n_rows):.8f}", width=10)


class TraceTable:
    """The learned link sets, one row each, printed as they are learned: the paper's Tables 3 and 4."""

    def __init__(self, console: Console, variables: tuple[str, ...], columns: Sequence[Column]) -> None:
        self._console = console
        self._variables = variables
        self._columns = columns
        self._steps = 0

    def add(self, entry: TraceEntry) -> None:
        """Print one entry, and the headings before the first."""
        if self._steps == 0:
            self._print_wrapped("", _LEGEND.splitlines(), "dim")
            self._print([column.heading for column in self._columns], "learned links", style="bold")
        self._steps += 1
        from xordal.formats.text import step_text

        numbers = [column.cell(self._steps, entry) for column in self._columns]
        self._print(numbers, step_text(self._variables, entry))

    def _print(self, numbers: list[str], links: str, style: str = "") -> None:
        widths = [max(column.width, len(column.heading)) for column in self._columns]
        if sum(widths) + len(widths) + _NARROW > self._console.width:
            self._print_narrow(numbers, links, style)
            return
        head = " ".join(number.rjust(width) for number, width in zip(numbers, widths, strict=True)) + "  "
        self._print_wrapped(head, [links], style)

    def _print_narrow(self, numbers: list[str], links: str, style: str) -> None:
        """Print the links below the numbers, where there is no room beside them."""
        self._console.print(Text(" ".join(numbers), style=style))
        self._print_wrapped(" " * 4, [links], style)

    def _print_wrapped(self, begin: str, lines: Iterable[str], style: str) -> None:
        for line in lines:
            for part in wrapped(self._console, begin, line):
                self._console.print(Text(part, style=style), soft_wrap=True)


@contextmanager
def watching(quiet: bool) -> Iterator[tuple[Console, Callable[[SearchProgress], None]]]:
    """Show a spinner while a search runs; yield the console for its results and what to tell of progress.

    Where results go to a terminal the spinner shares it, so that neither overwrites the other.
    """
    result_console = output()
    live_console = result_console if result_console.is_terminal else notes()
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    silent = quiet or not live_console.is_terminal
    with Progress(*columns, console=live_console, transient=True, disable=silent) as bar:
        task = bar.add_task("counting", total=None)

        def tell(at: SearchProgress) -> None:
            from xordal.scanning.cost import time_text

            looked = f"{counted(at.sets_scanned, 'set')} of columns looked at"
            links = "single links" if at.lookahead == 1 else f"{at.lookahead} links at a time"
            if at.is_local:
                links = f"sequences of {counted(at.lookahead, 'move')}"
            left = "" if at.seconds_left is None else f"; about {time_text(at.seconds_left)} of scanning left"
            bar.update(task, description=f"trying {links}; {looked}{left}")

        yield (bar.console if not silent and result_console.is_terminal else result_console), tell


@contextmanager
def packing(quiet: bool) -> Iterator[Callable[[RowsRead], None]]:
    """Show how far the packing of a large table is; yield what to tell of progress.

    On a terminal a bar with rows a second and the time left; when it is done, one line that stays, if it took
    some seconds.
    """
    console = notes()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    last: list[RowsRead] = []
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None, visible=False)

        def tell(at: RowsRead) -> None:
            last[:] = [at]
            rate = f"{counted(at.n_rows, 'row')}, {at.rows_per_second:,.0f} rows/s"
            total = None if at.done is None else 1.0
            bar.update(task, description=rate, total=total, completed=at.done or 0.0, visible=True)

        yield tell
    if last and not quiet and last[0].seconds > _SOME_SECONDS:
        at = last[0]
        told = f"Read {counted(at.n_rows, 'row')} in {at.seconds:.0f} s, {at.rows_per_second:,.0f} rows/s."
        console.print(told)


@contextmanager
def scanning(quiet: bool) -> Iterator[Callable[[RankProgress], None]]:
    """Show a bar with the time left while sets are looked at; yield what to tell of progress."""
    console = notes()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("counting", total=None)

        def tell(at: RankProgress) -> None:
            bar.update(task, description=counted(at.n_sets, "set"), total=at.n_sets, completed=at.n_scanned)

        yield tell


_BEFORE = re.compile(r" *(?:\d+\. )?")
_JOINED = "\ue000"  # a blank at which no line is broken


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print lines; one that is too wide goes on below its own indentation, or below what its number is of."""
    for line in lines:
        begin = _BEFORE.match(line)[0]  # type: ignore[index]  # matches everything
        for part in wrapped(console, begin, line.removeprefix(begin)):
            console.print(Text(part), soft_wrap=True)


def wrapped(console: Console, begin: str, text: str) -> list[str]:
    """Return a text behind a beginning in lines as wide as the console; a link is not broken at its dash."""
    room = max(console.width - len(begin), _NARROW)
    lines = Text(text.replace(" - ", f"{_JOINED}-{_JOINED}")).wrap(console, room)
    whole = [line.plain.rstrip().replace(_JOINED, " ") for line in lines] or [""]
    below = " " * len(begin)
    return [f"{below if at else begin}{line}".rstrip() for at, line in enumerate(whole)]


def print_network(console: Console, learned: Learned) -> None:
    """Print the network in words and the work it took."""
    from xordal.formats.text import network_lines

    run = learned.run
    work = (
        f"{counted(run.graphs_tested, 'graph')} tested as the paper counts them, "
        f"{counted(run.candidates_scored, 'candidate')} scored, {learned.seconds:.2f} s"
    )
    print_lines(console, ["", *network_lines(learned), "", work] if learned.trace else network_lines(learned))
