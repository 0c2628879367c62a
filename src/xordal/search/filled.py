"""What a candidate with fill-in is: a set whose own links would break chordality, and the links that mend it.

A variable set W with i missing links is *admitted* when its variables themselves speak for it: each two of them
that are not linked share more given the rest of W than by themselves, by what W on its own would have to gain
to be accepted; a pair must share that much. It is a question of what only the whole of W shows, and does not
depend on the graph around it. An admitted set that cannot be completed alone is a candidate with each fill-in
that the rule offers (:mod:`xordal.graph.fill_in`), provided that its own links are accepted where they come in;
what is scored, charged and accepted then is the whole, filled-in links included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph
from xordal.graph.fill_in import Completion, completions
from xordal.graph.separators import Ways
from xordal.graph.signed_sets import change, free_parameters
from xordal.search.candidates import Candidate, within
from xordal.search.gain import gains
from xordal.search.problem import Judged, Problem, evidence
from xordal.statistics.criterion import Evidence, Shape, Verdict
from xordal.types import Link, SignedSets, VarSet, varset

_Able = tuple[Evidence, Verdict, Verdict]
"""A candidate with fill-in and the verdicts on its own links and on all."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What speaks for a candidate with fill-in: its own links where they come in, and all links."""

    own: Evidence
    whole: Evidence


def fill_ins(problem: Problem, graph: ChordalGraph, ways: Ways, variables: VarSet) -> list[Completion]:
    """Return the ways to complete a variable set with fill-in; none if it needs none, or may not be."""
    rules = problem.rules
    if not rules.may_complete(variables):
        return []
    return [
        done
        for done in completions(graph, ways, variables, problem.n_levels)
        if done.fill_in and rules.may_add(done.fill_in) and _largest(done) <= rules.max_clique
    ]


def filled(
    problem: Problem, graph: ChordalGraph, sets: Sequence[tuple[VarSet, Sequence[Completion]]]
) -> list[tuple[Filled, ...]]:
    """Return the evidence for sets and their fill-ins, from two oracle calls."""
    own = [
        Candidate(variables, graph.missing_links(variables), change(done.own), steps=done.own)
        for variables, some in sets
        for done in some
    ]
    whole = [_whole(done) for _, some in sets for done in some]
    pairs = map(Filled, evidence(problem, own), evidence(problem, whole))
    return [tuple(next(pairs) for _ in some) for _, some in sets]


def _largest(done: Completion) -> int:
    """Return the size of the largest clique that a completion makes."""
    return 2 + max(step.separator.bit_count() for step in done.steps)


def _whole(done: Completion) -> Candidate:
    links = tuple(sorted((step.x, step.y) for step in done.steps))
    return Candidate(ends_of(done.steps), links, change(done.steps), done.fill_in, done.steps)


def ends_of(steps: Iterable[Addition]) -> VarSet:
    """Return the variables that some steps link."""
    return varset(v for step in steps for v in (step.x, step.y))


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
