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
from operator import or_

from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph, add_link, separator_of
from xordal.graph.separators import SeparatorPaths
from xordal.graph.signed_sets import change, free_parameters
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
            return _of_a_pair(graph, paths, x, y)
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


def own_steps(graph: ChordalGraph, paths: SeparatorPaths, x: int, y: int) -> list[Addition]:
    """Return the steps that link two variables of one component themselves, one for each fill-in.

    None where nothing has to be filled in. They tell what the link would gain before anything else is worked
    out; :func:`completions` has the same ones at the end of its steps.
    """
    separators = paths.minimal(x, y)
    if len(separators) == 1:
        return []
    masks = graph.neighbours
    near_x, near_y = list(accumulate(separators, or_)), list(accumulate(separators[::-1], or_))[::-1]
    common = [(masks[x] | at_x) & (masks[y] | at_y) for at_x, at_y in zip(near_x, near_y, strict=True)]
    common += [masks[x] & masks[y] | hub for hub in separators if hub.bit_count() == 1]
    return [Addition(x, y, VarSet(s)) for s in dict.fromkeys(common)]


def _of_a_pair(graph: ChordalGraph, paths: SeparatorPaths, x: int, y: int) -> list[Completion]:
    """Return how two variables of one component are linked: the rule where it is asked most often.

    All that is filled in comes to x and y, or to a hub. So what a step is conditioned on is read off the
    neighbours: those that one end has by then and the other had all along.
    """
    separators = paths.minimal(x, y)
    if len(separators) == 1:  # all of it is linked to both
        return [Completion((Addition(x, y, separators[0]),), ())]
    masks = graph.neighbours
    done: dict[frozenset[Link], tuple[Addition, ...]] = {}
    for place in range(len(separators)):
        at_x = _spread(masks, x, separators[: place + 1])
        at_y = _spread(masks, y, separators[place:][::-1])
        last = Addition(x, y, VarSet(_around(masks, x, at_x) & _around(masks, y, at_y)))
        done.setdefault(_links([*at_x, *at_y]), (*at_x, *at_y, last))
    for place, separator in enumerate(separators):
        if separator.bit_count() == 1:
            hub = separator.bit_length() - 1
            to_x = [*separators[:place][::-1], VarSet(1 << x)]
            steps = _spread(masks, hub, [*to_x, *separators[place + 1 :], VarSet(1 << y)])
            common = (masks[x] | separator) & (masks[y] | separator)
            done.setdefault(_links(steps), (*steps, Addition(x, y, VarSet(common))))
    return [Completion(steps, tuple(sorted((u, v) for u, v, _ in steps[:-1]))) for steps in done.values()]


def _spread(masks: Sequence[int], v: int, path: Iterable[VarSet]) -> list[Addition]:
    """Return the steps that link a vertex to all that lies on a path that begins next to it."""
    near, steps = masks[v], []
    for separator in path:
        for u in members(separator & ~near):
            steps.append(Addition(min(u, v), max(u, v), VarSet(near & masks[u])))
            near |= 1 << u
    return steps


def _around(masks: Sequence[int], v: int, steps: Iterable[Addition]) -> int:
    """Return the neighbours of a vertex after steps that all begin or end there."""
    near = masks[v]
    for step in steps:
        near |= 1 << step.x | 1 << step.y
    return near & ~(1 << v)


def _links(steps: Iterable[Addition]) -> frozenset[Link]:
    return frozenset((u, v) for u, v, _ in steps)


def _completion(steps: list[Addition], inside: tuple[int, ...], apart: list[Link]) -> Completion:
    """Return the steps with the vertices of the region as they are numbered in the graph."""
    moved = tuple(
        Addition(inside[x], inside[y], varset(inside[v] for v in members(separator)))
        for x, y, separator in steps
    )
    filled = sorted((inside[x], inside[y]) for x, y, _ in steps if (x, y) not in apart)
    return Completion(moved, tuple(filled))


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

    def complete(self, links: Iterable[Link], n_levels: tuple[int, ...]) -> None:
        """Add links with the cheapest fill-in where one must be."""
        while left := self.add(links):
            n_before = len(self.steps)

            def cost(filled: _Growing, start: int = n_before) -> tuple[int, int]:
                steps = filled.steps[start:]
                return free_parameters(change(steps), n_levels), len(steps)

            best = min(self.fill_ins(*left[0]), key=cost)
            self.masks, self.components, self.steps = best.masks, best.components, best.steps

    def fill_ins(self, x: int, y: int) -> list[_Growing]:
        """Return the graphs with x and y linked and filled in, those that are equal once."""
        graph = ChordalGraph(tuple(map(VarSet, self.masks)), tuple(map(VarSet, self.components)))
        separators = SeparatorPaths(graph).minimal(x, y)
        done = [self._met(x, y, separators, place) for place in range(len(separators))]
        done += [self._hub(x, y, separators, place) for place, s in enumerate(separators) if s.bit_count() == 1]
        first: dict[tuple[int, ...], _Growing] = {}
        for one in done:
            first.setdefault(tuple(one.masks), one)
        return list(first.values())

    def _met(self, x: int, y: int, separators: list[VarSet], place: int) -> _Growing:
        """Return the graph in which x and y have met behind a separator."""
        met = _Growing(list(self.masks), list(self.components), list(self.steps))
        met._spread(x, separators[: place + 1])
        met._spread(y, separators[place:][::-1])
        met._spread(x, [VarSet(1 << y)])
        return met

    def _hub(self, x: int, y: int, separators: list[VarSet], place: int) -> _Growing:
        """Return the graph in which the one variable of a separator is linked to all others and to x and y."""
        hub = _Growing(list(self.masks), list(self.components), list(self.steps))
        centre = separators[place].bit_length() - 1
        hub._spread(centre, [*separators[:place][::-1], VarSet(1 << x)])
        hub._spread(centre, [*separators[place + 1 :], VarSet(1 << y)])
        hub._spread(x, [VarSet(1 << y)])
        return hub

    def _spread(self, v: int, path: list[VarSet]) -> None:
        """Link a vertex to all that lies on a path that begins next to it."""
        for separator in path:
            for u in members(separator & ~self.masks[v]):
                is_added = self._add(min(u, v), max(u, v))
                assert is_added, "what comes before on the path parts them"

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
