"""learn(table) -> Learned: the one place that wires table, counting, criterion and search together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from math import comb, log
from time import perf_counter
from typing import Any

from xordal import reference
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CachedOracle, CellCounter, Scanner
from xordal.counting.plain import PlainScanner
from xordal.counting.select import Backend, backend_of, oracle_for
from xordal.counting.threads import interruptible
from xordal.data.copies import copies
from xordal.data.read import read_table
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.model.network import DecomposableMarkovNetwork, estimate
from xordal.model.placing import placed
from xordal.model.rule import NetworkRule
from xordal.model.smoothing import Smoothing
from xordal.pi.by_size import discover_by_size
from xordal.pi.colored import color, largest_size
from xordal.pi.discover import Data, discover
from xordal.pi.following import without_parts_of
from xordal.pi.independence import Independence
from xordal.pi.joint import Joint
from xordal.pi.measuring import measured_exactly
from xordal.rules.beside import rules_beside
from xordal.scanning.cost import cost_text, is_long, seconds_of, sets_to_scan
from xordal.search.checkpoint import Checkpoint, Journal
from xordal.search.constraints import FREE, Constraints, Rules, rules
from xordal.search.driver import Progress, Search
from xordal.search.limits import Limits, Stopped, Watch
from xordal.search.plan import Plan
from xordal.search.problem import Problem
from xordal.search.refine.local import LocalSearch
from xordal.search.refine.prune import Pruner
from xordal.statistics.criterion import Criterion, EntropyDecrement, Judge, Sample
from xordal.statistics.significance import Significance
from xordal.types import (
    AdditiveRule,
    EngineName,
    HiddenBy,
    Learned,
    LinkSet,
    ScheduleName,
    SearchRun,
    TraceEntry,
    links_after,
    members,
    varset,
)

_NO_MATTER = {"time_limit", "memory_limit", "threads"}  # settings that do not change what a search finds
_SETS_A_PAIR = 20  # counted for fill-in, about, in a network with many links
# Sets looked at for submodels: in one clique at most (all of nine variables, the small of more) and at least
# (all of six), and in all cliques together, about.
_MOST_SETS, _LEAST_SETS, _SETS_IN_ALL = 1000, 100, 5000
_ALPHA_OF_RULES = 0.05  # where the criterion has no level, of which rules could have their share
_MANY_SETS = 1000  # from which the look for hidden groups takes seconds and is announced


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search; ``learned`` is the network learned until then."""

    def __init__(self, learned: Learned) -> None:
        super().__init__("the search was interrupted; .learned holds the network learned so far")
        self.learned = learned


def learn(  # noqa: PLR0913 - all but the data are keyword-only, each with a default
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
        Who counts: ``"auto"``, ``"numpy"``, ``"numba"`` or ``"gpu"``, or a
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
        Called with a line of text when kernels are compiled, and before a long search with what it will cost.

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
    >>> [learned.names(link) for link in learned.links]
    [('a', 'b'), ('a', 'a_xor_b'), ('b', 'a_xor_b')]
    """
    source = source if isinstance(source, CategoricalTable | Joint) else read_table(source)
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
    seeks_rules = _seeks_rules(find_rules, source, plan, is_default=find_groups and schedule is None)
    try:
        with interruptible():
            known = _Known.of(source, plan, backend, notice)
    except KeyboardInterrupt:
        raise Interrupted(_nothing(source, plan)) from None
    ruled = rules(known.variables, plan.constraints, plan.limits)
    if isinstance(plan.criterion, Significance):
        ruled = ruled.with_copies(len(known.variables), known.copies)
    judge = plan.criterion.on(known.sample(plan))
    started = perf_counter()
    watch = Watch(plan.limits)
    if engine == "reference":
        if ruled != FREE or plan.limits != Limits() or checkpoint is not None:
            raise SettingsError("The reference engine knows no constraints, no limits and no checkpoint.")
        run = _reference(source, plan, on_entry)
    else:
        with _journal(checkpoint, source, plan) as journal:
            problem = known.problem(plan, judge, ruled, journal)
            search = Search(
                problem,
                plan.schedule,
                pruner=Pruner(problem, known.largest(plan)) if plan.prune else None,
                local=LocalSearch(problem) if plan.local_search else None,
                watch=watch,
                journal=journal,
                on_entry=on_entry,
                on_progress=on_progress,
            )
            try:
                with interruptible():
                    run = search.run()
            except KeyboardInterrupt:
                run = search.so_far()
                seconds = perf_counter() - started
                raise Interrupted(_learned(known, _graph(known, run), run, plan, seconds)) from None
    graph = _graph(known, run)
    learned = _learned(known, graph, run, plan, perf_counter() - started)
    if find_groups and notice is not None and (n_sets := n_group_candidates(learned.cliques)) >= _MANY_SETS:
        where = f"{len(learned.cliques):,} cliques" if len(learned.cliques) > 1 else "one clique"
        notice(f"Looking for hidden groups among up to {n_sets:,} sets of columns inside {where}.")
    try:
        with interruptible():
            if find_groups:
                asking = _of_groups(known, plan, judge)
                learned = _with_submodels(known, graph, learned, plan, asking, watch, hidden_by)
            if seeks_rules and run.is_complete and isinstance(source, CategoricalTable):
                learned = _with_rules(source, learned, plan, on_entry, hidden_by)
            return learned
    except Stopped:
        return learned
    except KeyboardInterrupt:
        raise Interrupted(learned) from None


@dataclass(frozen=True, slots=True)
class _Known:
    """What a search needs to know of its source: names, levels, sizes and entropies."""

    source: CategoricalTable | Joint
    variables: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    n_levels: tuple[int, ...]
    n_rows: int | None
    oracle: CachedOracle
    scanner: Scanner
    counter: CellCounter | None
    copies: LinkSet = ()

    @classmethod
    def of(
        cls,
        source: CategoricalTable | Joint,
        plan: Plan,
        backend: str | Backend,
        notice: Callable[[str], None] | None,
    ) -> _Known:
        if isinstance(source, Joint):
            if backend_of(backend) is not backend_of("auto"):
                raise SettingsError("An exact joint has no rows to count; leave the backend out.")
            exact = source.oracle()
            scanner = PlainScanner(exact, source.n_levels)
            return cls(source, source.variables, source.levels, source.n_levels, None, exact, scanner, None)
        sets = sets_to_scan(source.n_variables, plan.schedule.max_links, plan.max_variables)
        say = notice or (lambda line: None)
        # Beyond k = 3 sets around links are many, and fill-in asks for what lies between the ends of links.
        work = float(sum(sets.values()) * max(1, plan.schedule.max_links - 2))
        work += _SETS_A_PAIR * comb(source.n_variables, 2) * plan.fill_in
        counted = oracle_for(source, backend=backend, threads=plan.limits.threads, work=work, notice=say)
        cached = CachedOracle(counted)
        if notice is not None and is_long(sets) and plan.engine == "fast":
            notice(cost_text(sets, seconds_of(counted, source.n_variables, sets)))
        names, levels, n_levels, n_rows = source.names, source.levels, source.n_levels, source.n_rows
        return cls(source, names, levels, n_levels, n_rows, cached, counted, counted, copies(source))

    def problem(self, plan: Plan, judge: Judge, ruled: Rules, journal: Journal | None) -> Problem:
        """Return the search to be carried out."""
        problem = Problem(
            self.oracle,
            self.scanner,
            judge,
            self.n_levels,
            self.n_rows,
            plan.max_variables,
            ruled,
            plan.fill_in,
        )
        if journal is None:
            return problem
        return replace(problem, known_blocks=journal.scans, on_scanned=journal.scanned)

    def sample(self, plan: Plan) -> Sample:
        """Return what the criterion may know."""
        k = plan.schedule.max_links
        return Sample(self.n_levels, self.n_rows, self.counter, k, self.largest(plan))

    def largest(self, plan: Plan) -> int:
        """Return the largest variable set that the search completes."""
        return plan.max_variables or plan.schedule.max_links + 1


def fit_network(
    table: CategoricalTable, learned: Learned, *, smoothing: Smoothing = 1.0
) -> DecomposableMarkovNetwork:
    """Return the network of a learned graph, its clique tables estimated from a table.

    Rules that were learned become part of it, each in the place of one column's table; those that a clique's
    table says already, and those that inference could not hold, do not (:mod:`xordal.model.placing`).
    ``smoothing`` is a number of rows spread evenly over each table (0: as counted), or a
    :class:`~xordal.Backoff`.
    """
    graph = ChordalGraph.empty(table.n_variables).add(learned.links)
    rules: tuple[NetworkRule, ...] = ()
    counter = NumpyCounter(table)
    if learned.rules:
        found = placed(table, graph, counter, learned.rules)
        graph, rules = found.graph, found.rules
    return estimate(
        graph, counter, table.names, table.levels, smoothing=smoothing, learned=learned, rules=rules
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


def _graph(known: _Known, run: SearchRun) -> ChordalGraph:
    return ChordalGraph.empty(len(known.variables)).add(links_after(run.trace))


def _learned(known: _Known, graph: ChordalGraph, run: SearchRun, plan: Plan, seconds: float) -> Learned:
    return Learned(
        variables=known.variables,
        links=graph.links,
        cliques=tuple(members(clique) for clique in maximal_cliques(graph)),
        run=run,
        settings=plan.to_json(),
        n_rows=known.n_rows,
        seconds=seconds,
        copies=known.copies,
        levels=known.levels,
    )


def _nothing(source: CategoricalTable | Joint, plan: Plan) -> Learned:
    """Return what is known when a search ends before it has begun."""
    run = SearchRun((), 0, 0, 0, "interruption")
    names, n_rows = (source.variables, None) if isinstance(source, Joint) else (source.names, source.n_rows)
    cliques = tuple((v,) for v in range(len(names)))
    return Learned(names, (), cliques, run, plan.to_json(), n_rows, 0.0)


def _of_groups(known: _Known, plan: Plan, judge: Judge) -> Judge:
    """Return the judge of what looks independent: a score takes what helps to predict for a dependence."""
    return Significance().on(known.sample(plan)) if plan.criterion.is_score else judge


def _most_sets(cliques: Sequence[tuple[int, ...]]) -> int:
    return max(_LEAST_SETS, min(_MOST_SETS, _SETS_IN_ALL // len(cliques)))


def n_group_candidates(cliques: Sequence[tuple[int, ...]]) -> int:
    """Return how many sets are looked at for hidden groups, at most.

    Examples
    --------
    >>> n_group_candidates([(0, 1, 2, 3), (3, 4)])
    5
    """
    found = 0
    for size in map(len, cliques):
        bound = min(size, largest_size(size, _most_sets(cliques))) if size >= 3 else 2
        found += sum(comb(size, m) for m in range(3, bound + 1)) + (bound < size and size >= 3)
    return found


def _with_submodels(
    known: _Known,
    graph: ChordalGraph,
    learned: Learned,
    plan: Plan,
    judge: Judge,
    watch: Watch,
    hidden_by: HiddenBy,
) -> Learned:
    """Add the PI submodels in the cliques. Pairs are judged from the source, also those no clique holds."""
    most_sets = _most_sets(learned.cliques)
    if isinstance(known.source, Joint):
        colored = color(Independence(known.oracle), graph, most_sets=most_sets)
        exact = tuple(measured_exactly(known.source, submodel) for submodel in colored.submodels)
        colored = replace(colored, submodels=exact)
    else:
        alpha = plan.criterion.alpha if isinstance(plan.criterion, Significance) else Significance().alpha
        data = Data(known.oracle, judge, known.sample(plan), known.levels, alpha, watch.check_after)
        look = discover_by_size if hidden_by == "size" else discover
        colored = look(data, graph, most_sets)
    by_letter = {"hidden_by": "letter"} if hidden_by == "letter" else {}
    return replace(
        learned,
        settings={**learned.settings, **by_letter},
        submodels=colored.submodels,
        colored_links=colored.colored_links,
        submodels_up_to=colored.sought_up_to,
        n_following=colored.n_following,
        n_unexamined=colored.n_unexamined,
    )


def _seeks_rules(
    chosen: bool | None, source: CategoricalTable | Joint, plan: Plan, *, is_default: bool
) -> bool:
    """Whether rules are looked for: as chosen, else where the paper is not followed."""
    if chosen is not None and not isinstance(chosen, bool):
        raise SettingsError(f"find_rules must be True, False or None, not {chosen!r}.")
    if isinstance(source, Joint):
        if chosen:
            raise SettingsError("Rules are looked for in rows; learn from a table, or leave find_rules out.")
        return False
    is_paper = isinstance(plan.criterion, EntropyDecrement) or plan.engine == "reference"
    return is_default and not is_paper if chosen is None else chosen


def _with_rules(
    table: CategoricalTable,
    learned: Learned,
    plan: Plan,
    on_entry: Callable[[TraceEntry], None],
    hidden_by: HiddenBy,
) -> Learned:
    """Add to the trace the rules that no hidden group tells already; groups that follow from rules go."""
    groups = learned.submodels or ()
    alpha = getattr(plan.criterion, "alpha", None)
    found = rules_beside(table, alpha if isinstance(alpha, float) else _ALPHA_OF_RULES, groups)
    told = {
        group.variables for group in groups if group.rule is not None and group.rule.kind in ("parity", "sum")
    }
    entries = [
        rule_entry(rule, learned.run.graphs_tested) for rule in found if varset(rule.variables) not in told
    ]
    for entry in entries:
        on_entry(entry)
    learned = replace(learned, run=replace(learned.run, trace=(*learned.trace, *entries)))
    if learned.submodels is None or hidden_by == "letter":
        return learned
    kept = without_parts_of([varset(rule.variables) for rule in found], groups)
    n_following = learned.n_following + len(groups) - len(kept)
    return replace(learned, submodels=tuple(kept), n_following=n_following)


def rule_entry(rule: AdditiveRule, graphs_tested: int) -> TraceEntry:
    """Return the entry of a trace for an additive rule.

    Its gain is how far the share of rows that obey it is from chance: what knowing the rule tells of a row.
    """
    holds, chance = rule.holds, min(max(rule.by_chance, 1e-300), 1 - 1e-15)
    gain = (holds * log(holds / chance) if holds else 0.0) + (
        (1 - holds) * log((1 - holds) / (1 - chance)) if holds < 1 else 0.0
    )
    return TraceEntry(
        "rule", 0, (), gain, 1, graphs_tested, log_p_value=max(rule.log_p_value, -1e300), rule=rule
    )
