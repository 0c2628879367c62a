"""The search: schedule x lookahead -> trace (Algorithm ML with the function lookahead).

``graphs_tested`` is arithmetic: a pass of ``lookahead(i)`` tests every set of i missing links in the paper, so
it counts C(missing, i), whatever this engine looked at. Links that are required come first, as one entry of
lookahead 0 for which nothing was tested.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import comb

from xordal.errors import DataError
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.nearby import disturbed
from xordal.search.candidates import addition
from xordal.search.checkpoint import Journal
from xordal.search.limits import Limits, Stopped, Watch
from xordal.search.lookahead import Lookahead
from xordal.search.parts import Catalogue
from xordal.search.problem import Judged, Problem, judge
from xordal.search.schedule import Position, Schedule
from xordal.types import SearchRun, StoppedBy, TraceEntry


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a running search is: the links it looks ahead and the variable sets looked at so far."""

    lookahead: int
    sets_scanned: int
    graphs_tested: int


class Search:
    """A search from the empty graph, or from the required links.

    ``run`` carries it out; ``so_far`` is valid at any time.

    Parameters
    ----------
    problem
        Who counts, who decides, and how far to look.
    schedule
        Which lookahead comes next.
    watch
        Ends the search at its limits.
    journal
        Where to write down what is learned. What it holds already, an earlier run of the same search has
        learned: it is taken as it is.
    on_entry, on_progress
        Called with each trace entry as it is learned, and every few thousand variable sets.
    """

    def __init__(
        self,
        problem: Problem,
        schedule: Schedule,
        *,
        watch: Watch | None = None,
        journal: Journal | None = None,
        on_entry: Callable[[TraceEntry], None] = lambda entry: None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._problem = problem
        self._catalogue = Catalogue(ChordalGraph.empty(len(problem.n_levels)), problem.rules)
        self._lookaheads: dict[int, Lookahead] = {}
        self._schedule = schedule
        self._watch = watch or Watch(Limits())
        self._journal = journal
        self._known = deque(journal.entries if journal else ())
        self._on_entry = on_entry
        self._on_progress = on_progress
        self._trace: list[TraceEntry] = []
        self._graphs_tested = self._sets_scanned = 0
        self._stopped_by: StoppedBy | None = "interruption"

    @property
    def graph(self) -> ChordalGraph:
        """The graph learned so far."""
        return self._catalogue.graph

    def run(self) -> SearchRun:
        """Carry the schedule out to its end, or to a limit."""
        position: Position | None = self._schedule.start
        try:
            self._add_required()
            # With fewer missing links than the lookahead there is no link set to test, at this stage or later.
            while position is not None and position.i <= max(1, self.graph.n_missing):
                modified = self._lookahead(position.i)
                position = self._schedule.after(position, modified)
        except Stopped as stopped:
            self._stopped_by = stopped.by
            return self.so_far()
        if self._known:
            raise _unfit(self._known[0])
        self._stopped_by = None
        return self.so_far()

    def so_far(self) -> SearchRun:
        """Return what has been learned up to now."""
        return SearchRun(
            tuple(self._trace),
            self._graphs_tested,
            sum(lookahead.candidates_scored for lookahead in self._lookaheads.values()),
            self._sets_scanned,
            self._stopped_by,
        )

    def _lookahead(self, i: int) -> bool:
        """Repeat passes of i links until one learns nothing (function lookahead, lines 1-12)."""
        modified = False
        while entry := self._pass(i):
            self._learn(entry)
            modified = True
        return modified

    def _pass(self, i: int) -> TraceEntry | None:
        """Return the best acceptable set of i links, if there is one."""
        best = None if self._known else self._best(i)
        self._graphs_tested += comb(self.graph.n_missing, i)
        if self._known:
            return self._known[0] if self._known[0].lookahead == i else None
        return None if best is None else self._entry(i, best)

    def _best(self, i: int) -> Judged | None:
        def on_block(n_sets: int) -> None:
            self._sets_scanned += n_sets
            self._on_progress(Progress(i, self._sets_scanned, self._graphs_tested))
            self._watch.check()

        on_block(0)
        if i not in self._lookaheads:
            self._lookaheads[i] = Lookahead(self._problem, self._catalogue, i)
        return self._lookaheads[i].best(on_block)

    def _add_required(self) -> None:
        rules = self._problem.rules
        if rules.required:
            start = addition(self.graph, tuple(sorted((*rules.required, *rules.fill_in))), rules.fill_in)
            assert start is not None, "required links and their fill-in are chordal"
            (required,) = judge(self._problem, [start])
            self._learn(self._entry(0, required))

    def _entry(self, i: int, found: Judged) -> TraceEntry:
        evidence, log_p_value = found.evidence, found.verdict.log_p_value
        n_tested = self._graphs_tested
        return TraceEntry(
            "add", i, evidence.links, evidence.gain, evidence.dof, n_tested, evidence.fill_in, log_p_value
        )

    def _learn(self, entry: TraceEntry) -> None:
        """Change the graph and tell of it; what is known from an earlier run must fit here."""
        if self._known:
            known = self._known.popleft()
            if not self._fits(known) or (entry.lookahead == 0 and known != entry):
                raise _unfit(known)
        elif self._journal is not None:
            self._journal.entry(entry)
        graph = self.graph.extended(entry.links)
        self._catalogue.change(graph, disturbed(graph.neighbours, entry.links))
        self._trace.append(entry)
        self._on_entry(entry)

    def _fits(self, entry: TraceEntry) -> bool:
        """Whether an entry of an earlier run can have come here: new links, and the graph stays chordal."""
        return (
            entry.graphs_tested == self._graphs_tested
            and all(v < self.graph.n_vertices and not self.graph.neighbours[u] >> v & 1 for u, v in entry.links)
            and additions(self.graph, entry.links) is not None
        )


def _unfit(entry: TraceEntry) -> DataError:
    return DataError(
        f"The checkpoint does not fit this search: its entry of {entry.lookahead} links, after "
        f"{entry.graphs_tested:,} graphs, cannot have been learned. Begin a new checkpoint."
    )
