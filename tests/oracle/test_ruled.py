"""Networks with rules against the whole joint by brute force."""

from __future__ import annotations

from itertools import product
from math import inf, prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.brute import Array, margin, whole_joint
from tests.examples import some
from tests.oracle.test_inference import evidences, rows_of
from tests.strategies import chordal_graphs, tables
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.data.table import CategoricalTable
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model import routes, ruled
from xordal.model.compare import divergence
from xordal.model.estimation import estimate
from xordal.model.inference import Inference
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.observed import Observed
from xordal.model.placing import following, placed
from xordal.model.query import best_states
from xordal.model.rule import NetworkRule
from xordal.model.sampling import sample_codes
from xordal.model.smoothing import Backoff, Smoothing
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import members

CLOSE = 1e-10
MOST_CELLS = 3000


@st.composite
def rules(draw: st.DrawFn, n_levels: tuple[int, ...], n_rows: int) -> AdditiveRule:
    """Any rule, obeyed or not, modulo a number or of whole numbers; some levels without a value."""
    size = draw(st.integers(2, len(n_levels)))
    variables = tuple(sorted(draw(st.permutations(range(len(n_levels))))[:size]))
    modulus = draw(st.sampled_from([0, 2, 3, 5, 6]))
    value = st.integers(0, (modulus or 3) - 1)
    unknown = draw(st.sampled_from([False, False, True]))
    values = st.one_of(value, value, value, st.none()) if unknown else value
    functions = tuple(tuple(draw(values) for _ in range(n_levels[v])) for v in variables)
    constant = draw(st.integers(0, modulus - 1)) if modulus else -draw(st.integers(0, 2 * size))
    return AdditiveRule(variables, modulus, functions, constant, n_rows, 0, 0.5, -9.0)


@st.composite
def ruled_networks(draw: st.DrawFn) -> DecomposableMarkovNetwork:
    """Networks of 2-6 variables of 1-4 levels with one to three rules, whose columns are linked or not."""
    graph = draw(chordal_graphs(3, 6))
    table = draw(tables(graph.n_vertices, graph.n_vertices))
    assume(prod(table.n_levels) <= MOST_CELLS)
    counter = NumpyCounter(table)
    found = placed(
        table,
        graph,
        counter,
        [draw(rules(table.n_levels, table.n_rows)) for _ in range(draw(st.integers(1, 3)))],
        least_gain=-inf,  # inference must be right with rules that are worth nothing, too
    )
    assume(found.rules)
    choices: list[Smoothing] = [0.0, 0.0, 0.5, 7.0, Backoff(0.3), Backoff(4.0)]
    smoothing = draw(st.sampled_from(choices))
    return estimate(found.graph, counter, table.names, table.levels, smoothing=smoothing, rules=found.rules)


def brute_joint(network: DecomposableMarkovNetwork) -> Array:
    """Return the joint cell by cell, from the definition: each rule replaces the conditional of a column."""
    base = whole_joint(network.without_rules())
    joint = base.copy()
    for each in network.rules:
        before = members(each.earlier)
        both = margin(base, tuple(sorted((*before, each.last))))
        for cell in product(*map(range, base.shape)):
            joint[cell] *= weight(network, each, both, cell)
    return joint


def weight(network: DecomposableMarkovNetwork, each: NetworkRule, both: Array, cell: tuple[int, ...]) -> float:
    """Return P(x_c | earlier, T) over P0(x_c | earlier) in one cell."""
    rule, last = each.rule, each.last
    values = dict(zip(rule.variables, rule.functions, strict=True))
    others = [values[v][cell[v]] for v in rule.variables if v != last]
    if None in others:
        return 1.0
    total = rule.constant + sum(value for value in others if value is not None)

    def holds(level: int) -> bool:
        own = values[last][level]
        return own is not None and ((total + own) % rule.modulus if rule.modulus else total + own) == 0

    inside = sorted((*members(each.earlier), last))
    chances = []
    for level in range(network.n_levels[last]):
        chances.append(both[tuple(level if v == last else cell[v] for v in inside)])
    known = [level for level, value in enumerate(values[last]) if value is not None]
    total_known = sum(chances[level] for level in known)
    if (
        cell[last] not in known or total_known == 0
    ):  # a level without a value is as probable as without the rule
        return 1.0
    obeying = sum(chances[level] for level in known if holds(level)) / total_known
    breaking = sum(chances[level] for level in known if not holds(level)) / total_known
    if obeying == 0 or breaking == 0:
        return 1.0
    delta = each.delta(network.smoothing)
    return float((1 - delta) / obeying if holds(cell[last]) else delta / breaking)


@settings(max_examples=some(300), deadline=None)
@given(st.data())
def test_joints_posteriors_and_best_states_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(ruled_networks())
    joint = brute_joint(network)
    assert joint.sum() == pytest.approx(1, abs=CLOSE)
    evidence = data.draw(evidences(network))
    asked = tuple(sorted(data.draw(st.sets(st.integers(0, joint.ndim - 1), max_size=4))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ruled, "_WORTH_FOLDING", data.draw(st.sampled_from([1, 1000])))
        found = np.exp(network.inference.joint(evidence, asked))
        total, posteriors = network.inference.posteriors(evidence, range(joint.ndim))
        states = best_states(network, evidence)
    for row, expected in enumerate(rows_of(joint, evidence)):
        assert found[row] == pytest.approx(margin(expected, asked), abs=CLOSE)
        assert np.exp(total[row]) == pytest.approx(expected.sum(), abs=CLOSE)
        if expected.sum() > 0:
            assert expected[tuple(states[:, row])] == pytest.approx(expected.max(), rel=1e-10)
            for v in range(joint.ndim):
                single = margin(expected, (v,)) / expected.sum()
                assert np.exp(posteriors[v][row]) == pytest.approx(single, abs=CLOSE)


@settings(max_examples=some(100), deadline=None)
@given(st.data())
def test_how_often_a_rule_holds_in_a_network_without_it_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(ruled_networks())
    if data.draw(st.booleans()):
        network = network.without_rules()
    rule, joint = data.draw(rules(network.n_levels, 9)), brute_joint(network)
    known = obeyed = 0.0
    for cell in product(*map(range, joint.shape)):
        total = rule.sum_of([cell[v] for v in rule.variables])
        known += joint[cell] * (total is not None)
        obeyed += joint[cell] * (total == 0)
    expected = obeyed / known if known > 1e-12 else 1.0
    assert ruled.chance_of(network, rule) == pytest.approx(expected, abs=CLOSE)


@settings(max_examples=some(200), deadline=None)
@given(st.data())
def test_one_row_is_answered_the_short_way_as_by_a_pass_up_the_tree(data: st.DataObject) -> None:
    network = data.draw(ruled_networks())
    inference = network.inference
    assert isinstance(inference, ruled.RuledInference)
    for _ in range(3):  # later questions use what earlier ones have left
        evidence = data.draw(evidences(network))
        row = Observed(evidence.codes[:, :1], evidence.weights)
        asked = tuple(data.draw(st.sets(st.integers(0, len(network.variables) - 1), max_size=3)))
        known = inference._with_sums(row)
        found = inference._routes.joint(known, asked)
        assert found is not None
        assert np.exp(found) == pytest.approx(np.exp(Inference.joint(inference, known, asked)), abs=CLOSE)


@pytest.mark.parametrize("most", [0, 50, 300])
def test_large_tables_are_left_to_a_pass_up_the_tree(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    questions = [
        ("check", {"d1": 3, "d4": 1}),
        ("d2", {"check": 5}),
        (["d1", "check"], {}),
        (["d2", "d5", "check"], {"d4": 0}),
    ]
    answers = [digits().query(asked, known) for asked, known in questions]
    monkeypatch.setattr(routes, "_MOST_CELLS", most)
    monkeypatch.setattr(routes, "_MOST_KEPT", 10 * most)
    monkeypatch.setattr(routes, "_MOST_IN_A_STEP", 2 * most)
    network = digits()
    for (asked, known), answer in zip(questions, answers, strict=True):
        assert network.query(asked, known) == pytest.approx(answer, abs=CLOSE)


def digits() -> DecomposableMarkovNetwork:
    """A network of five digits and their sum modulo 7."""
    rows = np.random.default_rng(1).integers(0, 7, (2000, 5))
    table = CategoricalTable.from_rows(
        ["d1", "d2", "d3", "d4", "d5", "check"], np.column_stack([rows, rows.sum(axis=1) % 7]).tolist()
    )
    return fit_network(table, learn(table))


@settings(max_examples=some(200), deadline=None)
@given(ruled_networks())
def test_what_follows_no_last_column_is_as_without_the_rule(network: DecomposableMarkovNetwork) -> None:
    base, joint = whole_joint(network.without_rules()), brute_joint(network)
    after = following(network.graph, network.rules)
    before = tuple(v for v in range(joint.ndim) if not any(mask >> v & 1 for mask in after))
    assert margin(joint, before) == pytest.approx(margin(base, before), abs=CLOSE)
    for rule, mask in zip(network.rules, after, strict=True):
        assert mask >> rule.last & 1


@settings(max_examples=some(100), deadline=None)
@given(ruled_networks())
def test_log_probabilities_and_entropy_by_brute_force(network: DecomposableMarkovNetwork) -> None:
    joint = brute_joint(network)
    cells = np.indices(joint.shape).reshape(joint.ndim, -1)
    assert np.exp(network.log_prob(cells)) == pytest.approx(joint.reshape(-1), abs=CLOSE)
    possible = joint[joint > 0]
    assert network.entropy() == pytest.approx(-(possible * np.log(possible)).sum(), abs=CLOSE)


@settings(max_examples=some(100), deadline=None)
@given(ruled_networks())
def test_columns_before_all_last_ones_keep_their_margins(network: DecomposableMarkovNetwork) -> None:
    """All other tables stay as counted: summing out the last columns, and what comes after, leaves the base."""
    base, joint = whole_joint(network.without_rules()), brute_joint(network)
    kept = tuple(v for rule in network.rules[:1] for v in rule.rule.variables if v != rule.last)
    if len(network.rules) == 1:
        assert margin(joint, kept) == pytest.approx(margin(base, kept), abs=CLOSE)


@settings(max_examples=some(50), deadline=None)
@given(ruled_networks())
def test_samples_come_from_the_joint(network: DecomposableMarkovNetwork) -> None:
    joint = brute_joint(network)
    rows = sample_codes(network, 4000, seed=1)
    assert (joint[tuple(rows)] > 0).all()
    for v in range(joint.ndim):
        shares = np.bincount(rows[v], minlength=joint.shape[v]) / 4000
        assert shares == pytest.approx(margin(joint, (v,)), abs=0.06)


@settings(max_examples=some(80), deadline=None)
@given(ruled_networks(), st.booleans())
def test_divergences_by_brute_force(network: DecomposableMarkovNetwork, is_smooth: bool) -> None:
    """Of networks with rules from networks with rules, smoothed otherwise or without them."""
    other = network.smoothed(3.0) if is_smooth else network.without_rules()
    for one, two in ((network, other), (other, network), (network, network)):
        p, q = brute_joint(one), brute_joint(two)
        happens = p > 0
        expected = np.inf
        if (q[happens] > 0).all():
            expected = float((p[happens] * np.log(p[happens] / q[happens])).sum())
        assert divergence(one, two) == pytest.approx(max(expected, 0.0), abs=1e-9)
