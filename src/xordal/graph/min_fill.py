"""Min-fill: how a graph that is not chordal, such as that of required links, is completed as a whole.

Vertices are eliminated one at a time, always the one whose neighbours miss the fewest links among themselves,
the lowest vertex first among equals; the links its neighbours miss are filled in. Then filled-in links that the
graph can do without are taken out again, the last in lexicographic order first, until none can go. The result
is a function of the graph, and minimal: no filled-in link can be left out (Rose, Tarjan & Lueker 1976).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from xordal.graph.chordal import is_chordal, linked
from xordal.types import Link, LinkSet, members


def min_fill(neighbours: Sequence[int]) -> LinkSet:
    """Return the links that make a graph chordal, in increasing order; none if it is chordal already.

    Examples
    --------
    >>> ring = [0b1010, 0b0101, 0b1010, 0b0101]  # 0-1-2-3-0
    >>> min_fill(ring)
    ((1, 3),)
    >>> min_fill([0b10, 0b01])
    ()
    """
    filled = sorted(_eliminate(neighbours))
    while (idle := _dispensable(neighbours, filled)) is not None:
        filled.remove(idle)
    return tuple(filled)


def _eliminate(neighbours: Sequence[int]) -> Iterator[Link]:
    masks = list(neighbours)
    left = (1 << len(masks)) - 1
    while left:
        v, missing = min(((v, _missing(masks, masks[v] & left)) for v in members(left)), key=_fewest)
        yield from missing
        masks = linked(masks, missing)
        left &= ~(1 << v)


def _fewest(choice: tuple[int, list[Link]]) -> tuple[int, int]:
    return len(choice[1]), choice[0]


def _missing(masks: Sequence[int], variables: int) -> list[Link]:
    return [(u, v) for u, v in combinations(members(variables), 2) if not masks[u] >> v & 1]


def _dispensable(neighbours: Sequence[int], filled: list[Link]) -> Link | None:
    """Return the last filled-in link without which the graph stays chordal."""
    for link in reversed(filled):
        if is_chordal(linked(neighbours, [other for other in filled if other != link])):
            return link
    return None
