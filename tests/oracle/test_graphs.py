"""Chordality, cliques, separators and signed sets against networkx and brute force."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
from hypothesis import given

from tests.strategies import chordal_graphs, neighbour_masks
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph, is_chordal, is_separated, linked, perfect_order
from xordal.graph.junction_tree import junction_tree, maximal_cliques
from xordal.graph.signed_sets import change, free_parameters, signed_sets
from xordal.types import SignedSets, VarSet, members, varset


def as_networkx(neighbours: list[int] | tuple[int, ...]) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(neighbours)))
    graph.add_edges_from((u, v) for u, mask in enumerate(neighbours) for v in members(mask))
    return graph


def minus(after: SignedSets, before: SignedSets) -> SignedSets:
    difference = {s: after.get(s, 0) - before.get(s, 0) for s in after | before}
    return {s: sign for s, sign in difference.items() if sign}


@given(neighbour_masks())
def test_chordality_is_that_of_networkx(masks: list[int]) -> None:
    assert is_chordal(masks) == nx.is_chordal(as_networkx(masks))


@given(chordal_graphs())
def test_earlier_neighbours_in_a_perfect_order_are_cliques(graph: ChordalGraph) -> None:
    order = perfect_order(graph.neighbours)
    assert order is not None
    assert sorted(order) == list(range(graph.n_vertices))
    for place, v in enumerate(order):
        earlier = [u for u in order[:place] if graph.neighbours[v] >> u & 1]
        assert all(graph.neighbours[u] >> w & 1 for u, w in combinations(earlier, 2))


@given(neighbour_masks())
def test_separation_is_that_of_networkx(masks: list[int]) -> None:
    graph = as_networkx(masks)
    for x, y in combinations(range(len(masks)), 2):
        if not graph.has_edge(x, y):
            common = masks[x] & masks[y]
            rest = graph.subgraph(set(graph) - set(members(common)))
            assert is_separated(masks, common, x, y) == (not nx.has_path(rest, x, y))


@given(chordal_graphs())
def test_cliques_are_those_of_networkx(graph: ChordalGraph) -> None:
    expected = {frozenset(clique) for clique in nx.find_cliques(as_networkx(graph.neighbours))}
    cliques = maximal_cliques(graph)
    assert {frozenset(members(clique)) for clique in cliques} == expected
    assert len(cliques) == len(expected)


@given(chordal_graphs())
def test_junction_tree_has_running_intersection(graph: ChordalGraph) -> None:
    tree = junction_tree(graph)
    seen = 0
    for place, (clique, separator, parent) in enumerate(
        zip(tree.cliques, tree.separators, tree.parents, strict=True)
    ):
        assert separator == clique & seen
        if parent is None:
            assert separator == 0
        else:
            assert parent < place
            assert separator == clique & tree.cliques[parent]
            assert separator
        seen |= clique


@given(chordal_graphs())
def test_one_root_per_component(graph: ChordalGraph) -> None:
    components = nx.number_connected_components(as_networkx(graph.neighbours))
    assert junction_tree(graph).parents.count(None) == components


@given(chordal_graphs())
def test_signed_sets_are_cliques_minus_separators(graph: ChordalGraph) -> None:
    """Multiplicities by brute force: a maximum-weight spanning tree of the clique graph."""
    cliques = [frozenset(c) for c in nx.find_cliques(as_networkx(graph.neighbours))]
    clique_graph = nx.Graph()
    clique_graph.add_nodes_from(cliques)
    for a, b in combinations(cliques, 2):
        clique_graph.add_edge(a, b, weight=len(a & b))
    expected: SignedSets = {varset(clique): 1 for clique in cliques}
    for a, b in nx.maximum_spanning_edges(clique_graph, data=False):
        if a & b:
            expected[varset(a & b)] = expected.get(varset(a & b), 0) - 1
    assert signed_sets(graph) == expected


@given(chordal_graphs())
def test_a_link_may_be_added_when_the_graph_stays_chordal(graph: ChordalGraph) -> None:
    for link in graph.missing_links((1 << graph.n_vertices) - 1):
        masks = linked(graph.neighbours, [link])
        separator = graph.separator(link)
        assert (separator is not None) == graph.may_add(link) == nx.is_chordal(as_networkx(masks))
        if separator is not None:
            added = minus(signed_sets(graph.add([link])), signed_sets(graph))
            assert added == change(additions(graph, (link,)) or ())
            assert nx.is_chordal(as_networkx(graph.neighbours))


@given(chordal_graphs(max_vertices=6))
def test_a_chain_exists_exactly_when_the_result_is_chordal(graph: ChordalGraph) -> None:
    missing = graph.missing_links((1 << graph.n_vertices) - 1)
    levels = tuple(2 + v % 3 for v in range(graph.n_vertices))
    for size in (1, 2, 3):
        for links in combinations(missing, size):
            chain = additions(graph, links)
            assert (chain is not None) == nx.is_chordal(as_networkx(linked(graph.neighbours, links)))
            if chain is not None:
                before, after = signed_sets(graph), signed_sets(graph.add(links))
                assert change(chain) == minus(after, before)
                dof = free_parameters(change(chain), levels)
                assert dof == free_parameters(after, levels) - free_parameters(before, levels) > 0


@given(chordal_graphs())
def test_links_and_missing_links_are_all_pairs(graph: ChordalGraph) -> None:
    everything = VarSet((1 << graph.n_vertices) - 1)
    missing = graph.missing_links(everything)
    assert graph.n_missing == len(missing)
    assert sorted(graph.links + missing) == list(combinations(range(graph.n_vertices), 2))
    assert ChordalGraph.empty(graph.n_vertices).add(graph.links) == graph
