"""The search: schedule x lookahead -> trace (Algorithm ML with the function lookahead), forward and backward.

When the schedule has come to its end, idle links are taken out, then sequences of moves that improve a score
are made; after that it starts again. What comes next depends on the graph alone, so that a resumed search goes
the same way.

``graphs_tested`` is arithmetic: a pass of ``lookahead(i)`` tests every set of i missing links in the paper, so
it counts C(missing, i), whatever this engine looked at. Links that are required come first, as one entry of
lookahead 0 for which nothing was tested.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import comb
from time import monotonic

from xordal.errors import DataError
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.moves import Move
from xordal.search.candidate import addition
from xordal.search.checkpoint import Journal
from xordal.search.limits import Stopped, Watch
from xordal.search.lookahead import Lookahead
from xordal.search.problem import Judged, Problem, judge
from xordal.search.refine.local import LocalSearch
from xordal.search.refine.prune import Pruner, removable
from xordal.search.schedule import Position, Schedule
from xordal.search.sources.around import Held
from xordal.search.state import GraphState
from xordal.search.time_left import TimeLeft
from xordal.statistics.criterion import Evidence
from xordal.types.choices import StoppedBy
from xordal.types.trace import SearchRun, Trace, TraceEntry
from xordal.types.varsets import LinkSet

GoOn = Callable[[Sequence[TraceEntry]], tuple[Problem, Pruner | None] | None]
"""From what a search has learned at its end to what it goes on with; None where that is all."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a running search is: the links it looks ahead and the variable sets looked at so far.

    In a local search ``lookahead`` is the length of the sequences that are tried. ``seconds_left`` is about how
    long scans of all sets still take; None before there is a pace, and when they are done: how long what
    follows from links takes, nobody knows.
    """

    lookahead: int
    sets_scanned: int
    graphs_tested: int
    is_local: bool = False
    seconds_left: float | None = None


class Meter:
    """Counts what a search looks at, tells of it, and ends the search at its limits.

    The search holds its sources and these call the meter; it holds neither, so that a search that is over is
    freed at once instead of waiting for the garbage collector.
    """

    def __init__(
        self, watch: Watch, time_left: TimeLeft, on_progress: Callable[[Progress], None] | None
    ) -> None:
        self.lookahead = self.sets_scanned = self.graphs_tested = 0
        self.is_local = False
        self._watch, self._time_left, self._on_progress = watch, time_left, on_progress

    def tell(self, n_sets: int, scanned: int = 0, /) -> None:
        """Count so many more variable sets; ``scanned`` is their size where all of that size are scanned."""
        self.sets_scanned += n_sets
        if scanned:
            self._time_left.scanned(scanned, n_sets, monotonic())
        if self._on_progress is not None:
            left = self._time_left.seconds
            self._on_progress(
                Progress(self.lookahead, self.sets_scanned, self.graphs_tested, self.is_local, left)
            )
        self._watch.check()


class Search:
    """A search from the empty graph, or from the required links.

    ``run`` carries it out; ``so_far`` is valid at any time.

    Parameters
    ----------
    problem
        Who counts, who decides, and how far to look.
    schedule
        Which lookahead comes next.
    pruner
        Finds idle links to take out when the schedule has come to its end; then it starts again.
    local
        Finds sequences of moves that improve a score, when there are no idle links.
    time_left
        Knows how many sets there are to scan.
    journal
        Where to write down what is learned. What it holds already, an earlier run of the same search has
        learned: it is taken as it is.
    go_on
        Called with the trace when the search has come to its end; the same problem with a judge of a higher
        level, and its pruner, if it is to go on with these.
    on_entry, on_progress
        Called with each trace entry as it is learned, and every few thousand variable sets.
    """

    def __init__(  # noqa: PLR0913 - what is to be done, and who is told
        self,
        problem: Problem,
        schedule: Schedule,
        *,
        pruner: Pruner | None = None,
        local: LocalSearch | None = None,
        time_left: TimeLeft | None = None,
        journal: Journal | None = None,
        go_on: GoOn = lambda trace: None,
        on_entry: Callable[[TraceEntry], None] = lambda entry: None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._problem = problem
        self._state = GraphState(ChordalGraph.empty(len(problem.n_levels)))
        self._lookaheads: dict[int, Lookahead] = {}
        self._candidates_before = 0
        self._schedule = schedule
        self._pruner = pruner
        self._local = local
        self._watch = problem.watch
        self._journal = journal
        self._go_on = go_on
        self._known = deque(journal.entries if journal else ())
        self._on_entry = on_entry
        self._meter = Meter(self._watch, time_left or TimeLeft({}), on_progress)
        self._held = Held(problem, self._state, self._meter.tell)
        self._trace: list[TraceEntry] = []
        self._stopped_by: StoppedBy | None = "interruption"

    @property
    def graph(self) -> ChordalGraph:
        """The graph learned so far."""
        return self._state.graph

    def run(self) -> SearchRun:
        """Carry the schedule out to its end, or to a limit."""
        self._watch.phases.turn_to("scoring")
        try:
            self._add_required()
            self._to_the_end()
            while (more := self._go_on(self._trace)) is not None:
                self._problem, self._pruner = more
                self._candidates_before += self._scored()
                self._lookaheads.clear()
                self._held = Held(self._problem, self._state, self._meter.tell)
                self._to_the_end()
        except Stopped as stopped:
            self._stopped_by = stopped.by
            return self.so_far()
        if self._known:
            raise _unfit(self._known[0])
        self._stopped_by = None
        return self.so_far()

    def _to_the_end(self) -> None:
        """Carry the schedule out, and again while idle links are taken out or moves made."""
        self._forward()
        seen: set[LinkSet] = set()
        while self.graph.links not in seen:
            seen.add(self.graph.links)  # a graph that comes back would come back for ever
            if self._refine():
                self._forward()

    def _scored(self) -> int:
        return sum(one.candidates_scored for one in self._lookaheads.values())

    def so_far(self) -> SearchRun:
        """Return what has been learned up to now."""
        return SearchRun(
            tuple(self._trace),
            self._meter.graphs_tested,
            self._candidates_before
            + self._scored()
            + (0 if self._local is None else self._local.candidates_scored),
            self._meter.sets_scanned,
            self._stopped_by,
        )

    def _forward(self) -> None:
        """Carry the schedule out from its start."""
        position: Position | None = self._schedule.start
        # With fewer missing links than the lookahead there is no link set to test, at this stage or later.
        while position is not None and position.i <= max(1, self.graph.n_missing):
            modified = self._lookahead(position.i)
            position = self._schedule.after(position, modified)

    def _refine(self) -> bool:
        """Take idle links out and make sequences of moves, until there are none; return whether any was."""
        modified = False
        while entries := self._known_refinement() if self._known else self._next_refinement():
            self._learn(*entries)
            modified = True
        return modified

    def _known_refinement(self) -> Trace:
        first = self._known[0]
        if first.sequence > len(self._known):
            raise _unfit(first)
        is_one = first.action == "remove" and not first.sequence
        return (first,) if is_one else tuple(islice(self._known, first.sequence))

    def _next_refinement(self) -> Trace:
        """Return the link that is idlest, or the moves of the best sequence."""
        if self._pruner is None and self._local is None:
            return ()
        self._watch.check()
        if self._pruner is not None:
            with self._watch.phases.of("pruning"):
                idle = self._pruner.idlest(self.graph)
            if idle is not None:
                return (self._removal(idle.evidence, idle.log_p_value),)
        if self._local is None:
            return ()
        with self._watch.phases.of("local search"):
            moves = self._local.best(self.graph, self._on_local_block) or ()
            return tuple(self._moved(self._local, move, len(moves)) for move in moves)

    def _removal(self, e: Evidence, log_p_value: float | None = None) -> TraceEntry:
        return TraceEntry("remove", 1, e.links, -e.gain, -e.dof, self._meter.graphs_tested, (), log_p_value)

    def _moved(self, local: LocalSearch, move: Move, sequence: int) -> TraceEntry:
        e = local.evidence(move)
        add = TraceEntry("add", 1, e.links, e.gain, e.dof, self._meter.graphs_tested)
        return replace(add if move.adds else self._removal(e), sequence=sequence)

    def _on_local_block(self, length: int, n_moves: int) -> None:
        self._meter.lookahead, self._meter.is_local = length, True
        self._meter.tell(n_moves)

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
        self._meter.graphs_tested += comb(self.graph.n_missing, i)
        if self._known:
            entry = self._known[0]
            return entry if (entry.action, entry.lookahead, entry.sequence) == ("add", i, 0) else None
        return None if best is None else self._entry(i, best)

    def _best(self, i: int) -> Judged | None:
        self._meter.lookahead, self._meter.is_local = i, False
        self._meter.tell(0)
        if i not in self._lookaheads:
            self._lookaheads[i] = Lookahead(self._held, i)
        return self._lookaheads[i].best()

    def _add_required(self) -> None:
        allowed = self._problem.allowed
        if allowed.required:
            links = tuple(sorted((*allowed.required, *allowed.fill_in)))
            start = addition(self.graph, links, allowed.fill_in)
            assert start is not None, "required links and their fill-in are chordal"
            (required,) = judge(self._problem, [start])
            self._learn(self._entry(0, required))

    def _entry(self, i: int, found: Judged) -> TraceEntry:
        evidence, log_p_value = found.evidence, found.verdict.log_p_value
        n_tested = self._meter.graphs_tested
        return TraceEntry(
            "add", i, evidence.links, evidence.gain, evidence.dof, n_tested, evidence.fill_in, log_p_value
        )

    def _learn(self, *entries: TraceEntry) -> None:
        """Change the graph and tell of it; what is known from an earlier run must fit here."""
        is_known = bool(self._known)
        if not is_known and self._journal is not None:
            self._journal.entry(*entries)
        for entry in entries:
            if is_known:
                known = self._known.popleft()
                if not self._fits(known) or (entry.lookahead == 0 and known != entry):
                    raise _unfit(known)
            self._change(entry)
        for entry in entries:  # all moves of a sequence first: whoever is told may end the search
            self._on_entry(entry)

    def _change(self, entry: TraceEntry) -> None:
        if entry.action == "add":
            self._state.add(entry.links)
        else:
            self._state.remove(*entry.links)
        self._trace.append(entry)

    def _fits(self, entry: TraceEntry) -> bool:
        """Whether an entry of an earlier run can have come here: the graph stays chordal."""
        if entry.graphs_tested != self._meter.graphs_tested or any(
            v >= self.graph.n_vertices for _, v in entry.links
        ):
            return False
        if entry.action == "remove":
            able = {link for link, _ in removable(self.graph)}
            return len(entry.links) == 1 and entry.links[0] in able
        is_new = all(not self.graph.neighbours[u] >> v & 1 for u, v in entry.links)
        return is_new and additions(self.graph, entry.links) is not None


def _unfit(entry: TraceEntry) -> DataError:
    return DataError(
        f"The checkpoint does not fit this search: its entry of {entry.lookahead} links, after "
        f"{entry.graphs_tested:,} graphs, cannot have been learned. Begin a new checkpoint."
    )
