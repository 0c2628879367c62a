"""The sets of parents that each variable may have in a directed network inside a decomposable one, with scores.

A family must lie inside a clique, so that its table can be read from the network. Its score is its part of BIC:
the log-likelihood of the variable given its parents, minus log(n) / 2 per free parameter. A set that scores no
more than one of its own parts is never needed: wherever it is allowed, so is the part, which has fewer
parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, prod
from typing import TYPE_CHECKING

from xordal.counting.finalize import entropy
from xordal.types.varsets import VarSet, members, varset

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork

EXACT_ROWS = 10**9
"""Rows that exact tables count as: dependence above about 1e-8 nats is worth an arc."""

_ALL_SUBSETS = 10  # variables of a clique up to which all its subsets are tried as parents
_LARGEST = 4  # parents tried in larger cliques


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

    def best(self, v: int, before: int, price: float = 0.0) -> Choice:
        """Return the best choice for a variable among those before it; each later column costs a price."""
        allowed = (choice for choice in self.of[v] if not choice.parents & ~before)
        if not price:
            return next(allowed)
        return max(allowed, key=lambda choice: choice.score - price * (choice.parents >> v).bit_count())

    def inside(self, variables: Sequence[int]) -> Choices:
        """Return the choices of the variables of a component, numbered by their places in it."""
        place = {v: number for number, v in enumerate(variables)}

        def renumbered(choice: Choice) -> Choice:
            parents = varset(place[u] for u in members(choice.parents))
            return Choice(choice.score, parents, choice.n_parameters)

        return Choices(tuple(tuple(map(renumbered, self.of[v])) for v in variables), self.unit)


def choices_in(network: DecomposableMarkovNetwork) -> Choices:
    """Return the sets of parents worth having: those that no part of them beats."""
    n_rows = network.n_rows or EXACT_ROWS
    unit = log(n_rows) / 2
    entropies = _Entropies(network)
    order = network.graph.order
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
