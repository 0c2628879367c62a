"""The best candidate of those that are completed in one way, found with as little work as possible.

Each set goes through three stages, each dearer than the one before:

    bounded   found by a source, with the highest rank it can have
    scored    its gain is known, from counts, and so is a lower bound on its p-value
    judged    its p-value is known, and it is accepted

All wait in one heap, by the highest rank they can have. Whatever is on top goes on to its next stage; a judged
candidate on top is the best of all, since nothing that waits can be better: the same answer as testing
everything in each pass. What waits stays for the next pass; whether it still stands in the graph of that pass
is asked when it comes to the top.

Example: bounds 9, 7, 3. The first is scored: at most 8. It is judged: 5. The second is on top now, is scored,
at most 4, and waits. The first, judged, is on top: the best is 5. The third is not even scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any, NamedTuple, Protocol

from xordal.search.problem import Judged, best_ways
from xordal.search.sources import Source
from xordal.search.sources.around import Held
from xordal.search.sources.bounded import BoundedSets
from xordal.search.state import Change
from xordal.types.varsets import VarSet

_FIRST_SCORED, _MOST_SCORED = 16, 4096  # sets scored in one go: a call of NumPy costs as much as some ten sets
# Sets judged in one go. What ranks high now is likely to be the best of a later pass, and a p-value costs
# little more in company; where tables are sparse it takes some milliseconds, so not too many at once.
_FIRST_JUDGED, _MOST_JUDGED = 4, 256


class Scored(NamedTuple):
    """A way to complete a variable set: the highest rank it can have, and, once it is judged, the verdict."""

    variables: VarSet
    upper: float
    what: Any  # whatever the way of completing it needs to judge it
    judged: Judged | None = None


class Completing(Protocol):
    """One way to complete variable sets (:mod:`xordal.search.completing`)."""

    n_scored: int

    def is_pointless(self) -> bool:
        """Whether nothing can be completed this way in the present graph."""
        ...

    def bounded(self, found: Iterable[BoundedSets], change: Change) -> Iterable[BoundedSets]:
        """Return the sets to be scored, of those that sources found and those that a change has altered."""
        ...

    def score(self, sets: Sequence[VarSet]) -> Sequence[Scored | BoundedSets]:
        """Return ways to complete the sets that may be accepted; not those that were scored as they are now.

        Of some sets only a lower bound on their rank may be known now: these wait once more.
        """
        ...

    def judge(self, batch: Sequence[Scored]) -> list[Judged | None]:
        """Return the verdict on each; None where it is not accepted."""
        ...

    def stands(self, scored: Scored) -> bool:
        """Whether a set is what it was when it was scored; one that is not may be scored again."""
        ...


class BestFirst:
    """The candidates of some sources, completed in one way.

    Parameters
    ----------
    held
        The problem, the present graph, and whom to tell of progress.
    completing
        How sets are completed, scored and judged.
    sources
        Where sets come from.
    """

    def __init__(self, held: Held, completing: Completing, sources: Sequence[Source]) -> None:
        self.completing = completing
        self._problem, self._state, self._tell = held.problem, held.state, held.tell
        self._sources = sources
        self._position = 0
        self._waiting: list[tuple[float, int, BoundedSets | Scored]] = []
        self._number = count()  # tells equal ranks apart in the heap, and means nothing else

    def best(self, other: float = -inf) -> list[Judged]:
        """Return the accepted candidates that tie with the best, or with ``other``, a rank found elsewhere."""
        if self.completing.is_pointless():
            return []
        self._follow()
        found: list[Scored] = []
        known, n_scored, n_judged = other, _FIRST_SCORED, _FIRST_JUDGED
        while self._waiting and -self._waiting[0][0] >= self._problem.tie_with(other):
            at_least = self._problem.tie_with(known)
            first = heappop(self._waiting)[2]
            if isinstance(first, BoundedSets):
                sets = first.take(n_scored, at_least, self._state.labels)
                n_scored = min(4 * n_scored, _MOST_SCORED)
                self._wait(*self.completing.score(sets), first)
            elif not self.completing.stands(first):
                continue
            elif first.judged is not None:
                found.append(first)
                known = other = max(other, first.upper)
            else:
                batch = [first, *self._next_scored(n_judged - 1, at_least)]
                n_judged = min(4 * n_judged, _MOST_JUDGED)
                for one, judged in zip(batch, self.completing.judge(batch), strict=True):
                    if judged is not None:
                        self._wait(one._replace(upper=judged.verdict.rank, judged=judged))
                        known = max(known, judged.verdict.rank)
            self._tell(0)
        self._wait(*found)
        best = (one for one in found if one.upper >= self._problem.tie_with(other))
        return best_ways(self._problem, [(one.variables, one.judged) for one in best if one.judged])

    def _follow(self) -> None:
        """Let the sources see what has changed since the last pass."""
        if self._position == self._state.position:
            return
        change, self._position = self._state.since(self._position), self._state.position
        found = (some for source in self._sources for some in source.fresh(change))
        self._wait(*self.completing.bounded(found, change))

    def _wait(self, *ones: BoundedSets | Scored) -> None:
        for one in ones:
            if one.upper > -inf:
                heappush(self._waiting, (-one.upper, next(self._number), one))

    def _next_scored(self, most: int, at_least: float) -> list[Scored]:
        """Take the next sets that can be judged together with the one on top, down to a rank."""
        found: list[Scored] = []
        while len(found) < most and self._waiting and -self._waiting[0][0] >= at_least:
            one = self._waiting[0][2]
            if isinstance(one, BoundedSets) or one.judged is not None:
                break
            heappop(self._waiting)
            if self.completing.stands(one):
                found.append(one)
        return found
