"""Kernels that bound what sets share without a logarithm.

Of a set two things can be bounded, both by a sum of squares called *chi*. With p the observed share of a table
cell and q the share it would have under some hypothesis, the divergence of p from q is at most log(1 + chi)
where chi = sum p^2 / q - 1, by Jensen's inequality. So a set with log(1 + chi) below the bar is done.

* Under independence of all variables the divergence is the total correlation, which no measure exceeds.
* Under independence of the last two, j and k, given the prefix it is I(j; k | prefix), which no interaction
  exceeds (:mod:`xordal.counting.measures`); strong pairs of the prefix do not raise it.

For two binary variables in a cell of the prefix one number decides, t, the rows with the rarer level of both.
Under the first hypothesis write p in the basis of products of standardised variables, which is orthonormal
under independence: chi is the sum of squares of its coefficients, and only one of them depends on t. Under the
second all four cells are off by the same number of rows, t less what is expected. Either way t costs a few
operations:
``chi += u w[k] (t - a x[k] - b p[k])^2``.

With more levels the divergence is bounded cell by cell, more closely (``term``): half of chi, nearly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xordal.counting._cells import Layout, Margins
from xordal.counting._jit import kernel
from xordal.counting._lanes import marks, plain_squares, squares
from xordal.counting._llvm import LANES
from xordal.counting._measures import CHUNK, Room


class Screen(NamedTuple):
    """What the screen of binary variables needs of each cell of the prefix and each slot."""

    rows: Any  # (cells, slots) rows with the slot
    weight: Any  # (cells, slots) w above
    flat_rows: Any  # the same, one after the other
    flat_weight: Any
    share: Any  # (slots,) p above
    own: Any  # (slots,) what a variable adds to chi by itself
    unit: Any  # (cells,) what turns squares of rows into chi
    is_given: bool  # whether j and k are compared given the prefix, and not all variables


@kernel
def screen_of(margins: Margins, layout: Layout, n_rows: int, is_given: bool) -> Screen:
    """Prepare the screen of binary variables behind a prefix."""
    n_cells, n_slots, n = len(margins.rows), margins.ones.shape[1], float(n_rows)
    rows, weight = np.empty((n_cells, n_slots)), np.zeros((n_cells, n_slots))
    own, unit = np.zeros(n_slots), np.zeros(n_cells)
    for cell in range(n_cells):
        in_cell = float(margins.rows[cell])
        unit[cell] = in_cell / n if is_given else margins.weight[cell] / (n * n)
        for slot in range(n_slots):
            ones = float(margins.ones[cell, slot])
            rows[cell, slot] = ones
            if not is_given:
                weight[cell, slot] = layout.scale[slot] * layout.scale[slot]
                beyond = ones - in_cell * layout.share[slot]
                own[slot] += unit[cell] * weight[cell, slot] * beyond * beyond
            elif 0 < ones < in_cell:
                weight[cell, slot] = 1 / ones + 1 / (in_cell - ones)
    return Screen(rows, weight, rows.reshape(-1), weight.reshape(-1), layout.share, own, unit, is_given)


@kernel
def screen_binary(
    margins: Margins, screen: Screen, layout: Layout, place: Any, limit: float, room: Room
) -> int:
    """Mark the pairs of a chunk, all binary, whose chi reaches the limit; return whether there are any.

    Two cells of the prefix at a time; where they are odd in number, the last with one that adds nothing.
    """
    j_block, k_block, n_blocks = place
    n_lanes, n_cells, n_slots = n_blocks * LANES, len(margins.rows), len(screen.share)
    at, tile, any_mark = layout.plane[k_block] * LANES, LANES * n_lanes, 0
    rows, weight, share, unit = screen.flat_rows, screen.flat_weight, screen.share, screen.unit
    counts, chi, all_hits, in_cells = room.counts, room.chi, room.hits, margins.rows
    squared = 0.0
    for cell in range(n_cells):
        squared += unit[cell] * float(in_cells[cell]) * float(in_cells[cell])
    for lane in range(LANES):
        j, hits = layout.plane[j_block] * LANES + lane, all_hits[lane * CHUNK : (lane + 1) * CHUNK]
        start, own, own_at = (0.0 if screen.is_given else squared + screen.own[j] - 1.0), screen.own, at
        p_j, found = share[j], 0
        for cell in range(0, n_cells, 2):
            other = min(cell + 1, n_cells - 1)
            with_j, with_j2 = rows[cell * n_slots + j], rows[other * n_slots + j]
            n, n2 = float(max(in_cells[cell], 1)), float(max(in_cells[other], 1))
            u, u2 = unit[cell] * weight[cell * n_slots + j], unit[other] * weight[other * n_slots + j]
            if other == cell:
                u2 = 0.0
            terms = (p_j, with_j - n * p_j, u, p_j, with_j2 - n2 * p_j, u2, start, limit)
            if screen.is_given:
                terms = (with_j / n, 0.0, u, with_j2 / n2, 0.0, u2, start, limit)
            t = lane * n_lanes
            places = (t + cell * tile, t + other * tile, cell * n_slots + at, other * n_slots + at, at, own_at)
            if screen.is_given and cell == 0:
                found = plain_squares(counts, rows, weight, share, own, chi, hits, (*places, n_blocks), terms)
            else:
                found = squares(counts, rows, weight, share, own, chi, hits, (*places, n_blocks), terms)
            start, own, own_at = 0.0, chi, 0
        any_mark |= found
    if j_block == k_block:
        each_once(all_hits)
    return any_mark


@kernel
def each_once(hits: Any) -> None:
    """Take back the marks of pairs within a block that come twice."""
    for lane in range(LANES):
        hits[lane * CHUNK] &= np.uint8(255 & ~((2 << lane) - 1))


@kernel
def sharpen(margins: Margins, screen: Screen, layout: Layout, place: Any, bar: float, room: Room) -> None:
    """Take back the marks of binary pairs that a sharper bound shows to share less given the prefix.

    Of t = p/q and s = 1 - t, t log t - t + 1 is at most (1 - t)^2 / 2 where t >= 1, and otherwise the sum of
    s^m / (m (m - 1)) from m = 2 on, which is at most (s^2 + s^3) / 2. So a divergence is at most chi / 2 times
    1 + the largest s: half of the other bound where no cell lacks much.
    """
    j_block, k_block, n_blocks = place
    n_lanes, n_slots, at = n_blocks * LANES, len(screen.share), layout.plane[k_block] * LANES
    rows, weight, unit = screen.flat_rows, screen.flat_weight, screen.unit
    counts, in_cells, hits = room.counts, margins.rows, room.hits
    for lane in range(LANES):
        j = layout.plane[j_block] * LANES + lane
        for q in range(n_blocks):
            marked = hits[lane * CHUNK + q]
            if marked == 0:
                continue
            for bit in range(LANES):
                if not marked >> bit & 1:
                    continue
                x, total = q * LANES + bit, 0.0
                for cell in range(len(in_cells)):
                    n, with_j = float(in_cells[cell]), rows[cell * n_slots + j]
                    with_k = rows[cell * n_slots + at + x]
                    beyond = counts[(cell * LANES + lane) * n_lanes + x] - with_j * with_k / max(n, 1.0)
                    least = min(with_j * (n - with_k), (n - with_j) * with_k)
                    if beyond < 0:
                        least = min(with_j * with_k, (n - with_j) * (n - with_k))
                    lacks = min(abs(beyond) * n / least, 1.0) if least > 0 else 1.0
                    square = weight[cell * n_slots + j] * weight[cell * n_slots + at + x] * beyond * beyond
                    total += 0.5 * unit[cell] * square * (1.0 + lacks)
                if total * (1.0 + 1e-9) + 1e-12 < bar:
                    marked ^= np.uint8(1 << bit)
            hits[lane * CHUNK + q] = marked


@kernel
def gather(margins: Margins, layout: Layout, place: Any, is_given: bool, n_rows: int, room: Room) -> None:
    """Fill, for all levels of the chunk in each cell, what their rows are compared with, and their weights."""
    _, k_block, n_blocks = place
    k_levels, n = layout.levels[k_block], float(n_rows)
    for cell in range(len(margins.rows)):
        by_chance = n / margins.weight[cell] if margins.weight[cell] > 0 else 0.0
        for q in range(n_blocks):
            for k in range(LANES):
                x, last = q * LANES + k, margins.rows[cell]
                for c in range(k_levels):
                    count = last
                    if c < k_levels - 1:
                        count = margins.ones[cell, (layout.plane[k_block + q] + c) * LANES + k]
                        last -= count
                    at, inverse = (
                        cell * k_levels + c,
                        layout.inverse[(layout.level[k_block + q] + c) * LANES + k],
                    )
                    if is_given:
                        share, inverse = float(count), 1.0 / count if count > 0 else 0.0
                        room.start[at, x] = 0.0
                    else:
                        share = 1.0 / inverse if inverse > 0 else 0.0
                        room.start[at, x] = count - by_chance * share
                    room.levels[at, x], room.inverse[at, x] = share, inverse


@kernel
def term(weight: float, beyond: float, n: float) -> Any:
    """Return a bound on what a cell adds to a divergence, with weight 1 / (n expected), so many rows beyond.

    With s the share of the expected rows that it lacks, a cell adds expected / n times (1 - s) log(1 - s) + s:
    that is s^2/2 + s^3/6 + s^4/12 + ... Where s > 0 that is at most s^2/2 + s^3/6 + s^4/3, since s <= 1; and
    where s < 0 at most s^2/2 + s^3/6 + s^4/12, whose second derivative 1 + s + s^2 is no less than 1 / (1 - s).
    """
    s = -beyond * n * weight
    return weight * beyond * beyond * (0.5 + s * (1 / 6 + s * (1 / 3 if s > 0 else 1 / 12)))


@kernel
def screen_levels(  # noqa: PLR0912 - one loop over lanes for each kind of cell
    margins: Margins, layout: Layout, place: Any, bar: float, n_rows: int, is_given: bool, room: Room
) -> int:
    """Mark the pairs of a chunk, of any numbers of levels, that can reach the bar; return whether any can.

    Of many levels chi is about twice the divergence, and most sets reach half of what a bar asks for; so here
    each cell is bounded as closely as that can be done without a logarithm.
    """
    j_block, k_block, n_blocks = place
    k_levels, j_planes = layout.levels[k_block], layout.levels[j_block] - 1
    k_planes, n_lanes, n = k_levels - 1, n_blocks * LANES, float(n_rows)
    total, low, levels, inverses = room.chi[:n_lanes], room.low, room.levels, room.inverse
    counts, in_cells, ones = room.counts, margins.rows, margins.ones
    end, any_mark = low[k_levels], 0
    for lane in range(LANES):
        for k in range(n_lanes):
            total[k] = 0.0
        first = lane * n_lanes
        for cell in range(len(in_cells)):
            in_cell, rest = float(in_cells[cell]), float(in_cells[cell])
            for c in range(k_levels):
                left, start = low[c], room.start[cell * k_levels + c]
                for k in range(n_lanes):
                    left[k] = start[k]
            for b in range(j_planes + 1):
                with_b = rest
                if b < j_planes:
                    with_b = float(ones[cell, (layout.plane[j_block] + b) * LANES + lane])
                    rest -= with_b
                u = margins.weight[cell] / (n * n) * layout.inverse[(layout.level[j_block] + b) * LANES + lane]
                share = 1.0 / (n * u) if u > 0 else 0.0  # times that of k's level: the rows expected
                if is_given:
                    u, share = (in_cell / n / with_b if with_b > 0 else 0.0), with_b / max(in_cell, 1.0)
                if b == j_planes:
                    for c in range(k_levels):
                        left, inverse = low[c], inverses[cell * k_levels + c]
                        for k in range(n_lanes):
                            total[k] += term(u * inverse[k], left[k], n)
                    continue
                for k in range(n_lanes):
                    end[k] = 0.0 if is_given else with_b - share
                for c in range(k_planes):
                    row, left = counts[first : first + n_lanes], low[c]
                    level, inverse = levels[cell * k_levels + c], inverses[cell * k_levels + c]
                    for k in range(n_lanes):
                        beyond = row[k] - share * level[k]
                        end[k] -= beyond
                        left[k] -= beyond
                        total[k] += term(u * inverse[k], beyond, n)
                    first += LANES * n_lanes
                inverse, left = inverses[cell * k_levels + k_planes], low[k_planes]
                for k in range(n_lanes):
                    total[k] += term(u * inverse[k], end[k], n)
                    left[k] -= end[k]
        any_mark |= marks(room.chi, n_blocks, bar, room.hits[lane * CHUNK : (lane + 1) * CHUNK])
    if j_block == k_block:
        each_once(room.hits)
    return any_mark
