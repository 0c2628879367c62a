"""``xordal tune``: a network for prediction, its settings chosen by rows held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xordal.cli import asking, output, reading, searching, stopping
from xordal.errors import XordalError

if TYPE_CHECKING:
    from xordal.data.reading import Reading
    from xordal.data.table import CategoricalTable
    from xordal.tuning.paths import TuningProgress
    from xordal.tuning.tune import Tuned


def tune(  # noqa: PLR0913 - one parameter per option or group of options
    data: reading.Data,
    *,
    valid: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Choose by the rows of this file instead of cross-validation; they are not learned from.",
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Folds of the cross-validation.", show_default="5")
    ] = None,
    max_links: Annotated[
        int | None,
        typer.Option("-k", "--max-links", min=1, show_default="chosen", help="How many links to try at once."),
    ] = None,
    smoothing: Annotated[str | None, searching.smoothing("chosen")] = None,
    fill_in: Annotated[bool | None, searching.fill_in("fill-in")] = None,
    prune: Annotated[bool | None, searching.prune("prune")] = None,
    local_search: Annotated[bool, searching.local_search("no-local-search")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes to try settings in.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers that make the folds.")] = 0,
    limits: stopping.LimitOptions,
    how: reading.TableOptions,
    result: output.NetworkOptions,
) -> None:
    """Learn a network for prediction: settings are chosen by rows held out.

    Penalties of BIC, links to look ahead and smoothings are tried; those are kept under which rows that were
    not learned from are the most probable. Then the network is learned from all rows of DATA. Many weak links
    that no test would accept can help to predict; to find out what depends on what, use xordal learn.

    Examples: xordal tune survey.csv -o net.json; xordal tune train.csv --valid valid.csv --workers 4
    """
    if valid is not None and folds is not None:
        raise typer.BadParameter(
            "give --valid or --folds, not both: rows of a file judge, or folds of the data."
        )
    if valid == data == "-":
        raise typer.BadParameter("standard input holds one table; name the file of the other.")
    given: dict[str, Any] = {
        "links": None if max_links is None else (max_links,),
        "smoothings": None if smoothing is None else (asking.smoothing_of(smoothing),),
        "folds": folds,
    }
    if limits.counting.backend == "dask":
        raise typer.BadParameter("--backend dask is for learn and scan; tune tries settings on rows in memory.")
    result.check(data, *([] if valid is None else [valid]))
    settings = {
        **{name: value for name, value in given.items() if value is not None},
        "seed": seed,
        "workers": workers,
        "limits": limits.limits(),
        "backend": limits.counting.backend,
        "fill_in": fill_in,
        "prune": prune,
        "local_search": local_search,
    }
    reading_of_both = how.reading()
    table = reading.read_for_learning(data, reading_of_both, is_quiet=result.quiet)
    if result.is_plain:
        reading.tell_size(data, table)
    judges = None if valid is None else _valid_table(valid, reading_of_both, table)
    _run(table, valid, {**settings, "valid": judges}, result)


def _valid_table(file: str, how: Reading, table: CategoricalTable) -> CategoricalTable:
    """Read the rows to judge by as the others were read."""
    from xordal.data.discretise import Binning
    from xordal.data.missing import MISSING_LEVEL
    from xordal.data.read import read

    # Numbers go into the bins of the others later, and what is missing into the level that the others have.
    has_level = any(MISSING_LEVEL in levels for levels in table.levels)
    missing = how.missing if how.missing != "auto" else "level" if has_level else "drop"
    as_they_are = replace(
        how,
        columns=table.names,
        exclude=(),
        missing=missing,
        bins=Binning(),
        merge_rare=0,
        categorical=table.names,
    )
    try:
        return read(file, as_they_are, lambda suspects: ())
    except XordalError as wrong:
        name = reading.label_of(file)
        raise wrong if name in str(wrong) else type(wrong)(f"{name}: {wrong}") from None


def _run(
    table: CategoricalTable, valid: str | None, settings: dict[str, Any], result: output.NetworkOptions
) -> None:
    """Tune, print what was tried and learned, and write the model; after Ctrl-C, the best so far."""
    from xordal.cli import screen
    from xordal.tuning.tune import TuningInterrupted
    from xordal.tuning.tune import tune as choose

    tuned, interrupted = None, False
    with _progress(result.quiet) as tell, stopping.terminable() as signals:
        try:
            tuned = choose(table, on_progress=tell, **settings)
        except TuningInterrupted as stop:
            tuned, interrupted = stop.tuned, True
    if tuned is not None:
        result.save(tuned.network)
        if result.is_plain:
            screen.print_lines(screen.output(), _lines(tuned, valid))
        result.show(tuned.learned, {})
        if not tuned.is_complete:
            why = "Interrupted" if interrupted else "A limit was reached"
            screen.notes().print(f"{why}: these are the best settings so far.")
    if interrupted:
        if tuned is None:
            screen.notes().print("Interrupted before one setting was tried.")
        raise stopping.exit_of(signals)


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
