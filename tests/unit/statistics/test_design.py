"""Survey weights and clusters: moments by brute force, and that plain rows stay what they are."""

from itertools import product
from math import exp, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.examples import some
from xordal import (
    BIC,
    BDeu,
    CategoricalTable,
    DataError,
    DataWarning,
    SettingsError,
    find_rules,
    learn,
    read_table,
    scan,
)
from xordal.data.design import Design
from xordal.graph.chain import Addition
from xordal.statistics.chi_squared import log_f_tail
from xordal.statistics.design import SampleDesign
from xordal.statistics.moments import Moments
from xordal.types.varsets import EMPTY, VarSet


def table_of(codes: np.ndarray, design: Design | None = None) -> CategoricalTable:
    return CategoricalTable.from_columns(
        {f"v{v}": column.tolist() for v, column in enumerate(codes)}, design=design
    )


def brute_force(codes: np.ndarray, weights: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """Return mean and variance of the sum of squared residuals of x and y given s, by their covariance."""
    s, x, y = codes
    n, shares = len(weights), weights / weights.sum()
    columns = []
    for k, a, b in product(np.unique(s), np.unique(x), np.unique(y)):
        here = s == k
        p_s = shares[here].sum()
        p_a, p_b = shares[here & (x == a)].sum() / p_s, shares[here & (y == b)].sum() / p_s
        if p_a * p_b > 0:
            columns.append(here * ((x == a) - p_a) * ((y == b) - p_b) / np.sqrt(p_s * p_a * p_b))
    influence = np.array(columns) * shares
    sums = np.array([influence[:, clusters == g].sum(axis=1) for g in np.unique(clusters)])
    covariance = n * sums.T @ sums
    return float(np.trace(covariance)), float(2 * (covariance**2).sum())


@settings(max_examples=some(40), deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_moments_are_those_of_the_residuals(seed: int, has_clusters: bool) -> None:
    generator = np.random.default_rng(seed)
    codes = np.array([generator.integers(0, r, 240) for r in (2, 2, 3)])
    weights = generator.lognormal(0, 0.3, 240)
    clusters = generator.permutation(np.arange(240) // 4 if has_clusters else np.arange(240))
    design = Design(weights, clusters.astype(np.int32) if has_clusters else None)
    found = SampleDesign(table_of(codes, design))._moments(Addition(1, 2, VarSet(0b001)))
    mean, variance = brute_force(codes, weights, clusters)
    assert found.mean == pytest.approx(mean, rel=1e-9)
    assert found.variance == pytest.approx(variance, rel=1e-9)


def test_plain_rows_have_the_nominal_law() -> None:
    codes = np.array(list(product((0, 1), (0, 1, 2)))).T.repeat(50, axis=1)
    design = SampleDesign(table_of(codes, Design(np.full(300, 2.5))))
    found = design._moments(Addition(0, 1, EMPTY))
    assert found.mean == pytest.approx(2)
    assert found.variance == pytest.approx(4)
    assert design.effective_rows == pytest.approx(300)


def test_equal_weights_learn_what_plain_rows_do() -> None:
    generator = np.random.default_rng(5)
    codes = generator.integers(0, 2, (6, 800))
    codes[2] = codes[0] ^ codes[1]
    plain, weighted = learn(table_of(codes)), learn(table_of(codes, Design(np.full(800, 0.7))))
    assert plain.links == weighted.links == ((0, 1), (0, 2), (1, 2))
    assert weighted.n_rows == 800


def test_whole_weights_are_counts_to_the_bit() -> None:
    columns = {"a": [0, 1, 1], "b": [0, 1, 0]}
    table = read_table({**columns, "w": [2.0, 3.0, 0.0]}, weights="w")
    assert table.design is None
    assert table.weights is not None
    assert table.weights.dtype.kind == "i"
    assert table.weights.tolist() == [2, 3]


def test_clusters_take_the_links_away_that_people_make() -> None:
    generator = np.random.default_rng(3)
    people = np.repeat(np.arange(72), 40)
    habits = generator.random((5, 72))[:, people]
    columns = {f"v{v}": (generator.random(2880) < habits[v]).astype(int) for v in range(5)}
    assert learn(read_table(columns), find_groups=False).links
    assert not learn(read_table({**columns, "who": people}, cluster="who"), find_groups=False).links
    assert not learn(read_table(columns, cluster=people), find_groups=False).links


def test_a_network_of_weighted_rows_has_weighted_shares() -> None:
    generator = np.random.default_rng(1)
    codes, weights = generator.integers(0, 2, (3, 1000)), generator.lognormal(0, 1, 1000)
    network = learn(table_of(codes, Design(weights))).network()
    share = weights[codes[1] == 1].sum() / weights.sum()
    assert network.query("v1")[1] == pytest.approx(share, abs=0.005)


def test_sparse_tables_have_no_p_value() -> None:
    generator = np.random.default_rng(2)
    codes = generator.integers(0, 12, (3, 300))
    design = Design(generator.lognormal(0, 0.2, 300))
    with pytest.raises(DataError, match=r"no p-value can be given here.*--bic"):
        learn(table_of(codes, design), notice=print)
    assert SampleDesign(table_of(codes, design))._moments(Addition(0, 1, EMPTY)) == Moments(inf, inf)
    codes[2] = codes[0]
    assert (0, 2) in learn(table_of(codes, design), criterion=BIC(), find_groups=False).links


def test_missing_weights_obey_the_policy() -> None:
    table = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "w": [1.5, None, 2.5, 1.0]}
    assert read_table(table, weights="w", missing="drop").n_rows == 3
    with pytest.raises(DataError, match=r"row 2: the weight is missing"):
        read_table(table, weights="w")


def test_what_takes_plain_rows_says_so() -> None:
    table = table_of(np.array([[0, 1, 0, 1], [0, 1, 1, 0]]), Design(np.array([0.5, 1, 1, 1.5])))
    with pytest.raises(DataError, match="A scan takes plain rows"):
        scan(table, order=2)
    with pytest.raises(DataError, match="A search for rules takes plain rows"):
        find_rules(table)
    with pytest.raises(SettingsError, match="BDeu counts plain rows"):
        learn(table, criterion=BDeu())


def test_columns_that_look_like_weights_and_clusters_are_told() -> None:
    people = np.repeat(np.arange(30), 4)
    with pytest.warns(DataWarning) as told:
        read_table({"person": people, "wt": np.linspace(0.5, 1.5, 120), "a": [0, 1] * 60})
    assert "cluster='person' makes" in str(told[0].message)
    assert "weights='wt'" in str(told[1].message)


@pytest.mark.parametrize(("g2", "dof", "n_units"), [(3.0, 1.0, 20.0), (30.0, 4.5, 71.0), (0.0, 2.0, 5.0)])
def test_the_tail_of_the_f_law(g2: float, dof: float, n_units: float) -> None:
    assert exp(log_f_tail(g2, dof, n_units)) == pytest.approx(
        stats.f.sf(g2 / dof, dof, dof * n_units), rel=1e-9
    )


def test_the_far_tail_of_the_f_law_goes_on_evenly() -> None:
    tails = [log_f_tail(g2, 2.0, 300.0) for g2 in np.linspace(1000, 60000, 60)]
    slopes = np.diff(tails)
    assert (slopes < 0).all()
    assert (np.diff(slopes) > -1e-9).all()  # convex: no jump where the series takes over
