"""Kernels that bound what sets share without a logarithm.

Of a set two things can be bounded, both by a sum of squares called *chi*. With p the observed share of a table
cell and q the share it would have under some hypothesis, the divergence of p from q is at most log(1 + chi)
where chi = sum p^2 / q - 1, by Jensen's inequality. So a set with log(1 + chi) below the bar is done.

* Under independence of all variables the divergence is the total correlation, which no measure exceeds.
* Under independence of the last two, j and k, given the prefix it is I(j; k | prefix), which no interaction
  exceeds (:mod:`xordal.counting.measures`); strong pairs of the prefix do not raise it.

For two binary variables in a cell of the prefix one number decides, t, the rows with the rarer level of both.
Under the first hypothesis write p in the basis of products of standardised variables, which is orthonormal under
independence: chi is the sum of squares of its coefficients, and only one of them depends on t. Under the second
all four cells are off by the same number of rows, t less what is expected. Either way t costs a few operations:
``chi += u w[k] (t - a x[k] - b p[k])^2``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xordal.counting._bits import LANES
from xordal.counting._cells import Layout, Margins
from xordal.counting._jit import kernel
from xordal.counting._measures import Room


class Screen(NamedTuple):
    """What the screen of binary variables needs of each cell of the prefix and each slot."""

    rows: Any  # (cells, slots) rows with the slot
    weight: Any  # (cells, slots) w above
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
    return Screen(rows, weight, layout.share, own, unit, is_given)


@kernel
def add_squares(t: Any, a: float, x: Any, b: float, p: Any, u: float, w: Any, chi: Any) -> None:
    """Add ``u w (t - a x - b p)^2`` to chi, for all lanes."""
    for k in range(len(chi)):
        beyond = t[k] - a * x[k] - b * p[k]
        chi[k] += (u * w[k]) * (beyond * beyond)


@kernel
def screen_binary(margins: Margins, screen: Screen, layout: Layout, place: Any, lane: int, room: Room) -> None:
    """Fill chi for one binary j and all binary k of a chunk."""
    j_block, k_block, n_blocks = place
    n_lanes, j = n_blocks * LANES, layout.plane[j_block] * LANES + lane
    at = layout.plane[k_block] * LANES
    chi, to = room.chi[:n_lanes], at + n_lanes
    start = 0.0
    if not screen.is_given:
        start = screen.own[j] - 1.0
        for cell in range(len(margins.rows)):
            start += screen.unit[cell] * float(margins.rows[cell]) * float(margins.rows[cell])
    own = screen.own[at:to]
    for k in range(n_lanes):
        chi[k] = start + own[k]
    for cell in range(len(margins.rows)):
        u = screen.unit[cell] * screen.weight[cell, j]
        if u == 0.0:
            continue
        in_cell, with_j = float(margins.rows[cell]), screen.rows[cell, j]
        a = with_j / in_cell if screen.is_given else screen.share[j]
        b = 0.0 if screen.is_given else with_j - in_cell * screen.share[j]
        first = (cell * LANES + lane) * n_lanes
        add_squares(
            room.counts[first : first + n_lanes], a, screen.rows[cell, at:to], b, screen.share[at:to], u,
            screen.weight[cell, at:to], chi,
        )  # fmt: skip


@kernel
def gather(margins: Margins, layout: Layout, place: Any, n_rows: int, is_given: bool, room: Room) -> None:
    """Fill the counts of all levels of the chunk in each cell, and their weights."""
    _, k_block, n_blocks = place
    k_levels = layout.levels[k_block]
    for cell in range(len(margins.rows)):
        for q in range(n_blocks):
            for k in range(LANES):
                x, last = q * LANES + k, margins.rows[cell]
                for c in range(k_levels):
                    count = last
                    if c < k_levels - 1:
                        count = margins.ones[cell, (layout.plane[k_block + q] + c) * LANES + k]
                        last -= count
                    room.levels[cell * k_levels + c, x] = count
                    inverse = layout.inverse[(layout.level[k_block + q] + c) * LANES + k]
                    if is_given:
                        inverse = 1.0 / count if count > 0 else 0.0
                    room.inverse[cell * k_levels + c, x] = inverse


@kernel
def screen_levels(
    margins: Margins, layout: Layout, place: Any, lane: int, n_rows: int, is_given: bool, room: Room
) -> None:
    """Fill chi for one j and all k of a chunk, of any numbers of levels, cell by cell of their tables."""
    j_block, k_block, n_blocks = place
    k_levels, j_planes = layout.levels[k_block], layout.levels[j_block] - 1
    k_planes, n_lanes, n = k_levels - 1, n_blocks * LANES, float(n_rows)
    chi = room.chi[:n_lanes]
    for k in range(n_lanes):
        chi[k] = 0.0 if is_given else -1.0
    first = lane * n_lanes
    for cell in range(len(margins.rows)):
        in_cell = float(margins.rows[cell])
        if in_cell == 0.0:
            first += j_planes * k_planes * LANES * n_lanes
            continue
        unit = in_cell / n if is_given else margins.weight[cell] / (n * n)
        for c in range(k_levels):
            left, level = room.low[c], room.levels[cell * k_levels + c]
            for k in range(n_lanes):
                left[k] = 0.0 if is_given else level[k]
        rest, end = in_cell, room.low[k_levels]
        for b in range(j_planes + 1):
            with_b = rest
            if b < j_planes:
                with_b = float(margins.ones[cell, (layout.plane[j_block] + b) * LANES + lane])
                rest -= with_b
            u = unit * layout.inverse[(layout.level[j_block] + b) * LANES + lane]
            if is_given:
                u = unit / with_b if with_b > 0 else 0.0
            a = with_b / in_cell if is_given else 0.0
            if b == j_planes:
                for c in range(k_levels):
                    square_up(room.low[c], u, room.inverse[cell * k_levels + c], chi)
                continue
            for k in range(n_lanes):
                end[k] = with_b - a * in_cell
            for c in range(k_planes):
                row, left = room.counts[first : first + n_lanes], room.low[c]
                level, inverse = room.levels[cell * k_levels + c], room.inverse[cell * k_levels + c]
                for k in range(n_lanes):
                    beyond = row[k] - a * level[k]
                    end[k] -= beyond
                    left[k] -= beyond
                    chi[k] += (u * inverse[k]) * (beyond * beyond)
                first += LANES * n_lanes
            square_up(end, u, room.inverse[cell * k_levels + k_planes], chi)
            left = room.low[k_planes]
            for k in range(n_lanes):
                left[k] -= end[k]


@kernel
def square_up(rows: Any, u: float, w: Any, chi: Any) -> None:
    """Add ``u w rows^2`` to chi, for all lanes."""
    for k in range(len(chi)):
        chi[k] += (u * w[k]) * (rows[k] * rows[k])
