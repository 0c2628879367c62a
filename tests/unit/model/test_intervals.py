"""Ranges of answers: against draws of the tables themselves, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv

from xordal import CategoricalTable, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork

SURE = 0.95


def chain(n_rows: int, seed: int) -> tuple[CategoricalTable, DecomposableMarkovNetwork]:
    """A network a - b - c of two, three and two levels, and its rows."""
    generator = np.random.default_rng(seed)
    a = generator.integers(2, size=n_rows)
    b = np.where(generator.random(n_rows) < 0.6, a, generator.integers(3, size=n_rows))
    c = np.where(generator.random(n_rows) < 0.7, b % 2, generator.integers(2, size=n_rows))
    table = CategoricalTable.from_rows("abc", list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)))
    graph = ChordalGraph.empty(3).add([(0, 1), (1, 2)])
    return table, estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=1.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_rows", [60, 400])
def test_ranges_are_those_of_tables_drawn_from_their_law(n_rows: int, seed: int) -> None:
    table, network = chain(n_rows, seed)
    generator = np.random.default_rng(seed)
    ab, bc = np.zeros((2, 3)), np.zeros((3, 2))
    a, b, c = table.codes
    np.add.at(ab, (a, b), 1)
    np.add.at(bc, (b, c), 1)
    first = generator.dirichlet((ab + 1 / 6).reshape(-1), size=20000).reshape(-1, 2, 3)
    then = np.stack([generator.dirichlet(row + 1 / 6, size=20000) for row in bc], axis=1)
    both = np.einsum("nab,nbc->nac", first, then)
    answers = both[:, :, 1] / both[:, :, 1].sum(axis=1, keepdims=True)
    expected = np.quantile(answers, [0.025, 0.975], axis=0).T
    found = np.array(list(network.query_intervals("a", {"c": 1}).values()))
    assert found == pytest.approx(expected, abs=0.012 if n_rows == 60 else 0.005)


def test_of_a_column_by_itself_the_range_is_exact() -> None:
    table = CategoricalTable.from_columns({"x": ["yes"] * 7 + ["no"] * 13, "y": [0, 1] * 10})
    network = estimate(ChordalGraph.empty(2), NumpyCounter(table), table.names, table.levels, smoothing=1.0)
    low, high = network.query_intervals("x")["yes"]
    assert (low, high) == pytest.approx((betaincinv(7.5, 13.5, 0.025), betaincinv(7.5, 13.5, 0.975)))
    narrow = network.query_intervals("x", sure=0.5)["yes"]
    assert low < narrow[0] < narrow[1] < high


def test_a_joint_question_and_doubt() -> None:
    _, network = chain(200, 1)
    answer = network.query(["a", "c"], likely={"b": {0: 3, 1: 1, 2: 1}})
    ranges = network.query_intervals(["a", "c"], likely={"b": {0: 3, 1: 1, 2: 1}})
    assert list(answer) == list(ranges)
    for cell, chance in answer.items():
        low, high = ranges[cell]
        assert 0 < low < chance < high < 1


def test_what_is_known_is_certain() -> None:
    _, network = chain(200, 1)
    assert network.query_intervals("a", {"a": 1}) == {0: (0.0, 0.0), 1: (1.0, 1.0)}


def test_predictions_have_the_ranges_of_their_questions() -> None:
    table, network = chain(120, 2)
    ranges = network.predict_intervals(table, "a")
    assert ranges.shape == (120, 2, 2)
    for row in (0, 17, 119):
        _, b, c = table.rows()[row]
        expected = list(network.query_intervals("a", {"b": b, "c": c}).values())
        assert ranges[row] == pytest.approx(np.array(expected))


def test_more_rows_are_surer() -> None:
    widths = []
    for n_rows in (100, 1000, 10000):
        low, high = chain(n_rows, 3)[1].query_intervals("a", {"c": 1})[1]
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_no_ranges_where_a_rule_is_in_the_network() -> None:
    generator = np.random.default_rng(0)
    columns = generator.integers(2, size=(7, 400))
    columns[6] = columns[:6].sum(axis=0) % 2
    table = CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})
    network = learn(table).network()
    assert network.rules
    with pytest.raises(DataError, match="additive rule"):
        network.query_intervals("v0")


def test_sure_is_a_probability() -> None:
    _, network = chain(60, 0)
    with pytest.raises(DataError, match="between 0 and 1"):
        network.query_intervals("a", sure=95)
