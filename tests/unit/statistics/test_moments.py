"""Moments of G2 against every permutation of small tables, and against shuffles of larger ones."""

from __future__ import annotations

from itertools import permutations, product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import hypergeom

from tests.examples import some
from tests.strategies import tables
from xordal import CategoricalTable
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CellCounts
from xordal.statistics import margins as margins_module
from xordal.statistics.margins import StepCounts, _order, margins_of, strata
from xordal.statistics.mean_bounds import mean_bounds
from xordal.statistics.moments import Moments, step_moments
from xordal.statistics.null_law import MOST_MEAN, MOST_VARIANCE, is_beyond_doubt, log_p_value, lowest_by_mean
from xordal.statistics.permutation import shuffled_moments
from xordal.statistics.sparse_cells import DENSE
from xordal.types.varsets import members, varset

Codes = NDArray[np.int64]
Lists = list[tuple[list[int], list[int]]]
"""The counts of x and of y in each stratum."""


def counted(x: Codes, y: Codes, s: Codes) -> StepCounts:
    table = CategoricalTable.from_columns({"x": x.tolist(), "y": y.tolist(), "s": s.tolist()})
    of_x, of_y = NumpyCounter(table).counts([varset([0, 2]), varset([1, 2])])
    return StepCounts(of_x, of_y, (0, 0), (table.n_levels[2],))


def counts_of(lists: Lists) -> StepCounts:
    """Return what would have been counted, the levels of x and y before that of the stratum."""

    def side(of_side: list[list[int]]) -> CellCounts:
        cells = sorted((level, s, n) for s, counts in enumerate(of_side) for level, n in enumerate(counts))
        return CellCounts(np.array([cell[:2] for cell in cells]), np.array([cell[2] for cell in cells]))

    return StepCounts(side([r for r, _ in lists]), side([c for _, c in lists]), (0, 0), (len(lists),))


def moments_of(*steps: StepCounts) -> list[Moments]:
    return step_moments(margins_of(strata(steps)))


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
    (found,) = moments_of(counted(x, y, one))
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
    (found,) = moments_of(counted(x, y, s))
    n_shuffles = 600
    shuffled = shuffled_moments(x, y, s, generator, n_shuffles)
    variance = shuffled.variance / (1 + 3 * (2 / n_shuffles) ** 0.5)
    mean = shuffled.mean - 2 * (variance / n_shuffles) ** 0.5
    assert found.mean == pytest.approx(mean, abs=4.5 * (variance / n_shuffles) ** 0.5)
    assert found.variance == pytest.approx(variance, rel=0.3)


def test_an_identifier_cannot_vary() -> None:
    generator = np.random.default_rng(0)
    x, y = np.arange(500), generator.integers(2, size=500)
    (found,) = moments_of(counted(x, y, np.zeros_like(x)))
    observed = g2(x, y, np.zeros_like(x))
    assert found.mean == pytest.approx(observed)
    assert found.variance == pytest.approx(0, abs=1e-6)
    assert log_p_value(observed, found) > log(0.3)


def test_large_counts_give_the_nominal_law() -> None:
    generator = np.random.default_rng(1)
    x, y, s = (generator.integers(levels, size=100_000) for levels in (3, 4, 2))
    (found,) = moments_of(counted(x, y, s))
    assert found.mean == pytest.approx(12, rel=2e-3)
    assert found.variance == pytest.approx(24, rel=5e-3)


@settings(max_examples=some(30), deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 60))
def test_names_of_levels_and_sides_change_no_bit(seed: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    x, y, s = (generator.integers(levels, size=n) for levels in (3, 4, 2))
    (found,) = moments_of(counted(x, y, s))
    assert moments_of(counted(2 - x, (y + 1) % 4, 1 - s), counted(y, x, s)) == [found, found]


def test_no_table_no_evidence() -> None:
    assert log_p_value(0.0, Moments(0.0, 0.0)) == 0.0


@st.composite
def every_margins(draw: st.DrawFn, largest: int = 10**9) -> Lists:
    """Margins of some strata, sparse and dense ones, rows or columns that are a whole stratum among them."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        most = min(draw(st.sampled_from([3, 40, 400, 10**4, 10**9])), largest)
        rows = draw(st.lists(st.integers(1, most), min_size=1, max_size=5))
        total = sum(rows)
        cuts = sorted(draw(st.sets(st.integers(1, total - 1), max_size=4))) if total > 1 else []
        columns = np.diff([0, *cuts, total]).tolist()
        found.append((sorted(rows), sorted(columns)))
    return sorted(found)


@settings(max_examples=some(100), deadline=None)
@given(st.lists(every_margins(), min_size=1, max_size=5))
def test_the_steps_of_a_block_do_not_change_each_other(steps: list[Lists]) -> None:
    block = [counts_of(margins) for margins in steps]
    assert moments_of(*block) == [found for step in block for found in moments_of(step)]


@settings(max_examples=some(60), deadline=None)
@given(st.lists(every_margins(), min_size=1, max_size=3), st.booleans(), st.booleans())
def test_the_bound_is_below_the_mean(some: list[Lists], is_wide: bool, has_kernels: bool) -> None:
    """Of each step of a block, whether the strata that there may be are as many as those that there are."""
    steps = [counts_of(margins) for margins in some]
    exact = moments_of(*steps)
    if is_wide:
        steps = [step._replace(n_levels=(10**6,)) for step in steps]
    found = mean_bounds(strata(steps), has_kernels)
    assert found.least == pytest.approx(mean_bounds(strata(steps)).least, rel=1e-9, abs=1e-12)
    for bound, moments in zip(found.least.tolist(), exact, strict=True):
        assert 0 <= bound <= moments.mean
    wanted = [sum(len(r) * len(c) for r, c in lists) for lists in some]
    assert found.n_cells.tolist() == strata(steps).n_cells().tolist() == wanted


@pytest.mark.parametrize(
    ("counts", "least"), [([300, 400, 500], 0.995), ([3, 4, 5] * 4, 0.8), ([1] * 50, 0.99)]
)
def test_the_bound_is_not_far_below_the_mean(counts: list[int], least: float) -> None:
    step = counts_of([(counts, counts)])
    (moments,) = moments_of(step)
    assert least * moments.mean < mean_bounds(strata([step])).least[0] < moments.mean


@given(st.floats(0, 5000), st.floats(0.01, 3000), st.floats(0, 10_000))
def test_no_p_value_is_below_what_the_mean_alone_tells(g2: float, mean: float, variance: float) -> None:
    assert log_p_value(g2, Moments(mean, variance)) >= lowest_by_mean(g2, 0.9 * mean)


@given(every_margins(largest=10**4))  # beyond, log factorials lose digits in both
def test_moments_are_those_of_the_formula_cell_by_cell(margins: Lists) -> None:
    (found,) = moments_of(counts_of(margins))
    mean, variance = by_the_formula(margins)
    assert found.mean == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert found.variance == pytest.approx(max(variance, 0), rel=1e-7, abs=1e-7)


def by_the_formula(margins: Lists) -> tuple[float, float]:
    """Return mean and variance as the module's first words say: pairs of cells one by one, no sums by group."""
    mean = variance = 0.0
    for rows, columns in margins:
        n = sum(rows)
        if len(rows) == 1 or len(columns) == 1:
            continue
        terms = [[cell_terms(a, b, n) for b in columns] for a in rows]
        mean += sum(term[0] for of_row in terms for term in of_row)
        variance += sum(term[5] for of_row in terms for term in of_row)
        r, s = (
            [[correlation(i, k, [c / n for c in of]) for k in range(len(of))] for i in range(len(of))]
            for of in (rows, columns)
        )
        cells = [(i, j) for i in range(len(rows)) for j in range(len(columns))]
        for (i, j), (k, m) in product(cells, cells):
            for degree in range(1, 5):
                variance += terms[i][j][degree] * terms[k][m][degree] * (r[i][k] * s[j][m]) ** degree
    return mean, variance


def correlation(i: int, k: int, shares: list[float]) -> float:
    q, p = shares[i], shares[k]
    return 1.0 if i == k else -sqrt(q * p / ((1 - q) * (1 - p)))


def cell_terms(a: int, b: int, n: int) -> list[float]:
    """Return a cell's coefficients of degree 0 to 4 and the rest of its variance."""
    mu = a * b / n
    if mu >= DENSE:
        second = mu * (1 - a / n) * (1 - b / n) * n / (n - 1)
        third = second * (1 - 2 * a / n) * (1 - 2 * b / n)
        first = (third / mu - (second / mu) ** 2) / sqrt(second)
        constant = second / mu - third / (3 * mu**2) + second**2 / (2 * mu**3)
        return [constant, first, sqrt(2) * second / mu * (1 + 1 / (6 * mu)), 0, 0, 0]
    values = np.arange(max(0, a + b - n), min(a, b, 400) + 1)
    law = hypergeom.pmf(values, n, a, b)
    term = 2 * (values * np.log(np.maximum(values, 1) / mu) - values + mu)
    basis: list[NDArray[np.float64]] = []
    coefficients = []
    for degree in range(5):  # Gram-Schmidt, twice: once leaves rounding behind
        polynomial = ((values - mu) / (1 + sqrt(mu))) ** degree
        for _ in range(2):
            for known in basis:
                polynomial = polynomial - (law * polynomial * known).sum() * known
        norm = sqrt((law * polynomial**2).sum())
        if degree >= len(values) or norm < 1e-7:
            break
        basis.append(np.asarray(polynomial / norm, dtype=np.float64))
        coefficients.append(float((law * term * basis[-1]).sum()))
    coefficients += [0.0] * (5 - len(coefficients))
    rest = float((law * term**2).sum()) - sum(c**2 for c in coefficients)
    return [*coefficients, max(rest, 0.0)]


@settings(max_examples=some(100), deadline=None)
@given(st.lists(every_margins(), min_size=1, max_size=5), st.booleans())
def test_kernels_sum_as_numpy_does(steps: list[Lists], is_wide: bool) -> None:
    """To the bit, whatever cells were kept from before."""
    from xordal.statistics import _moments

    block = [counts_of(margins) for margins in steps]
    if is_wide:
        block = [step._replace(n_levels=(10**6,)) for step in block]
    counted, kept = strata(block), _moments.no_cells()
    means, variances = np.empty(len(block)), np.empty(len(block))
    for _ in range(2):
        _moments.step_sums(counted.of_x, counted.of_y, counted.n_strata, kept, means, variances)
        both = zip(means.tolist(), variances.tolist(), strict=True)
        assert list(map(tuple, both)) == [(one.mean, one.variance) for one in moments_of(*block)]


def test_kernels_sort_long_lists_and_strata_as_numpy_does() -> None:
    from xordal.statistics import _moments

    generator = np.random.default_rng(8)
    x, y, s = (generator.integers(levels, size=4000) for levels in (50, 60, 7))
    step = counted(x, y, s)
    both = strata([step, step])
    means, variances = np.empty(2), np.empty(2)
    _moments.step_sums(both.of_x, both.of_y, both.n_strata, _moments.no_cells(), means, variances)
    wanted, _ = step_moments(margins_of(both))
    assert means.tolist() == [wanted.mean] * 2
    assert variances.tolist() == [wanted.variance] * 2


@settings(max_examples=some(200), deadline=None)
@given(every_margins())
def test_no_margins_have_moments_above_the_bounds(margins: Lists) -> None:
    found = moments_of(counts_of(margins))[0]
    dof = max(1, sum((len(rows) - 1) * (len(columns) - 1) for rows, columns in margins))
    assert found.mean <= MOST_MEAN * dof
    assert found.variance <= MOST_VARIANCE * dof**2


@given(every_margins(), st.floats(0, 1e5), st.floats(-20, -0.1))
def test_what_is_beyond_doubt_has_such_a_p_value(margins: Lists, g2: float, log_level: float) -> None:
    dof = sum((len(rows) - 1) * (len(columns) - 1) for rows, columns in margins)
    if is_beyond_doubt(g2, dof, log_level):
        assert log_p_value(g2, moments_of(counts_of(margins))[0]) <= log_level
    assert not is_beyond_doubt(g2, 0, log_level)
    assert not is_beyond_doubt(2.0 * dof, dof, log_level)


@given(st.lists(every_margins(), min_size=1, max_size=4))
def test_margins_stand_in_the_order_of_their_counts(steps: list[Lists]) -> None:
    found = margins_of(strata([counts_of(margins) for margins in steps]))
    for number, margins in enumerate(steps):
        turned = [(c, r) if (len(c), c) < (len(r), r) else (r, c) for r, c in margins]
        here = [
            (found.rows[found.row_stratum == s].tolist(), found.columns[found.column_stratum == s].tolist())
            for s in np.flatnonzero(found.step == number)
        ]
        assert here == turned


@given(tables(min_variables=3, max_variables=5), st.data())
def test_strata_too_many_to_number_are_told_apart_as_well(table: CategoricalTable, data: st.DataObject) -> None:
    x, y, *others = data.draw(st.permutations(range(table.n_variables)))
    separator = sorted(data.draw(st.sets(st.sampled_from(others))))
    sets = [varset([x, *separator]), varset([y, *separator])]
    of_x, of_y = NumpyCounter(table).counts(sets)
    places = (members(sets[0]).index(x), members(sets[1]).index(y))
    step = StepCounts(of_x, of_y, places, tuple(table.n_levels[v] for v in separator))
    numbered = moments_of(step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(margins_module, "_LARGEST_CODE", 0)
        assert moments_of(step) == numbered


def test_billions_of_rows_do_not_overflow() -> None:
    """Products of margins beyond 2^63: the moments are those of a table with large counts."""
    (found,) = moments_of(counts_of([([729_496_561, 7_341_303_711], [729_496_561, 7_341_303_711])]))
    assert found.mean == pytest.approx(1, rel=1e-6)
    assert found.variance == pytest.approx(2, rel=1e-6)


def test_keys_put_into_one_number_have_the_same_order() -> None:
    generator = np.random.default_rng(4)
    for largest in ([3, 2, 4], [1] * 40, [2**62, 5, 2**40, 2], [0, 0], [2**31, 2**31, 2**31], [2**63 - 1, 2]):
        keys = [generator.integers(0, most, 200, endpoint=True) for most in largest]
        assert _order(keys).tolist() == np.lexsort(keys[::-1]).tolist()


@pytest.mark.parametrize(("n_strata", "n_x", "n_y"), [(1, 3, 4), (60, 2, 5), (3, 40, 30), (400, 5, 4)])
def test_kernels_shuffle_as_numpy_does(n_strata: int, n_x: int, n_y: int) -> None:
    chance = np.random.default_rng(n_strata)
    x, y, s = (chance.integers(n, size=1000) for n in (n_x, n_y, n_strata))
    one, other = (
        shuffled_moments(x, y, s, np.random.default_rng(1), n_shuffles=5, has_kernels=has_kernels)
        for has_kernels in (False, True)
    )
    assert one == other
