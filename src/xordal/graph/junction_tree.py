"""Cliques and separators as a rooted forest: one junction tree per component.

Running intersection holds by construction: the separator of a clique is its intersection with all cliques
before it, and lies inside its parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xordal.graph.chordal import ChordalGraph, perfect_order
from xordal.types.varsets import VarSet, members


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Maximal cliques in an order where every parent precedes its children.

    ``parents[i]`` is the index of clique i's parent and ``separators[i]`` their intersection; a root has
    parent None and an empty separator.
    """

    cliques: tuple[VarSet, ...]
    separators: tuple[VarSet, ...]
    parents: tuple[int | None, ...]


def junction_tree(graph: ChordalGraph, inside: VarSet | None = None) -> JunctionTree:
    """Return the junction tree of a chordal graph, in one maximum cardinality search (Blair & Peyton 1993).

    ``inside`` are the vertices of some components, if the others do not matter.

    Examples
    --------
    >>> tree = junction_tree(ChordalGraph.empty(4).add([(0, 1), (1, 2)]))
    >>> [members(clique) for clique in tree.cliques], tree.parents
    ([(0, 1), (1, 2), (3,)], (None, 0, None))
    """
    order = graph.order if inside is None else perfect_order(graph.neighbours, inside)
    assert order is not None, "a ChordalGraph is chordal"
    position = {v: step for step, v in enumerate(order)}
    clique_of: dict[int, int] = {}
    cliques: list[int] = []
    separators: list[int] = []
    parents: list[int | None] = []
    visited = 0
    for v in order:
        earlier = graph.neighbours[v] & visited
        # v extends the current clique exactly when its earlier neighbours are all of it.
        if not cliques or earlier != cliques[-1]:
            latest = max(members(earlier), key=position.__getitem__, default=None)
            parents.append(None if latest is None else clique_of[latest])
            separators.append(earlier)
            cliques.append(earlier)
        cliques[-1] |= 1 << v
        clique_of[v] = len(cliques) - 1
        visited |= 1 << v
    return JunctionTree(tuple(map(VarSet, cliques)), tuple(map(VarSet, separators)), tuple(parents))


def first_cliques(tree: JunctionTree) -> dict[int, int]:
    """Return the place of the first clique that holds each vertex.

    A set of vertices that are all linked lies in the last of their first cliques: from there down to a clique
    that holds all of them each is kept, since parents precede their children and intersections run on.

    Examples
    --------
    >>> tree = junction_tree(ChordalGraph.empty(4).add([(0, 1), (1, 2)]))
    >>> first_cliques(tree)
    {0: 0, 1: 0, 2: 1, 3: 2}
    """
    both = zip(tree.cliques, tree.separators, strict=True)
    return {v: place for place, (clique, shared) in enumerate(both) for v in members(clique & ~shared)}


def rooted(tree: JunctionTree, first: Sequence[int]) -> JunctionTree:
    """Return the same cliques with other roots: in each tree the first of some cliques, by their places.

    Examples
    --------
    >>> tree = junction_tree(ChordalGraph.empty(4).add([(0, 1), (1, 2)]))
    >>> [members(clique) for clique in rooted(tree, [1]).cliques], rooted(tree, [1]).parents
    ([(1, 2), (0, 1), (3,)], (None, 0, None))
    """
    near: list[list[int]] = [[] for _ in tree.cliques]
    for clique, parent in enumerate(tree.parents):
        if parent is not None:
            near[clique].append(parent)
            near[parent].append(clique)
    order: list[int] = []
    parents: list[int | None] = []
    place_of: dict[int, int] = {}
    for root in (*first, *range(len(tree.cliques))):
        waiting: list[tuple[int, int | None]] = [] if root in place_of else [(root, None)]
        while waiting:
            clique, parent = waiting.pop()
            place_of[clique] = len(order)
            order.append(clique)
            parents.append(parent)
            waiting += [(other, place_of[clique]) for other in near[clique] if other not in place_of]
    cliques = [tree.cliques[clique] for clique in order]
    shared = [
        VarSet(0 if parent is None else clique & cliques[parent])
        for clique, parent in zip(cliques, parents, strict=True)
    ]
    return JunctionTree(tuple(cliques), tuple(shared), tuple(parents))


def maximal_cliques(graph: ChordalGraph) -> tuple[VarSet, ...]:
    """Return the maximal cliques, smallest first member first."""
    return tuple(sorted(junction_tree(graph).cliques, key=members))
