"""Chordal graphs: the structures of decomposable Markov networks.

A graph is the tuple of its neighbour masks: bit u of ``neighbours[v]`` says that u and v are linked. One
maximum cardinality search (Tarjan & Yannakakis 1984) answers every global question: it tests chordality and
its order yields cliques, separators and signed sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xordal.types import EMPTY, Link, LinkSet, VarSet, members


def perfect_order(neighbours: Sequence[int]) -> tuple[int, ...] | None:
    """Return an order in which each vertex's earlier neighbours are a clique; None if not chordal.

    Ties go to the lowest vertex, so the order is a function of the graph. O(N^2) for N vertices.

    Examples
    --------
    >>> perfect_order([0b010, 0b101, 0b010])
    (0, 1, 2)
    >>> perfect_order([0b1010, 0b0101, 0b1010, 0b0101]) is None  # a 4-cycle
    True
    """
    n = len(neighbours)
    position = [-1] * n
    weight = [0] * n
    visited = 0
    order: list[int] = []
    for step in range(n):
        v = max((u for u in range(n) if position[u] < 0), key=lambda u: (weight[u], -u))
        earlier = neighbours[v] & visited
        if earlier:
            latest = max(members(earlier), key=position.__getitem__)
            if earlier & ~neighbours[latest] & ~(1 << latest):
                return None
        position[v] = step
        visited |= 1 << v
        order.append(v)
        for u in members(neighbours[v] & ~visited):
            weight[u] += 1
    return tuple(order)


def is_chordal(neighbours: Sequence[int]) -> bool:
    """Whether every cycle of four or more links has a chord."""
    return perfect_order(neighbours) is not None


def is_separated(neighbours: Sequence[int], separator: int, x: int, y: int) -> bool:
    """Whether every path from x to y passes through the separator."""
    reached = frontier = 1 << x
    target = 1 << y
    while frontier:
        if reached & target:
            return False
        spread = 0
        for v in members(frontier):
            spread |= neighbours[v]
        frontier = spread & ~separator & ~reached
        reached |= frontier
    return True


def separator_of(neighbours: Sequence[int], x: int, y: int) -> VarSet | None:
    """Return what separates x from y if linking them keeps the graph chordal, else None.

    In a chordal graph that is so exactly when the common neighbours S of x and y separate them (S is empty
    across components); adding the link then gains I(x; y | S).

    Examples
    --------
    >>> path = [0b0010, 0b0101, 0b1010, 0b0100]  # 0-1-2-3
    >>> separator_of(path, 0, 2)
    2
    >>> separator_of(path, 0, 3) is None
    True
    """
    common = neighbours[x] & neighbours[y]
    return VarSet(common) if is_separated(neighbours, common, x, y) else None


def linked(neighbours: Sequence[int], links: Iterable[Link]) -> list[int]:
    """Return the neighbour masks with some links added; nothing is checked."""
    masks = list(neighbours)
    for u, v in links:
        masks[u] |= 1 << v
        masks[v] |= 1 << u
    return masks


@dataclass(frozen=True, slots=True)
class ChordalGraph:
    """An immutable chordal graph over vertices 0 .. N-1.

    Examples
    --------
    >>> graph = ChordalGraph.empty(4).add([(0, 1), (1, 2)])
    >>> graph.links
    ((0, 1), (1, 2))
    >>> graph.may_add((0, 2)), graph.may_add((0, 3))
    (True, True)
    >>> graph.add([(2, 3)]).may_add((0, 3))
    False
    """

    neighbours: tuple[VarSet, ...]

    @classmethod
    def empty(cls, n_vertices: int) -> ChordalGraph:
        """Return the graph without links: the start of every search (ML line 1)."""
        return cls((EMPTY,) * n_vertices)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.neighbours)

    @property
    def n_missing(self) -> int:
        """Number of pairs that are not linked."""
        n = self.n_vertices
        return (n * (n - 1) - sum(mask.bit_count() for mask in self.neighbours)) // 2

    @property
    def links(self) -> LinkSet:
        """All links in increasing order."""
        return tuple((u, v) for u, mask in enumerate(self.neighbours) for v in members(mask) if u < v)

    def missing_links(self, variables: int) -> LinkSet:
        """Return the pairs inside a variable set that are not linked, in increasing order."""
        return tuple(_pairs_apart(self.neighbours, variables))

    def separator(self, link: Link) -> VarSet | None:
        """Return what separates the ends of a missing link, or None if it may not be added alone."""
        return separator_of(self.neighbours, *link)

    def may_add(self, link: Link) -> bool:
        """Whether adding one missing link keeps the graph chordal."""
        return self.separator(link) is not None

    def add(self, links: Iterable[Link]) -> ChordalGraph:
        """Return the graph with some links added; ValueError if it would not be chordal."""
        masks = linked(self.neighbours, links)
        if not is_chordal(masks):
            raise ValueError("these links would break chordality")
        return ChordalGraph(tuple(VarSet(mask) for mask in masks))


def _pairs_apart(neighbours: Sequence[int], variables: int) -> Iterator[Link]:
    for u in members(variables):
        later = variables & ~neighbours[u] & -(2 << u)
        for v in members(later):
            yield (u, v)
