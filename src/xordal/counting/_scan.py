"""Kernels that score all sets of variables: arrays in, arrays out.

Words and cells are those of :mod:`xordal.counting._cells`. Of a set two numbers are made. First ``chi`` =
sum p^2/q - 1, with p the observed share of a table cell and q the product of the shares of its levels. Total
correlation is the divergence of p from q, which is at most log(1 + chi): a set with log(1 + chi) below the bar
is done without a logarithm. Then, of the others, the total correlation.
"""

from __future__ import annotations

from math import expm1, log
from typing import Any, NamedTuple

import numpy as np

from xordal.counting._bits import LANES, product
from xordal.counting._cells import Cells, Layout, Margins, kept, margins_of, split_by
from xordal.counting._jit import kernel
from xordal.counting._turns import next_turn

_CHUNK = 32  # blocks scored at once: long loops over lanes, their counts still in the first cache
_CHUNK_COUNTS = 1 << 16
SAFE = 1e-9  # far above the rounding of chi, far below any bar that matters


class Goal(NamedTuple):
    """What is sought: bars by classes of levels, and what the total correlation is made of."""

    bars: Any  # (classes of the last prefix variable, classes, classes) nats
    entropies: Any  # (variables,) nats
    prefix_entropy: float
    n_rows: int
    logs: Any  # c log c, as far as it goes


class Room(NamedTuple):
    """Working memory."""

    counts: Any  # (cells x planes x planes x lanes x lanes of the chunk,)
    table: Any  # (table cells, lanes of the chunk)
    chi: Any  # (lanes of the chunk,)
    levels: Any  # (cells x levels, lanes of the chunk) rows with the level
    inverse: Any  # (levels, lanes of the chunk)


class Found(NamedTuple):
    """Sets found so far, in arrays that grow."""

    sets: Any
    shared: Any
    n: int


@kernel
def x_log_x(logs: Any, count: Any) -> Any:
    """Return c log c, from the table as far as it goes."""
    if count < len(logs):
        return logs[count]
    return count * log(count)


@kernel
def count_chunk(cells: Cells, shape: Any, pairs: Any, layout: Layout, place: Any, counts: Any) -> None:
    """Fill ``counts[cell, b, c, lane of j, lane of k]`` for one block j and some blocks k of equal levels."""
    n_parents, n_parts, n_derived = shape
    j_block, k_block, n_blocks = place
    j_planes, k_planes = layout.levels[j_block] - 1, layout.levels[k_block] - 1
    n_lanes, n_all = n_blocks * LANES, n_parts + n_derived
    tile = LANES * n_lanes
    table = j_planes * k_planes * tile
    for p in range(n_parents):
        for a in range(n_parts):
            found, to = p * n_parts + a, (p * n_all + a) * table
            step = cells.width[found] * LANES
            for b in range(j_planes):
                left = cells.start[found] + (layout.plane[j_block] + b) * step
                for c in range(k_planes):
                    for q in range(n_blocks):
                        right = cells.start[found] + (layout.plane[k_block + q] + c) * step
                        product(
                            cells.words, left, cells.words, right, cells.width[found],
                            counts, to + q * LANES, n_lanes,
                        )  # fmt: skip
                    to += tile
        if n_derived == 1:
            derive(counts, p * n_all * table, n_parts, table, pairs[p], layout, place)


@kernel
def derive(counts: Any, at: int, n_parts: int, table: int, pairs: Any, layout: Layout, place: Any) -> None:
    """Fill the counts of the last cell of a parent: those of the parent less those of the others."""
    j_block, k_block, n_blocks = place
    to = at + n_parts * table
    for b in range(layout.levels[j_block] - 1):
        for c in range(layout.levels[k_block] - 1):
            for lane in range(LANES):
                row = pairs[(layout.plane[j_block] + b) * LANES + lane]
                for q in range(n_blocks):
                    slot = (layout.plane[k_block + q] + c) * LANES
                    for k in range(LANES):
                        counts[to + k] = row[slot + k]
                    to += LANES
    last = counts[at + n_parts * table : at + (n_parts + 1) * table]
    for a in range(n_parts):
        other = counts[at + a * table : at + (a + 1) * table]
        for x in range(table):
            last[x] -= other[x]


@kernel
def found_more(found: Found, j: int, k: int, shared: float) -> Found:
    """Add one pair to those found."""
    sets, values, n = found.sets, found.shared, found.n
    if n == len(values):
        sets, values = np.empty((2 * n, 2), np.int32), np.empty(2 * n)
        for x in range(n):
            sets[x, 0], sets[x, 1], values[x] = found.sets[x, 0], found.sets[x, 1], found.shared[x]
    sets[n, 0], sets[n, 1], values[n] = min(j, k), max(j, k), shared
    return Found(sets, values, n + 1)


@kernel
def prepare(margins: Margins, layout: Layout, place: Any, room: Room) -> None:
    """Fill the counts of all levels of the chunk in each cell, and the inverse shares of the levels."""
    _, k_block, n_blocks = place
    k_levels = layout.levels[k_block]
    for q in range(n_blocks):
        for k in range(LANES):
            x = q * LANES + k
            for c in range(k_levels):
                room.inverse[c, x] = layout.inverse[(layout.level[k_block + q] + c) * LANES + k]
            for cell in range(len(margins.rows)):
                last = margins.rows[cell]
                for c in range(k_levels - 1):
                    count = margins.ones[cell, (layout.plane[k_block + q] + c) * LANES + k]
                    room.levels[cell * k_levels + c, x] = count
                    last -= count
                room.levels[cell * k_levels + k_levels - 1, x] = last


@kernel
def fill_tables(margins: Margins, layout: Layout, place: Any, lane: int, n: float, room: Room) -> None:
    """Fill ``chi`` and the tables of the sets of one j, of any numbers of levels."""
    j_block, k_block, n_blocks = place
    k_levels = layout.levels[k_block]
    j_planes, k_planes = layout.levels[j_block] - 1, k_levels - 1
    n_lanes = n_blocks * LANES
    chi = room.chi[:n_lanes]
    for k in range(n_lanes):
        chi[k] = -1.0
    at, first = 0, lane * n_lanes
    for cell in range(len(margins.rows)):
        scale = margins.weight[cell] / (n * n)
        bottom = at + j_planes * k_levels
        for c in range(k_levels):
            for k in range(n_lanes):
                room.table[bottom + c, k] = room.levels[cell * k_levels + c, k]
        last = room.table[bottom + k_planes]
        for b in range(j_planes):
            w = scale * layout.inverse[(layout.level[j_block] + b) * LANES + lane]
            end = room.table[at + k_planes]
            count = margins.ones[cell, (layout.plane[j_block] + b) * LANES + lane]
            for k in range(n_lanes):
                end[k] = count
            for c in range(k_planes):
                row, here, left = (
                    room.counts[first : first + n_lanes],
                    room.table[at + c],
                    room.table[bottom + c],
                )
                inverse = room.inverse[c]
                for k in range(n_lanes):
                    x = row[k]
                    here[k] = x
                    end[k] -= x
                    left[k] -= x
                    chi[k] += (w * inverse[k]) * (float(x) * float(x))
                first += LANES * n_lanes
            inverse = room.inverse[k_planes]
            for k in range(n_lanes):
                x = end[k]
                last[k] -= x
                chi[k] += (w * inverse[k]) * (float(x) * float(x))
            at += k_levels
        w = scale * layout.inverse[(layout.level[j_block] + j_planes) * LANES + lane]
        for c in range(k_levels):
            row, inverse = room.table[at + c], room.inverse[c]
            for k in range(n_lanes):
                chi[k] += (w * inverse[k]) * (float(row[k]) * float(row[k]))
        at += k_levels


@kernel
def emit(
    n_cells: int, layout: Layout, place: Any, lane: int, bounds: Any, goal: Goal, room: Room, found: Found
) -> Found:
    """Add the sets of one j that reach the bar, of those whose chi reaches the limit."""
    j_block, k_block, n_blocks = place
    low, high, bar, limit = bounds
    n, n_lanes = float(goal.n_rows), n_blocks * LANES
    j = layout.variables[j_block, lane]
    alone = goal.prefix_entropy + goal.entropies[j] - log(n)
    for x in range(lane + 1 if j_block == k_block else 0, n_lanes):
        if room.chi[x] < limit:
            continue
        k = layout.variables[k_block + x // LANES, x % LANES]
        if k < low or min(j, k) >= high:
            continue
        total = 0.0
        for cell in range(n_cells):
            total += x_log_x(goal.logs, room.table[cell, x])
        shared = alone + goal.entropies[k] + total / n
        if shared >= bar:
            found = found_more(found, j, k, shared)
    return found


@kernel
def room_for(layout: Layout, n_cells: int) -> Room:
    """Return working memory for sets whose prefix has so many cells."""
    most = layout.levels.max()
    n_lanes = _CHUNK * LANES
    least = n_cells * most * most * LANES * LANES
    return Room(
        np.empty(max(_CHUNK_COUNTS, least), np.int32),
        np.empty((n_cells * most * most, n_lanes), np.int32),
        np.empty(n_lanes),
        np.empty((n_cells * most, n_lanes), np.int32),
        np.empty((most, n_lanes)),
    )


@kernel
def chunk_size(layout: Layout, j_block: int, k_block: int, n_cells: int) -> int:
    """Return how many blocks from k on are scored at once with block j; all have equally many levels."""
    planes = max(layout.levels[j_block] - 1, 1) * max(layout.levels[k_block] - 1, 1)
    most = min(max(_CHUNK_COUNTS // (n_cells * planes * LANES * LANES), 1), _CHUNK)
    size = 1
    while (
        size < most
        and k_block + size < len(layout.levels)
        and layout.levels[k_block + size] == layout.levels[k_block]
    ):
        size += 1
    return size


@kernel
def scan_pairs(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    cells: Cells, margins: Margins, shape: Any, pairs: Any, layout: Layout, span: Any, goal: Goal, bars: Any,
    room: Room, found: Found,
) -> Found:  # fmt: skip
    """Add all pairs that can reach the bar together with the prefix; the lower variable lies in the span."""
    low, high = span
    for j_block in range(len(layout.levels)):
        if layout.highest[j_block] < low:
            continue
        k_block = j_block
        while k_block < len(layout.levels):
            size = chunk_size(layout, j_block, k_block, len(margins.rows))
            place = (j_block, k_block, size)
            bar = bars[layout.group[j_block], layout.group[k_block]]
            lowest = min(layout.variables[j_block, 0], layout.variables[k_block, 0])
            if layout.highest[k_block + size - 1] >= low and lowest < high and bar < np.inf:
                count_chunk(cells, shape, pairs, layout, place, room.counts)
                prepare(margins, layout, place, room)
                limit = expm1(min(bar, 700.0)) * (1 - SAFE) - SAFE
                bounds = (low, high, bar, limit)
                n_cells = len(margins.rows) * layout.levels[j_block] * layout.levels[k_block]
                for lane in range(LANES):
                    if layout.variables[j_block, lane] >= low:
                        fill_tables(margins, layout, place, lane, float(goal.n_rows), room)
                        found = emit(n_cells, layout, place, lane, bounds, goal, room, found)
            k_block += size
    return found


@kernel
def scan_sets(parents: Cells, pairs: Any, layout: Layout, firsts: Any, turn: Any, span: Any, goal: Goal) -> Any:
    """Return last two variables of sets that can reach the bar, what they share, firsts taken, where each ends.

    The sets are those of one of the firsts and two later variables, together with the prefix of the parents.
    Threads that are given the same ``turn`` share the firsts out between them. Where there is no first, the
    sets are pairs whose lower variable lies in the span.
    """
    n_parents, n_planes = len(parents.rows), parents.ones.shape[1] // LANES
    derived = 1 if pairs.shape[1] > 0 and len(firsts) > 0 else 0
    found = Found(np.empty((64, 2), np.int32), np.empty(64), 0)
    taken, ends = np.empty(len(firsts), np.int64), np.empty(len(firsts), np.int64)
    n_taken, most = 0, 1
    for i in firsts:
        most = max(most, layout.levels[layout.block_of[i]])
    room = room_for(layout, n_parents * most)
    cells, margins = parents, Margins(parents.rows, parents.ones, parents.weight)
    shape, entropy, bars = (n_parents, 1, 0), goal.prefix_entropy, goal.bars[0]
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
            entropy, bars = goal.prefix_entropy + goal.entropies[i], goal.bars[layout.group[block]]
            span = (i + 1, len(layout.block_of))
        mine = Goal(goal.bars, goal.entropies, entropy, goal.n_rows, goal.logs)
        found = scan_pairs(cells, margins, shape, pairs, layout, span, mine, bars, room, found)
        if len(firsts) > 0:
            taken[n_taken], ends[n_taken] = i, found.n
            n_taken += 1
    return found.sets[: found.n], found.shared[: found.n], taken[:n_taken], ends[:n_taken]
