"""Rankings against brute force: every set made exact and sorted."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from tests.contract.test_scans import tied_tables
from tests.examples import some
from tests.strategies import tables
from xordal import CategoricalTable, DataError, ScanInterrupted, SettingsError, scan
from xordal.counting import plain
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.plain import CountingOracle
from xordal.counting.total_correlation import total_correlations
from xordal.scanning import ranking
from xordal.statistics.fitting import fit_margins
from xordal.statistics.interaction import interaction_dof, interactions
from xordal.types.choices import RankBy
from xordal.types.varsets import VarSet, varset

XOR = CategoricalTable.from_rows(
    ["a", "noise", "b", "c"], [(a, n, b, a ^ b) for a in (0, 1) for b in (0, 1) for n in (0, 1)] * 20
)


def full_table(table: CategoricalTable, chosen: tuple[int, ...]) -> NDArray[np.float64]:
    counts = np.zeros([table.n_levels[v] for v in chosen])
    for row in table.rows():
        counts[tuple(row[v] for v in chosen)] += 1
    return counts


def values(
    table: CategoricalTable, order: int, target: int | None
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Total correlation and interaction of every set, one at a time."""
    oracle = CountingOracle(NumpyCounter(table), table.n_levels)
    every = [c for c in combinations(range(table.n_variables), order) if target is None or target in c]
    totals = total_correlations(oracle, [varset(c) for c in every])
    own = [float(interactions(full_table(table, c)[None])[0]) for c in every]
    return dict(zip(every, zip(totals, own, strict=True), strict=True))


@pytest.mark.slow
@settings(max_examples=some(80), deadline=None)
@given(tables(min_variables=4, max_variables=7), st.integers(2, 4), st.integers(1, 6), st.booleans(), st.data())
def test_the_best_are_those_of_brute_force(
    table: CategoricalTable, order: int, top: int, has_target: bool, data: st.DataObject
) -> None:
    by: RankBy = data.draw(st.sampled_from(["interaction", "total"]))
    target = data.draw(st.integers(0, table.n_variables - 1)) if has_target else None
    found = scan(table, order, top, target=None if target is None else table.names[target], by=by)
    expected = values(table, order, target)
    assert found.n_sets == found.n_scanned == len(expected)
    assert len(found.sets) == min(top, len(expected))
    for ranked in found.sets:
        chosen = tuple(table.names.index(name) for name in sorted(found.names(ranked.variables)))
        total, own = expected[chosen]
        assert ranked.total_correlation == pytest.approx(total, abs=1e-12)
        assert ranked.interaction == pytest.approx(own, abs=1e-7)
    by_place = {"total": 0, "interaction": 1}[by]
    alike = len(set(table.n_levels)) == 1  # with equal degrees of freedom the order is that of the values
    if alike and table.n_levels[0] > 1:
        best = sorted((value[by_place] for value in expected.values()), reverse=True)[:top]
        got = [s.interaction if by == "interaction" else s.total_correlation for s in found.sets]
        assert sorted(got, reverse=True) == pytest.approx(best, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "numba"])
@settings(max_examples=some(60), deadline=None)
@given(tied_tables(), st.integers(2, 5), st.integers(1, 9), st.booleans(), st.data())
def test_ranks_and_p_values_are_those_of_brute_force(
    backend: str, table: CategoricalTable, order: int, top: int, has_target: bool, data: st.DataObject
) -> None:
    """Two to six levels, ties, weights and constants: every set's p-value from its full table, then sorted.

    Sets that tie may come in any order, and which of those that tie at the end come is open; so p-values are
    compared, rank by rank. Where rows are few for the cells a p-value may be raised afterwards.
    """
    order = min(order, table.n_variables)
    by: RankBy = data.draw(st.sampled_from(["interaction", "total"]))
    target = data.draw(st.integers(0, table.n_variables - 1)) if has_target else None
    name = None if target is None else table.names[target]
    found = scan(table, order, top, target=name, by=by, backend=backend, threads=data.draw(st.integers(1, 2)))
    expected = {
        chosen: log_p_by_hand(table, chosen, value[by == "interaction"], by)
        for chosen, value in values(table, order, target).items()
    }
    assert found.n_sets == found.n_scanned == len(expected)
    best = sorted(expected.values())[:top]
    chosen = [tuple(table.names.index(n) for n in sorted(found.names(one.variables))) for one in found.sets]
    assert len(set(chosen)) == len(chosen) == len(best)
    assert sorted(expected[c] for c in chosen) == pytest.approx(best, rel=1e-5, abs=1e-5)
    for c, one in zip(chosen, found.sets, strict=True):
        is_sparse = table.n_rows < 20 * prod(table.n_levels[v] for v in c)
        if not is_sparse:
            assert one.log_p_value == pytest.approx(expected[c], rel=1e-5, abs=1e-5)
        assert one.log_p_value >= expected[c] - 1e-5 * max(1, abs(expected[c]))
        assert one.log_p_corrected == pytest.approx(min(0, one.log_p_value + np.log(len(expected))))
    assert [one.log_p_value for one in found.sets] == sorted(one.log_p_value for one in found.sets)


def log_p_by_hand(table: CategoricalTable, chosen: tuple[int, ...], value: float, by: RankBy) -> float:
    """The nominal log p-value of a set, by SciPy; zero where there is nothing to test."""
    r = [table.n_levels[v] for v in chosen]
    dof = prod(s - 1 for s in r) if by == "interaction" else prod(r) - 1 - sum(s - 1 for s in r)
    return float(chi2.logsf(2 * table.n_rows * value, dof)) if dof else 0.0


@settings(max_examples=some(60), deadline=None)
@given(tables(min_variables=3, max_variables=4))
def test_an_interaction_is_a_part_of_what_is_shared(table: CategoricalTable) -> None:
    """Between zero and what is left when two variables are independent given the rest; margins fit."""
    for order in (2, 3):
        for chosen, (total, own) in values(table, order, None).items():
            assert -1e-12 <= own <= total + 1e-7
            if order == 2:
                assert own == pytest.approx(total, abs=1e-9)
            counts = full_table(table, chosen)[None]
            fitted = fit_margins(counts)
            for axis in range(1, order + 1):
                assert np.abs(fitted.sum(axis=axis) - counts.sum(axis=axis)).max() < 1e-3 * table.n_rows


def test_a_hidden_triple_comes_first() -> None:
    found = scan(XOR, order=3, top=2)
    best, next_best = found.sets
    assert found.names(best.variables) == ("a", "b", "c")
    assert best.interaction == pytest.approx(np.log(2))
    assert best.dof == interaction_dof((2, 2, 2)) == 1
    assert best.p_corrected < 1e-20
    assert 0.9 < next_best.p_corrected <= 1
    with_target = scan(XOR, 3, 1, target="b")
    assert with_target.names(with_target.sets[0].variables) == ("a", "c", "b")
    assert found.is_complete


def test_many_columns_need_few_exact_numbers() -> None:
    """A scan by kernels: five hidden triples among sixty noisy columns come first, whatever the threads."""
    generator = np.random.default_rng(5)
    bits = generator.integers(0, 2, size=(60, 2000))
    hidden = [(3 * t, 3 * t + 1, 3 * t + 2) for t in range(5)]
    for a, b, c in hidden:
        bits[c] = bits[a] ^ bits[b] ^ (generator.random(2000) < 0.1)
    table = CategoricalTable.from_columns({f"v{v:02}": column.tolist() for v, column in enumerate(bits)})
    one, two = (scan(table, 3, 8, threads=threads) for threads in (1, 2))
    assert {frozenset(one.names(s.variables)) for s in one.sets[:5]} == {
        frozenset(f"v{v:02}" for v in triple) for triple in hidden
    }
    assert all(s.p_corrected < 1e-6 for s in one.sets[:5])
    assert all(s.p_corrected > 0.01 for s in one.sets[5:])
    assert one.sets == two.sets


@pytest.mark.slow
def test_few_rows_for_many_cells_are_no_evidence() -> None:
    """Eight levels each and 400 rows: 512 cells for a triple; the nominal p-value would be next to nothing."""
    generator = np.random.default_rng(3)
    columns = {name: generator.integers(0, 8, 400).tolist() for name in "abcdef"}
    ways: tuple[RankBy, ...] = ("interaction", "total")
    for by in ways:
        best = scan(CategoricalTable.from_columns(columns), 3, 20, by=by).sets
        assert best[0].p_corrected > 0.01
        assert best[0].dof != 7**3


def test_ctrl_c_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_BLOCK", 1)  # a block for each first, small as the table is
    told = []

    def stop(progress: object) -> None:
        told.append(progress)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(ScanInterrupted) as stopped:
        scan(XOR, order=3, top=2, on_progress=stop)
    assert stopped.value.scanned.sets
    assert not stopped.value.scanned.is_complete


@settings(max_examples=some(40), deadline=None)
@given(tied_tables(), st.integers(2, 4), st.integers(1, 4), st.integers(0, 200))
def test_sets_that_wait_for_those_of_other_blocks_are_ranked_the_same(
    table: CategoricalTable, order: int, top: int, most: int
) -> None:
    order = min(order, table.n_variables)
    found = scan(table, order, top, backend="numpy")
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(plain, "_BLOCK", 1)
        for cells in (0, most):  # none may wait, or some
            changed.setattr(ranking, "_MOST_WAITING", cells)
            assert scan(table, order, top, backend="numpy").sets == found.sets


@settings(max_examples=some(40), deadline=None)
@given(st.lists(st.integers(2, 3), min_size=3, max_size=4), st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_an_interaction_is_the_same_to_the_bit_beside_any_others(
    levels: list[int], n_tables: int, seed: int
) -> None:
    """So that blocks, and with them threads, change nothing."""
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(prod(levels), 0.3), n_tables)
    tables = np.array([generator.multinomial(50, share).reshape(levels) for share in shares], dtype=np.float64)
    found = interactions(tables).tolist()
    assert found == [float(interactions(np.stack([one, one]))[0]) for one in tables]


def test_an_interruption_loses_no_set_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while sets are made exact, after some of them were kept already: they are kept once."""
    made = ranking.Ranking._interactions
    calls = []

    def interrupted(self: ranking.Ranking, masks: list[VarSet]) -> list[float]:
        calls.append(masks)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return made(self, masks)

    monkeypatch.setattr(ranking, "_BATCH", 1)
    monkeypatch.setattr(ranking.Ranking, "_interactions", interrupted)
    with pytest.raises(ScanInterrupted) as stopped:
        scan(XOR, order=3, top=2, backend="numpy")
    monkeypatch.undo()
    assert len(calls) > 2
    assert stopped.value.scanned.sets == scan(XOR, order=3, top=2).sets


def test_settings_that_make_no_sense() -> None:
    for wrong in ({"order": 1}, {"order": 2.5}, {"top": 0}, {"by": "size"}):
        with pytest.raises(SettingsError):
            scan(XOR, **wrong)
    with pytest.raises(SettingsError, match="did you mean 'noise'"):
        scan(XOR, target="nois")
    with pytest.raises(DataError, match="no sets of 5 columns"):
        scan(XOR, order=5)
    wide = CategoricalTable.from_columns({name: list(range(200)) for name in "abc"})
    assert prod(wide.n_levels) == 8_000_000
    with pytest.raises(DataError, match="one alone begins 156,"):
        scan(CategoricalTable.from_columns({f"v{v}": [0, 1] for v in range(250)}), order=5)
    with pytest.raises(DataError, match="8,000,000 cells"):
        scan(wide)
