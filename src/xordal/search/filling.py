"""The candidates with fill-in of one number of links, in a graph that grows.

What they are says :mod:`search.filled`. Sets that may be admitted are found where plain candidates are, in the
scans of all sets of one size and as extensions of what links hold together (:mod:`search.pieces`), and each is
asked once. Of an admitted set is remembered where its completion takes place; it is looked at again when the
graph changes there. Work is put off: what its own link may gain bounds a pair, what the steps of its fill-ins
gain bounds a set, and only what could then be the best is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import comb, inf

import numpy as np
from numpy.typing import NDArray

from xordal.graph.chain import Addition, additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.fill_in import Completion, own_steps, region, touched
from xordal.graph.separators import Ways
from xordal.search.filled import accepted, admitted, ends_of, fill_ins, filled
from xordal.search.parts import Catalogue, extended_kinds
from xordal.search.pieces import Apart, Extended, has_ways
from xordal.search.problem import Judged, Problem
from xordal.search.sweep import OnBlock
from xordal.statistics.criterion import Shape
from xordal.types import VarSet, members, varset

_BLOCK = 1000  # sets looked at between two words of progress
_FIRST_BLOCK = 16  # candidates judged in one go
_ROUNDING = 1e-9  # nats: far more than sums of gains are off


@dataclass(slots=True)
class _Looked:
    """What is known of an admitted set; each step of work is done only when it could be the best.

    Attributes
    ----------
    region
        Where its completion takes place.
    n_components
        How many components it lies in.
    upper
        The highest rank it can have; -inf if it cannot be accepted.
    fill_ins
        Those that may be accepted, once they are weighed.
    is_judged, accepted
        Whether the best of them was judged, and the verdict where it is accepted.
    """

    region: VarSet
    n_components: int
    upper: float
    fill_ins: list[Completion] | None = None
    is_judged: bool = False
    accepted: Judged | None = None


class Fillings:
    """The candidates of i links with fill-in, in a graph that grows.

    Parameters
    ----------
    problem
        Who counts and who decides.
    catalogue
        Knows the present graph.
    i
        Number of lookahead links: those that the sets themselves miss.
    largest
        Largest variable set to complete.
    """

    def __init__(self, problem: Problem, catalogue: Catalogue, i: int, largest: int) -> None:
        self.candidates_scored = 0
        self._problem = problem
        self._catalogue = catalogue
        self._i = i
        self._apart = [Apart(problem, m) for m in range(2, largest + 1) if comb(m, 2) == i]
        self._extended = [Extended(problem, kind, n_more) for n_more, kind in extended_kinds(i, largest)]
        self._asked: set[VarSet] = set()
        self._looked: dict[VarSet, _Looked | None] = {}  # of each admitted set; None: to be looked at
        self._bounds: dict[Addition, float] = {}  # the highest ranks of links of pairs
        self._graph: ChordalGraph | None = None
        self._ways: Ways | None = None

    def accepted(self, best: float, on_block: OnBlock) -> list[Judged]:
        """Return the accepted candidates that tie with the best of all; ``best`` is the highest rank of others.

        Judging can be far more work than scoring, so those that can rank highest are judged first.
        """
        graph = self._catalogue.graph
        if graph != self._graph:
            self._admit(graph, on_block)
            self._note_changes(graph)
            self._look(graph, on_block)
            self._graph = graph
        every = [(s, looked) for s, looked in self._looked.items() if looked and looked.upper > -inf]
        best = max([best, *(looked.accepted.verdict.rank for _, looked in every if looked.accepted)])
        waiting = [(-one.upper, s) for s, one in every if not one.is_judged]
        heapify(waiting)
        n_next = _FIRST_BLOCK
        while waiting and -waiting[0][0] >= (tie := self._problem.tie_with(best)):
            able = (heappop(waiting)[1] for _ in range(n_next) if waiting and -waiting[0][0] >= tie)
            for s in self._work_on(list(able), graph):
                heappush(waiting, (-self._known(s).upper, s))
            best = max([best, *(one.accepted.verdict.rank for _, one in every if one.accepted)])
            n_next = min(2 * n_next, _BLOCK)
            on_block(0)
        tie = self._problem.tie_with(best)
        return [one.accepted for _, one in every if one.accepted and one.accepted.verdict.rank >= tie]

    def _work_on(self, sets: list[VarSet], graph: ChordalGraph) -> list[VarSet]:
        """Weigh the fill-ins of some sets, or judge them where they are weighed; return those to wait again."""
        weighed = [s for s in sets if self._known(s).fill_ins is not None]
        self._judge(weighed, graph)
        new = [s for s in sets if self._known(s).fill_ins is None]
        self._weigh(new, graph)
        return [s for s in new if self._known(s).upper > -inf]

    def _judge(self, sets: list[VarSet], graph: ChordalGraph) -> None:
        found = filled(self._problem, graph, [(s, self._known(s).fill_ins or ()) for s in sets])
        self.candidates_scored += sum(map(len, found))
        for s, judged in zip(sets, accepted(self._problem, found), strict=True):
            known = self._known(s)
            known.is_judged, known.accepted = True, judged

    def _weigh(self, sets: list[VarSet], graph: ChordalGraph) -> None:
        """Find out which fill-ins of some sets may be accepted, from what their steps gain."""
        offered = [fill_ins(self._problem, graph, self._ways_in(graph), s) for s in sets]
        self._problem.weigh(step for some in offered for done in some for step in done.steps)
        for s, some in zip(sets, offered, strict=True):
            uppers = [self._upper(s, done) for done in some]
            known = self._known(s)
            known.fill_ins = [done for done, upper in zip(some, uppers, strict=True) if upper > -inf]
            known.upper = max(uppers, default=-inf)

    def _ways_in(self, graph: ChordalGraph) -> Ways:
        """Return the ways of the present graph, worked out when they are needed."""
        if self._ways is None or self._ways.graph != graph:
            self._ways = Ways(graph, self._ways)
        return self._ways

    def _known(self, variables: VarSet) -> _Looked:
        looked = self._looked[variables]
        assert looked is not None, "all admitted sets have been looked at"
        return looked

    def _admit(self, graph: ChordalGraph, on_block: OnBlock) -> None:
        """Ask the sets that have come up whether their variables speak for them."""
        if not has_ways(graph):
            return
        sources: list[Apart | Extended] = [*self._apart, *self._extended]
        for source in sources:
            for block in _blocks(source.fresh(self._catalogue, on_block)):
                new = [s for s in block if s not in self._asked and _misses_everywhere(graph, s, self._i)]
                self._asked.update(new)
                on_block(len(new))
                for variables, is_admitted in zip(new, admitted(self._problem, graph, new), strict=True):
                    if is_admitted:
                        self._looked[variables] = None

    def _note_changes(self, graph: ChordalGraph) -> None:
        """Forget what was found of sets that the change of the graph can have touched."""
        if self._graph is None:
            return
        ends = graph.ends_of_change(self._graph)
        before = self._graph.neighbours
        new = tuple((u, v) for u in ends for v in members(graph.neighbours[u] & ~before[u]) if u < v)
        steps = additions(self._graph, new)
        assert steps is not None, "both graphs are chordal"
        around, linked = touched(steps), varset(ends)
        joined = varset(v for step in steps if step.separator == 0 for v in members(graph.components[step.x]))
        for variables, looked in list(self._looked.items()):
            if variables & linked and len(graph.missing_links(variables)) != self._i:
                del self._looked[variables]
            elif looked and (
                looked.region & around
                or (variables & joined and looked.n_components != _n_components(graph, variables))
            ):
                self._looked[variables] = None

    def _look(self, graph: ChordalGraph, on_block: OnBlock) -> None:
        """Look where the admitted sets lie of which that is not known, and what their own links may gain."""
        for block in _blocks(s for s, looked in self._looked.items() if looked is None):
            ways = self._ways_in(graph)
            pairs = {
                s: own_steps(graph, ways, *members(s)) if _n_components(graph, s) == 1 else []
                for s in block
                if s.bit_count() == 2
            }
            self._bound(step for steps in pairs.values() for step in steps)
            for s in block:
                around, n_components = region(graph, ways, s), _n_components(graph, s)
                self._looked[s] = _Looked(around, n_components, self._highest(s, pairs.get(s)))
            on_block(0)

    def _highest(self, variables: VarSet, steps: list[Addition] | None) -> float:
        """Return the highest rank that a set can have; ``steps`` are those of a pair's own link."""
        if not self._problem.rules.may_complete(variables):
            return -inf
        if steps is None:
            return inf
        return max([self._bounds[step] for step in steps], default=-inf)

    def _bound(self, steps: Iterable[Addition]) -> None:
        """Work out the highest rank that links of pairs can have by themselves, of those that are not known."""
        new = [step for step in dict.fromkeys(steps) if step not in self._bounds]
        self._problem.weigh(new)
        by_shape: dict[Shape, list[Addition]] = {}
        for step in new:
            _, dof = self._problem.total((step,))
            by_shape.setdefault(Shape(2, 1, step.separator.bit_count(), dof), []).append(step)
        for shape, alike in by_shape.items():
            gains = np.array([self._problem.total((step,))[0] for step in alike])
            self._bounds.update(zip(alike, self._ceilings(shape, gains).tolist(), strict=True))

    def _upper(self, variables: VarSet, done: Completion) -> float:
        """Return the highest rank that a fill-in can have; -inf if it cannot be accepted."""
        ends = ends_of(done.steps)
        own = self._ceiling(done.own, variables)
        return own if own == -inf else min(own, self._ceiling(done.steps, ends))

    def _ceiling(self, steps: tuple[Addition, ...], inside: VarSet) -> float:
        """Return the highest rank that weighed steps can have."""
        gain, dof = self._problem.total(steps)
        return float(self._ceilings(_shape_of(steps, inside, dof), np.array([gain]))[0])

    def _ceilings(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the highest rank that candidates of a shape can have, from what they gain up to rounding."""
        upper = np.full(len(gains), -inf)
        may = gains >= self._problem.least_gain(shape) - _ROUNDING
        if may.any():
            upper[may] = self._problem.judge.ceiling(shape, gains[may] + _ROUNDING)
        return upper


def _shape_of(steps: tuple[Addition, ...], inside: VarSet, dof: int) -> Shape:
    """Return the shape of a candidate from its steps."""
    around = 0
    for step in steps:
        around |= step.separator
    return Shape(inside.bit_count(), len(steps), (around & ~inside).bit_count(), dof)


def _misses_everywhere(graph: ChordalGraph, variables: VarSet, i: int) -> bool:
    """Whether a set misses i links, and each of its variables one of them."""
    chosen = members(variables)
    n_apart = [(variables & ~graph.neighbours[v]).bit_count() - 1 for v in chosen]
    return sum(n_apart) == 2 * i and all(n_apart)


def _n_components(graph: ChordalGraph, variables: VarSet) -> int:
    return len({graph.components[v] for v in members(variables)})


def _blocks(sets: Iterable[VarSet]) -> Iterator[list[VarSet]]:
    every = list(sets)
    for start in range(0, len(every), _BLOCK):
        yield every[start : start + _BLOCK]
