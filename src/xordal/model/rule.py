"""A rule in a network: it replaces the conditional of one of its columns.

Along a perfect order the network is the product of P0(x_v | earlier neighbours of v). Let c be the last column
of the rule in that order, and T the value that the others ask of it: f_c(x_c) = T makes the rule hold. Then

    P(x_c | earlier, T) = (1 - delta) P0(x_c | earlier) restricted to f_c(x_c) = T
                        +      delta  P0(x_c | earlier) restricted to f_c(x_c) not T

where "restricted" means divided by its own total, so that both parts sum to one. Where one of them is empty, or
the others do not say what they ask for, it is P0 alone. Levels of c without a value, a missing value that is a
level for instance, keep P0(x_c | earlier), and the two parts share what is left. delta is the share of rows
that break the rule, smoothed as a table of two cells is. So the joint stays a distribution, all other tables
stay as counted, and nothing has to be fitted: multiplying the whole network by a factor and normalising would
move the margins of all columns.

Since the network without the rule is the product of the P0, a rule multiplies the probability of a row by one
number, its *weight*: (1 - delta) / P0(f_c = T | earlier) where it holds and delta / P0(f_c not T | earlier)
where it does not, both given that x_c has a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xordal.model.parameters import Table
from xordal.model.smoothing import Backoff, Smoothing
from xordal.model.sums import UNKNOWN, Carrier, Numbers, added, n_marked, row_blocks, sums_of, values_of
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import VarSet, members

Floats = NDArray[np.float64]
_DENSE_CELLS = 2**18  # cells up to which P0(c | earlier) is made in full instead of looked up row by row


@dataclass(frozen=True, slots=True)
class NetworkRule:
    """A rule as part of a network.

    Attributes
    ----------
    rule
        What it says.
    last
        The column c whose conditional it replaces.
    earlier
        Those neighbours of c in the graph that come before it; the order has all other columns of the rule
        before it too, linked to it or not.
    n_asked
        Rows in which the other columns ask for a value of c, and c has one: all, unless levels have no value.
    n_broken
        Those of them in which c has another value.
    """

    rule: AdditiveRule
    last: int
    earlier: VarSet
    n_asked: int
    n_broken: int

    @property
    def scope(self) -> VarSet:
        """The last column and its earlier neighbours."""
        return VarSet(self.earlier | 1 << self.last)

    @property
    def carried(self) -> tuple[int, ...]:
        """The columns whose sum must be carried to the last one: those that are not linked to it."""
        return tuple(v for v in self.rule.variables if not self.scope >> v & 1)

    def delta(self, smoothing: Smoothing) -> float:
        """Return the probability that the rule is broken, from the counts and a network's smoothing."""
        rows = 1.0 if isinstance(smoothing, Backoff) else smoothing  # back-off ends in one row spread evenly
        return (self.n_broken + rows / 2) / (self.n_asked + rows) if self.n_asked + rows else 0.0

    def asked(self, codes: NDArray[np.integer]) -> Numbers:
        """Return what the value of the last column would have to be in each row; UNKNOWN where that is open."""
        others = [v for v in self.rule.variables if v != self.last]
        return _negative(sums_of(self.rule, codes, others), self.rule.modulus)

    def counted(self, codes: NDArray[np.integer], weights: NDArray[np.int64] | None) -> NetworkRule:
        """Return the same rule with the rows of a table counted."""
        n_asked = n_broken = 0
        for rows in row_blocks(codes.shape[1]):
            asked, own = self.asked(codes[:, rows]), self._own(codes[:, rows])
            is_asked = (asked != UNKNOWN) & (own != UNKNOWN)
            often = None if weights is None else weights[rows]
            n_asked += n_marked(is_asked, often)
            n_broken += n_marked(is_asked & (own != asked), often)
        return replace(self, n_asked=n_asked, n_broken=n_broken)

    def breaks(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which rows break the rule; one in which a column is missing or has no value does not."""
        return self.breaks_and_tells(codes)[0]

    def breaks_and_tells(self, codes: NDArray[np.integer]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows break the rule, and which could: those whose values all count."""
        asked, own = self.asked(codes), self._own(codes)
        tells = np.asarray((asked != UNKNOWN) & (own != UNKNOWN))
        return tells & (own != asked), tells

    def log_weights(
        self, codes: NDArray[np.integer], base: Table, n_levels: Sequence[int], delta: float
    ) -> Floats:
        """Return the logarithm of the weight of each row of level codes of all columns, none missing.

        ``base`` is P0 of the last column and its earlier neighbours.
        """
        chances = _given_earlier(self, codes, base, n_levels)
        asked, own = self.asked(codes), values_of(self.rule, self.last)
        logs = _log_weights(chances, own, asked[:, None], delta)
        return np.asarray(logs[np.arange(len(logs)), codes[self.last]])

    def weight_table(
        self, carrier: Carrier, base: Table, n_levels: Sequence[int], delta: float
    ) -> tuple[tuple[int, ...], Floats]:
        """Return the logarithm of the weight as a table, and its variables: the scope and what carries the sum.

        The variables are in increasing order, the carrier last. The sum that it tells is over the rule's
        constant and all columns that are not linked to the last one.
        """
        scope = members(self.scope)
        place = scope.index(self.last)
        chances = _conditional(base.cut({}, n_levels), place)[..., None]
        sums = np.reshape(carrier.sums, [1] * len(scope) + [-1])
        for axis, v in enumerate(scope):
            if v != self.last and v in self.rule.variables:
                shape = [1] * (len(scope) + 1)
                shape[axis] = -1
                sums = added(sums, values_of(self.rule, v).reshape(shape), self.rule.modulus)
        asked = _negative(sums, self.rule.modulus)
        own = values_of(self.rule, self.last)
        logs = _log_weights(np.moveaxis(chances, place, -1), own, np.moveaxis(asked, place, -1), delta)
        return (*scope, carrier.variable), np.moveaxis(logs, -1, place)

    def _own(self, codes: NDArray[np.integer]) -> Numbers:
        values = np.append(values_of(self.rule, self.last), UNKNOWN)
        # Codes of a table on disk have no sign, and Python's -1 is none of theirs.
        return np.asarray(values[np.maximum(codes[self.last].astype(np.intp), -1)])


def _negative(sums: Numbers, modulus: int) -> Numbers:
    opposite = -np.where(sums == UNKNOWN, 0, sums)
    return np.where(sums == UNKNOWN, UNKNOWN, opposite % modulus if modulus else opposite)


def _log_weights(chances: Floats, values: Numbers, asked: Numbers, delta: float) -> Floats:
    """Return the logarithms of weights; the last axis is that of the last column's levels.

    ``values`` are those of its levels, ``asked`` the one that the others ask for, its last axis of length 1.
    """
    has_value = values != UNKNOWN
    fits = (values == asked) & has_value
    obeying = np.where(fits, chances, 0.0).sum(axis=-1, keepdims=True)
    breaking = np.where(~fits & has_value, chances, 0.0).sum(axis=-1, keepdims=True)
    is_open = (asked == UNKNOWN) | (obeying <= 0) | (breaking <= 0) | ~has_value
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(fits, np.log(1 - delta) - np.log(obeying), np.log(delta) - np.log(breaking))
        logs = logs + np.log(obeying + breaking)
    return np.where(is_open, 0.0, logs)


def _conditional(logs: Floats, axis: int) -> Floats:
    """Return the distribution of one variable given the others; all zero where the others are impossible."""
    chances = np.exp(logs)
    total = chances.sum(axis=axis, keepdims=True)
    return np.asarray(chances / np.where(total > 0, total, 1.0))


def _given_earlier(
    rule: NetworkRule, codes: NDArray[np.integer], base: Table, n_levels: Sequence[int]
) -> Floats:
    """Return P0(c | earlier neighbours) in each row, shape (rows, levels of c)."""
    scope = members(rule.scope)
    place = scope.index(rule.last)
    chosen = codes[list(scope)]
    if base.n_cells <= _DENSE_CELLS or not hasattr(base, "log_prob_of"):
        table = np.moveaxis(_conditional(base.cut({}, n_levels), place), place, -1)
        return np.asarray(table[tuple(np.delete(chosen, place, axis=0))])
    n_own, n_rows = n_levels[rule.last], codes.shape[1]
    every = np.repeat(chosen, n_own, axis=1)
    every[place] = np.tile(np.arange(n_own), n_rows)
    return _conditional(base.log_prob_of(every).reshape(n_rows, n_own), 1)
