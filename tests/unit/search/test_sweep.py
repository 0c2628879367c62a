"""What helps scans to become candidates: numbers for kinds of sets, labels for components."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs
from xordal.graph.chordal import ChordalGraph
from xordal.search import sweep
from xordal.search.streams import are_apart, labels_of


@settings(max_examples=some(60))
@given(
    order=st.integers(1, 5),
    levels=st.lists(st.sampled_from([2, 3, 4, 7, 300, 40_000]), min_size=1, max_size=6, unique=True),
    n_rows=st.integers(1, 600),
    most_codes=st.sampled_from([1, 1 << 20]),
    seed=st.integers(0, 1000),
)
def test_kinds_are_the_distinct_rows(
    order: int, levels: list[int], n_rows: int, most_codes: int, seed: int
) -> None:
    rows = np.sort(np.random.default_rng(seed).choice(levels, size=(n_rows, order)), axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "_MOST_CODES", most_codes)
        kinds, kind = sweep._kinds(rows)
    assert sorted(kinds) == sorted({tuple(row) for row in rows.tolist()})
    assert [kinds[number] for number in kind.tolist()] == [tuple(row) for row in rows.tolist()]


@given(chordal_graphs(min_vertices=2, max_vertices=10), st.data())
def test_labels_follow_the_graph(graph: ChordalGraph, data: st.DataObject) -> None:
    labels = labels_of(graph.components)
    for _ in range(3):
        able = [link for link in graph.missing_links((1 << graph.n_vertices) - 1) if graph.may_add(link)]
        if not able:
            return
        link = data.draw(st.sampled_from(able))
        for after in (graph.extended((link,)), graph.add([link])):
            known = labels_of(after.components, graph.components, labels)
            assert known.tolist() == labels_of(after.components).tolist()
        graph, labels = after, known


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1))
def test_apart_means_no_two_are_equal(labels: list[list[int]]) -> None:
    assert are_apart(np.array(labels)).tolist() == [len(set(row)) == 4 for row in labels]
