"""What a search needs to know of its source, be it rows or an exact joint."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from math import comb

from xordal.counting.compiled import Kernels
from xordal.counting.oracle import CachedOracle, CellCounter, Scanner
from xordal.counting.plain import PlainScanner
from xordal.counting.select import Backend, backend_of, oracle_for
from xordal.data.copies import copies
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError
from xordal.pi.joint import Joint
from xordal.scanning.cost import cost_text, is_long, seconds_of, sets_to_scan
from xordal.search.checkpoint import Journal
from xordal.search.constraints import Allowed
from xordal.search.limits import Watch
from xordal.search.plan import Plan
from xordal.search.problem import Problem
from xordal.search.shapes import free_shape
from xordal.search.time_left import TimeLeft
from xordal.statistics.criterion import Judge, Sample
from xordal.statistics.design import SampleDesign, tell_sparse
from xordal.statistics.significance import Significance
from xordal.types.varsets import LinkSet

_SETS_A_PAIR = 20  # counted for fill-in, about, in a network with many links


@dataclass(frozen=True, slots=True)
class Known:
    """What a search needs to know of its source: names, levels, sizes and entropies."""

    source: CategoricalTable | Joint
    variables: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    n_levels: tuple[int, ...]
    n_rows: int | None
    oracle: CachedOracle
    scanner: Scanner
    counter: CellCounter | None
    watch: Watch
    copies: LinkSet = ()
    design: SampleDesign | None = None
    sets: Mapping[int, int] = field(default_factory=dict)
    kernels: Kernels = field(default_factory=Kernels)

    @classmethod
    def of(
        cls,
        source: CategoricalTable | Joint,
        plan: Plan,
        backend: str | Backend,
        notice: Callable[[str], None] | None,
        watch: Watch,
    ) -> Known:
        """Read off what the source says, and choose who counts."""
        if isinstance(source, Joint):
            if backend_of(backend) is not backend_of("auto"):
                raise SettingsError("An exact joint has no rows to count; leave the backend out.")
            exact = source.oracle()
            scanner = PlainScanner(exact, source.n_levels)
            known = source.variables, source.levels, source.n_levels
            return cls(source, *known, None, exact, scanner, None, watch)
        largest = min(plan.max_variables or source.n_variables, plan.limits.max_clique or source.n_variables)
        sets = sets_to_scan(source.n_variables, plan.schedule.max_links, largest)
        say = notice or (lambda line: None)
        # Beyond k = 3 sets around links are many, and fill-in asks for what lies between the ends of links.
        work = float(sum(sets.values()) * max(1, plan.schedule.max_links - 2))
        work += _SETS_A_PAIR * comb(source.n_variables, 2) * plan.fill_in
        counted = oracle_for(
            source.to_count(),
            backend=backend,
            threads=plan.limits.threads,
            work=work,
            notice=say,
            check=watch.check,
            seconds_left=watch.seconds_left,
        )
        cached = CachedOracle(counted)
        names, levels, n_levels, n_rows = source.names, source.levels, source.n_levels, source.n_rows
        design = None if source.design is None else SampleDesign(source)
        if design is not None and notice is not None and isinstance(plan.criterion, Significance):
            tell_sparse(design, names, n_levels, notice)
        asked = (cached, counted, counted, watch)
        kernels = Kernels(lambda: watch.seconds_left, say)
        return cls(source, names, levels, n_levels, n_rows, *asked, copies(source), design, sets, kernels)

    def time_left(self, problem: Problem, notice: Callable[[str], None] | None) -> TimeLeft:
        """Return what knows how long scans still take; where that is long it is measured, and said."""
        seconds: dict[int, float] = {}
        if notice is not None and is_long(self.sets):
            bar = problem.shapes.bar(free_shape)
            seconds = seconds_of(self.scanner, len(self.variables), self.sets, bar)
            notice(cost_text(self.sets, sum(seconds.values())))
        return TimeLeft(self.sets, seconds)

    def problem(
        self,
        plan: Plan,
        judge: Judge,
        allowed: Allowed,
        journal: Journal | None,
    ) -> Problem:
        """Return the search to be carried out."""
        problem = Problem(
            self.oracle,
            self.scanner,
            judge,
            self.n_levels,
            self.n_rows,
            plan.max_variables,
            allowed,
            plan.fill_in,
            watch=self.watch,
            has_p_values=isinstance(plan.criterion, Significance),
            kernels=self.kernels,
        )
        if journal is None:
            return problem
        return replace(problem, known_blocks=journal.scans, on_scanned=journal.scanned)

    def sample(self, plan: Plan) -> Sample:
        """Return what the criterion may know."""
        k = plan.schedule.max_links
        rest = self.design, self.watch.check, self.kernels
        return Sample(self.n_levels, self.n_rows, self.counter, k, self.largest(plan), *rest)

    def largest(self, plan: Plan) -> int:
        """Return the largest variable set that the search completes."""
        return plan.max_variables or plan.schedule.max_links + 1
