"""Adding a link set one link at a time.

For chordal G and any L, G + L is chordal exactly when the links of L can be added one by one with every graph
on the way chordal, and taking whichever link may come next never gets stuck: between two chordal graphs, one
inside the other, there is always a link to take away from the larger (Rose, Tarjan & Lueker 1976, lemma 2).
So one walk decides legality and yields the separators from which gain and degrees of freedom add up.
"""

from __future__ import annotations

from typing import NamedTuple

from xordal.graph.chordal import ChordalGraph, add_link, separator_of
from xordal.types.varsets import LinkSet, VarSet


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
    able = ((*link, separator) for link in links if (separator := graph.separator(link)) is not None)
    chain: list[Addition] = []
    waiting = list(links)
    masks: list[int] = []
    components: list[int] = []
    while (first := next(able, None)) is not None:
        chain.append(Addition(*first))
        waiting.remove(first[:2])
        if not waiting:
            return tuple(chain)
        if not masks:  # of a wide graph copies take longer than all else, and single links need none
            masks, components = list(graph.neighbours), list(graph.components)
        add_link(masks, components, *first[:2])
        able = (
            (x, y, separator)
            for x, y in waiting
            if (separator := separator_of(masks, components, x, y)) is not None
        )
    return None
