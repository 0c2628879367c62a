"""Adding a link set one link at a time.

For chordal G and any L, G + L is chordal exactly when the links of L can be added one by one with every graph
on the way chordal, and taking whichever link may come next never gets stuck: between two chordal graphs, one
inside the other, there is always a link to take away from the larger (Rose, Tarjan & Lueker 1976, lemma 2).
So one walk decides legality and yields the separators from which gain and degrees of freedom add up.
"""

from __future__ import annotations

from typing import NamedTuple

from xordal.graph.chordal import ChordalGraph, add_link, separator_of
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
    if not links:
        return ()
    if len(links) == 1:
        (link,) = links
        separator = graph.separator(link)
        return None if separator is None else (Addition(*link, separator),)
    masks: list[int] = list(graph.neighbours)
    components: list[int] = list(graph.components)
    chain: list[Addition] = []
    waiting = list(links)
    while waiting:
        for x, y in waiting:
            separator = separator_of(masks, components, x, y)
            if separator is not None:
                break
        else:
            return None
        chain.append(Addition(x, y, separator))
        waiting.remove((x, y))
        if waiting:
            add_link(masks, components, x, y)
    return tuple(chain)
