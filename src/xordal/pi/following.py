"""Which sets with a hidden part follow from groups that are listed, from links, or from a rule.

One true relation shows in many sets of columns. Take c = a xor b and e = c xor d. Two groups tell all there is,
but a, b, d and e depend on each other as well, and so do all five. Or take the parity of six columns whose
levels are not equally frequent: it shows a little in every five of them. Nobody wants a list of all these. So a
set is put to a test before it is listed: is there a table of largest entropy that

* agrees with the data on all pairs of the set and on the listed groups in it and around it,
* or, where the set lies inside a listed group, on all pairs of the group and its *highest interaction* alone:
  the one number that a parity is, without anything of the smaller sets inside,
* or on all pairs of the set and one more column, which is linked with it: many columns that each depend on a
  common one seem to interact when it is left out,

and that leaves nothing of the set open? Open is what is significant, corrected for all sets of the size, and
has a share of more than 5 % of what the set shares, lower limit. The tables are fitted over all columns
concerned, and then summed up to those of the set.

The highest interaction of a sum of many levels has too many numbers to be fitted. There the table agrees on the
pairs of the set and on how the part of the sum that lies in it is spread.

A rule of so many columns that no table holds it determines one of them from the others, and sets that hold this
one follow from the rule and from how the others are distributed. Which one that is cannot be seen; where three
sets inside the rule or more have a column in common, it is taken to be that (:func:`without_parts_of`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, log

import numpy as np

from xordal.graph.chordal import ChordalGraph
from xordal.pi.measuring import Floats, Rows
from xordal.statistics.fitting import Axes, fit_margins, fit_sum, fit_terms
from xordal.statistics.hidden import VISIBLE, Sharing, Unexplained, away
from xordal.types.groups import Submodel
from xordal.types.varsets import VarSet, members, varset

_MOST_AROUND = 256  # cells of a set together with the listed groups that overlap it
_MOST_BESIDE = 20_000  # cells of a set together with one more column
_ENOUGH = 3  # groups inside a rule with a column in common
_COLUMNS_BESIDE = 6  # columns tried, at most: those that share most with the columns of the set


class Following:
    """Tells which sets follow.

    Parameters
    ----------
    rows
        The tables of sets.
    graph
        The links that were learned.
    log_alpha
        Log of the level at which what is left open must be significant.
    """

    def __init__(self, rows: Rows, graph: ChordalGraph, log_alpha: float) -> None:
        self._rows = rows
        self._graph = graph
        self._log_alpha = log_alpha
        self._by_itself: dict[VarSet, Floats | None] = {}
        self._of_pair: dict[VarSet, float] = {}

    def shows_a_group(self, variables: VarSet, sharing: Sharing, groups: Sequence[Submodel]) -> bool:
        """Whether a set lies inside a group and shows nothing but that."""
        wider = [group for group in groups if variables & ~whole(group) == 0]
        return any(self._is_closed(sharing, left) for left in self._inside(variables, sharing, wider))

    def follows(self, variables: VarSet, sharing: Sharing, groups: Sequence[Submodel]) -> bool:
        """Whether a set follows from links and from groups that do not hold it."""
        others = [group for group in groups if variables & ~whole(group)]
        if self._is_closed(sharing, self._around(variables, sharing, others)):
            return True
        return any(self._is_closed(sharing, left) for left in self._beside(variables, sharing))

    def _is_closed(self, sharing: Sharing, left: Unexplained) -> bool:
        if sharing.share(left).low <= VISIBLE:
            return True
        n_choices = comb(len(self._rows.n_levels), len(sharing.own))
        return sharing.quick_log_p(left) + log(n_choices) > self._log_alpha

    def _inside(self, variables: VarSet, sharing: Sharing, groups: Sequence[Submodel]) -> Iterator[Unexplained]:
        """Yield what pairs and the highest interaction of each group leave open of a set inside it."""
        for group in groups:
            everything = whole(group)
            if everything not in self._by_itself:
                (table,) = self._rows.tables([everything])
                self._by_itself[everything] = fit_terms(table, [tuple(range(table.ndim))])
            fitted = self._by_itself[everything]
            if fitted is not None:
                yield away(sharing.table, _summed(fitted, everything, variables), sharing.margins(2))
            elif group.rule is not None and group.rule.kind == "sum":
                yield away(sharing.table, _with_sum(sharing.table, variables, group), sharing.margins(2))

    def _around(self, variables: VarSet, sharing: Sharing, groups: Sequence[Submodel]) -> Unexplained:
        """Return what pairs and groups in and around a set leave open of it."""
        near = [group for group in groups if (whole(group) & variables).bit_count() >= 2]
        everything, chosen = variables, []
        for group in sorted(near, key=lambda g: -(whole(g) & variables).bit_count()):
            wider = VarSet(everything | whole(group))
            if self._rows.n_cells(wider) <= max(_MOST_AROUND, self._rows.n_cells(variables)):
                everything = wider
                chosen.append(whole(group))
        if not chosen:
            return sharing.hidden
        (table,) = self._rows.tables([everything])
        fitted = fit_margins(table[None], _pairs_and(everything, chosen))[0]
        common = [VarSet(group & variables) for group in chosen if (group & variables).bit_count() >= 3]
        return away(sharing.table, _summed(fitted, everything, variables), _pairs_and(variables, common))

    def _beside(self, variables: VarSet, sharing: Sharing) -> Iterator[Unexplained]:
        """Yield what the pairs of a set and one more column, linked with all but one of it, leave open."""
        own, neighbours = members(variables), self._graph.neighbours
        near = [
            v
            for v in members(self._graph.around(variables) & ~variables)
            if (neighbours[v] & variables).bit_count() >= len(own) - 1
        ]
        if len(near) > _COLUMNS_BESIDE:
            near = sorted(near, key=lambda v: (-sum(self._shared(v, u) for u in own), v))[:_COLUMNS_BESIDE]
        for v in near:
            everything = VarSet(variables | 1 << v)
            if self._rows.n_cells(everything) <= _MOST_BESIDE:
                (table,) = self._rows.tables([everything])
                fitted = fit_margins(table[None], _pairs_and(everything, []), is_exact=False)[0]
                yield away(sharing.table, _summed(fitted, everything, variables), sharing.margins(2))

    def _shared(self, v: int, u: int) -> float:
        pair = varset((u, v))
        if pair not in self._of_pair:
            self._of_pair[pair] = self._rows.sharing(pair).total.nats
        return self._of_pair[pair]


def whole(group: Submodel) -> VarSet:
    """Return the variables of a group and its context."""
    return VarSet(group.variables | group.context)


def without_parts_of(sums: Sequence[VarSet], groups: Sequence[Submodel]) -> list[Submodel]:
    """Return the groups that do not follow from rules, each given by its columns.

    The column that a rule determines is taken to be the one that the most of the groups inside it hold, of
    these the last. Fewer than three groups may be relations of their own, and stay.

    Examples
    --------
    >>> rule, *sets = (VarSet(s) for s in (0b11111111, 0b10000011, 0b10001100, 0b10110000, 0b0111))
    >>> groups = [Submodel(s, (s,), "full", 0.1) for s in sets]
    >>> [bin(group.variables) for group in without_parts_of([rule], groups)]
    ['0b111']
    >>> len(without_parts_of([rule], groups[1:]))
    3
    """
    left = list(groups)
    for everything in sums:
        inside = [group for group in left if whole(group) != everything and not whole(group) & ~everything]
        if inside:
            held = {v: sum(whole(group) >> v & 1 for group in inside) for v in members(everything)}
            last = max(held, key=lambda v: (held[v], v))
            if held[last] >= _ENOUGH:
                left = [group for group in left if group not in inside or not whole(group) >> last & 1]
    return left


def _with_sum(table: Floats, variables: VarSet, group: Submodel) -> Floats:
    """Return the table of largest entropy with the pairs of a set, and with the part of a group's sum in it."""
    assert group.rule is not None and group.rule.additive is not None
    additive = group.rule.additive
    factor = dict(zip(additive.variables, additive.factors, strict=True))
    codes = np.indices(table.shape)
    values = sum(factor[v] * codes[axis] for axis, v in enumerate(members(variables)))
    return fit_sum(table, np.asarray(values) % additive.modulus)


def _pairs_and(variables: VarSet, groups: Sequence[VarSet]) -> list[Axes]:
    """Return groups, and the pairs that lie in none of them, as axes of the table of some variables."""
    own = members(variables)
    inside = [tuple(own.index(v) for v in members(group)) for group in groups]
    pairs = [pair for pair in combinations(range(len(own)), 2) if not any(set(pair) <= set(g) for g in inside)]
    return [*pairs, *inside]


def _summed(table: Floats, everything: VarSet, variables: VarSet) -> Floats:
    """Return a table summed up to some of its variables."""
    others = tuple(axis for axis, v in enumerate(members(everything)) if not variables >> v & 1)
    return np.asarray(table.sum(axis=others))
