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

Under the second hypothesis half of chi is nearly a bound for all numbers of levels, unless a table cell can
lack much of what is expected of it: ``limit_given``. So of two and of three levels only chi is computed, in
vectors, and few sets are left for anything closer.
"""

from __future__ import annotations

from math import expm1, sqrt
from typing import Any, NamedTuple

import numpy as np

from xordal.counting._cells import Layout, Margins
from xordal.counting._jit import inner, kernel
from xordal.counting._lanes import marks, squares, squares_alone, three_levels
from xordal.counting._llvm import LANES
from xordal.counting._measures import CHUNK, Room

SAFE = 1e-9  # far above the rounding of chi, far below any bar that matters
ALL_LANES = 255


_MOST_LEVELS = 3  # that chi is computed of in vectors


class Screen(NamedTuple):
    """What the screens of two and three levels need of each cell of the prefix and each slot."""

    rows: Any  # (cells x slots,) rows with the slot
    weight: Any  # (cells x slots,) w above
    mix: Any  # (cells x slots,) of three levels: how much of the second level is mixed into the first
    odds: Any  # (cells, blocks) rows without the rarest level per row with it, the most of a block's variables
    share: Any  # (slots,) p above
    own: Any  # (slots,) what a variable adds to chi by itself
    unit: Any  # (cells,) what turns squares of rows into chi
    is_given: bool  # whether j and k are compared given the prefix, and not all variables


@kernel
def screen_of(margins: Margins, layout: Layout, n_rows: int, is_given: bool) -> Screen:
    """Prepare the screens of two and three levels behind a prefix."""
    n_cells, n_slots, n = len(margins.rows), margins.ones.shape[1], float(n_rows)
    rows, weight, mix = np.empty(n_cells * n_slots), np.zeros(n_cells * n_slots), np.zeros(n_cells * n_slots)
    odds = np.zeros((n_cells, len(layout.levels)))
    own, unit = np.zeros(n_slots), np.zeros(n_cells)
    for cell in range(n_cells):
        in_cell = float(margins.rows[cell])
        unit[cell] = in_cell / n if is_given else margins.weight[cell] / (n * n)
        for slot in range(n_slots):
            at, ones = cell * n_slots + slot, float(margins.ones[cell, slot])
            rows[at] = ones
            if not is_given:
                weight[at] = layout.scale[slot] * layout.scale[slot]
                beyond = ones - in_cell * layout.share[slot]
                own[slot] += unit[cell] * weight[at] * beyond * beyond
    screen = Screen(rows, weight, mix, odds, layout.share, own, unit, is_given)
    if is_given:
        for cell in range(n_cells):
            for block in range(len(layout.levels)):
                if 2 <= layout.levels[block] <= _MOST_LEVELS:  # a constant has no plane
                    weigh(screen, layout, cell, block, float(margins.rows[cell]))
    return screen


@inner
def weigh(screen: Screen, layout: Layout, cell: int, block: int, in_cell: float) -> None:
    """Fill weights, mix and odds of the variables of a block, of two or three levels, in a cell.

    With d rows beyond chance of each level, zero in all, the sum of d^2 / expected is, for two levels,
    ``w d^2`` of the first. For three it is ``w (d + mix d')^2 + w' d'^2`` of the first and the second. A level
    without rows has d = 0, and instead of dividing by it nothing is added.
    """
    n_slots, n_planes = len(screen.share), layout.levels[block] - 1
    first = cell * n_slots + layout.plane[block] * LANES
    for lane in range(LANES):
        x = first + lane
        y = x + LANES * (n_planes - 1)
        one, other = screen.rows[x], (screen.rows[y] if n_planes == 2 else 0.0)
        last = in_cell - one - other
        a, b, c = _inverse(one), _inverse(other), _inverse(last)
        if n_planes == 1:
            screen.weight[x] = a + c if one > 0 and last > 0 else 0.0
        else:
            screen.weight[x], screen.mix[x] = a + c, c / (a + c) if a + c > 0 else 0.0
            screen.weight[y] = b + c - c * screen.mix[x]
        rarest = max(a, b, c)
        if rarest > 0:
            screen.odds[cell, block] = max(screen.odds[cell, block], rarest * in_cell - 1.0)


@inner
def _inverse(x: float) -> float:
    return 1.0 / x if x > 0 else 0.0


@inner
def limit_given(margins: Margins, screen: Screen, place: Any, bar: float, n_rows: int) -> float:
    """Return the chi below which no pair of a chunk reaches the bar given the prefix.

    With e the rows expected of a table cell and s the share of them that it lacks, it adds at most
    ``e/n s^2/2 (1 + s/3 + 2 s^2/3)`` to the divergence: see ``term``. So this is at most chi/2 times that
    bracket for the largest s. And with p and q the shares of the cell's two levels among the rows r of its
    cell of the prefix, ``s^2 <= chi n/r (1-p)/p (1-q)/q``, since what a cell lacks others of its row and column
    must have too much. So from an upper bound on the chi that is needed follows a lower one, and the other way
    round. The limit is a lower one.
    """
    j_block, k_block, n_blocks = place
    lacking = 0.0
    for cell in range(len(margins.rows)):
        most = 0.0
        for block in range(k_block, k_block + n_blocks):
            most = max(most, screen.odds[cell, block])
        lacking = max(lacking, most * screen.odds[cell, j_block] * n_rows / max(margins.rows[cell], 1))
    return limit_lacking(bar, lacking)


@inner
def limit_lacking(bar: float, lacking: float) -> float:
    """Return the same, given the largest s^2 / chi."""
    if bar <= 0:
        return limit_of(bar)
    limit, upper = bar, 2.0 * bar
    for _ in range(2):
        limit = 2.0 * bar / _bracket(upper * lacking)
        upper = 2.0 * bar / _bracket(limit * lacking)
    return max(limit * (1 - SAFE) - SAFE, limit_of(bar))


@inner
def _bracket(square: float) -> float:
    s = sqrt(min(square, 1.0))
    return 1.0 + s * (1.0 / 3.0 + s * (2.0 / 3.0))


@inner
def limit_of(bar: float) -> float:
    """Return the chi below which no set reaches the bar, less what rounding may do."""
    return expm1(min(bar, 700.0)) * (1 - SAFE) - SAFE


@inner
def screen_binary(
    margins: Margins, screen: Screen, layout: Layout, place: Any, limit: float, room: Room
) -> int:
    """Mark the pairs of a chunk, all binary, whose chi reaches the limit.

    Return the lanes of j with any, as bits. Two cells of the prefix at a time; where they are odd in number,
    the last with one that adds nothing.
    """
    j_block, k_block, n_blocks = place
    n_lanes, n_cells, n_slots = n_blocks * LANES, len(margins.rows), len(screen.share)
    at, any_mark = layout.plane[k_block] * LANES, 0
    rows, weight, share, unit = screen.rows, screen.weight, screen.share, screen.unit
    counts, chi, all_hits, in_cells = room.counts, room.chi, room.hits, margins.rows
    squared = 0.0
    for cell in range(n_cells):
        squared += unit[cell] * float(in_cells[cell]) * float(in_cells[cell])
    for lane in range(LANES):
        j, hits = layout.plane[j_block] * LANES + lane, all_hits[lane * CHUNK : (lane + 1) * CHUNK]
        start, own, own_at = (0.0 if screen.is_given else squared + screen.own[j] - 1.0), screen.own, at
        p_j, found, first = share[j], 0, counting(place, lane)
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
            t, t2 = (cell * LANES + lane) * n_lanes, (other * LANES + lane) * n_lanes
            places = (t, t2, cell * n_slots + at, other * n_slots + at, at, own_at, n_blocks, first)
            if screen.is_given and cell == 0:
                found = squares_alone(counts, rows, weight, share, own, chi, hits, places, terms)
            else:
                found = squares(counts, rows, weight, share, own, chi, hits, places, terms)
            start, own, own_at = 0.0, chi, 0
        any_mark |= (1 << lane) if found != 0 else 0
    return any_mark


@inner
def counting(place: Any, lane: int) -> int:
    """Return the lanes of the first block k that make pairs with a lane of block j: each pair counts once."""
    return ALL_LANES & ~((2 << lane) - 1) if place[0] == place[1] else ALL_LANES


@inner
def screen_threes(
    margins: Margins, screen: Screen, layout: Layout, place: Any, limit: float, room: Room
) -> int:
    """Mark the pairs of a chunk, all of three levels, whose chi given the prefix reaches the limit.

    Return the lanes of j with any, as bits.
    """
    j_block, k_block, n_blocks = place
    n_lanes, n_slots, any_mark = n_blocks * LANES, len(screen.share), 0
    at, tile = layout.plane[k_block] * LANES, LANES * n_lanes
    rows, weight, mix, unit = screen.rows, screen.weight, screen.mix, screen.unit
    counts, chi, in_cells = room.counts, room.chi, margins.rows
    for lane in range(LANES):
        j, hits, found = layout.plane[j_block] * LANES + lane, room.hits[lane * CHUNK : (lane + 1) * CHUNK], 0
        own, own_at, first = screen.own, at, counting(place, lane)  # own is zero
        for cell in range(len(in_cells)):
            x, n = cell * n_slots + j, float(max(in_cells[cell], 1))
            y, u = x + LANES, unit[cell]
            places = (4 * cell * tile + lane * n_lanes, tile, cell * n_slots + at, own_at, n_blocks, first)
            terms = (rows[x] / n, rows[y] / n, mix[x], u * weight[x], u * weight[y], limit)
            found = three_levels(counts, rows, weight, mix, own, chi, hits, places, terms)
            own, own_at = chi, 0
        any_mark |= (1 << lane) if found != 0 else 0
    return any_mark


@inner
def sharpen(margins: Margins, screen: Screen, layout: Layout, place: Any, bar: float, room: Room) -> None:
    """Take back the marks of binary pairs that a sharper bound shows to share less given the prefix.

    As ``limit_given``, but with what the cells of this pair lack, and not the most that any pair could.
    """
    j_block, k_block, n_blocks = place
    n_lanes, n_slots, at = n_blocks * LANES, len(screen.share), layout.plane[k_block] * LANES
    rows, weight, unit = screen.rows, screen.weight, screen.unit
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
                    total += 0.5 * unit[cell] * square * _bracket(lacks * lacks)
                if total * (1.0 + 1e-9) + 1e-12 < bar:
                    marked ^= np.uint8(1 << bit)
            hits[lane * CHUNK + q] = marked


@inner
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


@inner
def screen_levels(  # noqa: PLR0912 - one loop over lanes for each kind of cell
    margins: Margins, layout: Layout, place: Any, bar: float, n_rows: int, is_given: bool, room: Room
) -> int:
    """Mark the pairs of a chunk, of any numbers of levels, that can reach the bar.

    Return the lanes of j with any, as bits. Of many levels chi is about twice the divergence, and most sets
    reach half of what a bar asks for; so here each cell is bounded as closely as that can be done without a
    logarithm.
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
        chi, hits = room.chi, room.hits[lane * CHUNK : (lane + 1) * CHUNK]
        places = (n_blocks, counting(place, lane))
        any_mark |= (1 << lane) if marks(chi, chi, chi, chi, chi, chi, hits, places, (bar,)) != 0 else 0
    return any_mark
