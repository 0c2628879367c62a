"""Bounds by which sets that may need fill-in are left out before anything is counted for them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings

from tests.examples import some
from tests.strategies import tables
from xordal import CategoricalTable
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.plain import CountingOracle
from xordal.pi.independence import Independence
from xordal.scanning.trees import least_beyond_pairs
from xordal.types.varsets import VarSet, varset


@settings(max_examples=some(150))
@given(tables(max_variables=6))
def test_no_two_variables_share_less_beyond_their_pair_than_the_bound_says(table: CategoricalTable) -> None:
    oracle = CountingOracle(NumpyCounter(table), table.n_levels)
    judge, n = Independence(oracle), table.n_variables
    pairs = oracle.extensions([VarSet(1 << v) for v in range(n)])
    for size in range(3, min(n, 5) + 1):
        sets = np.array(list(combinations(range(n), size)), dtype=np.int32)
        masks = [varset(chosen) for chosen in sets.tolist()]
        shared = np.array([judge.total_correlation(mask) for mask in masks])
        least = [
            min(
                judge.information(1 << x, 1 << y, mask & ~(1 << x | 1 << y)) - judge.information(1 << x, 1 << y)
                for x, y in combinations(chosen, 2)
            )
            for chosen, mask in zip(sets.tolist(), masks, strict=True)
        ]
        bound = least_beyond_pairs(sets, shared, pairs)
        assert (bound >= np.array(least) - 1e-9).all()
        if size == 3:
            assert np.allclose(bound, least, atol=1e-9)
