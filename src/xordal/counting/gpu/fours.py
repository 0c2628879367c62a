"""The screen of sets of four binary columns: the same bound, of products of two, three and four columns.

**The bound.** As in :mod:`~xordal.counting.gpu.screening`, a set whose measure is at least ``bar`` nats has chi
>= exp(bar) - 1. Of four binary columns h, i, j and k chi is a sum of eleven squares: the correlations rho of
six pairs, the third moments s of four triples, and t, the mean of the product of all four v = u - kappa. Where
no level is rare the limit is sharper, with K at most the sum of (1/m - 1)^n over all sets of n = 2, 3 and 4 of
the columns.

**Rounding.** Of binary columns kappa is at most 1 and a weight is at least 2. So E[u_i u_j] is at most 2, E[u_h
u_i u_j] at most 2 weight_h and E[u_h u_i u_j u_k] at most 2 weight_h weight_i. What is added up in t is at most
this, and a few products of kappas and the mean of three, each in at most eight operations that are right to
2^-24; and what goes into it, an s or rho, is off by less than 2^-19 (weight + 1). Together t is off by less
than eta = 2^-16 (weight_h + 1) (weight_i + 1), and an s or rho by less than a third of that. With the d of the
screen of triples, the limit is therefore lowered by 2 / d (1 + 10/9) eta^2.

**The second look** needs two counts only, of i, j, k and of all four: those of triples with h are in the table
that the screen itself uses, and those of single columns and of pairs follow from weight, part and rho.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from xordal.counting.gpu.engine import MEASURES, FoursJob
from xordal.counting.gpu.screening import ETA, SPARE, Columns, limits_of_binary, second_bar
from xordal.counting.oracle import Measure

MOST_ROWS = 1 << 20
"""Rows up to which counts follow from what is kept in single precision."""


class Fours:
    """Makes the calls that look at sets of four of some binary columns."""

    def __init__(self, columns: Columns) -> None:
        assert columns.slots.planes == 1
        self._columns = columns

    @cached_property
    def _rho(self) -> Any:
        columns = self._columns
        return columns.rho(columns.slots, columns.bits)

    def job(self, begin: int, end: int, bar: float, measure: Measure) -> FoursJob:
        """Return the call that looks at every set whose first column is in a range of places."""
        columns, slots = self._columns, self._columns.slots
        xp, n = columns.engine.xp, len(columns.n_levels)
        limits = limits_of_binary(bar, 4).astype(np.float32)
        scalars = np.zeros((columns.room_slots, 4), np.float32)
        scalars[:, 0], scalars[:, 1] = slots.weight / columns.n_rows, slots.part
        scalars[:n, 2] = limits[columns.kinds >> 3]
        return FoursJob(
            columns.bits,
            columns.of_slots,
            columns.of_variables,
            xp.asarray(scalars),
            self._rho,
            xp.asarray(limits),
            n,
            begin,
            end,
            columns.n_rows,
            MEASURES.index(measure),
            float(second_bar(bar)),
            2 / SPARE * (1 + 10 / 9) * ETA**2,
        )
