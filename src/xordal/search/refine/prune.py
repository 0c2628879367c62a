"""The backward phase: links that later ones have made idle are taken out again.

A search that only adds returns an I-map, not a minimal one: with x - y - z true, x - z may come first and is
idle once the others are there. A link xy may go when

* the graph stays chordal: xy lies in exactly one maximal clique, that is, its common neighbours S are complete;
* were it missing, it would not be learned: the data do not show that x and y depend on each other given S, by
  the very test, at the very level, at which a link behind S comes in;
* no pseudo-independent group needs it: no set of variables of the clique, x and y among them, holds a pair that
  looks independent and is shown to be dependent given the rest of the set, or with the rest of the set: were it
  not linked at all, what only all of it shows would bring it in.

Of the links that may go, the one with the least to say for it goes first, equal ones in lexicographic order. A
link that goes could not come back by itself: what brings a link in is what keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change
from xordal.search.candidate import Candidate, within
from xordal.search.problem import Problem, evidence, judge
from xordal.statistics.criterion import Evidence
from xordal.types.varsets import EMPTY, Link, VarSet, members, varset


@dataclass(frozen=True, slots=True)
class RemovableLink:
    """A link that the data do not show: the evidence given its common neighbours, and how strong it is."""

    evidence: Evidence
    log_p_value: float | None
    strength: float


class Pruner:
    """Finds idle links, remembering what it has tested.

    Parameters
    ----------
    problem
        Who counts and who decides; required links stay.
    largest
        Largest set of variables to look for groups in.
    """

    def __init__(self, problem: Problem, largest: int) -> None:
        self._problem = problem
        self._largest = largest
        self._required = {*problem.allowed.required, *problem.allowed.fill_in}
        self._known: dict[tuple[Link, VarSet], Evidence] = {}
        self._would_come: dict[tuple[Link, VarSet], bool] = {}
        self._depends: dict[tuple[Link, VarSet], bool] = {}
        self._joint: dict[VarSet, bool] = {}

    def idlest(self, graph: ChordalGraph) -> RemovableLink | None:
        """Return the link that goes next, if one may go."""
        able = [pair for pair in removable(graph) if pair[0] not in self._required]
        would_come = self._asked(able, self._would_come, None)
        idle = self._weighed(
            [self._known[pair] for pair, is_shown in zip(able, would_come, strict=True) if not is_shown]
        )
        idle.sort(key=lambda one: (one.strength, one.evidence.links))
        for place, one in enumerate(idle):
            if not self._is_needed(graph, one.evidence.links[0]):
                return min(self._tied(graph, idle[place:]), key=lambda other: other.evidence.links)
        return None

    def _weighed(self, batch: list[Evidence]) -> list[RemovableLink]:
        """Return how strong the evidence for links is: by p-value, or by rank where there is none."""
        log_ps = self._problem.judge.log_p_values(batch)
        if log_ps is not None:
            return [RemovableLink(found, log_p, -log_p) for found, log_p in zip(batch, log_ps, strict=True)]
        verdicts = self._problem.judge.judge(batch)
        return [
            RemovableLink(found, None, verdict.rank) for found, verdict in zip(batch, verdicts, strict=True)
        ]

    def _tied(self, graph: ChordalGraph, idle: list[RemovableLink]) -> Iterator[RemovableLink]:
        """Yield the links that may go and are as weak as the first."""
        most = idle[0].strength + self._problem.judge.tolerance(idle[0].strength)
        for one in idle:
            if one.strength > most:
                return
            if not self._is_needed(graph, one.evidence.links[0]):
                yield one

    def _asked(
        self, pairs: list[tuple[Link, VarSet]], known: dict[tuple[Link, VarSet], bool], n_tests: int | None
    ) -> list[bool]:
        """Return whether the data show each link given other variables: among all there are, or of so many."""
        new = [pair for pair in pairs if pair not in known]
        unknown = [pair for pair in new if pair not in self._known]
        found = evidence(self._problem, [_bringing_back(*pair) for pair in unknown])
        self._known.update(zip(unknown, found, strict=True))
        shown = self._problem.judge.depends([self._known[pair] for pair in new], n_tests)
        known.update(zip(new, shown, strict=True))
        return [known[pair] for pair in pairs]

    def _is_needed(self, graph: ChordalGraph, link: Link) -> bool:
        """Whether a set of the clique, both ends in it, holds a pair that only the rest makes dependent."""
        x, y = link
        others = members(graph.neighbours[x] & graph.neighbours[y])
        for size in range(1, min(len(others), self._largest - 2) + 1):
            for rest in combinations(others, size):
                if self._has_hidden_pair((x, y, *rest)):
                    return True
        return False

    def _has_hidden_pair(self, variables: tuple[int, ...]) -> bool:
        self._problem.watch.check()
        whole = varset(variables)
        pairs = [(min(pair), max(pair)) for pair in combinations(variables, 2)]
        # Pairs by themselves first: they are few, alike in many sets, and most are seen to depend. What each
        # shares given the rest is asked of tables with many cells.
        alone = self._asked([(pair, EMPTY) for pair in pairs], self._depends, 1)
        unseen = [pair for pair, is_seen in zip(pairs, alone, strict=True) if not is_seen]
        if not unseen:
            return False
        given_rest = [(pair, VarSet(whole & ~varset(pair))) for pair in unseen]
        return any(self._asked(given_rest, self._would_come, None)) or self._would_come_as_a_set(whole)

    def _would_come_as_a_set(self, variables: VarSet) -> bool:
        """Whether variables would be linked, were they not, by what only all of them show."""
        if variables not in self._joint:
            unlinked = within(ChordalGraph.empty(len(self._problem.n_levels)), variables)
            verdict = judge(self._problem, [unlinked])[0].verdict
            self._joint[variables] = verdict.is_accepted and verdict.is_joint
        return self._joint[variables]


def removable(graph: ChordalGraph) -> Iterator[tuple[Link, VarSet]]:
    """Yield the links without which the graph stays chordal, and their common neighbours.

    Examples
    --------
    >>> two_triangles = ChordalGraph.empty(4).add([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)])
    >>> [link for link, _ in removable(two_triangles)]
    [(0, 1), (0, 2), (1, 3), (2, 3)]
    """
    for x, y in graph.links:
        common = VarSet(graph.neighbours[x] & graph.neighbours[y])
        if all(not common & ~graph.neighbours[s] & ~(1 << s) for s in members(common)):
            yield (x, y), common


def _bringing_back(link: Link, separator: VarSet) -> Candidate:
    """Return the candidate that adds a link behind a separator."""
    chain = (Addition(*link, separator),)
    return Candidate(varset(link), (link,), change(chain), chain=chain)
