"""learn(table) -> Learned: what is told first, the search, and what is looked for after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from xordal import reference
from xordal.counting.select import Backend, as_read_by
from xordal.counting.threads import interruptible
from xordal.data.entering import table_from
from xordal.data.reading import ReadingOptions
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.learning.groups import announcement, with_groups
from xordal.learning.known import Known
from xordal.learning.ranges import gain_ranges
from xordal.learning.rules import seeks_rules, with_rules
from xordal.pi.joint import Joint
from xordal.scanning.cost import time_text
from xordal.search.checkpoint import Checkpoint, Journal
from xordal.search.collector import rarely_collected
from xordal.search.constraints import ALL_ALLOWED, Constraints, allowed_by
from xordal.search.driver import GoOn, Progress, Search
from xordal.search.limits import Limits, Stopped, Watch
from xordal.search.plan import Plan
from xordal.search.problem import Problem
from xordal.search.refine.local import LocalSearch
from xordal.search.refine.prune import Pruner
from xordal.search.time_left import TimeLeft
from xordal.statistics.criterion import Criterion, EntropyDecrement
from xordal.statistics.significance import Significance
from xordal.types.choices import EngineName, HiddenBy, Phase, ScheduleName, StoppedBy
from xordal.types.learned import Learned
from xordal.types.trace import SearchRun, TraceEntry, links_after
from xordal.types.varsets import members

_NO_MATTER = {"time_limit", "memory_limit", "threads"}  # settings that do not change what a search finds


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search; ``learned`` is the network learned until then."""

    def __init__(self, learned: Learned) -> None:
        super().__init__("the search was interrupted; .learned holds the network learned so far")
        self.learned = learned


def learn(  # noqa: PLR0912, PLR0913 - all but the data are keyword-only; each way to end is a branch
    source: Any,
    *,
    max_links: int | None = None,
    max_variables: int | None = None,
    criterion: Criterion | None = None,
    schedule: ScheduleName | None = None,
    fill_in: bool | None = None,
    prune: bool | None = None,
    local_search: bool | None = None,
    engine: EngineName = "fast",
    backend: str | Backend = "auto",
    constraints: Constraints | None = None,
    limits: Limits | None = None,
    checkpoint: Checkpoint | None = None,
    find_groups: bool = True,
    find_rules: bool | None = None,
    hidden_by: HiddenBy = "size",
    on_entry: Callable[[TraceEntry], None] = lambda entry: None,
    on_progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
    **reading: Unpack[ReadingOptions],
) -> Learned:
    """Learn a decomposable Markov network by multi-link lookahead search.

    Parameters
    ----------
    source
        A table, or anything :func:`xordal.read_table` takes: a data frame, an array, a file. Or an exact joint
        distribution, to learn without sampling.
    max_links
        Largest number of links to look ahead, the paper's k; 3 unless ``max_variables`` is given.
    max_variables
        Largest group of variables to complete at once, instead of ``max_links``: m variables need a
        lookahead of up to m(m-1)/2 links.
    criterion
        Ranks and accepts link sets; ``Significance(0.05)`` by default, and ``EntropyDecrement(0.004)``, the
        paper's, with the reference engine.
    schedule
        ``"printed"`` (the paper's pseudo-code), ``"as_run"`` (the run behind its tables), ``"straightforward"``
        (no backtracking) or ``"single"`` (single links only).
    fill_in
        Whether link sets that break chordality are candidates together with fill-in links that keep it; by
        default where neither the paper's criterion nor one of its schedules is named.
    prune
        Whether to take out links that later ones have made idle, in turn with the search; by default where
        neither the paper's criterion nor one of its schedules is named.
    local_search
        Whether to go on, for a score (BIC, EBIC, BDeu), with sequences of links that come and go until none
        improves it, and to the best network of all where there are at most 8 columns; by default where links
        are taken out by default and ``prune`` is not False.
    engine
        ``"fast"``, or ``"reference"``: the paper line by line, slow, the specification of the other.
    backend
        Who counts: ``"auto"``, ``"numpy"``, ``"numba"``, ``"gpu"``, ``"blocks"`` or ``"dask"``, or a
        :class:`~xordal.counting.select.Backend` of your own. What is learned does not depend on it.
    constraints
        Links that must or must not be learned; required ones come first in the trace, with lookahead 0.
    limits
        Largest clique, longest time, most memory; a search that reaches one of the latter two returns what it
        has learned.
    checkpoint
        A file to write each step down in, so that a search that is killed can go on where it was.
    find_groups
        Whether to look for hidden groups in the cliques, once they are learned; without, ``submodels`` is None.
    find_rules
        Whether to look for additive rules too: parities, check digits and other sums of any number of columns
        (:mod:`xordal.rules`). Those that no hidden group tells already follow the links in the trace. By
        default where hidden groups are looked for and neither the paper's criterion nor one of its schedules is
        named.
    hidden_by
        How groups are told in rows: ``"size"``, by how much of what they share pairs explain, or ``"letter"``,
        by the paper's definitions, a pair being independent where no test shows that it depends. An exact joint
        is always taken by the letter.
    on_entry, on_progress
        Called with each learned link set, and every few thousand variable sets looked at.
    notice
        Called with a line of text when kernels are compiled, before a long search with what it will cost, and
        after five seconds with what is being done.
    reading
        How the source is read: ``missing``, ``bins``, ``weights``, ``columns``, ``exclude`` and the other words
        of :func:`xordal.read_table`. What looks like an identifier is left out, and numbers are cut into four
        bins, unless ``columns`` or ``categorical`` names the column, or ``bins`` says otherwise.

    Raises
    ------
    SettingsError
        If a parameter is out of range or two contradict each other.
    Interrupted
        On Ctrl-C, with the network learned so far.

    Examples
    --------
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> learned = learn(CategoricalTable.from_rows(["a", "b", "a_xor_b"], rows))
    >>> learned
    Learned from 100 rows of 3 columns: 3 links, 1 hidden group
      a, b, a_xor_b: 0 or 2 of the 3 columns have the value 1, in all rows (50.0 % by chance)
    >>> learned.query("a_xor_b", given={"a": 1, "b": 0})[1] > 0.95
    True
    """
    watch = Watch(limits if isinstance(limits, Limits) else Limits(), partial(_tell_long, notice))
    source = _read(source, reading, backend)
    plan = Plan.of(
        max_links=max_links,
        max_variables=max_variables,
        criterion=criterion,
        schedule=schedule,
        fill_in=fill_in,
        prune=prune,
        local_search=local_search,
        engine=engine,
        constraints=constraints,
        limits=limits,
    )
    with_rules_too = seeks_rules(find_rules, source, plan, is_default=find_groups and schedule is None)
    try:
        with interruptible():
            known = Known.of(source, plan, backend, notice, watch)
    except KeyboardInterrupt:
        raise Interrupted(_nothing(source, plan)) from None
    except Stopped as stopped:
        return _nothing(source, plan, stopped.by)
    allowed = allowed_by(known.variables, plan.constraints, plan.limits)
    if isinstance(plan.criterion, Significance):
        allowed = allowed.with_copies(len(known.variables), known.copies)
    judge = plan.criterion.on(known.sample(plan))
    if engine == "reference":
        if allowed != ALL_ALLOWED or plan.limits != Limits() or checkpoint is not None:
            raise SettingsError("The reference engine knows no constraints, no limits and no checkpoint.")
        run = _reference(source, plan, on_entry)
        graph = _graph(known, run)
    else:
        with _journal(checkpoint, source, plan) as journal:
            problem = known.problem(plan, judge, allowed, journal)
            search = Search(
                problem,
                plan.schedule,
                pruner=Pruner(problem, known.largest(plan)) if plan.prune else None,
                local=LocalSearch(problem) if plan.local_search else None,
                time_left=_time_left(known, problem, notice, plan),
                journal=journal,
                go_on=_going_on(known, problem, plan),
                on_entry=on_entry,
                on_progress=on_progress,
            )
            try:
                with interruptible(), rarely_collected():
                    run, graph = search.run(), search.graph
            except KeyboardInterrupt:
                run = search.so_far()
                raise Interrupted(_timed(_learned(known, _graph(known, run), run, plan), watch)) from None
    learned = _learned(known, graph, run, plan)
    say = notice or (lambda line: None)
    if find_groups and (line := announcement(learned.cliques)) is not None:
        say(line)
    watch.allow_what_follows()
    try:
        with interruptible(), rarely_collected():
            if find_groups:
                watch.phases.turn_to("hidden groups")
                learned = with_groups(known, graph, learned, plan, judge, hidden_by)
            if with_rules_too and run.is_complete and isinstance(source, CategoricalTable):
                watch.phases.turn_to("rules")
                learned = with_rules(source, graph, learned, plan, on_entry, watch.check)
    except Stopped as stopped:
        if watch.phases.now == "rules":
            say(f"The {stopped.by} was reached while looking for rules: not all of them may be told.")
    except KeyboardInterrupt:
        raise Interrupted(_timed(learned, watch)) from None
    return _timed(learned, watch)


def _going_on(known: Known, problem: Problem, plan: Plan) -> GoOn:
    """Return what raises the level as more is accepted, where the share of false sets is what alpha bounds."""
    criterion, judge = plan.criterion, problem.judge

    def go_on(trace: Sequence[TraceEntry]) -> tuple[Problem, Pruner | None] | None:
        nonlocal judge
        higher = None
        if isinstance(criterion, Significance):
            higher = criterion.next_judge(judge, trace, len(known.variables))
        if higher is None:
            return None
        judge = higher
        more = problem.at(judge)
        return more, Pruner(more, known.largest(plan)) if plan.prune else None

    return go_on


def _read(source: Any, reading: ReadingOptions, backend: str | Backend) -> CategoricalTable | Joint:
    """Return what is learned from."""
    if isinstance(source, CategoricalTable) and not reading:
        return source
    if not isinstance(source, Joint):
        return table_from(as_read_by(backend, source, reading), **reading)
    if reading:
        raise SettingsError(f"An exact joint is not read; leave {', '.join(reading)} out.")
    return source


def _timed(learned: Learned, watch: Watch) -> Learned:
    """Return what was learned with the time it took."""
    return replace(learned, run=replace(learned.run, phases=watch.phases.seconds()), seconds=watch.seconds)


_DOING: dict[Phase, str] = {
    "reading": "reading and preparing the table",
    "scanning": "looking at all sets of columns of one size",
    "scoring": "trying sets of links",
    "p-values": "testing sets of links",
    "fill-in": "trying links together with those that they need",
    "pruning": "looking for links that can go",
    "local search": "trying sequences of links that come and go",
    "hidden groups": "looking for hidden groups inside the network",
    "rules": "looking for rules",
}


def _tell_long(
    notice: Callable[[str], None] | None, phase: Phase, seconds: float, to_scan: float | None
) -> None:
    """Say, after some seconds, what is being done and how long it may take."""
    if notice is not None:
        rest = "The links are learned."
        if phase == "reading":
            rest = "The search comes after it."
        elif phase not in ("hidden groups", "rules"):
            rest = "How long it takes depends on how many links there are to find."
            if to_scan is not None:
                rest = (
                    f"Scans take about {time_text(to_scan)} more, by their pace; what follows them depends on"
                )
                rest += " how many links there are to find."
        notice(
            f"{seconds:.0f} seconds have passed; {_DOING[phase]} now. {rest} A time limit or Ctrl-C ends it "
            "with what is learned until then."
        )


def _journal(
    checkpoint: Checkpoint | None, source: CategoricalTable | Joint, plan: Plan
) -> AbstractContextManager[Journal | None]:
    """Open the checkpoint for this source and these settings."""
    if checkpoint is None:
        return nullcontext()
    if not isinstance(checkpoint, Checkpoint):
        raise SettingsError(f"checkpoint must be xordal.Checkpoint(path), not {checkpoint!r}.")
    if isinstance(source, Joint):
        raise SettingsError("A checkpoint is for searches in data; learning from an exact joint is quick.")
    settings = {name: value for name, value in plan.to_json().items() if name not in _NO_MATTER}
    return Journal(checkpoint, {**source.identity(), **settings})


def _reference(
    source: CategoricalTable | Joint, plan: Plan, on_entry: Callable[[TraceEntry], None]
) -> SearchRun:
    criterion, schedule = plan.criterion, plan.schedule
    if isinstance(source, Joint):
        raise SettingsError("The reference engine needs rows: learn from exact_table() or sample_table().")
    if not isinstance(criterion, EntropyDecrement):
        raise SettingsError("The reference engine knows only the paper's criterion, EntropyDecrement.")
    if plan.max_variables is not None:
        raise SettingsError("The reference engine knows only the paper's bound, max_links (k).")
    return reference.multi_link_search(
        source.rows(), schedule.max_links, criterion.delta_h, schedule.name, on_entry
    )


def _graph(known: Known, run: SearchRun) -> ChordalGraph:
    """Return the graph behind a trace, where no search has it: one that was interrupted may be a step ahead."""
    return ChordalGraph.empty(len(known.variables)).add(links_after(run.trace))


def _learned(known: Known, graph: ChordalGraph, run: SearchRun, plan: Plan) -> Learned:
    return Learned(
        variables=known.variables,
        links=graph.links,
        cliques=tuple(members(clique) for clique in maximal_cliques(graph)),
        run=run,
        settings=plan.to_json(),
        n_rows=known.n_rows,
        seconds=known.watch.seconds,
        copies=known.copies,
        gain_ranges=_ranges(known, run),
        levels=known.levels,
        table=known.source if isinstance(known.source, CategoricalTable) else None,
    )


def _ranges(known: Known, run: SearchRun) -> tuple[tuple[float, float] | None, ...]:
    """Return the ranges of what was gained; none of a search that was ended, so that nobody waits."""
    if known.counter is None or known.design is not None or not run.is_complete:
        return ()
    return gain_ranges(run.trace, known.n_levels, known.counter)


def _time_left(known: Known, problem: Problem, notice: Callable[[str], None] | None, plan: Plan) -> TimeLeft:
    try:
        with interruptible():
            found = known.time_left(problem, notice)
        known.watch.to_scan = lambda: found.seconds
        return found
    except Stopped:
        return TimeLeft(known.sets)  # the search stops by the same limit, with what it knows
    except KeyboardInterrupt:
        raise Interrupted(_timed(_nothing(known.source, plan), known.watch)) from None


def _nothing(source: CategoricalTable | Joint, plan: Plan, by: StoppedBy = "interruption") -> Learned:
    """Return what is known when a search ends before it has begun."""
    run = SearchRun((), 0, 0, 0, by)
    names, n_rows = (source.variables, None) if isinstance(source, Joint) else (source.names, source.n_rows)
    cliques = tuple((v,) for v in range(len(names)))
    table = source if isinstance(source, CategoricalTable) else None
    return Learned(names, (), cliques, run, plan.to_json(), n_rows, 0.0, table=table)
