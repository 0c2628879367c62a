"""One i-link-only search with a memory: candidates are scored once, and again only where a change touched them.

Each pass must find the best of all legal sets of i links. They are, by how they lie in the graph,

* free sets and extensions (:mod:`search.sweep`), found by scans, waiting in streams, best first;
* the sets made of parts within components (:mod:`search.parts`), scored as they come up.

What is scored waits in a heap by the highest rank it can have, what is judged and accepted in one by rank. At
any time each legal candidate is in one of them with its present value, or was rejected with it, or waits in a
stream whose bound is no lower than its rank, or cannot be accepted. So the first accepted one that is still
legal and unchanged is the best of all, once nothing that waits can be better: the same answer as testing
everything in each pass. Candidates with fill-in (:mod:`search.filling`) compete with them by rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from math import comb, inf

from xordal.search.candidates import Candidate, candidate
from xordal.search.filling import Fillings
from xordal.search.parts import Bases, Catalogue, each_misses_one, extended_kinds
from xordal.search.problem import Judged, Problem, evidence
from xordal.search.streams import Stream
from xordal.search.sweep import FreeSets, extensions
from xordal.statistics.criterion import Evidence, highest
from xordal.types import SignedSets, VarSet

_FIRST_BLOCK, _LARGEST_BLOCK = 16, 4096  # candidates taken from a stream in one go
_JUDGED_AT_ONCE = 256  # some milliseconds each where tables are sparse


class Lookahead:
    """``lookahead(i)`` on a graph that changes.

    Parameters
    ----------
    problem
        Who counts, who decides, and how far to look.
    catalogue
        The parts within components of the present graph.
    i
        Number of lookahead links.
    """

    def __init__(self, problem: Problem, catalogue: Catalogue, i: int) -> None:
        self._n_scored = 0
        self._problem = problem
        self._catalogue = catalogue
        self._i = i
        n, most = catalogue.graph.n_vertices, i + 1
        largest = int(min(n, problem.max_variables or most, most, problem.rules.max_clique))
        self._free = [FreeSets(problem, m) for m in range(2, largest + 1) if comb(m, 2) == i]
        self._local = [Bases(catalogue, (size, i)) for size in range(2, largest + 1) if comb(size, 2) >= i]
        self._extended = [
            (n_more, Bases(catalogue, kind)) for n_more, kind in extended_kinds(i, largest) if n_more
        ]
        self._fillings = Fillings(problem, catalogue, i, largest) if problem.fill_in else None
        self._waiting: list[tuple[float, int, Evidence]] = []  # scored and not yet judged
        self._accepted: list[tuple[float, int, Judged]] = []
        self._streams: list[tuple[float, int, Stream]] = []
        self._n_pushed = 0  # breaks ties in the heaps, nothing else
        self._known: dict[VarSet, SignedSets] = {}

    @property
    def candidates_scored(self) -> int:
        """How many exact gains were computed, equal ones once."""
        return self._n_scored + (self._fillings.candidates_scored if self._fillings else 0)

    def best(self, on_block: Callable[[int], None] = lambda n_sets: None) -> Judged | None:
        """Return the best acceptable set of i links (function lookahead, lines 3-7).

        ``on_block`` is called with the number of variable sets looked at since its last call.
        """
        self._look_around(on_block)
        labels = self._catalogue.labels
        n_next = _FIRST_BLOCK
        while True:
            at_least = self._problem.tie_with(self._best_rank(on_block))
            waiting = self._next_stream(at_least, on_block)
            if waiting is None:
                return self._first_of_tied(on_block)
            self._score(self._legal(waiting.take(n_next, at_least, labels)))
            self._wait(waiting)
            on_block(0)
            n_next = min(4 * n_next, _LARGEST_BLOCK)

    def _look_around(self, on_block: Callable[[int], None]) -> None:
        """Score what has come up in the graph since the last pass."""
        for bases in self._local:
            fresh = bases.fresh(on_block)
            self._score(found for found in fresh if each_misses_one(found.variables, found.links))
        for n_more, bases in self._extended:
            fresh = bases.fresh(on_block)
            if fresh:
                for stream in extensions(self._problem, self._catalogue.graph, fresh, n_more, on_block):
                    self._wait(stream)

    def _next_stream(self, at_least: float, on_block: Callable[[int], None]) -> Stream | None:
        """Return the stream that may hold a candidate of such a rank, the most promising first."""
        for free in self._free:
            next_best = -self._streams[0][0] if self._streams else -inf
            if free.highest_left >= at_least and free.highest_left > next_best:
                self._wait(free.scan(self._catalogue.labels, on_block))
                return self._next_stream(at_least, on_block)
        if self._streams and -self._streams[0][0] >= at_least:
            return heappop(self._streams)[2]
        return None

    def _wait(self, stream: Stream) -> None:
        if stream.highest > -inf:
            self._n_pushed += 1
            heappush(self._streams, (-stream.highest, self._n_pushed, stream))

    def _legal(self, sets: Iterable[VarSet]) -> Iterator[Candidate]:
        """Yield those sets that are legal sets of i links in the present graph."""
        rules, graph = self._problem.rules, self._catalogue.graph
        for variables in sets:
            if rules.may_complete(variables):
                found = candidate(graph, variables)
                if found is not None and len(found.links) == self._i and rules.may_change(found.change):
                    yield found

    def _score(self, candidates: Iterable[Candidate]) -> None:
        """Score the candidates that were not scored with the same value before; they wait to be judged."""
        new = [found for found in candidates if self._known.get(found.variables) != found.change]
        for start in range(0, len(new), _LARGEST_BLOCK):
            block = new[start : start + _LARGEST_BLOCK]
            self._known.update((found.variables, found.change) for found in block)
            self._n_scored += len(block)
            batch = evidence(self._problem, block)
            for found, upper in zip(batch, highest(self._problem.judge, batch), strict=True):
                if upper > -inf:
                    self._n_pushed += 1
                    heappush(self._waiting, (-upper, self._n_pushed, found))

    def _best_rank(self, on_block: Callable[[int], None]) -> float:
        """Return the highest rank of what is accepted and stands; -inf if there is nothing.

        Judging can be far more work than scoring, so only what can have the highest rank is judged.
        """
        n_next = 1
        while True:
            while self._accepted and not self._stands(self._accepted[0][2].evidence):
                heappop(self._accepted)
            best = -self._accepted[0][0] if self._accepted else -inf
            block = self._promising(n_next, self._problem.tie_with(best))
            if not block:
                return best
            self._judge(block)
            on_block(0)
            n_next = min(4 * n_next, _JUDGED_AT_ONCE)

    def _promising(self, most: int, at_least: float) -> list[Evidence]:
        """Take from what waits to be judged the best that can reach a rank, what does not stand left out."""
        block: list[Evidence] = []
        while self._waiting and len(block) < most and -self._waiting[0][0] >= at_least:
            found = heappop(self._waiting)[2]
            if self._stands(found):
                block.append(found)
        return block

    def _judge(self, block: list[Evidence]) -> None:
        for found, verdict in zip(block, self._problem.judge.judge(block), strict=True):
            if verdict.is_accepted:
                self._n_pushed += 1
                heappush(self._accepted, (-verdict.rank, self._n_pushed, Judged(found, verdict)))

    def _first_of_tied(self, on_block: Callable[[int], None]) -> Judged | None:
        """Return the first link set, then the first fill-in, in lexicographic order that ties with the best."""
        best = self._best_rank(on_block)
        filled = self._fillings.accepted(best, on_block) if self._fillings else []
        at_least = self._problem.tie_with(max([best, *(found.verdict.rank for found in filled)]))
        tied = []
        while self._accepted and -self._accepted[0][0] >= at_least:
            entry = heappop(self._accepted)
            if self._stands(entry[2].evidence):
                tied.append(entry)
        for entry in tied:
            heappush(self._accepted, entry)
        best_of_all = [*filled, *(entry[2] for entry in tied)]
        return min(best_of_all, key=lambda found: (found.evidence.links, found.evidence.fill_in), default=None)

    def _stands(self, scored: Evidence) -> bool:
        """Whether a candidate is still legal and its value what it was."""
        found = candidate(self._catalogue.graph, scored.variables)
        return found is not None and found.links == scored.links and found.change == scored.change
