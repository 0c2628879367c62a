"""Levels: up to which p-value a candidate is accepted, from its weight and from what is passed on to it.

The level of a hypothesis is alpha times its weight (:mod:`xordal.statistics.weights`), which depends on its
shape alone. A column x that joins columns C, linked with each other, has more where C is *shown*: where C by
itself would be accepted in a graph without links, its level passes on to those that join it. Whether C is shown
depends on the data and never on the path of the search. So a bar that needs no counts takes it for granted, and
C is looked at only where the p-value of x lies between its own level and the raised one.

Example: among 20 columns, with ``k = 3``, a third column that joins two has 1 / 61,644 of alpha by itself, and
besides 1 / 11,558 where a link between the two would be learned on its own.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from xordal.graph.pieces import pieces
from xordal.statistics.criterion import Evidence, Shape
from xordal.statistics.weights import Weights
from xordal.types.varsets import VarSet


class Levels:
    """The levels of one search, as logarithms.

    Parameters
    ----------
    log_alpha
        The log of the level of all hypotheses together.
    weights
        How it is shared.
    passes_on
        Whether what is shown passes its level on. That is proved for the probability of any false set, and not
        for the share of false sets.
    """

    def __init__(self, log_alpha: float, weights: Weights, passes_on: bool) -> None:
        self.log_alpha, self._passes_on = log_alpha, passes_on
        self._weights = weights
        self._log_weight, self._log_passed_on = cache(weights.log_weight), cache(weights.log_passed_on)

    def at(self, log_alpha: float) -> Levels:
        """Return the levels of the same weights at another alpha, which may exceed 1."""
        return Levels(log_alpha, self._weights, self._passes_on)

    def own(self, shape: Shape, is_filled: bool = False) -> float:
        """Return the level of a candidate by itself."""
        m, i, s = shape.n_variables, shape.n_links, shape.n_context
        return self.log_alpha + self._log_weight(m, i, s, is_filled=is_filled)

    def of_joining(self, shape: Shape) -> float:
        """Return the level of a column that joins others which are shown."""
        own = self.own(shape)
        if not self._passes_on:
            return own
        passed_on = self.log_alpha + self._log_passed_on(shape.n_variables, shape.n_context)
        return float(np.logaddexp(own, passed_on))

    def highest(self, found: Evidence, shape: Shape) -> float:
        """Return the level of a candidate, the columns that it joins taken to be shown."""
        return self.of_joining(shape) if joined(found) else self.own(shape, bool(found.fill_in))

    def highest_of(self, shape: Shape) -> float:
        """Return the highest level of any candidate of a shape, with fill-in or without."""
        is_joining = 2 <= shape.n_links == shape.n_variables - 1
        plain = self.of_joining(shape) if is_joining else self.own(shape)
        return max(plain, self.own(shape, is_filled=True))


def joined(found: Evidence) -> VarSet:
    """Return the columns, linked with each other, that a single one joins; none where the candidate is another.

    Where two pieces miss one link less than there are columns, one of them is a column and the other complete:
    pieces of p and q columns miss pq links at least, and pq = p + q - 1 is (p - 1)(q - 1) = 0.
    """
    n_links = len(found.links)
    if n_links < 2 or n_links != found.variables.bit_count() - 1 or found.fill_in or found.is_fixed:
        return VarSet(0)
    its_pieces = pieces(found.variables, found.links)
    return max(its_pieces, key=int.bit_count) if len(its_pieces) == 2 else VarSet(0)
