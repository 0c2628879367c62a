"""One clique of a junction tree, every order of its variables, and the best families in each.

What :mod:`xordal.model.clique_orders` is made of. Sets of a clique's variables are masks of their places in it,
and an order is told by the set before each variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from xordal.model.parent_sets import Choice, Choices
from xordal.types.varsets import Link, VarSet, members

LARGEST_CLIQUE = 6
"""Variables of the largest clique whose orders are gone through: 720 orders, about 0.1 s a clique."""

Values = NDArray[np.float64]
"""Best scores; shape (sets of variables whose families are placed, prices, orders)."""


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What is taken off a score for each free parameter, and for each arc against the column order.

    Several at once: two arrays of one length.
    """

    parameter: Values
    backward: Values

    def value(self, v: int, choice: Choice) -> Values:
        """Return the score of a choice of parents less what it costs, at each price."""
        n_backward = (choice.parents >> v).bit_count()
        return choice.score - self.parameter * choice.n_parameters - self.backward * n_backward


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """How well one side of the tree can do, at its best.

    ``values`` has the shape (sets of the separator's variables whose families are there, prices, orders of it).
    """

    separator: VarSet
    values: Values

    def at(self, number: int) -> Message:
        """Return the message at one price."""
        return Message(self.separator, self.values[:, number : number + 1])


@dataclass(frozen=True, slots=True, eq=False)
class OrderedClique:
    """A clique: its variables, and the best family of each in every order of them.

    Attributes
    ----------
    inside
        The variables, in increasing order; sets of them are masks of places in this tuple.
    before
        The set before each variable in each order, shape (orders, variables).
    families
        The best score of each variable with parents in a set, shape (variables, prices, sets).
    """

    inside: tuple[int, ...]
    before: NDArray[np.int64]
    families: Values

    @classmethod
    def of(cls, clique: VarSet, choices: Choices, prices: Prices) -> OrderedClique:
        """Return a clique with the best families of its variables."""
        inside = members(clique)
        families = np.full((len(inside), len(prices.parameter), 1 << len(inside)), -np.inf)
        for place, v in enumerate(inside):
            for choice in choices.of[v]:
                if not choice.parents & ~clique:
                    parents = sum(1 << inside.index(u) for u in members(choice.parents))
                    families[place, :, parents] = prices.value(v, choice)
        return cls(inside, _orders(len(inside)), _best_parts(families))

    def at(self, number: int) -> OrderedClique:
        """Return the clique at one price."""
        return OrderedClique(self.inside, self.before, self.families[:, number : number + 1])

    @property
    def _silence(self) -> Values:
        values = np.full((1 << len(self.inside), self.families.shape[1], len(self.before)), -np.inf)
        values[0] = 0.0
        return values

    def heard(self, messages: Sequence[Message]) -> Values:
        """Return the best that the sides of some messages can do together."""
        values = self._silence
        for message in messages:
            values = self.hear(values, message)
        return values

    def hear(self, values: Values, message: Message) -> Values:
        """Return values with another side of the tree, which places the families of other variables."""
        found = np.full_like(values, -np.inf)
        known = np.flatnonzero(
            values[:, 0, 0] > -np.inf
        )  # the empty family is always possible, so one tells all
        told = message.values[..., self.rank(message.separator)]
        for part, placed in enumerate(self._parts(message.separator)):
            if told[part, 0, 0] > -np.inf:
                rest = known[known & placed == 0]
                found[rest | placed] = np.maximum(found[rest | placed], values[rest] + told[part])
        return found

    def placed(self, values: Values, but: int | None = None) -> Values:
        """Return values with this clique's own families, of all variables (but one) that have none yet."""
        values = values.copy()
        everything = np.arange(len(values))
        for place in range(len(self.inside)):
            if place != but:
                rest = everything[(everything >> place & 1 == 0) & (values[:, 0, 0] > -np.inf)]
                own = self.families[place][:, self.before[:, place]]
                values[rest | 1 << place] = np.maximum(values[rest | 1 << place], values[rest] + own)
        return values

    def tell(self, values: Values, separator: VarSet) -> Message:
        """Return the best for each order of a separator; families of all other variables must be placed."""
        parts = self._parts(separator)
        own = (1 << len(self.inside)) - 1 & ~parts[-1]
        by_rank = np.argsort(self.rank(separator), kind="stable")
        chosen = values[parts | own][..., by_rank]
        n_orders = len(_orders(separator.bit_count()))
        return Message(separator, chosen.reshape(*chosen.shape[:2], n_orders, -1).max(axis=-1))

    def without(self, messages: Sequence[Message], arcs: Sequence[Link]) -> Values:
        """Return the best of all networks without an arc that place its child's family here; (arcs, prices)."""
        heard = self.heard(messages)
        others = {
            v: self.placed(heard, but=place)[len(heard) - 1 - (1 << place)]
            for place, v in enumerate(self.inside)
            if any(v == child for _, child in arcs)
        }
        found = []
        for u, v in arcs:
            place = self.inside.index(v)
            allowed = self.before[:, place]
            if u in self.inside:
                allowed = allowed & ~(1 << self.inside.index(u))
            found.append((others[v] + self.families[place][:, allowed]).max(axis=-1))
        return np.array(found)

    def best_order(self, values: Values, separator: VarSet, rank: int, part: int) -> tuple[int, int]:
        """Return the best order with a given one on a separator, and the families that this side then places.

        ``values`` has the shape (sets, orders); ``part`` are the separator's families on this side.
        """
        parts = self._parts(separator)
        wanted = int((1 << len(self.inside)) - 1 & ~parts[-1] | parts[part])
        allowed = np.flatnonzero(self.rank(separator) == rank)
        return int(allowed[values[wanted, allowed].argmax()]), wanted

    def traced(self, messages: Sequence[Message], order: int, wanted: int) -> list[int]:
        """Return which families each message places where the wanted ones are placed best, at one price."""
        steps = [self._silence]
        for message in messages:
            steps.append(self.hear(steps[-1], message))
        line = [step[:, 0, order] for step in steps]
        left = self._heard_of(line[-1], order, wanted)
        found = []
        for message, before in zip(reversed(messages), reversed(line[:-1]), strict=True):
            told = message.values[:, 0, self.rank(message.separator)[order]]
            parts = self._parts(message.separator)
            values = np.where(parts & ~left == 0, before[left & ~parts] + told, -np.inf)
            found.append(int(values.argmax()))
            left &= ~int(parts[found[-1]])
        return found[::-1]

    def _heard_of(self, values: Values, order: int, wanted: int) -> int:
        """Return which of the wanted families come from messages; all others are best placed here."""
        own = [self.families[place][0, self.before[order, place]] for place in range(len(self.inside))]
        inside = [part for part in range(1 << len(self.inside)) if not part & ~wanted]
        rest = [sum(own[place] for place in members(VarSet(wanted & ~part))) for part in inside]
        return inside[int((values[inside] + np.array(rest)).argmax())]

    def rank(self, separator: VarSet) -> NDArray[np.int64]:
        """Return the number of the order that each order of the clique gives to a separator's variables."""
        return _ranks(len(self.inside), tuple(map(self.inside.index, members(separator))))

    def _parts(self, separator: VarSet) -> NDArray[np.int64]:
        """Return all sets of a separator's variables, as sets of this clique's."""
        return _spread(tuple(map(self.inside.index, members(separator))))


@lru_cache(maxsize=256)
def _spread(places: tuple[int, ...]) -> NDArray[np.int64]:
    """Return all sets of some places."""
    parts = np.arange(1 << len(places))
    spread = np.zeros_like(parts)
    for bit, place in enumerate(places):
        spread |= (parts >> bit & 1) << place
    return spread


@lru_cache(maxsize=256)
def _ranks(n: int, places: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the number of the order of some places in each order of n, the same whatever n is."""
    mask = sum(1 << place for place in places)
    earlier = np.bitwise_count(_orders(n)[:, places] & mask).astype(np.int64)
    numbers = earlier @ (max(1, len(places)) ** np.arange(len(places), dtype=np.int64))
    return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.int64)


@lru_cache(maxsize=LARGEST_CLIQUE + 1)
def _orders(n: int) -> NDArray[np.int64]:
    """Return the set before each variable, in every order of n variables; shape (orders, n)."""
    before = np.zeros((1, n), dtype=np.int64) if n == 0 else np.array(list(permutations(range(n))))
    found = np.zeros_like(before)
    for order in range(len(before)):
        seen = 0
        for v in before[order]:
            found[order, v] = seen
            seen |= 1 << int(v)
    return found


def _best_parts(families: Values) -> Values:
    """Return the best of the parts of each set, from the values of the sets; changes its argument."""
    everything = np.arange(families.shape[-1])
    for bit in range(families.shape[0]):
        without = everything[everything >> bit & 1 == 0]
        families[..., without | 1 << bit] = np.maximum(
            families[..., without | 1 << bit], families[..., without]
        )
    return families
