"""The screen: which sets of three parts can reach a bar, by a bound that no measure exceeds.

**The bound.** Let P be the distribution of a set of variables in the data and Q the product of its margins. The
total correlation is the divergence of P from Q, and by Jensen's inequality D(P | Q) = E_P[log P/Q] is at most
log E_P[P/Q] = log(1 + chi), where chi = sum over cells of P^2/Q - 1. Under Q the products of the variables'
basis functions u - kappa (:mod:`xordal.counting.gpu.columns`) are an orthonormal basis of the functions of a
cell, and P/Q has the coefficients E_P[product]. So chi is the sum of the squares of the correlations rho of all
pairs of slots of different variables, and of the third moments s of all triples of slots. Neither what the
least needed variable adds nor the interaction exceeds the total correlation. So a set whose measure, any of the
three, is at least ``bar`` nats has chi >= exp(bar) - 1, and one with less is discarded. Of a set of independent
columns n chi is about chi-squared with as many degrees of freedom as there are squares, so few sets pass that
should not; those with a strong pair do, and :mod:`xordal.counting.gpu.measuring` discards them.

**Where no level is rare** the bound is sharper. With x = P/Q - 1 in a cell, D(P | Q) is the mean under Q of (1
+ x) log(1 + x) - x, and that is g(x) x^2 with a g that falls from g(-1) = 1 over g(0) = 1/2 towards 0. By the
inequality of Cauchy and Schwarz, x^2 is at most chi times the sum of the squares of the products in the cell,
which is K = 1/Q - (sum of 1/Q of its levels) + 2 for the products of two and three variables. The sum is at
least 3 Q^(-1/3), so if no level of the three variables has a share below m, K is at most (1/m - 1)^2 (1/m + 2).
Therefore, if chi is less than L, no x is below -sqrt(L K), and D < g(-sqrt(L K)) L. The largest L for which
that is at most the bar is another limit, about 1.7 times as high for fair coins and a thousand rows; the higher
of the two is taken. Variables are put into classes by the share of their rarest level, and a set has the lowest
of its three classes.

**Rounding.** The device computes in single precision, each operation right to 2^-24. Counts are exact. Every u
is between 0 and its weight, and E[u^2] = 1 + kappa^2 with kappa^2 <= 5/2 for up to five levels (part_a <= 1/2,
and the two most common levels hold at least 2/5 of the rows). So E[u_i u_j u_k] <= weight_i (1 + 5/2), and all
that is added up in it is positive: its relative error is at most 24 units. Adding the errors of the products of
kappa and rho, an s or rho is off by at most eta = 2^-16 (weight_i + 1), weight_i the largest of the slots of i.
If t is what the device has for s, t^2 >= s^2 - 2 eta |s| >= (1 - 2 d) s^2 - 2 eta^2 / d for any d > 0 (where
|s| > eta / d the first term is enough, otherwise the second). With d = 2^-8 the limit of chi is therefore (1 -
2 d) (exp(bar) - 1), less 2 eta^2 / d for every square. The eight per mille cost next to nothing; the allowance
is below a tenth of the limits of ordinary tables, and where columns are very rare it lets more sets through,
never fewer.

**The second look.** For weak dependence log(1 + chi) is about twice the total correlation, so of the sets that
pass many are below the bar. They are therefore counted exactly and measured before they are written down:
binary columns by the measure that is asked for, others by the total correlation. Their shares of rows are right
to 2^-23 and so are their logarithms, but for the last two units, so that a sum of p log p over up to 125 cells
is off by less than 1e-6 (1 + log n), and what is measured by less than the 4e-5 nats by which the bar is
lowered. Where the bar is below ten times that, all sets are written down.
"""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.gpu.columns import PLANES, Slots, slots_of
from xordal.counting.gpu.engine import CLASSES, GROUP, LEVELS, MEASURES, PADDING, TILE_J, Engine, ScreenJob
from xordal.counting.oracle import Bar, Measure

SHARES = (0.0, 0.03, 0.08, 0.15, 0.22, 0.3, 0.4, 0.45)
"""Of the rarest level of a variable, from which on it belongs to a class."""
SPARE = 2.0**-8  # d above
ETA = 2.0**-16
_SECOND_LOOK = 4e-5  # nats by which a measure in single precision may be off
_LARGEST_BAR = 80.0  # nats whose exponential single precision still holds
_AT_ONCE = 1 << 22  # entries of rho made at a time: 32 MB in double precision
NOWHERE = (1 << 23) - 1  # place of an i that is padding: no j comes after it


class _Known(NamedTuple):
    """The variables in the place of i."""

    slots: Slots
    bits: Any
    places: NDArray[np.int64]  # of each slot
    kinds: NDArray[np.int64]  # of each variable
    first: int  # place, -1 of a base


class Columns:
    """The narrow columns of a table on a device.

    Parameters
    ----------
    engine
        The device.
    codes
        Its codes, shape (columns, rows).
    n_levels
        Levels of each column, at most five.
    """

    def __init__(self, engine: Engine, codes: Any, n_levels: NDArray[np.int64]) -> None:
        self.engine, self.codes, self.n_levels = engine, codes, n_levels
        self.n_rows = int(codes.shape[1])
        xp = engine.xp
        counts = level_counts(engine, codes)
        self.slots = slots_of(counts, PLANES[int(n_levels.max(initial=1))])
        self.bits = engine.pack(codes, self.slots.variable, self.slots.level)
        self.of_slots = xp.asarray(np.stack([self.slots.weight, self.slots.part], axis=1).astype(np.float32))
        room = len(self.slots.level) // self.slots.planes
        rarest = np.where(counts > 0, counts, self.n_rows).min(axis=1) / self.n_rows
        self.kinds = n_levels | (np.searchsorted(SHARES, rarest, side="right") - 1) << 3
        kinds = np.full(room, (CLASSES - 1) << 3, np.uint8)
        kinds[: len(n_levels)] = self.kinds
        self.of_variables = xp.asarray(kinds)

    @property
    def room_slots(self) -> int:
        """Slots in whole tiles."""
        return len(self.slots.level)

    def job(self, begin: int, end: int, bar: Bar, measure: Measure = "total") -> ScreenJob:
        """Return the call that looks at every triple whose first variable is in a range of places."""
        planes = self.slots.planes
        rows = slice(begin * planes, end * planes)
        own = self.slots.only(rows)
        bars = _bars(bar, set(self.n_levels.tolist()), None)
        places = np.repeat(np.arange(begin, end), planes)
        n_tiles = self.room_slots // TILE_J
        tiles = min((begin + 1) * planes // TILE_J, n_tiles), n_tiles  # j comes after the first i
        known = _Known(own, self.bits[rows], places, self.kinds[begin:end], begin)
        return self._job(known, bars, tiles, measure)

    def job_with(self, base: Columns, begin: int, end: int, bar: Bar, measure: Measure = "total") -> ScreenJob:
        """Return the call that looks at pairs together with a base, the one column of ``base``.

        All pairs come whose first variable is in a range of places; others may.
        """
        planes = base.slots.planes
        own = base.slots.only(slice(planes))
        n_base = int(base.n_levels[0])
        bars = _bars(bar, set(self.n_levels.tolist()), n_base)
        per_tile = TILE_J // self.slots.planes
        known = _Known(own, base.bits[:planes], np.full(planes, -1), base.kinds, -1)
        tiles = begin // per_tile, -(-end // per_tile)
        return self._job(known, bars, tiles, measure)

    def _job(
        self,
        known: _Known,
        bars: NDArray[np.float64],
        tiles_j: tuple[int, int],
        measure: Measure,
    ) -> ScreenJob:
        own, bits, places, kinds, i_first = known
        xp, planes = self.engine.xp, self.slots.planes
        n_i = -(-len(places) // PADDING) * PADDING
        i_bits = xp.zeros((n_i, self.bits.shape[1]), xp.uint32)
        i_bits[: len(places)] = bits
        scalars = np.zeros((n_i, 4), np.float32)
        scalars[: len(places), 0] = own.weight / self.n_rows
        scalars[: len(places), 1] = own.part
        n_squares = own.planes * planes**2 + planes**2 + 2 * own.planes * planes
        spare = n_squares * 2 / SPARE * ETA**2  # by (weight + 1)^2
        limits = _limits(bars)
        if own.planes == planes == 1:
            limits = limits[2, 2, 2]
            scalars[: len(places), 2] = limits[kinds >> 3]
        else:
            largest = np.repeat(own.weight.reshape(-1, own.planes).max(axis=1), own.planes)
            scalars[: len(places), 2] = spare * (largest + 1) ** 2
        packed = np.full(n_i, NOWHERE, np.int32)
        packed[: len(places)] = places & 0xFFFFFF | np.repeat(kinds, own.planes) << 24
        scalars[:, 3] = packed.view(np.float32)
        return ScreenJob(
            self.bits,
            self.of_slots,
            self.of_variables,
            i_bits,
            xp.asarray(scalars),
            self.rho(own, i_bits),
            xp.asarray(limits.astype(np.float32)),
            own.planes,
            planes,
            len(self.n_levels) * planes,
            i_first,
            self.n_rows,
            tiles_j,
            MEASURES.index(measure),
            xp.asarray(second_bar(bars).astype(np.float32)),
            spare,
            -(-len(places) // GROUP) * GROUP,
        )

    def rho(self, own: Slots, i_bits: Any) -> Any:
        """Return the correlations of the slots i with all slots, in single precision."""
        xp, n_i = self.engine.xp, i_bits.shape[0]
        found = xp.zeros((n_i, self.room_slots), xp.float32)
        of_i = own.padded(n_i)
        step = max(PADDING, _AT_ONCE // self.room_slots // PADDING * PADDING)
        for at in range(0, n_i, step):
            part = slice(at, at + step)
            some = of_i.only(part)
            counts = self.engine.pairs(i_bits[part], self.bits).astype(xp.float64)
            both = in_basis(xp, in_basis(xp, counts, self.slots, 1), some, 0) / self.n_rows
            found[part] = both - xp.asarray(some.kappa)[:, None] * xp.asarray(self.slots.kappa)
        return found


def level_counts(engine: Engine, codes: Any) -> NDArray[np.int64]:
    """Return how many rows have each level, shape (columns, LEVELS - 1)."""
    xp = engine.xp
    found = xp.zeros((codes.shape[0], LEVELS - 1), xp.int64)
    step = max(1, (1 << 28) // max(codes.shape[1], 1))
    for at in range(0, codes.shape[0], step):
        for level in range(LEVELS - 1):
            found[at : at + step, level] = (codes[at : at + step] == level).sum(axis=1)
    return np.asarray(found.get() if hasattr(found, "get") else found)


def in_basis(xp: Any, counts: Any, slots: Slots, axis: int) -> Any:
    """Return counts by planes as sums over rows of u, along one of two axes."""
    weight, part = xp.asarray(slots.weight), xp.asarray(slots.part)
    if axis == 0:
        weight, part = weight[:, None], part[:, None]
    if slots.planes == 1:
        return counts * weight
    shape = counts.shape
    split = (*shape[:axis], shape[axis] // slots.planes, slots.planes, *shape[axis + 1 :])
    planes = counts.reshape(split)
    before = (xp.cumsum(planes, axis=axis + 1) - planes).reshape(shape)
    return weight * (counts + part * before)


def _bars(bar: Bar, levels: set[int], n_base: int | None) -> NDArray[np.float64]:
    """Return the nats a set must reach, by the levels of i, j and k; infinite where there are no such sets."""
    found: NDArray[np.float64] = np.full((LEVELS, LEVELS, LEVELS), np.inf)
    for of_i, of_j, of_k in product(levels if n_base is None else {n_base}, levels, levels):
        shape = (of_j, of_k) if n_base is not None else (of_i, of_j, of_k)
        found[of_i, of_j, of_k] = bar(tuple(sorted(shape)))
    return found


def limits_of_binary(bar: float, size: int) -> NDArray[np.float64]:
    """Return what chi of a set of so many binary columns must reach, by class."""
    return np.array([limit_of(bar, share, size) for share in SHARES])


def second_bar(bar: Any) -> Any:
    """Return what a set must have at a second look, in single precision; -1 where all pass."""
    return np.where(bar > 10 * _SECOND_LOOK, bar - _SECOND_LOOK, -1.0)


def _limits(bars: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what chi must reach, by levels and class."""
    known = {bar: [limit_of(bar, share) for share in SHARES] for bar in set(bars.reshape(-1).tolist())}
    return np.array([known[bar] for bar in bars.reshape(-1).tolist()]).reshape(*bars.shape, CLASSES)


def limit_of(bar: float, share: float = 0.0, size: int = 3) -> float:
    """Return what chi must reach for a measure of ``bar`` nats where no level has a smaller share.

    ``size`` is the number of variables. Rounding of single squares is left out.

    Examples
    --------
    >>> round(limit_of(0.01), 4), round(limit_of(0.01, 0.5), 4)
    (0.01, 0.018)
    """
    if bar == np.inf:
        return np.inf
    if bar <= 0:
        return -1.0
    reached = float(np.expm1(min(bar, _LARGEST_BAR)))
    if share > 0:
        a = 1 / share - 1
        products = [comb(size, n) * a**n for n in range(2, size + 1)]
        reached = max(reached, _sharper(bar, sum(products)))
    return reached * (1 - 2 * SPARE - 1e-5)


def _sharper(bar: float, most: float) -> float:
    """Return the largest L with g(-sqrt(L K)) L <= bar, for K = ``most``, or a little less."""
    low, high = bar, 2 * bar
    for _ in range(40):
        middle = (low + high) / 2
        x = min(float(np.sqrt(middle * most)), 1.0)
        g = 1.0 if x == 1.0 else ((1 - x) * np.log1p(-x) + x) / x**2 if x > 1e-3 else 0.5 + x  # which is more
        low, high = (middle, high) if g * middle <= bar else (low, middle)
    return low
