"""Theorem 5: where it holds, ML(k) on the exact joint returns an I-map; and where it is silent."""

from __future__ import annotations

from fractions import Fraction

import pytest

from xordal import EntropyDecrement, learn
from xordal.graph.chordal import ChordalGraph
from xordal.pi.colored import excess_entropy
from xordal.pi.definitions import pi_submodels
from xordal.pi.independence import Independence
from xordal.pi.zoo import Model, conditional_pi, embedded, music_box, parity, ring, table_1

SMALL = EntropyDecrement(1e-9)


def returns_imap(model: Model, k: int) -> bool:
    """Whether ML(k) on the exact joint loses no dependence."""
    learned = learn(model.joint, max_links=k, criterion=SMALL)
    graph = ChordalGraph.empty(len(learned.variables)).add(learned.links)
    return excess_entropy(model.joint.oracle(), graph) < 1e-9


def most_colored_links(model: Model) -> int:
    return max(len(submodel.colored_links()) for submodel in model.truth().submodels)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("variables", [7, 10])
def test_it_holds_for_recursively_embedded_submodels(seed: int, variables: int) -> None:
    model = embedded(variables=variables, depth=3, seed=seed)
    k = most_colored_links(model)
    assert returns_imap(model, k)
    learned = learn(model.joint, max_links=k, criterion=SMALL)
    assert learned.links == model.graph.links
    assert learned.submodels == model.truth().submodels
    assert learned.colored_links == model.truth().colored_links


def test_it_holds_for_the_models_of_the_paper() -> None:
    assert returns_imap(table_1(), most_colored_links(table_1()))
    assert returns_imap(table_1(), 2)
    assert returns_imap(music_box(), most_colored_links(music_box()))
    assert returns_imap(music_box(), 3)


def test_single_links_do_not_suffice() -> None:
    for model in (table_1(), music_box(), embedded()):
        assert not returns_imap(model, 1)


def test_silent_case_a_nothing_around_a_full_pi_model() -> None:
    """Three-variable XOR has no *proper* embedded submodel, so the theorem asks for no lookahead at all."""
    xor = parity(variables=3)
    judge = Independence(xor.joint.oracle())
    assert [s for s in pi_submodels(judge, xor.joint.varset()) if s.variables != xor.joint.varset()] == []
    assert not returns_imap(xor, 1)
    assert not returns_imap(xor, 2)
    assert returns_imap(xor, 3)


def test_silent_case_b_conditional_submodels() -> None:
    """No PI subset at all, the I-map is complete and chordal; the search stops at the star around c."""
    model = conditional_pi()
    assert list(pi_submodels(Independence(model.joint.oracle()), model.joint.varset())) == []
    for k in (1, 2):
        assert learn(model.joint, max_links=k, criterion=SMALL).links == ((0, 1), (0, 2), (0, 3))
        assert not returns_imap(model, k)
    assert returns_imap(model, 3)


@pytest.mark.parametrize("noise", [Fraction(1, 20), Fraction(1, 5)])
def test_silent_case_c_submodels_in_a_cycle(noise: Fraction) -> None:
    """Every submodel of the 4-ring has three coloured links, yet lookahead 3 and 4 are not enough."""
    model = ring(gates=4, noise=noise)
    assert most_colored_links(model) == 3
    assert [returns_imap(model, k) for k in (3, 4, 5)] == [False, False, True]
