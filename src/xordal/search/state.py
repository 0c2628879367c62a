"""The graph of a running search, and what one step or several have changed in it.

A search learns (or takes out) a link set and goes on with another graph. Most of what it knew still holds: a
change matters only to variable sets near the links that came or went. Which sets those are is worked out here,
once per step, and handed to everybody who keeps something about the graph. Nobody else remembers a graph.

A lookahead of three links may rest while ten single links are learned, so whoever keeps something also keeps
the *position* up to which it has followed, a plain number, and asks for everything :meth:`GraphState.since`
then:

    position 0     the empty graph, about which nothing is known
    position 1     the graph the search starts from
    position 2 ..  one more for each step

Of all graphs on the way only the last ones are kept and every so many; another is made anew from the steps, for
a lookahead that has rested long. A graph of ten thousand variables takes a quarter of a megabyte.

Example: with 0 - 1 learned in one step and 1 - 2 in the next, ``since(1)`` is one :class:`Change` that added
both links; a set such as {3, 4} that it does not disturb is what it was, and is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.compiled import words_of
from xordal.graph.chain import Addition, additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.fill_in import touched
from xordal.graph.nearby import disturbed
from xordal.graph.separators import SeparatorPaths
from xordal.types.varsets import EMPTY, Link, LinkSet, VarSet, members, varset

Labels = NDArray[np.int64]

_LAST, _EVERY = 16, 256  # graphs that are kept: so many of the last ones, and of the others one in so many


@dataclass(frozen=True)
class Change:
    """In what two graphs of one search differ.

    Attributes
    ----------
    before, after
        The two graphs.
    added, removed
        The links that came and those that went on the way; one that came and went is in both.
    disturbed
        Vertices: a set that holds none of them can be completed as before, with the same gain
        (:mod:`xordal.graph.nearby`).
    touched
        Vertices: a set with none of them on the paths between its variables is completed with the same fill-in
        (:mod:`xordal.graph.fill_in`).
    labels
        Numbers of the components of each variable, before and after.
    """

    before: ChordalGraph
    after: ChordalGraph
    added: LinkSet
    removed: LinkSet
    disturbed: VarSet
    touched: VarSet
    labels: tuple[Labels, Labels]

    @cached_property
    def ends(self) -> VarSet:
        """The ends of all links that came or went."""
        return varset(v for link in (*self.added, *self.removed) for v in link)

    @cached_property
    def regrouped(self) -> VarSet:
        """The variables whose component is another one now: of those that a link has come to or gone from."""
        before, after = self.before.components, self.after.components
        return varset(v for v in members(around_ends(self.ends, before, after)) if before[v] != after[v])

    @cached_property
    def split(self) -> VarSet:
        """The variables whose component has lost others: what they were connected with is apart from them now.

        Only links that go can do that, so in most changes there are none.
        """
        before, after = self.before.components, self.after.components
        return varset(v for v in members(self.regrouped) if before[v] & ~after[v]) if self.removed else EMPTY


class Step(NamedTuple):
    """What one step has changed, as in :class:`Change`."""

    added: LinkSet
    removed: LinkSet
    disturbed: VarSet
    touched: VarSet


class GraphState:
    """The present graph of a search, and the steps that led to it.

    Examples
    --------
    >>> state = GraphState(ChordalGraph.empty(5))
    >>> state.add(((0, 1),))
    >>> state.add(((1, 2),))
    >>> state.position, state.since(1).added, state.since(2).disturbed == 0b110
    (3, ((0, 1), (1, 2)), True)
    """

    def __init__(self, graph: ChordalGraph) -> None:
        nothing, everything = ChordalGraph.empty(graph.n_vertices), VarSet((1 << graph.n_vertices) - 1)
        self.graph, self.labels = graph, labels_of(graph.components)
        self._steps = [Step(graph.links, (), everything, everything)]
        self._known = {0: (nothing, labels_of(nothing.components)), 1: (graph, self.labels)}  # by position
        self._since: dict[int, Change] = {}
        self._paths: SeparatorPaths | None = None
        self._paths_at = 0
        self._words: NDArray[np.uint64] | None = None

    @property
    def position(self) -> int:
        """The number of the present graph."""
        return len(self._steps)

    def since(self, position: int) -> Change:
        """Return what has changed after a position, which must be an earlier one."""
        if position not in self._since:
            steps = self._steps[position:]
            before, labels = self._at(position)
            self._since[position] = Change(
                before,
                self.graph,
                tuple(link for one in steps for link in one.added),
                tuple(link for one in steps for link in one.removed),
                reduce(or_, [one.disturbed for one in steps]),
                reduce(or_, [one.touched for one in steps]),
                (labels, self.labels),
            )
        return self._since[position]

    def _at(self, position: int) -> tuple[ChordalGraph, Labels]:
        """Return the graph of a position and its labels, made from an earlier one where they are not kept."""
        if position in self._known:
            return self._known[position]
        begin = max(kept for kept in self._known if kept < position)
        graph = self._known[begin][0]
        for step in self._steps[begin:position]:
            graph = graph.extended(step.added) if step.added else graph.without(step.removed)
        return graph, labels_of(graph.components)

    @property
    def paths(self) -> SeparatorPaths:
        """The separators between the variables of the present graph."""
        if self._paths is None or self._paths.graph is not self.graph:
            steps = self._steps[self._paths_at :] if self._paths is not None else []
            ends = varset(v for one in steps for link in (*one.added, *one.removed) for v in link)
            self._paths = SeparatorPaths(self.graph, self._paths, ends)
            self._paths_at = self.position
        return self._paths

    @property
    def words(self) -> NDArray[np.uint64]:
        """The neighbours of all variables as words, for kernels; only rows that change are written anew."""
        if self._words is None:
            self._words = words_of(self.graph.neighbours)
        return self._words

    def add(self, links: LinkSet) -> None:
        """Go on with links added that keep the graph chordal."""
        graph, steps = self.graph.extended(links), additions(self.graph, links)
        assert steps is not None, "links of a legal candidate"
        self._go_on(graph, links, (), disturbed(graph.neighbours, links), touched(steps))

    def remove(self, link: Link) -> None:
        """Go on without a link that the graph can do without."""
        masks = self.graph.neighbours
        step = Addition(*link, VarSet(masks[link[0]] & masks[link[1]]))
        self._go_on(self.graph.without((link,)), (), (link,), disturbed(masks, (link,)), touched([step]))

    def _go_on(
        self, graph: ChordalGraph, added: LinkSet, removed: LinkSet, around: VarSet, there: VarSet
    ) -> None:
        ends = varset(v for link in (*added, *removed) for v in link)
        altered = around_ends(ends, self.graph.components, graph.components)
        labels = labels_of(graph.components, self.labels, altered)
        self._steps.append(Step(added, removed, around, there))
        self.graph, self.labels = graph, labels
        self._known[self.position] = graph, labels
        old = self.position - _LAST
        if old > 1 and old % _EVERY:
            self._known.pop(old, None)
        if self._words is not None:
            for v in members(ends):
                row = graph.neighbours[v].to_bytes(self._words.itemsize * self._words.shape[1], "little")
                self._words[v] = np.frombuffer(row, dtype="<u8")
        self._since.clear()


def around_ends(ends: VarSet, before: Sequence[int], after: Sequence[int]) -> VarSet:
    """Return all variables in a component, before or after, of one of the ends of links that came or went.

    No other component has changed: of a wide graph that is far quicker than to compare all of them.
    """
    found = 0
    for v in members(ends):
        found |= before[v] | after[v]
    return VarSet(found)


def labels_of(components: Sequence[int], known: Labels | None = None, altered: VarSet = EMPTY) -> Labels:
    """Return a number for each variable, equal for those of one component: its lowest variable.

    ``known`` are the labels of earlier components, which hold for all variables but those ``altered``.

    Examples
    --------
    >>> labels_of(ChordalGraph.empty(3).add([(0, 1)]).components)
    array([0, 0, 2])
    """
    if known is None:
        return np.array([(mask & -mask).bit_length() - 1 for mask in components], dtype=np.int64)
    labels = known.copy()
    for v in members(altered):
        labels[v] = (components[v] & -components[v]).bit_length() - 1
    return labels
