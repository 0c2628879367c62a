"""Sets that wait: best first, and only as long as they are of interest."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xordal.search.sources.bounded import BoundedSets, are_apart
from xordal.types.varsets import VarSet, members, varset


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1))
def test_apart_means_no_two_are_equal(labels: list[list[int]]) -> None:
    assert are_apart(np.array(labels)).tolist() == [len(set(row)) == 4 for row in labels]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.integers(1, 7), st.floats(-5, 5))
def test_sets_are_taken_best_first_and_down_to_a_rank(ranks: list[float], most: int, at_least: float) -> None:
    sets = np.arange(len(ranks), dtype=np.int32)[:, None]
    waiting = BoundedSets(sets, np.array(ranks))
    taken: list[int] = []
    while waiting.upper >= at_least:
        taken += [members(s)[0] for s in waiting.take(most, at_least, np.arange(len(ranks)))]
    assert sorted(taken) == [v for v, rank in enumerate(ranks) if rank >= at_least]
    assert [ranks[v] for v in taken] == sorted((ranks[v] for v in taken), reverse=True)


def test_only_sets_that_were_found_apart_are_left_out_when_they_are_connected() -> None:
    sets, upper, labels = (
        np.array([[0, 1], [1, 2]], dtype=np.int32),
        np.array([2.0, 1.0]),
        np.array([0, 0, 2, 2]),
    )
    anywhere, apart = BoundedSets(sets, upper), BoundedSets(sets, upper, are_apart=True)
    assert anywhere.take(9, 0.0, labels) == [varset((0, 1)), varset((1, 2))]
    assert apart.take(9, 0.0, labels) == [varset((1, 2))]
    extended = BoundedSets(sets[:, :1], upper, [VarSet(0b1000)], np.zeros(2, np.int64), are_apart=True)
    assert extended.take(9, 0.0, np.array([0, 3, 2, 3])) == [varset((0, 3))]
