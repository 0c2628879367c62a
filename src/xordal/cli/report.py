"""``xordal report``: a network as one page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xordal.cli import asking, output


def report(
    net: asking.Net,
    to: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default="NET with .html",
            help="Page to write; - for standard output.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the page.", show_default="the name of the file")
    ] = None,
) -> None:
    """Write a network as one page that needs nothing else: hidden groups with their evidence, map, replay.

    Examples: xordal report net.json; xordal report net.json -o report.html --title "Survey of 2026"
    """
    from xordal.report.html import report_page
    from xordal.report.summary import summarise

    network = asking.network_of(net)
    if to is None:
        to = "-" if net == "-" else str(Path(net).with_suffix(".html"))
    output.check_name(to, net)
    named = title or ("" if net == "-" else f"What xordal found in {Path(net).stem}")
    output.write(to, [report_page(summarise(network, named))])
    output.tell("the report", to)
