"""Kernels that measure one set, from its full table, and keep those that reach the bar.

A set's table is row-major: an axis for the base, if there is one, and one for each variable, the last two being
j and k.
"""

from __future__ import annotations

from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from xordal.counting._cells import Layout, Margins
from xordal.counting._jit import inner, kernel
from xordal.counting._llvm import LANES

TOTAL, NEEDED, INTERACTION = 0, 1, 2
CHUNK = 32
"""Most blocks k that are counted at once: long loops over lanes, their counts still in the first cache."""
_MOST_ROUNDS = 200  # of fitting, after which what is known is a bound
_LOOK = 4  # rounds between two looks at whether a set still reaches the bar
_PRECISION = 1e-9  # largest difference of a margin, as a share of the rows, at which fitting ends


class Goal(NamedTuple):
    """What is sought, what each set is compared with, and what sets are made of.

    Bars and shapes have an index for the class of levels of each of the last three variables of a set; a shape
    is the number of a combination of levels. There is room for ``top`` values in each heap; none where all sets
    above the bar are wanted.
    """

    measure: int
    bars: Any  # (classes, classes, classes) nats
    shapes: Any  # (classes, classes, classes)
    floors: Any  # (shapes,) nats below which a set is not among the best
    heaps: Any  # (shapes, top) the best so far, the least of them first
    n_known: Any  # (shapes,) how many these are
    slack: float  # nats by which two values may be out of order
    dims: Any  # (axes,) levels of the base and the prefix
    alone: Any  # (axes,) their entropies
    entropies: Any  # (variables,) nats
    n_rows: int
    logs: Any  # c log c, as far as it goes


class Room(NamedTuple):
    """Working memory."""

    counts: Any  # (cells x planes x planes x lanes x lanes of the chunk,)
    chi: Any  # (lanes of the chunk,)
    hits: Any  # (lanes of j x blocks of a full chunk,) lanes of k whose chi reaches the limit, as bits
    levels: Any  # (cells x levels, lanes of the chunk) what their rows are in proportion to, by the hypothesis
    inverse: Any  # (cells x levels, lanes of the chunk) one over that
    start: Any  # (cells x levels, lanes of the chunk) rows of the cell beyond that
    low: Any  # (levels + 1, lanes of the chunk) rows left for the last level
    table: Any  # (table cells,) of one set
    fitted: Any  # (table cells,)
    wanted: Any  # (axes, table cells) margins
    dims: Any  # (axes,)
    alone: Any  # (axes,)


class Found(NamedTuple):
    """Sets found so far, in arrays that grow."""

    sets: Any
    shared: Any
    n: int


@inner
def x_log_x(logs: Any, count: Any) -> Any:
    """Return c log c, from the table as far as it goes."""
    if count < len(logs):
        return logs[count]
    return count * log(count)


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
def offer(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    margins: Margins, layout: Layout, place: Any, span: Any, kind: Any, lanes: int, goal: Goal, room: Room,
    found: Found,
) -> Found:  # fmt: skip
    """Add the marked sets that reach the bar, of the given lanes of j; raise the floor by what they reach."""
    j_block, k_block, n_blocks = place
    (low, high), n_axes, shape = span, len(room.dims), goal.shapes[kind]
    room.dims[n_axes - 2], room.dims[n_axes - 1] = layout.levels[j_block], layout.levels[k_block]
    for lane in range(LANES):
        j = layout.variables[j_block, lane]
        if not lanes >> lane & 1 or j < low:
            continue
        for q in range(n_blocks):
            marked = room.hits[lane * CHUNK + q]
            if marked == 0:
                continue
            for bit in range(LANES):
                k = layout.variables[k_block + q, bit]
                if not marked >> bit & 1 or k < low or min(j, k) >= high:
                    continue
                room.alone[n_axes - 2], room.alone[n_axes - 1] = goal.entropies[j], goal.entropies[k]
                fill_table(margins, layout, place, lane, q * LANES + bit, room)
                bar = max(goal.bars[kind], goal.floors[shape])
                value, is_known = measure_of(len(margins.rows), bar, goal, room)
                if value >= bar:
                    found = found_more(found, j, k, value)
                    if is_known:
                        raise_floor(goal, shape, value)
    return found


@inner
def raise_floor(goal: Goal, shape: int, value: float) -> None:
    """Take a value into the heap of its shape; once that is full, its least value makes the floor."""
    heap, top = goal.heaps[shape], goal.heaps.shape[1]
    if top == 0:
        return
    n = goal.n_known[shape]
    if n < top:
        at = n
        while at > 0 and heap[(at - 1) // 2] > value:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = value
        goal.n_known[shape] = n + 1
    elif value > heap[0]:
        at = 0
        while 2 * at + 1 < top:
            child = 2 * at + 1
            if child + 1 < top and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= value:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = value
    if goal.n_known[shape] == top:
        goal.floors[shape] = max(goal.floors[shape], heap[0] - goal.slack)


@inner
def fill_table(margins: Margins, layout: Layout, place: Any, lane: int, x: int, room: Room) -> None:
    """Fill the table of one set from the counts of its planes; other levels follow by subtraction."""
    j_block, k_block, n_blocks = place
    j_planes, k_planes = layout.levels[j_block] - 1, layout.levels[k_block] - 1
    k_levels, n_lanes, table = k_planes + 1, n_blocks * LANES, room.table
    slot_j, slot_k = (
        layout.plane[j_block] * LANES + lane,
        layout.plane[k_block + x // LANES] * LANES + x % LANES,
    )
    first, at = lane * n_lanes + x, 0
    for cell in range(len(margins.rows)):
        last = at + j_planes * k_levels
        corner = margins.rows[cell]
        for c in range(k_planes):
            table[last + c] = margins.ones[cell, slot_k + c * LANES]
            corner -= table[last + c]
        for b in range(j_planes):
            end = np.int64(margins.ones[cell, slot_j + b * LANES])
            for c in range(k_planes):
                count = np.int64(room.counts[first])
                table[at + c] = count
                end -= count
                table[last + c] -= count
                first += LANES * n_lanes
            table[at + k_planes] = end
            corner -= end
            at += k_levels
        table[at + k_planes] = corner
        at += k_levels


@inner
def measure_of(n_cells: int, bar: float, goal: Goal, room: Room) -> Any:
    """Return what is measured of the set in the table, and whether that is the number itself or a bound.

    A set that misses the bar may be left as soon as that is known.
    """
    n, n_axes = float(goal.n_rows), len(room.dims)
    size = n_cells * room.dims[n_axes - 2] * room.dims[n_axes - 1]
    whole = 0.0
    for cell in range(size):
        whole += x_log_x(goal.logs, room.table[cell])
    if goal.measure == INTERACTION:
        return interaction_of(n_cells, whole, bar, goal, room)
    total = whole / n - log(n)
    for axis in range(n_axes):
        total += room.alone[axis]
    if goal.measure == TOTAL or total < bar:
        return max(total, 0.0), True
    return needed_of(size, whole, goal, room), True


@inner
def needed_of(size: int, whole: float, goal: Goal, room: Room) -> float:
    """Return the least that a variable, or the base, shares with all the others."""
    n, least = float(goal.n_rows), inf
    below = size
    for axis in range(len(room.dims)):
        levels = room.dims[axis]
        below //= levels
        others = 0.0
        for high in range(0, size, levels * below):
            for low in range(high, high + below):
                count = np.int64(0)
                for level in range(levels):
                    count += room.table[low + level * below]
                others += x_log_x(goal.logs, count)
        least = min(least, room.alone[axis] + (whole - others) / n)
    return max(least, 0.0)


@inner
def interaction_of(n_cells: int, whole: float, bar: float, goal: Goal, room: Room) -> Any:
    """Return the interaction of the set in the table, or a bound, and whether it is the number itself."""
    n, n_axes = float(goal.n_rows), len(room.dims)
    given = max(given_prefix(n_cells, whole, goal, room) / n, 0.0)
    if given < bar or n_axes == 2:
        return given, n_axes == 2
    if n_axes == 3 and room.dims[0] == 2 and room.dims[1] == 2 and room.dims[2] == 2:
        given = given_another(room.table, whole, goal.logs) / n
        if given < bar:
            return given, False
        return interaction_of_bits(room.table, whole) / n, True
    return interaction_by_fitting(n_cells * room.dims[n_axes - 2] * room.dims[n_axes - 1], bar, goal, room)


@inner
def given_prefix(n_cells: int, whole: float, goal: Goal, room: Room) -> float:
    """Return the rows times what j and k share given the prefix."""
    n_axes = len(room.dims)
    j_levels, k_levels = room.dims[n_axes - 2], room.dims[n_axes - 1]
    total, at = whole, 0
    for _ in range(n_cells):
        in_cell = np.int64(0)
        for b in range(j_levels):
            count = np.int64(0)
            for c in range(k_levels):
                count += room.table[at + b * k_levels + c]
            total -= x_log_x(goal.logs, count)
            in_cell += count
        for c in range(k_levels):
            count = np.int64(0)
            for b in range(j_levels):
                count += room.table[at + b * k_levels + c]
            total -= x_log_x(goal.logs, count)
        total += x_log_x(goal.logs, in_cell)
        at += j_levels * k_levels
    return total


@inner
def given_another(table: Any, whole: float, logs: Any) -> float:
    """Return the rows times the less of what i shares with j given k, and with k given j; all are binary."""
    ij = ik = jk = j = k = 0.0
    for x in range(2):
        for y in range(2):
            ij += x_log_x(logs, table[4 * x + 2 * y] + table[4 * x + 2 * y + 1])
            ik += x_log_x(logs, table[4 * x + y] + table[4 * x + y + 2])
            jk += x_log_x(logs, table[2 * x + y] + table[2 * x + y + 4])
        j += x_log_x(logs, table[2 * x] + table[2 * x + 1] + table[2 * x + 4] + table[2 * x + 5])
        k += x_log_x(logs, table[x] + table[x + 2] + table[x + 4] + table[x + 6])
    return max(whole - max(ik + jk - k, ij + jk - j), 0.0)


@inner
def interaction_of_bits(table: Any, whole: float) -> float:  # noqa: PLR0912 - eight cells of two kinds
    """Return the rows times the interaction of three binary variables.

    Tables with the same pairs differ by d rows more in the cells with an even number of ones and d fewer in the
    others. The one of largest entropy has equal products of both kinds; that difference of logarithms grows
    with d, so its one root is found by Newton's method, kept within what is known to hold it.
    """
    low, high = float(table[0]), float(table[1])  # least of the even cells, and of the odd ones
    for cell in range(8):
        if (cell ^ cell >> 1 ^ cell >> 2) & 1:
            high = min(high, float(table[cell]))
        else:
            low = min(low, float(table[cell]))
    low = -low
    if low == high:  # no room to differ
        return 0.0
    d, width = 0.5 * (low + high), high - low
    if low < 0.0 < high:
        d = 0.0
    for _ in range(60):
        value, slope = 0.0, 0.0
        for cell in range(8):
            if (cell ^ cell >> 1 ^ cell >> 2) & 1:
                value -= log(table[cell] - d)
                slope += 1 / (table[cell] - d)
            else:
                value += log(table[cell] + d)
                slope += 1 / (table[cell] + d)
        if value > 0:
            high = d
        else:
            low = d
        step = value / slope
        d -= step
        if not low < d < high:
            d = 0.5 * (low + high)
        elif abs(step) <= 1e-12 * width:
            break
    total = whole
    for cell in range(8):
        if table[cell] > 0:
            is_odd = (cell ^ cell >> 1 ^ cell >> 2) & 1
            total -= table[cell] * log(table[cell] - d if is_odd else table[cell] + d)
    return max(total, 0.0)


@inner
def interaction_by_fitting(size: int, bar: float, goal: Goal, room: Room) -> Any:
    """Return the interaction of a table by iterative proportional fitting, and whether the fit is complete.

    The divergence from what is fitted so far only falls, so it is a bound at any time.
    """
    n, n_axes = float(goal.n_rows), len(room.dims)
    fitted, table = room.fitted, room.table
    for cell in range(size):
        fitted[cell] = 1.0
    below = size
    for axis in range(n_axes):
        levels = room.dims[axis]
        below //= levels
        at = 0
        for high in range(0, size, levels * below):
            for low in range(high, high + below):
                count = np.int64(0)
                for level in range(levels):
                    count += table[low + level * below]
                room.wanted[axis, at] = count
                at += 1
    value = inf
    for rounds in range(_MOST_ROUNDS):
        worst = fit_round(size, room)
        is_fitted = worst <= _PRECISION * n
        if is_fitted or rounds % _LOOK == 0 or rounds == _MOST_ROUNDS - 1:
            value = 0.0
            for cell in range(size):
                if table[cell] > 0:
                    value += table[cell] * log(table[cell] / fitted[cell])
            value = max(value / n, 0.0)
            if is_fitted or value < bar:
                return value, is_fitted
    return value, False


@inner
def fit_round(size: int, room: Room) -> float:
    """Fit one margin after the other; return by how much the worst of them was off."""
    fitted, worst, below = room.fitted, 0.0, size
    for axis in range(len(room.dims)):
        levels, at = room.dims[axis], 0
        below //= levels
        for high in range(0, size, levels * below):
            for low in range(high, high + below):
                now = 0.0
                for level in range(levels):
                    now += fitted[low + level * below]
                wanted = room.wanted[axis, at]
                worst = max(worst, abs(now - wanted))
                ratio = wanted / now if now > 0 else 0.0
                for level in range(levels):
                    fitted[low + level * below] *= ratio
                at += 1
    return worst
