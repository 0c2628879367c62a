"""Back-off: an exact distribution, equal to the recursion by brute force, also with very large cliques."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.brute import margin, whole_joint
from tests.examples import some
from tests.strategies import chordal_graphs, tables
from xordal import Backoff, CategoricalTable, DataError, SettingsError
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.graph.chordal import ChordalGraph
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.smoothing import checked, smoothing_from_text, smoothing_text
from xordal.types.varsets import members


@st.composite
def networks(draw: st.DrawFn) -> DecomposableMarkovNetwork:
    graph = draw(chordal_graphs(2, 5))
    table = draw(tables(graph.n_vertices, graph.n_vertices))
    rows = draw(st.sampled_from([1e-3, 0.5, 1.0, 30.0, 1e6]))
    return estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=Backoff(rows))


def every_cell(network: DecomposableMarkovNetwork) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.indices(network.n_levels).reshape(len(network.variables), -1)


@settings(max_examples=some(120))
@given(networks())
def test_it_is_the_distribution_of_the_recursion(network: DecomposableMarkovNetwork) -> None:
    joint = whole_joint(network)
    chances = np.exp(network.log_prob(every_cell(network)))
    assert chances == pytest.approx(joint.ravel(), rel=1e-9)
    assert joint.sum() == pytest.approx(1, abs=1e-9)
    assert joint.min() > 0


@settings(max_examples=some(120))
@given(networks())
def test_tables_are_margins_and_agree_on_separators(network: DecomposableMarkovNetwork) -> None:
    joint = whole_joint(network)
    log_product = np.zeros(network.n_levels)
    for sign, table in network.factors:
        inside = members(table.variables)
        whole = np.exp(table.cut({}, network.n_levels))
        assert whole == pytest.approx(margin(joint, inside), abs=1e-12)
        first = table.over(table.variables & -table.variables, network.n_levels)  # type: ignore[arg-type]
        assert np.exp(first.cut({}, network.n_levels)) == pytest.approx(margin(joint, inside[:1]), abs=1e-12)
        log_product += sign * np.log(whole).reshape(
            [n if v in inside else 1 for v, n in enumerate(network.n_levels)]
        )
        assert table.log_prob(every_cell(network)) == pytest.approx(
            np.log(whole)[tuple(every_cell(network)[list(inside)])], abs=1e-9
        )
    assert np.exp(log_product) == pytest.approx(joint, abs=1e-12)
    assert network.entropy() == pytest.approx(-(joint * np.log(joint)).sum(), abs=1e-9)


def test_by_hand() -> None:
    table = CategoricalTable.from_columns({"x": [0, 0, 0, 1], "y": [0, 0, 1, 1]})
    joined = estimate(
        ChordalGraph.empty(2).add([(0, 1)]),
        NumpyCounter(table),
        table.names,
        table.levels,
        smoothing=Backoff(2),
    )
    x = np.array([3.5, 1.5]) / 5
    y = np.array([2.5, 2.5]) / 5
    given_x = [(np.array([2, 1]) + 2 * y) / 5, (np.array([0, 1]) + 2 * y) / 3]
    expected = [x[0] * given_x[0][0], x[0] * given_x[0][1], x[1] * given_x[1][0], x[1] * given_x[1][1]]
    assert np.exp(joined.log_prob(every_cell(joined))) == pytest.approx(expected)
    assert joined.log_prob(np.array([[-2], [1]]))[0] == -np.inf


def test_much_data_decides_and_little_borrows() -> None:
    rows = [(0, 0)] * 5000 + [(0, 1)] * 5000 + [(1, 1)]
    table = CategoricalTable.from_rows("ab", rows)
    linked = ChordalGraph.empty(2).add([(0, 1)])
    network = estimate(linked, NumpyCounter(table), table.names, table.levels, smoothing=Backoff(100))
    assert network.query("b", given={"a": 0})[0] == pytest.approx(0.5, abs=1e-3)
    assert network.query("b", given={"a": 1})[0] == pytest.approx(0.5, abs=0.01)


def test_a_clique_of_more_cells_than_any_number() -> None:
    """Rows are looked up in the occupied cells; a table in full is refused in words."""
    rows = np.random.default_rng(5).integers(0, 30, size=(60, 40)).tolist()
    table = CategoricalTable.from_rows([f"v{v}" for v in range(60)], list(zip(*rows, strict=True)))
    graph = ChordalGraph.empty(60).add([(u, v) for u in range(60) for v in range(u + 1, 60)])
    network = estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=Backoff(1e-6))
    assert network.log_prob(table.codes) == pytest.approx(np.full(40, log(1 / 40)), abs=0.1)
    given = {
        name: levels[codes[0]]
        for name, levels, codes in zip(table.names, table.levels, table.codes, strict=True)
    }
    wanted = given.pop("v7")
    assert network.query("v7", given=given)[wanted] == pytest.approx(1, abs=1e-3)
    with pytest.raises(DataError, match=r"The clique \{v0, v1.*with back-off the most are.*even smoothing"):
        network.entropy()


def test_smoothings_are_checked_and_have_a_text() -> None:
    for wrong in (0, -1, float("nan"), float("inf"), "ten", True, None):
        with pytest.raises(SettingsError, match="must be a positive number of rows"):
            Backoff(wrong)  # type: ignore[arg-type]
    for wrong in (-1, float("inf"), "1", None, True):
        with pytest.raises(
            SettingsError, match=r"must be zero or a positive number of rows, or Backoff\(rows\)"
        ):
            checked(wrong)  # type: ignore[arg-type]
    for smoothing in (0.0, 2.5, Backoff(30), Backoff(0.25)):
        assert smoothing_from_text(smoothing_text(smoothing)) == smoothing
    for text in (
        "",
        "x",
        "backoff",
        "backoff:",
        "backoff:0",
        "backoff:-3",
        "kernel:3",
        "-1",
        "nan",
        "inf",
        "1:2",
    ):
        with pytest.raises(SettingsError, match="is no smoothing: write"):
            smoothing_from_text(text)
