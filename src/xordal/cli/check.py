"""``xordal check``: what of a network holds in rows that it was not learned from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from xordal.cli import asking, output, reading


def check(
    net: asking.Net,
    data: reading.Data,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Show all links, groups and rules, not the first 20 of each.")
    ] = False,
    text: reading.TextOptions,
    as_json: output.AsJson = False,
) -> None:
    """Check on new rows which links, hidden groups and rules of a network hold.

    Use rows that the network was not learned from, such as next month's. Each finding comes with its 95 %
    interval in the new rows and a p-value corrected for all findings of its kind. Held: it is significant in
    the new rows. Gone: the new rows rule out what was learned. Undecided: there are too few rows to tell.
    Rows with a missing value, or a level that the network never saw, are left out.

    Examples: xordal check net.json new.csv; xordal check net.json new.csv --json
    """
    from xordal.checking import check_rows
    from xordal.cli import screen
    from xordal.cli.rows import rows_for
    from xordal.report.held import check_lines, check_to_json

    asking.check_sources(net, data)
    network = asking.network_of(net)
    found = check_rows(network, rows_for(network, data, text.text_format(), "missing", "error", offered=[]))
    if as_json:
        typer.echo(json.dumps(check_to_json(found), indent=2))
        return
    screen.print_lines(screen.output(), check_lines(found, None if every else 20))
