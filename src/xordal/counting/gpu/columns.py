"""Columns as bit planes in slots, and the basis that makes a bound a sum of squares.

A variable with r levels has r - 1 planes: 0/1 columns for all levels but the most common one, the rarest first.
All variables of a table get as many slots: 1, 2 or 4, whatever the largest needs; slots without a plane are
empty.

Let p_a be the share of plane a and R_a the share of the rows that are in no plane before a. Given that a row is
in none of these, it is in plane a with probability part_a = p_a / R_a, so what plane a tells beyond the planes
before it is x_a - part_a (1 - x_0 - ... - x_(a-1)). That has mean 0, is uncorrelated with the planes before,
and its variance is R_a part_a (1 - part_a) = 1 / weight_a^2. So with

    u_a = weight_a (x_a + part_a (x_0 + ... + x_(a-1))),    kappa_a = weight_a part_a = E[u_a],

the functions u_a - kappa_a are orthonormal, and with the constant they span all functions of the levels. For a
binary variable u = x / sd and kappa = p / sd. Since the most common level has no plane, part_a is at most 1/2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.gpu.engine import LEVELS, TILE_J

PLANES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4}
"""Slots that a variable of so many levels needs."""


class Slots(NamedTuple):
    """Variables in slots; variable v has the slots v planes to v planes + planes - 1."""

    planes: int
    variable: NDArray[np.int32]  # (slots,) its place among the variables
    level: NDArray[np.int32]  # (slots,) the code that makes a one; -1 in an empty slot
    weight: NDArray[np.float64]  # (slots,) see above; 0 in an empty slot
    part: NDArray[np.float64]  # (slots,)

    def only(self, rows: slice) -> Slots:
        """Return some of the slots."""
        return Slots(self.planes, self.variable[rows], self.level[rows], self.weight[rows], self.part[rows])

    def padded(self, n: int) -> Slots:
        """Return the slots and empty ones, n together."""
        fill = [(0, n - len(self.level))]
        return Slots(
            self.planes,
            np.pad(self.variable, fill),
            np.pad(self.level, fill, constant_values=-1),
            np.pad(self.weight, fill),
            np.pad(self.part, fill),
        )

    @property
    def kappa(self) -> NDArray[np.float64]:
        """The mean of u, by slot."""
        return self.weight * self.part


def slots_of(level_counts: NDArray[np.int64], planes: int, *, padding: int = TILE_J) -> Slots:
    """Return the slots of variables, given how many rows have each level, shape (variables, LEVELS - 1).

    Examples
    --------
    >>> slots = slots_of(np.array([[6, 2, 0, 0, 0], [1, 3, 4, 0, 0]]), 2, padding=4)
    >>> slots.level.tolist(), slots.part.tolist()
    ([1, -1, 0, 1], [0.25, 0.0, 0.125, 0.42857142857142855])
    """
    n = level_counts.shape[0]
    n_rows = level_counts.sum(axis=1, keepdims=True).astype(np.float64)
    # Stable, so that of equally common levels the last is left out; levels that do not occur have no plane.
    order = np.argsort(level_counts, axis=1, kind="stable")
    counts = np.take_along_axis(level_counts, order, axis=1)[:, LEVELS - 2 - planes : LEVELS - 2]
    levels = order[:, LEVELS - 2 - planes : LEVELS - 2]
    # Planes that are there to the front, in the same order.
    front = np.argsort(counts == 0, axis=1, kind="stable")
    counts, levels = np.take_along_axis(counts, front, axis=1), np.take_along_axis(levels, front, axis=1)
    shares = counts / n_rows
    rest = 1.0 - (np.cumsum(counts, axis=1) - counts) / n_rows
    part = shares / rest
    with np.errstate(divide="ignore"):
        weight = np.where(counts > 0, 1.0 / np.sqrt(rest * part * (1.0 - part)), 0.0)
    there = Slots(
        planes,
        (np.arange(n * planes) // planes).astype(np.int32),
        np.where(counts > 0, levels, -1).reshape(-1).astype(np.int32),
        weight.reshape(-1),
        np.where(counts > 0, part, 0.0).reshape(-1),
    )
    return there.padded(-(-n * planes // padding) * padding)
