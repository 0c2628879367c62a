"""Inference on the junction tree against the whole joint by brute force, and against pyAgrum."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.agrum import as_bayesian_network, gum
from tests.brute import Array, margin, weighted, whole_joint
from tests.examples import some
from tests.strategies import chordal_graphs, tables
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.data.table import CategoricalTable
from xordal.graph.chordal import ChordalGraph
from xordal.model import cliques
from xordal.model import inference as engine
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.observed import Observed
from xordal.model.query import best_states
from xordal.model.smoothing import Backoff, Smoothing

CLOSE = 1e-10
MOST_BRUTE = 2000  # cells of a network that is also compared with its whole joint


@st.composite
def networks(draw: st.DrawFn, max_vertices: int = 6) -> DecomposableMarkovNetwork:
    """Networks of 1-6 variables with 1-4 levels; half of them without smoothing, so with zero cells."""
    graph = draw(chordal_graphs(2, max_vertices))
    table = draw(tables(graph.n_vertices, graph.n_vertices))
    choices: list[Smoothing] = [0.0, 0.0, 0.5, 7.0, Backoff(0.3), Backoff(4.0)]
    smoothing = draw(st.sampled_from(choices))
    return estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=smoothing)


@st.composite
def evidences(draw: st.DrawFn, network: DecomposableMarkovNetwork, max_rows: int = 6) -> Observed:
    n_rows = draw(st.integers(1, max_rows))
    codes = [
        draw(st.lists(st.integers(-1, levels - 1), min_size=n_rows, max_size=n_rows))
        for levels in network.n_levels
    ]
    weights = {}
    for v, levels in enumerate(network.n_levels):
        if draw(st.integers(0, 5)) == 0:
            likely = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=levels, max_size=levels))
            with np.errstate(divide="ignore"):
                weights[v] = np.log(np.array(likely))
    return Observed(np.array(codes, dtype=np.int64), weights)


def rows_of(joint: Array, evidence: Observed) -> Iterator[Array]:
    """Yield P(all variables, evidence) of each row."""
    weights = {v: np.exp(logs) for v, logs in evidence.weights.items()}
    for row in evidence.codes.T:
        yield weighted(joint, {v: int(code) for v, code in enumerate(row) if code >= 0}, weights)


@settings(max_examples=some(300))
@given(st.data())
def test_joints_of_any_variables_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(networks())
    evidence = data.draw(evidences(network))
    joint = whole_joint(network)
    asked = tuple(sorted(data.draw(st.sets(st.integers(0, joint.ndim - 1), max_size=4))))
    found = np.exp(network.inference.joint(evidence, asked))
    for row, expected in zip(found, rows_of(joint, evidence), strict=True):
        assert row == pytest.approx(margin(expected, asked), abs=CLOSE)


@settings(max_examples=some(200))
@given(st.data())
def test_posteriors_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(networks())
    evidence = data.draw(evidences(network))
    joint = whole_joint(network)
    total, found = network.inference.posteriors(evidence, range(joint.ndim))
    for row, expected in enumerate(rows_of(joint, evidence)):
        assert np.exp(total[row]) == pytest.approx(expected.sum(), abs=CLOSE)
        if expected.sum() > 0:
            for v in range(joint.ndim):
                assert np.exp(found[v][row]) == pytest.approx(
                    margin(expected, (v,)) / expected.sum(), abs=CLOSE
                )


@settings(max_examples=some(200))
@given(st.data())
def test_most_probable_states_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(networks())
    evidence = data.draw(evidences(network))
    joint = whole_joint(network)
    states = best_states(network, evidence)
    for row, expected in enumerate(rows_of(joint, evidence)):
        if expected.max() > 0:
            assert expected[tuple(states[:, row])] == pytest.approx(expected.max(), rel=1e-10)


@settings(max_examples=some(100))
@given(st.data())
def test_large_tables_and_small_blocks_change_nothing(data: st.DataObject) -> None:
    """The other ways to cut a table, and blocks of one row, give what the usual way gives."""
    network = data.draw(networks())
    evidence = data.draw(evidences(network, max_rows=9))
    asked = (0, len(network.variables) - 1)
    usual = network.inference.joint(evidence, asked), network.inference.posteriors(evidence, asked)
    for name, value in (("_DENSE_CELLS", 0), ("_LOOKED_UP", 0), ("_BLOCK_CELLS", 1), ("_OWN_GROUP", 2)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cliques if hasattr(cliques, name) else engine, name, value)
            if name == "_LOOKED_UP":
                patch.setattr(cliques, "_DENSE_CELLS", 0)
            other = network.smoothed(network.smoothing)
            assert np.exp(other.inference.joint(evidence, asked)) == pytest.approx(np.exp(usual[0]), abs=1e-12)
            total, found = other.inference.posteriors(evidence, asked)
            assert np.exp(total) == pytest.approx(np.exp(usual[1][0]), abs=1e-12)
            for v in asked:
                assert np.exp(found[v]) == pytest.approx(np.exp(usual[1][1][v]), abs=1e-12)


def random_network(seed: int) -> DecomposableMarkovNetwork:
    """A random chordal graph of 3-14 variables with 2-4 levels; every second network has zero cells."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(3, 15))
    cliques: list[list[int]] = [[]]
    links = []
    for v in range(n):
        clique = cliques[generator.integers(max(0, len(cliques) - 4), len(cliques))]
        near = [u for u in clique if generator.random() < 0.85][-3:]
        links += [(u, v) for u in near]
        cliques.append([*near, v])
    n_rows = int(generator.integers(5, 60))
    codes = [generator.integers(0, generator.integers(2, 5), size=n_rows) for _ in range(n)]
    for u, v in links:  # dependent columns, so that tables are uneven
        if generator.random() < 0.6:
            codes[v] = np.where(generator.random(n_rows) < 0.7, codes[u], codes[v])
    table = CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(codes)})
    graph = ChordalGraph.empty(n).add(links)
    smoothing = 0.0 if seed % 2 else float(generator.choice([0.5, 1.0, 5.0]))
    return estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=smoothing)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_500_random_networks_against_pyagrum(first: int) -> None:
    """Marginals, joints across cliques, conditionals, evidence probability and MPE, to 1e-10.

    Those of few cells against the whole joint by brute force as well.
    """
    for seed in range(first, first + 50):
        network = random_network(seed)
        theirs = as_bayesian_network(network)
        generator = np.random.default_rng(10_000 + seed)
        names = network.variables
        compare(network, theirs, {})
        row = network.sample(1, seed=seed)  # a possible row, part of it as evidence
        known = generator.choice(len(names), size=int(generator.integers(1, 4)), replace=False)
        given = {names[v]: row.levels[v][0] for v in known}
        compare(network, theirs, given)
        if prod(network.n_levels) <= MOST_BRUTE:
            compare_to_brute_force(network, given)


def compare_to_brute_force(network: DecomposableMarkovNetwork, given: dict[str, object]) -> None:
    codes = {network.variables.index(name): network.levels_of(name).index(x) for name, x in given.items()}
    expected = weighted(whole_joint(network), codes, {})
    total = expected.sum()
    assert network.probability(given) == pytest.approx(total, rel=CLOSE)
    for v, found in enumerate(network.marginals(given).values()):
        assert list(found.values()) == pytest.approx(margin(expected, (v,)) / total, abs=CLOSE)
    ends = (0, len(network.variables) - 1)
    joint = network.query([network.variables[v] for v in ends], given)
    assert list(joint.values()) == pytest.approx((margin(expected, ends) / total).reshape(-1), abs=CLOSE)
    assert network.probability(network.most_probable(given)) == pytest.approx(expected.max(), rel=CLOSE)


def compare(network: DecomposableMarkovNetwork, theirs: gum.BayesNet, given: dict[str, object]) -> None:
    hard = {name: network.levels_of(name).index(level) for name, level in given.items()}
    free = [name for name in network.variables if name not in given]
    lazy = gum.LazyPropagation(theirs)
    lazy.setEvidence(hard)
    lazy.makeInference()
    joint = gum.LazyPropagation(theirs)
    joint.setEvidence(hard)
    pairs = list(combinations(free, 2))[:: max(1, len(free) // 2)][:6]
    for pair in pairs:
        joint.addJointTarget(set(pair))
    margins = network.marginals(given)
    for name in free:
        expected = np.reshape(lazy.posterior(name).toarray(), -1)
        assert list(margins[name].values()) == pytest.approx(expected, abs=CLOSE)
        assert list(network.query(name, given).values()) == pytest.approx(expected, abs=CLOSE)
    for one, two in pairs:
        expected = transposed(joint.jointPosterior({one, two}), (one, two))
        found = np.array(list(network.query([one, two], given).values()))
        assert found == pytest.approx(expected.reshape(-1), abs=CLOSE)
    if given:
        assert network.probability(given) == pytest.approx(lazy.evidenceProbability(), rel=CLOSE)
    state = network.most_probable(given)
    theirs_of_it = theirs.completeInstantiation()
    theirs_of_it.fromdict({name: network.levels_of(name).index(level) for name, level in state.items()})
    largest = largest_probability(theirs, hard)
    assert network.probability(state) == pytest.approx(largest, rel=CLOSE)
    assert theirs.jointProbability(theirs_of_it) == pytest.approx(largest, rel=CLOSE)


def largest_probability(net: gum.BayesNet, hard: dict[str, int]) -> float:
    """Return the probability of the most probable state, by maximising out one variable after the other.

    With pyAgrum's tensors: its own ``mpe`` fails on some of these networks ("Empty tensor").
    """
    value, tensors = 1.0, []
    for name in net.names():
        cpt = net.cpt(name)
        known = {parent: code for parent, code in hard.items() if parent in cpt.names}
        if len(known) == len(cpt.names):
            value *= cpt[known]  # pyAgrum refuses to extract a tensor without variables
        else:
            tensors.append(cpt.extract(known))
    for name in reversed([net.variable(node).name() for node in net.topologicalOrder()]):
        if name in hard:
            continue
        product = gum.Tensor()
        for tensor in [t for t in tensors if name in t.names]:
            product = product * tensor
        tensors = [t for t in tensors if name not in t.names]
        if len(product.names) > 1:
            tensors.append(product.maxOut([name]))
        else:
            value *= product.max()
    return value


def transposed(tensor: gum.Tensor, names: tuple[str, ...]) -> NDArray[np.float64]:
    return np.asarray(tensor.sumIn(list(names)).reorganize(list(reversed(names))).toarray())
