"""``xordal demo``: the paper's music box, start to finish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from xordal.data.table import CategoricalTable

STORY = """\
Three balls are drawn; 20, 60 and 50 % of them are white. A music box plays when an odd number is white.
A dog barks when two lights are both on or both off. John complains when it is too quiet or too noisy:
neither box nor dog, or both. Nobody tells the program any of this. It sees a table of eight columns."""

NEXT_COMMANDS = """\
  xordal generate music-box -n 2000 -o box.csv     the same model, 2,000 random rows
  xordal learn box.csv                             learn from that file, or from your own
  xordal learn box.csv --schedule single           what a single-link search returns
  xordal learn --help"""


def demo(
    rows: Annotated[
        int | None,
        typer.Option(
            "-n", "--rows", min=1, help="Learn from this many random rows instead of exact proportions."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random rows.")] = 0,
) -> None:
    """Learn the paper's music box: balls, lights, a dog, and John who complains.

    Shows the pairwise view, the search as in the paper's Table 4, and what a single-link search would return.
    """
    from xordal.cli import screen
    from xordal.errors import counted
    from xordal.learning import learn
    from xordal.pi.zoo import music_box
    from xordal.report.paper.printed import TABLE_4
    from xordal.statistics.criterion import EntropyDecrement

    joint = music_box().joint
    table = joint.exact_table() if rows is None else joint.sample_table(rows, seed)
    kind = "in the model's exact proportions" if rows is None else f"drawn at random, seed {seed}"
    with screen.watching(quiet=False) as (console, tell):
        _head(console, "The music box")
        console.print(STORY)
        _head(console, f"Pair by pair ({counted(table.n_rows, 'row')} {kind})")
        _print_pairwise_view(console, table)
        _head(console, "Up to three links at a time (the paper's Table 4)")
        columns = [screen.STEP, screen.LOOKAHEAD, screen.GAIN, screen.GRAPHS_TESTED]
        if rows is None:
            columns[3:3] = [screen.Column("paper's", lambda step, entry: TABLE_4[step - 1].decrement)]
            columns.append(screen.Column("paper's", lambda step, entry: f"{TABLE_4[step - 1].graphs_tested:,}"))
        else:
            columns.insert(3, screen.chance(table.n_rows))
        trace = screen.TraceTable(console, table.names, columns)
        learned = learn(
            table,
            max_links=3,
            criterion=EntropyDecrement(0.004),
            schedule="as_run",
            on_entry=trace.add,
            on_progress=tell,
        )
        screen.print_network(console, learned)
        _head(console, "Next")
        console.print(NEXT_COMMANDS)


def _head(console: Console, title: str) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(title, style="bold underline"))


def _print_pairwise_view(console: Console, table: CategoricalTable) -> None:
    from itertools import combinations

    from xordal.counting.cpu_numpy import NumpyCounter
    from xordal.counting.plain import CountingOracle
    from xordal.counting.total_correlation import total_correlations
    from xordal.formats.text import link_text
    from xordal.types import members, varset

    oracle = CountingOracle(NumpyCounter(table), table.n_levels)
    pairs = [varset(pair) for pair in combinations(range(table.n_variables), 2)]
    shared = total_correlations(oracle, pairs)
    strongest = sorted(range(len(pairs)), key=lambda place: -shared[place])[:4]
    console.print(f"The strongest of the {len(pairs)} pairs, by mutual information in nats:")
    for place in strongest:
        names = (table.names[v] for v in members(pairs[place]))
        console.print(f"  {abs(shared[place]):.4f}  {link_text(names)}")
    group = ("music_box", "dog", "John")
    numbers = [table.names.index(name) for name in group]
    *two, three = total_correlations(oracle, [*map(varset, combinations(numbers, 2)), varset(numbers)])
    console.print(
        f"Now take {group[0]}, {group[1]} and {group[2]}. Their strongest pair, and all three together:"
    )
    console.print(f"  {abs(max(two)):.4f}  any two of them")
    console.print(f"  {three:.4f}  {link_text(group)}")
