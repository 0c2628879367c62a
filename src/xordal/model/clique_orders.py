"""The best of all directed networks inside a decomposable one, and the best without an arc: exact, by clique.

A search over orders of the variables may end far from the best network. This finds it, and it proves what no
search can: that no network of some kind is as good.

**Orders of cliques.** Families lie inside cliques. All links of a chordal graph directed without a circle
inside any clique make no circle at all: a shortest circle of four or more would have a chord, and so not be the
shortest. So a network is an order of the variables of each clique, where cliques that meet agree, and for each
variable one clique that holds its family, with parents before it in that clique's order. The best one is found
as most probable states are found in a junction tree: cliques tell their neighbours how well their side of the
tree can do, for each order of the variables they share and each choice of those whose families lie on that
side. After two passes each clique knows the best of all networks, given its own order and families.

**Prices.** All is done for several prices at once (:class:`~xordal.model.ordered_clique.Prices`): what is taken
off the score for each parameter, and for each arc against the order of the columns.

A clique of k variables has k! orders, so that it must have at most
:data:`~xordal.model.ordered_clique.LARGEST_CLIQUE`. The graph is one component: what is best in one does not
depend on another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import junction_tree
from xordal.model.directed import topological_order
from xordal.model.ordered_clique import Message, OrderedClique, Prices, Values
from xordal.model.parent_sets import Choices
from xordal.types.varsets import Link, VarSet, members


class BestNetworks:
    """The best networks of one component at some prices, with every order of every clique looked at."""

    def __init__(self, graph: ChordalGraph, choices: Choices, prices: Prices) -> None:
        self._tree = tree = junction_tree(graph)
        self._n_variables, self.prices = len(choices.of), prices
        assert tree.parents.count(None) == 1, "one component at a time"
        self._children: list[list[int]] = [[] for _ in tree.cliques]
        for place, parent in enumerate(tree.parents):
            if parent is not None:
                self._children[parent].append(place)
        self._cliques = [OrderedClique.of(clique, choices, prices) for clique in tree.cliques]
        self._up: dict[int, Message] = {}
        self._down: dict[int, Message] = {}
        self._pass_up()

    def order(self, number: int) -> tuple[int, ...]:
        """Return an order of the variables in which the best network at a price can be had."""
        parents = [0] * self._n_variables
        up = {place: message.at(number) for place, message in self._up.items()}
        told: dict[int, tuple[int, int]] = {}  # the order of its separator, and whose families its side places
        for place, clique in enumerate(clique.at(number) for clique in self._cliques):
            heard = [up[child] for child in self._children[place]]
            values = clique.placed(clique.heard(heard))[:, 0]
            rank, part = told.get(place, (0, 0))
            order, wanted = clique.best_order(values, self._tree.separators[place], rank, part)
            for child, part in zip(self._children[place], clique.traced(heard, order, wanted), strict=True):
                told[child] = int(clique.rank(self._tree.separators[child])[order]), part
            for v, mask in zip(clique.inside, clique.before[order].tolist(), strict=True):
                parents[v] |= sum(1 << u for bit, u in enumerate(clique.inside) if mask >> bit & 1)
        found = topological_order([members(VarSet(mask)) for mask in parents])
        assert found is not None, "orders of cliques that agree make no circle"
        return found

    def without(self, arcs: Sequence[Link]) -> Values:
        """Return how good the best network without each arc is, at each price; shape (arcs, prices)."""
        self._pass_down()
        bounds = np.full((len(arcs), len(self.prices.parameter)), -np.inf)
        for place, clique in enumerate(self._cliques):
            asked = [number for number, (_, v) in enumerate(arcs) if v in clique.inside]
            if asked:
                found = clique.without(self._messages(place), [arcs[number] for number in asked])
                bounds[asked] = np.maximum(bounds[asked], found)
        return bounds

    def _values(self, place: int) -> Values:
        """Return how well a clique and all below it can do."""
        clique = self._cliques[place]
        return clique.placed(clique.heard([self._up[child] for child in self._children[place]]))

    def _messages(self, place: int) -> list[Message]:
        told = [self._up[child] for child in self._children[place]]
        return [*told, self._down[place]] if place in self._down else told

    def _pass_up(self) -> None:
        for place in range(len(self._cliques) - 1, 0, -1):  # the first is the root
            self._up[place] = self._cliques[place].tell(self._values(place), self._tree.separators[place])

    def _pass_down(self) -> None:
        for place, clique in enumerate(self._cliques):
            above = [self._down[place]] if place in self._down else []
            start = clique.placed(clique.heard(above))
            children = [(child, self._up[child]) for child in self._children[place]]
            for child, values in _all_but_one(children, start, clique.hear):
                self._down[child] = clique.tell(values, self._tree.separators[child])


def _all_but_one(
    children: list[tuple[int, Message]], values: Values, hear: Callable[[Values, Message], Values]
) -> Iterator[tuple[int, Values]]:
    """Yield, for each child, the values after all others were heard; by halves, which saves hearings."""
    if len(children) < 2:
        yield from ((child, values) for child, _ in children)
        return
    half = len(children) // 2
    for some, others in ((children[:half], children[half:]), (children[half:], children[:half])):
        heard = values
        for _, message in others:
            heard = hear(heard, message)
        yield from _all_but_one(some, heard, hear)
