"""``xordal direct``: from links to arcs."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from xordal.cli import asking, output
from xordal.cli.export import To


def direct(
    net: asking.Net,
    file: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Also write the directed network; the ending or --to says how.",
        ),
    ] = None,
    to: To = None,
    as_json: output.AsJson = False,
) -> None:
    """Direct a network: a Bayesian network with only the arcs that are needed.

    Hidden groups become colliders, parents that together tell of their child. An arc is marked (?) unless it
    is proven that every network that fits as well, with no more parameters, has it too.
    Directions say which networks fit, and not what causes what. A network that is directed already stays as it
    is.

    Examples: xordal direct net.json; xordal direct net.json -o bn.bif
    """
    from xordal.cli import screen
    from xordal.formats.arcs import arc_lines, arcs_to_json
    from xordal.formats.network_files import read_network
    from xordal.model.directed import BayesianNetwork

    chosen = _checked(file, to, net)
    network = read_network(net)
    directed = network.to_bayesian()
    if file is None or chosen == "json":
        output.tell_rules_left_out(directed)
    if as_json:
        typer.echo(json.dumps(arcs_to_json(directed), indent=2))
    else:
        screen.print_lines(screen.output(), arc_lines(directed))
    if isinstance(network, BayesianNetwork):
        unmarked = ", and without marks, since it does not say what else would fit"
        screen.notes().print(
            "Note: this network is directed already; its arcs are as they were"
            f"{unmarked if network.unidentified is None else ''}.",
            soft_wrap=True,
        )
    if file is not None and chosen is not None:
        output.write_network_to(file, directed, chosen)


def _checked(file: str | None, to: str | None, net: str) -> str | None:
    """Return the format of the file to write, if there is one; refuse what cannot hold arcs."""
    from xordal.data.write import is_standard_output
    from xordal.formats.network_files import format_of

    if file is None:
        if to is not None:
            raise typer.BadParameter("--to says how -o writes the network; name a file with -o.")
        return None
    if is_standard_output(file):
        raise typer.BadParameter("-o writes the network to a file of its own; name one, such as bn.json.")
    chosen = format_of(file, to)
    if chosen == "hif":
        raise typer.BadParameter("HIF holds hidden groups and no arcs; xordal export writes it.")
    output.check_network_name(file, chosen, net)
    return chosen
