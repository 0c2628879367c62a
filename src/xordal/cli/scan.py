"""``xordal scan``: all sets of a few columns, ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import reading, stopping
from xordal.types.choices import RankBy

if TYPE_CHECKING:
    from xordal.scanning import Scanned


def scan(  # noqa: PLR0913 - one parameter per option or group of options
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
        RankBy,
        typer.Option(help="interaction: what no smaller set of the columns shows; total: all they share."),
    ] = "interaction",
    time_limit: Annotated[
        str | None,
        typer.Option(help="Stop after this time and keep the best so far: 90, 90s, 5m or 1h.", metavar="TIME"),
    ] = None,
    counting: stopping.CountingOptions,
    how: reading.TableOptions,
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

    counting.check()
    interrupted = False
    with counting.counting() as backend:
        table = reading.read_for_learning(data, how.reading(), is_quiet=quiet, backend=backend)
        with screen.scanning(quiet) as tell, stopping.terminable() as signals:
            try:
                scanned = scan_sets(
                    table,
                    order,
                    top,
                    target=target,
                    by=by,
                    threads=counting.threads,
                    backend=backend,
                    time_limit=stopping.seconds_in(time_limit),
                    on_progress=tell,
                    notice=lambda line: None if quiet else screen.note(line),
                )
            except ScanInterrupted as stop:
                scanned, interrupted = stop.scanned, True
    _print_sets(scanned, as_json, quiet)
    share = scanned.n_scanned / max(scanned.n_sets, 1)
    if scanned.stopped_by == "time limit":
        screen.notes().print(f"Out of time after {share:.0%} of the sets: these are the best of them.")
    if interrupted:
        screen.notes().print(f"Interrupted after {share:.0%} of the sets: these are the best of them.")
        raise stopping.exit_of(signals)


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
