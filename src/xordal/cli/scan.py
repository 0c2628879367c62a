"""``xordal scan``: all sets of a few columns, ranked."""

from __future__ import annotations

import signal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import reading, stopping

if TYPE_CHECKING:
    from xordal.scanning import Scanned


class RankChoice(StrEnum):
    """What sets are ranked by, as the command line offers it."""

    interaction = "interaction"
    total = "total"


def scan(  # noqa: PLR0913 - one parameter per option
    data: reading.Data,
    *,
    order: Annotated[
        int, typer.Option(min=2, help="Columns in a set: 2 for pairs, 3 for triples, 4 for quadruples.")
    ] = 3,
    top: Annotated[int, typer.Option(min=1, help="How many sets to print.")] = 20,
    target: Annotated[
        str | None,
        typer.Option(help="Only sets with this column, a phenotype or an outcome.", metavar="COL"),
    ] = None,
    by: Annotated[
        RankChoice,
        typer.Option(help="interaction: what no smaller set of the columns shows; total: all they share."),
    ] = RankChoice.interaction,
    threads: stopping.Threads = None,
    time_limit: stopping.TimeLimit = None,
    weights: reading.Weights = None,
    columns: reading.Columns = None,
    exclude: reading.Exclude = None,
    categorical: reading.Categorical = None,
    bins: reading.BinCount = None,
    bin_by: reading.BinBy = reading.BinByChoice.quantile,
    merge_rare: reading.MergeRare = 0,
    missing: reading.Missing = reading.MissingChoice.error,
    missing_tokens: reading.MissingTokens = None,
    delimiter: reading.Delimiter = None,
    header: reading.Header = None,
    encoding: reading.Encoding = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the sets only, one a line, and no progress.")
    ] = False,
) -> None:
    """Rank all pairs, triples or larger sets of columns by what they share.

    No network is learned: each set is looked at by itself. The interaction of a set is what its columns share
    and no smaller set of them shows; XOR is all interaction. The p-value is corrected for all sets looked at.

    Examples: xordal scan snps.csv --target disease; xordal scan box.csv --order 4 --top 5
    """
    from xordal.cli import screen
    from xordal.scanning import ScanInterrupted
    from xordal.scanning import scan as scan_sets

    how = reading.reading_of(
        columns=columns,
        exclude=exclude,
        weights=weights,
        missing=missing,
        bins=(bins, bin_by),
        merge_rare=merge_rare,
        categorical=categorical,
        text=(delimiter, header, encoding, missing_tokens),
    )
    table = reading.read_for_learning(data, how, is_quiet=quiet)
    interrupted = False
    with screen.scanning(quiet) as tell, stopping.terminable() as signals:
        try:
            scanned = scan_sets(
                table,
                order,
                top,
                target=target,
                by=by.value,
                threads=threads,
                time_limit=stopping.seconds_in(time_limit),
                on_progress=tell,
                notice=lambda line: None if quiet else screen.notes().print(f"Note: {line}"),
            )
        except ScanInterrupted as stop:
            scanned, interrupted = stop.scanned, True
    _print_sets(scanned, as_json, quiet)
    share = scanned.n_scanned / max(scanned.n_sets, 1)
    if scanned.stopped_by == "time limit":
        screen.notes().print(f"Out of time after {share:.0%} of the sets: these are the best of them.")
    if interrupted:
        screen.notes().print(f"Interrupted after {share:.0%} of the sets: these are the best of them.")
        raise typer.Exit(128 + (signals[0] if signals else signal.SIGINT))


def _print_sets(scanned: Scanned, as_json: bool, quiet: bool) -> None:
    import json

    from xordal.cli import screen
    from xordal.formats.ranked import ranked_lines, scanned_to_json
    from xordal.formats.text import shown

    if as_json:
        typer.echo(json.dumps(scanned_to_json(scanned), indent=2))
    elif quiet:
        for found in scanned.sets:
            typer.echo(" | ".join(shown(name) for name in scanned.names(found.variables)))
    else:
        screen.print_lines(screen.output(), ranked_lines(scanned))
