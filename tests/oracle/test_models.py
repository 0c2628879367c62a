"""The models of the zoo by the definitions, and minimal I-maps: from a joint alone, and not unique."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.pi.colored import colored_imap, excess_entropy, minimal_imap, removable_links
from xordal.pi.definitions import (
    conditional_pi_submodels,
    is_embedded_pi,
    is_full_pi,
    is_partial_pi,
    pi_submodels,
)
from xordal.pi.independence import Independence
from xordal.pi.joint import Joint
from xordal.pi.zoo import FAMILIES, Model, build, conditional_pi, music_box, table_1
from xordal.types.varsets import members, varset


def named(model: Model, variables: int) -> str:
    return " ".join(model.joint.variables[v] for v in members(variables))


def test_table_1_by_the_definitions() -> None:
    model = table_1()
    judge = Independence(model.joint.oracle())
    found = {
        named(model, s.variables): " | ".join(named(model, block) for block in s.partition)
        for s in pi_submodels(judge, model.joint.varset())
    }
    assert found == {"a b c": "a | b | c", "d a c": "d c | a", "d b c": "d c | b", "d a b c": "d c | a | b"}
    assert is_partial_pi(judge, model.joint.varset())
    assert not is_full_pi(judge, model.joint.varset())
    embedded = [part for part in ("abc", "dac", "dbc", "dab") if _embedded(model, judge, part)]
    assert embedded == ["abc", "dac", "dbc"]
    truth = model.truth()
    assert [named(model, 1 << u | 1 << v) for u, v in truth.black_links] == ["d c"]
    assert len(truth.colored_links) == 5


def _embedded(model: Model, judge: Independence, part: str) -> bool:
    return is_embedded_pi(judge, model.joint.varset(list(part)), model.joint.varset())


def test_the_music_box_by_the_definitions() -> None:
    model = music_box()
    every = list(pi_submodels(Independence(model.joint.oracle()), model.joint.varset()))
    assert [sum(s.variables.bit_count() == size for s in every) for size in (3, 4, 5, 6)] == [7, 7, 4, 1]
    assert len(every) == 19
    assert "ball3 light1 John" in {named(model, s.variables) for s in every}
    truth = model.truth()
    assert {named(model, s.variables) for s in truth.submodels} == {
        "ball1 ball3 music_box",
        "ball2 ball3 music_box",
        "ball1 ball2 ball3 music_box",
        "light1 light2 dog",
        "music_box dog John",
    }
    assert len(truth.colored_links) == 10
    assert {named(model, 1 << u | 1 << v) for u, v in truth.black_links} == {"ball3 music_box", "light1 dog"}


def test_a_graph_that_is_no_minimal_imap_is_refused() -> None:
    joint = table_1().joint
    with pytest.raises(DataError, match="no I-map of this joint"):
        colored_imap(joint.oracle(), ChordalGraph.empty(4))
    chain = Joint.from_states("xy", {(x, y): Fraction(1, 4) for x in "01" for y in "01"})
    with pytest.raises(DataError, match="can go"):
        colored_imap(chain.oracle(), ChordalGraph.empty(2).add([(0, 1)]))


def test_table_1_from_the_joint_alone() -> None:
    joint = table_1().joint
    graph = minimal_imap(Independence(joint.oracle()), 4)
    assert graph == table_1().graph
    truth = table_1().truth()
    unmeasured = tuple(replace(group, hidden=None, share=None) for group in truth.submodels)
    assert colored_imap(joint.oracle(), graph) == replace(truth, submodels=unmeasured)


def test_minimal_imaps_of_a_deterministic_joint_differ() -> None:
    """On the music box greedy deletion ends in I-maps of 12 to 22 links, the pairwise Markov rule in four."""
    judge = Independence(music_box().joint.oracle())
    generator = np.random.default_rng(0)
    sizes = set()
    for _ in range(150):
        places = generator.permutation(64)
        graph = minimal_imap(judge, 8, order=lambda link, places=places: places[8 * link[0] + link[1]])  # type: ignore[misc]
        assert excess_entropy(music_box().joint.oracle(), graph) == pytest.approx(0, abs=1e-12)
        sizes.add(len(graph.links))
    assert min(sizes) == 12
    assert max(sizes) <= 22
    assert len(sizes) > 3
    rest = music_box().joint.varset()
    markov = [
        (x, y)
        for x, y in combinations(range(8), 2)
        if not judge.is_independent(1 << x, 1 << y, rest & ~(1 << x | 1 << y))
    ]
    assert len(markov) == 4


@settings(max_examples=some(60))
@given(chordal_graphs(min_vertices=2, max_vertices=5), st.integers(0, 1000), st.randoms(use_true_random=False))
def test_a_positive_joint_gives_its_markov_graph(graph: ChordalGraph, seed: int, random: Random) -> None:
    generator = np.random.default_rng(seed)
    array = np.ones((2,) * graph.n_vertices)
    for clique in maximal_cliques(graph):
        table = generator.uniform(0.3, 3.0, size=(2,) * clique.bit_count())
        shape = [2 if clique >> v & 1 else 1 for v in range(graph.n_vertices)]
        array = array * table.reshape(shape)
    joint = Joint.from_array([f"v{v}" for v in range(graph.n_vertices)], array / array.sum())
    places = list(range(graph.n_vertices**2))
    random.shuffle(places)
    found = minimal_imap(
        Independence(joint.oracle()),
        graph.n_vertices,
        lambda link: places[graph.n_vertices * link[0] + link[1]],
    )
    assert found == graph


def test_a_large_clique_is_searched_whole() -> None:
    assert [s.variables.bit_count() for s in build("parity", {"variables": "12"}).truth().submodels] == [12]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_model_of_the_zoo_carries_a_minimal_imap(name: str) -> None:
    model = build(name)
    judge = Independence(model.joint.oracle())
    assert excess_entropy(model.joint.oracle(), model.graph) == pytest.approx(0, abs=1e-12)
    assert list(removable_links(judge, model.graph)) == []
    assert model.truth().submodels


def test_a_conditional_submodel_is_named_with_its_context() -> None:
    model = conditional_pi()
    judge = Independence(model.joint.oracle())
    assert list(pi_submodels(judge, model.joint.varset())) == []
    (found,) = conditional_pi_submodels(judge, model.joint.varset(), sizes=[4])
    assert (named(model, found.variables), named(model, found.context)) == ("x y z", "c")
    assert [named(model, block) for block in found.partition] == ["x", "y", "z"]
    for c in ("0", "1"):  # by hand: given c every pair is independent, the three are not
        given = Independence(model.joint.conditional({"c": c}).oracle())
        assert is_full_pi(given, varset([0, 1, 2]))


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"conditional-pi"}))
def test_other_models_have_no_conditional_submodel(name: str) -> None:
    assert all(submodel.kind != "conditional" for submodel in build(name).truth().submodels)


@pytest.mark.slow
def test_twelve_binary_variables_are_done() -> None:
    model = build("embedded", {"variables": "12", "depth": "4", "seed": "2"})
    every = list(pi_submodels(Independence(model.joint.oracle()), model.joint.varset()))
    inside = {s.variables for s in model.truth().submodels}
    assert inside < {s.variables for s in every}
