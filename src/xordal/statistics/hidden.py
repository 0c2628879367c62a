"""Hidden is a matter of size: how much of what some columns share no pair of them shows.

With a hundred thousand rows no pair of real columns is exactly independent, so a group that must pass for
independent pair by pair is there at 10,000 rows and gone at 100,000, though nothing about it has changed. What
does not change is its size. Three columns share so many nats in all (the total correlation TC). The table of
largest entropy with the same pair margins holds what the pairs explain of it; the rest is *hidden*:

    hidden = mean of log(p / p2),    share = hidden / TC,

1 for an exclusive-or of fair bits, 0 where every dependence shows in pairs. Both numbers are too large by
chance, by about dof / 2n, and are put right for it before they are divided. Given a context, every margin holds
the context as well.

Cells of few rows add less chance than a degree of freedom each: of columns that depend on each other most cells
expect next to no row and add nothing. Both numbers are sums over the same cells, so both take the rows that
these expect from one table, p2. Were those of independent columns taken for TC, far too much would be
subtracted, and the share come out too large.

The interval of a share is that of a ratio: the standard deviation over the rows of

    psi = log(p / p2) - share * log(p / product of single margins)

and, since that vanishes at either end, the variance of the chi-squared that is left there. Pairs and parts of a
group have shares of the same kind: what they share by themselves, of what the whole does.

References: Schneidman et al. (2003) for the connected information; Amari (2001) for the decomposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.statistics.chi_squared import log_tail_of
from xordal.statistics.deviance import moments_of_fit
from xordal.statistics.fitting import Axes, fit_margins, model_parameters, terms_of
from xordal.statistics.gain_range import SURE, Range, corrected_range
from xordal.statistics.interaction import divergences, product_of_margins
from xordal.types.groups import Share

Floats = NDArray[np.float64]

LEAST_ROWS = 5
"""Rows for each occupied cell of a table, at least, for its hidden part to be told."""

VISIBLE = 0.05
"""A pair or part that holds more than this share of what a group shares is visible, one with less is hidden."""

_SPARSE = 20.0  # rows per cell below which the nominal degrees of freedom are not trusted
_BEYOND_DOUBT = -100.0  # log p-value that no better law would change the verdict on
_N_DRAWS, _MOST_DRAWN = 200, 128  # tables drawn, and the most cells one of them may have
_NO_ROWS = 1e-280  # expected of a cell, at least: the logarithm of a ratio to it is finite
_NOTHING = 1e-12  # nats in all, of which no part is a share


class Unexplained(NamedTuple):
    """What a fit to some margins leaves unexplained of a table.

    Attributes
    ----------
    nats
        The divergence of the table from the fit.
    dof
        Its degrees of freedom: cells that the margins allow less parameters of the model.
    log_ratios
        log(p / fitted) of each cell, 0 where the cell is empty; ``nats`` is its mean over the rows. Of a part
        of the columns, the axes of the others have the length 1.
    mean, variance
        Those of 2 n times the nats, were the fit the truth: of a table with many rows a cell, the degrees of
        freedom and twice as much.
    chance
        What chance adds on average to 2 n times the nats of the truth, whatever that is.
    """

    nats: float
    dof: int
    log_ratios: Floats
    mean: float
    variance: float
    chance: float

    def corrected(self, n_rows: int | None) -> float:
        """Return the nats less what chance adds on average; of an exact joint, as they are."""
        return self.nats if n_rows is None else max(0.0, self.nats - self.chance / (2 * n_rows))


@dataclass(frozen=True, eq=False)
class Sharing:
    """What the columns of one table share, and how it divides into what pairs show and what they hide.

    Parameters
    ----------
    table
        Counts or probabilities; one axis for each column, those of the context last.
    n_rows
        Number of rows; None for an exact joint.
    n_context
        How many of the last axes are the context.

    Examples
    --------
    >>> xor = np.array([[[250.0, 0], [0, 250]], [[0, 250], [250, 0]]])
    >>> found = Sharing(xor, 1000)
    >>> round(found.hidden.nats, 4), found.share().estimate
    (0.6931, 1.0)
    """

    table: Floats
    n_rows: int | None
    n_context: int = 0

    @cached_property
    def _context(self) -> Axes:
        return tuple(range(self.table.ndim - self.n_context, self.table.ndim))

    @property
    def own(self) -> Axes:
        """The axes that are not the context."""
        return tuple(range(self.table.ndim - self.n_context))

    def margins(self, size: int) -> list[Axes]:
        """Return the margins over so many of the columns, each with the context."""
        return [(*axes, *self._context) for axes in combinations(self.own, size)]

    @cached_property
    def _chances(self) -> Floats:
        return np.asarray(self.table / self.table.sum())

    @cached_property
    def total(self) -> Unexplained:
        """All that the columns share: what their single margins leave unexplained."""
        fitted = product_of_margins(self.table[None], self.n_context)[0]
        found = away(self.table, fitted, self.margins(1))
        if not _has_sparse_counts(self.table):
            return found
        if len(self.own) == 2:  # no table is known between the independent one and the data themselves
            return found._replace(chance=max(found.dof, found.mean))
        return found._replace(chance=moments_of_fit(self.table, self._fitted_to_pairs, self.margins(1))[0])

    @cached_property
    def _fitted_to_pairs(self) -> Floats:
        return np.asarray(fit_margins(self.table[None], self.margins(2))[0])

    @cached_property
    def hidden(self) -> Unexplained:
        """What no pair shows."""
        return away(self.table, self._fitted_to_pairs, self.margins(2))

    def beyond(self, groups: Sequence[Axes]) -> Unexplained:
        """Return what neither pairs nor some groups of the columns show."""
        pairs = [pair for pair in self.margins(2) if not any(set(pair) <= set(group) for group in groups)]
        return unexplained(self.table, [*pairs, *groups])

    @cached_property
    def _parts(self) -> dict[Axes, Unexplained]:
        """The parts asked for so far: kind, shares and bounds of a group each ask for all of its pairs."""
        return {}

    def part(self, axes: Axes) -> Unexplained:
        """Return what some of the columns share by themselves."""
        if axes not in self._parts:
            self._parts[axes] = self._part(axes)
        return self._parts[axes]

    def _part(self, axes: Axes) -> Unexplained:
        kept = (*axes, *self._context)
        others = tuple([axis for axis in range(self.table.ndim) if axis not in kept])
        table = self.table.sum(axis=others, keepdims=True)
        nats, dof, logs, *moments = Sharing(table.squeeze(others), self.n_rows, self.n_context).total
        return Unexplained(nats, dof, logs.reshape(table.shape), *moments)

    def estimate(self, part: Unexplained) -> float:
        """Return a part's share of all that is shared, without its interval."""
        whole = self.total.corrected(self.n_rows)
        return 0.0 if whole <= _NOTHING else min(1.0, part.corrected(self.n_rows) / whole)

    def share(self, part: Unexplained | None = None) -> Share:
        """Return a part's share of all that is shared, with its 95 % interval; by default the hidden one's."""
        part = self.hidden if part is None else part
        estimate, whole = self.estimate(part), self.total.corrected(self.n_rows)
        if whole <= _NOTHING:
            return Share(0.0, 0.0, 0.0 if self.n_rows is None else 1.0)
        if self.n_rows is None:
            return Share(estimate, estimate, estimate)
        half = SURE * sqrt(self._variance(part, estimate)) / whole
        return Share(estimate, max(0.0, estimate - half), min(1.0, estimate + half))

    def range(self, part: Unexplained | None = None) -> Range:
        """Return the 95 % range of a part in nats, by default of the hidden one; of counts only."""
        assert self.n_rows is not None
        part = self.hidden if part is None else part
        spread = float((self._chances * (part.log_ratios - part.nats) ** 2).sum())
        return corrected_range(
            part.nats, spread, round(part.chance), self.n_rows, int(np.count_nonzero(self.table))
        )

    def _variance(self, part: Unexplained, share: float) -> float:
        """Return the variance of part - share * total, of the first order and of the second."""
        assert self.n_rows is not None
        psi = part.log_ratios - share * self.total.log_ratios
        mean = float((self._chances * psi).sum())
        first = float((self._chances * (psi - mean) ** 2).sum()) / self.n_rows
        rest = max(self.total.dof - part.dof, 0)
        second = 2 * (part.dof * (1 - share) ** 2 + rest * share**2) / (2 * self.n_rows) ** 2
        return first + second

    def quick_log_p(self, part: Unexplained) -> float:
        """Return the log p-value of a part without drawing anything: the larger one of two laws.

        One is chi-squared, the other a gamma law with the moments that cells of few rows have
        (:mod:`xordal.statistics.deviance`). Each is too small where the other one is right.
        """
        assert self.n_rows is not None
        if part.dof <= 0:
            return 0.0
        g2 = 2 * self.n_rows * part.nats
        return max(log_tail_of(g2, part.dof), _gamma_log_tail(g2, part.mean, part.variance))

    def log_p(self, part: Unexplained, margins: Sequence[Axes]) -> float:
        """Return the log p-value of what a fit to some margins leaves unexplained.

        The quick one; of a small table with few rows a cell, one from tables drawn from the fit where that is
        larger.
        """
        assert self.n_rows is not None
        quick = self.quick_log_p(part)
        if self.table.size > _MOST_DRAWN or not _BEYOND_DOUBT < quick < -1.0:
            return quick
        # A fifth of the cells with fewer than five rows: there chi-squared is off also where rows are many.
        if not is_sparse(self.table) and np.quantile(self.table, 0.2) >= LEAST_ROWS:
            return quick
        return max(quick, _gamma_log_tail(2 * self.n_rows * part.nats, *_drawn_moments(self.table, margins)))


def is_sparse(table: Floats) -> bool:
    """Whether the degrees of freedom of a table of counts are not trusted."""
    return bool(table.sum() < _SPARSE * table.size)


def _has_sparse_counts(table: Floats) -> bool:
    """Whether a table is sparse; shares that sum to one are no counts: an exact joint has no chance in it."""
    return is_sparse(table) and bool(table.sum() > 1.5)


def has_rows_enough(table: Floats) -> bool:
    """Whether a table of counts can tell what is hidden: five rows for each cell that has any."""
    return bool(table.sum() >= LEAST_ROWS * np.count_nonzero(table))


def _gamma_log_tail(g2: float, mean: float, variance: float) -> float:
    if mean <= 0 or variance <= 0:
        return -inf
    dof = 2 * mean * mean / variance
    return log_tail_of(g2 * dof / mean, dof)


def unexplained(table: Floats, margins: Sequence[Axes]) -> Unexplained:
    """Return what a fit to some margins leaves unexplained of a table.

    Examples
    --------
    >>> copies = np.array([[50.0, 0], [0, 50]])
    >>> found = unexplained(copies, [(0,), (1,)])
    >>> round(found.nats, 4), found.dof
    (0.6931, 1)
    """
    return away(table, fit_margins(table[None], margins)[0], margins)


def away(table: Floats, fitted: Floats, margins: Sequence[Axes]) -> Unexplained:
    """Return what a fitted table leaves unexplained of a table; the margins are those it agrees on."""
    # A cell with rows that the fit has made zero to rounding has next to none.
    logs = np.log(table / np.maximum(fitted, _NO_ROWS), out=np.zeros_like(table), where=table > 0)
    nats = max(float((table * logs).sum() / table.sum()), 0.0)
    dof = degrees_of_freedom(table, margins)
    mean, variance = moments_of_fit(table, fitted, margins) if _has_sparse_counts(table) else (dof, 2 * dof)
    return Unexplained(nats, dof, logs, mean, variance, chance=mean)


def degrees_of_freedom(table: Floats, margins: Sequence[Axes]) -> int:
    """Return the cells that the margins of a table allow, less the parameters that these margins fix.

    Where all cells of the margins are occupied this is the nominal number. A cell of a margin without a row
    takes the cells of the table above it away, and a parameter.

    Examples
    --------
    >>> degrees_of_freedom(np.ones((2, 3, 4)), [(0, 1), (0, 2), (1, 2)])
    6
    """
    if table.all() or all(
        _margin(table, axes).all() for axes in margins
    ):  # then so are all cells of the terms inside them
        return table.size - model_parameters(table.shape, margins)
    allowed = np.ones(table.shape, dtype=np.bool_)
    occupied: dict[Axes, int] = {}
    for term in terms_of(tuple(margins)):
        is_there = _margin(table, term) > 0
        occupied[term] = int(is_there.sum())
        allowed &= is_there
    own: dict[Axes, int] = {}
    for term, count in occupied.items():  # small ones first: what a term adds to those inside it
        inside = sum(own[part] for size in range(len(term)) for part in combinations(term, size))
        own[term] = max(0, count - inside)
    return max(0, int(allowed.sum()) - sum(own.values()))


def _margin(table: Floats, axes: Axes) -> Floats:
    """Return a margin of a table, with as many axes as the table."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.sum(axis=others, keepdims=True))


def _drawn_moments(table: Floats, margins: Sequence[Axes]) -> tuple[float, float]:
    """Return mean and variance of G2 in tables drawn from the fit; the seed follows from the table's size.

    Half a row more in each cell, before it is fitted: a fit takes its own chance for structure, and tables
    drawn from it as it is lie closer to their fits than the data do.
    """
    n_rows = round(float(table.sum()))
    chances = fit_margins(table[None] + 0.5, margins, is_exact=False)[0].reshape(-1)
    generator = np.random.default_rng([n_rows, table.size])
    draws = generator.multinomial(n_rows, chances / chances.sum(), size=_N_DRAWS).astype(np.float64)
    shaped = draws.reshape(_N_DRAWS, *table.shape)
    g2 = 2 * n_rows * divergences(shaped, fit_margins(shaped, margins, is_exact=False))
    return float(g2.mean()), float(g2.var(ddof=1))
