"""Hidden groups in data by their size: sets inside a clique of which pairs explain too little.

Every subset of a clique, up to a bound, is a candidate. It is listed when three things hold.

1. What neither its pairs nor the groups already listed inside it explain is significant, corrected for all sets
   of its size, and the lower limit of its share of all that the set shares is above 5 %. So a triple that is an
   exclusive-or is listed, and the sets of four that hold it are not: they *follow* from it.
2. It does not follow from listed groups that only overlap it: the table of largest entropy with their margins,
   over all of their variables together, leaves less than 5 % of it open. So of three exclusive-ors in a chain
   the sums over two of them are not listed either.
3. Every variable is needed: each pair of variables depends on each other given all the rest.

Small sets come first, so that a group stands before what follows from it; of one size the largest hidden part.

The kind of a group follows from sizes as well (:data:`~xordal.statistics.hidden.VISIBLE`). A pair is visible
when the lower limit of its share of what the group shares is above 5 %, hidden when the upper limit is below,
and else undecided: it is then taken for what is more likely, and named. Visible pairs join variables into the
blocks of the partition. A group of one block is looked at once more, given each of its subsets: where pairs of
the others look independent given such a context it is a conditional group, otherwise an interaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, inf, log

import numpy as np

from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.pi.colored import ColoredIMap, largest_size, links_colored
from xordal.pi.discover import Data, group_rule, judged
from xordal.pi.independence import Independence
from xordal.pi.measuring import MOST_CELLS, Floats, Rows, measured, pair_share, parts
from xordal.statistics.chi_squared import log_tail
from xordal.statistics.fitting import Axes, fit_margins
from xordal.statistics.hidden import VISIBLE, Sharing, degrees_of_freedom
from xordal.statistics.interaction import divergences
from xordal.types.groups import GroupKind, Submodel
from xordal.types.varsets import EMPTY, VarSet, members, varset

_MOST_AT_ONCE = 1_000_000  # cells fitted together
_MOST_AROUND = 256  # cells of a set together with the listed groups that overlap it
_MOST_CONTEXT = 2


def discover_by_size(data: Data, graph: ChordalGraph, most_sets: int) -> ColoredIMap:
    """Return a learned graph with its hidden groups and the links they colour.

    ``most_sets`` bounds the subsets looked at in one clique: of a larger one the small subsets and the whole.
    """
    assert data.sample.counter is not None and data.sample.n_rows is not None
    rows = Rows.of(data.sample)
    sets, up_to = _candidates(graph, most_sets, rows)
    listing = _Listing(data, rows, judged(data))
    for variables in _with_a_hidden_part(rows, sets, log(data.alpha)):
        data.check()
        listing.take(variables)
    groups = tuple(group_rule(data, group) for group in listing.groups)
    ordered = sorted(groups, key=lambda group: (-round(group.size, 4), group.variables))
    return ColoredIMap(graph, tuple(ordered), links_colored(ordered), up_to, listing.n_following)


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


def _with_a_hidden_part(rows: Rows, sets: Sequence[VarSet], log_alpha: float) -> Iterator[VarSet]:
    """Yield the sets whose hidden part is significant and may be large, of one size the largest first."""
    by_size: dict[int, list[VarSet]] = {}
    for variables in sets:
        by_size.setdefault(variables.bit_count(), []).append(variables)
    for size, alike in sorted(by_size.items()):
        bar = log_alpha - log(comb(len(rows.n_levels), size))
        sizes = [
            (hidden, variables)
            for variables, table, total, hidden in _hidden_parts(rows, alike)
            if _may_count(table, total, hidden, rows.n_rows, bar)
        ]
        yield from (variables for _, variables in sorted(sizes, key=lambda one: (-round(one[0], 9), one[1])))


def _hidden_parts(rows: Rows, sets: Sequence[VarSet]) -> Iterator[tuple[VarSet, Floats, float, float]]:
    """Yield each set with its table, what it shares and what is hidden; alike tables are fitted together."""
    by_shape: dict[tuple[int, ...], list[VarSet]] = {}
    for variables in sets:
        by_shape.setdefault(tuple(rows.n_levels[v] for v in members(variables)), []).append(variables)
    for shape, alike in by_shape.items():
        at_once = max(1, _MOST_AT_ONCE // int(np.prod(shape)))
        axes = range(len(shape))
        for start in range(0, len(alike), at_once):
            chosen = alike[start : start + at_once]
            tables = np.array(rows.tables(chosen))
            totals = divergences(tables, fit_margins(tables, [(axis,) for axis in axes])).tolist()
            pairs = list(combinations(axes, 2))
            # Not quite done, a fit leaves a little too much open: a filter must not leave too little.
            hidden = divergences(tables, fit_margins(tables, pairs, is_exact=False)).tolist()
            yield from zip(chosen, tables, totals, hidden, strict=True)


def _may_count(table: Floats, total: float, hidden: float, n_rows: int, bar: float) -> bool:
    """Whether the nominal test sees a hidden part, and it is large enough before chance is taken off."""
    if hidden <= VISIBLE * total:
        return False
    dof = degrees_of_freedom(table, list(combinations(range(table.ndim), 2)))
    return dof > 0 and float(log_tail(2 * n_rows * hidden, dof)) <= bar


@dataclass(slots=True)
class _Listing:
    """The groups listed so far, and how many sets follow from them."""

    data: Data
    rows: Rows
    independence: Independence
    groups: list[Submodel] = field(default_factory=list)
    n_following: int = 0

    def take(self, variables: VarSet) -> None:
        """List a set, or count it among those that follow."""
        sharing = self.rows.sharing(variables)
        if (
            not self._is_open(variables, sharing)
            or not self.independence.are_collectively_dependent(variables)
            or self._follows(variables, sharing)
        ):
            self.n_following += 1
            return
        group = self._group(variables, sharing)
        if group.log_p_corrected is not None and group.log_p_corrected <= log(self.data.alpha):
            self.groups.append(group)

    def _is_open(self, variables: VarSet, sharing: Sharing) -> bool:
        """Whether pairs and listed groups inside a set leave a significant and large part of it open."""
        own = members(variables)
        inside = [self._axes(own, group) for group in self.groups if _whole(group) & ~variables == 0]
        beyond = sharing.beyond(inside)
        if sharing.share(beyond).low <= VISIBLE:
            return False
        log_p = sharing.nominal_log_p(beyond)
        return log_p + log(comb(len(self.rows.n_levels), len(own))) <= log(self.data.alpha)

    def _axes(self, own: Sequence[int], group: Submodel) -> Axes:
        return tuple(own.index(v) for v in members(_whole(group)))

    def _follows(self, variables: VarSet, sharing: Sharing) -> bool:
        """Whether listed groups that overlap a set explain all but 5 % of it, together with pairs."""
        near = [g for g in self.groups if (_whole(g) & variables).bit_count() >= 2]
        everything, chosen = int(variables), []
        for group in sorted(near, key=lambda g: -(_whole(g) & variables).bit_count()):
            wider = everything | _whole(group)
            if self.rows.n_cells(wider) <= _MOST_AROUND:
                everything = wider
                chosen.append(group)
        if everything == variables:
            return False
        explained = self._explained(variables, VarSet(everything), chosen)
        left = float(divergences(sharing.table[None], explained[None])[0])
        chance = sharing.hidden.dof / (2 * self.rows.n_rows)
        return left - chance <= VISIBLE * sharing.total.corrected(self.rows.n_rows)

    def _explained(self, variables: VarSet, everything: VarSet, groups: Sequence[Submodel]) -> Floats:
        """Return the table of a set that groups and pairs of a larger set lead one to expect."""
        (table,) = self.rows.tables([everything])
        own = members(everything)
        inside = [self._axes(own, group) for group in groups]
        pairs = [p for p in combinations(range(len(own)), 2) if not any(set(p) <= set(g) for g in inside)]
        fitted = fit_margins(table[None], [*pairs, *inside])[0]
        return np.asarray(fitted.sum(axis=tuple(a for a, v in enumerate(own) if not variables >> v & 1)))

    def _group(self, variables: VarSet, sharing: Sharing) -> Submodel:
        """Return a set as a group of its kind."""
        partition = _blocks(variables, sharing)
        if len(partition) == 1 and (conditional := self._given(variables)) is not None:
            return conditional
        kind: GroupKind = "interaction" if len(partition) == 1 else "partial"
        if len(partition) == len(sharing.own) and not any(
            sharing.share(sharing.part(part)).estimate > VISIBLE for part in parts(sharing)
        ):
            kind = "full"
        return measured(self.rows, Submodel(variables, partition, kind, sharing.total.nats), sharing)

    def _given(self, variables: VarSet) -> Submodel | None:
        """Return the conditional group among some variables with the smallest context, of these the largest."""
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


def _whole(group: Submodel) -> VarSet:
    return VarSet(group.variables | group.context)


def _blocks(variables: VarSet, sharing: Sharing) -> tuple[VarSet, ...]:
    """Return the components of the pairs that are visible, or undecided and rather visible."""
    inside = members(variables)
    blocks = [1 << v for v in inside]
    for u, v in combinations(inside, 2):
        if pair_share(sharing, inside, (u, v)).estimate > VISIBLE:
            joined = [block for block in blocks if block >> u & 1 or block >> v & 1]
            blocks = [*(block for block in blocks if block not in joined), sum(set(joined))]
    return tuple(VarSet(block) for block in sorted(blocks, key=lambda block: block & -block))
