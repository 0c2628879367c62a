"""Min-fill: how a graph that is not chordal, such as that of required links, is completed as a whole.

Vertices are eliminated one at a time, always the one whose neighbours miss the fewest links among themselves,
the lowest vertex first among equals; the links its neighbours miss are filled in. Then filled-in links that the
graph can do without are taken out again, the last in lexicographic order first, until none can go. The result
is a function of the graph, and minimal: no filled-in link can be left out (Rose, Tarjan & Lueker 1976).

Nothing is counted twice: how many links the neighbours of a vertex miss is kept up to date by what each
elimination changes, and a filled-in link that cannot go is looked at again only when a link beside it has gone.
So the work is about that of naming the triangles of the completed graph, and a hub of 20,000 vertices takes
seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush

from xordal.graph.chordal import linked
from xordal.types.varsets import Link, LinkSet, members


def min_fill(neighbours: Sequence[int], look: Callable[[int], None] | None = None) -> LinkSet:
    """Return the links that make a graph chordal, in increasing order; none if it is chordal already.

    ``look`` is shown each vertex with its neighbours as it is eliminated, a clique of the completed graph,
    before the links it misses are filled in: where that is too large for its use, it can raise an error.

    Examples
    --------
    >>> ring = [0b1010, 0b0101, 0b1010, 0b0101]  # 0-1-2-3-0
    >>> min_fill(ring)
    ((1, 3),)
    >>> min_fill([0b10, 0b01])
    ()
    """
    filled = sorted(_eliminate(neighbours, look))
    return _minimal(linked(neighbours, filled), filled)


def _eliminate(neighbours: Sequence[int], look: Callable[[int], None] | None) -> Iterator[Link]:
    """Yield the links filled in, eliminating the vertices one by one.

    A vertex whose count changed gets a new entry in the heap; old entries stay there and are passed over.
    """
    masks = list(neighbours)
    n_missing = [_n_missing(masks, around) for around in masks]
    waiting = [(n, v) for v, n in enumerate(n_missing)]
    heapify(waiting)
    while waiting:
        n, v = heappop(waiting)
        if n_missing[v] != n:
            continue
        n_missing[v] = -1
        around = masks[v]
        if look is not None:
            look(around | 1 << v)
        changed = around
        for x, y in _missing(masks, around) if n else ():
            yield (x, y)
            changed |= _fill(masks, n_missing, x, y)
        for u in members(around):
            # Of all that u is linked to, only the other neighbours of v are linked to v.
            masks[u] ^= 1 << v
            n_missing[u] -= (masks[u] & ~around).bit_count()
        for u in members(changed & ~(1 << v)):
            heappush(waiting, (n_missing[u], u))


def _n_missing(masks: Sequence[int], around: int) -> int:
    """Return how many pairs of some vertices are not linked."""
    n = around.bit_count()
    return (n * (n - 1) - sum((masks[u] & around).bit_count() for u in members(around))) // 2


def _fill(masks: list[int], n_missing: list[int], x: int, y: int) -> int:
    """Link x and y, which are not linked, and return the vertices whose count that changes."""
    common = masks[x] & masks[y]
    for u in members(common):
        n_missing[u] -= 1
    # x misses a link from its new neighbour to each of its old ones that y is not linked to, and so does y.
    n_missing[x] += (masks[x] & ~common).bit_count()
    n_missing[y] += (masks[y] & ~common).bit_count()
    masks[x] |= 1 << y
    masks[y] |= 1 << x
    return common | 1 << x | 1 << y


def _missing(masks: Sequence[int], variables: int) -> list[Link]:
    found: list[Link] = []
    for u in members(variables):
        later = variables & ~masks[u] & -(2 << u)
        if later:
            found += [(u, v) for v in members(later)]
    return found


def _minimal(masks: list[int], filled: list[Link]) -> LinkSet:
    """Return the filled-in links without those that can go, the last of these first; ``masks`` change.

    A link that goes leaves the others as they were but for those of one of its ends and a common neighbour of
    both: only there do two vertices have fewer neighbours in common. A link that holds two such neighbours
    apart can go no more, and that shows when its turn comes.
    """
    left = set(filled)
    waiting = [(-u, -v) for u, v in filled]
    heapify(waiting)
    is_waiting = set(filled)
    while waiting:
        u, v = (-end for end in heappop(waiting))
        is_waiting.discard((u, v))
        common = masks[u] & masks[v]
        if not _is_clique(masks, common):
            continue
        left.discard((u, v))
        masks[u] ^= 1 << v
        masks[v] ^= 1 << u
        for w in members(common):
            for beside in ((min(u, w), max(u, w)), (min(v, w), max(v, w))):
                if beside in left and beside not in is_waiting:
                    is_waiting.add(beside)
                    heappush(waiting, (-beside[0], -beside[1]))
    return tuple(sorted(left))


def _is_clique(masks: Sequence[int], variables: int) -> bool:
    """Whether all of some vertices are linked.

    A link of a chordal graph can go exactly when one maximal clique holds it: when what both its ends are
    linked to is a clique.
    """
    return all(not variables & ~masks[w] & ~(1 << w) for w in members(variables))
