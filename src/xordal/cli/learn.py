"""``xordal learn``: a CSV file in, a network out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xordal.types import Learned


class ScheduleChoice(StrEnum):
    """The schedules, as the command line offers them."""

    printed = "printed"
    as_run = "as_run"
    straightforward = "straightforward"
    single = "single"


class EngineChoice(StrEnum):
    """The engines, as the command line offers them."""

    fast = "fast"
    reference = "reference"


def learn(
    data: Annotated[
        Path, typer.Argument(help="CSV file; its first line names the columns.", metavar="DATA.csv")
    ],
    max_links: Annotated[
        int | None,
        typer.Option("-k", "--max-links", min=1, show_default="3", help="Links to look ahead (the paper's k)."),
    ] = None,
    max_variables: Annotated[
        int | None,
        typer.Option(
            "-m", "--max-variables", min=2, help="Instead of -k: largest group of variables to find at once."
        ),
    ] = None,
    delta_h: Annotated[
        float,
        typer.Option(
            "--delta-h", min=0.0, help="A link set must lower the entropy by more than this, in nats."
        ),
    ] = 0.004,
    schedule: Annotated[
        ScheduleChoice,
        typer.Option(
            help="printed: the paper's pseudo-code; as_run: the run behind its tables; straightforward: no "
            "backtracking; single: single links only, as common learners do."
        ),
    ] = ScheduleChoice.printed,
    engine: Annotated[
        EngineChoice, typer.Option(help="fast, or reference: the paper line by line, slow.")
    ] = EngineChoice.fast,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the links only, one a line, and no progress.")
    ] = False,
) -> None:
    """Learn a network from a CSV file, hidden groups included.

    Every column is taken as categorical. With -k 3 (the default) groups of three variables that are pairwise
    independent are found, and larger ones whose parts show first; a group of m independent-looking variables
    needs -m M.

    Examples: xordal learn survey.csv; xordal learn box.csv -k 3 --delta-h 0.004 --json
    """
    from xordal.cli import screen
    from xordal.data.read import read_csv
    from xordal.errors import counted
    from xordal.learning import Interrupted
    from xordal.learning import learn as learn_network
    from xordal.statistics.criterion import EntropyDecrement

    if max_links is not None and max_variables is not None:
        raise typer.BadParameter("give -k or -m, not both: m variables are m(m-1)/2 links.")
    criterion = EntropyDecrement(delta_h)
    table = read_csv(data)
    is_plain = not as_json and not quiet
    interrupted = False
    if is_plain:
        size = f"{counted(table.n_rows, 'row')}, {counted(table.n_variables, 'column')}"
        screen.notes().print(f"{screen.shown(data.name)}: {size}\n")
    with screen.watching(quiet) as (console, tell):
        columns = (
            screen.STEP,
            screen.LOOKAHEAD,
            screen.GAIN,
            screen.chance(table.n_rows),
            screen.GRAPHS_TESTED,
        )
        rows = screen.TraceTable(console, table.names, columns)
        try:
            learned = learn_network(
                table,
                max_links=max_links,
                max_variables=max_variables,
                criterion=criterion,
                schedule=schedule.value,
                engine=engine.value,
                on_entry=rows.add if is_plain else lambda entry: None,
                on_progress=tell,
            )
        except Interrupted as stop:
            learned, interrupted = stop.learned, True
        except KeyboardInterrupt:
            screen.notes().print(
                "Interrupted. The reference engine keeps no partial network; the fast one does."
            )
            raise typer.Exit(130) from None
    _print_result(learned, as_json, quiet)
    if interrupted:
        screen.notes().print("Interrupted: this is the network learned so far.")
        raise typer.Exit(130)


def _print_result(learned: Learned, as_json: bool, quiet: bool) -> None:
    import json

    from xordal.cli.screen import link_text, output, print_network
    from xordal.formats.json import to_json

    if as_json:
        typer.echo(json.dumps(to_json(learned), indent=2))
    elif quiet:
        for link in learned.links:
            typer.echo(link_text(learned.names(link)))
    else:
        print_network(output(), learned)
