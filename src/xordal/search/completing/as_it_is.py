"""Sets whose own links keep the graph chordal: the candidates of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from xordal.search.best_first import Scored
from xordal.search.candidate import candidate
from xordal.search.completing.legality import legal
from xordal.search.problem import Judged, Problem, accepted, evidence
from xordal.search.sources.bounded import BoundedSets
from xordal.search.state import Change, GraphState
from xordal.types.varsets import SignedSets, VarSet


class AsItIs:
    """Completes sets of i missing links whose own links keep the graph chordal."""

    def __init__(self, problem: Problem, state: GraphState, i: int) -> None:
        self.n_scored = 0
        self._problem, self._state, self._i = problem, state, i
        self._known: dict[VarSet, SignedSets] = {}
        self._scored_at: dict[VarSet, int] = {}

    def is_pointless(self) -> bool:
        """Return False: links can be added to any graph that is not complete."""
        return False

    def bounded(self, found: Iterable[BoundedSets], change: Change) -> Iterable[BoundedSets]:
        """Return what sources found: they see every change that matters here."""
        return found

    def score(self, sets: Sequence[VarSet]) -> list[Scored]:
        """Return the legal sets whose value is new."""
        right_size = [s for s in sets if self._state.graph.misses(s, self._i)]
        able = [legal(self._problem, self._state, s) for s in right_size]
        new = [one for one in able if one is not None and self._known.get(one.variables) != one.change]
        self._known.update((one.variables, one.change) for one in new)
        self._scored_at.update(dict.fromkeys([one.variables for one in new], self._state.position))
        self.n_scored += len(new)
        batch = evidence(self._problem, new)
        uppers = self._problem.judge.highest(batch)
        return [Scored(e.variables, upper, e) for e, upper in zip(batch, uppers, strict=True) if upper > -inf]

    def judge(self, batch: Sequence[Scored]) -> list[Judged | None]:
        """Return the verdicts, from one call of the judge."""
        return accepted(self._problem, [one.what for one in batch])

    def stands(self, scored: Scored) -> bool:
        """Whether a set is still legal and gains what it did."""
        s, e = scored.variables, scored.what
        if self._scored_at[s] == self._state.position and self._known.get(s) is e.change:
            return True  # in this very graph
        found = candidate(self._state.graph, s)
        if found is not None and found.links == e.links and found.change == e.change:
            return True
        if self._known.get(s) == e.change:
            del self._known[s]  # a link that goes may bring this very value back
        return False
