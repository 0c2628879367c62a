"""The numbers of a hidden group, from rows or an exact joint: hidden part, share, p-value, what pairs show.

One place computes them, whoever found the group: the search by size, the search by the letter of the
definitions, an exact joint, or new rows that a group is put to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import comb, log, prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounter, CellCounts
from xordal.pi.joint import Joint
from xordal.statistics.bounds import information_bound
from xordal.statistics.criterion import Sample
from xordal.statistics.hidden import VISIBLE, Sharing, Unexplained
from xordal.types.groups import Submodel
from xordal.types.varsets import EMPTY, Link, LinkSet, VarSet, members

Floats = NDArray[np.float64]

MOST_CELLS = 20_000
"""Cells of the largest table that is fitted; the hidden part of a group with more is not computed."""


def full_table(counted: CellCounts, n_levels: Sequence[int]) -> Floats:
    """Return counts as a table with all cells, those of no rows among them."""
    table = np.zeros(tuple(n_levels))
    table[tuple(counted.cells.T)] = counted.counts
    return table


class Rows:
    """The tables of sets of variables in some rows.

    Parameters
    ----------
    counter
        Counts the rows.
    n_levels
        Of each variable.
    n_rows
        Number of rows.
    """

    def __init__(self, counter: CellCounter, n_levels: Sequence[int], n_rows: int) -> None:
        self._counter = counter
        self.n_levels = tuple(n_levels)
        self.n_rows = n_rows

    @classmethod
    def of(cls, sample: Sample) -> Rows:
        """Return the rows of a sample; of weighted or clustered ones, so many as say as much as plain ones."""
        assert sample.n_rows is not None and sample.counter is not None
        effective = sample.n_rows if sample.design is None else max(2, int(sample.design.effective_rows))
        return cls(sample.counter, sample.n_levels, effective)

    def n_cells(self, variables: int) -> int:
        """Return how many cells the table of some variables has."""
        return prod(self.n_levels[v] for v in members(variables))

    def tables(self, sets: Sequence[VarSet]) -> list[Floats]:
        """Return the tables of some sets, variables in increasing order."""
        found = [
            full_table(counted, [self.n_levels[v] for v in members(variables)])
            for variables, counted in zip(sets, self._counter.counts(sets), strict=True)
        ]
        return [table if table.sum() == self.n_rows else table * (self.n_rows / table.sum()) for table in found]

    def sharing(self, variables: int, context: int = EMPTY) -> Sharing:
        """Return what some variables share given others."""
        (table,) = self.tables([VarSet(variables | context)])
        return Sharing(_context_last(table, variables, context), self.n_rows, context.bit_count())


def _context_last(table: Floats, variables: int, context: int) -> Floats:
    whole = members(variables | context)
    order = [whole.index(v) for v in (*members(variables), *members(context))]
    return np.ascontiguousarray(table.transpose(order))


def measured(rows: Rows, submodel: Submodel, sharing: Sharing | None = None) -> Submodel:
    """Return a submodel with its numbers in some rows; those of tables too large to fit are left out."""
    if rows.n_cells(submodel.variables | submodel.context) > MOST_CELLS:
        return submodel
    found = sharing or rows.sharing(submodel.variables, submodel.context)
    log_p = found.log_p(found.hidden, found.margins(2))
    inside = members(submodel.variables)
    shares = {link: found.share(pair_part(found, inside, link)) for link in combinations(inside, 2)}
    return replace(
        submodel,
        total_correlation=found.total.nats,
        hidden=found.hidden.nats,
        share=found.share(),
        hidden_range=found.range(),
        log_p_value=log_p,
        log_p_corrected=corrected(log_p, len(rows.n_levels), submodel),
        pairwise_bound=_pairwise_bound(found, submodel),
        parts_share=max(found.part(part).nats for part in parts(found)),
        undecided=tuple(link for link, of in shares.items() if of.low <= VISIBLE <= of.high),
        turned=turned(found, inside) if not submodel.context else None,
    )


def measured_exactly(joint: Joint, submodel: Submodel) -> Submodel:
    """Return a submodel of an exact joint with its hidden part and share."""
    chosen = [joint.variables[v] for v in (*members(submodel.variables), *members(submodel.context))]
    table = joint.marginal(chosen).probabilities
    if table.size > MOST_CELLS:
        return submodel
    found = Sharing(table, None, submodel.context.bit_count())
    return replace(submodel, hidden=found.hidden.nats, share=found.share())


def corrected(log_p: float, n_variables: int, submodel: Submodel) -> float:
    """Return a log p-value corrected for all sets of as many variables, with as large a context."""
    size, given = submodel.variables.bit_count(), submodel.context.bit_count()
    return min(0.0, log_p + log(comb(n_variables, size) * comb(n_variables - size, given)))


def pair_part(found: Sharing, inside: Sequence[int], link: Link) -> Unexplained:
    """Return what two of the variables share by themselves."""
    return found.part((inside.index(link[0]), inside.index(link[1])))


def parts(found: Sharing) -> list[tuple[int, ...]]:
    """Return the axes of all variables but one, for each of them."""
    return list(combinations(found.own, len(found.own) - 1))


def _pairwise_bound(found: Sharing, submodel: Submodel) -> float | None:
    assert found.n_rows is not None
    inside, bounds = members(submodel.variables), []
    for u, v in submodel.colored_links():
        pair = pair_part(found, inside, (u, v))
        bounds.append(information_bound(pair.nats, pair.dof, found.n_rows))
    return max(bounds, default=None)


def turned(found: Sharing, inside: Sequence[int]) -> Link | None:
    """Return the two variables of two levels whose relation another turns round most surely, if any does.

    They go together where the other variables have some levels and exclude each other where they have others,
    both by more than two standard deviations of the log odds ratio, Bonferroni's correction for all strata and
    pairs included.
    """
    pairs: LinkSet = tuple(
        (x, y) for x, y in combinations(found.own, 2) if found.table.shape[x] == found.table.shape[y] == 2
    )
    n_strata = found.table.size // 4
    bar = _z_of(0.05 / (2 * max(1, len(pairs) * n_strata)))
    best: tuple[float, Link | None] = (bar, None)
    for x, y in pairs:
        z = _z_scores(found.table, x, y)
        sure = min(float(z.max()), float(-z.min()))
        if sure > best[0]:
            best = sure, (inside[x], inside[y])
    return best[1]


def _z_scores(table: Floats, x: int, y: int) -> Floats:
    """Return the log odds ratio over its standard deviation in each stratum, each cell with half a row more."""
    strata = np.moveaxis(table, (x, y), (0, 1)).reshape(2, 2, -1) + 0.5
    log_odds = np.log(strata[0, 0] * strata[1, 1] / (strata[0, 1] * strata[1, 0]))
    return np.asarray(log_odds / np.sqrt((1 / strata).sum(axis=(0, 1))))


def _z_of(tail: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(tail))
