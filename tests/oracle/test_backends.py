"""Whole traces do not depend on who counts, on how many threads, or on how many candidates can wait."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.oracle.plain import plain_search
from tests.oracle.test_engines import criteria, planted
from tests.strategies import tables
from xordal import CategoricalTable, EntropyDecrement, Limits, Significance, learn
from xordal.search.schedule import Schedule
from xordal.search.sources import scanned
from xordal.statistics.criterion import Criterion
from xordal.types.learned import Learned

WEIGHTS = [1, 2, 9, 10**6, 10**9]


@st.composite
def weighted_tables(draw: st.DrawFn) -> CategoricalTable:
    """Tables with ties and sums, half of them weighted; sometimes a column of many levels comes last."""
    table = draw(tables(max_variables=6))
    if draw(st.booleans()):
        many = draw(st.sampled_from([17, 300]))
        column = np.array(draw(st.lists(st.integers(0, many - 1), min_size=24, max_size=24)), dtype=np.int32)
        n_rows = table.codes.shape[1]
        codes = np.vstack([table.codes, np.resize(column, n_rows)]).astype(np.int32)
        names, levels = (*table.names, "many"), (*table.levels, tuple(range(many)))
        table = CategoricalTable(names, levels, codes)
    if draw(st.booleans()):
        most = draw(st.sampled_from(WEIGHTS))
        generator = np.random.default_rng(draw(st.integers(0, 2**32)))
        weights = generator.integers(1, most, size=(table.codes.shape[1],), endpoint=True)
        table = CategoricalTable(table.names, table.levels, table.codes, weights)
    return table


def learned_by(
    backend: str, table: CategoricalTable, k: int, criterion: Criterion, threads: int = 1
) -> Learned:
    """Learn with a backend of our choice."""
    return learn(
        table,
        find_rules=False,
        max_links=k,
        criterion=criterion,
        fill_in=True,
        prune=True,
        local_search=False,
        backend=backend,
        limits=Limits(threads=threads),
    )


@settings(max_examples=some(100))
@given(weighted_tables(), st.integers(1, 4), criteria)
def test_same_trace_from_every_backend(table: CategoricalTable, k: int, criterion: Criterion) -> None:
    plain = plain_search(table, Schedule("printed", k), criterion, fill_in=True, prune=True)
    numpy = learned_by("numpy", table, k, criterion)
    assert numpy.trace == plain.trace
    for threads in (1, 2):
        numba = learned_by("numba", table, k, criterion, threads)
        assert numba.trace == plain.trace
        assert numba.run.graphs_tested == plain.graphs_tested
        assert numba.submodels == numpy.submodels


@pytest.mark.slow
@pytest.mark.parametrize("criterion", [EntropyDecrement(0.05), None], ids=["threshold", "significance"])
def test_same_trace_of_many_columns(criterion: Criterion | None) -> None:
    """So many sets that threads share them out."""
    table = planted(40, 700, seed=4)
    criterion = criterion or Significance()
    numpy = learned_by("numpy", table, 3, criterion)
    for threads in (1, 2, 5):
        assert learned_by("numba", table, 3, criterion, threads).trace == numpy.trace


@settings(max_examples=some(60))
@given(tables(min_variables=3, max_variables=7), st.integers(1, 3), criteria, st.integers(1, 4))
def test_few_free_sets_can_wait(table: CategoricalTable, k: int, criterion: Criterion, most: int) -> None:
    """What does not fit is scanned for again; ties with the last that fits are not lost."""
    trace = learn(table, max_links=k, criterion=criterion, find_rules=False).trace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanned, "MOST_WAITING", most)
        assert learn(table, max_links=k, criterion=criterion, find_rules=False).trace == trace
