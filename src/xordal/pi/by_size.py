"""Hidden groups in data by their size: sets inside a clique of which pairs explain too little.

Every subset of a clique, up to a bound, is a candidate, if there are five rows for each cell of its table that
has any, or if one column is a function of all others without an exception. Of these the sets count whose hidden
part is significant, corrected for all sets of the size, and more than 5 % of what they share. The surest comes
first, and is listed unless it follows from those that are listed already, from links, or from both
(:mod:`xordal.pi.following`). So a triple that is an exclusive-or is listed,
and the sets of four that hold it are not; a parity of five is listed, and the sets of three and four inside it,
in which it shows a little, are not. At the end a group goes that follows from others which came after it. Every
variable of a group is needed: each pair of variables depends on each other given all the rest.

When so many are listed that nobody reads them, the search ends: the sets that are left are counted.

The kind of a group follows from sizes as well (:data:`~xordal.statistics.hidden.VISIBLE`). A pair is visible
when the lower limit of its share of what the group shares is above 5 %, hidden when the upper limit is below,
and else undecided: it is then taken for what is more likely, and named. Visible pairs join variables into the
blocks of the partition. A group of one block is looked at once more, given each of its subsets: where pairs of
the others look independent given such a context it is a conditional group, otherwise an interaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, inf, log, prod

import numpy as np

from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.pi.colored import ColoredIMap, largest_size, links_colored
from xordal.pi.discover import Data, group_rule, judged
from xordal.pi.following import Following, whole
from xordal.pi.independence import Independence
from xordal.pi.measuring import MOST_CELLS, Floats, Rows, measured, pair_part, parts
from xordal.pi.rules import CLEARLY
from xordal.statistics.chi_squared import log_tail_of
from xordal.statistics.fitting import fit_margins
from xordal.statistics.hidden import VISIBLE, Sharing, degrees_of_freedom, has_rows_enough
from xordal.statistics.interaction import divergences, product_of_margins
from xordal.types.groups import GroupKind, Submodel
from xordal.types.varsets import EMPTY, Link, VarSet, members, varset

MOST_LISTED = 50
"""Groups that are listed, at most: weaker ones are counted."""

_MOST_AT_ONCE = 1_000_000  # cells fitted together
_LEAST_OF_A_RULE = 2  # rows a cell: with one a cell, leaving a row out leaves nothing to tell it by
_MOST_CONTEXT = 2  # variables: with more, contexts are many and their rows few


def discover_by_size(data: Data, graph: ChordalGraph, most_sets: int) -> ColoredIMap:
    """Return a learned graph with its hidden groups and the links they colour.

    ``most_sets`` bounds the subsets looked at in one clique: of a larger one the small subsets and the whole.
    """
    assert data.sample.counter is not None and data.sample.n_rows is not None
    rows = Rows.of(data.sample)
    sets, up_to = _candidates(graph, most_sets, rows)
    found = _with_a_hidden_part(data, rows, sets)
    listing = _Listing(data, rows, judged(data), Following(rows, graph, log(data.alpha)))
    n_examined = 0
    while n_examined < len(found) and len(listing.groups) < MOST_LISTED:
        data.check()
        listing.take(found[n_examined])
        n_examined += 1
    colored = tuple(link for link in links_colored(listing.groups) if link not in listing.visible)
    listing.thin_out()
    ordered = sorted(listing.groups, key=lambda group: (-round(group.size, 4), group.variables))
    n_following = n_examined - len(ordered)
    return ColoredIMap(graph, tuple(ordered), colored, up_to, n_following, len(found) - n_examined)


def _candidates(graph: ChordalGraph, most_sets: int, rows: Rows) -> tuple[list[VarSet], int | None]:
    """Return the subsets of cliques to look at, small ones first, and up to which size where not to all."""
    found: dict[VarSet, None] = {}
    up_to: int | None = None
    for clique in maximal_cliques(graph):
        n = clique.bit_count()
        if n < 3:
            continue
        bound = min(n, largest_size(n, most_sets))
        if bound < n:
            up_to = bound if up_to is None else min(up_to, bound)
        for size in (*range(3, bound + 1), *([n] if bound < n else [])):
            found.update(dict.fromkeys(map(varset, combinations(members(clique), size))))
    small = [variables for variables in found if rows.n_cells(variables) <= MOST_CELLS]
    return sorted(small, key=lambda variables: (variables.bit_count(), variables)), up_to


def _with_a_hidden_part(data: Data, rows: Rows, sets: Sequence[VarSet]) -> list[VarSet]:
    """Return the sets whose hidden part is significant and may be large, the surest first."""
    found: list[tuple[float, VarSet]] = []
    for shape, alike in _by_shape(rows, sets).items():
        n_choices = log(comb(len(rows.n_levels), len(shape)))
        at_once = max(1, _MOST_AT_ONCE // prod(shape))
        for start in range(0, len(alike), at_once):
            data.check()
            chosen = alike[start : start + at_once]
            tables = rows.tables(chosen)
            able = [
                place
                for place, table in enumerate(tables)
                if has_rows_enough(table) or _obeys_an_exact_rule(data, chosen[place], table)
            ]
            if able:
                log_ps = _nominal(np.array([tables[place] for place in able]), rows.n_rows) + n_choices
                found += zip(log_ps.round(6).tolist(), [chosen[place] for place in able], strict=True)
    sure = [one for one in found if one[0] <= log(data.alpha)]
    return [variables for _, variables in sorted(sure, key=lambda one: (one[0], one[1].bit_count(), one[1]))]


def _obeys_an_exact_rule(data: Data, variables: VarSet, table: Floats) -> bool:
    """Whether a rule without an exception tells a column of most rows, each left out in turn.

    Such a rule is seen with fewer rows a cell than a share is: a calendar has four or five of each.
    """
    if table.sum() < _LEAST_OF_A_RULE * np.count_nonzero(table):
        return False
    if all((np.count_nonzero(table, axis=axis) > 1).any() for axis in range(table.ndim)):
        return False
    rule = group_rule(data, Submodel(variables, (variables,), "full", 0.0)).rule
    return rule is not None and rule.is_exact and rule.holds >= CLEARLY


def _by_shape(rows: Rows, sets: Sequence[VarSet]) -> dict[tuple[int, ...], list[VarSet]]:
    """Return the sets by the shapes of their tables, which are fitted together."""
    by_shape: dict[tuple[int, ...], list[VarSet]] = {}
    for variables in sets:
        by_shape.setdefault(tuple(rows.n_levels[v] for v in members(variables)), []).append(variables)
    return by_shape


def _nominal(tables: Floats, n_rows: int) -> Floats:
    """Return nominal log p-values of hidden parts; 0 where one is too small before chance is taken off."""
    axes = range(tables.ndim - 1)
    pairs = list(combinations(axes, 2))
    totals = divergences(tables, product_of_margins(tables))
    # Not quite done, a fit leaves a little too much open: a filter must not leave too little.
    hidden = divergences(tables, fit_margins(tables, pairs, is_exact=False))
    log_ps = np.zeros(len(tables))
    for number in np.flatnonzero(hidden > VISIBLE * totals):
        dof = degrees_of_freedom(tables[number], pairs)
        if dof > 0:
            log_ps[number] = log_tail_of(2 * n_rows * float(hidden[number]), dof)
    return log_ps


@dataclass(slots=True)
class _Listing:
    """The groups listed so far."""

    data: Data
    rows: Rows
    independence: Independence
    following: Following
    groups: list[Submodel] = field(default_factory=list)
    visible: set[Link] = field(default_factory=set)
    sharings: dict[VarSet, Sharing] = field(default_factory=dict)  # of the groups, with all that was fitted

    def take(self, variables: VarSet) -> None:
        """List a set, unless it follows or one of its variables is not needed."""
        sharing = self.rows.sharing(variables)
        if self.following.shows_a_group(variables, sharing, self.groups):
            self._note_visible(variables, sharing)
            return
        if self.following.follows(variables, sharing, self.groups):
            return
        if not self.independence.are_collectively_dependent(variables):
            return
        group = self._group(variables, sharing)
        if group.log_p_corrected is not None and group.log_p_corrected <= log(self.data.alpha):
            self.groups.append(group_rule(self.data, group))
            self.sharings[whole(group)] = sharing

    def thin_out(self) -> None:
        """Take out groups that follow from others, which were listed after them; large ones first."""
        for group in sorted(self.groups, key=lambda g: (-whole(g).bit_count(), g.size)):
            self.data.check()
            others = [other for other in self.groups if other is not group]
            sharing = self.sharings[whole(group)]
            if self.following.shows_a_group(whole(group), sharing, others) or self.following.follows(
                whole(group), sharing, others
            ):
                self.groups = others

    def _note_visible(self, variables: VarSet, sharing: Sharing) -> None:
        """Note the pairs that are visible in a set which shares less than the group around it."""
        inside = members(variables)
        self.visible |= {pair for pair in combinations(inside, 2) if _is_visible(sharing, inside, pair)}

    def _group(self, variables: VarSet, sharing: Sharing) -> Submodel:
        """Return a set as a group of its kind."""
        partition = _blocks(variables, sharing)
        if len(partition) == 1 and (conditional := self._given(variables)) is not None:
            return conditional
        kind: GroupKind = "interaction" if len(partition) == 1 else "partial"
        if len(partition) == len(sharing.own) and not any(
            sharing.estimate(sharing.part(part)) > VISIBLE for part in parts(sharing)
        ):
            kind = "full"
        return measured(self.rows, Submodel(variables, partition, kind, sharing.total.nats), sharing)

    def _given(self, variables: VarSet) -> Submodel | None:
        """Return the conditional group among some variables with the smallest context, of these the largest."""
        self.data.check()
        for size in range(1, min(_MOST_CONTEXT, variables.bit_count() - 3) + 1):
            found = [
                group
                for context in map(varset, combinations(members(variables), size))
                if (group := self._conditional(VarSet(variables & ~context), context)) is not None
            ]
            if found:
                return max(found, key=lambda group: group.size)
        return None

    def _conditional(self, variables: VarSet, context: VarSet) -> Submodel | None:
        if any(group.variables & ~variables == EMPTY and not group.context for group in self.groups):
            return None  # a part of it is a group without any context
        sharing = self.rows.sharing(variables, context)
        partition = _blocks(variables, sharing)
        if len(partition) < 2 or sharing.share().low <= VISIBLE:
            return None
        if not self.independence.are_collectively_dependent(variables, context):
            return None
        group = measured(
            self.rows, Submodel(variables, partition, "conditional", sharing.total.nats, context), sharing
        )
        log_p = inf if group.log_p_corrected is None else group.log_p_corrected
        return group if log_p <= log(self.data.alpha) else None


def _is_visible(sharing: Sharing, inside: Sequence[int], pair: Link) -> bool:
    """Whether a pair is visible, or undecided and rather visible."""
    return sharing.estimate(pair_part(sharing, inside, pair)) > VISIBLE


def _blocks(variables: VarSet, sharing: Sharing) -> tuple[VarSet, ...]:
    """Return the components of the pairs that are visible, or undecided and rather visible."""
    inside = members(variables)
    blocks = [1 << v for v in inside]
    for u, v in combinations(inside, 2):
        if _is_visible(sharing, inside, (u, v)):
            joined = [block for block in blocks if block >> u & 1 or block >> v & 1]
            blocks = [*(block for block in blocks if block not in joined), sum(set(joined))]
    return tuple(VarSet(block) for block in sorted(blocks, key=lambda block: block & -block))
