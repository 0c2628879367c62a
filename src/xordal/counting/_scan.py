"""Kernels that look at all sets of variables: arrays in, arrays out.

Words and cells are those of :mod:`xordal.counting._cells`. Sets share all but their last two variables, the
prefix; for blocks of eight j and some blocks of eight k all pairs are counted in each cell of the prefix, then
screened without a logarithm (:mod:`xordal.counting._screens`), then, of what is left, measured
(:mod:`xordal.counting._measures`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import product
from xordal.counting._cells import Cells, Layout, Margins, kept, margins_of, split_by
from xordal.counting._jit import inner, kernel
from xordal.counting._llvm import LANES
from xordal.counting._measures import CHUNK, INTERACTION, Found, Goal, Room, offer
from xordal.counting._screens import (
    SAFE,
    Screen,
    gather,
    limit_given,
    limit_of,
    screen_binary,
    screen_levels,
    screen_of,
    screen_threes,
    sharpen,
)
from xordal.counting._turns import next_turn

_CHUNK_COUNTS = 1 << 16


@inner
def count_chunk(cells: Cells, shape: Any, pairs: Any, layout: Layout, place: Any, counts: Any) -> None:
    """Fill ``counts[cell, b, c, lane of j, lane of k]`` for one block j and some blocks k of equal levels.

    Planes of blocks of equal levels follow each other.
    """
    n_parents, n_parts, n_derived = shape
    j_block, k_block, n_blocks = place
    words, start, width = cells.words, cells.start, cells.width
    j_plane, k_plane = layout.plane[j_block], layout.plane[k_block]
    j_planes, k_planes = layout.levels[j_block] - 1, layout.levels[k_block] - 1
    n_lanes, n_all = n_blocks * LANES, n_parts + n_derived
    tile = LANES * n_lanes
    table = j_planes * k_planes * tile
    for p in range(n_parents):
        for a in range(n_parts):
            found, to = p * n_parts + a, (p * n_all + a) * table
            n_words = width[found]
            step = n_words * LANES
            for b in range(j_planes):
                left = start[found] + (j_plane + b) * step
                for c in range(k_planes):
                    right = start[found] + (k_plane + c) * step
                    for q in range(n_blocks):
                        product(words, left, words, right, n_words, counts, to + q * LANES, n_lanes)
                        right += k_planes * step
                    to += tile
        if n_derived == 1:
            derive(counts, p * n_all * table, n_parts, table, pairs[p], layout, place)


@inner
def derive(counts: Any, at: int, n_parts: int, table: int, pairs: Any, layout: Layout, place: Any) -> None:
    """Fill the counts of the last cell of a parent: those of the parent less those of the others."""
    j_block, k_block, n_blocks = place
    to, off = at + n_parts * table, n_parts * table
    j_planes, k_planes = layout.levels[j_block] - 1, layout.levels[k_block] - 1
    length = n_blocks * LANES if k_planes == 1 else LANES  # slots that follow each other
    for b in range(j_planes):
        for c in range(k_planes):
            for lane in range(LANES):
                for q in range(0, n_blocks, length // LANES):
                    slot = (layout.plane[k_block + q] + c) * LANES
                    row = pairs[(layout.plane[j_block] + b) * LANES + lane, slot : slot + length]
                    here, first = counts[to : to + length], counts[to - off : to - off + length]
                    for k in range(length):
                        here[k] = row[k] - (first[k] if n_parts > 0 else 0)
                    to += length
    last = counts[at + n_parts * table : at + (n_parts + 1) * table]
    for a in range(1, n_parts):
        other = counts[at + a * table : at + (a + 1) * table]
        for x in range(table):
            last[x] -= other[x]


@kernel
def room_for(layout: Layout, n_cells: int, n_axes: int) -> Room:
    """Return working memory for sets whose prefix has so many cells, and all parts so many axes."""
    most = layout.levels.max()
    n_lanes, size = CHUNK * LANES, n_cells * most * most
    return Room(
        np.empty(max(_CHUNK_COUNTS, size * LANES * LANES), np.int32),
        np.empty(n_lanes),
        np.zeros(LANES * CHUNK, np.uint8),
        np.empty((n_cells * most, n_lanes)),
        np.empty((n_cells * most, n_lanes)),
        np.empty((n_cells * most, n_lanes)),
        np.empty((most + 1, n_lanes)),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty((n_axes, size)),
        np.zeros(n_axes, np.int64),
        np.zeros(n_axes),
    )


@inner
def chunk_size(layout: Layout, j_block: int, k_block: int, n_cells: int) -> int:
    """Return how many blocks from k on are counted at once with block j; all have equally many levels."""
    planes = max(layout.levels[j_block] - 1, 1) * max(layout.levels[k_block] - 1, 1)
    most = min(max(_CHUNK_COUNTS // (n_cells * planes * LANES * LANES), 1), CHUNK)
    size = 1
    while (
        size < most
        and k_block + size < len(layout.levels)
        and layout.levels[k_block + size] == layout.levels[k_block]
    ):
        size += 1
    return size


@kernel
def least_later(layout: Layout) -> Any:
    """Return the lowest variable of each block and all that follow it."""
    lowest = np.empty(len(layout.levels), np.int64)
    least = len(layout.block_of)
    for block in range(len(layout.levels) - 1, -1, -1):
        least = min(least, layout.variables[block, 0])
        lowest[block] = least
    return lowest


@kernel
def scan_pairs(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    cells: Cells, margins: Margins, shape: Any, pairs: Any, layout: Layout, span: Any, first: int, goal: Goal,
    room: Room, found: Found,
) -> Found:  # fmt: skip
    """Add all pairs that can reach the bar together with the prefix; the lower variable lies in the span."""
    low, high = span
    lowest, highest, variables, group = least_later(layout), layout.highest, layout.variables, layout.group
    counts, bars = room.counts, goal.bars
    screen = screen_of(margins, layout, goal.n_rows, goal.measure == INTERACTION)
    for j_block in range(len(group)):
        if highest[j_block] < low or lowest[j_block] >= high:
            continue
        k_block = j_block
        while k_block < len(group):
            size = chunk_size(layout, j_block, k_block, len(margins.rows))
            place = (j_block, k_block, size)
            kind = (first, group[j_block], group[k_block])
            least = min(variables[j_block, 0], variables[k_block, 0])
            if highest[k_block + size - 1] >= low and least < high and bars[kind] < np.inf:
                count_chunk(cells, shape, pairs, layout, place, counts)
                lanes = look_through(margins, screen, layout, place, kind, goal, room)
                if lanes != 0:
                    found = offer(margins, layout, place, span, kind, lanes, goal, room, found)
            k_block += size
    return found


@inner
def look_through(
    margins: Margins, screen: Screen, layout: Layout, place: Any, kind: Any, goal: Goal, room: Room
) -> int:
    """Mark what can reach the bar of what was counted of a chunk; return the lanes of j with marks, as bits."""
    bar = max(goal.bars[kind], goal.floors[goal.shapes[kind]])
    j_levels, k_levels, n = layout.levels[place[0]], layout.levels[place[1]], goal.n_rows
    if j_levels == 2 and k_levels == 2:
        limit = limit_given(margins, screen, place, bar, n) if screen.is_given else limit_of(bar)
        lanes = screen_binary(margins, screen, layout, place, limit, room)
        if lanes != 0 and screen.is_given:
            sharpen(margins, screen, layout, place, bar, room)
        return lanes
    if j_levels == 3 and k_levels == 3 and screen.is_given:
        limit = limit_given(margins, screen, place, bar, n)
        return screen_threes(margins, screen, layout, place, limit, room)
    gather(margins, layout, place, screen.is_given, n, room)
    least = bar * (1 - SAFE) - SAFE
    return screen_levels(margins, layout, place, least, n, screen.is_given, room)


@kernel
def scan_sets(parents: Cells, pairs: Any, layout: Layout, firsts: Any, turn: Any, span: Any, goal: Goal) -> Any:
    """Return last two variables of sets that can reach the bar, what they share, firsts taken, where each ends.

    The sets are those of one of the firsts and two later variables, together with the prefix of the parents.
    Threads that are given the same ``turn`` share the firsts out between them. The lower of the two lies in the
    span. Where there is no first, the sets are such pairs and the prefix.
    """
    n_parents, n_planes = len(parents.rows), parents.ones.shape[1] // LANES
    derived = 1 if pairs.shape[1] > 0 and len(firsts) > 0 else 0
    found = Found(np.empty((64, 2), np.int32), np.empty(64), 0)
    taken, ends = np.empty(len(firsts), np.int64), np.empty(len(firsts), np.int64)
    n_taken, most, n_prefix, (low, high) = 0, 1, len(goal.dims), span
    for i in firsts:
        most = max(most, layout.levels[layout.block_of[i]])
    room = room_for(layout, n_parents * most, n_prefix + (1 if len(firsts) > 0 else 0) + 2)
    for axis in range(n_prefix):
        room.dims[axis], room.alone[axis] = goal.dims[axis], goal.alone[axis]
    cells, margins = parents, Margins(parents.rows, parents.ones, parents.weight)
    shape, first = (n_parents, 1, 0), 0
    while True:
        place = next_turn(turn)
        if place >= max(len(firsts), 1):
            break
        if len(firsts) > 0:
            i = firsts[place]
            block = layout.block_of[i]
            cells = split_by(parents, layout, i, derived == 0, kept(layout, n_planes, i))
            margins = Margins(cells.rows, cells.ones, cells.weight)
            if derived == 1:
                margins = margins_of(cells, parents, layout, i)
            shape = (n_parents, layout.levels[block] - derived, derived)
            room.dims[n_prefix], room.alone[n_prefix] = layout.levels[block], goal.entropies[i]
            first, span = layout.group[block], (max(i + 1, low), min(len(layout.block_of), high))
        found = scan_pairs(cells, margins, shape, pairs, layout, span, first, goal, room, found)
        if len(firsts) > 0:
            taken[n_taken], ends[n_taken] = i, found.n
            n_taken += 1
    return found.sets[: found.n], found.shared[: found.n], taken[:n_taken], ends[:n_taken]
