"""``xordal export`` and ``convert``: networks for other programs, and from them."""

from __future__ import annotations

from typing import Annotated

import typer

from xordal.cli import asking, output
from xordal.formats.endings import OF_ANY

To = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help=f"bif, xmlbif, uai, net (Hugin), {', '.join(OF_ANY)} or json; uai-pgmpy and uai-pyagrum for UAI "
        "files in the order of cells that those programs read.",
        show_default="by the ending of FILE",
    ),
]


def export(
    net: asking.Net,
    to: To = None,
    file: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE", help="File to write; - for standard output."),
    ] = "-",
) -> None:
    """Write a network for another program.

    BIF, XMLBIF, UAI and Hugin NET hold the same joint distribution as a directed network; GraphML and DOT its
    graph; HIF its hidden groups as hyperedges. Odd names are escaped where a format needs it.

    Examples: xordal export net.json --to bif -o net.bif; xordal export net.json --to dot | dot -Tsvg > net.svg
    """
    _write(net, file, to, option="-o")


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="Model file of xordal, BIF, XMLBIF, UAI or Hugin NET, told by what is in it; - for standard "
            "input.",
            show_default=False,
        ),
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="File to write; - for standard output, with --to.", show_default=False
        ),
    ],
    to: To = None,
) -> None:
    """Convert a network from one format to another; the ending of OUT says to which.

    Directed networks keep their arcs and tables, digit by digit.

    Examples: xordal convert asia.bif asia.net; xordal convert alarm.bif alarm.json
    """
    _write(source, file, to, option="OUT")


def _write(source: str, file: str, to: str | None, *, option: str) -> None:
    from pathlib import Path

    from xordal.cli import screen
    from xordal.data.write import is_standard_output
    from xordal.errors import SettingsError
    from xordal.formats.network_files import format_of, network_text, read_network

    if to is None and is_standard_output(file):
        or_file = ", or name a file with -o" if option == "-o" else ""
        raise SettingsError(f"Say which format is meant, for example --to bif{or_file}.")
    chosen = format_of(file, to)
    output.check_network_name(file, chosen, source, option=option)
    network = read_network(source)
    if not is_standard_output(file):
        output.write_network_to(file, network, chosen)
        return
    if chosen not in ("json", "hif"):
        output.tell_rules_left_out(network)
    output.write(file, network_text(network, chosen, "" if source == "-" else Path(source).stem))
    if chosen == "hif":
        output.tell_where_groups_are_from(network)
    if chosen.startswith("uai"):
        screen.notes().print(
            "Note: UAI holds numbers only. Write to a file to have the names of variables and levels too.",
            soft_wrap=True,
        )
