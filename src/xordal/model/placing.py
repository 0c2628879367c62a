"""Which column each rule ends in: the order of the columns, chosen by likelihood.

A rule replaces the conditional of its last column in the order along which the network is a product (rule.py).
The order matters. Let c be a check digit of skewed digits: with c last the digits keep their tables and c
follows from them, as it was made. With another digit last, c would be independent of the digits that are left,
which it is not. So each column of a rule is tried as the last one, and the one under which the rows are most
probable is taken; of equals the last in the table.

Read backwards, an order removes one column after the other, and what a column is still linked to when it goes
are its *earlier neighbours*. Columns that no rule speaks of go as soon as their neighbours are a clique: what
depends on a check digit comes after it. A rule's last column goes before the other columns of the rule. Where
its neighbours are not a clique by then, they are linked, and the tables of the larger cliques are counted; what
those links cost is charged as BIC does, so that another column, which needs no links, is usually taken.

No two rules can end in the same column, and no rule may end in a column that another one needs later. Where a
rule has no column left to end in, another rule is subtracted from it so often that a common column drops out,
as in Gaussian elimination; where that is impossible too, it stays out of the network. So does a rule with which
the rows are not more probable, by more than BIC charges for its one number: if c is the sum of a and b, and d
mostly a copy of c, then d is mostly the sum of a and b, and the links say so better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.oracle import CellCounter
from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph, linked
from xordal.graph.junction_tree import maximal_cliques
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.model.rule import NetworkRule
from xordal.model.rule_tree import check_size, frame_of
from xordal.model.sums import UNKNOWN, n_marked, row_blocks, sums_of, values_of
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import Link, VarSet, members, varset

MOST_LINKED_CELLS = 2**16
"""Cells of a last column and its earlier neighbours where links were added: counts of more are too thin."""
IN_A_TABLE = "its columns are in one clique, whose table says it already"
"""Why most rules of few columns are told, and are no part of a network of their own."""
IN_LINKS = "the rows are no more probable with it: the links say it already"
"""Why a rule that follows from others and from links is told, and is no part of a network of its own."""
MOST_ROWS_COMPARED = 1 << 22
"""Rows, at most, in which last columns are compared: ten numbers a row are kept at a time.

Of a longer table some are, and what they give is multiplied: the gains of two columns differ, if they differ,
by a share of the rows.
"""
_MOST = 1 - 1e-12  # that a rule holds by chance: rounding may give 1
_TIE = 1e-6  # nats; columns that are alike differ by rounding only


@dataclass(frozen=True, slots=True)
class PlacedRules:
    """Rules as parts of a network.

    Attributes
    ----------
    rules
        Those that are part of it.
    graph
        The network's graph, with the links that last columns needed.
    left_out
        The others, each with the reason.
    """

    rules: tuple[NetworkRule, ...]
    graph: ChordalGraph
    left_out: tuple[tuple[AdditiveRule, str], ...]


def placed(
    table: CategoricalTable,
    graph: ChordalGraph,
    counter: CellCounter,
    rules: Sequence[AdditiveRule],
    *,
    least_gain: float | None = None,
) -> PlacedRules:
    """Return rules of a table as parts of the network of a graph, each with its last column.

    ``least_gain`` is the log likelihood, in nats, that a rule must add: by default what BIC charges.
    """
    placing = Placing(table, graph, counter, least_gain)
    for rule in rules:
        placing.add(rule)
    return placing.found()


@dataclass(frozen=True, slots=True)
class _Order:
    """What follows from a choice of last columns.

    ``earlier`` are the earlier neighbours of each, ``links`` those that had to be added, ``sequence`` the
    numbers of the last columns, the one that comes after all others first.
    """

    earlier: tuple[VarSet, ...]
    links: tuple[Link, ...]
    sequence: tuple[int, ...]


class Placing:
    """Rules become parts of a network one after the other; the parameters are those of :func:`placed`."""

    def __init__(
        self,
        table: CategoricalTable,
        graph: ChordalGraph,
        counter: CellCounter,
        least_gain: float | None = None,
    ) -> None:
        self._table, self._graph, self._counter = table, graph, counter
        self._least_gain = 0.5 * log(max(table.n_rows, 1)) if least_gain is None else least_gain
        self._some = table.some(MOST_ROWS_COMPARED)
        self._cliques = maximal_cliques(graph)
        self._ends: list[tuple[AdditiveRule, int]] = []
        self._best, self._gained = _Order((), (), ()), 0
        self._left_out: list[tuple[AdditiveRule, str]] = []

    def add(self, rule: AdditiveRule) -> str:
        """Choose the last column of one more rule; return why it has none, or an empty text."""
        if reason := self._reason(rule):
            self._left_out.append((rule, reason))
        return reason

    def _reason(self, rule: AdditiveRule) -> str:
        """Take a rule, or what is left of it less others; return why it cannot be."""
        if reason := self._needless(rule):
            return reason
        ways = list(self._ways(rule))
        for number in self._best.sequence:  # so that no column comes back that has dropped out
            other, last = self._ends[number]
            if ways or last not in rule.variables:
                continue
            less = difference(rule, other, last)
            if less is None:
                return "another rule ends in the same column and cannot be subtracted from it"
            rule = _counted(less, self._table)
            if reason := self._needless(rule):
                return reason
            ways = list(self._ways(rule))
        reason = "other rules end in all of its columns"
        least = self._gained + self._least_gain / _TIE
        for gained, last, order in sorted(ways, key=lambda way: (-way[0], -way[1])):
            if gained <= least:
                return IN_LINKS
            if not (reason := self._taken([*self._ends, (rule, last)], order)):
                self._gained = gained
                break
        return reason

    def _needless(self, rule: AdditiveRule) -> str:
        if len(rule.variables) < 2:
            return "it says nothing that the other rules do not"
        inside = varset(rule.variables)
        if any(not inside & ~clique for clique in self._cliques):
            return IN_A_TABLE
        return ""

    def _ways(self, rule: AdditiveRule) -> Iterator[tuple[int, int, _Order]]:
        """Yield by how much each column that a rule can end in makes the rows more probable, in millionths."""
        for last in rule.variables:
            ends = [*self._ends, (rule, last)]
            if not _is_sorted(ends):
                continue
            order = _order(self._graph.neighbours, ends)
            if order.links and not self._fits(ends, order):
                continue
            gain = sum(self._gain(r, e, s) for (r, e), s in zip(ends, order.earlier, strict=True))
            yield round((gain + self._gain_of_links(order.links)) / _TIE), last, order

    def _fits(self, ends: Sequence[tuple[AdditiveRule, int]], order: _Order) -> bool:
        """Whether added links make no clique too large, and none that holds a whole rule."""
        for rule in _network_rules(ends, order):
            cells = prod(self._table.n_levels[v] for v in members(rule.scope))
            if cells > MOST_LINKED_CELLS or not rule.carried:
                return False
        return True

    def _gain(self, rule: AdditiveRule, last: int, earlier: VarSet) -> float:
        """Return the log likelihood ratio of a rule: what its weights add up to over the rows."""
        codes, weights = self._some.codes, self._some.weights
        others = [v for v in rule.variables if v != last]
        sums = sums_of(rule, codes, others)
        context = _numbered(codes[list(members(earlier))], codes.shape[1])
        n_levels = self._table.n_levels[last]
        counts = np.bincount(
            context * n_levels + codes[last], weights=weights, minlength=(int(context.max()) + 1) * n_levels
        ).reshape(-1, n_levels)
        chances = (counts + 1 / counts.size) / (counts.sum(axis=1, keepdims=True) + 1 / len(counts))
        asked = np.where(sums == UNKNOWN, UNKNOWN, -sums % rule.modulus if rule.modulus else -sums)
        values = values_of(rule, last)
        has_value = values != UNKNOWN
        fits = (values == asked[:, None]) & has_value & (asked != UNKNOWN)[:, None]
        counted = fits.any(axis=1) & (fits != has_value).any(axis=1) & has_value[codes[last]]
        context, fits = context[counted], fits[counted]
        obeying = (fits * chances[context]).sum(axis=1) / (has_value * chances)[context].sum(axis=1)
        rows = np.ones(len(fits)) if weights is None else weights[counted].astype(np.float64)
        holds = fits[np.arange(len(fits)), codes[last][counted]]
        delta = (rows[~holds].sum() + 0.5) / (rows.sum() + 1)
        logs = np.where(
            holds, log(1 - delta) - np.log(obeying), log(delta) - np.log1p(-np.minimum(obeying, _MOST))
        )
        n_times: float = self._table.codes.shape[1] / codes.shape[1]
        return n_times * float((logs * rows).sum())

    def _gain_of_links(self, links: Sequence[Link]) -> float:
        """Return what links that last columns need add to the log likelihood, less their cost by BIC."""
        if not links:
            return 0.0
        n_rows = self._table.n_rows
        before, after = signed_sets(self._graph), signed_sets(self._graph.add(links))
        signs = {part: after.get(part, 0) - before.get(part, 0) for part in {*before, *after}}
        parts = [part for part, sign in signs.items() if sign]
        entropies = [entropy(counted.counts) for counted in self._counter.counts(parts)]
        gain = -n_rows * sum(signs[part] * h for part, h in zip(parts, entropies, strict=True))
        levels = self._table.n_levels
        n_more = free_parameters(after, levels) - free_parameters(before, levels)
        return gain - 0.5 * log(n_rows) * n_more

    def _taken(self, ends: list[tuple[AdditiveRule, int]], order: _Order) -> str:
        """Keep a choice of last columns if inference can hold it; return why not."""
        graph = self._graph.add(order.links)
        rules = _network_rules(ends, order)
        try:
            frame = frame_of(graph, rules, self._table.names, self._table.n_levels)
            check_size(frame, maximal_cliques(graph))
        except DataError as error:
            return str(error).partition(" Ask the network")[0]
        if not is_placed(graph, rules):  # as a model file is checked when it is read
            return "with the links that it needs, no order of the columns ends in its last one"
        self._ends, self._best = ends, order
        return ""

    def found(self) -> PlacedRules:
        """Return the rules with their counts."""
        codes, weights = self._table.codes, self._table.weights
        rules = tuple(rule.counted(codes, weights) for rule in _network_rules(self._ends, self._best))
        return PlacedRules(rules, self._graph.add(self._best.links), tuple(self._left_out))


def _network_rules(ends: Sequence[tuple[AdditiveRule, int]], order: _Order) -> tuple[NetworkRule, ...]:
    pairs = zip(ends, order.earlier, strict=True)
    return tuple(NetworkRule(rule, last, earlier, 0, 0) for (rule, last), earlier in pairs)


def _is_sorted(ends: Sequence[tuple[AdditiveRule, int]]) -> bool:
    """Whether all rules end in different columns and some order has each end after the rest of its rule."""
    lasts = [last for _, last in ends]
    if len(set(lasts)) < len(lasts):
        return False
    waiting = list(ends)
    while waiting:
        free = [(r, e) for r, e in waiting if not any(e in s.variables for s, f in waiting if f != e)]
        if not free:
            return False
        waiting = [each for each in waiting if each not in free]
    return True


def _order(neighbours: Sequence[int], ends: Sequence[tuple[AdditiveRule, int]]) -> _Order:
    """Return the earlier neighbours of last columns, removing columns as late in the order as they can be."""
    masks = list(neighbours)
    links: list[Link] = []
    earlier: dict[int, VarSet] = {}
    waiting = dict(enumerate(ends))
    left = _reach(masks, varset(v for rule, _ in ends for v in rule.variables))
    while waiting:
        held = varset(v for rule, _ in waiting.values() for v in rule.variables)
        left = _without_simplicial(masks, left, held)
        blocked = {v for rule, last in waiting.values() for v in rule.variables if v != last}
        free = [number for number, (_, last) in waiting.items() if last not in blocked]
        missing = {number: _missing(masks, masks[waiting[number][1]] & left) for number in free}
        number = min(free, key=lambda each: (len(missing[each]), each))
        last = waiting.pop(number)[1]
        links += missing[number]
        masks = linked(masks, missing[number])
        earlier[number] = VarSet(masks[last] & left)
        left &= ~(1 << last)
    return _Order(tuple(earlier[each] for each in range(len(ends))), tuple(sorted(links)), tuple(earlier))


def is_placed(graph: ChordalGraph, rules: Sequence[NetworkRule]) -> bool:
    """Whether there is an order of the columns in which each rule ends in its last column, as it says."""
    return _before_last(graph, rules) is not None


def following(graph: ChordalGraph, rules: Sequence[NetworkRule]) -> tuple[VarSet, ...]:
    """Return for each rule of a network its last column and all that may depend on it: columns after it.

    The network is a product of conditionals along an order, and a rule changes the one of its last column. A
    question about columns of which none follows is answered by the conditionals before it: the rule says
    nothing. What follows a column is linked to it, or in a rule with it whose last column comes later; and so
    on, from column to column, all of them later than the first.
    """
    before = _before_last(graph, rules)
    assert before is not None, "the rules of a network have their places"
    found = []
    for rule, left in zip(rules, before, strict=True):
        reached = frontier = 1 << rule.last
        while frontier:
            spread = 0
            for v in members(frontier):
                spread |= graph.neighbours[v]
            for other in rules:
                if varset(other.rule.variables) & frontier:
                    spread |= 1 << other.last
            frontier = spread & ~reached & ~left
            reached |= frontier
        found.append(VarSet(reached))
    return tuple(found)


def _before_last(graph: ChordalGraph, rules: Sequence[NetworkRule]) -> list[int] | None:
    """Return the columns before each rule's last one and itself, along an order; None where there is no order.

    Removed from the end, a last column goes when its neighbours are those it says and are a clique, no rule
    that is left needs it, and none has it among the earlier neighbours of its own last column. Columns of
    components without a rule are among those before: nothing there depends on a rule.
    """
    masks, waiting = graph.neighbours, list(rules)
    if len({rule.last for rule in rules}) < len(rules) or any(not rule.carried for rule in rules):
        return None
    before: dict[int, int] = {}
    outside = ~_reach(masks, varset(v for rule in rules for v in rule.rule.variables))
    left = ~outside
    while waiting:
        left = _without_simplicial(masks, left, varset(v for rule in waiting for v in rule.rule.variables))
        free = [
            rule
            for rule in waiting
            if masks[rule.last] & left == rule.earlier
            and not _missing(masks, rule.earlier)
            and not any(
                rule.last in other.rule.variables or other.earlier >> rule.last & 1
                for other in waiting
                if other is not rule
            )
        ]
        if not free:
            return None
        waiting.remove(free[0])
        before[free[0].last] = left | outside
        left &= ~(1 << free[0].last)
    return [before[rule.last] for rule in rules]


def _reach(masks: Sequence[int], start: int) -> int:
    """Return the components that some columns are in; the others do not matter."""
    found = frontier = start
    while frontier:
        spread = 0
        for v in members(frontier):
            spread |= masks[v]
        frontier = spread & ~found
        found |= frontier
    return found


def _without_simplicial(masks: Sequence[int], left: int, held: int) -> int:
    """Remove columns whose neighbours are a clique, all that can go but those that are held."""
    waiting = left & ~held
    while waiting:
        around = 0
        for v in members(waiting):
            near = masks[v] & left
            if not _missing(masks, near):
                left &= ~(1 << v)
                around |= near
        waiting = around & left & ~held
    return left


def _missing(masks: Sequence[int], variables: int) -> list[Link]:
    return [(u, v) for u, v in combinations(members(variables), 2) if not masks[u] >> v & 1]


def _numbered(columns: NDArray[np.int32], n_rows: int) -> NDArray[np.int64]:
    """Return a number for each row that is the same for equal rows."""
    number = np.zeros(n_rows, dtype=np.int64)
    for column in columns:
        number = np.unique(number * (int(column.max()) + 1) + column, return_inverse=True)[1].reshape(-1)
    return number


def _counted(rule: AdditiveRule, table: CategoricalTable) -> AdditiveRule:
    """Return a rule with the rows counted that break it, and those in which a level has no value."""
    n_broken = n_blank = 0
    for rows in row_blocks(table.codes.shape[1]):
        sums = sums_of(rule, table.codes[:, rows], rule.variables)
        often = None if table.weights is None else table.weights[rows]
        n_broken += n_marked((sums != 0) & (sums != UNKNOWN), often)
        n_blank += n_marked(sums == UNKNOWN, often)
    return replace(rule, n_broken=n_broken, n_blank=n_blank)


def difference(rule: AdditiveRule, other: AdditiveRule, last: int) -> AdditiveRule | None:
    """Return a rule less a multiple of another, so that a column drops out; None where no multiple does that.

    Examples
    --------
    >>> one = AdditiveRule((0, 1, 2), 2, ((0, 1),) * 3, 0, 100, 0, 0.5, -60.0)
    >>> other = AdditiveRule((1, 2, 3), 2, ((0, 1),) * 3, 1, 100, 0, 0.5, -60.0)
    >>> less = difference(one, other, 2)
    >>> less.variables, less.functions, less.constant
    ((0, 3), ((0, 1), (0, 1)), 1)
    """
    if rule.modulus != other.modulus or not rule.modulus:
        return None
    p = rule.modulus
    mine, others = values_of(rule, last), values_of(other, last)
    known = (mine != UNKNOWN) & (others != UNKNOWN)
    for factor in range(1, p):
        rest = (mine - factor * others)[known] % p
        if len(rest) and (rest == rest[0]).all():
            less = _less(rule, other, factor)
            return None if last in less.variables else less  # a level without a value keeps it in
    return None


def _less(rule: AdditiveRule, other: AdditiveRule, factor: int) -> AdditiveRule:
    p, constant = rule.modulus, rule.constant - factor * other.constant
    functions: dict[int, tuple[int | None, ...]] = {}
    for v in sorted({*rule.variables, *other.variables}):
        mine = values_of(rule, v) if v in rule.variables else np.zeros(1, dtype=np.int64)
        others = values_of(other, v) if v in other.variables else np.zeros(1, dtype=np.int64)
        is_known = (mine != UNKNOWN) & (others != UNKNOWN)
        values = np.where(
            is_known, (np.where(is_known, mine, 0) - factor * np.where(is_known, others, 0)) % p, -1
        )
        known = values[values >= 0]
        if len(known) and (known == known[0]).all() and (values >= 0).all():
            constant += int(known[0])
        else:
            functions[v] = tuple(None if value < 0 else int(value) for value in values.tolist())
    log_p = max(rule.log_p_value, other.log_p_value)
    by_chance = max(rule.by_chance, other.by_chance)
    told = tuple(functions), p, tuple(functions.values()), constant % p
    return AdditiveRule(*told, rule.n_rows, rule.n_broken, by_chance, log_p)
