"""What may be added: variable sets W whose i missing links are a legal link set.

For chordal G a legal link set L of ``lookahead(i)`` is exactly the set of missing pairs inside W, the endpoints
of its links; so |W| <= i + 1 and C(|W|, 2) >= i. There are O(N^|W|) of them where the paper's link sets are
O(N^(2i)).
"""

from __future__ import annotations

from typing import NamedTuple

from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change
from xordal.types import LinkSet, SignedSets, VarSet, varset


class Candidate(NamedTuple):
    """A variable set that may be completed, the links it misses, and what they add to the signed sets."""

    variables: VarSet
    links: LinkSet
    change: SignedSets
    fill_in: LinkSet = ()


def candidate(graph: ChordalGraph, variables: VarSet) -> Candidate | None:
    """Return the candidate that completes a variable set, or None if that breaks chordality.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2), (2, 3)])
    >>> candidate(path, VarSet(0b0111)).links, candidate(path, VarSet(0b1001))
    (((0, 2),), None)
    """
    links = graph.missing_links(variables)
    chain = additions(graph, links)
    return None if chain is None else Candidate(variables, links, change(chain))


def addition(graph: ChordalGraph, links: LinkSet, fill_in: LinkSet = ()) -> Candidate | None:
    """Return the candidate that adds some links, fill-in included, or None if that breaks chordality."""
    chain = additions(graph, links)
    if chain is None:
        return None
    return Candidate(varset(v for link in links for v in link), links, change(chain), fill_in)


def context(found: Candidate) -> VarSet:
    """Return the variables that a candidate's links are conditioned on: those of its change outside its set."""
    held = 0
    for variables in found.change:
        held |= variables
    return VarSet(held & ~found.variables)
