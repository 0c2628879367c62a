"""Candidates with fill-in: sets whose own links would break chordality.

A variable set W with i missing links is *admitted* when its variables themselves speak for it: each two of them
that are not linked share more given the rest of W than by themselves, by what W on its own would have to gain
to be accepted; a pair must share that much. It is a question of what only the whole of W shows, and does not
depend on the graph around it, so each set is asked once. An admitted set that cannot be completed alone is a
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
from xordal.graph.fill_in import completions, region, touched
from xordal.graph.separators import Ways
from xordal.graph.signed_sets import change, free_parameters
from xordal.search.candidates import Candidate, within
from xordal.search.gain import gains
from xordal.search.pieces import Apart, Extended, has_ways
from xordal.search.problem import Judged, Problem, evidence
from xordal.search.sweep import OnBlock
from xordal.statistics.criterion import Evidence, Shape, Verdict, shape_of
from xordal.types import Link, LinkSet, SignedSets, VarSet, members, varset

_BLOCK = 1000  # sets looked at between two words of progress
_FIRST_BLOCK = 16  # candidates judged in one go


_Able = tuple[Evidence, Verdict, Verdict]
"""A candidate with fill-in and the verdicts on its own links and on all."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What speaks for a candidate with fill-in: its own links where they come in, and all links."""

    own: Evidence
    whole: Evidence


def filled(
    problem: Problem, graph: ChordalGraph, ways: Ways, sets: Sequence[VarSet]
) -> list[tuple[Filled, ...]]:
    """Return the candidates that complete each set with fill-in; none if it needs none, or may not be."""
    found = [[*_candidates(problem, graph, ways, variables)] for variables in sets]
    own = evidence(problem, [one for some in found for one, _ in some])
    whole = evidence(problem, [one for some in found for _, one in some])
    pairs = map(Filled, own, whole)
    return [tuple(next(pairs) for _ in some) for some in found]


def _candidates(
    problem: Problem, graph: ChordalGraph, ways: Ways, variables: VarSet
) -> Iterator[tuple[Candidate, Candidate]]:
    rules = problem.rules
    if not rules.may_complete(variables):
        return
    missing = graph.missing_links(variables)
    for done in completions(graph, ways, variables, problem.n_levels):
        links = tuple(sorted((step.x, step.y) for step in done.steps))
        whole = Candidate(_ends(links), links, change(done.steps), done.fill_in, done.steps)
        if done.fill_in and rules.may_add(links) and rules.may_change(whole.change):
            yield Candidate(variables, missing, change(done.own), steps=done.own), whole


def _ends(links: LinkSet) -> VarSet:
    return varset(v for link in links for v in link)


def accepted(problem: Problem, sets: Sequence[tuple[Filled, ...]]) -> list[Judged | None]:
    """Return for each set the verdict on its best fill-in, None where none is accepted: own links, then all.

    A candidate ranks by what its own links say, or by the whole where that says less: however much is filled
    in, what calls for it are its own links. Of fill-ins that tie, the one that is best as a whole is taken.
    """
    judged, every = problem.judge.judge, [one for some in sets for one in some]
    own = judged([one.own for one in every])
    able = [place for place, verdict in enumerate(own) if verdict.is_accepted]
    whole = dict(zip(able, judged([every[place].whole for place in able]), strict=True))
    best: list[Judged | None] = []
    at = 0
    for some in sets:
        places = [place for place in range(at, at + len(some)) if place in whole and whole[place].is_accepted]
        best.append(_best(problem, [(every[place].whole, own[place], whole[place]) for place in places]))
        at += len(some)
    return best


def _best(problem: Problem, able: list[_Able]) -> Judged | None:
    """Return the best of some fill-ins of one set."""
    able = _tied(problem, able, [min(own.rank, whole.rank) for _, own, whole in able])
    able = _tied(problem, able, [whole.rank for _, _, whole in able])
    if not able:
        return None
    found, own, whole = min(able, key=lambda one: one[0].links)
    return Judged(found, whole._replace(rank=min(own.rank, whole.rank)))


def _tied(problem: Problem, able: list[_Able], ranks: list[float]) -> list[_Able]:
    """Return those whose ranks tie with the highest."""
    if not able:
        return []
    at_least = max(ranks) - problem.judge.tolerance(max(ranks))
    return [one for one, rank in zip(able, ranks, strict=True) if rank >= at_least]


def admitted(problem: Problem, graph: ChordalGraph, sets: Sequence[VarSet]) -> list[bool]:
    """Return which sets their own variables speak for."""
    missing = [graph.missing_links(variables) for variables in sets]
    pairs = [
        _beyond_the_pair(variables, link)
        for variables, links in zip(sets, missing, strict=True)
        for link in links
    ]
    shared = iter(gains(pairs, problem.oracle))
    own = np.array([min(next(shared) for _ in links) for links in missing])
    shapes = [_shape(within(graph, variables), problem.n_levels) for variables in sets]
    passes = np.zeros(len(sets), dtype=np.bool_)
    for shape in set(shapes):
        here = np.flatnonzero([other == shape for other in shapes])
        passes[here] = problem.judge.ceiling(shape, own[here]) > -inf
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


def _shape(alone: Candidate, n_levels: tuple[int, ...]) -> Shape:
    return Shape(alone.variables.bit_count(), len(alone.links), 0, free_parameters(alone.change, n_levels))


@dataclass(slots=True)
class _Looked:
    """What was found of an admitted set.

    ``region`` is where its completion takes place, ``upper`` the highest rank it can have, ``accepted`` its
    best fill-in once that is judged.
    """

    region: VarSet
    n_components: int
    fill_ins: tuple[Filled, ...]
    upper: float
    is_judged: bool = False
    accepted: Judged | None = None


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

    def accepted(self, graph: ChordalGraph, best: float, on_block: OnBlock) -> list[Judged]:
        """Return the accepted candidates that tie with the best of all; ``best`` is the highest rank of others.

        Judging can be far more work than scoring, so those that can rank highest are judged first.
        """
        if graph != self._graph:
            self._admit(graph, on_block)
            self._note_changes(graph)
            self._look(graph, on_block)
            self._graph = graph
        every = [looked for looked in self._looked.values() if looked and looked.upper > -inf]
        best = max([best, *(one.accepted.verdict.rank for one in every if one.accepted)])
        waiting = sorted((one for one in every if not one.is_judged), key=lambda one: -one.upper)
        n_next, at = _FIRST_BLOCK, 0
        while at < len(waiting) and waiting[at].upper >= self._tie(best):
            block = waiting[at : at + n_next]
            found = accepted(self._problem, [one.fill_ins for one in block])
            for one, judged in zip(block, found, strict=True):
                one.is_judged, one.accepted = True, judged
                best = max(best, judged.verdict.rank) if judged else best
            at, n_next = at + n_next, min(4 * n_next, _BLOCK)
            on_block(0)
        tie = self._tie(best)
        return [one.accepted for one in every if one.accepted and one.accepted.verdict.rank >= tie]

    def _tie(self, best: float) -> float:
        return best if best == -inf else best - self._problem.judge.tolerance(best)

    def _admit(self, graph: ChordalGraph, on_block: OnBlock) -> None:
        """Ask the sets that have come up whether their variables speak for them."""
        if not has_ways(graph):
            return
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
        new = [s for s, looked in self._looked.items() if looked is None]
        if not new:
            return
        ways = Ways(graph)
        for block in _blocks(new):
            for variables, found in zip(block, filled(self._problem, graph, ways, block), strict=True):
                self.candidates_scored += len(found)
                able = tuple(one for one in found if self._upper(one) > -inf)
                upper = max(map(self._upper, able), default=-inf)
                around = region(graph, ways, variables)
                self._looked[variables] = _Looked(around, _n_components(graph, variables), able, upper)
            on_block(0)

    def _upper(self, found: Filled) -> float:
        """Return the highest rank that a candidate can have; -inf if it cannot be accepted."""
        ceiling = self._problem.judge.ceiling
        return min(float(ceiling(shape_of(e), np.array([e.gain]))[0]) for e in (found.own, found.whole))


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
