"""Sets whose own links would break chordality, completed together with a fill-in.

:mod:`xordal.search.completing` says when such a set is a candidate. Work is put off: a set that is admitted is
looked at again only when the graph changes on the paths between its variables; what its own link may gain
bounds the rank of a pair, what the steps of its fill-ins gain bounds a set, and only what could then be the
best is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf

import numpy as np

from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph
from xordal.graph.fill_in import Completion, own_steps, region
from xordal.graph.pieces import has_parts, last_to_come
from xordal.search.best_first import Scored
from xordal.search.candidate import gains, of_chain, within
from xordal.search.completing.legality import fill_ins
from xordal.search.problem import Judged, Problem, accepted, evidence
from xordal.search.sources.bounded import BoundedSets
from xordal.search.state import Change, GraphState
from xordal.statistics.criterion import Evidence, Shape
from xordal.types.varsets import Link, SignedSets, VarSet, members, varset

Region = tuple[VarSet, tuple[int, ...]]
"""Some variables, and which of them each is linked to."""


@dataclass(slots=True, eq=False)
class Admitted:
    """An admitted set, as it lies in the present graph.

    Attributes
    ----------
    region
        The variables on the paths between its own, each with its neighbours there: while these stay the same,
        so do its fill-ins.
    number
        Its place among the admitted, in the order in which they came.
    fill_ins
        Those that may be accepted.
    is_scored
        Whether these were worked out.
    """

    region: Region
    number: int
    fill_ins: list[Completion] = field(default_factory=list)
    is_scored: bool = False


class WithFillIn:
    """Completes sets of i missing links whose own links would break chordality."""

    def __init__(self, problem: Problem, state: GraphState, i: int) -> None:
        self.n_scored = 0
        self._problem, self._state, self._i = problem, state, i
        self._tested: set[VarSet] = set()
        self._admitted: dict[VarSet, Admitted] = {}
        self._numbers = count()
        self._near: dict[int, set[VarSet]] = {}  # admitted sets that have a variable in their region, or had
        self._highest: dict[Addition, float] = {}  # rank of a pair's own link, the same in most later graphs

    def is_pointless(self) -> bool:
        """Whether all variables of each component are linked: no set needs fill-in then."""
        return self._state.graph.is_union_of_cliques

    def bounded(self, found: Iterable[BoundedSets], change: Change) -> Iterable[BoundedSets]:
        """Return the sets that are admitted: new ones, and those that the change can have altered."""
        with self._problem.watch.phases.of("fill-in"):
            sets = self._altered(change)
            for some in found:
                sets += self._admit(some.all())
            return [self._looked_at(sets)] if sets else []

    def _altered(self, change: Change) -> list[VarSet]:
        """Return the admitted sets that lie in the graph in another way; forget those that miss other links."""
        for link in map(varset, change.removed):  # what misses one more link is another question
            self._tested = {s for s in self._tested if s & link != link}
        self._problem.watch.check()
        ends, touched, regrouped = change.ends, change.touched, change.regrouped
        near = {s for v in members(VarSet(ends | touched | regrouped)) for s in self._near.get(v, ())}
        found = []
        for s in sorted(near & self._admitted.keys(), key=lambda s: self._admitted[s].number):
            one = self._admitted[s]
            if s & ends and len(change.after.missing_links(s)) != self._i:
                del self._admitted[s]
            elif (one.region[0] & touched or s & regrouped) and one.region != self._region(s):
                found.append(s)
        return found

    def _region(self, variables: VarSet) -> Region:
        """Return what lies between the variables of a set in the present graph."""
        inside, masks = region(self._state.graph, self._state.paths, variables), self._state.graph.neighbours
        return inside, tuple([masks[v] & inside for v in members(inside)])

    def _admit(self, sets: list[VarSet]) -> list[VarSet]:
        """Test the sets that were not tested before; return those that are admitted."""
        graph = self._state.graph
        new = [s for s in dict.fromkeys(sets) if s not in self._tested and graph.misses(s, self._i)]
        self._tested.update(new)
        return [s for s, may in zip(new, admitted(self._problem, graph, new), strict=True) if may]

    def _looked_at(self, sets: list[VarSet]) -> BoundedSets:
        """Return sets with the highest rank they can have: of a pair, what its own link may reach."""
        graph, paths = self._state.graph, self._state.paths
        for s in sets:
            before = self._admitted.get(s)
            one = Admitted(self._region(s), next(self._numbers) if before is None else before.number)
            self._admitted[s] = one
            for v in members(VarSet(s | one.region[0])):
                self._near.setdefault(v, set()).add(s)
        pairs = [s for s in sets if s.bit_count() == 2]
        own = {s: own_steps(graph, paths, *members(s)) for s in pairs if graph.n_components_of(s) == 1}
        new = {step for steps in own.values() for step in steps if step not in self._highest}
        self._problem.weigh(new)
        chains = [((step,), varset((step.x, step.y))) for step in new]
        self._highest.update(zip(new, self._problem.highest(chains), strict=True))
        uppers = dict.fromkeys(sets, inf) | {
            s: max([self._highest[step] for step in own.get(s, ())], default=-inf) for s in pairs
        }
        able = [s for s, upper in uppers.items() if upper > -inf and self._problem.rules.may_complete(s)]
        return BoundedSets.each(able, [uppers[s] for s in able])

    def score(self, sets: Sequence[VarSet]) -> list[Scored]:
        """Return the sets with the fill-ins that may be accepted, by what their steps gain."""
        with self._problem.watch.phases.of("fill-in"):
            return self._scored(sets)

    def _scored(self, sets: Sequence[VarSet]) -> list[Scored]:
        able = [(s, one) for s in sets if (one := self._admitted.get(s)) and not one.is_scored]
        every = [(s, done) for s, one in able for done in fill_ins(self._problem, self._state, s)]
        self._problem.weigh(step for _, done in every for step in done.steps)
        own = self._problem.highest([(done.own, s) for s, done in every])
        whole = self._problem.highest([(done.steps, done.ends) for _, done in every])
        uppers: dict[VarSet, list[float]] = {}
        for _, one in able:
            one.is_scored = True
        for (s, done), upper in zip(every, map(min, own, whole), strict=True):
            if upper > -inf:
                self._admitted[s].fill_ins.append(done)
                uppers.setdefault(s, []).append(upper)
        return [Scored(s, max(some), self._admitted[s]) for s, some in uppers.items()]

    def judge(self, batch: Sequence[Scored]) -> list[Judged | None]:
        """Return the verdicts on the best fill-in of each set."""
        with self._problem.watch.phases.of("fill-in"):
            sets = [(one.variables, one.what.fill_ins) for one in batch]
            found = filled(self._problem, self._state.graph, sets)
            self.n_scored += sum(map(len, found))
            return accepted(self._problem, found)

    def stands(self, scored: Scored) -> bool:
        """Whether a set still lies in the graph as it did."""
        return self._admitted.get(scored.variables) is scored.what


def admitted(problem: Problem, graph: ChordalGraph, sets: Sequence[VarSet]) -> list[bool]:
    """Return which sets are admitted: every two variables that are not linked need the rest of the set."""
    missing = [graph.missing_links(s) for s in sets]
    pairs = [_beyond_the_pair(s, link) for s, links in zip(sets, missing, strict=True) for link in links]
    shared = iter(gains(pairs, problem.oracle))
    own = np.array([min([next(shared) for _ in links]) for links in missing])
    alike: dict[Shape, list[int]] = {}
    for number, s in enumerate(sets):
        shape = problem.shapes.of(within(graph, s))._replace(is_odd=False)  # with fill-in only parts are tested
        alike.setdefault(shape, []).append(number)
    passes = np.zeros(len(sets), dtype=np.bool_)
    for shape, numbers in alike.items():
        passes[numbers] = problem.judge.ceiling(shape, own[numbers]) > -inf
    return passes.tolist()


def _beyond_the_pair(variables: VarSet, link: Link) -> SignedSets:
    """Return the change whose gain is what two variables share given the rest of a set, less what they share.

    For a pair by itself it is what they share.
    """
    x, y = VarSet(1 << link[0]), VarSet(1 << link[1])
    pair = VarSet(x | y)
    terms: SignedSets = {variables: 1, VarSet(variables & ~x): -1, VarSet(variables & ~y): -1}
    if rest := VarSet(variables & ~pair):
        terms |= {rest: 1, pair: -1, x: 1, y: 1}  # no two of these seven are the same set
    return terms


def filled(
    problem: Problem, graph: ChordalGraph, sets: Sequence[tuple[VarSet, Sequence[Completion]]]
) -> list[list[Evidence]]:
    """Return the evidence for all links of each fill-in of each set, with that for the set's own links."""
    every = [(s, done) for s, some in sets for done in some]
    own = evidence(problem, [of_chain(s, done.own) for s, done in every])
    own = [e._replace(parts=_parts(problem, graph, done, e)) for e, (_, done) in zip(own, every, strict=True)]
    whole = evidence(problem, [of_chain(done.ends, done.steps, done.fill_in) for _, done in every])
    both = (all_links._replace(also=(its_own,)) for all_links, its_own in zip(whole, own, strict=True))
    return [[next(both) for _ in some] for _, some in sets]


def _parts(
    problem: Problem, graph: ChordalGraph, done: Completion, own: Evidence
) -> tuple[tuple[Addition, ...], ...]:
    """Return the links of each piece of a set that can come last, when all other links are there."""
    problem.watch.check()
    if not has_parts(own.variables, own.links):
        return ()
    after = graph.extended(tuple((step.x, step.y) for step in done.steps))
    return last_to_come(after, own.variables, own.links)
