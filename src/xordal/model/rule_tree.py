"""The junction tree of a network with rules: running sums are further variables of it.

The weight of a rule (:mod:`xordal.model.rule`) depends on the last column, its earlier neighbours and the sum
over the rule's other columns. That sum is carried by running sums (:mod:`xordal.model.sums`), each a function
of the one before and of one column. So the network with its rules is a product of small tables over columns and
sums; its graph, with everything that shares a table linked, is filled in until it is chordal, and has a
junction tree. Where the columns of a rule are not linked, the cliques hold a column and two sums: levels x p x
p cells.

Inference asks for P(own variables | separator) of each clique. One pass from the leaves to the root gives them:
a clique's product with its children's messages, divided by its own message. A subtree in which no table of a
rule was multiplied says nothing, its tables are those of the network as counted, and they are never made in
full: large cliques far from any rule cost what they did before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, prod
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph, linked
from xordal.graph.junction_tree import JunctionTree, junction_tree, rooted
from xordal.graph.min_fill import min_fill
from xordal.model.observed import Logs
from xordal.model.parameters import Conditional, Looked, Quotient, Table
from xordal.model.potential import Potential, product
from xordal.model.rule import NetworkRule
from xordal.model.sums import Carrier, Step, running_sums, sums_reached
from xordal.types.varsets import EMPTY, VarSet, members, varset

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork

MOST_CELLS = 2**22
"""Cells of the largest clique that rules make: 32 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseConditional:
    """P(own variables | separator) of a clique, in full: a :class:`~xordal.model.parameters.Conditional`."""

    variables: tuple[int, ...]
    logs: Logs

    @property
    def n_cells(self) -> float:
        """Number of cells of the clique."""
        return float(self.logs.size)

    def log_prob_of(self, chosen: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return its logarithm for rows of codes of the clique's variables, shape (variables, rows)."""
        return np.where((chosen < 0).any(axis=0), -np.inf, self.logs[tuple(np.maximum(chosen, 0))])

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> NDArray[np.float64]:
        """Return its logarithm for all cells in which some variables have given levels."""
        return np.asarray(self.logs[tuple(observed.get(v, slice(None)) for v in self.variables)])


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Columns and running sums, and the junction tree that holds them; nothing is multiplied yet.

    Attributes
    ----------
    rules, ends, steps
        The rules, what tells the sum that reaches each one's last column, and all additions on the way.
    starts
        For each rule the sum of its folded columns, where it has any.
    names, n_levels
        Of columns and sums.
    tree
        The junction tree of everything that shares a table.
    n_weighted
        How many of the rules change the distribution, the first ones; of the others there are only sums. All by
        default.
    """

    rules: tuple[NetworkRule, ...]
    ends: tuple[Carrier, ...]
    steps: tuple[Step, ...]
    starts: tuple[Carrier | None, ...]
    names: tuple[str, ...]
    n_levels: tuple[int, ...]
    tree: JunctionTree
    n_weighted: int | None = None

    def n_cells(self, clique: int) -> int:
        """Return the number of cells of a clique."""
        return prod(self.n_levels[v] for v in members(self.tree.cliques[clique]))

    def scopes(self) -> Iterator[VarSet]:
        """Yield the variables of each table that the rules bring."""
        for step in self.steps:
            yield varset([step.before.variable, step.column, step.after.variable])
        for rule, end in zip(self.rules, self.ends, strict=True):
            yield VarSet(rule.scope | 1 << end.variable)

    def changed(self, cliques: Collection[VarSet]) -> set[int]:
        """Return the cliques that rules change.

        Those are the ones above a table of a rule, and those that no clique of the network without rules holds;
        ``cliques`` are the latter's.
        """
        known = _Subsets(cliques)
        places = {_place(self.tree, scope) for scope in self.scopes()}
        found = {c for c, clique in enumerate(self.tree.cliques) if c in places or not known.holds(clique)}
        for clique in reversed(range(len(self.tree.cliques))):
            parent = self.tree.parents[clique]
            if clique in found and parent is not None:
                found.add(parent)
        return found


def frame_of(
    graph: ChordalGraph,
    rules: Sequence[NetworkRule],
    names: tuple[str, ...],
    n_levels: tuple[int, ...],
    folded: VarSet = EMPTY,
) -> Frame:
    """Return the junction tree of a network's columns and the running sums of its rules.

    Columns that are ``folded`` are known in all rows: what they add up to is one variable, the start of a
    rule's running sums, instead of a step each.

    The order in which a rule's columns are added up decides how large the cliques become: that of the network's
    own perfect order keeps linked columns together; the order of the table is tried too.
    """
    position = {v: place for place, v in enumerate(graph.order)}
    frames = []
    for key in (position.__getitem__, lambda v: v):
        frames.append(
            _frame(graph, rules, names, n_levels, [sorted(r.carried, key=key) for r in rules], folded)
        )
    return min(frames, key=lambda frame: sum(frame.n_cells(c) for c in range(len(frame.tree.cliques))))


def _frame(
    graph: ChordalGraph,
    rules: Sequence[NetworkRule],
    names: tuple[str, ...],
    n_levels: tuple[int, ...],
    orders: Sequence[Sequence[int]],
    folded: VarSet,
) -> Frame:
    ends, steps, starts, told, sizes = [], [], [], list(names), list(n_levels)
    groups: list[int] = []
    for number, (rule, order) in enumerate(zip(rules, orders, strict=True), start=1):
        start, known = None, [v for v in rule.carried if folded >> v & 1]
        if known:
            start = Carrier(len(sizes), sums_reached(rule.rule, known))
            told.append(f"known sum of rule {number}")
            sizes.append(len(start.sums))
        starts.append(start)
        end, more = running_sums(rule.rule, [v for v in order if v not in known], len(sizes), start)
        ends.append(end)
        steps += more
        told += [f"sum {place} of rule {number}" for place in range(1, len(more) + 1)]
        sizes += [len(step.after.sums) for step in more]
        groups += [varset([step.before.variable, step.column, step.after.variable]) for step in more]
        groups.append(rule.scope | 1 << end.variable)
    masks = [*graph.neighbours, *([0] * (len(sizes) - len(names)))]
    masks = linked(masks, {pair for group in groups for pair in combinations(members(group), 2)})
    tree = junction_tree(ChordalGraph.of(linked(masks, min_fill(masks))))
    tree = rooted(tree, [_place(tree, group) for group in groups])  # what lies below no rule stays as counted
    return Frame(tuple(rules), tuple(ends), tuple(steps), tuple(starts), tuple(told), tuple(sizes), tree)


def check_size(frame: Frame, cliques: Collection[VarSet]) -> None:
    """Refuse rules whose cliques would be too large.

    Raises
    ------
    DataError
        If a clique that the rules change has more than :data:`MOST_CELLS` cells.
    """
    largest = max(frame.changed(cliques), key=frame.n_cells)
    if frame.n_cells(largest) > MOST_CELLS:
        inside = ", ".join(frame.names[v] for v in members(frame.tree.cliques[largest]))
        raise DataError(
            f"With its rules the network has a clique {{{inside}}} of {frame.n_cells(largest):,} cells; the "
            f"most are {MOST_CELLS:,}. Ask the network without rules (in Python network.without_rules()), or "
            "learn it with --no-rules."
        )


def conditionals(network: DecomposableMarkovNetwork, frame: Frame) -> tuple[Conditional, ...]:
    """Return P(own | separator) of each clique of a frame.

    Raises
    ------
    DataError
        If a clique of the rules would be too large.
    """
    cliques = [table.variables for table in network.clique_tables()]
    check_size(frame, cliques)
    return _conditionals(network, frame, frame.changed(cliques))


def _conditionals(
    network: DecomposableMarkovNetwork, frame: Frame, changed: Collection[int]
) -> tuple[Conditional, ...]:
    """Return P(own | separator) of each clique: one pass from the leaves to the roots."""
    tree, margins = frame.tree, Margins(network)
    inside = varset(v for c in changed for v in members(tree.cliques[c]) if v < len(network.variables))
    shares: dict[int, list[Potential]] = {}
    for part in (*_rule_parts(network, frame, margins), *_base_parts(network, margins, inside)):
        shares.setdefault(_place(tree, varset(part.variables), changed), []).append(part)
    found: dict[int, Conditional] = {}
    for clique in reversed(range(len(tree.cliques))):
        variables, separator = members(tree.cliques[clique]), tree.separators[clique]
        if clique not in changed:
            found[clique] = margins.conditional(tree.cliques[clique], separator)
            continue
        empty = Potential(variables, np.zeros((1, *(frame.n_levels[v] for v in variables))))
        total = product([empty, *shares.pop(clique, ())])
        message = total.sum_to(members(separator))
        found[clique] = DenseConditional(variables, total.divided_by(message).logs[0])
        if (parent := tree.parents[clique]) is not None:
            shares.setdefault(parent, []).append(message)
    return tuple(found[clique] for clique in range(len(tree.cliques)))


def _place(tree: JunctionTree, wanted: int, among: Collection[int] | None = None) -> int:
    """Return the first clique that holds some variables."""
    return next(
        place
        for place, clique in enumerate(tree.cliques)
        if not wanted & ~clique and (among is None or place in among)
    )


def _rule_parts(network: DecomposableMarkovNetwork, frame: Frame, margins: Margins) -> Iterator[Potential]:
    """Yield the tables of the rules: all additions, and the weights."""
    for step in frame.steps:
        with np.errstate(divide="ignore"):
            logs = np.log(step.table)
        yield _ordered((step.before.variable, step.column, step.after.variable), logs)
    for start in frame.starts:
        if start is not None:  # it is always observed: any distribution will do, and this one is known
            yield Potential((start.variable,), np.full((1, len(start.sums)), -log(len(start.sums))))
    for rule, end in list(zip(frame.rules, frame.ends, strict=True))[: frame.n_weighted]:
        delta = rule.delta(network.smoothing)
        yield _ordered(*rule.weight_table(end, margins.table(rule.scope), network.n_levels, delta))


def _base_parts(network: DecomposableMarkovNetwork, margins: Margins, inside: VarSet) -> Iterator[Potential]:
    """Yield tables whose product is the distribution of some columns in the network without its rules.

    The columns left out hang on cliques of those that stay, so that the graph of the rest is the network's own
    graph without them.
    """
    masks = [mask & inside if inside >> v & 1 else 0 for v, mask in enumerate(network.graph.neighbours)]
    tree = junction_tree(ChordalGraph.of(masks))
    for clique, separator in zip(tree.cliques, tree.separators, strict=True):
        if clique & inside:
            logs = margins.conditional(clique, separator).cut({}, network.n_levels)
            yield Potential(members(clique), logs[None])


def _ordered(variables: tuple[int, ...], logs: Logs) -> Potential:
    return Potential(tuple(sorted(variables)), np.transpose(logs, np.argsort(variables))[None])


class _Subsets:
    """Which of some sets hold another; asked of many, most of them among the sets themselves."""

    def __init__(self, sets: Collection[VarSet]) -> None:
        self._all, self._exact = list(sets), set(sets)

    def holds(self, variables: VarSet) -> bool:
        return variables in self._exact or any(not variables & ~each for each in self._all)


class Margins:
    """The distribution of any set within a clique of a network, without its rules."""

    def __init__(self, network: DecomposableMarkovNetwork) -> None:
        self._n_levels = network.n_levels
        self._tables = sorted((table for _, table in network.factors), key=lambda table: table.n_cells)
        self._exact = {table.variables: table for table in self._tables}

    def table(self, variables: VarSet) -> Table:
        """Return the table of a set, the margin of the smallest that holds it."""
        if variables in self._exact:
            return self._exact[variables]
        home = next(table for table in self._tables if not variables & ~table.variables)
        return home.over(variables, self._n_levels)

    def conditional(self, clique: VarSet, separator: VarSet) -> Quotient:
        """Return P(the other variables of a clique | separator)."""
        below = cast("Looked", self.table(separator)) if separator else None
        return Quotient(cast("Looked", self.table(clique)), below)
