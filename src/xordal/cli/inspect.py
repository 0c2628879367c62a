"""``xordal inspect`` and ``compare``: look at networks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import asking, output

if TYPE_CHECKING:
    from rich.console import Console

    from xordal.model.explain import LinkStory
    from xordal.model.network import DecomposableMarkovNetwork
    from xordal.types.learned import Learned


def inspect(
    net: asking.Net,
    link: Annotated[
        list[str] | None,
        typer.Argument(
            help="Two columns: explain why they are linked, or what keeps them apart.", metavar="COL COL"
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="With two columns: the table whose rows say what the two share there."
        ),
    ] = None,
    smoothing: asking.Smoothing = None,
    as_json: output.AsJson = False,
) -> None:
    """Show a network: its columns, arcs if it is directed, steps, cliques and hidden groups; or explain a link.

    Examples: xordal inspect net.json; xordal inspect net.json dog John
    """
    from xordal.cli import screen
    from xordal.formats.arcs import arc_lines, arcs_to_json
    from xordal.formats.stories import (
        network_to_json,
        story_lines,
        story_to_json,
        structure_lines,
        variable_lines,
    )

    if link and len(link) != 2:
        raise typer.BadParameter("name two columns to explain their link, or none to show the network.")
    if data is not None and not link:
        raise typer.BadParameter("--data is for the link of two columns; name them.")
    network, directed = asking.read(net, smoothing)
    console = screen.output()
    if link:
        story = network.why_link(*link)
        if data is not None:
            story = _in_rows(network, story, data)
        if as_json:
            typer.echo(json.dumps(story_to_json(story), indent=2))
        else:
            screen.print_lines(console, story_lines(story))
        return
    if as_json:
        arcs = {} if directed is None else {"arcs": arcs_to_json(directed)["arcs"]}
        typer.echo(json.dumps(network_to_json(network) | arcs, indent=2))
        return
    screen.print_lines(console, variable_lines(network))
    if directed is not None:
        told = "Arcs, as the file has them; all that follows is of the decomposable network with the same joint"
        screen.print_lines(console, ["", told, *(f"  {line}".rstrip() for line in arc_lines(directed))])
    if network.learned is not None and network.learned.trace:
        _print_trace(console, network.learned)
    screen.print_lines(console, ["", *structure_lines(network)])


def _in_rows(network: DecomposableMarkovNetwork, story: LinkStory, data: str) -> LinkStory:
    """Return a story with what the two share in the rows of a table."""
    import numpy as np

    from xordal.cli.rows import rows_for
    from xordal.data.dialect import TextFormat
    from xordal.errors import DataError
    from xordal.model.explain import with_rows

    rows = rows_for(network, data, TextFormat(), "missing", "missing")
    one, other = (rows.codes[network.variables.index(name)] for name in story.variables)
    kept = (one >= 0) & (other >= 0)
    if not kept.any():
        raise DataError(f"No row of {data} has a value of both {' and '.join(map(repr, story.variables))}.")
    counts = np.ones(len(kept), dtype=np.int64) if rows.weights is None else rows.weights
    return with_rows(story, one[kept], other[kept], counts[kept])


def compare(
    first: asking.Net,
    second: Annotated[str, typer.Argument(help="Another network file.", metavar="OTHER", show_default=False)],
    smoothing: asking.Smoothing = None,
    as_json: output.AsJson = False,
) -> None:
    """Compare two networks: links that only one has, and how far apart their distributions are.

    Examples: xordal compare net.json other.json
    """
    from xordal.cli import screen
    from xordal.cli.reading import label_of
    from xordal.formats.stories import comparison_lines, comparison_to_json

    asking.check_sources(first, second)
    found = asking.network_of(first, smoothing).compare(asking.network_of(second, smoothing))
    if as_json:
        typer.echo(json.dumps(comparison_to_json(found), indent=2))
        return
    names = (label_of(first), label_of(second))
    if names[0] == names[1]:
        names = (first, second)
    screen.print_lines(screen.output(), comparison_lines(found, *names))


def _print_trace(console: Console, learned: Learned) -> None:
    from xordal.cli import screen

    console.print()
    columns = [screen.STEP, screen.LOOKAHEAD, screen.GAIN, screen.GRAPHS_TESTED]
    if learned.n_rows is not None:
        has_p_values = all(entry.log_p_value is not None for entry in learned.trace)
        columns.insert(3, screen.P_VALUE if has_p_values else screen.chance(learned.n_rows))
    table = screen.TraceTable(console, learned.variables, columns)
    for entry in learned.trace:
        table.add(entry)
