"""Rules as parts of networks: check digits from end to end, the last column, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from xordal.counting.cpu_numpy import NumpyCounter
from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.learning.rules import rule_entry
from xordal.model import placing, rule_tree
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.placing import IN_A_TABLE, is_placed, placed
from xordal.model.rule import NetworkRule
from xordal.rules.finding import find_rules
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import VarSet, varset

NAMES = [f"d{place}" for place in range(1, 14)]


def table_of(rows: NDArray[np.int64], names: list[str] | None = None) -> CategoricalTable:
    return CategoricalTable.from_rows(names or [f"x{v}" for v in range(rows.shape[1])], rows.tolist())


def ean_rows(n_rows: int, seed: int, share_broken: float = 0.0) -> NDArray[np.int64]:
    """Return article numbers; in some a digit is wrong. The first digits are skewed, as countries are."""
    generator = np.random.default_rng(seed)
    digits = generator.integers(0, 10, (n_rows, 12))
    digits[:, :2] = generator.choice(
        10, (n_rows, 2), p=[0.3, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]
    )
    rows = np.column_stack([digits, -(digits @ ([1, 3] * 6)) % 10])
    wrong = np.flatnonzero(generator.random(n_rows) < share_broken)
    columns = generator.integers(0, 13, len(wrong))
    rows[wrong, columns] = (rows[wrong, columns] + generator.integers(1, 10, len(wrong))) % 10
    return rows


@pytest.fixture(scope="module")
def articles() -> DecomposableMarkovNetwork:
    table = table_of(ean_rows(3000, 1), NAMES)
    return fit_network(table, learn(table))


@pytest.mark.slow
def test_the_missing_digit_of_every_article_number_is_right(articles: DecomposableMarkovNetwork) -> None:
    assert [rule.rule.name for rule in articles.rules] == ["EAN-13"]
    rows = ean_rows(200, 2)
    fresh = table_of(rows, NAMES)
    for place, name in enumerate(NAMES):
        assert articles.predict(fresh, name) == rows[:, place].tolist()
    holes = {name: [None if (row + place) % 13 == 0 else int(rows[row, place]) for row in range(200)]
             for place, name in enumerate(NAMES)}  # fmt: skip
    assert list(articles.impute(holes).rows()) == [tuple(map(int, row)) for row in rows]


def test_margins_before_the_last_column_are_exact_and_its_own_is_close(
    articles: DecomposableMarkovNetwork,
) -> None:
    last = NAMES[articles.rules[0].last]
    base = articles.without_rules()
    for name in NAMES:
        found, counted = articles.query(name), base.query(name)
        close = 1e-12 if name != last else 4 * np.sqrt(0.25 / 3000)
        assert [found[d] for d in range(10)] == pytest.approx([counted[d] for d in range(10)], abs=close)
    pair = [name for name in NAMES if name != last][3:5]
    assert articles.query(pair) == pytest.approx(base.query(pair), abs=1e-12)


def test_samples_obey_a_rule_as_often_as_the_data(articles: DecomposableMarkovNetwork) -> None:
    table = table_of(ean_rows(4000, 3, 0.05), NAMES)
    network = fit_network(table, learn(table))
    share = network.rules[0].n_broken / 4000
    codes = network.encode(network.sample(4000, seed=1).columns())
    assert network.rules[0].breaks(codes).mean() == pytest.approx(share, abs=4 * np.sqrt(2 * share / 4000))
    sure = articles.sample(2000, seed=1)
    assert articles.rules[0].breaks(articles.encode(sure.columns())).mean() < 0.005


def test_a_row_that_breaks_a_rule_is_odd_and_the_rule_is_to_blame(articles: DecomposableMarkovNetwork) -> None:
    rows = ean_rows(50, 4)
    rows[7, 4] = (rows[7, 4] + 1) % 10
    scores = articles.score_rows(table_of(rows, NAMES))
    assert int(np.argmax(scores.surprise)) == 7
    assert np.flatnonzero(scores.breaks[0]).tolist() == [7]
    assert scores.cliques[scores.blamed[7]] == tuple(NAMES)
    assert scores.rules[0].name == "EAN-13"
    assert "rule" in repr(articles)


def test_the_check_digit_of_skewed_digits_is_the_last_column() -> None:
    """By brute force the right column gives divergence 0; the wrong ones do not."""
    generator = np.random.default_rng(5)
    digits = np.stack(
        [generator.choice(3, 6000, p=p) for p in ([0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.7, 0.2, 0.1])]
    )
    for place in range(4):
        rows = np.insert(digits, place, digits.sum(axis=0) % 3, axis=0).T
        values = [(0, 1, 2)] * 4
        values[place] = (0, 2, 1)
        rule = AdditiveRule((0, 1, 2, 3), 3, tuple(values), 0, 6000, 0, 1 / 3, -99.0)
        table = table_of(rows)
        found = placed(table, ChordalGraph.empty(4), NumpyCounter(table), [rule])
        assert [each.last for each in found.rules] == [place]


def parity(*variables: int) -> AdditiveRule:
    return AdditiveRule(variables, 2, ((0, 1),) * len(variables), 0, 400, 0, 0.5, -99.0)


@pytest.fixture
def bits() -> CategoricalTable:
    free = np.random.default_rng(6).integers(0, 2, (400, 6))
    return table_of(np.column_stack([free, free[:, :3].sum(axis=1) % 2, free[:, 2:].sum(axis=1) % 2]))


def test_overlapping_rules_end_in_different_columns(bits: CategoricalTable) -> None:
    graph, counter = ChordalGraph.empty(8), NumpyCounter(bits)
    rules = [parity(0, 1, 2, 6), parity(2, 3, 4, 5, 7), parity(0, 1, 3, 4, 5, 6, 7)]  # their sum
    found = placed(bits, graph, counter, rules)
    assert len({rule.last for rule in found.rules}) == len(found.rules) == 2
    assert [reason for _, reason in found.left_out] == ["it says nothing that the other rules do not"]
    assert is_placed(found.graph, found.rules)
    network = estimate(graph, counter, bits.names, bits.levels, smoothing=0, rules=found.rules)
    logs = network.log_prob(bits.codes.astype(np.int64))
    assert logs.mean() == pytest.approx(-6 * np.log(2), abs=0.03)  # six free bits; their tables are counted


def test_a_rule_in_one_clique_is_not_added(bits: CategoricalTable) -> None:
    graph = ChordalGraph.empty(8).add([(0, 1), (0, 2), (1, 2), (0, 6), (1, 6), (2, 6)])
    found = placed(bits, graph, NumpyCounter(bits), [parity(0, 1, 2, 6)])
    assert found.rules == ()
    assert [reason for _, reason in found.left_out] == [IN_A_TABLE]


def test_linked_columns_before_the_last_one_are_completed_only_where_that_pays(bits: CategoricalTable) -> None:
    star = ChordalGraph.empty(8).add([(0, 6), (1, 6)])
    found = placed(bits, star, NumpyCounter(bits), [parity(0, 1, 2, 6)])
    assert found.graph.links == star.links  # another column is as good, and needs no link


def test_rules_that_inference_cannot_hold_are_refused(
    bits: CategoricalTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = NumpyCounter(bits)
    found = placed(bits, ChordalGraph.empty(8), counter, [parity(0, 1, 2, 6)])
    network = estimate(found.graph, counter, bits.names, bits.levels, rules=found.rules)
    monkeypatch.setattr(rule_tree, "MOST_CELLS", 4)
    with pytest.raises(DataError, match=r"With its rules the network has a clique .* the most are 4. Ask"):
        network.query("x0")
    assert network.without_rules().query("x0")
    refused = placed(bits, ChordalGraph.empty(8), counter, [parity(0, 1, 2, 6)])
    assert refused.rules == ()
    assert "the most are 4" in refused.left_out[0][1]


def test_last_columns_must_follow_some_order(bits: CategoricalTable) -> None:
    found = placed(bits, ChordalGraph.empty(8), NumpyCounter(bits), [parity(0, 1, 2, 6), parity(2, 3, 4, 5, 7)])
    one, other = found.rules
    assert is_placed(found.graph, [one, other])
    assert not is_placed(found.graph, [one, one])
    assert not is_placed(found.graph.add([(0, 3)]), [type(one)(one.rule, one.last, varset([3]), 1, 0)])


def test_a_rule_less_another_drops_a_column() -> None:
    less = placing.difference(parity(0, 1, 2), parity(0, 3), 0)
    assert less is not None
    assert (less.variables, less.constant) == ((1, 2, 3), 0)
    assert (
        placing.difference(parity(0, 1, 2), AdditiveRule((0, 3), 3, ((0, 1),) * 2, 0, 9, 0, 0.3, -9.0), 0)
        is None
    )


def test_networks_with_rules_are_compared_whatever_the_order_of_their_columns(bits: CategoricalTable) -> None:
    turned = table_of(np.stack(list(bits.rows()))[:, ::-1], list(bits.names[::-1]))
    ways = []
    for table in (bits, turned):
        inside = [table.names.index(f"x{v}") for v in (0, 1, 2, 6)]
        rule = NetworkRule(parity(*sorted(inside)), inside[-1], VarSet(0), 400, 0)
        graph, counter = ChordalGraph.empty(8), NumpyCounter(table)
        ways.append(estimate(graph, counter, table.names, table.levels, rules=(rule,)))
    assert ways[0].compare(ways[1]).divergence == pytest.approx(0, abs=1e-12)
    assert ways[0].compare(ways[0].without_rules()).divergence == pytest.approx(np.log(2), abs=0.03)


def test_a_rule_that_follows_from_links_is_no_part_of_the_network() -> None:
    """If d is mostly a copy of the sum of a and b, the links say so better than the sum of a, b and d."""
    generator = np.random.default_rng(0)
    a, b = ((generator.random(1500) < share).astype(int) for share in (0.3, 0.6))
    c = a ^ b ^ (generator.random(1500) < 0.05)
    d = c ^ (generator.random(1500) < 0.1)
    table = CategoricalTable.from_rows(["a", "b", "c", "d"], np.stack([a, b, c, d], axis=1).tolist())
    learned = learn(table)
    follows = find_rules(table, moduli=[2]).rules[-1]
    assert follows.variables == (0, 1, 3)
    assert learned.rules == ()  # the network of the links says it
    trace = (*learned.trace, rule_entry(follows, 0))
    network = fit_network(table, replace(learned, run=replace(learned.run, trace=trace)))
    assert network.rules == ()
    assert network.query("d", given={"a": 0, "b": 1, "c": 0})[1] < 0.2
