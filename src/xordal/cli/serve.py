"""``xordal serve``: the live page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Table to begin with (CSV, Excel, Parquet), or a network (model file, BIF and others).",
            show_default=False,
        ),
    ] = None,
    *,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port to listen on; 0 for any.", show_default="8765, or the next free"
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where runs are kept.", show_default="~/.local/state/xordal/runs", metavar="FOLDER"),
    ] = None,
    max_upload: Annotated[
        str, typer.Option(help="Size of the largest file that is taken.", metavar="SIZE")
    ] = "100M",
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; the default can be reached from this computer only.", metavar="ADDRESS"
        ),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A further name by which browsers may ask for this server, or the address of what stands in "
            "front of it and encrypts (https://data.example.org); may be repeated.",
        ),
    ] = None,
) -> None:
    """Open the live page: drop a table, watch the search find what hides in it, and ask the network.

    The page is for one person: it listens on this computer only, the address holds a token that works once,
    and tables stay here. What was learned is kept in a folder and is there when the server starts again; a
    search that was under way goes on.

    Examples: xordal serve; xordal serve survey.csv; xordal serve net.json --no-browser --port 9000
    """
    from xordal.cli import screen
    from xordal.cli.stopping import bytes_in
    from xordal.web.serving import Serving
    from xordal.web.serving import serve as serve_page
    from xordal.web.store import default_folder

    most = bytes_in(max_upload, "--max-upload")
    how = Serving(
        folder or default_folder(),
        host,
        port,
        allow_host or (),
        None if most is None else int(most),
        browser,
        () if file is None else (file,),
    )
    serve_page(how, lambda line: screen.notes().print(line, soft_wrap=True))
