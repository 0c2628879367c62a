"""Kernels that count given sets of variables: arrays in, arrays out.

Two ways. *Tables* are counted from bit planes by AND and population count, one pass over the words per cell
of the table less those that follow by inclusion and exclusion: for small tables. *Codes* number the cell of
each row and count the numbers: for any table, any number of levels and weighted rows, with memory in
proportion to the rows.

Batches of sets are flat arrays: set s is ``members[ends[s - 1] : ends[s]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import popcount, product
from xordal.counting._cells import Layout, first_rows
from xordal.counting._jit import kernel
from xordal.counting._llvm import LANES
from xordal.counting._measures import x_log_x

_SMALL = 4096  # codes below this are counted in place however few the rows are


@kernel
def count_tables(
    planes: Any, first: Any, n_levels: Any, n_rows: int, members: Any, ends: Any, starts: Any, out: Any
) -> None:
    """Fill ``out[starts[s] :]`` with the full table of each set, the last variable running fastest."""
    n_words = planes.shape[1]
    longest = 1
    for s in range(len(ends)):
        longest = max(longest, ends[s] - (ends[s - 1] if s > 0 else 0))
    partial = np.empty((longest + 1, n_words), np.uint64)
    for t in range(n_words):
        partial[0, t] = first_rows(n_rows - 64 * t)
    digits, source = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    begin = 0
    for s in range(len(ends)):
        chosen = members[begin : ends[s]]
        begin = ends[s]
        count_with_any(planes, first, n_levels, chosen, partial, digits, source, out[starts[s] :])
        take_out_any(n_levels, chosen, out[starts[s] :])


@kernel
def count_with_any(
    planes: Any, first: Any, n_levels: Any, chosen: Any, partial: Any, digits: Any, source: Any, out: Any
) -> None:
    """Fill a table in which the last level of each variable stands for any level.

    ``partial[source[d]]`` holds the rows that agree with the first d digits; only what changed is made anew.
    """
    m, n_words = len(chosen), planes.shape[1]
    size = 1
    for v in chosen:
        size *= n_levels[v]
    digits[:] = 0
    changed = 0
    for cell in range(size):
        for d in range(changed, m - 1):
            v = chosen[d]
            if digits[d] == n_levels[v] - 1:
                source[d + 1] = source[d]
                continue
            source[d + 1] = d + 1
            old, plane, new = partial[source[d]], planes[first[v] + digits[d]], partial[d + 1]
            for t in range(n_words):
                new[t] = old[t] & plane[t]
        v = chosen[m - 1]
        out[cell] = count_last(partial[source[m - 1]], planes, first[v], digits[m - 1], n_levels[v])
        changed = m - 1
        while changed >= 0 and digits[changed] == n_levels[chosen[changed]] - 1:
            digits[changed] = 0
            changed -= 1
        if changed >= 0:
            digits[changed] += 1


@kernel
def count_last(rows: Any, planes: Any, first: int, level: int, n_levels: int) -> Any:
    """Return how many of the rows have the level; of the last level, how many have any."""
    total = np.uint64(0)
    if level < n_levels - 1:
        plane = planes[first + level]
        for t in range(len(rows)):
            total += popcount(rows[t] & plane[t])
        return np.int64(total)
    for t in range(len(rows)):
        total += popcount(rows[t])
    return np.int64(total)


@kernel
def take_out_any(n_levels: Any, chosen: Any, table: Any) -> None:
    """Turn counts of any level into counts of the last level, one variable after the other."""
    size = 1
    for v in chosen:
        size *= n_levels[v]
    step = size
    for v in chosen:
        r = n_levels[v]
        step //= r
        for high in range(0, size, r * step):
            for low in range(high, high + step):
                for level in range(r - 1):
                    table[low + (r - 1) * step] -= table[low + level * step]


@kernel
def sorted_counts(tables: Any, starts: Any, sizes: Any, n_cells: Any) -> None:
    """Move the positive counts of each table to its front, in increasing order; write down how many."""
    for s in range(len(starts)):
        table = tables[starts[s] : starts[s] + sizes[s]]
        n = 0
        for cell in range(sizes[s]):
            count = table[cell]
            if count == 0:
                continue
            place = n
            while place > 0 and table[place - 1] > count and n < 32:
                table[place] = table[place - 1]
                place -= 1
            table[place] = count
            n += 1
        if n > 32:
            table[:n].sort()
        n_cells[s] = n


@kernel
def slot_of(keys: Any, key: int) -> int:
    """Return where a key stands or may be put in a hash table whose empty places hold -1."""
    mask = len(keys) - 1
    place = (((key ^ (key >> 31)) & 0x7FFFFFFF) * 0x9E3779B1 >> 16) & mask  # no more than 63 bits
    while keys[place] != -1 and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def refine(ids: Any, n_ids: int, codes: Any, n_levels: int, keys: Any, numbers: Any, out: Any) -> int:
    """Give the cells of a set with one more variable numbers; return how many may occur.

    Numbers run through the full table while that is small, otherwise through the occupied cells as they come.
    """
    n = len(codes)
    if n_ids * n_levels <= max(2 * n, _SMALL):
        for row in range(n):
            out[row] = ids[row] * n_levels + codes[row]
        return n_ids * n_levels
    keys[:] = -1
    n_out = 0
    for row in range(n):
        key = ids[row] * n_levels + codes[row]
        place = slot_of(keys, key)
        if keys[place] == -1:
            keys[place], numbers[place] = key, n_out
            n_out += 1
        out[row] = numbers[place]
    return n_out


@kernel
def cell_ids(codes: Any, n_levels: Any, chosen: Any) -> Any:
    """Return the number of each row's cell, and how many numbers may occur."""
    n = codes.shape[1]
    size = 16
    while size < 2 * n:
        size *= 2
    keys, numbers = np.empty(size, np.int64), np.empty(size, np.int64)
    ids, n_ids = np.zeros(n, np.int64), 1
    for v in chosen:
        n_ids = refine(ids, n_ids, codes[v], n_levels[v], keys, numbers, ids)
    return ids, n_ids


@kernel
def count_ids(ids: Any, n_ids: int, weights: Any) -> Any:
    """Return how many rows have each number."""
    counts = np.zeros(n_ids, np.int64)
    if len(weights) == 0:
        for row in range(len(ids)):
            counts[ids[row]] += 1
    else:
        for row in range(len(ids)):
            counts[ids[row]] += weights[row]
    return counts


@kernel
def count_levels(codes: Any, n_levels: Any, weights: Any) -> Any:
    """Return how many rows have each level of each variable, one variable after the other."""
    counts, start = np.zeros(n_levels.sum(), np.int64), 0
    for v in range(len(n_levels)):
        column = codes[v]
        for row in range(len(column)):
            counts[start + column[row]] += weights[row] if len(weights) > 0 else 1
        start += n_levels[v]
    return counts


@kernel
def log_sums(codes: Any, n_levels: Any, weights: Any, base_ids: Any, n_base: int, sets: Any, logs: Any) -> Any:
    """Return the sum of c log c over the cells of each set with the base; sets of one size, in order.

    What a set has in common with the one before is not numbered again.
    """
    n, (n_sets, m) = codes.shape[1], sets.shape
    size = 16
    while size < 2 * n:
        size *= 2
    keys, numbers = np.empty(size, np.int64), np.empty(size, np.int64)
    ids, n_ids = np.empty((m + 1, n), np.int64), np.empty(m + 1, np.int64)
    ids[0], n_ids[0] = base_ids, n_base
    sums = np.zeros(n_sets)
    for s in range(n_sets):
        same = 0
        while s > 0 and same < m and sets[s, same] == sets[s - 1, same]:
            same += 1
        for d in range(same, m):
            v = sets[s, d]
            n_ids[d + 1] = refine(ids[d], n_ids[d], codes[v], n_levels[v], keys, numbers, ids[d + 1])
        for count in count_ids(ids[m], n_ids[m], weights):
            sums[s] += x_log_x(logs, count)
    return sums


@kernel
def base_masks(planes: Any, first: Any, n_levels: Any, chosen: Any, masks: Any, at: int) -> int:
    """Write the rows of each occupied cell of a base as a slot of ``masks``; return how many there are."""
    n_words = planes.shape[1]
    size = 1
    for v in chosen:
        size *= n_levels[v]
    rows = np.empty(n_words, np.uint64)
    n = 0
    for cell in range(size):
        rest = cell
        rows[:] = ~np.uint64(0)
        for v in chosen:
            plane = planes[first[v] + rest % n_levels[v]]
            rest //= n_levels[v]
            for t in range(n_words):
                rows[t] &= plane[t]
        occupied = np.uint64(0)
        for t in range(n_words):
            occupied |= rows[t]
        if occupied:
            to = (at + n) // LANES * n_words * LANES + (at + n) % LANES
            for t in range(n_words):
                masks[to + t * LANES] = rows[t]
            n += 1
    return n


@kernel
def extend_bits(
    planes: Any, first: Any, n_levels: Any, words: Any, ones: Any, layout: Layout, bases: Any, logs: Any
) -> Any:
    """Return, per base and variable of the layout, the sum of c log c over the cells of both; and of each base.

    The rows of the bases' cells, side by side, are multiplied with all planes at once.
    """
    members, ends = bases
    n_words, n_slots = planes.shape[1], len(ones)
    n_masks, begin = 0, 0
    for s in range(len(ends)):
        size = 1
        for v in members[begin : ends[s]]:
            size *= n_levels[v]
        begin = ends[s]
        n_masks += size
    n_blocks = -(-n_masks // LANES)
    masks = np.zeros(n_blocks * n_words * LANES, np.uint64)
    stops = np.zeros(len(ends), np.int64)
    n_masks, begin = 0, 0
    for s in range(len(ends)):
        n_masks += base_masks(planes, first, n_levels, members[begin : ends[s]], masks, n_masks)
        begin = ends[s]
        stops[s] = n_masks
    n_blocks = -(-n_masks // LANES)
    counts = np.zeros((n_blocks * LANES, n_slots), np.int32)
    flat, step = counts.reshape(-1), n_words * LANES
    for plane in range(n_slots // LANES):
        for block in range(n_blocks):
            to = block * LANES * n_slots + plane * LANES
            product(masks, block * step, words, plane * step, n_words, flat, to, n_slots)
    return sum_extensions(counts, masks, stops, n_words, layout, logs)


@kernel
def sum_extensions(counts: Any, masks: Any, stops: Any, n_words: int, layout: Layout, logs: Any) -> Any:
    """Return the sums of c log c from the counts of the bases' cells with all slots."""
    sums, alone = np.zeros((len(stops), len(layout.block_of))), np.zeros(len(stops))
    begin = 0
    for s in range(len(stops)):
        for mask in range(begin, stops[s]):
            rows = np.uint64(0)
            at = mask // LANES * n_words * LANES + mask % LANES
            for t in range(n_words):
                rows += popcount(masks[at + t * LANES])
            n = np.int64(rows)
            alone[s] += x_log_x(logs, n)
            for v in range(len(layout.block_of)):
                block, lane = layout.block_of[v], layout.lane_of[v]
                if block < 0:
                    continue
                rest = n
                for plane in range(layout.levels[block] - 1):
                    count = np.int64(counts[mask, (layout.plane[block] + plane) * LANES + lane])
                    sums[s, v] += x_log_x(logs, count)
                    rest -= count
                sums[s, v] += x_log_x(logs, rest)
        begin = stops[s]
    return sums, alone
