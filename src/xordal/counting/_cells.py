"""Kernels that divide rows by the cells of a prefix: arrays in, arrays out.

Glossary. A *block* is up to eight variables of equally many levels, side by side in *lanes*; a block of r
levels has r - 1 *planes* (the most common level has none) of words ``[t, lane]``. A *slot* is a lane of a
plane. A *cell* is a cell of the table over the prefix of a set, all but its last two variables; it holds the
words of its own rows, pushed together. In a cell, pairs of slots are counted by ``product``; levels without a
plane follow by subtraction, and so does the last cell of each parent cell, from the pairs of the parent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xordal.counting._bits import HAS_EXTRACT, extract, popcount, product
from xordal.counting._jit import kernel
from xordal.counting._llvm import LANES


class Layout(NamedTuple):
    """How the variables to be scanned lie in blocks; all blocks of equally many levels follow each other."""

    levels: Any  # (blocks,) number of levels
    plane: Any  # (blocks,) where its planes begin
    level: Any  # (blocks,) where its levels begin, the one without a plane last
    group: Any  # (blocks,) number of its class of levels
    variables: Any  # (blocks, lanes) -1 where a lane is empty
    highest: Any  # (blocks,) highest variable
    block_of: Any  # (variables,)
    lane_of: Any  # (variables,)
    inverse: Any  # (levels x lanes,) rows / rows with the level; 0 where there are none
    share: Any  # (slots,) share of the rows
    scale: Any  # (slots,) 1 / standard deviation; 0 where there is none


class Cells(NamedTuple):
    """Cells of a prefix: the words of block b are ``words[start + b width lanes :]``."""

    words: Any
    valid: Any  # ones where there are rows, words begin at ``begin``
    start: Any
    begin: Any
    width: Any  # (cells,) words per lane
    rows: Any  # (cells,)
    ones: Any  # (cells, slots) rows with the slot
    weight: Any  # (cells,) product of rows / rows with the level, over the prefix


class Margins(NamedTuple):
    """Of all cells of the prefix, those that follow by subtraction too."""

    rows: Any
    ones: Any
    weight: Any


@kernel
def compact(source: Any, n_words: Any, mask: Any, target: Any, width: Any) -> None:
    """Copy the rows of the mask, pushed together, of one plane of a block."""
    if not HAS_EXTRACT:
        for t in range(n_words):
            for lane in range(LANES):
                target[t * LANES + lane] = source[t * LANES + lane] & mask[t]
        return
    for x in range(width * LANES):
        target[x] = 0
    place: Any = 0
    for t in range(n_words):
        taken = mask[t]
        length = np.int64(popcount(taken))
        q = (place >> 6) * LANES
        r = place & 63
        for lane in range(LANES):
            word = extract(source[t * LANES + lane], taken)
            target[q + lane] |= word << np.uint64(r)
            if r + length > 64:
                target[q + LANES + lane] = word >> np.uint64(64 - r)
        place += length


@kernel
def count_ones(words: Any, width: int, ones: Any) -> None:
    """Count the ones of each lane of a plane."""
    for lane in range(LANES):
        ones[lane] = 0
    for t in range(width):
        for lane in range(LANES):
            ones[lane] += np.int32(popcount(words[t * LANES + lane]))


@kernel
def ones_of(planes: Any) -> Any:
    """Return the number of ones of each plane of a table, shape (planes, words)."""
    counts = np.zeros(len(planes), np.int64)
    for plane in range(len(planes)):
        for t in range(planes.shape[1]):
            counts[plane] += np.int64(popcount(planes[plane, t]))
    return counts


@kernel
def first_rows(n: int) -> Any:
    """Return a word with the lowest n bits set; none below 0, all above 63."""
    if n >= 64:
        return ~np.uint64(0)
    return (np.uint64(1) << np.uint64(max(n, 0))) - np.uint64(1)


@kernel
def split(parents: Cells, masks: Any, n_parts: int, keep: Any) -> Cells:
    """Return the rows of each parent p with each mask a, ``masks[begin n_parts + a width :]``, as a cell."""
    n_cells = len(parents.rows) * n_parts
    rows, width = np.zeros(n_cells, np.int64), np.zeros(n_cells, np.int64)
    start, begin = np.zeros(n_cells, np.int64), np.zeros(n_cells, np.int64)
    weight = np.ones(n_cells)
    size = 0
    for cell in range(n_cells):
        p = cell // n_parts
        first = parents.begin[p] * n_parts + cell % n_parts * parents.width[p]
        for t in range(parents.width[p]):
            rows[cell] += np.int64(popcount(masks[first + t]))
        width[cell] = (rows[cell] + 63) >> 6 if HAS_EXTRACT else parents.width[p]
        start[cell], begin[cell] = size * len(keep) * LANES, size
        weight[cell] = parents.weight[p]
        size += width[cell]
    words, valid = np.empty(size * len(keep) * LANES, np.uint64), np.empty(size, np.uint64)
    ones = np.zeros((n_cells, len(keep) * LANES), np.int32)
    for cell in range(n_cells):
        p = cell // n_parts
        first = parents.begin[p] * n_parts + cell % n_parts * parents.width[p]
        mask = masks[first : first + parents.width[p]]
        old, new = parents.width[p] * LANES, width[cell] * LANES
        for plane in range(len(keep)):
            if keep[plane]:
                target = words[start[cell] + plane * new : start[cell] + (plane + 1) * new]
                source = parents.words[parents.start[p] + plane * old : parents.start[p] + (plane + 1) * old]
                compact(source, parents.width[p], mask, target, width[cell])
                count_ones(target, width[cell], ones[cell, plane * LANES : (plane + 1) * LANES])
        for t in range(width[cell]):
            valid[begin[cell] + t] = first_rows(rows[cell] - 64 * t) if HAS_EXTRACT else mask[t]
    return Cells(words, valid, start, begin, width, rows, ones, weight)


@kernel
def kept(layout: Layout, n_planes: int, after: int) -> Any:
    """Return which planes belong to a block with a variable beyond the given one."""
    keep = np.zeros(n_planes, np.bool_)
    for block in range(len(layout.levels)):
        if layout.highest[block] > after:
            for plane in range(layout.levels[block] - 1):
                keep[layout.plane[block] + plane] = True
    return keep


@kernel
def split_by(parents: Cells, layout: Layout, v: int, with_last: bool, keep: Any) -> Cells:
    """Return the cells of each parent by the levels of a variable, the last level only if asked."""
    block, lane = layout.block_of[v], layout.lane_of[v]
    n_planes = layout.levels[block] - 1
    n_parts = n_planes + (1 if with_last else 0)
    masks = np.empty(len(parents.valid) * n_parts, np.uint64)
    for p in range(len(parents.rows)):
        w, first = parents.width[p], parents.begin[p] * n_parts
        for t in range(w):
            rest = parents.valid[parents.begin[p] + t]
            for a in range(n_planes):
                at = parents.start[p] + ((layout.plane[block] + a) * w + t) * LANES + lane
                masks[first + a * w + t] = parents.words[at]
                rest &= ~parents.words[at]
            if with_last:
                masks[first + n_planes * w + t] = rest
    cells = split(parents, masks, n_parts, keep)
    for cell in range(len(cells.rows)):
        cells.weight[cell] *= layout.inverse[(layout.level[block] + cell % n_parts) * LANES + lane]
    return cells


@kernel
def pair_counts(cells: Cells, keep: Any) -> Any:
    """Return, per cell, how many rows have two slots, of the planes to keep."""
    n_slots = len(keep) * LANES
    counts = np.zeros((len(cells.rows), n_slots, n_slots), np.int32)
    flat = counts.reshape(-1)
    for cell in range(len(cells.rows)):
        step = cells.width[cell] * LANES
        for a in range(len(keep)):
            for b in range(a, len(keep)):
                if keep[a] and keep[b]:
                    left, right = cells.start[cell] + a * step, cells.start[cell] + b * step
                    to = (cell * n_slots + a * LANES) * n_slots + b * LANES
                    product(cells.words, left, cells.words, right, cells.width[cell], flat, to, n_slots)
        for a in range(n_slots):
            for b in range(a):
                counts[cell, a, b] = counts[cell, b, a]
    return counts


@kernel
def children(parents: Cells, layout: Layout, v: int, with_pairs: bool) -> Any:
    """Return all cells of the parents by the levels of a variable and, if asked, their pairs."""
    keep = kept(layout, parents.ones.shape[1] // LANES, v)
    cells = split_by(parents, layout, v, True, keep)
    if with_pairs:
        return cells, pair_counts(cells, keep)
    return cells, np.empty((len(cells.rows), 0, 0), np.int32)


@kernel
def margins_of(cells: Cells, parents: Cells, layout: Layout, v: int) -> Margins:
    """Return rows, ones and weights of the cells by a variable, the last of each parent by subtraction."""
    block, lane = layout.block_of[v], layout.lane_of[v]
    n_parents, n_parts = len(parents.rows), layout.levels[block] - 1
    n_all = n_parts + 1
    rows, weight = np.zeros(n_parents * n_all, np.int64), np.zeros(n_parents * n_all)
    ones = np.zeros((n_parents * n_all, cells.ones.shape[1]), np.int32)
    for p in range(n_parents):
        last = p * n_all + n_parts
        rows[last] = parents.rows[p]
        for slot in range(ones.shape[1]):
            ones[last, slot] = parents.ones[p, slot]
        weight[last] = parents.weight[p] * layout.inverse[(layout.level[block] + n_parts) * LANES + lane]
        for a in range(n_parts):
            cell, found = p * n_all + a, p * n_parts + a
            rows[cell], weight[cell] = cells.rows[found], cells.weight[found]
            rows[last] -= rows[cell]
            for slot in range(ones.shape[1]):
                ones[cell, slot] = cells.ones[found, slot]
                ones[last, slot] -= cells.ones[found, slot]
    return Margins(rows, ones, weight)
