"""Adding a link set one link at a time.

For chordal G and any L, G + L is chordal exactly when the links of L can be added one by one with every graph
on the way chordal, and taking whichever link may come next never gets stuck: between two chordal graphs, one
inside the other, there is always a link to take away from the larger (Rose, Tarjan & Lueker 1976, lemma 2).
So one walk decides legality and yields the separators from which gain and degrees of freedom add up.
"""

from __future__ import annotations

from typing import NamedTuple

from xordal.graph.chordal import ChordalGraph, separator_of
from xordal.types import LinkSet, VarSet


class Addition(NamedTuple):
    """The link x-y added where ``separator`` parts its ends: it gains I(x; y | separator)."""

    x: int
    y: int
    separator: VarSet


def additions(graph: ChordalGraph, links: LinkSet) -> tuple[Addition, ...] | None:
    """Return a chain that adds the links one at a time, or None if the result would not be chordal.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)])
    >>> additions(path, ((0, 3),)) is None
    True
    >>> additions(path, ((0, 2), (0, 3)))
    (Addition(x=0, y=2, separator=2), Addition(x=0, y=3, separator=4))
    """
    if len(links) == 1:
        (link,) = links
        separator = graph.separator(link)
        return None if separator is None else (Addition(*link, separator),)
    growing = _Growing(graph, links)
    chain: list[Addition] = []
    waiting = list(links)
    while waiting:
        for link in waiting:
            separator = growing.separator(*link)
            if separator is not None:
                break
        else:
            return None
        growing.add(*link)
        chain.append(Addition(*link, separator))
        waiting.remove(link)
    return tuple(chain)


class _Growing:
    """A graph to which links are added, as far as it concerns the ends of those links."""

    def __init__(self, graph: ChordalGraph, links: LinkSet) -> None:
        self._masks: list[int] = list(graph.neighbours)
        self._components = {v: graph.components[v] for link in links for v in link}

    def separator(self, x: int, y: int) -> VarSet | None:
        return separator_of(self._masks, self._components, x, y)

    def add(self, x: int, y: int) -> None:
        self._masks[x] |= 1 << y
        self._masks[y] |= 1 << x
        joined = VarSet(self._components[x] | self._components[y])
        for v, component in self._components.items():
            if component & joined:
                self._components[v] = joined
