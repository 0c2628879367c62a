"""The fill-in rule: how a variable set is completed where its own links would break chordality.

The links of the set are added one at a time, those within components first: always the first, in lexicographic
order, that may be added alone. Where none may, the first link xy that is left is added together with a
*fill-in*. Between x and y lie their minimal separators, one after the other, and there is a fill-in for

* each separator: x and y *meet* behind it, each of them linked to all separators up to it;
* each variable that is a separator by itself: it becomes a *hub*, linked to all separators and to x and y.

Each is minimal: without any one of its links the graph is not chordal.

The first time that happens all of them are returned, for the criterion to choose from; where more links of
the set are stuck, each later one takes the fill-in of the fewest free parameters, then of the fewest links,
then the first in the order above. Those that come to the same links in the end count once.

All of that happens on the separators between the variables of the set (:mod:`xordal.graph.separators`): a
shortest path between two of their vertices never leaves them. So a change of the graph matters to a set only if
it touches them: :func:`touched` by links are their ends and separators, since a link xy behind a separator S
alters no path but those that lead across S.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from math import prod
from operator import or_
from typing import NamedTuple

from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph, add_link, separator_of
from xordal.graph.separators import SeparatorPaths
from xordal.types.varsets import Link, LinkSet, VarSet, members, varset


@dataclass(frozen=True, slots=True)
class Completion:
    """The steps that complete a variable set, and those of their links that only keep the graph chordal."""

    steps: tuple[Addition, ...]
    fill_in: LinkSet

    @property
    def own(self) -> tuple[Addition, ...]:
        """The steps that add the missing links of the set itself."""
        filled = set(self.fill_in)
        return tuple(step for step in self.steps if (step.x, step.y) not in filled)

    @property
    def ends(self) -> VarSet:
        """The variables that the steps link."""
        return varset(v for step in self.steps for v in (step.x, step.y))

    @property
    def largest_clique(self) -> int:
        """The size of the largest clique that the steps make."""
        return 2 + max([step.separator.bit_count() for step in self.steps])


def region(graph: ChordalGraph, paths: SeparatorPaths, variables: VarSet) -> VarSet:
    """Return a variable set and what lies between those of its variables that share a component."""
    found = int(variables)
    for u, v in combinations(members(variables), 2):
        if graph.components[u] >> v & 1 and not graph.neighbours[u] >> v & 1:
            for separator in paths.separators(u, v):
                found |= separator
    return VarSet(found)


def touched(steps: Iterable[Addition]) -> VarSet:
    """Return the vertices on which steps leave a trace: a set whose region holds none of them is as it was."""
    found = 0
    for x, y, separator in steps:
        found |= 1 << x | 1 << y | separator
    return VarSet(found)


def completions(
    graph: ChordalGraph, paths: SeparatorPaths, variables: VarSet, n_levels: Sequence[int]
) -> list[Completion]:
    """Return how the fill-in rule completes a variable set: once where nothing has to be filled in.

    ``paths`` are those of the graph; ``n_levels`` the numbers of levels from which parameters are counted.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)])
    >>> for ring in completions(path, SeparatorPaths(path), VarSet(0b1001), n_levels=(2, 2, 2, 2)):
    ...     print(ring.fill_in, [(step.x, step.y, members(step.separator)) for step in ring.steps])
    ((1, 3),) [(1, 3, (2,)), (0, 3, (1,))]
    ((0, 2),) [(0, 2, (1,)), (0, 3, (2,))]
    """
    if variables.bit_count() == 2:
        x, y = members(variables)
        if graph.components[x] >> y & 1 and not graph.neighbours[x] >> y & 1:
            filled = fill_ins_of_pair(graph, paths, x, y)
            alone = [] if filled else [Completion((Addition(x, y, *paths.minimal(x, y)),), ())]
            return alone + [written_out(graph, one) for one in filled]
    inside = members(region(graph, paths, variables))
    here = {v: place for place, v in enumerate(inside)}
    between = graph.induced(inside)
    start = _Growing(list(between.neighbours), list(between.components), [])
    apart = [(here[u], here[v]) for u, v in graph.missing_links(variables)]
    within = [(u, v) for u, v in apart if start.components[u] >> v & 1]
    stuck = start.add(within)
    levels = tuple(n_levels[v] for v in inside)
    done: dict[LinkSet, Completion] = {}
    for growing in start.fill_ins(*stuck[0]) if stuck else [start]:
        growing.complete(stuck, levels)
        growing.complete(apart, levels)
        found = _completion(growing.steps, inside, apart)
        done.setdefault(found.fill_in, found)
    return list(done.values())


class PairFillIn(NamedTuple):
    """One fill-in for two variables of one component, its steps not written out.

    On a path of thirty separators there are up to sixty, each of some thirty steps. What the link itself would
    gain, ``own``, says of most that they are not worth that.

    Attributes
    ----------
    own
        The step that links the two.
    separators
        The minimal separators between them.
    place
        The separator behind which they meet, or the hub.
    is_hub
        Whether it is a hub.
    """

    own: Addition
    separators: Sequence[VarSet]
    place: int
    is_hub: bool = False


def fill_ins_of_pair(graph: ChordalGraph, paths: SeparatorPaths, x: int, y: int) -> list[PairFillIn]:
    """Return the fill-ins with which two variables of one component are linked; none where none is needed.

    Those that come to the same links count once. Links of a hub that has only x and y to be linked to are those
    of a meeting as well; all others have the hub as an end, which no other has in common with them.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)])
    >>> [one.own for one in fill_ins_of_pair(path, SeparatorPaths(path), 0, 3)]
    [Addition(x=0, y=3, separator=2), Addition(x=0, y=3, separator=4)]
    """
    separators = paths.minimal(x, y)
    if len(separators) == 1:  # all of it is linked to both
        return []
    masks = graph.neighbours
    of_x, of_y = masks[x], masks[y]
    up_to, down_to = list(accumulate(separators, or_)), list(accumulate(separators[::-1], or_))[::-1]
    done: dict[tuple[int, ...], PairFillIn] = {}
    for place, (at_x, at_y) in enumerate(zip(up_to, down_to, strict=True)):
        own = Addition(x, y, VarSet((of_x | at_x) & (of_y | at_y)))
        done.setdefault((at_x & ~of_x, at_y & ~of_y), PairFillIn(own, separators, place))
    ends = 1 << x | 1 << y
    for place, separator in enumerate(separators):
        if separator.bit_count() == 1:
            hub = separator.bit_length() - 1
            linked = (up_to[-1] | ends) & ~masks[hub] & ~separator
            key: tuple[int, ...] = (hub, -1, linked)
            if not linked & ~ends:
                key = separator * (linked >> x & 1), separator * (linked >> y & 1)
            own = Addition(x, y, VarSet((of_x & of_y) | separator))
            done.setdefault(key, PairFillIn(own, separators, place, is_hub=True))
    return list(done.values())


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The steps that link a variable to all that lies on a path, and how many of them each place takes."""

    steps: tuple[Addition, ...]
    up_to: tuple[int, ...]


def ways_of(fill_in: PairFillIn) -> list[tuple[int, int, int]]:
    """Return who spreads towards whom in a fill-in for a pair, and up to which place on the path."""
    (x, y, _), separators, place, is_hub = fill_in
    rest = len(separators) - 1 - place
    hub = separators[place].bit_length() - 1
    return [(hub, x, place), (hub, y, rest)] if is_hub else [(x, y, place), (y, x, rest)]


def path_of(fill_in: PairFillIn, v: int, target: int) -> list[VarSet]:
    """Return the separators along which a variable spreads towards another."""
    (x, y, _), separators, place, is_hub = fill_in
    if not is_hub:
        return list(separators if v == x else separators[::-1])
    if target == x:
        return [*separators[:place][::-1], VarSet(1 << x)]
    return [*separators[place + 1 :], VarSet(1 << y)]


def spreads_of(
    graph: ChordalGraph, fill_in: PairFillIn, known: dict[tuple[int, int, bool], Spread]
) -> list[tuple[Spread, int]]:
    """Return the spreads that a fill-in for a pair is made of, and up to which place each of them is taken.

    Fill-ins share them, and ``known`` keeps those of one graph: where x and y meet behind one separator or the
    next, both spread along the same path, less or more of it; and a hub spreads towards x in the same way
    whatever lies on its other side, since it parts the two sides by itself.
    """
    found = []
    for v, target, place in ways_of(fill_in):
        key = v, target, fill_in.is_hub
        if key not in known:
            steps, ends = _spread(graph.neighbours, v, path_of(fill_in, v, target))
            known[key] = Spread(tuple(steps), tuple(ends))
        found.append((known[key], place))
    return found


def written_out(
    graph: ChordalGraph, fill_in: PairFillIn, known: dict[tuple[int, int, bool], Spread] | None = None
) -> Completion:
    """Return the steps of a fill-in for a pair.

    All that is filled in comes to x and y, or to a hub. So what a step is conditioned on is read off the
    neighbours: those that one end has by then and the other had all along.
    """
    spreads = spreads_of(graph, fill_in, {} if known is None else known)
    filled = [step for spread, place in spreads for step in spread.steps[: spread.up_to[place]]]
    return Completion((*filled, fill_in.own), tuple(sorted([(u, v) for u, v, _ in filled])))


def _spread(masks: Sequence[int], v: int, path: Iterable[VarSet]) -> tuple[list[Addition], list[int]]:
    """Return the steps that link a vertex to a path that begins next to it; their number up to each place."""
    near, steps, ends = masks[v], list[Addition](), list[int]()
    for separator in path:
        rest = separator & ~near
        while rest:
            lowest = rest & -rest
            u = lowest.bit_length() - 1
            steps.append(Addition(*((u, v) if u < v else (v, u)), VarSet(near & masks[u])))
            near |= lowest
            rest ^= lowest
        ends.append(len(steps))
    return steps, ends


def _completion(steps: list[Addition], inside: tuple[int, ...], apart: list[Link]) -> Completion:
    """Return the steps with the vertices of the region as they are numbered in the graph."""
    moved = tuple(
        Addition(inside[x], inside[y], varset(inside[v] for v in members(separator)))
        for x, y, separator in steps
    )
    filled = sorted((inside[x], inside[y]) for x, y, _ in steps if (x, y) not in apart)
    return Completion(moved, tuple(filled))


class _Costs:
    """What fill-ins for a pair of one graph cost: free parameters, then links."""

    def __init__(
        self, graph: ChordalGraph, known: dict[tuple[int, int, bool], Spread], n_levels: Sequence[int]
    ) -> None:
        self._graph, self._known, self._n_levels = graph, known, n_levels
        self._up_to: dict[Spread, list[int]] = {}

    def of(self, fill_in: PairFillIn) -> tuple[int, int]:
        """Return the cost of one."""
        cost, n_steps = self._of_step(fill_in.own), 1
        for spread, place in spreads_of(self._graph, fill_in, self._known):
            if spread not in self._up_to:
                self._up_to[spread] = list(accumulate(map(self._of_step, spread.steps), initial=0))
            taken = spread.up_to[place]
            cost, n_steps = cost + self._up_to[spread][taken], n_steps + taken
        return cost, n_steps

    def _of_step(self, step: Addition) -> int:
        """Return the free parameters of a link x-y behind a separator."""
        levels = self._n_levels
        cells = prod([levels[v] for v in members(step.separator)])
        return (levels[step.x] - 1) * (levels[step.y] - 1) * cells


@dataclass(slots=True)
class _Growing:
    """A small graph to which links are added, and the steps that added them."""

    masks: list[int]
    components: list[int]
    steps: list[Addition]

    def add(self, links: Iterable[Link]) -> list[Link]:
        """Add what may be added alone, as long as there is something; return what is left."""
        left = [link for link in links if not self._is_linked(link)]
        while any(self._add(*link) for link in left):
            left = [link for link in left if not self._is_linked(link)]
        return left

    def complete(self, links: Iterable[Link], n_levels: Sequence[int]) -> None:
        """Add links with the cheapest fill-in where one must be."""
        while left := self.add(links):
            graph, every = self._fill_ins(*left[0])
            known: dict[tuple[int, int, bool], Spread] = {}
            best = min(every, key=_Costs(graph, known, n_levels).of)
            self._take(written_out(graph, best, known).steps)

    def fill_ins(self, x: int, y: int) -> list[_Growing]:
        """Return the graphs with x and y linked and filled in, those that are equal once."""
        graph, every = self._fill_ins(x, y)
        known: dict[tuple[int, int, bool], Spread] = {}
        found = [_Growing(list(self.masks), list(self.components), list(self.steps)) for _ in every]
        for growing, one in zip(found, every, strict=True):
            growing._take(written_out(graph, one, known).steps)
        return found

    def _fill_ins(self, x: int, y: int) -> tuple[ChordalGraph, list[PairFillIn]]:
        """Return the graph as it is, and the fill-ins with which x and y are linked."""
        graph = ChordalGraph(tuple(map(VarSet, self.masks)), tuple(map(VarSet, self.components)))
        return graph, fill_ins_of_pair(graph, SeparatorPaths(graph), x, y)

    def _take(self, steps: Sequence[Addition]) -> None:
        """Add the links of a fill-in, all within one component."""
        self.steps += steps
        for x, y, _ in steps:
            self.masks[x] |= 1 << y
            self.masks[y] |= 1 << x

    def _is_linked(self, link: Link) -> bool:
        return bool(self.masks[link[0]] >> link[1] & 1)

    def _add(self, x: int, y: int) -> bool:
        """Add one link if the graph stays chordal; return whether it did."""
        separator = separator_of(self.masks, self.components, x, y)
        if separator is None:
            return False
        add_link(self.masks, self.components, x, y)
        self.steps.append(Addition(x, y, separator))
        return True
