"""What goes on the screen, for every command: results to stdout, progress to stderr.

Names and values are data: they are printed as they are, never read as markup, and control characters in them
are escaped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from xordal.errors import counted

if TYPE_CHECKING:
    from xordal.search.driver import Progress as SearchProgress
    from xordal.types import Learned, LinkSet, TraceEntry

_MOST_GROUPS = 20
_WIDE = 160  # columns where nobody looks: a pipe or a file need not be wrapped


def output() -> Console:
    """Return the console for results."""
    return _console(stderr=False)


def notes() -> Console:
    """Return the console for progress, notes and errors."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDE
    return console


def shown(name: object) -> str:
    r"""Return a name or value as printable text.

    Examples
    --------
    >>> print(shown("red\x1b[31m"))
    red\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(name))


def link_text(names: Iterable[str]) -> str:
    """Return a link as it is printed: its two names with a dash between."""
    return " - ".join(shown(name) for name in names)


def links_text(variables: tuple[str, ...], links: LinkSet) -> str:
    """Return a link set as it is printed."""
    return ", ".join(link_text((variables[u], variables[v])) for u, v in links)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers in a trace table; ``cell`` makes its text from the step (1, 2, ...) and the entry."""

    heading: str
    cell: Callable[[int, TraceEntry], str]
    width: int = 0


STEP = Column("step", lambda step, entry: str(step))
LOOKAHEAD = Column("i", lambda step, entry: str(entry.lookahead), width=2)
GAIN = Column("gain", lambda step, entry: f"{entry.gain:.8f}", width=10)
GRAPHS_TESTED = Column("graphs tested", lambda step, entry: f"{entry.graphs_tested:,}")


def chance(n_rows: int) -> Column:
    """Return the column of what chance alone would gain on average: dof / (2 n)."""
    return Column("by chance", lambda step, entry: f"{entry.dof / (2 * n_rows):.8f}", width=10)


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
            self._print([column.heading for column in self._columns], "learned links", style="bold")
        self._steps += 1
        numbers = [column.cell(self._steps, entry) for column in self._columns]
        self._print(numbers, links_text(self._variables, entry.links))

    def _print(self, numbers: list[str], links: str, style: str = "") -> None:
        row = Table.grid(padding=(0, 1))
        for column in self._columns:
            row.add_column(justify="right", min_width=max(column.width, len(column.heading)), no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(*numbers, Text(f" {links}"), style=style)
        self._console.print(row)


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
            looked = counted(at.sets_scanned, "variable set")
            links = "single links" if at.lookahead == 1 else f"{at.lookahead} links at a time"
            bar.update(task, description=f"trying {links}; {looked} looked at")

        yield (bar.console if not silent and result_console.is_terminal else result_console), tell


def print_network(console: Console, learned: Learned) -> None:
    """Print the cliques, what a single-link search would have missed, and the work it took."""
    from xordal.types import single_link_part

    if not learned.links:
        _print_nothing_found(console, learned)
    else:
        dependent = [clique for clique in learned.cliques if len(clique) > 1]
        alone = [clique[0] for clique in learned.cliques if len(clique) == 1]
        console.print(
            Text(f"\nNetwork: {counted(len(learned.links), 'link')} in {counted(len(dependent), 'clique')}")
        )
        for clique in dependent:
            console.print(Text("  { " + ", ".join(map(shown, learned.names(clique))) + " }"))
        if alone:
            console.print(Text("  on their own: " + ", ".join(map(shown, learned.names(alone)))))
        _print_submodels(console, learned)
        single = single_link_part(learned.trace)
        if missed := len(learned.links) - len(single):
            console.print(
                Text(
                    f"\nA single-link search, as common learners do, would have missed "
                    f"{missed} of the {counted(len(learned.links), 'link')}:"
                )
            )
            found = links_text(learned.variables, single) if single else "nothing"
            console.print(Text(f"  it finds {found}, and stops."))
    run = learned.run
    work = (
        f"\n{counted(run.graphs_tested, 'graph')} tested as the paper counts them, "
        f"{counted(run.candidates_scored, 'candidate')} scored, {learned.seconds:.2f} s"
    )
    console.print(Text(work, style="dim"))


def _print_submodels(console: Console, learned: Learned) -> None:
    """Print the PI submodels, the strongest of many only."""
    if not learned.submodels:
        return
    shown_models = learned.submodels
    if len(shown_models) > _MOST_GROUPS:
        strongest = sorted(learned.submodels, key=lambda submodel: -submodel.total_correlation)
        shown_models = tuple(strongest[:_MOST_GROUPS])
    console.print(
        Text("\nHidden groups: parts between bars look independent pair by pair, and are not together")
    )
    for submodel in shown_models:
        blocks = (" ".join(map(shown, learned.names(block))) for block in submodel.partition)
        given = " ".join(map(shown, learned.names(submodel.context)))
        kind = f"{submodel.kind}, given {given}" if submodel.context else submodel.kind
        told = f"  {submodel.total_correlation:.4f} nats  {' | '.join(blocks)}  ({kind})"
        console.print(Text(told))
    if left := len(learned.submodels) - len(shown_models):
        console.print(Text(f"  and {counted(left, 'weaker group')}; --json lists them all"))


def _print_nothing_found(console: Console, learned: Learned) -> None:
    settings = learned.settings
    single = settings["schedule"] == "single"
    reach = "single link" if single else f"set of up to {settings['max_links']} links"
    effect, advice = "that the criterion accepts", "Weaker effects need a looser criterion"
    if isinstance(criterion := settings["criterion"], dict) and "delta_h" in criterion:
        effect = f"gains more than {criterion['delta_h']} nats, the smallest effect this run can show"
        advice = "Weaker effects need a smaller --delta-h"
    larger = "another --schedule" if single else "a larger -m" if "max_variables" in settings else "a larger -k"
    console.print(Text(f"No links found: no {reach} {effect}.\n{advice}, larger hidden groups {larger}."))
