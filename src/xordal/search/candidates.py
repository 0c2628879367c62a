"""What may be added: variable sets W whose i missing links are a legal link set.

For chordal G a legal link set L of ``lookahead(i)`` is exactly the set of missing pairs inside W, the endpoints
of its links; so |W| <= i + 1 and C(|W|, 2) >= i. There are O(N^|W|) of them where the paper's link sets are
O(N^(2i)).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from xordal.graph.chain import Addition, additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.remembered import remembered
from xordal.graph.signed_sets import change, signed_sets
from xordal.types import LinkSet, SignedSets, VarSet, members, varset


class Candidate(NamedTuple):
    """A variable set that may be completed, the links it misses, and what they add to the signed sets."""

    variables: VarSet
    links: LinkSet
    change: SignedSets
    fill_in: LinkSet = ()
    steps: tuple[Addition, ...] = ()


@remembered
def candidate(graph: ChordalGraph, variables: VarSet) -> Candidate | None:
    """Return the candidate that completes a variable set, or None if that breaks chordality.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)])
    >>> candidate(path, VarSet(0b0111)).links, candidate(path, VarSet(0b1001))
    (((0, 2),), None)
    """
    links = graph.missing_links(variables)
    if not links:
        return Candidate(variables, (), {})
    chain = additions(graph, links)
    return None if chain is None else Candidate(variables, links, change(chain))


def addition(graph: ChordalGraph, links: LinkSet, fill_in: LinkSet = ()) -> Candidate | None:
    """Return the candidate that adds some links, fill-in included, or None if that breaks chordality."""
    chain = additions(graph, links)
    if chain is None:
        return None
    return Candidate(varset(v for link in links for v in link), links, change(chain), fill_in)


@remembered
def within(graph: ChordalGraph, variables: VarSet) -> Candidate:
    """Return the candidate that a variable set would be if there were nothing else in the graph.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)])
    >>> alone = within(path, VarSet(0b1011))
    >>> alone.links, alone.change == {0b1011: 1, 0b0011: -1, 0b1000: -1}
    (((0, 3), (1, 3)), True)
    """
    links = graph.missing_links(variables)
    if not links:
        return Candidate(variables, (), {})
    chosen = members(variables)
    terms: SignedSets = {variables: 1}
    for places, sign in _signed_places(graph.induced(chosen)):
        s = varset([chosen[place] for place in places])
        terms[s] = terms.get(s, 0) - sign
    return Candidate(variables, links, {s: sign for s, sign in terms.items() if sign})


@lru_cache(maxsize=1 << 12)
def _signed_places(graph: ChordalGraph) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return the signed sets of a small graph; sets of few variables are linked in few ways."""
    return tuple((members(places), sign) for places, sign in signed_sets(graph).items())


def context(found: Candidate) -> VarSet:
    """Return the variables that a candidate's links are conditioned on: those of its change outside its set."""
    held = 0
    for variables in found.change:
        held |= variables
    return VarSet(held & ~found.variables)
