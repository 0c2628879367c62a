"""The best network of all, for few columns: dynamic programming over junction trees.

A chordal graph is a tree of cliques. Hang it up at a clique C: what is left falls into parts R, each joined to
C by a separator S inside C, and each is best by itself. So, with score(A) what completing A is worth (Kangas,
Koivisto & Niinimaki 2014, Learning chordal Markov networks by dynamic programming),

    tree(S, R) = max over nonempty T in R of  score(S + T) + rest(S + T, R - T)
    part(C, R) = max over S in C of           tree(S, R) - score(S)
    rest(C, U) = max over P in U of           part(C, P) + rest(C, U - P)     P with the lowest variable of U

and tree({}, everything) is the optimum. Each line meets every variable in one of four roles, so it takes 4^N
steps: a tenth of a second for 8 columns. Forbidden and oversized cliques score -inf. A required link is kept by
letting a part R hang at S only if all that its variables are required to be linked with is in R or S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf

import numpy as np
from numpy.typing import NDArray

from xordal.graph.chordal import linked
from xordal.search.candidate import Candidate
from xordal.search.constraints import Allowed
from xordal.search.problem import Problem, judge
from xordal.types.varsets import LinkSet, SignedSets, VarSet, members

Scores = NDArray[np.float64]


def best_network(problem: Problem) -> tuple[LinkSet, float]:
    """Return the links of the best chordal graph of all, and by how much it is better than none.

    The judge must be of a score; of equally good graphs always the same is returned.
    """
    return best_graph(set_scores(problem), problem.allowed)


def set_scores(problem: Problem) -> Scores:
    """Return what completing each variable set adds to the score of no links at all; -inf if ruled out."""
    n = len(problem.n_levels)
    sets = [VarSet(s) for s in range(1 << n) if s.bit_count() > 1]
    able = [s for s in sets if problem.allowed.may_complete(s) and s.bit_count() <= problem.allowed.max_clique]
    scores = np.zeros(1 << n)
    scores[sets] = -inf
    if able:
        scores[able] = [found.verdict.rank for found in judge(problem, [_completing(s) for s in able])]
    return scores


def best_graph(scores: Scores, allowed: Allowed) -> tuple[LinkSet, float]:
    """Return the best chordal graph for scores of its cliques and separators, and its score.

    Examples
    --------
    >>> from xordal.search.constraints import ALL_ALLOWED
    >>> best_graph(np.array([0.0, 0.0, 0.0, 2.0, 0.0, -1.0, 3.0, 4.0]), ALL_ALLOWED)
    (((0, 1), (1, 2)), 5.0)
    """
    return _Trees(scores, allowed).best()


class _Trees:
    """The three tables, by parts R of growing size; rows are R or U, columns S or C."""

    def __init__(self, scores: Scores, allowed: Allowed) -> None:
        self._scores = scores
        self._everything = len(scores) - 1
        self._sets = np.arange(len(scores))
        self._required = linked([0] * self._everything.bit_length(), [*allowed.required, *allowed.fill_in])
        self._tree, self._part, self._rest = (np.full((len(scores), len(scores)), -inf) for _ in range(3))
        self._rest[0] = 0.0
        for r in sorted(range(1, len(scores)), key=int.bit_count):
            self._tree[r] = np.max([self._with_root(r, t) for t in _subsets(r)], axis=0)
            self._part[r] = self._below(r)
            self._rest[r] = np.max([self._split(r, p) for p in _with_lowest(r)], axis=0)

    def _with_root(self, r: int, t: int) -> Scores:
        clique = self._sets | t
        found = self._scores[clique] + self._rest[r ^ t][clique]
        return np.asarray(np.where(self._sets & r, -inf, found), dtype=np.float64)

    def _hung(self, r: int) -> Scores:
        """Return for each S what a part that hangs at it is worth; S holds all that it must be linked with."""
        beside = _beside(self._required, r)
        able = np.isfinite(self._scores) & (self._sets & beside == beside)
        hung: Scores = np.where(able, self._tree[r] - np.where(able, self._scores, 0.0), -inf)
        return hung

    def _below(self, r: int) -> Scores:
        """Return for each C the best S in it."""
        found = self._hung(r)
        for v in range(self._everything.bit_length()):
            has = (self._sets >> v & 1).astype(bool)
            found[has] = np.maximum(found[has], found[self._sets[has] ^ (1 << v)])
        return found

    def _split(self, u: int, p: int) -> Scores:
        return np.asarray(self._part[p] + self._rest[u ^ p])

    def best(self) -> tuple[LinkSet, float]:
        links: set[tuple[int, int]] = set()
        waiting = [(0, self._everything)] if self._everything else []
        while waiting:
            s, r = waiting.pop()
            t = max(_subsets(r), key=lambda t: self._with_root(r, t)[s])
            links.update(combinations(members(s | t), 2))
            waiting.extend(self._parts(s | t, r ^ t))
        return tuple(sorted(links)), float(self._tree[self._everything][0]) if self._everything else 0.0

    def _parts(self, clique: int, rest: int) -> Iterator[tuple[int, int]]:
        """Yield the separators and the parts that hang at a clique."""
        while rest:
            p = max(_with_lowest(rest), key=lambda p: self._split(rest, p)[clique])
            hung = self._hung(p)
            yield max((0, *_subsets(clique)), key=hung.__getitem__), p
            rest ^= p


def _subsets(of: int) -> Iterator[int]:
    """Yield the nonempty subsets, the whole first."""
    found = of
    while found:
        yield found
        found = (found - 1) & of


def _with_lowest(of: int) -> Iterator[int]:
    """Yield the subsets that hold the lowest variable."""
    lowest = of & -of
    yield lowest
    for more in _subsets(of ^ lowest):
        yield more | lowest


def _beside(masks: Sequence[int], r: int) -> int:
    """Return what the variables of a part must be linked with outside it."""
    found = 0
    for v in members(r):
        found |= masks[v]
    return found & ~r


def _completing(variables: VarSet) -> Candidate:
    inside = members(variables)
    change: SignedSets = {variables: 1, **{VarSet(1 << v): -1 for v in inside}}
    return Candidate(variables, tuple(combinations(inside, 2)), change)
