"""Significance: p-values, the ceiling that scans discard by, and what it does without rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs, tables
from xordal import BIC, EBIC, BDeu, CategoricalTable, SettingsError, Significance, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.plain import CountingOracle
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change, free_parameters
from xordal.pi.zoo import music_box, table_1
from xordal.statistics.chi_squared import log_tail
from xordal.statistics.criterion import (
    Criterion,
    EntropyDecrement,
    Evidence,
    Sample,
    Shape,
)
from xordal.statistics.null_law import NullLaw
from xordal.types.varsets import varset


def every_candidate(table: CategoricalTable, graph: ChordalGraph) -> list[Evidence]:
    oracle = CountingOracle(NumpyCounter(table), table.n_levels)
    found = []
    for size in range(2, min(4, table.n_variables) + 1):
        for W in combinations(range(table.n_variables), size):
            links = graph.missing_links(varset(W))
            chain = additions(graph, links) if links else None
            if chain is None:
                continue
            changed = change(chain)
            entropies = oracle.entropies(list(changed))
            gain = -float(sum(sign * h for sign, h in zip(changed.values(), entropies, strict=True)))
            ends = varset(v for link in links for v in link)
            dof = free_parameters(changed, table.n_levels)
            found.append(Evidence(ends, links, changed, gain, dof, table.n_rows))
    return found


def sample_of(table: CategoricalTable, max_links: int = 6) -> Sample:
    return Sample(table.n_levels, table.n_rows, NumpyCounter(table), max_links, 4)


@settings(max_examples=some(60), deadline=None)
@given(tables(min_variables=3, max_variables=5), chordal_graphs(min_vertices=5, max_vertices=5), st.data())
def test_no_rank_is_above_the_ceiling(
    table: CategoricalTable, graph: ChordalGraph, data: st.DataObject
) -> None:
    kept = [link for link in graph.links if max(link) < table.n_variables]
    if additions(ChordalGraph.empty(table.n_variables), tuple(kept)) is None:
        return
    own = ChordalGraph.empty(table.n_variables).add(kept)
    alpha = data.draw(st.sampled_from([1e-6, 0.05, 0.999]))
    every: list[Criterion] = [Significance(alpha), BIC(), EBIC(), BDeu(), BDeu(10.0)]
    criterion = data.draw(st.sampled_from(every))
    judge = criterion.on(sample_of(table))
    batch = every_candidate(table, own)
    for evidence, verdict in zip(batch, judge.judge(batch), strict=True):
        (most,) = judge.ceiling(evidence.shape, np.array([evidence.gain]))
        if verdict.is_accepted:
            assert verdict.rank <= most + 1e-9 * max(1, abs(most))
        below, above = judge.ceiling(evidence.shape, np.array([evidence.gain / 2, evidence.gain + 1]))
        assert below <= most <= above


@given(st.sampled_from([0.05, 0.5, 0.9]), st.integers(1, 15), st.integers(0, 10))
def test_dependence_is_a_matter_of_the_p_value_alone(alpha: float, n_tests: int, seed: int) -> None:
    table = music_box().joint.sample_table(300, seed=seed)
    batch = [e for e in every_candidate(table, ChordalGraph.empty(8).add([(0, 1), (1, 2)])) if len(e.links) < 4]
    judge = Significance(alpha).on(sample_of(table))
    log_ps = judge.log_p_values(batch)
    assert log_ps is not None
    assert judge.depends(batch, n_tests) == [log_p <= log(alpha / n_tests) for log_p in log_ps]


@pytest.mark.slow
def test_p_values_of_dense_tables_are_the_nominal_ones() -> None:
    table = music_box().joint.sample_table(200_000, seed=1)
    judge = Significance().on(sample_of(table))
    batch = [
        found
        for found in every_candidate(table, ChordalGraph.empty(8))
        if len(found.links) == 1 and found.gain < 1e-3
    ]
    log_ps = judge.log_p_values(batch)
    assert log_ps is not None
    nominal = [log_tail(2 * table.n_rows * found.gain, found.dof).item() for found in batch]
    assert log_ps == pytest.approx(nominal, rel=0.01, abs=0.01)


def test_the_level_is_shared_among_all_hypotheses() -> None:
    table = CategoricalTable.from_rows("ab", [(0, 0), (1, 1)] * 4 + [(0, 1), (1, 0)])
    (found,) = every_candidate(table, ChordalGraph.empty(2))
    for alpha in (0.01, 0.2, 0.5):
        (verdict,) = Significance(alpha).on(sample_of(table, 1)).judge([found])
        (log_p,) = Significance(alpha).on(sample_of(table, 1)).log_p_values([found]) or [0.0]
        assert verdict.is_accepted == (log_p <= log(alpha * 0.9))  # one pair, one context: none
        assert -verdict.rank >= log_tail(2 * 10 * found.gain, 1) - 1e-12


def test_an_exact_joint_has_no_chance_in_it() -> None:
    learned = learn(table_1().joint, criterion=Significance())
    assert learned.trace == learn(table_1().joint, criterion=EntropyDecrement(0.0)).trace
    assert learned.settings["criterion"] == {"name": "Significance", "alpha": 0.05, "seed": 0}
    assert len(learned.links) == 6


@pytest.mark.parametrize("alpha", [0, 1, -0.1, float("nan"), "0.05", True])
def test_alpha_is_a_probability(alpha: object) -> None:
    with pytest.raises(SettingsError, match="alpha must be"):
        Significance(alpha)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="seed must be"):
        Significance(seed=-1)


def test_the_largest_tables_are_shuffled_the_same_way_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    columns = {name: generator.integers(30, size=600).tolist() for name in "xy"}
    table = CategoricalTable.from_columns(columns)
    (found,) = every_candidate(table, ChordalGraph.empty(2))
    (summed,) = NullLaw(NumpyCounter(table), table.n_levels).moments([found])
    monkeypatch.setattr("xordal.statistics.null_law._MOST_CELLS", 10)
    shuffled, again, other = (
        NullLaw(NumpyCounter(table), table.n_levels, seed).moments([found])[0] for seed in (0, 0, 1)
    )
    assert shuffled == again != other
    assert shuffled.mean == pytest.approx(summed.mean, rel=0.02)
    assert summed.variance < shuffled.variance < 2 * summed.variance


@settings(max_examples=some(25), deadline=None)
@given(tables(min_variables=3, max_variables=4), st.integers(1, 30), st.integers(0, 20))
def test_what_is_worked_out_together_changes_no_bit(table: CategoricalTable, at_once: int, spare: int) -> None:
    batch = every_candidate(table, ChordalGraph.empty(table.n_variables))
    whole = NullLaw(NumpyCounter(table), table.n_levels).moments(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xordal.statistics.null_law._AT_ONCE", at_once)
        patch.setattr("xordal.statistics.null_law._AT_ONCE_PLAIN", 1 + spare)
        assert NullLaw(NumpyCounter(table), table.n_levels).moments(batch) == whole


@settings(max_examples=some(25), deadline=None)
@given(tables(min_variables=2, max_variables=4), st.sampled_from([0.5, 1.0, 10.0]))
def test_bdeu_is_that_of_directed_graphs(table: CategoricalTable, ess: float) -> None:
    """Linking a set is ordering it, each variable a child of those before: Heckerman et al. (1995)."""
    from math import lgamma

    def family(child: int, parents: tuple[int, ...]) -> float:
        counts: dict[tuple[int, ...], dict[int, int]] = {}
        for row in table.rows():
            own = counts.setdefault(tuple(row[p] for p in parents), {})
            own[row[child]] = own.get(row[child], 0) + 1
        q = int(np.prod([table.n_levels[p] for p in parents]))
        r = table.n_levels[child]
        return sum(
            lgamma(ess / q)
            - lgamma(ess / q + sum(own.values()))
            + sum(lgamma(ess / (q * r) + n) - lgamma(ess / (q * r)) for n in own.values())
            for own in counts.values()
        )

    judge = BDeu(ess).on(sample_of(table))
    for found in every_candidate(table, ChordalGraph.empty(table.n_variables)):
        order = sorted({v for link in found.links for v in link}, reverse=True)
        expected = sum(family(v, tuple(order[:at])) - family(v, ()) for at, v in enumerate(order))
        assert judge.judge([found])[0].rank == pytest.approx(expected, abs=1e-8)


@settings(max_examples=some(25), deadline=None)
@given(tables(min_variables=2, max_variables=4), st.sampled_from([0.5, 1.0, 3.0]))
def test_bic_and_ebic_by_the_formula(table: CategoricalTable, strength: float) -> None:
    n, columns = table.n_rows, table.n_variables
    for found in every_candidate(table, ChordalGraph.empty(columns)):
        plain = n * found.gain - strength * found.dof * log(n) / 2
        assert BIC(strength).on(sample_of(table)).judge([found])[0].rank == pytest.approx(plain)
        extended = n * found.gain - found.dof * log(n) / 2 - 2 * strength * len(found.links) * log(columns)
        assert EBIC(strength).on(sample_of(table)).judge([found])[0].rank == pytest.approx(extended)


def test_scores_need_rows_and_sense() -> None:
    for criterion in (BIC(), EBIC(), BDeu()):
        with pytest.raises(SettingsError, match="needs rows"):
            learn(table_1().joint, criterion=criterion)
    for wrong in (0, -1, inf, "1", None, True):
        for kind in (BIC, BDeu):
            with pytest.raises(SettingsError, match="must be a positive number"):
                kind(wrong)  # type: ignore[arg-type]
    assert EBIC(0).on(sample_of(CategoricalTable.from_rows("ab", [(0, 1), (1, 0)]))) is not None


@pytest.mark.parametrize("criterion", [Significance(), BIC(), EBIC(), BDeu()])
def test_each_criterion_learns_the_music_box(criterion: Criterion) -> None:
    learned = learn(music_box().joint.sample_table(2000, seed=4), criterion=criterion)
    assert set(music_box().graph.links) <= set(learned.links)
    assert len(learned.links) <= comb(8, 2)
    assert learned.submodels


@given(
    n_rows=st.integers(1, 10**7),
    dof=st.integers(0, 5000),
    n_context=st.integers(0, 3),
    alpha=st.sampled_from([1e-300, 1e-6, 0.05, 0.999]),
    is_odd=st.booleans(),
)
def test_the_least_gain_is_where_the_ceiling_begins(
    n_rows: int, dof: int, n_context: int, alpha: float, *, is_odd: bool
) -> None:
    table = CategoricalTable.from_rows("abcdef", [(0, 1, 0, 1, 0, 1), (1, 0, 1, 1, 0, 0)])
    sample = replace(sample_of(table), n_rows=n_rows)
    judge, shape = Significance(alpha).on(sample), Shape(3, 3, n_context, dof, is_odd=is_odd)
    least = judge.least_gain(shape)
    assert judge.ceiling(shape, np.array([least]))[0] == -inf
    assert judge.ceiling(shape, np.array([least * (1 + 1e-8) + 1e-15]))[0] > -inf


def test_no_gain_is_enough_for_a_hypothesis_that_does_not_exist() -> None:
    table = CategoricalTable.from_rows("abc", [(0, 1, 0), (1, 0, 1)])
    assert Significance().on(sample_of(table)).least_gain(Shape(3, 3, 1, 1)) == inf
