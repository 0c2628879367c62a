"""The search: schedule x lookahead -> trace (Algorithm ML with the function lookahead).

``graphs_tested`` is arithmetic: a pass of ``lookahead(i)`` tests every set of i missing links in the paper, so
it counts C(missing, i), whatever this engine looked at. Links that are required come first, as one entry of
lookahead 0 for which nothing was tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf
from time import monotonic

from xordal.graph.chordal import ChordalGraph
from xordal.graph.nearby import disturbed
from xordal.search.candidates import addition
from xordal.search.lookahead import Lookahead
from xordal.search.parts import Catalogue
from xordal.search.problem import Judged, Problem, judge
from xordal.search.schedule import Position, Schedule
from xordal.types import SearchRun, TraceEntry


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a running search is: the links it looks ahead and the variable sets looked at so far."""

    lookahead: int
    sets_scanned: int
    graphs_tested: int


class _TimeUp(Exception):
    """The time limit was reached within a pass; what the pass had seen so far does not count."""


class Search:
    """A search from the empty graph, or from the required links.

    ``run`` carries it out; ``so_far`` is valid at any time.

    Parameters
    ----------
    problem
        Who counts, who decides, and how far to look.
    schedule
        Which lookahead comes next.
    on_entry, on_progress
        Called with each trace entry as it is learned, and every few thousand variable sets.
    """

    def __init__(
        self,
        problem: Problem,
        schedule: Schedule,
        *,
        on_entry: Callable[[TraceEntry], None] = lambda entry: None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._problem = problem
        self._catalogue = Catalogue(ChordalGraph.empty(len(problem.n_levels)), problem.rules)
        self._lookaheads: dict[int, Lookahead] = {}
        self._schedule = schedule
        self._on_entry = on_entry
        self._on_progress = on_progress
        self._trace: list[TraceEntry] = []
        self._graphs_tested = self._sets_scanned = 0
        self._is_complete = False
        self._deadline = inf

    @property
    def graph(self) -> ChordalGraph:
        """The graph learned so far."""
        return self._catalogue.graph

    def run(self) -> SearchRun:
        """Carry the schedule out to its end, or until the time is up."""
        self._deadline = monotonic() + self._problem.rules.time_limit
        position: Position | None = self._schedule.start
        try:
            self._add_required()
            # With fewer missing links than the lookahead there is no link set to test, at this stage or later.
            while position is not None and position.i <= max(1, self.graph.n_missing):
                modified = self._lookahead(position.i)
                position = self._schedule.after(position, modified)
        except _TimeUp:
            return self.so_far()
        self._is_complete = True
        return self.so_far()

    def so_far(self) -> SearchRun:
        """Return what has been learned up to now."""
        return SearchRun(
            tuple(self._trace),
            self._graphs_tested,
            sum(lookahead.candidates_scored for lookahead in self._lookaheads.values()),
            self._sets_scanned,
            self._is_complete,
        )

    def _lookahead(self, i: int) -> bool:
        """Repeat passes of i links until one learns nothing (function lookahead, lines 1-12)."""
        modified = False
        while best := self._pass(i):
            self._add(i, best)
            modified = True
        return modified

    def _add_required(self) -> None:
        rules = self._problem.rules
        if rules.required:
            start = addition(self.graph, tuple(sorted((*rules.required, *rules.fill_in))), rules.fill_in)
            assert start is not None, "required links and their fill-in are chordal"
            (required,) = judge(self._problem, [start])
            self._add(0, required)

    def _add(self, i: int, learned: Judged) -> None:
        evidence = learned.evidence
        graph = self.graph.extended(evidence.links)
        self._catalogue.change(graph, disturbed(graph.neighbours, evidence.links))
        entry = TraceEntry(
            "add",
            i,
            evidence.links,
            evidence.gain,
            evidence.dof,
            self._graphs_tested,
            evidence.fill_in,
            learned.verdict.log_p_value,
        )
        self._trace.append(entry)
        self._on_entry(entry)

    def _pass(self, i: int) -> Judged | None:
        """Return the best acceptable set of i links."""

        def on_block(n_sets: int) -> None:
            self._sets_scanned += n_sets
            self._on_progress(Progress(i, self._sets_scanned, self._graphs_tested))
            if monotonic() > self._deadline:
                raise _TimeUp

        on_block(0)
        if i not in self._lookaheads:
            self._lookaheads[i] = Lookahead(self._problem, self._catalogue, i)
        best = self._lookaheads[i].best(on_block)
        self._graphs_tested += comb(self.graph.n_missing, i)
        return best
