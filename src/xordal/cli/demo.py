"""``xordal demo``: the gallery. Each demo tells its story in a minute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import output

if TYPE_CHECKING:
    from rich.console import Console

    from xordal.counting.plain import CountingOracle
    from xordal.data.table import CategoricalTable
    from xordal.demos.gallery import Demo
    from xordal.search.driver import Progress
    from xordal.types.learned import Learned

NEXT_COMMANDS = """\
  xordal generate music-box -n 2000 -o box.csv     the same model, 2,000 random rows
  xordal learn box.csv                             learn from that file, or from your own
  xordal learn box.csv --schedule single           what a single-link search returns
  xordal learn --help"""

Tell = Callable[["Progress"], None]


def demo(
    name: Annotated[
        str, typer.Argument(help="music-box, check-digit, calendar, epistasis or book-numbers.", metavar="NAME")
    ] = "music-box",
    *,
    rows: Annotated[
        int | None,
        typer.Option(
            "-n", "--rows", min=1, help="Music box: this many random rows instead of exact proportions."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, show_default="0", help="Seed of the random rows.")] = None,
    to: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Also write the report to this file.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the demos.")] = False,
) -> None:
    """Show what a table hides: the pairwise view, what the usual search returns, and what xordal finds.

    Examples: xordal demo; xordal demo --list; xordal demo check-digit -o check-digit.html
    """
    from xordal.cli import screen
    from xordal.demos.gallery import BOOK_NUMBERS, DEMOS, MUSIC_BOX, find_demo

    if show_list:
        for each in DEMOS.values():
            typer.echo(f"{each.name:<12} {each.title:<29} {each.source}")
        return
    told = find_demo(name)
    output.check_name(to)
    if told is not MUSIC_BOX and (rows is not None or seed is not None):
        raise typer.BadParameter(
            "-n and --seed draw rows of the music box; the other demos have rows of their own."
        )
    with screen.watching(quiet=False) as (console, tell):
        if told is MUSIC_BOX:
            table, learned = _music_box(console, tell, rows, seed or 0)
        else:
            table, learned = (_books if told is BOOK_NUMBERS else _story)(console, tell, told)
        if to is not None:
            _write_report(told, table, learned, to)
        _next(console, told, to)


def _story(console: Console, tell: Tell, told: Demo) -> tuple[CategoricalTable, Learned]:
    """Tell of real rows: pair by pair, one link at a time, several at a time."""
    from xordal.cli import screen
    from xordal.errors import counted
    from xordal.formats.text import links_text
    from xordal.learning.learn import learn

    table = told.table()
    _head(console, told.title)
    console.print(told.story)
    _head(console, f"Pair by pair ({counted(table.n_rows, 'row')}, {counted(table.n_variables, 'column')})")
    _print_pairwise_view(console, table, told.group)
    _head(console, "One link at a time, as usual learners search")
    single = learn(table, schedule="single")
    found = links_text(table.names, single.links) if single.links else "nothing"
    screen.print_lines(console, [f"It finds {found}, and stops."])
    _head(console, "Several links at a time")
    trace = screen.TraceTable(
        console, table.names, [screen.STEP, screen.LOOKAHEAD, screen.GAIN, screen.P_VALUE, screen.GRAPHS_TESTED]
    )
    learned = learn(table, max_variables=told.max_variables, on_entry=trace.add, on_progress=tell)
    screen.print_network(console, learned)
    console.print()
    console.print(told.moral)
    return table, learned


def _books(console: Console, tell: Tell, told: Demo) -> tuple[CategoricalTable, Learned]:
    """Tell of a column of identifiers: its rule, the typing errors, and characters that cannot be read."""
    from xordal.cli import screen
    from xordal.demos.books import book_numbers, characters_of, n_filled_in
    from xordal.errors import counted
    from xordal.formats.additive import told as with_words
    from xordal.formats.additive import told_lines
    from xordal.learning.fitting import fit_network
    from xordal.learning.learn import learn

    typed, right = book_numbers()
    table = characters_of(typed)
    _head(console, told.title)
    console.print(told.story)
    console.print(f"The first of them: {', '.join(typed[:5])}")
    _head(console, f"One column for each character, pair by pair ({counted(table.n_rows, 'row')})")
    _print_pairs(console, table)
    _head(console, "Links and rules")
    learned = learn(table, on_progress=tell)
    links = counted(len(learned.links), "link") if learned.links else "No link"
    console.print(f"{links} was found: no two or three of the columns show anything.")
    screen.print_lines(console, told_lines(with_words(learned)))
    _print_broken(console, table, learned, typed, right)
    _head(console, "A character that cannot be read")
    some = [number for row, number in enumerate(typed) if row not in right][:1000]
    filled = n_filled_in(fit_network(table, learned), some)
    console.print(f"In {len(some):,} right numbers one character is blotted out, another in each row.")
    console.print(f"The network fills in {filled:,} of them rightly: where the place is known,")
    console.print("the rule repairs the number.")
    console.print()
    console.print(told.moral)
    return table, learned


def _print_broken(
    console: Console, table: CategoricalTable, learned: Learned, typed: Sequence[str], right: Mapping[int, str]
) -> None:
    """Print the first numbers that break the rule, and whether those are the mistyped ones."""
    from xordal.errors import counted
    from xordal.rules.repair import broken_rows

    broken = list(broken_rows(table, learned.rules))
    _head(console, f"The {counted(len(broken), 'row')} that break it")
    console.print("The first of them, each with the smallest single change that would repair it:")
    for each in broken[:3]:
        name = "" if each.column is None else table.names[each.column]
        change = f"{name:<6} {each.value} -> {each.repaired}   ({each.n_repairs} changes would)"
        console.print(f"  row {each.row + 1:>4}  {typed[each.row]}  {change}")
    console.print("A check character tells that a number is wrong, not where.")
    are_those = "exactly those" if {each.row for each in broken} == set(right) else "not just those"
    console.print("The numbers are generated, so the truth is known:")
    console.print(
        f"{counted(len(right), 'number')} were mistyped, and the rows that break the rule are {are_those}."
    )


def _music_box(console: Console, tell: Tell, rows: int | None, seed: int) -> tuple[CategoricalTable, Learned]:
    """Tell of the paper's example, beside the paper's numbers."""
    from xordal.cli import screen
    from xordal.demos.gallery import MUSIC_BOX
    from xordal.errors import counted
    from xordal.learning.learn import learn
    from xordal.pi.zoo import music_box
    from xordal.report.paper.printed import TABLE_4
    from xordal.statistics.criterion import EntropyDecrement

    table = MUSIC_BOX.table() if rows is None else music_box().joint.sample_table(rows, seed)
    kind = "in the model's exact proportions" if rows is None else f"drawn at random, seed {seed}"
    _head(console, MUSIC_BOX.title)
    console.print(MUSIC_BOX.story)
    _head(console, f"Pair by pair ({counted(table.n_rows, 'row')} {kind})")
    _print_pairwise_view(console, table, MUSIC_BOX.group)
    _head(console, "Up to three links at a time (the paper's Table 4)")
    columns = [screen.STEP, screen.LOOKAHEAD, screen.GAIN, screen.GRAPHS_TESTED]
    if rows is None:
        columns[3:3] = [screen.Column("paper's", lambda step, entry: TABLE_4[step - 1].decrement)]
        columns.append(screen.Column("paper's", lambda step, entry: f"{TABLE_4[step - 1].graphs_tested:,}"))
    else:
        columns.insert(3, screen.chance(table.n_rows))
    trace = screen.TraceTable(console, table.names, columns)
    criterion = EntropyDecrement(0.004)
    learned = learn(
        table, max_links=3, criterion=criterion, schedule="as_run", on_entry=trace.add, on_progress=tell
    )
    screen.print_network(console, learned)
    return table, learned


def _next(console: Console, told: Demo, to: str | None) -> None:
    from xordal.demos.gallery import DEMOS, MUSIC_BOX

    _head(console, "Next")
    if told is MUSIC_BOX:
        console.print(NEXT_COMMANDS)
    if to is None:
        command = f"xordal demo {told.name} -o {told.name}.html"
        console.print(f"  {command:<48} the report: tables, network, replay")
    others = " ".join(name for name in DEMOS if name != told.name)
    console.print(f"  {'xordal demo NAME':<48} other stories: {others}")
    if told is not MUSIC_BOX:
        console.print(f"Data: {told.source}.")


def _write_report(told: Demo, table: CategoricalTable, learned: Learned, to: str) -> None:
    from xordal.learning.fitting import fit_network
    from xordal.report.html import report_page
    from xordal.report.summary import summarise

    output.write(to, [report_page(summarise(fit_network(table, learned), told.title))])
    output.tell("the report", to)


def _head(console: Console, title: str) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(title, style="bold underline"))


_NUMBERS = {3: "three", 4: "four", 5: "five"}


def _print_pairs(console: Console, table: CategoricalTable) -> None:
    """Print the strongest pairs."""
    from itertools import combinations

    from xordal.counting.total_correlation import total_correlations
    from xordal.formats.text import link_text
    from xordal.types.varsets import members, varset

    pairs = [varset(pair) for pair in combinations(range(table.n_variables), 2)]
    shared = total_correlations(_oracle(table), pairs)
    strongest = sorted(range(len(pairs)), key=lambda place: -shared[place])[:4]
    console.print(f"The strongest of the {len(pairs)} pairs, by mutual information in nats:")
    for place in strongest:
        names = (table.names[v] for v in members(pairs[place]))
        console.print(f"  {abs(shared[place]):.4f}  {link_text(names)}")


def _print_pairwise_view(console: Console, table: CategoricalTable, group: tuple[str, ...]) -> None:
    from itertools import combinations

    from xordal.counting.total_correlation import total_correlations
    from xordal.formats.text import link_text
    from xordal.types.varsets import varset

    _print_pairs(console, table)
    oracle = _oracle(table)
    numbers = [table.names.index(name) for name in group]
    *two, whole = total_correlations(oracle, [*map(varset, combinations(numbers, 2)), varset(numbers)])
    named = f"{', '.join(group[:-1])} and {group[-1]}"
    console.print(f"Now take {named}. Their strongest pair, and all {_NUMBERS[len(group)]} together:")
    console.print(f"  {abs(max(two)):.4f}  any two of them")
    console.print(f"  {whole:.4f}  {link_text(group)}")


def _oracle(table: CategoricalTable) -> CountingOracle:
    from xordal.counting.cpu_numpy import NumpyCounter
    from xordal.counting.plain import CountingOracle

    return CountingOracle(NumpyCounter(table), table.n_levels)
