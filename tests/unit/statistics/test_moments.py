"""Moments of G2 against every permutation of small tables, and against shuffles of larger ones."""

from __future__ import annotations

from itertools import permutations
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.examples import some
from tests.strategies import tables
from xordal import CategoricalTable
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.statistics import few_cells, moments
from xordal.statistics.few_cells import few_cell_moments
from xordal.statistics.moments import Margins, Moments, Strata, margins_of, n_cells_of, step_moments, strata
from xordal.statistics.null_law import MOST_MEAN, MOST_VARIANCE, is_beyond_doubt, log_p_value
from xordal.statistics.permutation import shuffled_moments
from xordal.types import members, varset

Codes = NDArray[np.int64]


def margins(x: Codes, y: Codes, s: Codes) -> Strata:
    table = CategoricalTable.from_columns({"x": x.tolist(), "y": y.tolist(), "s": s.tolist()})
    of_x, of_y = NumpyCounter(table).counts([varset([0, 2]), varset([1, 2])])
    return strata(of_x, of_y, (0, 0), [table.n_levels[2]])


def g2(x: Codes, y: Codes, s: Codes) -> float:
    def n_log_n(*columns: Codes) -> float:
        _, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
        return float((counts * np.log(counts)).sum())

    return 2 * (n_log_n(x, y, s) - n_log_n(x, s) - n_log_n(y, s) + n_log_n(s))


codes = st.lists(st.integers(0, 2), min_size=4, max_size=6)


@settings(max_examples=some(40), deadline=None)
@given(codes, st.data())
def test_the_mean_is_that_of_all_permutations(first: list[int], data: st.DataObject) -> None:
    x = np.array(first)
    y = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x))))
    one = np.zeros_like(x)
    every = [g2(x, np.array(turned), one) for turned in permutations(y.tolist())]
    found = step_moments(margins(x, y, one))
    assert found.mean == pytest.approx(np.mean(every), abs=1e-9)
    if len(set(first)) <= 2 and len(set(y.tolist())) <= 2:  # one free cell: nothing is approximate
        assert found.variance == pytest.approx(np.var(every), abs=1e-6)


@pytest.mark.parametrize(
    ("n", "x_levels", "y_levels", "s_levels"),
    [
        (1000, 20, 20, 1),
        (1000, 5, 125, 1),
        (1000, 3, 400, 1),
        (1000, 5, 5, 25),
        (1000, 2, 2, 200),
        (1000, 3, 2, 500),
        (400, 2, 2, 4),
    ],
)
def test_mean_and_variance_are_those_of_shuffles(n: int, x_levels: int, y_levels: int, s_levels: int) -> None:
    generator = np.random.default_rng([n, x_levels, y_levels, s_levels])
    x, y, s = (generator.integers(levels, size=n) for levels in (x_levels, y_levels, s_levels))
    found = step_moments(margins(x, y, s))
    n_shuffles = 600
    shuffled = shuffled_moments(x, y, s, generator, n_shuffles)
    variance = shuffled.variance / (1 + 3 * (2 / n_shuffles) ** 0.5)
    mean = shuffled.mean - 2 * (variance / n_shuffles) ** 0.5
    assert found.mean == pytest.approx(mean, abs=4.5 * (variance / n_shuffles) ** 0.5)
    assert found.variance == pytest.approx(variance, rel=0.3)


def test_an_identifier_cannot_vary() -> None:
    generator = np.random.default_rng(0)
    x, y = np.arange(500), generator.integers(2, size=500)
    found = step_moments(margins(x, y, np.zeros_like(x)))
    observed = g2(x, y, np.zeros_like(x))
    assert found.mean == pytest.approx(observed)
    assert found.variance == pytest.approx(0, abs=1e-6)
    assert log_p_value(observed, found) > log(0.3)


def test_large_counts_give_the_nominal_law() -> None:
    generator = np.random.default_rng(1)
    x, y, s = (generator.integers(levels, size=100_000) for levels in (3, 4, 2))
    strata_ = margins(x, y, s)
    found = step_moments(strata_)
    assert strata_.dof == 12
    assert found.mean == pytest.approx(12, rel=2e-3)
    assert found.variance == pytest.approx(24, rel=5e-3)


@settings(max_examples=some(30), deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 60))
def test_names_of_levels_and_sides_change_no_bit(seed: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    x, y, s = (generator.integers(levels, size=n) for levels in (3, 4, 2))
    found = step_moments(margins(x, y, s))
    assert step_moments(margins(2 - x, (y + 1) % 4, 1 - s)) == found
    assert step_moments(margins(y, x, s)) == found


def test_no_table_no_evidence() -> None:
    assert log_p_value(0.0, Moments(0.0, 0.0)) == 0.0


@st.composite
def every_margins(draw: st.DrawFn) -> list[Margins]:
    """Margins of some strata, sparse and dense ones, rows or columns that are a whole stratum among them."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        most = draw(st.sampled_from([3, 40, 400, 10**4, 10**9]))
        rows = draw(st.lists(st.integers(1, most), min_size=1, max_size=5))
        total = sum(rows)
        cuts = sorted(draw(st.sets(st.integers(1, total - 1), max_size=4))) if total > 1 else []
        columns = np.diff([0, *cuts, total]).tolist()
        found.append((sorted(rows), sorted(columns)))
    return sorted(found)


@settings(max_examples=some(200), deadline=None)
@given(every_margins())
def test_few_cells_are_summed_as_many_are_to_the_bit(margins: list[Margins]) -> None:
    assert few_cell_moments(margins) == step_moments(Strata.of(margins))
    assert n_cells_of(margins) == Strata.of(margins).n_cells


@given(st.lists(st.floats(-1e6, 1e6), max_size=200))
def test_sums_are_rounded_as_numpy_does(values: list[float]) -> None:
    assert few_cells._sum(values) == float(np.sum(np.array(values)))


@settings(max_examples=some(200), deadline=None)
@given(every_margins())
def test_no_margins_have_moments_above_the_bounds(margins: list[Margins]) -> None:
    found = step_moments(Strata.of(margins))
    dof = max(1, sum((len(rows) - 1) * (len(columns) - 1) for rows, columns in margins))
    assert found.mean <= MOST_MEAN * dof
    assert found.variance <= MOST_VARIANCE * dof**2


@given(every_margins(), st.floats(0, 1e5), st.floats(-20, -0.1))
def test_what_is_beyond_doubt_has_such_a_p_value(margins: list[Margins], g2: float, log_level: float) -> None:
    dof = sum((len(rows) - 1) * (len(columns) - 1) for rows, columns in margins)
    if is_beyond_doubt(g2, dof, log_level):
        assert log_p_value(g2, step_moments(Strata.of(margins))) <= log_level
    assert not is_beyond_doubt(g2, 0, log_level)
    assert not is_beyond_doubt(2.0 * dof, dof, log_level)


@given(tables(min_variables=3, max_variables=5), st.data())
def test_few_cells_are_put_into_strata_as_many_are(table: CategoricalTable, data: st.DataObject) -> None:
    x, y, *others = data.draw(st.permutations(range(table.n_variables)))
    separator = sorted(data.draw(st.sets(st.sampled_from(others))))
    sets = [varset([x, *separator]), varset([y, *separator])]
    of_x, of_y = NumpyCounter(table).counts(sets)
    places = (members(sets[0]).index(x), members(sets[1]).index(y))
    levels = [table.n_levels[v] for v in separator]
    few = margins_of(of_x, of_y, places, levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "_FEW", 0)
        assert margins_of(of_x, of_y, places, levels) == few
