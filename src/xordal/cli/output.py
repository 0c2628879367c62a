"""Where results go: a file, whole or not at all, or standard output as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xordal.formats.network_files import Network
    from xordal.model.network import DecomposableMarkovNetwork
    from xordal.types.learned import Learned

_WITH_MARKS = ("json", "graphml", "dot", "hif")  # HIF has no arcs to mark
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="File to write; - or none: standard output."),
]
TableOutput = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write, by its ending CSV, TSV (.tsv) or Parquet (.parquet); - or none: standard output.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """Where a learned network goes, and how much of it is printed."""

    to: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Also write the network to this file, for xordal query etc.: a model file, or by the ending "
            "another format (.bif, .xmlbif, .uai, .net, .graphml, .dot, .hif).",
        ),
    ] = None
    as_json: AsJson = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the links only, one a line, and no progress.")
    ] = False

    @property
    def is_plain(self) -> bool:
        """Whether what is printed is for people."""
        return not self.as_json and not self.quiet

    def check(self, *inputs: str) -> None:
        """Refuse a name no model file can have, before any work is done."""
        check_model_name(self.to, *inputs)

    def show(self, learned: Learned, more: dict[str, object]) -> None:
        """Print what was learned; ``more`` goes into the JSON object beside it."""
        import json

        from xordal.cli import screen
        from xordal.formats.json import to_json
        from xordal.formats.text import link_text

        if self.as_json:
            typer.echo(json.dumps(to_json(learned) | more, indent=2))
        elif self.quiet:
            for link in learned.links:
                typer.echo(link_text(learned.names(link)))
        else:
            screen.print_network(screen.output(), learned)

    def save(self, network: DecomposableMarkovNetwork) -> None:
        """Write the network to the model file, if there is to be one."""
        if self.to is not None:
            from xordal.formats.endings import learned_format

            write_network_to(self.to, network, learned_format(self.to), is_quiet=self.quiet)


def write_network_to(file: str, network: Network, to: str, *, is_quiet: bool = False) -> None:
    """Write a network to a file in some format, with its names beside it where that is UAI, and say so."""
    import warnings

    from xordal.cli import screen
    from xordal.errors import DataWarning
    from xordal.formats.endings import NAMES
    from xordal.formats.network_files import write_network
    from xordal.model.directed import BayesianNetwork

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # said here in the manner of the command line
        write_network(network, file, to)
    if to not in ("json", "hif"):
        tell_rules_left_out(network)
    if not is_quiet:
        tell("the hidden groups" if to == "hif" else "the network", file)
        if isinstance(network, BayesianNetwork) and network.unidentified and to not in _WITH_MARKS:
            screen.notes().print(
                "Note: this format has no marks (?) of arcs; JSON, GraphML and DOT keep them.", soft_wrap=True
            )
        if to == "hif":
            tell_where_groups_are_from(network)
        if to.startswith("uai"):
            tell("its names", f"{file}{NAMES}")


def tell_where_groups_are_from(network: Network) -> None:
    """Say of a network without rows what its hypergraph may lack: tables do not say what is chance."""
    from xordal.cli import screen
    from xordal.model.network import DecomposableMarkovNetwork

    if isinstance(network, DecomposableMarkovNetwork) and network.is_counted:
        return
    screen.notes().print(
        "Note: no rows are known of this network, so only groups are listed whose parts are independent "
        "exactly in its tables. Of a network that was learned, export the model file instead.",
        soft_wrap=True,
    )


def write(file: str | None, pieces: Iterable[str]) -> None:
    """Write to a file, or to standard output as it comes."""
    from xordal.data.write import is_standard_output, write_pieces

    if file is not None and not is_standard_output(file):
        write_pieces(file, pieces)
        return
    for piece in pieces:
        typer.echo(piece, nl=False)


def write_table(file: str | None, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table to a file, by its ending as CSV, TSV or Parquet, or to standard output as CSV."""
    from xordal.data import tables_out
    from xordal.data.write import csv_pieces, is_standard_output

    if file is None or is_standard_output(file):
        write(file, csv_pieces(names, rows))
    else:
        tables_out.write_table(file, names, rows)


def check_table_name(file: str | None, *inputs: str, option: str = "-o") -> None:
    """Refuse a name as :func:`check_name` does, and an ending of which no table is written."""
    from xordal.data.tables_out import table_format

    check_name(file, *inputs, option=option)
    if file is not None:
        table_format(file)


def tell(what: str, file: str | None) -> None:
    """Say what a file got, if it is one."""
    from xordal.cli.screen import notes
    from xordal.data.write import is_standard_output
    from xordal.formats.text import shown

    if file is not None and not is_standard_output(file):
        notes().print(f"Wrote {what} to {shown(file)}", soft_wrap=True)


def tell_rules_left_out(network: Network) -> None:
    """Say in words which rules of a network its tables do not hold."""
    from xordal.cli.screen import notes
    from xordal.formats.left_out import left_out_lines

    for number, line in enumerate(left_out_lines(network)):
        notes().print(line if number else f"Note: {line}", soft_wrap=True)


def check_name(file: str | None, *inputs: str, option: str = "-o") -> None:
    """Refuse the name of a file that cannot be one, or that is read from, before any work is done."""
    from xordal.cli.pipes import promise
    from xordal.data.write import is_standard_output
    from xordal.errors import DataError

    if file is None:
        return
    if file == "":
        raise typer.BadParameter(f"{option} needs the name of a file.")
    if Path(file).is_dir():
        raise DataError(f"{file!r} is a directory; {option} names a file in it.")
    if not Path(file).absolute().parent.is_dir():
        raise DataError(f"There is no directory {str(Path(file).parent)!r} to write {Path(file).name!r} into.")
    if not is_standard_output(file):
        promise()
    if Path(file).exists() and any(Path(one).exists() and Path(one).samefile(file) for one in inputs):
        raise typer.BadParameter(f"{option} would overwrite {file!r}, which is read from. Name another file.")


def check_network_name(file: str, to: str, *inputs: str, option: str = "-o") -> None:
    """Refuse a name as :func:`check_name` does, and that of the names beside a UAI file as well."""
    from xordal.formats.endings import NAMES

    read = (*inputs, *(f"{one}{NAMES}" for one in inputs))
    check_name(file, *read, option=option)
    if to.startswith("uai"):
        check_name(f"{file}{NAMES}", *read, option=option)


def check_model_name(file: str | None, *inputs: str) -> None:
    """Refuse a name no model file can have; standard output is where the result is printed."""
    from xordal.data.write import is_standard_output
    from xordal.formats.endings import learned_format

    check_name(file, *inputs)
    if file is not None and is_standard_output(file):
        raise typer.BadParameter("-o writes the model to a file of its own; name one, such as net.json.")
    if file is not None:
        check_network_name(file, learned_format(file), *inputs)
