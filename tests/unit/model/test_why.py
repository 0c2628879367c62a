"""Explanations and comparisons: shares add up, information and divergence agree with brute force."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.brute import margin, whole_joint
from tests.examples import some
from tests.oracle.test_inference import networks
from tests.strategies import chordal_graphs, tables
from tests.unit.model.test_use import box, xor
from xordal import CategoricalTable, Constraints, DataError, DecomposableMarkovNetwork, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.formats.stories import story_lines
from xordal.formats.text import hidden_groups_lines
from xordal.learning.fitting import fit_network
from xordal.model.estimation import estimate
from xordal.model.query import query
from xordal.pi.zoo import music_box
from xordal.report.summary import summarise


def test_a_hidden_link() -> None:
    story = box().why_link("John", "dog")
    assert story.variables == ("dog", "John")
    assert story.is_linked
    assert story.pair == pytest.approx(0, abs=1e-12)
    assert story.given_rest == pytest.approx(log(2))
    assert story.clique == ("music_box", "dog", "John")
    assert (story.step, story.entry and story.entry.lookahead) == (7, 3)
    assert story.together_with == (("music_box", "dog"), ("music_box", "John"))
    assert story.by_chance == pytest.approx(0.002)
    assert story.submodels is not None
    assert [group.variables for group in story.submodels] == [("music_box", "dog", "John")]
    assert story.single_link is False


def test_a_plain_link_and_none() -> None:
    plain = box().why_link("light1", "dog")
    assert (plain.single_link, plain.submodels, plain.step) == (True, (), 1)
    assert plain.pair == pytest.approx(0.08228288, abs=1e-8)
    apart = box().why_link("ball1", "light1")
    assert (apart.is_linked, apart.separator) == (False, ("music_box",))
    alone = box(schedule="single").why_link("ball1", "John")
    assert (alone.is_linked, alone.separator) == (False, ())
    with pytest.raises(DataError, match="given twice"):
        box().why_link("dog", "dog")


ILL = {  # rates of illness, and rows: the gene is bad for who does not smoke, and good for who does
    ("AA", "no"): (0.89, 340), ("AA", "yes"): (0.09, 1290),
    ("aa", "no"): (0.31, 1850), ("aa", "yes"): (0.58, 520),
}  # fmt: skip
ADDED = {
    ("AA", "no"): (0.6, 600),
    ("AA", "yes"): (0.8, 600),
    ("aa", "no"): (0.2, 600),
    ("aa", "yes"): (0.4, 600),
}


def of_rates(rates: dict[tuple[str, str], tuple[float, int]]) -> CategoricalTable:
    cells = [(*key, ill, round(n * (share if ill == "yes" else 1 - share)))
             for key, (share, n) in rates.items() for ill in ("yes", "no")]  # fmt: skip
    names = ["gene", "smoker", "ill"]
    return CategoricalTable.from_rows(names, [cell[:3] for cell in cells], [cell[3] for cell in cells])


def test_a_relation_that_a_third_column_turns_round_is_told() -> None:
    learned = learn(of_rates(ILL))
    assert learned.submodels is not None and learned.submodels[0].turned == (0, 2)
    words = "how gene goes with ill is turned round by the other columns"
    assert words in "\n".join(hidden_groups_lines(learned))
    network = fit_network(of_rates(ILL), learned)
    report = summarise(network)
    assert report.groups is not None and f"{words[0].upper()}{words[1:]}." in report.groups[0].words
    story = network.why_link("ill", "gene")
    assert [group.variables for group in story.turned_by] == [("gene", "smoker", "ill")]
    assert any(
        "turned round by others in the hidden group gene smoker ill" in line for line in story_lines(story)
    )
    assert network.why_link("smoker", "gene").turned_by == ()
    added = learn(of_rates(ADDED))
    assert "turned round" not in "\n".join(hidden_groups_lines(added))
    assert fit_network(of_rates(ADDED), added).why_link("ill", "gene").turned_by == ()


def test_a_pair_has_the_p_value_of_the_step_that_added_it() -> None:
    generator = np.random.default_rng(8)
    first = generator.integers(3, size=400)
    second = np.where(generator.random(400) < 0.3, first, generator.integers(3, size=400))
    table = CategoricalTable.from_columns({"first": first.tolist(), "second": second.tolist()})
    story = fit_network(table, learn(table)).why_link("first", "second")
    assert story.entry is not None and story.entry.log_p_value is not None
    assert story.log_p_pair == pytest.approx(story.entry.log_p_value, abs=1e-9)


def test_required_links_and_fill_in_are_told() -> None:
    table = music_box().joint.exact_table()
    ring = [("ball1", "ball2"), ("ball2", "light1"), ("light1", "light2"), ("light2", "ball1")]
    learned = learn(table, constraints=Constraints(required=ring))
    network = fit_network(table, learned)
    filled = learned.names(learned.trace[0].fill_in[0])
    assert network.why_link(*filled).is_fill_in
    required = network.why_link("ball1", "ball2")
    assert required.entry is not None
    assert (required.entry.lookahead, required.is_fill_in) == (0, False)


@settings(max_examples=some(60))
@given(st.data())
def test_what_separates_two_variables_does(data: st.DataObject) -> None:
    network = data.draw(networks())
    joint = whole_joint(network)
    names = network.variables
    u, v = sorted(data.draw(st.permutations(range(len(names))))[:2])
    story = network.why_link(names[u], names[v])
    assert story.pair == pytest.approx(information(joint, u, v, ()), abs=1e-9)
    if not story.is_linked:
        between = tuple(names.index(name) for name in story.separator)
        assert information(joint, u, v, between) == pytest.approx(0, abs=1e-9)
    else:
        rest = tuple(names.index(name) for name in story.clique if name not in story.variables)
        assert story.given_rest == pytest.approx(information(joint, u, v, rest), abs=1e-9)


def information(
    joint: np.ndarray[tuple[int, ...], np.dtype[np.float64]], u: int, v: int, given: tuple[int, ...]
) -> float:
    def entropy(inside: tuple[int, ...]) -> float:
        return -sum(p * log(p) for p in margin(joint, inside).reshape(-1) if p > 0)

    return entropy((u, *given)) + entropy((v, *given)) - entropy((u, v, *given)) - entropy(given)


def test_evidence_of_an_exclusive_or_moves_nothing_alone() -> None:
    story = xor().why_answer("c", {"a": 0, "b": 1})
    assert story.before == pytest.approx((0.5, 0.5))
    assert story.after == pytest.approx((0, 1))
    for effect in story.effects:
        assert effect.alone == pytest.approx((0.5, 0.5))
        assert effect.without == pytest.approx((0.5, 0.5))
        assert effect.share == pytest.approx((-0.25, 0.25))


@settings(max_examples=some(50))
@given(st.data())
def test_shares_add_up_to_the_change(data: st.DataObject) -> None:
    network = data.draw(networks())
    state = network.most_probable()
    names = data.draw(st.lists(st.sampled_from(network.variables[1:]), unique=True))
    hard = {name: state[name] for name in names[1:]}
    soft = {
        name: {level: float(k + 1) for k, level in enumerate(network.levels_of(name))} for name in names[:1]
    }
    asked = network.variables[0]
    story = network.why_answer(asked, hard, soft)
    assert story.before == pytest.approx(tuple(query(network, asked).values()))
    assert story.after == pytest.approx(tuple(query(network, asked, hard, soft).values()))
    total = np.sum([effect.share or () for effect in story.effects], axis=0) if story.effects else 0.0
    assert np.array(story.after) - np.array(story.before) == pytest.approx(total, abs=1e-9)
    for effect in story.effects:
        only = {effect.name: effect.level} if effect.level is not None else {}
        doubt = {} if only else {effect.name: soft[effect.name]}
        assert effect.alone == pytest.approx(tuple(query(network, asked, only, doubt).values()))
        fewer = {name: level for name, level in hard.items() if name != effect.name}
        others = {name: weights for name, weights in soft.items() if name != effect.name}
        assert effect.without == pytest.approx(tuple(query(network, asked, fewer, others).values()))


def test_very_much_evidence_has_no_shares() -> None:
    names = [f"v{v}" for v in range(13)]
    rows = np.random.default_rng(0).integers(0, 2, size=(50, 13)).tolist()
    table = CategoricalTable.from_rows(names, rows)
    story = fit_network(table, learn(table)).why_answer("v0", dict.fromkeys(names[1:], 0))
    assert len(story.effects) == 12
    assert all(effect.share is None for effect in story.effects)


def test_compared_with_what_single_links_find() -> None:
    found = box().compare(box(schedule="single"))
    assert found.shared == (("ball3", "music_box"), ("light1", "dog"))
    assert (len(found.missing), found.extra) == (10, ())
    gains = [entry.gain for entry in learn(music_box().joint.exact_table()).trace]
    assert found.divergence == pytest.approx(sum(gains[2:]))  # what the steps after the single links gained
    assert found.divergence_back == inf


@settings(max_examples=some(80))
@given(st.data())
def test_divergence_by_brute_force(data: st.DataObject) -> None:
    """Two networks over the same names in another order, from tables whose levels differ."""
    first = data.draw(networks(max_vertices=4))
    n = len(first.variables)
    graph = data.draw(chordal_graphs(n, n))
    table = data.draw(tables(n, n))
    order = data.draw(st.permutations(range(n)))
    names = tuple(first.variables[v] for v in order)
    second = estimate(
        graph, NumpyCounter(table), names, table.levels, smoothing=data.draw(st.sampled_from([0.0, 1.0]))
    )
    assert divergence_of(first, second) == pytest.approx(first.compare(second).divergence, abs=1e-8)
    assert divergence_of(second, first) == pytest.approx(first.compare(second).divergence_back, abs=1e-8)
    assert first.compare(first).divergence == pytest.approx(0, abs=1e-9)


def divergence_of(of: DecomposableMarkovNetwork, by: DecomposableMarkovNetwork) -> float:
    p, q = whole_joint(of), whole_joint(by)
    total = 0.0
    for cell in np.ndindex(*p.shape):
        if p[cell] == 0:
            continue
        level = {name: of.levels[v][cell[v]] for v, name in enumerate(of.variables)}
        if any(level[name] not in by.levels[v] for v, name in enumerate(by.variables)):
            return inf
        there: float = q[tuple(by.levels[v].index(level[name]) for v, name in enumerate(by.variables))]
        if there == 0:
            return inf
        total += float(p[cell] * log(p[cell] / there))
    return total


def test_other_variables_have_no_divergence() -> None:
    found = box().compare(xor())
    assert found.divergence is None
    assert found.only_second == ("a", "b", "c")
    assert found.reason == "the networks have different variables"
