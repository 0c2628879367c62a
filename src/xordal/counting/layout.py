"""Packed columns in the order that scans multiply them: eight variables of equally many levels side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.counting._bits import LANES
from xordal.counting._cells import Cells, Layout
from xordal.data.packed import PackedColumns


def lay_out(packed: PackedColumns, n_levels: Sequence[int], variables: Sequence[int]) -> tuple[Layout, Cells]:
    """Return the blocks of some variables, and all rows as the one cell of the empty prefix.

    The most common level of each variable gets no plane.
    """
    blocks = [
        chosen[at : at + LANES]
        for r in sorted({n_levels[v] for v in variables})
        for chosen in ([v for v in variables if n_levels[v] == r],)
        for at in range(0, len(chosen), LANES)
    ]
    levels = np.array([n_levels[block[0]] for block in blocks], dtype=np.int64)
    plane, level = np.cumsum(levels - 1) - (levels - 1), np.cumsum(levels) - levels
    lanes = np.full((len(blocks), LANES), -1, dtype=np.int64)
    block_of, lane_of = (np.full(len(n_levels), -1, dtype=np.int64) for _ in range(2))
    for place, block in enumerate(blocks):
        lanes[place, : len(block)] = block
        block_of[block], lane_of[block] = place, np.arange(len(block))
    words, ones, inverse = _fill(packed, blocks, levels, (plane, level))
    share = ones / packed.n_rows
    spread = np.sqrt(share * (1 - share))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    group = np.unique(levels, return_inverse=True)[1].reshape(-1).astype(np.int64)
    layout = Layout(
        levels, plane, level, group, lanes, lanes.max(axis=1), block_of, lane_of, inverse, share, scale
    )
    return layout, _all_rows(words, ones.astype(np.int32), packed)


def _fill(
    packed: PackedColumns,
    blocks: Sequence[Sequence[int]],
    levels: NDArray[np.int64],
    starts: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the words of all planes, the ones of all slots and the inverse shares of all levels."""
    plane, level = starts
    n_words = packed.planes.shape[1]
    words = np.zeros((int((levels - 1).sum()), n_words, LANES), dtype=np.uint64)
    ones = np.zeros((len(words), LANES), dtype=np.int64)
    inverse = np.zeros((int(levels.sum()), LANES))
    for place, block in enumerate(blocks):
        for lane, v in enumerate(block):
            bits = packed.of(v)
            counts = _ones(bits)
            rare = np.argsort(counts, kind="stable")
            for a, value in enumerate(rare):
                if counts[value]:
                    inverse[level[place] + a, lane] = packed.n_rows / counts[value]
                if a < len(rare) - 1:
                    words[plane[place] + a, :, lane] = bits[value]
                    ones[plane[place] + a, lane] = counts[value]
    return words.reshape(-1), ones.reshape(-1), inverse.reshape(-1)


def _ones(planes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of ones of each plane."""
    return np.array([np.unpackbits(plane.view(np.uint8)).sum(dtype=np.int64) for plane in planes])


def _all_rows(words: NDArray[np.uint64], ones: NDArray[np.int32], packed: PackedColumns) -> Cells:
    n_words = packed.planes.shape[1]
    valid = np.full(n_words, ~np.uint64(0))
    if packed.n_rows % 64:
        valid[-1] = np.uint64((1 << packed.n_rows % 64) - 1)
    zero = np.zeros(1, dtype=np.int64)
    return Cells(
        words, valid, zero, zero.copy(), np.array([n_words]), np.array([packed.n_rows]), ones[None], np.ones(1)
    )
