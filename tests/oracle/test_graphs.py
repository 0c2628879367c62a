"""Chordality, cliques, separators and signed sets against networkx and brute force."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs, neighbour_masks
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph, component_masks, is_chordal, linked, perfect_order
from xordal.graph.junction_tree import junction_tree, maximal_cliques
from xordal.graph.nearby import disturbed, sets_around
from xordal.graph.signed_sets import change, free_parameters, signed_sets
from xordal.types.varsets import SignedSets, VarSet, members, varset


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


@given(chordal_graphs())
def test_separation_is_that_of_networkx(graph: ChordalGraph) -> None:
    whole = as_networkx(graph.neighbours)
    for x, y in graph.missing_links((1 << graph.n_vertices) - 1):
        common = graph.neighbours[x] & graph.neighbours[y]
        rest = whole.subgraph(set(whole) - set(members(common)))
        assert (graph.separator((x, y)) == common) == (not nx.has_path(rest, x, y))


@given(neighbour_masks())
def test_components_are_those_of_networkx(masks: list[int]) -> None:
    found = component_masks(masks)
    for component in nx.connected_components(as_networkx(masks)):
        assert {found[v] for v in component} == {varset(component)}


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
                after_links = graph.extended(links)
                assert after_links == graph.add(links)
                assert after_links.components == graph.add(links).components
                before, after = signed_sets(graph), signed_sets(after_links)
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


def outcomes(graph: ChordalGraph) -> dict[VarSet, SignedSets | None]:
    """For each variable set inside one component: what completing it changes, None where that is illegal."""
    sets = [VarSet(s) for s in range(1, 1 << graph.n_vertices)]
    inside = [s for s in sets if not s & ~graph.components[members(s)[0]]]
    chains = {s: additions(graph, graph.missing_links(s)) for s in inside}
    return {s: None if chain is None else change(chain) for s, chain in chains.items()}


@settings(max_examples=some(200))
@given(chordal_graphs(max_vertices=8), st.data())
def test_a_change_is_noticed_only_around_it(graph: ChordalGraph, data: st.DataObject) -> None:
    legal = [s for s in range(1, 1 << graph.n_vertices) if graph.missing_links(s)]
    if not legal:
        return
    links = graph.missing_links(data.draw(st.sampled_from(legal)))
    if additions(graph, links) is None:
        return
    larger = graph.extended(links)
    around = disturbed(larger.neighbours, links)
    before, after = outcomes(graph), outcomes(larger)
    for s in before.keys() & after.keys():
        assert s & around or before[s] == after[s]
    for s in after.keys() - before.keys():  # two components became one
        assert s & around or after[s] is None


@given(chordal_graphs(max_vertices=7), st.integers(0, 127), st.integers(1, 5), st.integers(0, 6))
def test_sets_around_are_all_that_can_be_completed(
    graph: ChordalGraph, anchors: int, size: int, n_missing: int
) -> None:
    anchors &= (1 << graph.n_vertices) - 1
    found = list(sets_around(graph.neighbours, anchors, size, n_missing))
    assert len(found) == len(set(found))
    for s in found:
        assert s.bit_count() == size
        assert s & anchors
        assert len(graph.missing_links(s)) == n_missing
    for s, outcome in outcomes(graph).items():
        wanted = s.bit_count() == size and s & anchors and len(graph.missing_links(s)) == n_missing
        assert not wanted or outcome is None or s in found
