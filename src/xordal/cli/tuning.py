"""``xordal learn --tune``: its options, what they exclude, and the tuning with progress."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xordal.cli import output, reading, stopping
from xordal.errors import XordalError

if TYPE_CHECKING:
    from xordal.data.read import Reading
    from xordal.data.table import CategoricalTable
    from xordal.tuning.paths import TuningProgress
    from xordal.tuning.tune import Tuned

PANEL = "Prediction"

Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Learn for prediction: choose BIC's penalty, -k and --smoothing by rows held out, unless given.",
        rich_help_panel=PANEL,
    ),
]
Valid = Annotated[
    str | None,
    typer.Option(
        "--valid",
        metavar="FILE",
        help="Choose by the rows of this file instead of cross-validation; they are not learned from.",
        rich_help_panel=PANEL,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--folds", min=2, help="Folds of the cross-validation.", show_default="5", rich_help_panel=PANEL
    ),
]


def check(is_tuning: bool, data: str, valid: str | None, folds: int | None, others: dict[str, bool]) -> None:
    """Refuse options that do not go together; ``others`` says which of those that exclude --tune were given."""
    if not is_tuning:
        if valid is not None or folds is not None:
            raise typer.BadParameter("--valid and --folds say how to judge settings: they need --tune.")
        return
    if given := [name for name, is_given in others.items() if is_given]:
        raise typer.BadParameter(
            f"--tune chooses by BIC how the network is learned; it does not go with {' or '.join(given)}."
        )
    if valid is not None and folds is not None:
        raise typer.BadParameter(
            "give --valid or --folds, not both: rows of a file judge, or folds of the data."
        )
    if valid == data == "-":
        raise typer.BadParameter("standard input holds one table; name the file of the other.")


def valid_table(file: str, how: Reading, table: CategoricalTable) -> CategoricalTable:
    """Read the rows to judge by as the others were read; numbers go into the bins of the others later."""
    from xordal.data.read import read

    as_they_are = replace(
        how, columns=table.names, exclude=(), bins=None, merge_rare=0, categorical=table.names
    )
    try:
        return read(file, as_they_are, lambda suspects: ())
    except XordalError as wrong:
        name = reading.label_of(file)
        raise wrong if name in str(wrong) else type(wrong)(f"{name}: {wrong}") from None


def run(
    table: CategoricalTable,
    *,
    judged_by: tuple[str | None, CategoricalTable | None],
    to: str | None,
    as_json: bool,
    quiet: bool,
    settings: dict[str, Any],
) -> None:
    """Tune, print what was tried and learned, and write the model; after Ctrl-C, the best so far."""
    from xordal.cli import screen
    from xordal.tuning.tune import TuningInterrupted, tune

    tuned, interrupted = None, False
    with _progress(quiet) as tell, stopping.terminable() as signals:
        try:
            tuned = tune(table, valid=judged_by[1], on_progress=tell, **settings)
        except TuningInterrupted as stop:
            tuned, interrupted = stop.tuned, True
    if tuned is not None:
        _print(tuned, judged_by[0], as_json, quiet)
        if to is not None:
            tuned.network.save(to)
            if not quiet:
                output.tell("the network", to)
        if not tuned.is_complete:
            why = "Interrupted" if interrupted else "A limit was reached"
            screen.notes().print(f"{why}: these are the best settings so far.")
    if interrupted:
        if tuned is None:
            screen.notes().print("Interrupted before one setting was tried.")
        raise typer.Exit(128 + (signals[0] if signals else signal.SIGINT))


def _print(tuned: Tuned, valid: str | None, as_json: bool, quiet: bool) -> None:
    import json

    from xordal.cli import screen
    from xordal.formats.json import to_json
    from xordal.formats.text import link_text

    if as_json:
        typer.echo(json.dumps(to_json(tuned.learned), indent=2))
    elif quiet:
        for link in tuned.learned.links:
            typer.echo(link_text(tuned.learned.names(link)))
    else:
        screen.print_lines(screen.output(), _lines(tuned, valid))
        screen.print_network(screen.output(), tuned.learned)


def _lines(tuned: Tuned, valid: str | None) -> Sequence[str]:
    from xordal.errors import counted
    from xordal.formats.shown import shown
    from xordal.model.smoothing import smoothing_text
    from xordal.tuning.record import tuning_lines

    best, rows = tuned.best, counted(tuned.n_held_out, "row")
    by = f"{tuned.n_folds} folds of {rows}" if valid is None else f"{rows} of {shown(reading.label_of(valid))}"
    smoothing = smoothing_text(best.smoothing)
    return [
        f"Judged by {by}, {counted(len(tuned.trials), 'setting')}; each line has its best smoothing",
        *tuning_lines(tuned.trials, best),
        f"Chosen (*): -k {best.max_links}, penalty {best.penalty:g}, smoothing {smoothing}",
    ]


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[TuningProgress], None]]:
    """Show a bar on standard error while settings are tried; yield what to tell of progress."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from xordal.cli.screen import notes

    console = notes()
    told = TextColumn("{task.description}", markup=False)
    columns = (told, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    silent = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("trying settings", total=None)

        def tell(at: TuningProgress) -> None:
            best = "" if at.best is None else f"; best {at.best.log_likelihood:.4f}"
            bar.update(task, description=f"trying settings{best}", total=at.n_most, completed=at.n_done)

        yield tell
