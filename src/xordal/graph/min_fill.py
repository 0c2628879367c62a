"""Min-fill: how a graph that is not chordal, such as that of required links, is completed as a whole.

Vertices are eliminated one at a time, always the one whose neighbours miss the fewest links among themselves,
the lowest vertex first among equals; the links its neighbours miss are filled in. Then filled-in links that the
graph can do without are taken out again, the last in lexicographic order first, until none can go. The result
is a function of the graph, and minimal: no filled-in link can be left out (Rose, Tarjan & Lueker 1976).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from xordal.graph.chordal import linked
from xordal.types.varsets import Link, LinkSet, members


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
    masks = linked(neighbours, filled)
    while (idle := _dispensable(masks, filled)) is not None:
        filled.remove(idle)
        u, v = idle
        masks[u] ^= 1 << v
        masks[v] ^= 1 << u
    return tuple(filled)


def _eliminate(neighbours: Sequence[int]) -> Iterator[Link]:
    """Yield the links filled in, eliminating the vertices one by one.

    What a vertex misses changes only when a neighbour goes or two of its neighbours are linked, so only the
    neighbours of the vertex that goes, and those of both ends of a new link, are looked at again. Old entries
    stay in the heap and are passed over.
    """
    masks = list(neighbours)
    left = (1 << len(masks)) - 1
    n_missing = {v: len(_missing(masks, masks[v])) for v in range(len(masks))}
    waiting = [(n, v) for v, n in n_missing.items()]
    heapify(waiting)
    while waiting:
        n, v = heappop(waiting)
        if n_missing.get(v) != n:
            continue
        del n_missing[v]
        left &= ~(1 << v)
        around = changed = masks[v] & left
        for x, y in _missing(masks, around):
            yield (x, y)
            masks[x] |= 1 << y
            masks[y] |= 1 << x
            changed |= masks[x] & masks[y] & left
        for u in members(changed):
            found = len(_missing(masks, masks[u] & left))
            if found != n_missing[u]:
                n_missing[u] = found
                heappush(waiting, (found, u))


def _missing(masks: Sequence[int], variables: int) -> list[Link]:
    found: list[Link] = []
    for u in members(variables):
        later = variables & ~masks[u] & -(2 << u)
        if later:
            found += [(u, v) for v in members(later)]
    return found


def _dispensable(masks: Sequence[int], filled: list[Link]) -> Link | None:
    """Return the last filled-in link without which the graph stays chordal.

    A link of a chordal graph can go exactly when one maximal clique holds it: when what both its ends are
    linked to is a clique.
    """
    for u, v in reversed(filled):
        common = masks[u] & masks[v]
        if all(not common & ~masks[w] & ~(1 << w) for w in members(common)):
            return (u, v)
    return None
