"""Shapes: sets are told apart by their levels alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from xordal import EntropyDecrement
from xordal.search.shapes import Shapes


@settings(max_examples=some(60))
@given(
    size=st.integers(1, 5),
    levels=st.lists(st.sampled_from([2, 3, 4, 7, 300, 40_000]), min_size=1, max_size=6),
    n_sets=st.integers(1, 600),
    seed=st.integers(0, 1000),
)
def test_kinds_are_the_distinct_combinations_of_levels(
    size: int, levels: list[int], n_sets: int, seed: int
) -> None:
    sets = np.random.default_rng(seed).integers(len(levels), size=(n_sets, size), dtype=np.int32)
    combinations, of_set = Shapes(EntropyDecrement(), tuple(levels)).levels(sets)
    rows = [tuple(sorted(levels[v] for v in chosen)) for chosen in sets.tolist()]
    assert sorted(combinations) == sorted(set(rows))
    assert [combinations[number] for number in of_set.tolist()] == rows
