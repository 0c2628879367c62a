"""Variable sets against link sets: the same legal candidates as testing every set of i missing links."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.plain import variable_sets
from tests.oracle.test_graphs import as_networkx
from tests.strategies import chordal_graphs
from xordal.graph.chordal import ChordalGraph, linked
from xordal.search.candidate import candidate
from xordal.types.varsets import LinkSet, members


def legal_link_sets(graph: ChordalGraph, i: int) -> set[LinkSet]:
    """By the letter of lookahead's lines 4-6: chordal, and implied by a single clique."""
    legal = set()
    for links in combinations(graph.missing_links((1 << graph.n_vertices) - 1), i):
        after = linked(graph.neighbours, links)
        ends = {v for link in links for v in link}
        if all(after[u] >> v & 1 for u, v in combinations(ends, 2)) and nx.is_chordal(as_networkx(after)):
            legal.add(links)
    return legal


@given(chordal_graphs(max_vertices=7), st.integers(1, 6))
def test_candidates_are_the_legal_link_sets(graph: ChordalGraph, i: int) -> None:
    found = [candidate(graph, variables) for variables in variable_sets(graph, i)]
    links = [c.links for c in found if c is not None]
    assert len(links) == len(set(links))
    assert set(links) == legal_link_sets(graph, i)


@given(chordal_graphs(max_vertices=7), st.integers(1, 6), st.integers(2, 5))
def test_max_variables_keeps_the_small_sets(graph: ChordalGraph, i: int, m: int) -> None:
    everything = list(variable_sets(graph, i))
    assert list(variable_sets(graph, i, max_variables=m)) == [s for s in everything if len(members(s)) <= m]
    assert all(len(graph.missing_links(s)) == i for s in everything)
