"""The library engine against the reference: whole traces, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.examples import some
from tests.oracle import plain
from tests.oracle.plain import plain_search
from tests.strategies import tables
from xordal import BIC, EBIC, BDeu, CategoricalTable, EntropyDecrement, Significance, learn
from xordal.search.passes import passes
from xordal.search.schedule import Schedule
from xordal.statistics.criterion import Criterion, Evidence, Sample, Shape, Verdict, lowest_accepted
from xordal.types.choices import ScheduleName
from xordal.types.learned import Learned
from xordal.types.trace import Trace, links_after

SCHEDULES: list[ScheduleName] = ["printed", "as_run", "straightforward", "single"]
XOR = [(a, b, a ^ b, 0) for a in (0, 1) for b in (0, 1)]


def assert_same_trace(fast: Learned, reference: Learned) -> None:
    for ours, theirs in zip(fast.trace, reference.trace, strict=True):
        assert ours.gain == pytest.approx(theirs.gain, rel=0, abs=1e-12)
        assert ours == replace(theirs, gain=ours.gain)
    assert fast.links == reference.links
    assert fast.cliques == reference.cliques
    assert fast.run.graphs_tested == reference.run.graphs_tested
    assert fast.run.candidates_scored <= reference.run.candidates_scored


def compare(table: CategoricalTable, k: int, delta_h: float, schedule: ScheduleName) -> None:
    criterion = EntropyDecrement(delta_h)
    fast = learn(table, max_links=k, criterion=criterion, schedule=schedule)
    reference = learn(
        table, max_links=k, criterion=criterion, schedule=schedule, engine="reference", find_groups=False
    )
    assert_same_trace(fast, reference)


thresholds = st.sampled_from([0.0, 0.001, 0.004, 0.02, 0.1, 0.3])


@settings(max_examples=some(200))
@example(CategoricalTable.from_rows("abcd", XOR), 3, 0.0, "printed")
@given(tables(max_variables=5), st.integers(1, 6), thresholds, st.sampled_from(SCHEDULES))
def test_same_trace_on_small_tables(
    table: CategoricalTable, k: int, delta_h: float, schedule: ScheduleName
) -> None:
    compare(table, k, delta_h, schedule)


@settings(max_examples=some(60))
@given(tables(max_variables=5), st.integers(1, 6), st.sampled_from(SCHEDULES), st.data())
def test_same_trace_when_the_threshold_is_a_gain(
    table: CategoricalTable, k: int, schedule: ScheduleName, data: st.DataObject
) -> None:
    """Rounding must not decide whether a gain that equals the threshold is above it."""
    trace = learn(table, max_links=k, criterion=EntropyDecrement(0.0), schedule=schedule).trace
    if trace:
        compare(table, k, data.draw(st.sampled_from(trace)).gain, schedule)


@pytest.mark.slow
@settings(max_examples=some(40))
@given(tables(min_variables=6, max_variables=7), st.integers(1, 4), thresholds, st.sampled_from(SCHEDULES))
def test_same_trace_on_larger_tables(
    table: CategoricalTable, k: int, delta_h: float, schedule: ScheduleName
) -> None:
    compare(table, k, delta_h, schedule)


@pytest.mark.slow
@settings(max_examples=some(12))
@given(tables(min_variables=6, max_variables=7), st.integers(5, 6), st.sampled_from([0.02, 0.1, 0.3]))
def test_same_trace_looking_far_ahead(table: CategoricalTable, k: int, delta_h: float) -> None:
    compare(table, k, delta_h, "as_run")


@settings(max_examples=some(60))
@given(tables(max_variables=5), st.randoms(use_true_random=False))
def test_gains_do_not_depend_on_rows_levels_or_columns(table: CategoricalTable, random: object) -> None:
    """Bit for bit for rows and levels; of several equal link sets another may come first in other columns."""
    shuffle = random.shuffle  # type: ignore[attr-defined]
    rows = table.rows()
    shuffle(rows)
    relabelled = [tuple(f"level {7 * value % 5}" for value in row) for row in rows]
    learned = learn(table, find_rules=False)
    assert learn(CategoricalTable.from_rows(table.names, relabelled), find_rules=False).trace == learned.trace
    turned = learn(CategoricalTable.from_rows(table.names[::-1], [row[::-1] for row in rows]), find_rules=False)
    if learned.trace:
        assert turned.trace[0].gain == pytest.approx(learned.trace[0].gain, rel=0, abs=1e-12)


@settings(max_examples=some(100))
@given(tables(max_variables=5), st.integers(2, 4))
def test_max_variables_means_all_lookaheads_of_small_sets(table: CategoricalTable, m: int) -> None:
    """As testing each set of at most m variables in every pass; where that is all of them, as with k alone."""
    learned = learn(table, max_variables=m, find_rules=False)
    schedule = Schedule("printed", comb(m, 2))
    plain = plain_search(table, schedule, Significance(), max_variables=m, fill_in=True, prune=True)
    assert (learned.trace, learned.run.graphs_tested) == (plain.trace, plain.graphs_tested)
    if m >= table.n_variables:
        wide = learn(table, max_links=comb(m, 2), find_rules=False)
        assert learned.trace == wide.trace
    for entry in learned.trace:
        assert len({v for link in set(entry.links) - set(entry.fill_in) for v in link}) <= m
    assert learned.settings["max_links"] == comb(m, 2)


@settings(max_examples=some(60))
@given(tables(max_variables=5), st.integers(1, 4))
def test_a_trace_replays_to_its_graph(table: CategoricalTable, k: int) -> None:
    learned = learn(table, max_links=k, find_rules=False)
    assert links_after(learned.trace) == learned.links
    pairs = {pair for clique in learned.cliques for pair in combinations(clique, 2)}
    assert pairs == set(learned.links)
    added = [entry for entry in learned.trace if entry.action == "add"]
    assert all(entry.gain > 0 and entry.dof > 0 for entry in added)


@dataclass(frozen=True)
class PerParameter:
    """Ranks by gain per degree of freedom, so that shapes compete otherwise than by gain."""

    least: float
    is_score: ClassVar[bool] = False

    def on(self, sample: Sample) -> PerParameter:
        return self

    def judge(self, batch: Sequence[Evidence]) -> list[Verdict]:
        ranks = [found.gain / max(found.dof, 1) - 0.01 * len(found.links) for found in batch]
        return [Verdict(rank, rank > self.least) for rank in ranks]

    def ceiling(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        ranks = gains / max(shape.dof, 1) - 0.01 * shape.n_links
        return np.where(ranks > self.least, ranks, -np.inf)

    def highest(self, batch: Sequence[Evidence]) -> list[float]:
        return [verdict.rank if verdict.is_accepted else -np.inf for verdict in self.judge(batch)]

    def least_gain(self, shape: Shape) -> float:
        return lowest_accepted(self.ceiling, shape)

    def tolerance(self, best: float) -> float:
        return 1e-9

    def log_p_values(self, batch: Sequence[Evidence]) -> None:
        return None

    def depends(self, batch: Sequence[Evidence], n_tests: int | None = None) -> list[bool]:
        return [found.gain > 0.01 for found in batch]

    def to_json(self) -> dict[str, object]:
        return {"name": "PerParameter"}


criteria = st.one_of(
    st.builds(EntropyDecrement, thresholds),
    st.builds(PerParameter, st.sampled_from([-0.02, 0.0, 0.004, 0.03])),
    st.builds(Significance, st.sampled_from([0.001, 0.05, 0.5])),
    st.builds(BIC, st.sampled_from([0.2, 1.0])),
    st.just(EBIC()),
    st.just(BDeu()),
)


def compare_with_plain(
    table: CategoricalTable,
    schedule: Schedule,
    criterion: Criterion,
    max_variables: int | None,
    prune: bool = False,
    fill_in: bool = False,
) -> Trace:
    fast = learn(
        table,
        find_rules=False,
        max_links=schedule.max_links if max_variables is None else None,
        max_variables=max_variables,
        criterion=criterion,
        schedule=schedule.name,
        prune=prune,
        fill_in=fill_in,
    )
    plain = plain_search(table, schedule, criterion, max_variables=max_variables, prune=prune, fill_in=fill_in)
    assert fast.trace == plain.trace
    assert fast.run.graphs_tested == plain.graphs_tested
    assert fast.run.candidates_scored <= plain.candidates_scored
    return fast.trace


@settings(max_examples=some(200))
@given(tables(max_variables=7), st.integers(1, 6), criteria, st.sampled_from(SCHEDULES))
def test_same_trace_as_testing_everything_in_each_pass(
    table: CategoricalTable, k: int, criterion: Criterion, schedule: ScheduleName
) -> None:
    compare_with_plain(table, Schedule(schedule, k), criterion, None)


@settings(max_examples=some(150))
@given(tables(max_variables=6), st.integers(1, 4), criteria)
def test_same_trace_forward_and_backward(table: CategoricalTable, k: int, criterion: Criterion) -> None:
    compare_with_plain(table, Schedule("printed", k), criterion, None, prune=True)


@settings(max_examples=some(250))
@given(tables(max_variables=7), st.integers(1, 6), criteria, st.booleans())
def test_same_trace_with_fill_in(table: CategoricalTable, k: int, criterion: Criterion, prune: bool) -> None:
    compare_with_plain(table, Schedule("printed", k), criterion, None, prune, fill_in=True)


def test_same_trace_where_two_sets_come_to_the_same_links() -> None:
    """What one set fills in is the other's own link: the first fill-in is taken."""
    compare_with_plain(woven(9, 500, 198850393), Schedule("printed", 2), BIC(0.2), None, fill_in=True)


def test_same_trace_where_a_score_bounds_nothing() -> None:
    """BDeu knows no gain that is too small, so sets that show less than their pairs are admitted too."""
    rows = [(1, 3, 0, 0, 2), (0, 1, 2, 1, 1), (0, 2, 2, 1, 2), (0, 1, 1, 0, 2), (1, 0, 0, 1, 0)]
    table = CategoricalTable.from_rows([f"v{v}" for v in range(5)], rows)
    trace = compare_with_plain(table, Schedule("printed", 3), BDeu(), None, fill_in=True)
    assert any(entry.fill_in for entry in trace)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", [BIC(0.3), Significance(0.3), EntropyDecrement(0.01)], ids=str)
def test_same_trace_with_fill_in_on_networks(criterion: Criterion) -> None:
    """Gates in rings: sets are filled in, and again after others were."""
    n_filled = 0
    for seed in range(6):
        table, schedule = woven(11, 3000, seed), Schedule("printed", 3)
        trace = compare_with_plain(table, schedule, criterion, None, prune=True, fill_in=True)
        n_filled += sum(bool(entry.fill_in) for entry in trace)
    assert n_filled >= 3


SPARSE = [(EntropyDecrement(0.01), 100, seed) for seed in (4, 9)]
SPARSE += [(EntropyDecrement(0.01), 400, seed) for seed in (1, 3, 10, 11)]


@pytest.mark.parametrize(("criterion", "n_rows", "seed"), [*SPARSE, (BIC(0.3), 100, 8)], ids=str)
def test_same_trace_where_it_matters_which_sets_are_admitted(
    criterion: Criterion, n_rows: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few rows: many sets would be accepted with fill-in that their own variables do not ask for."""
    table, schedule = woven(8, n_rows, seed), Schedule("printed", 3)
    trace = compare_with_plain(table, schedule, criterion, None, fill_in=True)
    monkeypatch.setattr(plain, "is_admitted", lambda problem, graph, variables: True)
    assert plain_search(table, schedule, criterion, fill_in=True).trace != trace


def test_links_that_became_idle_are_taken_out() -> None:
    """Taking out is part of the trace, for scores and for tests."""
    for criterion, seed in ((BIC(), 4), (Significance(0.3), 41)):
        table = planted(9, 400, seed)
        trace = compare_with_plain(table, Schedule("printed", 3), criterion, None, prune=True)
        removed = [entry for entry in trace if entry.action == "remove"]
        assert removed
        assert all(entry.gain < 0 and entry.dof < 0 and len(entry.links) == 1 for entry in removed)
        assert not set(links_after(trace)) & {link for entry in removed for link in entry.links}
        assert learn(table, criterion=criterion, fill_in=False, prune=False).links != links_after(trace)
        every = passes(trace, Schedule("printed", 3), table.n_variables)
        again = learn(table, criterion=criterion, fill_in=False, local_search=False)
        assert sum(one.steps for one in every) == again.run.graphs_tested


@pytest.mark.slow
@settings(max_examples=some(100))
@given(tables(min_variables=7, max_variables=9), st.integers(2, 4), criteria)
def test_same_trace_with_many_parts(table: CategoricalTable, m: int, criterion: Criterion) -> None:
    compare_with_plain(table, Schedule("printed", comb(m, 2)), criterion, m)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_same_trace_on_a_large_network(seed: int) -> None:
    """Hidden triples, chains, copies and noise; the graph grows large parts that change often."""
    table = planted(22, 300, seed)
    compare_with_plain(table, Schedule("printed", 3), EntropyDecrement(0.02), None)


def planted(n_variables: int, n_rows: int, seed: int) -> CategoricalTable:
    generator = np.random.default_rng(seed)
    columns: list[NDArray[np.int64]] = []
    for _ in range(n_variables):
        noise = generator.integers(0, 2, n_rows)
        n_parents = min(len(columns), int(generator.integers(0, 3)))
        parents = generator.choice(len(columns), size=n_parents, replace=False)
        total = sum((columns[p] for p in parents), start=np.zeros(n_rows, dtype=np.int64)) % 2
        columns.append(np.where(generator.random(n_rows) < 0.7, total, noise) if n_parents else noise)
    return CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})


def woven(n_variables: int, n_rows: int, seed: int) -> CategoricalTable:
    """Noisy gates of two inputs each, so many on so few inputs that they lie in rings."""
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, 2, n_rows) for _ in range(5)]
    while len(columns) < n_variables:
        a, b = (columns[p] for p in generator.choice(5, size=2, replace=False))
        total = a ^ b if generator.random() < 0.5 else a & b
        columns.append(np.where(generator.random(n_rows) < 0.9, total, 1 - total))
    return CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})
