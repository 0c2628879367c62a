"""``xordal learn``: a table in, a network out."""

from __future__ import annotations

import signal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xordal.cli import asking, criteria, output, reading, stability, stopping, tuning

if TYPE_CHECKING:
    from xordal.data.table import CategoricalTable
    from xordal.model.smoothing import Smoothing
    from xordal.types import Learned, Stability


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


def learn(  # noqa: PLR0913, PLR0915 - one parameter per option, and what does not go with what
    data: reading.Data,
    *,
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
    alpha: criteria.Alpha = None,
    delta_h: criteria.DeltaH = None,
    bic: criteria.Bic = False,
    ebic: criteria.Ebic = False,
    schedule: Annotated[
        ScheduleChoice | None,
        typer.Option(
            show_default="printed",
            help="printed: the paper's pseudo-code; as_run: the run behind its tables; straightforward: no "
            "backtracking; single: single links only, as common learners do.",
        ),
    ] = None,
    fill_in: Annotated[
        bool | None,
        typer.Option(
            "--fill-in/--no-fill-in",
            help="Try sets whose links would break chordality too, together with the links that mend it.",
            show_default="unless --delta-h or --schedule is given",
        ),
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--no-prune",
            help="Take out links that later ones have made idle.",
            show_default="unless --delta-h or --schedule is given",
        ),
    ] = None,
    local_search: Annotated[
        bool | None,
        typer.Option(
            "--local-search/--no-local-search",
            help="For a score: go on with sequences of links that come and go, until none improves it.",
            show_default="with --bic and --ebic, unless --schedule or --no-prune is given",
        ),
    ] = None,
    engine: Annotated[
        EngineChoice, typer.Option(help="fast, or reference: the paper line by line, slow.")
    ] = EngineChoice.fast,
    time_limit: stopping.TimeLimit = None,
    memory_limit: stopping.MemoryLimit = None,
    checkpoint: stopping.CheckpointFile = None,
    resume: stopping.Resume = False,
    threads: stopping.Threads = None,
    resamples: stability.Resamples = 0,
    workers: stability.Workers = 1,
    seed: stability.Seed = 0,
    is_tuning: tuning.Tune = False,
    valid: tuning.Valid = None,
    folds: tuning.Folds = None,
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
    to: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Also write the network to this model file, for xordal query etc.",
        ),
    ] = None,
    smoothing: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            show_default="1",
            help="Smoothing of the model's tables: rows spread evenly, 0 for tables as counted, or "
            "backoff:ROWS borrowed from smaller margins.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the links only, one a line, and no progress.")
    ] = False,
) -> None:
    """Learn a network from a table, hidden groups included.

    A set of links is learned when it is significant among all that is looked at (--alpha). Every column is
    taken as categorical; one that looks continuous is refused until --bins says how to cut it, one that looks
    like an identifier is left out. With -k 3 (the default) groups of three variables that are
    pairwise independent are found, and larger ones whose parts show first; a group of m independent-looking
    variables needs -m M.

    Examples: xordal learn survey.csv; xordal learn titanic.csv --weights Freq; xordal learn box.csv -k 3 --json
    """
    from xordal.cli import screen
    from xordal.errors import counted
    from xordal.formats.text import shown, weakness
    from xordal.learning import Interrupted
    from xordal.learning import learn as learn_network
    from xordal.search.checkpoint import Checkpoint
    from xordal.search.limits import Limits

    if max_links is not None and max_variables is not None:
        raise typer.BadParameter("give -k or -m, not both: m variables are m(m-1)/2 links.")
    stopping.check_resume(resume, checkpoint)
    criterion = criteria.criterion_of(alpha, delta_h, bic, ebic)
    how_smooth = asking.smoothing_of("1" if smoothing is None else smoothing)
    excluded = {
        "--alpha": alpha is not None,
        "--delta-h": delta_h is not None,
        "--bic": bic,
        "--ebic": ebic,
        "-m": max_variables is not None,
        "--schedule": schedule is not None,
        "--engine reference": engine is EngineChoice.reference,
        "--checkpoint": checkpoint is not None,
        "--bootstrap": resamples > 0,
    }
    tuning.check(is_tuning, data, valid, folds, excluded)
    output.check_model_name(to, data, *([] if valid is None else [valid]))
    limits = Limits(
        time_limit=stopping.seconds_in(time_limit),
        memory_limit=stopping.bytes_in(memory_limit),
        threads=threads,
    )
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
    is_plain, interrupted = not as_json and not quiet, False
    if is_plain:
        size = f"{counted(table.n_rows, 'row')}, {counted(table.n_variables, 'column')}"
        screen.notes().print(f"{shown(reading.label_of(data))}: {size}\n")
    if is_tuning:
        tuning.run(
            table,
            judged_by=(valid, None if valid is None else tuning.valid_table(valid, how, table)),
            to=to,
            as_json=as_json,
            quiet=quiet,
            settings={
                **({} if max_links is None else {"links": (max_links,)}),
                **({} if smoothing is None else {"smoothings": (how_smooth,)}),
                **({} if folds is None else {"folds": folds}),
                "seed": seed,
                "workers": workers,
                "limits": limits,
                "fill_in": fill_in,
                "prune": prune,
                "local_search": local_search,
            },
        )
        return
    settings: dict[str, Any] = {
        "max_links": max_links,
        "max_variables": max_variables,
        "criterion": criterion,
        "schedule": None if schedule is None else schedule.value,
        "fill_in": fill_in,
        "prune": prune,
        "local_search": local_search,
        "engine": engine.value,
    }
    with screen.watching(quiet) as (console, tell), stopping.terminable() as signals:
        has_p_values = alpha is not None or (criterion is None and engine is EngineChoice.fast)
        compared = screen.P_VALUE if has_p_values else screen.chance(table.n_rows)
        numbers = (screen.STEP, screen.LOOKAHEAD, screen.GAIN, compared, screen.GRAPHS_TESTED)
        rows = screen.TraceTable(console, table.names, numbers)
        try:
            learned = learn_network(
                table,
                **settings,
                limits=limits,
                checkpoint=None if checkpoint is None else Checkpoint(checkpoint, resume),
                on_entry=rows.add if is_plain else lambda entry: None,
                on_progress=tell,
                notice=lambda line: None if quiet else screen.notes().print(f"Note: {line}"),
            )
        except Interrupted as stop:
            learned, interrupted = stop.learned, True
    again = None
    if resamples and not interrupted and learned.run.stopped_by is None:
        with stopping.terminable() as later:
            again = stability.of(table, resamples, seed, workers, quiet, settings)
        signals.extend(later)
        interrupted = again is None
    _print_result(learned, as_json, quiet, again)
    if to is not None:
        save_learned(to, table, learned, how_smooth, quiet=quiet)
    if not quiet and (warning := weakness(learned)):
        screen.notes().print(f"\nWarning: {warning}")
    if interrupted or learned.run.stopped_by is not None or learned.submodels is None:
        limit = {"time limit": time_limit, "memory limit": memory_limit}.get(learned.run.stopped_by or "")
        by = learned.run.stopped_by
        screen.notes().print(stopping.why_stopped(by, limit, checkpoint, is_interrupted=interrupted))
    if interrupted:
        raise typer.Exit(128 + (signals[0] if signals else signal.SIGINT))


def save_learned(
    file: str, table: CategoricalTable, learned: Learned, smoothing: Smoothing, *, quiet: bool
) -> None:
    """Write what was learned to a model file."""
    from xordal.learning import fit_network

    fit_network(table, learned, smoothing=smoothing).save(file)
    if not quiet:
        output.tell("the network", file)


def _print_result(learned: Learned, as_json: bool, quiet: bool, again: Stability | None) -> None:
    import json

    from xordal.cli import screen
    from xordal.formats.json import to_json
    from xordal.formats.stability import stability_lines, stability_to_json
    from xordal.formats.text import link_text

    if as_json:
        more = {} if again is None else {"bootstrap": stability_to_json(again, learned)}
        typer.echo(json.dumps(to_json(learned) | more, indent=2))
    elif quiet:
        for link in learned.links:
            typer.echo(link_text(learned.names(link)))
    else:
        screen.print_network(screen.output(), learned)
        if again is not None:
            screen.print_lines(screen.output(), ["", *stability_lines(again, learned)])
