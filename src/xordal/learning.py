"""learn(table) -> Learned: the one place that wires table, counting, criterion and search together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import comb
from numbers import Integral
from time import perf_counter
from typing import Literal, get_args

from xordal import reference
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CachedOracle, CountingOracle
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError, nearest
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.model.network import DecomposableMarkovNetwork, estimate
from xordal.pi.colored import color
from xordal.pi.independence import EXACT, Independence
from xordal.pi.joint import Joint
from xordal.search.constraints import FREE, Constraints, Limits, rules
from xordal.search.driver import Progress, Search
from xordal.search.lookahead import Problem
from xordal.search.schedule import Schedule
from xordal.statistics.criterion import Criterion, EntropyDecrement
from xordal.types import Learned, ScheduleName, SearchRun, TraceEntry, links_after, members

EngineName = Literal["fast", "reference"]

_MOST_SETS = 1000  # sets looked at for submodels in one clique: all of nine variables, the small ones of more


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search; ``learned`` is the network learned until then."""

    def __init__(self, learned: Learned) -> None:
        super().__init__("the search was interrupted; .learned holds the network learned so far")
        self.learned = learned


def learn(  # noqa: PLR0913 - all but the data are keyword-only, each with a default
    source: CategoricalTable | Joint,
    *,
    max_links: int | None = None,
    max_variables: int | None = None,
    criterion: Criterion | None = None,
    schedule: ScheduleName = "printed",
    engine: EngineName = "fast",
    constraints: Constraints | None = None,
    limits: Limits | None = None,
    on_entry: Callable[[TraceEntry], None] = lambda entry: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Learned:
    """Learn a decomposable Markov network by multi-link lookahead search.

    Parameters
    ----------
    source
        The data; or an exact joint distribution, to learn without sampling.
    max_links
        Largest number of links to look ahead, the paper's k; 3 unless ``max_variables`` is given.
    max_variables
        Largest group of variables to complete at once, instead of ``max_links``: m variables need a
        lookahead of up to m(m-1)/2 links.
    criterion
        Ranks and accepts link sets; ``EntropyDecrement(0.004)`` by default.
    schedule
        ``"printed"`` (the paper's pseudo-code), ``"as_run"`` (the run behind its tables), ``"straightforward"``
        (no backtracking) or ``"single"`` (single links only).
    engine
        ``"fast"``, or ``"reference"``: the paper line by line, slow, the specification of the other.
    constraints
        Links that must or must not be learned; required ones come first in the trace, with lookahead 0.
    limits
        Largest clique and longest time; a search that runs out of time returns what it has learned.
    on_entry, on_progress
        Called with each learned link set, and every few thousand variable sets looked at.

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
    plan = _Plan.of(max_links, max_variables, criterion, schedule, engine, constraints, limits)
    known = _Known.of(source)
    ruled = rules(known.variables, plan.constraints, plan.limits)
    started = perf_counter()
    if engine == "reference":
        if ruled != FREE:
            raise SettingsError("The reference engine knows no constraints and no limits.")
        run = _reference(source, plan, on_entry)
    else:
        problem = Problem(known.oracle, plan.criterion, known.n_levels, known.n_rows, plan.max_variables, ruled)
        search = Search(problem, plan.schedule, on_entry=on_entry, on_progress=on_progress)
        try:
            run = search.run()
        except KeyboardInterrupt:
            raise Interrupted(_learned(known, search.so_far(), plan, perf_counter() - started)) from None
    learned = _learned(known, run, plan, perf_counter() - started)
    try:
        return _with_submodels(known, learned, plan.criterion)
    except KeyboardInterrupt:
        raise Interrupted(learned) from None


@dataclass(frozen=True, slots=True)
class _Known:
    """What a search needs to know of its source: names, sizes and entropies."""

    variables: tuple[str, ...]
    n_levels: tuple[int, ...]
    n_rows: int | None
    oracle: CachedOracle

    @classmethod
    def of(cls, source: CategoricalTable | Joint) -> _Known:
        if not isinstance(source, CategoricalTable | Joint):
            raise DataError(
                f"learn() takes a table or a joint, not a {type(source).__name__}. "
                "Make a table of it with xordal.read_table(...)."
            )
        if isinstance(source, Joint):
            return cls(source.variables, source.n_levels, None, source.oracle())
        oracle = CachedOracle(CountingOracle(NumpyCounter(source), source.n_variables))
        return cls(source.names, source.n_levels, source.n_rows, oracle)


def fit_network(
    table: CategoricalTable, learned: Learned, *, prior_rows: float = 1.0
) -> DecomposableMarkovNetwork:
    """Return the network of a learned graph, its clique tables estimated from a table.

    ``prior_rows`` is the equivalent sample size of the smoothing (:mod:`xordal.model.parameters`).
    """
    graph = ChordalGraph.empty(table.n_variables).add(learned.links)
    counter = NumpyCounter(table)
    return estimate(graph, counter, table.names, table.levels, prior_rows=prior_rows, learned=learned)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Checked settings of one run."""

    schedule: Schedule
    max_variables: int | None
    criterion: Criterion
    engine: EngineName
    constraints: Constraints
    limits: Limits

    @classmethod
    def of(
        cls,
        max_links: int | None,
        max_variables: int | None,
        criterion: Criterion | None,
        schedule: ScheduleName,
        engine: EngineName,
        constraints: Constraints | None,
        limits: Limits | None,
    ) -> _Plan:
        for name, value in (("max_links", max_links), ("max_variables", max_variables)):
            if value is not None and (not isinstance(value, Integral) or isinstance(value, bool)):
                raise SettingsError(f"{name} must be a whole number, not {value!r}.")
        max_links, max_variables = (
            value if value is None else int(value) for value in (max_links, max_variables)
        )
        if criterion is not None and (isinstance(criterion, type) or not hasattr(criterion, "judge")):
            raise SettingsError(f"criterion must be one such as EntropyDecrement(0.01), not {criterion!r}.")
        for name, given, kind in (("constraints", constraints, Constraints), ("limits", limits, Limits)):
            if given is not None and not isinstance(given, kind):
                raise SettingsError(f"{name} must be xordal.{kind.__name__}(...), not {given!r}.")
        if max_links is not None and max_variables is not None:
            raise SettingsError("Give max_links (k) or max_variables (m), not both.")
        if max_variables is not None and max_variables < 2:
            raise SettingsError(f"max_variables must be at least 2, not {max_variables}.")
        if engine not in get_args(EngineName):
            raise SettingsError(f"Unknown engine {engine!r}; {nearest(engine, get_args(EngineName))}")
        if max_links is None:
            max_links = 3 if max_variables is None else comb(max_variables, 2)
        return cls(
            Schedule(schedule, max_links),
            max_variables,
            criterion or EntropyDecrement(),
            engine,
            constraints or Constraints(),
            limits or Limits(),
        )

    def to_json(self) -> dict[str, object]:
        """Return the settings as they are reported."""
        bound = {} if self.max_variables is None else {"max_variables": self.max_variables}
        return {
            "criterion": self.criterion.to_json(),
            "max_links": self.schedule.max_links,
            **bound,
            "schedule": self.schedule.name,
            "engine": self.engine,
            **{name: value for name, value in asdict(self.constraints).items() if value},
            **{name: value for name, value in asdict(self.limits).items() if value is not None},
        }


def _reference(
    source: CategoricalTable | Joint, plan: _Plan, on_entry: Callable[[TraceEntry], None]
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


def _learned(known: _Known, run: SearchRun, plan: _Plan, seconds: float) -> Learned:
    links = links_after(run.trace)
    graph = ChordalGraph.empty(len(known.variables)).add(links)
    return Learned(
        variables=known.variables,
        links=links,
        cliques=tuple(members(clique) for clique in maximal_cliques(graph)),
        run=run,
        settings=plan.to_json(),
        n_rows=known.n_rows,
        seconds=seconds,
    )


def _with_submodels(known: _Known, learned: Learned, criterion: Criterion) -> Learned:
    """Add the PI submodels in the cliques; without them where the criterion knows no bound for independence.

    Pairs are judged from the source itself, also those that no clique holds.
    """
    tolerance = EXACT if known.n_rows is None else criterion.negligible()
    if tolerance is None:
        return learned
    judge = Independence(known.oracle, max(tolerance, EXACT))
    graph = ChordalGraph.empty(len(known.variables)).add(learned.links)
    colored = color(judge, graph, most_sets=_MOST_SETS)
    return replace(
        learned,
        submodels=colored.submodels,
        colored_links=colored.colored_links,
        submodels_up_to=colored.sought_up_to,
    )
