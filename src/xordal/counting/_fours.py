"""The kernel of all sets of four binary variables, h < i < j < k.

The rows in which h and i have their rarer values are pushed together, and pairs of columns are counted in them,
eight by eight. The counts in the other three cells of h and i follow from those of the triples h, j, k and
i, j, k, which are counted once for the whole scan; so a set costs one product of a quarter of the rows.

What the four share is I(h; i) + I(j; hi) + I(k; hi) + I(j; k | hi), exactly. The first three are known before k
is looked at, and the last, which no interaction exceeds, is at most the sum of squares called chi in
:mod:`xordal.counting._screens`. What the least needed variable adds is at most I(k; hij), which is
I(k; hi) + I(j; k | hi). So in every measure a set is done unless ``own[k] + chi`` reaches a limit that depends
on h, i and j alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._binary import Columns, divide, room_for_bits
from xordal.counting._bits import product
from xordal.counting._jit import kernel
from xordal.counting._lanes import four_cells
from xordal.counting._llvm import LANES
from xordal.counting._measures import (
    INTERACTION,
    TOTAL,
    Found,
    Goal,
    Room,
    found_more,
    measure_of,
    raise_floor,
    x_log_x,
)  # fmt: skip

_SAFE = 1e-9  # nats: far above the rounding of chi, far below any bar that matters


@kernel
def triple_counts(columns: Columns) -> Any:
    """Return, flat, the rows with i, j and k in the place ``(i slots + j) slots + k``, for i < j < k."""
    n_slots, words, n_words = len(columns.ones), columns.words, columns.n_words
    n_blocks, table = n_slots // LANES, n_slots * n_slots
    counts = np.zeros(columns.n_columns * table, np.int32)
    rows, mask = np.empty(len(words), np.uint64), np.empty(n_words, np.uint64)
    for i in range(columns.n_columns):
        width = divide(words, n_words, columns.ones[i], i, rows, mask, n_blocks)
        step = width * LANES
        for j_block in range((i + 1) // LANES, n_blocks):
            for k_block in range(j_block, n_blocks):
                at = i * table + j_block * LANES * n_slots + k_block * LANES
                product(rows, j_block * step, rows, k_block * step, width, counts, at, n_slots)
    return counts


@kernel
def part_cells(columns: Columns, triples: Any, h: int, i: int, in_cells: Any, rows: Any, weight: Any) -> Any:
    """Fill the rows of each later k in the four cells of h and i, and their weights in chi; return I(h; i)."""
    n_slots, ones, pairs, logs = len(columns.ones), columns.ones, columns.pairs, columns.logs
    n, both = np.int64(columns.n_rows), np.int64(pairs[h * n_slots + i])
    in_cells[0], in_cells[1], in_cells[2] = both, ones[h] - both, ones[i] - both
    in_cells[3] = n - ones[h] - ones[i] + both
    with_both = (h * n_slots + i) * n_slots
    for k in range((i + 1) // LANES * LANES, n_slots):
        all_three, with_h, with_i = triples[with_both + k], pairs[h * n_slots + k], pairs[i * n_slots + k]
        rows[k], rows[n_slots + k] = all_three, with_h - all_three
        rows[2 * n_slots + k], rows[3 * n_slots + k] = with_i - all_three, ones[k] - with_h - with_i + all_three
        for cell in range(4):
            one = rows[cell * n_slots + k]
            zero = in_cells[cell] - one
            weight[cell * n_slots + k] = 1 / one + 1 / zero if one > 0 and zero > 0 else 0.0
    total = x_log_x(logs, n)
    for cell in range(4):
        total += x_log_x(logs, in_cells[cell])
    for v in (h, i):
        total -= x_log_x(logs, np.int64(ones[v])) + x_log_x(logs, n - ones[v])
    return total / n


@kernel
def fill_own(columns: Columns, i: int, in_cells: Any, rows: Any, own: Any) -> None:
    """Fill what each later k shares with h and i, in nats."""
    n_slots, n, logs = len(columns.ones), np.int64(columns.n_rows), columns.logs
    cells = x_log_x(logs, n)
    for cell in range(4):
        cells -= x_log_x(logs, in_cells[cell])
    for k in range((i + 1) // LANES * LANES, n_slots):
        total = cells - x_log_x(logs, np.int64(columns.ones[k])) - x_log_x(logs, n - columns.ones[k])
        for cell in range(4):
            one = np.int64(rows[cell * n_slots + k])
            total += x_log_x(logs, one) + x_log_x(logs, in_cells[cell] - one)
        own[k] = total / n


@kernel
def scan_fours(columns: Columns, triples: Any, h: int, seconds: Any, goal: Goal) -> Any:
    """Return slots (j, k) of sets that reach the bar, what is measured of them, and where those of each i end.

    The seconds are the i, later than h.
    """
    n_slots, words, n_words, n = len(columns.ones), columns.words, columns.n_words, float(columns.n_rows)
    pairs, entropies, n_columns = columns.pairs, columns.entropies, columns.n_columns
    n_blocks, table, shape = n_slots // LANES, n_slots * n_slots, goal.shapes[0, 0, 0]
    with_h, low, mask = np.empty_like(words), np.empty_like(words), np.empty(n_words, np.uint64)
    in_cells, rows, weight = np.zeros(4, np.int64), np.zeros(4 * n_slots), np.zeros(4 * n_slots)
    own, room = np.zeros(n_slots), room_for_bits(n_slots, 4)
    counts, hits = room.counts, room.hits
    found = Found(np.empty((64, 2), np.int32), np.empty(64), 0)
    ends = np.zeros(len(seconds), np.int64)
    width_h = divide(words, n_words, columns.ones[h], h, with_h, mask, n_blocks)
    for place in range(len(seconds)):
        i = seconds[place]
        base = part_cells(columns, triples, h, i, in_cells, rows, weight)
        if goal.measure != INTERACTION:
            fill_own(columns, i, in_cells, rows, own)
        width = divide(with_h, width_h, in_cells[0], i, low, mask, n_blocks)
        step = width * LANES
        for j_block in range((i + 1) // LANES, n_blocks):
            at = j_block * LANES
            for k_block in range(j_block, n_blocks):
                product(low, at * width, low, k_block * step, width, counts, k_block * LANES, n_slots)
            for lane in range(LANES):
                j = at + lane
                if j <= i or j >= n_columns:
                    continue
                limit = max(goal.bars[0, 0, 0], goal.floors[shape]) - _SAFE
                if goal.measure == TOTAL:
                    limit -= base + own[j]
                x0, x1, x2, x3 = rows[j], rows[n_slots + j], rows[2 * n_slots + j], rows[3 * n_slots + j]
                r0, r1, r2, r3 = in_cells[0], in_cells[1], in_cells[2], in_cells[3]
                w1, w2, w3 = weight[n_slots + j], weight[2 * n_slots + j], weight[3 * n_slots + j]
                reached = four_cells(
                    counts, triples, pairs, rows, weight, own, hits,
                    (
                        lane * n_slots + at, i * table + j * n_slots + at, h * table + j * n_slots + at,
                        j * n_slots + at, at, n_slots, n_blocks - j_block, 255 & ~((2 << lane) - 1),
                    ),
                    (
                        x0 / max(r0, 1), x1 / max(r1, 1), x2 / max(r2, 1), x3 / max(r3, 1),
                        weight[j] * r0 / n, w1 * r1 / n, w2 * r2 / n, w3 * r3 / n, limit,
                    ),
                )  # fmt: skip
                if reached != 0:
                    room.alone[0], room.alone[1], room.alone[2] = entropies[h], entropies[i], entropies[j]
                    found = offer_fours(columns, triples, (h, i, j), in_cells, rows, goal, room, found)
        ends[place] = found.n
    return found.sets[: found.n], found.shared[: found.n], ends


@kernel
def offer_fours(
    columns: Columns, triples: Any, prefix: Any, in_cells: Any, rows: Any, goal: Goal, room: Room, found: Found
) -> Found:  # fmt: skip
    """Add the marked sets of one h, i and j that reach the bar; raise the floor by what they reach."""
    h, i, j = prefix
    n_slots, shape, at = len(columns.ones), goal.shapes[0, 0, 0], j // LANES * LANES
    for k in range(j + 1, columns.n_columns):
        if not room.hits[(k - at) // LANES] >> (k % LANES) & 1:
            continue
        hijk = np.int64(room.counts[j % LANES * n_slots + k])
        ijk, hjk = triples[(i * n_slots + j) * n_slots + k], triples[(h * n_slots + j) * n_slots + k]
        counted = (hijk, hjk - hijk, ijk - hijk, columns.pairs[j * n_slots + k] - ijk - hjk + hijk)
        for cell in range(4):
            with_j, with_k = np.int64(rows[cell * n_slots + j]), np.int64(rows[cell * n_slots + k])
            room.table[4 * cell] = counted[cell]
            room.table[4 * cell + 1] = with_j - counted[cell]
            room.table[4 * cell + 2] = with_k - counted[cell]
            room.table[4 * cell + 3] = in_cells[cell] - with_j - with_k + counted[cell]
        room.alone[3] = columns.entropies[k]
        bar = max(goal.bars[0, 0, 0], goal.floors[shape])
        value, is_known = measure_of(4, bar, goal, room)
        if value >= bar:
            found = found_more(found, j, k, value)
            if is_known:
                raise_floor(goal, shape, value)
    return found
