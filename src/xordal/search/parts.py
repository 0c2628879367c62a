"""The legal variable sets that lie within components, kept up to date as the graph changes.

A variable set falls into *parts*, one per component it meets. Completing it is legal exactly when completing
each part is, and gains what its parts gain plus what they share with one another. So candidates are made of

* parts of two or more variables, few, found by looking around links: a :class:`Catalogue` of them is kept here;
* single variables of other components, many, whose share is a matter of counting alone (:mod:`search.sweep`).

What holds two or more parts of two or more variables is a union of catalogue entries (from lookahead 4 on).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations_with_replacement
from math import comb

from xordal.graph.chordal import ChordalGraph
from xordal.graph.nearby import sets_around
from xordal.search.candidates import Candidate, candidate
from xordal.search.constraints import Rules
from xordal.search.streams import labels_of
from xordal.types import LinkSet, VarSet

_BLOCK = 1000  # variable sets looked at between two words of progress

Kind = tuple[int, int]
"""Size of a variable set and number of its missing links."""


class Parts:
    """The parts of one kind that may be completed, cliques among them when no link is missing.

    ``log`` grows by each part as it becomes legal or its value changes; what it holds twice counts once, as in
    ``current``.
    """

    def __init__(self, kind: Kind, rules: Rules) -> None:
        self.current: dict[VarSet, Candidate] = {}
        self.log: list[Candidate] = []
        self._kind = kind
        self._rules = rules
        self._disturbed = 0

    def disturb(self, vertices: int) -> None:
        """Note that the graph has changed around some vertices."""
        self._disturbed |= vertices

    def update(self, graph: ChordalGraph, on_block: Callable[[int], None]) -> None:
        """Look again at what was disturbed; tell every thousand variable sets and at the end how many."""
        if not self._disturbed:
            return
        around, self._disturbed = self._disturbed, 0
        before = {s: self.current.pop(s) for s in [s for s in self.current if s & around]}
        n_looked = 0
        for variables in sets_around(graph.neighbours, around, *self._kind):
            n_looked += 1
            if n_looked == _BLOCK:
                on_block(n_looked)
                n_looked = 0
            found = candidate(graph, variables) if self._rules.may_complete(variables) else None
            if found is not None and self._rules.may_change(found.change):
                old = before.get(variables)
                if old is not None and old.change == found.change and old.links == found.links:
                    self.current[variables] = old
                else:
                    self.current[variables] = found
                    self.log.append(found)
        on_block(n_looked)


class Catalogue:
    """All parts of the kinds that were asked for, in a graph that changes.

    ``labels`` number the components of its variables.
    """

    def __init__(self, graph: ChordalGraph, rules: Rules) -> None:
        self.graph = graph
        self.labels = labels_of(graph.components)
        self.rules = rules
        self._parts: dict[Kind, Parts] = {}

    def change(self, graph: ChordalGraph, around: VarSet) -> None:
        """Go on with another graph that differs around some vertices."""
        self.labels = labels_of(graph.components, self.graph.components, self.labels)
        self.graph = graph
        for parts in self._parts.values():
            parts.disturb(around)

    def parts(self, kind: Kind) -> Parts:
        """Return the parts of one kind; those that it did not keep so far it finds at their next update."""
        if kind not in self._parts:
            self._parts[kind] = Parts(kind, self.rules)
            self._parts[kind].disturb((1 << self.graph.n_vertices) - 1)
        return self._parts[kind]


class Bases:
    """The variable sets of one kind that are made of parts of two or more variables, as they come up."""

    def __init__(self, catalogue: Catalogue, kind: Kind) -> None:
        self._catalogue = catalogue
        self._patterns = patterns(kind)
        self._seen = {kind: 0 for pattern in self._patterns for kind in pattern}

    def fresh(self, on_block: Callable[[int], None]) -> list[Candidate]:
        """Return the sets that are new or changed since the last call; tell how many sets are looked at."""
        for kind in self._seen:
            self._catalogue.parts(kind).update(self._catalogue.graph, on_block)
        if all(len(self._catalogue.parts(kind).log) == position for kind, position in self._seen.items()):
            return []
        new: dict[Kind, dict[VarSet, Candidate]] = {}
        for kind, position in self._seen.items():
            parts = self._catalogue.parts(kind)
            recent = {found.variables: found for found in parts.log[position:]}
            new[kind] = {s: found for s, found in recent.items() if parts.current.get(s) is found}
            self._seen[kind] = len(parts.log)
        return [base for pattern in self._patterns for base in self._of(pattern, new)]

    def _of(self, pattern: tuple[Kind, ...], new: dict[Kind, dict[VarSet, Candidate]]) -> Iterator[Candidate]:
        if len(pattern) == 1:
            yield from new[pattern[0]].values()
            return
        graph, rules = self._catalogue.graph, self._catalogue.rules
        for variables in self._unions(pattern, new):
            union = candidate(graph, variables) if rules.may_complete(variables) else None
            if union is not None and rules.may_change(union.change):
                yield union

    def _unions(self, pattern: tuple[Kind, ...], new: dict[Kind, dict[VarSet, Candidate]]) -> set[VarSet]:
        """Return the unions of parts of different components, at least one of them new."""
        components = self._catalogue.graph.components
        found: set[VarSet] = set()

        def choose(place: int, chosen: int, used: int, has_new: bool) -> None:
            if place == len(pattern):
                found.add(VarSet(chosen))
                return
            kind = pattern[place]
            last = place == len(pattern) - 1
            pool = new[kind] if last and not has_new else self._catalogue.parts(kind).current
            for part in pool:
                component = components[(part & -part).bit_length() - 1]
                if not component & used:
                    choose(place + 1, chosen | part, used | component, has_new or part in new[kind])

        if any(new[kind] for kind in pattern):
            choose(0, 0, 0, has_new=False)
        return found


@cache
def patterns(kind: Kind) -> tuple[tuple[Kind, ...], ...]:
    """Return the kinds that parts of two or more variables can have when their union is of this kind."""
    size, n_missing = kind
    found: list[tuple[Kind, ...]] = []
    for n_parts in range(1, size // 2 + 1):
        for sizes in combinations_with_replacement(range(2, size + 1), n_parts):
            if sum(sizes) == size:
                across = comb(size, 2) - sum(comb(s, 2) for s in sizes)
                found += _with_missing(sizes, n_missing - across)
    return tuple(found)


def _with_missing(sizes: tuple[int, ...], n_missing: int) -> Iterator[tuple[Kind, ...]]:
    """Yield the ways to share missing links out over parts of these sizes, equal ones once."""

    def share(place: int, left: int) -> Iterator[tuple[Kind, ...]]:
        if place == len(sizes):
            if left == 0:
                yield ()
            return
        for here in range(min(left, comb(sizes[place], 2)) + 1):
            for rest in share(place + 1, left - here):
                yield ((sizes[place], here), *rest)

    if n_missing >= 0:
        yield from {tuple(sorted(kinds)): None for kinds in share(0, n_missing)}


def extended_kinds(i: int, largest: int) -> Iterator[tuple[int, Kind]]:
    """Yield numbers of single variables, and kinds of what they are added to, that miss i links together."""
    for n_more in range(largest - 1):
        for size in range(2, largest - n_more + 1):
            n_missing = i - n_more * size - comb(n_more, 2)
            if 0 <= n_missing <= comb(size, 2):
                yield n_more, (size, n_missing)


def each_misses_one(variables: VarSet, links: LinkSet) -> bool:
    """Whether each variable of a set is an end of one of its missing links."""
    ends = 0
    for u, v in links:
        ends |= 1 << u | 1 << v
    return ends == variables
