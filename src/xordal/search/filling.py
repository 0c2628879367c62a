"""Candidates with fill-in: sets whose own links would break chordality.

A variable set W with i missing links is *admitted* when its variables themselves speak for it: each two of them
that are not linked share, given the rest of W, what W on its own would have to gain to be accepted. That does
not depend on the graph around W, so each set is asked once. An admitted set that cannot be completed alone is a
candidate with each fill-in that the rule offers (:mod:`xordal.graph.fill_in`), provided that its own links are
accepted where they come in; what is scored, charged and accepted then is the whole, filled-in links included.

Admitted sets are found where plain candidates are: in the scans of all sets of one size
(:class:`search.pieces.Scanned`) and as extensions of what links hold together (:class:`search.pieces.Pieces`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, inf

import numpy as np

from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.fill_in import Completion, completions, region, touched
from xordal.graph.separators import Ways
from xordal.graph.signed_sets import change, free_parameters
from xordal.search.candidates import Candidate, within
from xordal.search.gain import gains
from xordal.search.pieces import Apart, Extended
from xordal.search.problem import Judged, Problem, judge
from xordal.search.sweep import OnBlock
from xordal.statistics.criterion import Shape
from xordal.types import LinkSet, SignedSets, VarSet, members, varset

_BLOCK = 1000  # sets looked at between two words of progress


@dataclass(frozen=True, slots=True)
class Filled:
    """A candidate with fill-in: its own links where they come in, and all links."""

    own: Candidate
    whole: Candidate


def filled(problem: Problem, graph: ChordalGraph, ways: Ways, variables: VarSet) -> list[Filled]:
    """Return the candidates that complete a variable set with fill-in; none if it needs none, or may not be."""
    rules = problem.rules
    if not rules.may_complete(variables):
        return []
    missing = graph.missing_links(variables)
    found = [
        _filled(variables, missing, done) for done in completions(graph, ways, variables, problem.n_levels)
    ]
    return [
        one
        for one in found
        if one.whole.fill_in and rules.may_add(one.whole.links) and rules.may_change(one.whole.change)
    ]


def _filled(variables: VarSet, missing: LinkSet, done: Completion) -> Filled:
    links = tuple(sorted((step.x, step.y) for step in done.steps))
    ends = varset(v for link in links for v in link)
    whole = Candidate(ends, links, change(done.steps), done.fill_in, done.steps)
    return Filled(Candidate(variables, missing, change(done.own), steps=done.own), whole)


def accepted(problem: Problem, candidates: Sequence[Filled]) -> list[Judged | None]:
    """Return the verdicts on whole candidates, None for those that are not accepted: own links, then all."""
    own = judge(problem, [found.own for found in candidates])
    able = [place for place, found in enumerate(own) if found.verdict.is_accepted]
    whole = judge(problem, [candidates[place].whole for place in able])
    passed = {place: found for place, found in zip(able, whole, strict=True) if found.verdict.is_accepted}
    return [passed.get(place) for place in range(len(candidates))]


def admitted(problem: Problem, graph: ChordalGraph, sets: Sequence[VarSet]) -> list[bool]:
    """Return which sets their own variables speak for."""
    missing = [graph.missing_links(variables) for variables in sets]
    pairs = [
        _given_rest(variables, link) for variables, links in zip(sets, missing, strict=True) for link in links
    ]
    shared = iter(gains(pairs, problem.oracle))
    own = np.array([min(next(shared) for _ in links) for links in missing])
    shapes = [_shape(within(graph, variables), problem.n_levels) for variables in sets]
    passes = np.zeros(len(sets), dtype=np.bool_)
    for shape in set(shapes):
        here = np.flatnonzero([other == shape for other in shapes])
        passes[here] = problem.judge.ceiling(shape, own[here]) > -inf
    return passes.tolist()


def _given_rest(variables: VarSet, link: tuple[int, int]) -> SignedSets:
    """Return the change whose gain is what two variables of a set share given the others."""
    x, y = 1 << link[0], 1 << link[1]
    terms = {variables: 1, VarSet(variables & ~x): -1, VarSet(variables & ~y): -1}
    return {**terms, VarSet(variables & ~x & ~y): 1} if variables & ~x & ~y else terms


def _shape(alone: Candidate, n_levels: tuple[int, ...]) -> Shape:
    return Shape(alone.variables.bit_count(), len(alone.links), 0, free_parameters(alone.change, n_levels))


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was found of an admitted set: where its completion takes place, and what of it is accepted."""

    region: VarSet
    n_components: int
    accepted: tuple[Judged, ...]


class Fillings:
    """The candidates of i links with fill-in, in a graph that grows.

    Parameters
    ----------
    problem
        Who counts and who decides.
    i
        Number of lookahead links: those that the sets themselves miss.
    largest
        Largest variable set to complete.
    """

    def __init__(self, problem: Problem, i: int, largest: int) -> None:
        self.candidates_scored = 0
        self._problem = problem
        self._i = i
        self._apart = [Apart(problem, m) for m in range(2, largest + 1) if comb(m, 2) == i]
        self._extended = [Extended(problem, kind, n_more) for n_more, kind in _kinds(i, largest)]
        self._asked: set[VarSet] = set()
        self._looked: dict[VarSet, _Looked | None] = {}  # of each admitted set; None: to be looked at
        self._graph: ChordalGraph | None = None

    def accepted(self, graph: ChordalGraph, on_block: OnBlock) -> list[Judged]:
        """Return all candidates that are accepted in the graph."""
        if graph != self._graph:
            self._admit(graph, on_block)
            self._note_changes(graph)
            self._look(graph, on_block)
            self._graph = graph
        return [found for looked in self._looked.values() if looked for found in looked.accepted]

    def _admit(self, graph: ChordalGraph, on_block: OnBlock) -> None:
        """Ask the sets that have come up whether their variables speak for them."""
        sources: list[Apart | Extended] = [*self._apart, *self._extended]
        for source in sources:
            for block in _blocks(source.fresh(graph, on_block)):
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
        new = tuple(sorted(set(graph.links) - set(self._graph.links)))
        steps = additions(self._graph, new)
        assert steps is not None, "both graphs are chordal"
        around = touched(steps)
        is_joined = any(step.separator == 0 for step in steps)
        for variables, looked in list(self._looked.items()):
            if len(graph.missing_links(variables)) != self._i:
                del self._looked[variables]
            elif looked and (
                looked.region & around or (is_joined and looked.n_components != _n_components(graph, variables))
            ):
                self._looked[variables] = None

    def _look(self, graph: ChordalGraph, on_block: OnBlock) -> None:
        """Complete and judge the admitted sets of which that is not known."""
        ways = Ways(graph)
        for block in _blocks(s for s, looked in self._looked.items() if looked is None):
            found = [filled(self._problem, graph, ways, s) for s in block]
            verdicts = iter(accepted(self._problem, [one for some in found for one in some]))
            for variables, some in zip(block, found, strict=True):
                self.candidates_scored += len(some)
                passed = tuple(verdict for _ in some if (verdict := next(verdicts)) is not None)
                n_components = _n_components(graph, variables)
                self._looked[variables] = _Looked(region(graph, ways, variables), n_components, passed)
            on_block(0)


def _kinds(i: int, largest: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the numbers of single variables, and the kinds of what links hold together, that miss i links."""
    for n_more in range(largest - 1):
        for size in range(2, largest - n_more + 1):
            n_missing = i - n_more * size - comb(n_more, 2)
            if 0 <= n_missing <= comb(size, 2):
                yield n_more, (size, n_missing)


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
