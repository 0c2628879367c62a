"""A candidate: a variable set W, the links it misses, and the chain that adds them one at a time.

For chordal G a legal link set L of ``lookahead(i)`` is exactly the set of missing pairs inside W, the endpoints
of its links; so |W| <= i + 1 and C(|W|, 2) >= i. There are O(N^|W|) such sets where the paper's link sets are
O(N^(2i)).

Example: on the path 0 - 1 - 2 the set {0, 1, 2} misses one link, 0 - 2, which is added behind the separator
{1}. Its *change* is what the chain adds to the signed sets of the graph, +{0, 1, 2} +{1} -{0, 1} -{1, 2}; its
*gain* is minus the entropy of the change, here I(0; 2 | 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

from xordal.counting.oracle import EntropyOracle
from xordal.graph.chain import Addition, additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.remembered import remembered
from xordal.graph.signed_sets import change, signed_sets
from xordal.types.varsets import LinkSet, SignedSets, VarSet, members, varset


class Candidate(NamedTuple):
    """A variable set that may be completed.

    Attributes
    ----------
    variables
        The variable set W.
    links
        The links that completing it adds.
    change
        What they add to the signed sets of the graph.
    fill_in
        Those of the links that only keep the graph chordal.
    chain
        The links one at a time, each with its separator. Empty where only the change matters.
    is_fixed
        Whether the links can only come in the order of the chain: where some are filled in between.
    """

    variables: VarSet
    links: LinkSet
    change: SignedSets
    fill_in: LinkSet = ()
    chain: tuple[Addition, ...] = ()
    is_fixed: bool = False

    @property
    def n_context(self) -> int:
        """How many variables its links are conditioned on: those of its change outside W."""
        held = 0
        for s in self.change:
            held |= s
        return (held & ~self.variables).bit_count()


def of_chain(variables: VarSet, chain: tuple[Addition, ...], fill_in: LinkSet = ()) -> Candidate:
    """Return the candidate that adds links in just this order, some of them as fill-in."""
    links = tuple(sorted([(x, y) for x, y, _ in chain]))
    return Candidate(variables, links, change(chain), fill_in, chain, is_fixed=True)


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
    chain = additions(graph, links)
    return None if chain is None else Candidate(variables, links, change(chain), (), chain)


def addition(graph: ChordalGraph, links: LinkSet, fill_in: LinkSet = ()) -> Candidate | None:
    """Return the candidate that adds some links, fill-in included, or None if that breaks chordality."""
    chain = additions(graph, links)
    ends = varset(v for link in links for v in link)
    return None if chain is None else Candidate(ends, links, change(chain), fill_in, chain)


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
    inside = members(variables)
    terms: SignedSets = {variables: 1}
    for numbers, sign in signed_sets(graph.induced(inside)).items():
        s = varset([inside[number] for number in members(numbers)])
        terms[s] = terms.get(s, 0) - sign
    return Candidate(variables, links, {s: sign for s, sign in terms.items() if sign})


def gains(changes: Sequence[SignedSets], oracle: EntropyOracle) -> list[float]:
    """Return by how many nats each change lowers the entropy of the network, from one oracle call.

    ``fsum`` makes a gain independent of the order of its terms, so that relabelling variables or another route
    to the same candidate cannot change a bit.
    """
    needed = list(dict.fromkeys(variables for terms in changes for variables in terms))
    if not needed:
        return [-0.0] * len(changes)
    entropy = dict(zip(needed, oracle.entropies(needed).tolist(), strict=True))
    return [-fsum([sign * entropy[variables] for variables, sign in terms.items()]) for terms in changes]
