"""The fill-in rule against brute force, and what a search with it finds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs, tables
from xordal import BIC, CategoricalTable, Constraints, EntropyDecrement, Limits, learn, read_table, to_networkx
from xordal.counting.compiled import Kernels, words_of
from xordal.graph.chain import Addition, additions
from xordal.graph.chordal import ChordalGraph, component_masks, is_chordal, linked
from xordal.graph.fill_in import Spread, completions, fill_ins_of_pair, region, touched, written_out
from xordal.graph.separators import SeparatorPaths
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.pi.zoo import ring
from xordal.search.completing._completions import put_back
from xordal.search.completing.fill_in_rule import FillInRule
from xordal.search.numbered import SummedFillIns, words_as
from xordal.search.state import GraphState
from xordal.types.learned import Learned
from xordal.types.varsets import Link, VarSet, members, varset


def separates(graph: ChordalGraph, separator: int, x: int, y: int) -> bool:
    cut = [0 if separator >> v & 1 else mask & ~separator for v, mask in enumerate(graph.neighbours)]
    return not component_masks(cut)[x] >> y & 1


@settings(max_examples=some(200))
@given(chordal_graphs(max_vertices=8))
def test_minimal_separators_by_the_letter(graph: ChordalGraph) -> None:
    ways = SeparatorPaths(graph)
    for x, y in graph.missing_links((1 << graph.n_vertices) - 1):
        if not graph.components[x] >> y & 1:
            continue
        rest = [v for v in range(graph.n_vertices) if v not in (x, y)]
        subsets = [varset(some) for size in range(len(rest) + 1) for some in combinations(rest, size)]
        every = [s for s in subsets if separates(graph, s, x, y)]
        minimal = {s for s in every if not any(other != s and not other & ~s for other in every)}
        found = ways.minimal(x, y)
        assert set(found) == minimal
        assert len(found) == len(minimal)
        assert found == ways.minimal(y, x)[::-1]


@settings(max_examples=some(200))
@given(chordal_graphs(min_vertices=4, max_vertices=12), st.data())
def test_ways_of_a_graph_that_grows(graph: ChordalGraph, data: st.DataObject) -> None:
    ways = SeparatorPaths(graph)
    for _ in range(4):
        apart = graph.missing_links((1 << graph.n_vertices) - 1)
        able = [link for link in apart if graph.may_add(link)]
        for x, y in apart:
            if graph.components[x] >> y & 1:
                assert ways.separators(x, y) == SeparatorPaths(graph).separators(x, y)
        if not able:
            return
        links = data.draw(st.lists(st.sampled_from(able), min_size=1, max_size=2, unique=True))
        graph = graph.add(links) if additions(graph, tuple(sorted(links))) else graph.add(links[:1])
        ways = SeparatorPaths(graph, ways)


sets = st.lists(st.integers(0, 9), min_size=2, max_size=5, unique=True).map(varset)
LEVELS = (2, 3, 2, 5, 4, 2, 3, 2, 2, 4)


@settings(max_examples=some(400))
@given(chordal_graphs(min_vertices=10, max_vertices=10), sets)
def test_completions_are_chordal_step_by_step(graph: ChordalGraph, variables: VarSet) -> None:
    missing = graph.missing_links(variables)
    assume(missing)
    found = completions(graph, SeparatorPaths(graph), variables, LEVELS)
    is_legal = additions(graph, missing) is not None
    assert len(found) == 1 or not is_legal
    for done in found:
        growing = graph
        for x, y, separator in done.steps:
            assert growing.separator((x, y)) == separator
            growing = growing.add([(x, y)])
        links = {(x, y) for x, y, _ in done.steps}
        assert not growing.missing_links(variables)
        assert set(missing) | set(done.fill_in) == links
        assert not set(missing) & set(done.fill_in)
        assert bool(done.fill_in) == (not is_legal)
        assert [(x, y) for x, y, _ in done.own if (x, y) in missing] == [(x, y) for x, y, _ in done.own]
    assert len({done.fill_in for done in found}) == len(found)


def by_the_letter(graph: ChordalGraph, variables: VarSet) -> list[set[Link]]:
    """Return the links that each completion adds: the rule as it is documented, on whole graphs."""

    def add_alone(now: ChordalGraph, left: list[Link]) -> ChordalGraph:
        while able := [link for link in left if link not in now.links and now.may_add(link)]:
            now = now.add(able[:1])
        return now

    def fill_ins(now: ChordalGraph, x: int, y: int) -> list[ChordalGraph]:
        way = SeparatorPaths(now).minimal(x, y)
        found = []
        for place in range(len(way)):
            new = {(x, v) for s in way[: place + 1] for v in members(s)}
            found.append(new | {(y, v) for s in way[place:] for v in members(s)})
        for s in way:
            if s.bit_count() == 1:
                hub = members(s)[0]
                found.append({(hub, v) for other in way for v in (*members(other), x, y)})
        sorted_links = [{(min(a, b), max(a, b)) for a, b in (*some, (x, y)) if a != b} for some in found]
        graphs = [now.add(some - set(now.links)) for some in sorted_links]
        return list(dict.fromkeys(graphs))

    def cost(before: ChordalGraph, after: ChordalGraph) -> tuple[int, int]:
        parameters = [free_parameters(signed_sets(g), LEVELS) for g in (before, after)]
        return parameters[1] - parameters[0], len(after.links) - len(before.links)

    def finish(now: ChordalGraph, wanted: list[Link]) -> ChordalGraph:
        now = add_alone(now, wanted)
        left = [link for link in wanted if link not in now.links]
        if not left:
            return now
        every = fill_ins(now, *left[0])
        costs = [cost(now, after) for after in every]
        return finish(every[costs.index(min(costs))], wanted)

    missing = list(graph.missing_links(variables))
    within = [(u, v) for u, v in missing if graph.components[u] >> v & 1]
    start = add_alone(graph, within)
    stuck = [link for link in within if link not in start.links]
    begun = fill_ins(start, *stuck[0]) if stuck else [start]
    done = dict.fromkeys(finish(finish(now, within), missing) for now in begun)
    return [set(after.links) - set(graph.links) for after in done]


TWICE = (
    ChordalGraph.of((32, 208, 0, 0, 2, 129, 2, 34, 0, 0)),
    VarSet(113),
)  # two first fill-ins come to the same


def weights_of(steps: Sequence[Addition]) -> list[tuple[float, int]]:
    """Some gains and degrees of freedom."""
    return [(1 / (1 + hash(step) % 97), hash(step) % 13) for step in steps]


@settings(max_examples=some(400))
@given(chordal_graphs(min_vertices=10, max_vertices=10), sets, st.integers(0, 60))
@pytest.mark.slow
def test_kernels_complete_as_the_rule_says(graph: ChordalGraph, variables: VarSet, apart: int) -> None:
    # With vertices of no links in between the graph takes two words, and a region still one.
    places = [v if v < 5 else v + apart for v in range(10)]
    links = tuple((places[u], places[v]) for u, v in graph.links)
    state = GraphState(ChordalGraph.empty(10 + apart).extended(links))
    here = varset(places[v] for v in members(variables))
    missing = state.graph.missing_links(here)
    assume(len(missing) > 1 and here.bit_count() > 2)
    levels = tuple(LEVELS[places.index(v)] if v in places else 2 for v in range(10 + apart))
    rule, words = FillInRule(state, levels, Kernels()), state.words.shape[1]
    listed = rule._by_kernels(members(region(state.graph, state.paths, here)), missing)
    assert listed is not None
    n_done = len(listed.until)
    every = [listed.written(number) for number in range(n_done)]
    assert every == completions(state.graph, state.paths, here, levels)
    ends, separators = np.empty((len(listed.ends), 2), np.int64), np.empty((len(listed.ends), words), np.uint64)
    is_own = np.empty(len(listed.ends), np.bool_)
    put_back(*listed.places, ends, separators, is_own)
    sets = words_as([here] * n_done, state.words)
    both = SummedFillIns(words, weights_of).of_completions(ends, separators, listed.until, is_own, sets)
    for done, *sums in zip(every, *(zip(*one, strict=True) for one in both), strict=True):
        for steps, linked_by, (gain, sizes) in zip(
            (done.own, done.steps), (here, done.ends), sums, strict=True
        ):
            assert gain == pytest.approx(sum(own for own, _ in weights_of(steps)))
            around = reduce(or_, [step.separator for step in steps], 0) & ~linked_by
            dof = sum(dof for _, dof in weights_of(steps))
            assert sizes.tolist() == [linked_by.bit_count(), len(steps), around.bit_count(), dof]


@settings(max_examples=some(400))
@example(*TWICE)
@given(chordal_graphs(min_vertices=10, max_vertices=10), sets)
def test_completions_follow_the_rule_by_the_letter(graph: ChordalGraph, variables: VarSet) -> None:
    found = completions(graph, SeparatorPaths(graph), variables, LEVELS)
    assert [{(x, y) for x, y, _ in done.steps} for done in found] == by_the_letter(graph, variables)


@settings(max_examples=some(300))
@given(chordal_graphs(min_vertices=4, max_vertices=10))
def test_the_fill_in_of_a_link_is_minimal(graph: ChordalGraph) -> None:
    ways = SeparatorPaths(graph)
    for link in graph.missing_links((1 << graph.n_vertices) - 1):
        for done in completions(graph, ways, varset(link), LEVELS):
            links = [(x, y) for x, y, _ in done.steps]
            for filled in done.fill_in:
                assert not is_chordal(linked(graph.neighbours, [one for one in links if one != filled]))


@settings(max_examples=some(300))
@given(chordal_graphs(min_vertices=4, max_vertices=12), st.data())
def test_fill_ins_of_all_pairs_share_their_steps(graph: ChordalGraph, data: st.DataObject) -> None:
    """What one pair has worked out serves the next, whichever came first; its steps lead there one by one."""
    ways = SeparatorPaths(graph)
    apart = [
        link
        for link in graph.missing_links((1 << graph.n_vertices) - 1)
        if graph.components[link[0]] >> link[1] & 1
    ]
    known: dict[tuple[int, int, bool], Spread] = {}
    for x, y in data.draw(st.permutations(apart)):
        for one in fill_ins_of_pair(graph, ways, x, y):
            done = written_out(graph, one, known)
            assert done == written_out(graph, one)
            now = graph
            for step in done.steps:
                assert now.separator((step.x, step.y)) == step.separator
                now = now.add([(step.x, step.y)])
            assert done.steps[-1] == one.own


@settings(max_examples=some(100))
@given(chordal_graphs(min_vertices=4, max_vertices=12), st.integers(0, 70))
def test_sums_of_fill_ins_by_kernels(graph: ChordalGraph, shift: int) -> None:
    """What all steps of each fill-in come to, in graphs of one word and of two."""

    moved = ChordalGraph.of([0] * shift + [mask << shift for mask in graph.neighbours])
    ways, masks = SeparatorPaths(moved), words_of(moved.neighbours)
    summed = SummedFillIns(masks.shape[1], weights_of)
    apart = [
        (x + shift, y + shift)
        for x, y in graph.missing_links((1 << graph.n_vertices) - 1)
        if graph.components[x] >> y & 1
    ]
    for some_links in (apart[::2], apart):  # the second time some steps are known
        every = [one for link in some_links for one in fill_ins_of_pair(moved, ways, *link)]
        if not every:
            continue
        found = summed.of(masks, every)
        for one, gain, sizes in zip(every, found.gain.tolist(), found.sizes.tolist(), strict=True):
            steps = written_out(moved, one).steps
            weights = weights_of(steps)
            ends = varset(v for step in steps for v in step[:2])
            around = VarSet(reduce(or_, [step.separator for step in steps]) & ~ends)
            assert gain == pytest.approx(sum(own for own, _ in weights))
            assert sizes == [ends.bit_count(), len(steps), around.bit_count(), sum(dof for _, dof in weights)]


@settings(max_examples=some(300))
@given(chordal_graphs(min_vertices=10, max_vertices=10), sets, st.data())
def test_a_change_that_does_not_touch_the_region_changes_nothing(
    graph: ChordalGraph, variables: VarSet, data: st.DataObject
) -> None:
    able = [link for link in graph.missing_links((1 << graph.n_vertices) - 1) if graph.may_add(link)]
    assume(able)
    link = data.draw(st.sampled_from(able))
    steps = additions(graph, (link,))
    assert steps is not None
    after = graph.add([link])
    joined = [len({g.components[v] for v in members(variables)}) for g in (graph, after)]
    assume(not region(graph, SeparatorPaths(graph), variables) & touched(steps) and joined[0] == joined[1])
    here, there = (completions(g, SeparatorPaths(g), variables, LEVELS) for g in (graph, after))
    assert here == there


@pytest.mark.parametrize("gates", [4, 5, 6])
def test_a_ring_of_hidden_groups_is_exact(gates: int) -> None:
    """Three links at a time: the paper's search needs a lookahead of five for a ring of four."""
    model = ring(gates=gates)
    learned = learn(model.joint, fill_in=True)
    assert learned.links == model.graph.links
    assert len(learned.filled_links) == gates - 3
    assert len(learned.submodels or ()) >= gates
    assert learn(model.joint, fill_in=False).links != model.graph.links


@pytest.mark.parametrize("gates", [4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_a_ring_in_a_sample_is_exact_up_to_the_fill_in(gates: int, seed: int) -> None:
    model = ring(gates=gates)
    learned = learn(model.joint.sample_table(5000, seed))
    inside = {frozenset(clique) for clique in learned.cliques}
    assert len(learned.links) == len(model.graph.links)
    assert len(learned.filled_links) == gates - 3
    names = model.joint.variables
    for place in range(1, gates + 1):
        gate = {f"e{place}", f"s{place}", f"s{place % gates + 1}"}
        assert frozenset(names.index(name) for name in gate) in inside


def gates_found(learned: Learned, truth: dict[str, list[str]]) -> tuple[int, int]:
    """Return how many gates lie in cliques, and how many are hidden groups."""
    cliques = [set(learned.names(clique)) for clique in learned.cliques]
    groups = [set(learned.names(group.variables)) for group in learned.submodels or ()]
    gates = [{output, *inputs} for output, inputs in truth.items()]
    return sum(any(gate <= clique for clique in cliques) for gate in gates), sum(
        gate in groups for gate in gates
    )


def test_a_circuit_of_gates_in_cycles(real_data: Path) -> None:
    table = read_table(real_data / "circuits" / "c499_parity_tree_sim20k.csv")
    truth = json.loads((real_data / "circuits" / "c499_parity_tree_truth.json").read_text())["xor"]
    learned = learn(table)
    assert gates_found(learned, truth) == (10, 10)
    assert max(map(len, learned.cliques)) <= 5
    as_in_the_paper = learn(table, max_links=3, criterion=EntropyDecrement(0.004))
    assert gates_found(as_in_the_paper, truth) == (7, 7)


@settings(max_examples=some(60))
@given(tables(min_variables=4, max_variables=6), st.integers(1, 3), st.data())
def test_fill_in_keeps_to_constraints(table: CategoricalTable, k: int, data: st.DataObject) -> None:
    pairs = list(combinations(table.names, 2))
    forbidden = data.draw(st.sets(st.sampled_from(pairs), max_size=4), label="forbidden")
    most = data.draw(st.integers(2, 4), label="max_clique")
    learned = learn(
        table,
        max_links=k,
        criterion=BIC(0.1),
        constraints=Constraints(forbidden=sorted(forbidden)),
        limits=Limits(max_clique=most),
    )
    assert not {learned.names(link) for link in learned.links} & forbidden
    assert all(len(clique) <= most for clique in learned.cliques)


def test_filled_in_links_are_told_apart() -> None:
    learned = learn(ring().joint, fill_in=True)
    (filled,) = learned.filled_links
    edges = to_networkx(learned).edges(data=True)
    assert [{a, b} for a, b, told in edges if told.get("fill_in")] == [set(learned.names(filled))]
    assert [entry.fill_in for entry in learned.trace if entry.fill_in] == [(filled,)]
