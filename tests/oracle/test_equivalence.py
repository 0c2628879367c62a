"""Compelled arcs against all equivalent graphs, one by one."""

from __future__ import annotations

from itertools import combinations, product

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from xordal.graph.equivalence import compelled_arcs
from xordal.types import members


@st.composite
def directed_graphs(draw: st.DrawFn, most: int = 5) -> list[int]:
    """Draw the parents of each variable of an acyclic graph."""
    n = draw(st.integers(2, most))
    order = draw(st.permutations(range(n)))
    parents = [0] * n
    for later, v in enumerate(order):
        for u in order[:later]:
            parents[v] |= draw(st.booleans()) << u
    return parents


def colliders(arcs: set[tuple[int, int]]) -> set[tuple[int, int, int]]:
    linked = {frozenset(arc) for arc in arcs}
    into: dict[int, list[int]] = {}
    for u, v in sorted(arcs):
        into.setdefault(v, []).append(u)
    return {
        (a, v, b)
        for v, some in into.items()
        for a, b in combinations(some, 2)
        if frozenset((a, b)) not in linked
    }


@settings(max_examples=some(200), deadline=None)
@given(directed_graphs())
def test_compelled_arcs_are_those_of_all_equivalent_graphs(parents: list[int]) -> None:
    arcs = {(u, v) for v, mask in enumerate(parents) for u in members(mask)}
    wanted, shared = colliders(arcs), set(arcs)
    for turned in product((False, True), repeat=len(arcs)):
        other = {(v, u) if flips else (u, v) for (u, v), flips in zip(sorted(arcs), turned, strict=True)}
        if colliders(other) == wanted and nx.is_directed_acyclic_graph(nx.DiGraph(list(other))):
            shared &= other
    assert compelled_arcs(parents) == shared
