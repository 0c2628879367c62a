"""Moves: single links that come or go, each keeping the graph chordal.

A link may come when the common neighbours of its ends separate them, and go when they are complete. Either way
they are its separator S, and what comes or goes is the signed sets +Sxy +S -Sx -Sy.

A sequence of moves falls apart when one of them neither affects nor is affected by the others: it could be made
alone, with the same effect. Two facts say where moves can be that do not fall apart; both are tested by brute
force.

* A move is affected by changes elsewhere only if one of its ends is :func:`~xordal.graph.nearby.disturbed` by
  them; or if it links vertices that were connected before and no longer are. For a link that comes this is
  shown in :mod:`xordal.graph.nearby`. One that goes is affected if the common neighbours change, then it shares
  an end with a changed link, or links among them, then its ends are common neighbours of a changed link.
* If two moves do not affect each other and a third is affected by both, it has an end in what either disturbs;
  these ends are the same, or at most two links apart. So the vertices that the two disturb are at most two
  links apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph, add_link, component_masks, separator_of
from xordal.graph.nearby import disturbed, within_two
from xordal.types.varsets import Link, LinkSet, VarSet, members


class Move(NamedTuple):
    """The link x-y comes or goes; ``separator`` holds the common neighbours of its ends."""

    link: Link
    separator: VarSet
    adds: bool


class Waypoint(NamedTuple):
    """A chordal graph on the way: neighbour masks, and the component of each vertex."""

    neighbours: tuple[int, ...]
    components: tuple[int, ...]

    def move(self, link: Link) -> Move | None:
        """Return the move that flips a link, or None if the graph would not stay chordal.

        Examples
        --------
        >>> ring = waypoint_of(ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]))
        >>> ring.move((0, 2)), ring.move((1, 3))
        (None, Move(link=(1, 3), separator=5, adds=True))
        """
        x, y = link
        if not self.neighbours[x] >> y & 1:
            separator = separator_of(self.neighbours, self.components, x, y)
            return None if separator is None else Move(link, separator, adds=True)
        common = VarSet(self.neighbours[x] & self.neighbours[y])
        if any(common & ~self.neighbours[s] & ~(1 << s) for s in members(common)):
            return None
        return Move(link, common, adds=False)

    def after(self, move: Move) -> Waypoint:
        """Return the graph after a move."""
        (x, y), separator, adds = move
        masks, components = list(self.neighbours), list(self.components)
        if adds:
            add_link(masks, components, x, y)
            return Waypoint(tuple(masks), tuple(components))
        masks[x] &= ~(1 << y)
        masks[y] &= ~(1 << x)
        return Waypoint(tuple(masks), self.components if separator else tuple(component_masks(masks)))


def waypoint_of(graph: ChordalGraph) -> Waypoint:
    """Return a graph as a waypoint to move from."""
    return Waypoint(graph.neighbours, graph.components)


def moves_near(waypoint: Waypoint, around: int) -> Iterator[Move]:
    """Yield the moves within components that have an end in ``around``.

    Examples
    --------
    >>> path = waypoint_of(ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)]))
    >>> [move.link for move in moves_near(path, 0b0001)]
    [(0, 1), (0, 2)]
    """
    done = 0
    for v in members(around):
        done |= 1 << v
        for u in members(within_two(waypoint.neighbours, v) & ~done):
            move = waypoint.move((u, v) if u < v else (v, u))
            if move is not None:
                yield move


def disturbed_by(base: Waypoint, now: Waypoint, links: LinkSet) -> VarSet:
    """Return the vertices around the links in which two graphs differ (:mod:`xordal.graph.nearby`)."""
    either = [ours | theirs for ours, theirs in zip(base.neighbours, now.neighbours, strict=True)]
    return disturbed(either, links)


def within_reach(neighbours: Sequence[int], vertices: int) -> VarSet:
    """Return some vertices and those at most two links away from them."""
    found = vertices
    for v in members(vertices):
        found |= within_two(neighbours, v)
    return VarSet(found)


def in_order(waypoint: Waypoint, links: LinkSet) -> Iterator[tuple[Move, ...]]:
    """Yield the moves that flip some links, in every order that keeps each graph on the way chordal.

    Examples
    --------
    >>> path = waypoint_of(ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)]))
    >>> [[move.link for move in moves] for moves in in_order(path, ((0, 3), (1, 2)))]
    [[(1, 2), (0, 3)]]
    """
    for order in permutations(links):
        at, made = waypoint, []
        for link in order:
            move = at.move(link)
            if move is None:
                break
            made.append(move)
            at = at.after(move)
        else:
            yield tuple(made)


def way(graph: ChordalGraph, goal: LinkSet, kept: Collection[Link] = ()) -> tuple[Move, ...]:
    """Return moves that lead from a graph to another one: first links go, then links come.

    Between two chordal graphs, one inside the other, there is always a way (:mod:`xordal.graph.chain`); so it
    leads by way of a chordal graph inside both, which holds the links to be ``kept``.

    Examples
    --------
    >>> path = ChordalGraph.empty(3).add([(0, 1), (1, 2)])
    >>> [(move.link, move.adds) for move in way(path, ((0, 1), (0, 2)))]
    [((1, 2), False), ((0, 2), True)]
    """
    inside = _chordal_part(graph.n_vertices, sorted(kept), sorted(set(graph.links) & set(goal)))
    there, further = (
        additions(inside, tuple(sorted(set(links) - set(inside.links)))) for links in (graph.links, goal)
    )
    assert there is not None
    assert further is not None
    return (
        *(Move((x, y), separator, adds=False) for x, y, separator in reversed(there)),
        *(Move((x, y), separator, adds=True) for x, y, separator in further),
    )


def _chordal_part(n_vertices: int, kept: list[Link], links: list[Link]) -> ChordalGraph:
    """Return a chordal graph of some of the links, to which no other of them can be added alone."""
    graph = ChordalGraph.empty(n_vertices).add(kept)
    waiting = [link for link in links if link not in kept]
    while (link := next(filter(graph.may_add, waiting), None)) is not None:
        graph = graph.extended((link,))
        waiting.remove(link)
    return graph
