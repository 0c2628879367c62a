"""Kernels that score all sets of variables: arrays in, arrays out.

Glossary. A *block* is up to eight variables of equally many levels, side by side in *lanes*; a block of r
levels has r - 1 *planes* (the most common level has none) of words ``[t, lane]``. A *slot* is a lane of a
plane. A *cell* is a cell of the table over the prefix of a set, all but its last two variables; it holds the
words of its own rows, pushed together. In a cell, pairs of slots are counted by ``product``; levels without a
plane follow by subtraction, and so does the last cell of each parent cell, from the pairs of the parent.

Of a set two numbers are made. First ``chi`` = sum p^2/q - 1, with p the observed share of a table cell and q
the product of the shares of its levels. Total correlation is the divergence of p from q, which is at most
log(1 + chi): a set with log(1 + chi) below the bar is done without a logarithm. Then, of the others, the
total correlation.
"""

from __future__ import annotations

from math import expm1, log
from typing import Any, NamedTuple

import numpy as np

from xordal.counting._bits import HAS_EXTRACT, LANES, extract, popcount, product
from xordal.counting._jit import kernel
from xordal.counting._turns import next_turn

_CHUNK = 32  # blocks scored at once: long loops over lanes, their counts still in the first cache
_CHUNK_COUNTS = 1 << 16
SAFE = 1e-9  # far above the rounding of chi, far below any bar that matters


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


class Goal(NamedTuple):
    """What is sought: bars by classes of levels, and what the total correlation is made of."""

    bars: Any  # (classes of the last prefix variable, classes, classes) nats
    entropies: Any  # (variables,) nats
    prefix_entropy: float
    n_rows: int
    logs: Any  # c log c, as far as it goes


class Margins(NamedTuple):
    """Of all cells of the prefix, those that follow by subtraction too."""

    rows: Any
    ones: Any
    weight: Any


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
