"""Which link sets may be added: variable sets W whose i missing links are a legal link set.

For chordal G a legal link set L of ``lookahead(i)`` is exactly the set of missing pairs inside W, the endpoints
of its links; so |W| <= i + 1 and C(|W|, 2) >= i. Enumerating the W takes O(N^|W|) where the paper's link sets
take O(N^(2i)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change
from xordal.types import LinkSet, SignedSets, VarSet, members, varset


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal link set, the variables it completes, and what it would add to the graph's signed sets."""

    variables: VarSet
    links: LinkSet
    change: SignedSets
    fill_in: LinkSet = ()


def candidate(graph: ChordalGraph, variables: VarSet) -> Candidate | None:
    """Return the candidate that completes a variable set, or None if that breaks chordality."""
    return addition(graph, graph.missing_links(variables))


def addition(graph: ChordalGraph, links: LinkSet, fill_in: LinkSet = ()) -> Candidate | None:
    """Return the candidate that adds some links, fill-in included, or None if that breaks chordality."""
    chain = additions(graph, links)
    if chain is None:
        return None
    return Candidate(varset(v for link in links for v in link), links, change(chain), fill_in)


def variable_sets(graph: ChordalGraph, i: int, max_variables: int | None = None) -> Iterator[VarSet]:
    """Yield every variable set with exactly i missing links in which each variable has one.

    Parameters
    ----------
    graph
        The current graph G.
    i
        Number of lookahead links.
    max_variables
        Largest set to yield; the paper's own bound, i + 1, by default.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2)])
    >>> [members(W) for W in variable_sets(path, 2)]
    [(0, 1, 3), (1, 2, 3)]
    """
    largest = min(i + 1, max_variables or i + 1, graph.n_vertices)
    for size in range(2, largest + 1):
        if comb(size, 2) >= i:
            for chosen in _grow(graph, size, i):
                if all(chosen & ~graph.neighbours[v] & ~(1 << v) for v in members(chosen)):
                    yield VarSet(chosen)


def _grow(graph: ChordalGraph, size: int, i: int) -> Iterator[int]:
    """Yield the sets of ``size`` variables with i missing links, adding variables in increasing order.

    ``apart[c]`` is the mask of later variables that miss c links to the chosen ones, so the last variable is
    read off a mask instead of tried.
    """

    def grow(chosen: int, n_chosen: int, missing: int, apart: list[int]) -> Iterator[int]:
        if n_chosen == size - 1:
            wanted = i - missing
            for v in members(apart[wanted]) if wanted < len(apart) else ():
                yield chosen | 1 << v
            return
        still_possible = comb(size, 2) - comb(n_chosen + 1, 2)  # missing links of the variables after the next
        for c, mask in enumerate(apart):
            if missing + c <= i <= missing + c + still_possible:
                for v in members(mask):
                    yield from grow(chosen | 1 << v, n_chosen + 1, missing + c, after(apart, v))

    def after(apart: list[int], v: int) -> list[int]:
        later, near = -(2 << v), graph.neighbours[v]
        moved = [*apart, 0]
        for c in range(len(apart), 0, -1):
            moved[c] = (moved[c] & near | apart[c - 1] & ~near) & later
        moved[0] &= near & later
        return moved

    yield from grow(0, 0, 0, [(1 << graph.n_vertices) - 1])
