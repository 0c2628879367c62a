"""Chordal graphs: the structures of decomposable Markov networks.

A graph is the tuple of its neighbour masks: bit u of ``neighbours[v]`` says that u and v are linked. One
maximum cardinality search (Tarjan & Yannakakis 1984) answers every global question: it tests chordality and
its order yields cliques, separators and signed sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import cast

from xordal.types.varsets import EMPTY, Link, LinkSet, VarSet, members


def perfect_order(neighbours: Sequence[int], inside: int | None = None) -> tuple[int, ...] | None:
    """Return an order in which each vertex's earlier neighbours are a clique; None if not chordal.

    Ties go to the lowest vertex, so the order is a function of the graph. ``inside`` are the vertices of some
    components: the order is then theirs alone. O((N + E) log N) for N vertices and E links.

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
    vertices = range(n) if inside is None else members(inside)
    waiting = [(0, v) for v in vertices]  # a heap by weight, highest first, then vertex; old weights stay in it
    visited = 0
    order: list[int] = []
    while waiting:
        v = heappop(waiting)[1]
        if position[v] >= 0:
            continue
        earlier = neighbours[v] & visited
        if earlier:
            latest = max(members(earlier), key=position.__getitem__)
            if earlier & ~neighbours[latest] & ~(1 << latest):
                return None
        position[v] = len(order)
        visited |= 1 << v
        order.append(v)
        for u in members(neighbours[v] & ~visited):
            weight[u] += 1
            heappush(waiting, (-weight[u], u))
    return tuple(order)


def is_chordal(neighbours: Sequence[int]) -> bool:
    """Whether every cycle of four or more links has a chord."""
    return perfect_order(neighbours) is not None


def component_masks(neighbours: Sequence[int]) -> list[int]:
    """Return, for each vertex, the mask of the component that holds it.

    Examples
    --------
    >>> component_masks([0b0010, 0b0001, 0b0000])
    [3, 3, 4]
    """
    found = [0] * len(neighbours)
    for v in range(len(neighbours)):
        if not found[v]:
            inside = frontier = 1 << v
            while frontier:
                frontier = _spread(neighbours, frontier) & ~inside
                inside |= frontier
            for u in members(inside):
                found[u] = inside
    return found


def separator_of(neighbours: Sequence[int], components: Sequence[int], x: int, y: int) -> VarSet | None:
    """Return what separates x from y if linking them keeps the graph chordal, else None.

    In a chordal graph that is so exactly when the common neighbours S of x and y separate them (S is empty
    across components); adding the link then gains I(x; y | S). A shortest path from x to y around S makes a
    cycle with each member of S; having no chord of its own, all of it is linked to all of S. So only the common
    neighbours of S need be searched.

    Examples
    --------
    >>> path = [0b0010, 0b0101, 0b1010, 0b0100]  # 0-1-2-3
    >>> separator_of(path, component_masks(path), 0, 2)
    2
    >>> separator_of(path, component_masks(path), 0, 3) is None
    True
    """
    common = neighbours[x] & neighbours[y]
    if common == 0:
        return None if components[x] >> y & 1 else EMPTY
    around = ~common
    for s in members(common):
        around &= neighbours[s]
    goal = neighbours[y] & around
    reached = left = neighbours[x] & around if goal else 0
    while left:  # vertex by vertex: this is where a search in a dense graph spends its time
        lowest = left & -left
        more = neighbours[lowest.bit_length() - 1] & around & ~reached
        if more & goal:
            return None
        reached |= more
        left = left ^ lowest | more
    return VarSet(common)


def _spread(neighbours: Sequence[int], vertices: int) -> int:
    """Return all neighbours of some vertices."""
    found = 0
    for v in members(vertices):
        found |= neighbours[v]
    return found


def linked(neighbours: Sequence[int], links: Iterable[Link]) -> list[int]:
    """Return the neighbour masks with some links added; nothing is checked."""
    masks = list(neighbours)
    for u, v in links:
        masks[u] |= 1 << v
        masks[v] |= 1 << u
    return masks


def add_link(neighbours: list[int], components: list[int], x: int, y: int) -> None:
    """Link two vertices in place and join their components; that the graph stays chordal is not checked.

    Examples
    --------
    >>> neighbours, components = [0b010, 0b001, 0b000], [0b011, 0b011, 0b100]
    >>> add_link(neighbours, components, 1, 2)
    >>> neighbours, components
    ([2, 5, 2], [7, 7, 7])
    """
    neighbours[x] |= 1 << y
    neighbours[y] |= 1 << x
    if not components[x] >> y & 1:
        joined = components[x] | components[y]
        for v in members(joined):
            components[v] = joined


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
    components: tuple[VarSet, ...] = field(compare=False)
    """For each vertex, the component that holds it."""
    _order: tuple[int, ...] | None = field(default=None, compare=False, repr=False)
    _separators: dict[Link, VarSet | None] = field(default_factory=dict, compare=False, repr=False)
    _n_links: int | None = field(default=None, compare=False, repr=False)

    @classmethod
    def empty(cls, n_vertices: int) -> ChordalGraph:
        """Return the graph without links: the start of every search (ML line 1)."""
        return cls((EMPTY,) * n_vertices, tuple(VarSet(1 << v) for v in range(n_vertices)))

    @classmethod
    def of(cls, neighbours: Sequence[int]) -> ChordalGraph:
        """Return the graph with these neighbour masks; ValueError if it is not chordal."""
        order = perfect_order(neighbours)
        if order is None:
            raise ValueError("these links would break chordality")
        return cls(tuple(map(VarSet, neighbours)), tuple(map(VarSet, component_masks(neighbours))), order)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.neighbours)

    @property
    def order(self) -> tuple[int, ...]:
        """A :func:`perfect_order` of the vertices, searched for once."""
        if self._order is None:
            found = perfect_order(self.neighbours)
            assert found is not None, "a ChordalGraph is chordal"
            object.__setattr__(self, "_order", found)  # the same whenever it is asked for, so nothing changes
            return found
        return self._order

    @property
    def n_missing(self) -> int:
        """Number of pairs that are not linked."""
        n = self.n_vertices
        return n * (n - 1) // 2 - self.n_links

    @property
    def n_links(self) -> int:
        """Number of links, counted once: of wide graphs that takes longer than most steps of a search."""
        if self._n_links is None:
            object.__setattr__(self, "_n_links", sum(map(int.bit_count, self.neighbours)) // 2)
        assert self._n_links is not None
        return self._n_links

    @property
    def links(self) -> LinkSet:
        """All links in increasing order."""
        return tuple((u, v) for u, mask in enumerate(self.neighbours) for v in members(mask) if u < v)

    def ends_of_change(self, before: ChordalGraph) -> tuple[int, ...]:
        """Return the vertices that have other neighbours than before.

        Examples
        --------
        >>> path = ChordalGraph.empty(3).add([(0, 1)])
        >>> path.add([(1, 2)]).ends_of_change(path)
        (1, 2)
        """
        both = zip(self.neighbours, before.neighbours, strict=True)
        return tuple([v for v, (now, then) in enumerate(both) if now is not then and now != then])

    def missing_links(self, variables: int) -> LinkSet:
        """Return the pairs inside a variable set that are not linked, in increasing order."""
        neighbours = self.neighbours
        found: list[Link] = []
        for u in members(variables):
            later = variables & ~neighbours[u] & -(2 << u)
            if later:
                found += [(u, v) for v in members(later)]
        return tuple(found)

    def misses(self, variables: VarSet, n_links: int) -> bool:
        """Whether a variable set misses so many links, and each of its variables is an end of one.

        Examples
        --------
        >>> path = ChordalGraph.empty(3).add([(0, 1), (1, 2)])
        >>> path.misses(VarSet(0b101), 1), path.misses(VarSet(0b111), 1)
        (True, False)
        """
        n_apart = [(variables & ~self.neighbours[v]).bit_count() - 1 for v in members(variables)]
        return sum(n_apart) == 2 * n_links and all(n_apart)

    def components_of(self, variables: VarSet) -> VarSet:
        """Return all vertices that are connected with one of some vertices, these among them."""
        found = 0
        for v in members(variables):
            found |= self.components[v]
        return VarSet(found)

    def n_components_of(self, variables: VarSet) -> int:
        """Return how many components some vertices lie in."""
        return len({self.components[v] for v in members(variables)})

    def around(self, variables: VarSet) -> VarSet:
        """Return some vertices and their neighbours."""
        return VarSet(variables | _spread(self.neighbours, variables))

    @property
    def is_union_of_cliques(self) -> bool:
        """Whether all vertices of each component are linked."""
        both = zip(self.neighbours, self.components, strict=True)
        return all(not mask or mask.bit_count() + 1 == component.bit_count() for mask, component in both)

    def separator(self, link: Link) -> VarSet | None:
        """Return what separates the ends of a missing link, or None if it may not be added alone.

        It is searched for once: a search asks it of a link for every set that misses it, and a network of 200
        links among 37 columns took 1.06 of the time to learn without.
        """
        if link not in self._separators:
            self._separators[link] = separator_of(self.neighbours, self.components, *link)
        return self._separators[link]

    def may_add(self, link: Link) -> bool:
        """Whether adding one missing link keeps the graph chordal."""
        return self.separator(link) is not None

    def add(self, links: Iterable[Link]) -> ChordalGraph:
        """Return the graph with some links added; ValueError if it would not be chordal."""
        return ChordalGraph.of(linked(self.neighbours, links))

    def extended(self, links: LinkSet) -> ChordalGraph:
        """Return the graph with missing links added that a chain of additions has shown to keep it chordal."""
        neighbours: list[int] = list(self.neighbours)
        components: list[int] = list(self.components)
        for x, y in links:
            add_link(neighbours, components, x, y)
        masks = cast("list[VarSet]", neighbours), cast("list[VarSet]", components)
        return ChordalGraph(tuple(masks[0]), tuple(masks[1]), _n_links=self.n_links + len(links))

    def induced(self, chosen: Sequence[int]) -> ChordalGraph:
        """Return the graph between some vertices, numbered anew in their order.

        Examples
        --------
        >>> ChordalGraph.empty(4).add([(0, 1), (1, 3)]).induced((1, 3)).links
        ((0, 1),)
        """
        places = [(1 << v, 1 << place) for place, v in enumerate(chosen)]
        masks = [
            sum(here for there, here in places if mask & there) for mask in (self.neighbours[v] for v in chosen)
        ]
        return ChordalGraph(tuple(map(VarSet, masks)), tuple(map(VarSet, component_masks(masks))))

    def without(self, links: LinkSet) -> ChordalGraph:
        """Return the graph with some links taken away; ValueError if it would not be chordal."""
        masks: list[int] = list(self.neighbours)
        for u, v in links:
            masks[u] &= ~(1 << v)
            masks[v] &= ~(1 << u)
        return ChordalGraph.of(masks)
