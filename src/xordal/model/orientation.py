"""From links to arcs: which of the directed networks inside a decomposable one the data speak for.

A link says that two variables belong together, an arc which of them is the parent. Take the exclusive-or of two
switches and a lamp. Undirected, all three are linked. Directed, with the lamp as the child, the arc between the
switches can go, because they tell nothing of each other: a *collider*, switch1 -> lamp <- switch2, with fewer
parameters and the same joint distribution. So it is with every hidden group.

**What is compared.** All directed networks whose families lie inside a clique, scored by BIC: the
log-likelihood minus log(n) / 2 per free parameter. A network with every link directed along a perfect order is
one of them and has the joint of the decomposable network; an arc goes where BIC gains by it, so the joint stays
that of the decomposable network up to the criterion. The best of them is computed
(:mod:`xordal.model.clique_orders`). Only where a clique has more variables than that can do is it searched for,
over orders of the variables (Teyssier & Koller 2005): a variable is moved to its best place, until none can be
moved to a better one, from several orders.

**Ties.** Often several networks are equally likely: of a fair XOR any variable may be the child. A network
ties with the best one when it has no more parameters and its score falls short by at most log(n) / 2, the price
of one parameter. Arcs against the order of the columns are then given a price that rises step by step; the
network that is best at each price is taken if it has fewer of them and ties with the one before. So each arc is
turned for less than log(n) / 2, whatever ties there are elsewhere in the network.

**Marks.** An arc is identified when it is proven that every network with no more parameters than the best, and
a score at most log(n) / 2 below that of the network *told*, has it; otherwise it is marked. Let P be the
parameters of the best network. A network with at most P has a score of at most its score +
price * (P - its parameters), whatever the price; and the largest such value of all networks without the arc is
computed. If for some price it is below that score, the arc is identified. Equivalent networks, which fit any
data equally well, have the same score and as many parameters. In a component with a clique of too many
variables nothing is proven, so that all its arcs are marked.

Example: two skewed switches and their exclusive-or, a lamp. lamp -> switch1 with both -> switch2 has the same
likelihood and one parameter more, which is one too many; with fewer arcs the likelihood falls by hundreds of
nats. So both arcs into the lamp are identified. Of a network given with exact tables, n is taken as
:data:`~xordal.model.parent_sets.EXACT_ROWS`.

**Components.** Variables that no path of links joins are directed apart, so that "network" above means the
network of one component: score and parameters of one say nothing about the arcs of another, and columns that
are added beside a component do not change its arcs or marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xordal.graph.junction_tree import junction_tree
from xordal.model.clique_orders import BestNetworks
from xordal.model.directed import Arc, BayesianNetwork, family_of
from xordal.model.ordered_clique import LARGEST_CLIQUE, Prices
from xordal.model.parent_sets import Choices, choices_in
from xordal.types.varsets import VarSet, members

if TYPE_CHECKING:
    from xordal.graph.chordal import ChordalGraph
    from xordal.model.network import DecomposableMarkovNetwork

_RESTARTS = 4  # random orders beside two fixed ones
_BETTER = 1e-9  # nats by which a score must be larger to be better: rounding stays far below

_BACKWARD = np.array([0.0, 0.001, 0.03, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0])
"""Prices of an arc against the order of the columns, in units of log(n) / 2, tried one after the other."""

_PARAMETER = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0])
"""Prices of a parameter at which a proof is tried, in units of log(n) / 2.

Any of them proves. Low ones do where weak arcs could be given up in favour of others.
"""


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
    choices = choices_in(network)
    parents: list[tuple[int, ...]] = [() for _ in network.variables]
    unsure: set[Arc] = set()
    for component in set(network.graph.components):
        inside = members(component)
        if len(inside) == 1:
            continue
        told, unidentified = _component(network.graph.induced(inside), choices.inside(inside))
        for v, mask in zip(inside, told.parents, strict=True):
            parents[v] = tuple(inside[place] for place in members(mask))
        unsure |= {(inside[u], inside[v]) for u, v in unidentified}
    families = tuple(family_of(network, v, above) for v, above in enumerate(parents))
    rules = tuple(each.rule for each in network.rules)
    return BayesianNetwork(network.variables, network.levels, families, frozenset(unsure), rules)


def _component(graph: ChordalGraph, choices: Choices) -> tuple[Directed, list[Arc]]:
    """Return the network told of a component, and its arcs that are not identified."""
    prices = _BACKWARD * choices.unit
    is_searched = max(map(int.bit_count, junction_tree(graph).cliques)) > LARGEST_CLIQUE
    exact = None if is_searched else BestNetworks(graph, choices, Prices(np.zeros_like(prices), prices))

    def at(number: int, start: Sequence[int]) -> Directed:
        if exact is None:
            return _climb(choices, start, float(prices[number]))
        return _network(choices, exact.order(number), float(prices[number]))

    starts = _starts(graph) if is_searched else [graph.order]
    best = told = max((at(0, start) for start in starts), key=lambda found: (found.score, found.order))
    for number in range(1, len(prices)):
        other = at(number, told.order)
        if other.n_backward < told.n_backward and _ties(choices, told, other):
            told = other
    arcs = [(u, v) for v, parents in enumerate(told.parents) for u in members(parents)]
    return told, arcs if is_searched else _unidentified(graph, choices, best, told, arcs)


def _ties(choices: Choices, one: Directed, other: Directed) -> bool:
    return other.n_parameters <= one.n_parameters and other.score >= one.score - choices.unit


def _unidentified(
    graph: ChordalGraph, choices: Choices, best: Directed, told: Directed, arcs: list[Arc]
) -> list[Arc]:
    """Return the arcs of which it is not proven that all networks that tie have them."""
    prices = _PARAMETER * choices.unit
    exact = BestNetworks(graph, choices, Prices(prices, np.zeros_like(prices)))
    bounds = exact.without(arcs) + prices * best.n_parameters
    enough = told.score - choices.unit
    # Rounding of a sum of many scores must not make a proof.
    is_proven = np.any(bounds < enough - 1e-9 * max(1.0, abs(enough)), axis=1)
    return [arc for arc, proven in zip(arcs, is_proven, strict=True) if not proven]


def _starts(graph: ChordalGraph) -> Iterator[tuple[int, ...]]:
    n = graph.n_vertices
    yield graph.order
    yield tuple(range(n))
    generator = np.random.default_rng(0)
    for _ in range(_RESTARTS):
        yield tuple(generator.permutation(n).tolist())


def _climb(choices: Choices, order: Sequence[int], price: float = 0.0) -> Directed:
    """Return the network of an order in which no variable can be moved to a better place.

    ``price`` is what a backward arc costs.
    """
    current = list(order)
    is_better = True
    while is_better:
        is_better = False
        for v in list(current):
            gain, place = _best_place(choices, current, v, price)
            if gain > _BETTER:
                current.remove(v)
                current.insert(place, v)
                is_better = True
    return _network(choices, current, price)


def _best_place(choices: Choices, order: list[int], v: int, price: float) -> tuple[float, int]:
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
    return (
        choices.best(v, before, price).score - price * (choices.best(v, before, price).parents >> v).bit_count()
    )


def _network(choices: Choices, order: Sequence[int], price: float = 0.0) -> Directed:
    before, found = 0, {}
    for v in order:
        found[v] = choices.best(v, before, price)
        before |= 1 << v
    chosen = [found[v] for v in range(len(order))]
    score = sum(choice.score for choice in chosen)
    parameters = sum(choice.n_parameters for choice in chosen)
    return Directed(tuple(order), tuple(choice.parents for choice in chosen), score, parameters)
