"""The learned distribution: it sums to one, and its clique margins are those of the data."""

from __future__ import annotations

from itertools import product
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs, tables
from xordal import CategoricalTable, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.graph.chordal import ChordalGraph
from xordal.learning.fitting import fit_network
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.types.varsets import members


def network_of(table: CategoricalTable, graph: ChordalGraph, prior_rows: float) -> DecomposableMarkovNetwork:
    return estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=prior_rows)


def every_cell(table: CategoricalTable) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array(list(product(*(range(n) for n in table.n_levels)))).T


@settings(max_examples=some(80))
@given(chordal_graphs(2, 5), st.data(), st.sampled_from([0.0, 0.5, 1.0, 30.0]))
def test_it_is_a_distribution_with_the_smoothed_margins(
    graph: ChordalGraph, data: st.DataObject, prior_rows: float
) -> None:
    table = data.draw(tables(graph.n_vertices, graph.n_vertices))
    network = network_of(table, graph, prior_rows)
    cells = every_cell(table)
    chances = np.exp(network.log_prob(cells))
    assert fsum(chances) == pytest.approx(1, abs=1e-9)
    rows = table.codes
    for sign, part in network.factors:
        if sign > 0:
            inside = list(members(part.variables))
            for cell in {tuple(column) for column in cells[inside].T.tolist()}:
                count = sum(tuple(row) == cell for row in rows[inside].T.tolist())
                n_cells = np.prod([table.n_levels[v] for v in inside])
                expected = (count + prior_rows / n_cells) / (table.n_rows + prior_rows)
                here = np.equal(cells[inside].T, cell).all(axis=1)
                found = fsum(chances[here])
                assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=some(60))
@given(tables(max_variables=5))
def test_without_smoothing_the_mean_log_likelihood_is_minus_the_entropy(table: CategoricalTable) -> None:
    """Of the links: what a rule gains is told in the trace though a clique may hold all of it already."""
    learned = learn(table, find_rules=False)
    network = fit_network(table, learned, smoothing=0)
    alone = 0.0
    for codes in table.codes:
        shares = np.bincount(codes) / table.n_rows
        alone -= float((shares[shares > 0] * np.log(shares[shares > 0])).sum())
    entropy = alone - fsum(entry.gain for entry in learned.trace)
    assert network.log_prob(table.codes).mean() == pytest.approx(-entropy, abs=1e-9)


def test_by_hand() -> None:
    table = CategoricalTable.from_columns({"x": [0, 0, 0, 1], "y": [0, 0, 1, 1]})
    joined = network_of(table, ChordalGraph.empty(2).add([(0, 1)]), 1.0)
    assert [exp(p) for p in joined.log_prob(every_cell(table))] == pytest.approx([0.45, 0.25, 0.05, 0.25])
    apart = network_of(table, ChordalGraph.empty(2), 0.0)
    assert apart.log_prob(np.array([[0], [1]]))[0] == pytest.approx(log(0.75 * 0.5))
    assert (joined.n_parameters, apart.n_parameters) == (3, 2)
    assert apart.log_prob(np.array([[-1], [1]]))[0] == -np.inf


def test_a_clique_of_more_cells_than_any_number() -> None:
    rows = np.random.default_rng(5).integers(0, 30, size=(250, 40)).tolist()
    table = CategoricalTable.from_rows([f"v{v}" for v in range(250)], list(zip(*rows, strict=True)))
    graph = ChordalGraph.empty(250).add([(u, v) for u in range(250) for v in range(u + 1, 250)])
    network = network_of(table, graph, 1.0)
    assert network.log_prob(table.codes) == pytest.approx(np.full(40, log(1 / 41)), abs=1e-6)
    assert network.log_prob(table.codes[::-1])[0] == -np.inf
