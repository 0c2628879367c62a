"""What lies close together, and how far the effect of a change reaches.

Two facts let a search look only around what changed; both are tested by brute force.

* A variable set inside one component can be completed only if it hangs together by steps of at most two links.
  Links are added one at a time (:mod:`xordal.graph.chain`), each between vertices with a common neighbour: one
  in the graph, so the vertices are two links apart, or one in the set, which the step before connected.
* Adding (or taking away) links L changes whether, and with which separators, a variable set can be completed
  only if the set meets :func:`disturbed`. Take the first step of its chain that differs. Either the common
  neighbours of x and y differ, then x or y is an end of L. Or a path now leads around them; a shortest one is
  linked to all of them and runs through a link uv of L, so they are common neighbours of u and v, and x and y
  are neighbours of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import comb

from xordal.types.varsets import LinkSet, VarSet, members


def within_two(neighbours: Sequence[int], v: int) -> int:
    """Return the vertices that are one or two links away from v, v itself left out."""
    found = neighbours[v]
    for u in members(neighbours[v]):
        found |= neighbours[u]
    return found & ~(1 << v)


def disturbed(neighbours: Sequence[int], links: LinkSet) -> VarSet:
    """Return the vertices around some links of a graph: no set without them notices the links come or go.

    ``neighbours`` are those of the graph with the links.

    Examples
    --------
    >>> fan = [0b0110, 0b1101, 0b0011, 0b0010]  # 0-1, 0-2, 1-2, 1-3
    >>> members(disturbed(fan, ((0, 2),)))
    (0, 1, 2, 3)
    >>> members(disturbed(fan, ((1, 3),)))
    (1, 3)
    """
    found = 0
    for u, v in links:
        found |= 1 << u | 1 << v
        for s in members(neighbours[u] & neighbours[v]):
            found |= neighbours[s] | 1 << s
    return VarSet(found)


def sets_around(neighbours: Sequence[int], anchors: int, size: int, n_missing: int) -> Iterable[VarSet]:
    """Return once each variable set that meets the anchors and hangs together by steps of at most two links.

    Parameters
    ----------
    neighbours
        The graph.
    anchors
        Vertices of which each set holds at least one.
    size
        Number of vertices in each set.
    n_missing
        Number of pairs in each set that are not linked.

    Examples
    --------
    >>> path = (0b0010, 0b0101, 0b1010, 0b0100)  # 0-1-2-3
    >>> [members(found) for found in sets_around(path, 0b0001, size=3, n_missing=1)]
    [(0, 1, 2)]
    """
    return _grown(neighbours, 2, anchors, size, n_missing)


def linked_sets(neighbours: Sequence[int], anchors: int, size: int, n_missing: int) -> Iterable[VarSet]:
    """Return once each variable set that meets the anchors and that its own links hold together.

    Examples
    --------
    >>> path = (0b0010, 0b0101, 0b1010, 0b0100)  # 0-1-2-3
    >>> [members(found) for found in linked_sets(path, 0b0001, size=4, n_missing=3)]
    [(0, 1, 2, 3)]
    """
    return _grown(neighbours, 1, anchors, size, n_missing)


def _grown(neighbours: Sequence[int], step: int, anchors: int, size: int, n_missing: int) -> Iterator[VarSet]:
    """Yield the sets that grow from an anchor by steps of at most one link, or two."""
    near = neighbours.__getitem__ if step == 1 else cache(lambda v: within_two(neighbours, v))
    # How many pairs the vertices after the next can miss, by how many there are already.
    most_later = [comb(size, 2) - comb(n_chosen + 1, 2) for n_chosen in range(size)]

    def grow(chosen: int, n_chosen: int, missing: int, nearby: int, passed: int) -> Iterator[VarSet]:
        later, is_last = most_later[n_chosen], n_chosen + 1 == size
        while nearby:
            lowest = nearby & -nearby
            v = lowest.bit_length() - 1
            nearby ^= lowest
            passed |= lowest
            now = missing + (chosen & ~neighbours[v]).bit_count()
            if is_last:
                if now == n_missing:
                    yield VarSet(chosen | lowest)
            elif now <= n_missing <= now + later:
                yield from grow(chosen | lowest, n_chosen + 1, now, (nearby | near(v)) & ~passed, passed)

    used = 0
    for anchor in members(anchors):
        used |= 1 << anchor
        if size == 1:
            yield from [VarSet(1 << anchor)] if n_missing == 0 else []
            continue
        yield from grow(1 << anchor, 1, 0, near(anchor) & ~used, used)
