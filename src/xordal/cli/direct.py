"""``xordal direct``: from links to arcs."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from xordal.cli import asking, output


def direct(
    net: asking.Net,
    to: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Also write the directed network; the ending says how: .json, .bif, .xmlbif, .uai, .net, "
            ".graphml or .dot.",
        ),
    ] = None,
    as_json: output.AsJson = False,
) -> None:
    """Direct a network: a Bayesian network with only the arcs that are needed.

    Hidden groups become colliders, parents that together tell of their child. An arc is marked (?) where the
    data do not tell its direction: another network, with no more parameters, is as likely. Directions say
    which networks fit, and not what causes what.

    Examples: xordal direct net.json; xordal direct net.json -o bn.bif
    """
    from xordal.cli import screen
    from xordal.data.write import is_standard_output
    from xordal.formats.arcs import arc_lines, arcs_to_json
    from xordal.formats.network_files import format_of, write_network

    if to is not None:
        if is_standard_output(to):
            raise typer.BadParameter("-o writes the network to a file of its own; name one, such as bn.json.")
        format_of(to)
        output.check_name(to, net)
    network = asking.network_of(net)
    output.tell_rules_left_out(network)
    directed = network.to_bayesian()
    if to is not None:
        write_network(directed, to)
    if as_json:
        typer.echo(json.dumps(arcs_to_json(directed), indent=2))
    else:
        screen.print_lines(screen.output(), arc_lines(directed))
    output.tell("the directed network", to)
