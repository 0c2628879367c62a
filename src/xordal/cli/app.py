"""The ``xordal`` command: its subcommands, its version and its errors.

Nothing here imports the library's heavy parts; each command does so when it runs.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer

import xordal
from xordal.cli import BEGAN
from xordal.cli.cache import cache
from xordal.cli.check import check
from xordal.cli.demo import demo
from xordal.cli.direct import direct
from xordal.cli.export import convert, export
from xordal.cli.former import as_now
from xordal.cli.generate import generate
from xordal.cli.grouping import flat
from xordal.cli.help import Command, Group
from xordal.cli.inspect import compare, inspect
from xordal.cli.learn import learn
from xordal.cli.pipes import listen
from xordal.cli.query import query
from xordal.cli.report import report
from xordal.cli.reproduce import reproduce
from xordal.cli.rows import predict, sample, score
from xordal.cli.rules import rules
from xordal.cli.scan import scan
from xordal.cli.serve import serve
from xordal.cli.stopping import began
from xordal.cli.tune import tune
from xordal.errors import DataWarning, SettingsError, XordalError, speaking_of_options

app = typer.Typer(
    name="xordal",
    help="Find the groups of variables that look independent pair by pair and depend on each other together, "
    "and learn the decomposable Markov network around them.",
    epilog="Start with: xordal demo. With a table of your own: xordal report TABLE",
    no_args_is_help=True,
    rich_markup_mode=None,  # help.py writes plain text, which fits 80 columns
    cls=Group,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    demo, learn, tune, scan, rules, generate, query, predict, score, sample, inspect, compare, check, report,
    serve, direct, export, convert, cache, reproduce,
)  # fmt: skip
for _command in COMMANDS:
    app.command(cls=Command)(flat(_command))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"xordal {xordal.__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Options before the command; advice given in what follows names options, not arguments in Python."""
    context.with_resource(speaking_of_options())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's mistake is one message and exit code 1, wrong usage exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show does not stop anything
    try:
        with warnings.catch_warnings():
            _warn_in_notes()
            app(args=as_now(sys.argv[1:] if arguments is None else arguments), prog_name="xordal")
    except XordalError as error:
        typer.echo(f"Error: {_printable(str(error))}", err=True)
        sys.exit(2 if isinstance(error, SettingsError) else 1)
    except OSError as error:  # the output, since every file a command reads or writes is looked after
        typer.echo(f"Error: the output cannot be written ({error.strerror}).", err=True)
        sys.exit(1)


def _warn_in_notes() -> None:
    """Have warnings about data, of whatever command, printed as notes and not as places in our code."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **also: Any) -> None:
        if not issubclass(category, DataWarning):
            usual(message, category, *where, **also)
            return
        from xordal.cli import screen

        screen.note(str(message))

    warnings.showwarning = show


def _printable(text: str) -> str:
    """Return a message without control characters: names and values in it are data."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def console() -> NoReturn:
    """Run the command line as a process of its own.

    It ends at once when its output is written: Arrow's threads, taken down with the interpreter, were seen
    to abort a process that had done its work.
    """
    code = 0
    began.set(BEGAN)
    listen()
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # closed by whoever started the process
                stream.flush()
    except SystemExit:
        pass  # nobody reads the last of it
    except (OSError, ValueError):
        code = code or 1
    os._exit(code)
