"""Variable sets as flat arrays: members are found alike in narrow and in wide tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xordal.counting.batch import Batch
from xordal.data.packed import PackedColumns
from xordal.types.varsets import varset


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=150),
    st.lists(st.sets(st.integers(0, 149), max_size=5), max_size=12),
    st.integers(0, 8),
)
def test_sets_are_laid_out_alike_however_wide_the_table(
    levels: list[int], chosen: list[set[int]], most: int
) -> None:
    chosen = [{v for v in one if v < len(levels)} for one in chosen]
    n_levels = np.array(levels, dtype=np.int64)
    sets = [varset(one) for one in chosen]
    narrow = Batch.of(sets, n_levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xordal.counting.batch._WIDE", 0)
        wide = Batch.of(sets, n_levels)
    for one, other in zip(narrow, wide, strict=True):
        assert one.dtype == other.dtype and one.tolist() == other.tolist()
    assert narrow.members.tolist() == [v for one in chosen for v in sorted(one)]
    # Columns of more levels than so many are not packed.
    first = np.cumsum([0, *(r if r <= most else 0 for r in levels)])
    bits = PackedColumns(np.empty((int(first[-1]), 0), np.uint64), first, 0)
    fits = [bool(one) and all(levels[v] <= most for v in one) for one in chosen]
    cells = [np.prod([float(levels[v]) for v in one]) for one in chosen]
    expected = [able and size <= 64 for able, size in zip(fits, cells, strict=True)]
    assert wide.fits(bits, 64).tolist() == expected
