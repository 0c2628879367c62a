"""From links to arcs: which of the directed networks inside a decomposable one the data speak for.

A link says that two variables belong together, an arc which of them is the parent. Take the exclusive-or of two
switches and a lamp. Undirected, all three are linked. Directed, with the lamp as the child, the arc between the
switches can go, because they tell nothing of each other: a *collider*, switch1 -> lamp <- switch2, with fewer
parameters and the same joint distribution. So it is with every hidden group.

**What is searched.** All directed networks whose families lie inside a clique, scored by BIC: the
log-likelihood minus log(n) / 2 per free parameter. A network with every link directed along a perfect order is
one of them and has the joint of the decomposable network; an arc goes where BIC gains by it, so the joint stays
that of the decomposable network up to the criterion. For a given order of the variables the best parents of
each, among those before it, are looked up in a list, so that the search is over orders (Teyssier & Koller
2005): a variable is moved to its best place, until none can be moved to a better one. It begins at a perfect
order, at the order of the columns, and at a few random orders.

**Ties.** Often several networks are equally likely: of a fair XOR any variable may be the child. Two networks
tie when the second has no more parameters and its score falls short by at most log(n) / 2, the price of one
parameter. Of networks that tie, the one with fewer arcs against the order of the columns is taken, arc by arc.

**Marks.** An arc is not identified when a network that is equally likely whatever the data does not have it
(:mod:`xordal.graph.equivalence`), or when a network in which the child comes first is found that ties with the
one that is returned. The latter are sought from the returned one by turning arcs near it, so that a tie far
from it can be missed: a mark is certain, its absence is not quite. Of a network given with exact tables, n is
taken as :data:`EXACT_ROWS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np

from xordal.counting.finalize import entropy
from xordal.graph.chordal import perfect_order
from xordal.graph.equivalence import compelled_arcs
from xordal.model.directed import BayesianNetwork, family_of
from xordal.types import VarSet, members

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork

EXACT_ROWS = 10**9
"""Rows that exact tables count as: dependence above about 1e-8 nats is worth an arc."""

_RESTARTS = 4  # random orders beside two fixed ones
_ALL_SUBSETS = 10  # variables of a clique up to which all its subsets are tried as parents
_LARGEST = 4  # parents tried in larger cliques
_BETTER = 1e-9  # nats by which a score must be larger to be better: rounding stays far below


@dataclass(frozen=True, slots=True)
class Choice:
    """A set of parents for a variable: its score, and the free parameters it takes."""

    score: float
    parents: VarSet
    n_parameters: int


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """For each variable, the sets of parents worth having, best first; the last is the empty one.

    Attributes
    ----------
    of
        The choices of each variable.
    unit
        The price of a parameter: log(n) / 2 nats.
    """

    of: tuple[tuple[Choice, ...], ...]
    unit: float

    def best(self, v: int, before: int) -> Choice:
        """Return the best choice for a variable among those before it."""
        return next(choice for choice in self.of[v] if not choice.parents & ~before)


@dataclass(frozen=True, slots=True)
class Directed:
    """An order and what follows from it: the parents of each variable, score, parameters, backward arcs."""

    order: tuple[int, ...]
    parents: tuple[VarSet, ...]
    score: float
    n_parameters: int

    @property
    def n_backward(self) -> int:
        """Number of arcs from a later column to an earlier one."""
        return sum((parents >> v).bit_count() for v, parents in enumerate(self.parents))


def directed(network: DecomposableMarkovNetwork) -> BayesianNetwork:
    """Answer :meth:`DecomposableMarkovNetwork.to_bayesian`."""
    choices = _choices(network)
    best = max(
        (_climb(choices, order) for order in _starts(network)), key=lambda found: (found.score, found.order)
    )
    best = _settled(choices, best)
    families = tuple(family_of(network, v, members(parents)) for v, parents in enumerate(best.parents))
    compelled = compelled_arcs(best.parents)
    unidentified = frozenset(
        (u, v)
        for v, parents in enumerate(best.parents)
        for u in members(parents)
        if (u, v) not in compelled or _ties(choices, best, _turned(choices, best, (u, v), 0.0))
    )
    return BayesianNetwork(network.variables, network.levels, families, unidentified)


def _starts(network: DecomposableMarkovNetwork) -> Iterator[tuple[int, ...]]:
    n = len(network.variables)
    perfect = perfect_order(network.graph.neighbours)
    assert perfect is not None, "a ChordalGraph is chordal"
    yield perfect
    yield tuple(range(n))
    generator = np.random.default_rng(0)
    for _ in range(_RESTARTS):
        yield tuple(generator.permutation(n).tolist())


def _settled(choices: Choices, best: Directed) -> Directed:
    """Return the network with backward arcs turned round one after the other, where that makes a tie."""
    while True:
        backward = [(u, v) for v, parents in enumerate(best.parents) for u in members(parents) if u > v]
        others = (_turned(choices, best, arc, 0.9 * choices.unit) for arc in backward)
        better = next(
            (other for other in others if _ties(choices, best, other) and other.n_backward < best.n_backward),
            None,
        )
        if better is None:
            return best
        best = better


def _ties(choices: Choices, best: Directed, other: Directed) -> bool:
    return other.n_parameters <= best.n_parameters and other.score >= best.score - choices.unit


def _turned(choices: Choices, best: Directed, arc: tuple[int, int], price: float) -> Directed:
    """Return a good network in which the child of an arc comes before its parent.

    ``price`` is taken off for each backward arc, so that other arcs are not turned for nothing.
    """
    u, v = arc
    order = [w for w in best.order if w != v]
    order.insert(order.index(u), v)
    around = best.parents[u] | best.parents[v] | 1 << u | 1 << v
    for w, parents in enumerate(best.parents):
        around |= 1 << w if parents & (1 << u | 1 << v) else 0
    return _climb(choices, tuple(order), price=price, first=v, second=u, movable=around)


def _climb(
    choices: Choices,
    order: Sequence[int],
    *,
    price: float = 0.0,
    first: int = -1,
    second: int = -1,
    movable: int = -1,
) -> Directed:
    """Return the network of an order in which no variable can be moved to a better place.

    ``first`` stays before ``second``; only the variables of ``movable`` are moved.
    """
    current = list(order)
    is_better = True
    while is_better:
        is_better = False
        for v in [w for w in current if movable >> w & 1]:
            gain, place = _best_place(choices, current, v, price, first, second)
            if gain > _BETTER:
                current.remove(v)
                current.insert(place, v)
                is_better = True
    return _network(choices, current)


def _best_place(
    choices: Choices, order: list[int], v: int, price: float, first: int, second: int
) -> tuple[float, int]:
    """Return what moving a variable to its best place gains, and that place."""
    start = order.index(v)
    best, place = 0.0, start
    for step in (-1, 1):
        gain, at = 0.0, start
        before = sum(1 << w for w in order[:start])
        while 0 <= at + step < len(order):
            other = order[at + step]
            # Going left, v comes before ``other``; going right, after it.
            earlier, later = (v, other) if step < 0 else (other, v)
            if (later, earlier) == (first, second):
                break
            shared = before & ~(1 << other) if step < 0 else before
            old = _value(choices, later, shared, price) + _value(choices, earlier, shared | 1 << later, price)
            new = _value(choices, earlier, shared, price) + _value(choices, later, shared | 1 << earlier, price)
            gain += new - old
            before = shared if step < 0 else shared | 1 << other
            at += step
            if gain > best + _BETTER:
                best, place = gain, at
    return best, place


def _value(choices: Choices, v: int, before: int, price: float) -> float:
    if not price:
        return choices.best(v, before).score
    return max(
        choice.score - price * (choice.parents >> v).bit_count()
        for choice in choices.of[v]
        if not choice.parents & ~before
    )


def _network(choices: Choices, order: Sequence[int]) -> Directed:
    before, found = 0, {}
    for v in order:
        found[v] = choices.best(v, before)
        before |= 1 << v
    chosen = [found[v] for v in range(len(order))]
    score = sum(choice.score for choice in chosen)
    parameters = sum(choice.n_parameters for choice in chosen)
    return Directed(tuple(order), tuple(choice.parents for choice in chosen), score, parameters)


def _choices(network: DecomposableMarkovNetwork) -> Choices:
    """Return the sets of parents worth having: those that no part of them beats."""
    n_rows = network.n_rows or EXACT_ROWS
    unit = log(n_rows) / 2
    entropies = _Entropies(network)
    order = perfect_order(network.graph.neighbours)
    assert order is not None, "a ChordalGraph is chordal"
    earlier = {v: sum(1 << u for u in order[:place]) for place, v in enumerate(order)}
    found = []
    for v, neighbours in enumerate(network.graph.neighbours):
        sets = {*_parent_sets(network, v), VarSet(neighbours & earlier[v])}
        choices = []
        for parents in sets:
            lost = n_rows * (entropies[VarSet(parents | 1 << v)] - entropies[parents])
            cells = prod(network.n_levels[u] for u in members(parents))
            n_parameters = (network.n_levels[v] - 1) * cells
            choices.append(Choice(-lost - unit * n_parameters, parents, n_parameters))
        found.append(_undominated(choices))
    return Choices(tuple(found), unit)


def _parent_sets(network: DecomposableMarkovNetwork, v: int) -> Iterator[VarSet]:
    for table in network.clique_tables():
        if table.variables >> v & 1:
            others = [u for u in members(table.variables) if u != v]
            largest = len(others) if len(others) < _ALL_SUBSETS else _LARGEST
            for size in range(largest + 1):
                yield from (VarSet(sum(1 << u for u in part)) for part in combinations(others, size))


def _undominated(choices: list[Choice]) -> tuple[Choice, ...]:
    """Return choices best first, without those that have a better one among their parts."""
    kept: list[Choice] = []
    for choice in sorted(choices, key=lambda one: (-one.score, one.parents.bit_count(), one.parents)):
        if not any(not other.parents & ~choice.parents for other in kept):
            kept.append(choice)
    return tuple(kept)


class _Entropies(dict[VarSet, float]):
    """The entropy of each set inside a clique, in nats: of the rows counted, or of exact tables."""

    def __init__(self, network: DecomposableMarkovNetwork) -> None:
        super().__init__({VarSet(0): 0.0})
        self._network, self._tables = network, network.clique_tables()

    def __missing__(self, wanted: VarSet) -> float:
        home = next(table for table in self._tables if not wanted & ~table.variables)
        if self._network.is_counted:
            inside = members(home.variables)
            self[wanted] = entropy(home.counted.over([inside.index(v) for v in members(wanted)]).counts)
        else:
            self[wanted] = home.over(wanted, self._network.n_levels).entropy()
        return self[wanted]
