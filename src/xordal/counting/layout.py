"""Packed columns in the order that scans multiply them: eight variables of equally many levels side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.counting._cells import Cells, Layout, ones_of
from xordal.counting._llvm import LANES
from xordal.data.packed import PackedColumns


def lay_out(packed: PackedColumns, n_levels: Sequence[int], variables: Sequence[int]) -> tuple[Layout, Cells]:
    """Return the blocks of some variables, and all rows as the one cell of the empty prefix.

    The most common level of each variable gets no plane.
    """
    chosen, of_each = np.array(variables, dtype=np.int64), np.array(n_levels, dtype=np.int64)
    lanes = np.concatenate([_in_blocks(chosen[of_each[chosen] == r]) for r in [*np.unique(of_each[chosen]), 0]])
    levels = of_each[lanes[:, 0]]
    plane, level = np.cumsum(levels - 1) - (levels - 1), np.cumsum(levels) - levels
    block_of, lane_of = (np.full(len(n_levels), -1, dtype=np.int64) for _ in range(2))
    place, lane = np.nonzero(lanes >= 0)
    block_of[lanes[place, lane]], lane_of[lanes[place, lane]] = place, lane
    words, ones, inverse = _fill(packed, lanes, levels, (plane, level))
    share = ones / packed.n_rows
    spread = np.sqrt(share * (1 - share))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    group = np.unique(levels, return_inverse=True)[1].reshape(-1).astype(np.int64)
    layout = Layout(
        levels, plane, level, group, lanes, lanes.max(axis=1), block_of, lane_of, inverse, share, scale
    )
    return layout, _all_rows(words, ones.astype(np.int32), packed)


def _in_blocks(variables: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return variables in rows of eight, the last of them filled up with -1."""
    blocks = np.full((-(-len(variables) // LANES), LANES), -1, dtype=np.int64)
    blocks.reshape(-1)[: len(variables)] = variables
    return blocks


def _fill(
    packed: PackedColumns,
    lanes: NDArray[np.int64],
    levels: NDArray[np.int64],
    starts: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the words of all planes, the ones of all slots and the inverse shares of all levels.

    All variables of one number of levels at a time, so that many columns take no longer than their bits.
    """
    plane, level = starts
    n_words, counted = packed.planes.shape[1], ones_of(packed.planes)
    words = np.zeros((int((levels - 1).sum()), n_words, LANES), dtype=np.uint64)
    ones = np.zeros((len(words), LANES), dtype=np.int64)
    inverse = np.zeros((int(levels.sum()), LANES))
    for r in np.unique(levels).tolist():
        places = np.flatnonzero(levels == r)
        number, lane = np.nonzero(lanes[places] >= 0)
        block = places[number]
        chosen = lanes[block, lane]
        counts = counted[packed.first[chosen][:, None] + np.arange(r)]
        rarest_first = np.argsort(counts, axis=1, kind="stable")
        for a in range(r):
            value = rarest_first[:, a]
            count = counts[np.arange(len(chosen)), value]
            inverse[level[block] + a, lane] = np.divide(
                packed.n_rows, count, out=np.zeros(len(count)), where=count > 0
            )
            if a < r - 1:
                words[plane[block] + a, :, lane] = packed.planes[packed.first[chosen] + value]
                ones[plane[block] + a, lane] = count
    return words.reshape(-1), ones.reshape(-1), inverse.reshape(-1)


def _all_rows(words: NDArray[np.uint64], ones: NDArray[np.int32], packed: PackedColumns) -> Cells:
    n_words = packed.planes.shape[1]
    valid = np.full(n_words, ~np.uint64(0))
    if packed.n_rows % 64:
        valid[-1] = np.uint64((1 << packed.n_rows % 64) - 1)
    zero = np.zeros(1, dtype=np.int64)
    return Cells(
        words, valid, zero, zero.copy(), np.array([n_words]), np.array([packed.n_rows]), ones[None], np.ones(1)
    )
