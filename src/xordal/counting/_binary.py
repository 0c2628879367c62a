"""The kernel of the most common long scan: all triples of binary variables.

As :mod:`xordal.counting._scan`, with one plane per variable: of the eight cells of a triple one is counted,
the rows in which all three have their rarer value, and seven follow. What is bounded depends on the measure:

* All that is shared, or what is needed of it. With the variables standardised, their products are an
  orthonormal basis of the functions on the triple under independence; so chi is the sum of the squared
  correlations of the three pairs and of the triple.
* The interaction, by what j and k share given i: chi is a sum of two squares, one for each value of i.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xordal.counting._bits import HAS_EXTRACT, product
from xordal.counting._cells import compact
from xordal.counting._jit import inner, kernel
from xordal.counting._lanes import reaching, two_cells
from xordal.counting._llvm import LANES
from xordal.counting._measures import (
    INTERACTION,
    Found,
    Goal,
    Room,
    found_more,
    measure_of,
    raise_floor,
)  # fmt: skip
from xordal.counting._screens import limit_lacking, limit_of
from xordal.counting._turns import next_turn


class Columns(NamedTuple):
    """Binary columns, in slots; ones stand where the rarer value does."""

    words: Any  # [block, t, lane], flat
    n_words: int
    n_rows: int
    n_columns: int
    ones: Any  # (slots,)
    pairs: Any  # (slots x slots,) rows with both
    share: Any  # (slots,)
    scale: Any  # (slots,) 1 / standard deviation
    entropies: Any  # (slots,) nats
    logs: Any


@kernel
def scan_binary(columns: Columns, firsts: Any, turn: Any, span: Any, goal: Goal) -> Any:
    """Return slots (j, k) of triples that reach the bar, what is measured, each i taken, where its own end.

    Threads that are given the same ``turn`` share the firsts out between them. Every j is in the span.
    """
    low, high = span
    n_slots = len(columns.ones)
    words, n_words, pairs, share = columns.words, columns.n_words, columns.pairs, columns.share
    weight, is_given = columns.scale * columns.scale, goal.measure == INTERACTION
    more, chi_i = np.empty(n_slots), np.empty(n_slots)  # of each k with i: rows beyond chance, part of chi
    part = Part(np.zeros(2 * n_slots), np.zeros(2 * n_slots), np.zeros((2, n_slots // LANES)))
    rows_given, weight_given = part.rows, part.weight
    n, n_blocks, shape = float(columns.n_rows), n_slots // LANES, goal.shapes[0, 0, 0]
    per_row = 1 / (n * n)
    rows, mask, room = np.empty(len(words), np.uint64), np.empty(n_words, np.uint64), room_for_bits(n_slots, 3)
    counts, hits = room.counts, room.hits
    found = Found(np.empty((64, 2), np.int32), np.empty(64), 0)
    taken, ends = np.empty(len(firsts), np.int64), np.empty(len(firsts), np.int64)
    n_taken = 0
    while True:
        place = next_turn(turn)
        if place >= len(firsts):
            break
        i = firsts[place]
        width = divide(words, n_words, columns.ones[i], i, rows, mask, n_blocks)
        step, start = width * LANES, (i + 1) // LANES
        p_i, i_unit, n_i = share[i], weight[i] * per_row, float(columns.ones[i])
        if is_given:
            part_of(columns, i, part)
        else:
            for k in range(start * LANES, n_slots):
                more[k] = pairs[i * n_slots + k] - n * p_i * share[k]
                chi_i[k] = more[k] * more[k] * (i_unit * weight[k])
        for j_block in range(max(start, low // LANES), min(n_blocks, (high + LANES - 1) // LANES)):
            for k_block in range(j_block, n_blocks):
                product(rows, j_block * step, rows, k_block * step, width, counts, k_block * LANES, n_slots)
            at, bar = j_block * LANES, max(goal.bars[0, 0, 0], goal.floors[shape])
            limit = limit_after(columns, i, j_block, bar, part) if is_given else limit_of(bar)
            for lane in range(LANES):
                j = at + lane
                if j <= i or j < low or j >= min(high, columns.n_columns):
                    continue
                t_at, jk_at, first = lane * n_slots + at, j * n_slots + at, 255 & ~((2 << lane) - 1)
                if is_given:
                    x, y = rows_given[j], rows_given[n_slots + j]
                    u, v = n_i / n * weight_given[j], (n - n_i) / n * weight_given[n_slots + j]
                    reached = two_cells(
                        counts, pairs, rows_given, weight_given, share, share, hits,
                        (t_at, jk_at, at, n_slots, n_blocks - j_block, first),
                        (x / max(n_i, 1.0), y / max(n - n_i, 1.0), u, v, limit),
                    )  # fmt: skip
                else:
                    n_j, p_j, j_unit = n * share[j], share[j], weight[j] * per_row
                    reached = reaching(
                        counts, pairs, share, weight, more, chi_i, hits,
                        (t_at, jk_at, at, n_blocks - j_block, first),
                        (p_i, p_j, n_j, more[j] + p_i * n_j, j_unit, weight[i] * j_unit, limit - chi_i[j]),
                    )  # fmt: skip
                if reached != 0:
                    found = offer_binary(columns, i, j, goal, room, found)
        taken[n_taken], ends[n_taken] = i, found.n
        n_taken += 1
    return found.sets[: found.n], found.shared[: found.n], taken[:n_taken], ends[:n_taken]


class Part(NamedTuple):
    """What chi is made of given i: of each later k in the rows with i's rarer value, then in the others."""

    rows: Any  # (2 x slots,)
    weight: Any  # (2 x slots,)
    odds: Any  # (2, blocks) rows without the rarer value of k per row with it, the most from this block on


@inner
def part_of(columns: Columns, i: int, part: Part) -> None:
    """Fill what chi is made of given i."""
    n_slots, ones, pairs = len(columns.ones), columns.ones, columns.pairs
    in_cells = (np.int64(ones[i]), np.int64(columns.n_rows) - np.int64(ones[i]))
    for cell in range(2):
        most, last = 0.0, float(in_cells[cell])
        for k in range(n_slots - 1, (i + 1) // LANES * LANES - 1, -1):
            both = np.int64(pairs[i * n_slots + k])
            one = float(both if cell == 0 else ones[k] - both)
            zero, at = last - one, cell * n_slots + k
            part.rows[at], part.weight[at] = one, 0.0
            if one > 0 and zero > 0:
                part.weight[at] = 1 / one + 1 / zero
                most = max(most, max(one, zero) / min(one, zero))
            part.odds[cell, k // LANES] = most


@inner
def limit_after(columns: Columns, i: int, j_block: int, bar: float, part: Part) -> float:
    """Return the chi below which no pair of a block j and a later k reaches the bar given i."""
    lacking, n, in_first = 0.0, float(columns.n_rows), float(columns.ones[i])
    for cell in range(2):
        in_cell = in_first if cell == 0 else n - in_first
        lacking = max(lacking, part.odds[cell, j_block] * part.odds[cell, j_block] * n / max(in_cell, 1.0))
    return limit_lacking(bar, lacking)


@kernel
def offer_binary(columns: Columns, i: int, j: int, goal: Goal, room: Room, found: Found) -> Found:
    """Add the marked triples of one i and j that reach the bar; raise the floor by what they reach."""
    n, n_slots, at, shape = (
        np.int64(columns.n_rows),
        len(columns.ones),
        j // LANES * LANES,
        goal.shapes[0, 0, 0],
    )
    ones, pairs, table = columns.ones, columns.pairs, room.table
    n_i, n_j, n_ij = np.int64(ones[i]), np.int64(ones[j]), np.int64(pairs[i * n_slots + j])
    for k in range(j + 1, columns.n_columns):
        if not room.hits[(k - at) // LANES] >> (k % LANES) & 1:
            continue
        t, n_k = np.int64(room.counts[j % LANES * n_slots + k]), np.int64(ones[k])
        n_ik, n_jk = np.int64(pairs[i * n_slots + k]), np.int64(pairs[j * n_slots + k])
        table[0], table[1], table[2], table[3] = t, n_ij - t, n_ik - t, n_i - n_ij - n_ik + t
        table[4], table[5], table[6] = n_jk - t, n_j - n_ij - n_jk + t, n_k - n_ik - n_jk + t
        table[7] = n - n_i - n_j - n_k + n_ij + n_ik + n_jk - t
        room.alone[0], room.alone[1] = columns.entropies[i], columns.entropies[j]
        room.alone[2] = columns.entropies[k]
        bar = max(goal.bars[0, 0, 0], goal.floors[shape])
        value, is_known = measure_of(2, bar, goal, room)
        if value >= bar:
            found = found_more(found, j, k, value)
            if is_known:
                raise_floor(goal, shape, value)
    return found


@kernel
def divide(source: Any, n_words: int, n_ones: Any, slot: int, target: Any, mask: Any, n_blocks: int) -> Any:
    """Push the rows of one column together, in all blocks with later columns; return the words per lane."""
    for t in range(n_words):
        mask[t] = source[(slot // LANES * n_words + t) * LANES + slot % LANES]
    width: Any = (np.int64(n_ones) + 63) >> 6 if HAS_EXTRACT else n_words
    step, old = width * LANES, n_words * LANES
    for block in range((slot + 1) // LANES, n_blocks):
        compact(
            source[block * old : (block + 1) * old],
            n_words,
            mask,
            target[block * step : (block + 1) * step],
            width,
        )
    return width


@kernel
def room_for_bits(n_slots: int, order: int) -> Room:
    """Return working memory for one set of binary variables at a time, and for counts of eight j with all k."""
    none, size = np.empty((1, 1)), 1 << order
    return Room(
        np.empty(LANES * n_slots, np.int32), none[0], np.zeros(n_slots // LANES, np.uint8), none, none, none,
        none, np.empty(size, np.int64), np.empty(size), np.empty((order, size)), np.full(order, 2, np.int64),
        np.zeros(order),
    )  # fmt: skip
