"""Pieces of a variable set, and the parts of its missing links that each piece must be needed for.

A set W that misses some links falls into *pieces*: the variables of W that the links it has hold together. When
W is completed, every piece should be there for a reason. Take a link a - b that is real and a column z of pure
noise. Completing {a, b, z} gains all that a and b share, so the set as a whole looks excellent, and z rides
along. What z is needed for shows when it comes in last: once a and b are linked, z adds nothing.

So each piece U is made to come in last. Without the links of U the other missing links of W come first, and the
*part* of U is what is still to be added then. The other links alone may break chordality; then as many of them
come first as keep the graph chordal, and where there are several ways to choose these, each is a part. The
graph itself always qualifies, so every piece has a part.

Example: no links, W = {a, b, z}. The pieces are a, b and z. The part of z adds z - a and z - b to the graph
with a - b, and gains I(z; a b). Where a and b are linked already there are two pieces, {a, b} and z, and the
part of both is the whole set: nothing can come before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations

from xordal.graph.chain import Addition, additions
from xordal.graph.chordal import ChordalGraph, is_chordal
from xordal.graph.remembered import MOST
from xordal.types.varsets import LinkSet, VarSet, members, varset

Chain = tuple[Addition, ...]


@lru_cache(maxsize=MOST)
def pieces(variables: VarSet, links: LinkSet) -> tuple[VarSet, ...]:
    """Return the pieces of a variable set that misses these links and no others.

    Examples
    --------
    >>> [members(piece) for piece in pieces(VarSet(0b111), ((0, 2), (1, 2)))]
    [(0, 1), (2,)]
    """
    apart = dict.fromkeys(members(variables), 0)
    for u, v in links:
        apart[u] |= 1 << v
        apart[v] |= 1 << u
    found: list[VarSet] = []
    left = int(variables)
    while left:
        piece = frontier = left & -left
        while frontier:
            reached = 0
            for v in members(frontier):
                reached |= variables & ~apart[v]
            frontier = reached & ~piece
            piece |= reached
        found.append(VarSet(piece))
        left &= ~piece
    return tuple(found)


def has_parts(variables: VarSet, links: LinkSet) -> bool:
    """Whether some part of a set is less than the whole: a missing link has no end in one of the pieces.

    With two pieces that are complete every missing link joins the one to the other.
    """
    n_variables, n_links = variables.bit_count(), len(links)
    if n_links < 3:  # three pieces miss three links at least, and two of which one is not complete four
        return False
    if 2 * n_links == n_variables * (n_variables - 1):  # no link at all: a scanned set
        return n_variables > 2
    ends = [varset(link) for link in links]
    return any(not both & piece for piece in pieces(variables, links) for both in ends)


def parts(graph: ChordalGraph, variables: VarSet, links: LinkSet) -> tuple[Chain, ...]:
    """Return the parts of a set that misses these links, each as a chain from where it begins.

    Examples
    --------
    >>> for chain in parts(ChordalGraph.empty(3), VarSet(0b111), ((0, 1), (0, 2), (1, 2))):
    ...     print([(step.x, step.y, members(step.separator)) for step in chain])
    [(0, 1, ()), (0, 2, (1,))]
    [(0, 1, ()), (1, 2, (0,))]
    [(0, 2, ()), (1, 2, (0,))]
    """
    found: dict[LinkSet, Chain] = {}
    for piece in pieces(variables, links):
        others = tuple(link for link in links if not varset(link) & piece)
        for first in _largest(others, lambda some: additions(graph, some) is not None):
            rest = tuple(link for link in links if link not in first)
            chain = additions(graph.extended(first), rest)
            assert chain is not None, "between two chordal graphs there is a chain"
            found[rest] = chain
    return tuple(found.values())


def last_to_come(graph: ChordalGraph, variables: VarSet, links: LinkSet) -> tuple[Chain, ...]:
    """Return, for a set that was completed with fill-in, the links of each piece that can come last.

    ``graph`` has all links already, the fill-in among them; ``links`` are those that the set missed itself. As
    many of a piece's own links are taken out as leave the graph chordal. They are the part of that piece: what
    it adds when all else is there. A piece whose links are all held by the fill-in has none.

    Examples
    --------
    >>> complete = ChordalGraph.empty(3).add([(0, 1), (0, 2), (1, 2)])
    >>> for chain in last_to_come(complete, VarSet(0b111), ((0, 1), (0, 2), (1, 2))):
    ...     print([(step.x, step.y) for step in chain])
    [(0, 1), (0, 2)]
    [(0, 1), (1, 2)]
    [(0, 2), (1, 2)]
    """
    inside = [
        v for v, near in enumerate(graph.neighbours) if variables >> v & 1 or (near & variables).bit_count() > 1
    ]
    place = {v: number for number, v in enumerate(inside)}
    here = graph.induced(inside)
    found: dict[LinkSet, Chain] = {}
    for piece in pieces(variables, links):
        own = tuple((place[u], place[v]) for u, v in links if varset((u, v)) & piece)
        for gone in _largest(own, lambda some: is_chordal(_without(here, some))):
            chain = additions(ChordalGraph.of(_without(here, gone)), gone)
            assert chain is not None, "between two chordal graphs there is a chain"
            found[gone] = tuple(_moved(step, inside) for step in chain)
    return tuple(chain for chain in found.values() if chain)


def _largest(links: LinkSet, fits: Callable[[LinkSet], bool]) -> Iterator[LinkSet]:
    """Yield the link sets that fit and have no link more that would; the empty set always fits."""
    found: list[set[tuple[int, int]]] = []
    for size in range(len(links), -1, -1):
        for some in combinations(links, size):
            if not any(other.issuperset(some) for other in found) and (not some or fits(some)):
                found.append(set(some))
                yield some


def _without(graph: ChordalGraph, links: LinkSet) -> list[int]:
    masks = list(map(int, graph.neighbours))
    for u, v in links:
        masks[u] &= ~(1 << v)
        masks[v] &= ~(1 << u)
    return masks


def _moved(step: Addition, inside: list[int]) -> Addition:
    return Addition(inside[step.x], inside[step.y], varset(inside[v] for v in members(step.separator)))
