"""Inference by brute force: the whole joint of a small network as one array, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from xordal.model.network import DecomposableMarkovNetwork

Array = NDArray[np.float64]


def whole_joint(network: DecomposableMarkovNetwork) -> Array:
    """Return P(all variables), one axis each, cell by cell from the counts of cliques and separators."""
    joint = np.zeros(network.n_levels)
    for cell in product(*map(range, network.n_levels)):
        value = 1.0
        for sign, table in network.factors:
            inside = [v for v in range(len(cell)) if table.variables >> v & 1]
            counts = {
                tuple(row): count
                for row, count in zip(table.counted.cells.tolist(), table.counted.counts.tolist(), strict=True)
            }
            share = counts.get(tuple(cell[v] for v in inside), 0) + table.prior_rows / table.n_cells
            share /= table.n_rows + table.prior_rows
            if share == 0:
                value = 0.0
                break
            value *= share**sign
        joint[cell] = value
    return joint


def weighted(joint: Array, codes: Mapping[int, int], weights: Mapping[int, Array]) -> Array:
    """Return P(all variables, evidence)."""
    out = joint.copy()
    for v, code in codes.items():
        mask = np.zeros(joint.shape[v])
        mask[code] = 1.0
        out *= mask.reshape([-1 if u == v else 1 for u in range(joint.ndim)])
    for v, weight in weights.items():
        out *= weight.reshape([-1 if u == v else 1 for u in range(joint.ndim)])
    return out


def margin(joint: Array, asked: tuple[int, ...]) -> Array:
    """Return the sum over all other variables; asked ones in increasing order."""
    return np.asarray(joint.sum(axis=tuple(v for v in range(joint.ndim) if v not in asked)))
