"""``xordal query``: ask a network."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import asking, output

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork


def _refuse_evidence(network: DecomposableMarkovNetwork, asked: Sequence[str]) -> None:
    """Refuse a column to ask for that is evidence: COL=VALUE, its option forgotten."""
    for text in asked:
        if text not in network.variables and text.partition("=")[0] in network.variables and "=" in text:
            raise typer.BadParameter(f"{text!r} is no column. As evidence: --given {shlex.quote(text)}")


def query(  # noqa: PLR0913 - one parameter per option
    net: asking.Net,
    asked: Annotated[
        list[str] | None,
        typer.Argument(help="Columns to ask for, several: their joint; none: each column.", metavar="COL"),
    ] = None,
    *,
    given: asking.GivenOption = None,
    likely: asking.LikelyOption = None,
    mpe: Annotated[
        bool, typer.Option("--mpe", help="The most probable state of all columns (most probable explanation).")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also show which evidence moved the answer, and by how much.")
    ] = False,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="Also show ranges that hold each probability (95 %), by how many rows are behind.",
        ),
    ] = False,
    smoothing: asking.Smoothing = None,
    as_json: output.AsJson = False,
) -> None:
    """Ask a network: probabilities of columns given what is known of others.

    Examples: xordal query net.json John --given dog=barks --given music_box=plays; xordal query net.json John
    --likely dog=barks:3,quiet:1; xordal query net.json --mpe --given John=complains
    """
    from xordal.cli import screen
    from xordal.formats.answers import Question, answer_lines, answer_to_json

    if mpe and (asked or explain):
        raise typer.BadParameter("--mpe answers for all columns; leave out the columns and --explain.")
    if explain and (asked is None or len(asked) != 1):
        raise typer.BadParameter("--explain needs the one column to explain.")
    if intervals and (mpe or not asked):
        raise typer.BadParameter("--intervals are of the columns asked for; name them, and leave --mpe out.")
    network = asking.network_of(net, smoothing)
    _refuse_evidence(network, asked or ())
    question = Question(
        tuple(asked or ()),
        asking.given_in(network, given),
        asking.likely_in(network, likely),
        mpe,
        explain,
        intervals,
    )
    if explain and not (question.given or question.likely):
        raise typer.BadParameter("--explain shows what evidence does; give some with --given or --likely.")
    if as_json:
        typer.echo(json.dumps(answer_to_json(network, question), indent=2))
        return
    console = screen.output()
    width = min(console.width, 100)
    lines = answer_lines(network, question, width=width, blocks=screen.has_blocks(console))
    screen.print_lines(console, lines)
