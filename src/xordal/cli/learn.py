"""``xordal learn``: a table in, a network out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xordal.cli import asking, constraining, criteria, output, reading, searching, stability, stopping
from xordal.types.choices import EngineName, HiddenBy, ScheduleName

if TYPE_CHECKING:
    from xordal.data.table import CategoricalTable
    from xordal.types.learned import Learned, Stability

_UNLESS_PAPER = "on, unless --delta-h or --schedule is given"


def learn(  # noqa: PLR0913 - one parameter per option or group of options
    data: reading.Data,
    *,
    max_links: Annotated[
        int | None,
        typer.Option("-k", "--max-links", min=1, show_default="3", help="How many links to try at once."),
    ] = None,
    max_variables: Annotated[
        int | None,
        typer.Option(
            "-m", "--max-variables", min=2, help="Instead of -k: largest group of variables to find at once."
        ),
    ] = None,
    criterion: criteria.CriterionOptions,
    schedule: Annotated[
        ScheduleName | None,
        typer.Option(
            show_default="printed",
            help="printed: the paper's pseudo-code; as_run: the run behind its tables; straightforward: no "
            "backtracking; single: single links only, as common learners do.",
        ),
    ] = None,
    fill_in: Annotated[bool | None, searching.fill_in(_UNLESS_PAPER)] = None,
    prune: Annotated[bool | None, searching.prune(_UNLESS_PAPER)] = None,
    local_search: Annotated[
        bool | None,
        searching.local_search("on with --bic, --ebic and --bdeu, unless --schedule or --no-prune is given"),
    ] = None,
    rules: Annotated[
        bool | None,
        typer.Option(
            "--rules/--no-rules",
            help="Look for sums of any number of columns too (check digits, parities), and make them part of "
            "the network.",
            show_default=_UNLESS_PAPER,
        ),
    ] = None,
    engine: Annotated[
        EngineName, typer.Option(help="fast, or reference: the paper line by line, slow.")
    ] = "fast",
    hidden_by: Annotated[
        HiddenBy,
        typer.Option(
            help="How hidden groups are told: by size, the share of what they have in common that no pair "
            "shows; or by the letter of the definitions, a pair being independent unless a test shows that it "
            "is not."
        ),
    ] = "size",
    target: Annotated[
        str | None,
        typer.Option(
            help="Print the network around this column: the columns linked with it, given which no other says "
            "more about it, and the hidden groups that hold it. The whole network is learned and written.",
            metavar="COL",
        ),
    ] = None,
    known: constraining.ConstraintOptions,
    limits: stopping.LimitOptions,
    checkpoint: stopping.CheckpointOptions,
    bootstrap: stability.BootstrapOptions,
    how: reading.TableOptions,
    smoothing: Annotated[str, searching.smoothing("1")] = "1",
    result: output.NetworkOptions,
) -> None:
    """Learn a network from a table, hidden groups included.

    A link (edge) joins two columns that depend on each other. A set of links is learned when each column in
    it is needed, significantly so among all sets looked at (--alpha): no column that depends on nothing is
    linked, but two may be linked because both depend on a third. Every column is taken as categorical:
    numbers are cut into bins, dates and identifiers are left out, and what was done is said. With -k 3 (the
    default) groups of three variables that are pairwise independent are found, and larger ones whose parts
    show first; a group of m independent-looking variables needs -m M. To learn for prediction, see xordal
    tune.

    Examples: xordal learn survey.csv; xordal learn titanic.csv --weights Freq; xordal learn box.csv -k 3 --json
    """
    from xordal.formats.around import check_target
    from xordal.learning.fitting import fit_network

    if max_links is not None and max_variables is not None:
        raise typer.BadParameter("give -k or -m, not both: m variables are m(m-1)/2 links.")
    settings: dict[str, Any] = {
        "max_links": max_links,
        "max_variables": max_variables,
        "criterion": criterion.criterion(),
        "schedule": schedule,
        "fill_in": fill_in,
        "prune": prune,
        "local_search": local_search,
        "engine": engine,
        "hidden_by": hidden_by,
    }
    smoothed = asking.smoothing_of(smoothing)
    result.check(data)
    bounds = replace(limits.limits(), max_clique=known.max_clique)
    once = {"find_rules": rules, "limits": bounds, "checkpoint": checkpoint.checkpoint()}
    with limits.counting.counting() as backend:
        table = reading.read_for_learning(data, how.reading(), is_quiet=result.quiet, backend=backend)
        settings["constraints"] = known.constraints(table.names)
        if target is not None:
            check_target(target, table.names)
        if result.is_plain:
            reading.tell_size(data, table)
        with stopping.terminable() as signals:
            learned, interrupted = _watched(table, {**settings, **once, "backend": backend}, result)
            again = None
            if bootstrap.resamples and not interrupted and learned.run.stopped_by is None:
                here = "auto" if limits.counting.backend == "dask" else limits.counting.backend
                again = stability.of(table, bootstrap, result.quiet, {**settings, "backend": here})
                interrupted = again is None
    if result.to is not None:  # first of all, so that nothing is lost whatever happens to the screen
        result.save(fit_network(table, learned, smoothing=smoothed))
    _print_result(learned, result, again, target)
    _tell_doubts(learned, limits, checkpoint, result, is_interrupted=interrupted)
    if interrupted:
        raise stopping.exit_of(signals)


def _watched(
    table: CategoricalTable, settings: dict[str, Any], result: output.NetworkOptions
) -> tuple[Learned, bool]:
    """Learn, each step printed as it is learned; return what was learned, and whether Ctrl-C ended it."""
    from xordal.cli import screen
    from xordal.learning.learn import Interrupted
    from xordal.learning.learn import learn as learn_network
    from xordal.statistics.significance import Significance

    with screen.watching(result.quiet) as (console, tell):
        criterion = settings["criterion"]
        is_default = criterion is None and settings["engine"] == "fast"
        has_p_values = is_default or isinstance(criterion, Significance)
        compared = screen.P_VALUE if has_p_values else screen.chance(table.n_rows)
        numbers = (screen.STEP, screen.LOOKAHEAD, screen.GAIN, compared, screen.GRAPHS_TESTED)
        rows = screen.TraceTable(console, table.names, numbers)
        try:
            learned = learn_network(
                table,
                **settings,
                on_entry=rows.add if result.is_plain else lambda entry: None,
                on_progress=tell,
                notice=lambda line: None if result.quiet else screen.note(line),
            )
        except Interrupted as stop:
            return stop.learned, True
    return learned, False


def _print_result(
    learned: Learned, result: output.NetworkOptions, again: Stability | None, target: str | None
) -> None:
    from xordal.cli import screen
    from xordal.formats.around import Around
    from xordal.formats.stability import stability_lines, stability_to_json

    more: dict[str, object] = {} if again is None else {"bootstrap": stability_to_json(again, learned)}
    around = None if target is None else Around.of(learned, target)
    if around is None:
        result.show(learned, more)
    elif result.as_json:
        result.show(learned, {**more, "target": around.to_json()})
    elif result.quiet:
        result.show(replace(learned, links=around.own), more)
    else:
        screen.print_lines(screen.output(), ["", *around.lines()])
    if again is not None and result.is_plain:
        screen.print_lines(screen.output(), ["", *stability_lines(again, learned)])


def _tell_doubts(
    learned: Learned,
    limits: stopping.LimitOptions,
    checkpoint: stopping.CheckpointOptions,
    result: output.NetworkOptions,
    *,
    is_interrupted: bool,
) -> None:
    """Say which steps chance may explain, and what ended the search before it was done."""
    from xordal.cli import screen
    from xordal.formats.effects import smallest_text
    from xordal.formats.text import weakness

    if not result.quiet and (warning := weakness(learned)):
        screen.notes().print(f"\nWarning: {warning}")
    if not result.quiet and result.is_plain and learned.links and (smallest := smallest_text(learned)):
        screen.notes().print(f"\nNote: smaller effects may be missed. {smallest.rstrip('.')}.")
    by = learned.run.stopped_by
    if is_interrupted or by is not None or learned.submodels is None:
        limit = limits.of(by)
        screen.notes().print(stopping.why_stopped(by, limit, checkpoint.file, is_interrupted=is_interrupted))
