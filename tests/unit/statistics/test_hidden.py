"""The hidden share: exact where it is known, its interval and its p-value right in samples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import kstest

from benchmarks.recovery.hidden_groups import (
    COVERED,
    FEW_ROWS,
    SPARSE,
    additive,
    chained,
    planted,
    shuffled_p_values,
    tilted,
)
from xordal.statistics.hidden import Sharing, degrees_of_freedom, has_rows_enough, unexplained
from xordal.statistics.interaction import interactions

PAIRS = list(combinations(range(3), 2))
TABLES = arrays.arrays(np.float64, (2, 3, 2), elements=st.integers(1, 20).map(float))


@given(TABLES)
def test_of_three_columns_the_hidden_part_is_the_interaction(table: np.ndarray) -> None:
    found = Sharing(table, int(table.sum()))
    assert found.hidden.nats == pytest.approx(float(interactions(table[None])[0]), abs=1e-9)
    assert found.hidden.dof == 2
    share = found.share()
    assert 0 <= share.low <= share.estimate <= share.high <= 1


@given(TABLES)
def test_parts_and_the_whole_by_entropies(table: np.ndarray) -> None:
    def entropy(axes: tuple[int, ...]) -> float:
        shares = table.sum(axis=tuple(axis for axis in range(3) if axis not in axes)).reshape(-1) / table.sum()
        return float(-(shares * np.log(shares)).sum())

    found = Sharing(table, int(table.sum()))
    single = [entropy((axis,)) for axis in range(3)]
    assert found.total.nats == pytest.approx(sum(single) - entropy((0, 1, 2)), abs=1e-9)
    assert found.part((0, 2)).nats == pytest.approx(single[0] + single[2] - entropy((0, 2)), abs=1e-9)
    given_last = Sharing(table, int(table.sum()), n_context=1).total.nats
    conditional = entropy((0, 2)) + entropy((1, 2)) - entropy((0, 1, 2)) - single[2]
    assert given_last == pytest.approx(conditional, abs=1e-9)


def test_known_shares() -> None:
    xor = np.array([[[0.25, 0], [0, 0.25]], [[0, 0.25], [0.25, 0]]])
    assert Sharing(xor, None).share().estimate == pytest.approx(1)
    assert Sharing(additive((1.0, 0.7), (3, 3)), None).share().estimate == pytest.approx(0, abs=1e-9)
    for share in (0.001, 0.025):
        found = Sharing(planted(share), None)
        assert found.share(found.part((0, 1))).estimate == pytest.approx(share)


def test_cells_that_no_margin_allows_are_no_freedom() -> None:
    copies = np.zeros((2, 2, 2))
    copies[0, 0, 0] = copies[1, 1, 1] = 10
    assert degrees_of_freedom(copies, PAIRS) == 0
    assert unexplained(copies, PAIRS).nats == pytest.approx(0, abs=1e-9)
    assert degrees_of_freedom(np.ones((2, 3, 4)), PAIRS) == 6


@pytest.mark.parametrize("name", list(COVERED))
def test_shuffling_a_column_makes_the_p_value_uniform(name: str) -> None:
    p_values = shuffled_p_values(COVERED[name], n_rows=2000, samples=300, seed=7)
    assert kstest(p_values, "uniform").pvalue > 1e-3
    assert np.mean(p_values <= 0.05) < 0.09


def test_on_sparse_tables_the_p_value_is_not_too_small() -> None:
    """Four columns of five levels at 1,000 rows: less than two rows a cell."""
    generator = np.random.default_rng(3)
    p_values = []
    for _ in range(40):
        codes = generator.integers(0, 5, (4, 1000))
        table = np.bincount(np.ravel_multi_index(tuple(codes), (5,) * 4), minlength=625)
        found = Sharing(table.reshape((5,) * 4).astype(np.float64), 1000)
        p_values.append(found.log_p(found.hidden, found.margins(2)))
    assert np.mean(np.exp(p_values) <= 0.05) <= 0.15


def test_the_interval_holds_the_truth_in_about_95_of_100_samples() -> None:
    generator = np.random.default_rng(11)
    joint = COVERED["leak 0.2, wrong 0.1"]
    truth = Sharing(joint, None).share().estimate
    draws = generator.multinomial(2000, joint.reshape(-1), size=300).astype(np.float64)
    shares = [Sharing(draw.reshape(joint.shape), 2000).share() for draw in draws]
    assert 0.91 <= np.mean([share.low <= truth <= share.high for share in shares]) <= 0.985


@pytest.mark.parametrize("name", ["4, 4, 4, 4, 3 levels, 3,188 rows", "three of 3 levels, 300 rows"])
def test_sparse_p_values_hold_where_pairs_depend_on_each_other(name: str) -> None:
    """Chi-squared alone is below 0.05 in two thirds, and in 9 %, of these samples."""
    levels, stay, skew, n_rows = SPARSE[name]
    generator = np.random.default_rng(17)
    log_ps = []
    for _ in range(100):
        found = Sharing(chained(levels, stay, skew, generator, n_rows), n_rows)
        log_ps.append(found.log_p(found.hidden, found.margins(2)))
    assert np.mean(np.exp(log_ps) <= 0.05) <= 0.12


@pytest.mark.parametrize("name", ["5, 5, 5, 5, 3 levels, skewed, 3,188 rows", "4, 3, 3, 2 levels, 400 rows"])
@pytest.mark.parametrize("tilt", [0.0, 1.0])
def test_on_sparse_tables_the_share_is_neither_too_large_nor_too_small(name: str, tilt: float) -> None:
    """With the degrees of freedom it is off by up to 0.1, either way."""
    levels, stay, skew, rare, n_rows = FEW_ROWS[name]
    joint = tilted(levels, stay, skew, rare, tilt)
    truth = Sharing(joint, None).share().estimate
    draws = np.random.default_rng(23).multinomial(n_rows, joint.reshape(-1), size=40).astype(np.float64)
    shares = [Sharing(draw.reshape(joint.shape), n_rows).share() for draw in draws]
    assert np.mean([share.estimate for share in shares]) == pytest.approx(truth, abs=0.025)
    assert np.mean([share.low > truth + 1e-9 for share in shares]) <= 0.1


@given(TABLES)
def test_chance_in_the_whole_is_that_in_the_hidden_part_and_in_the_pairs(table: np.ndarray) -> None:
    """Of many rows a cell the degrees of freedom of three pairs; of few, what the pairs' cells add."""
    for times in (1, 100):
        found = Sharing(times * table, int(times * table.sum()))
        between = found.total.chance - found.hidden.chance
        if times == 100:
            assert between == found.total.dof - found.hidden.dof
        elif found.total.chance != found.total.dof:
            assert 0 < between < 2 * (found.total.dof - found.hidden.dof)


def test_a_table_of_fewer_than_five_rows_a_cell_tells_nothing() -> None:
    assert has_rows_enough(np.array([[5.0, 0], [0, 5]]))
    assert not has_rows_enough(np.array([[5.0, 1], [0, 5]]))
