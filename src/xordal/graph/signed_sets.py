"""A chordal graph as a signed multiset of variable sets: +1 per clique, -1 per separator.

Entropy, free parameters, log-likelihood and every other decomposable quantity f of the network are the one
sum ``sum(sign * f(S))`` over it, and what a link set changes is a difference of two such multisets. The sum
does not depend on the vertex order it was read from (Lauritzen 1996, section 4.4).
"""

from __future__ import annotations

from collections.abc import Iterable

from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph
from xordal.types.varsets import SignedSets, VarSet, members


def signed_sets(graph: ChordalGraph) -> SignedSets:
    """Return the signed sets of a chordal graph.

    Along a perfect order each vertex v with earlier neighbours E contributes +({v} + E) and -E; what is no
    maximal clique cancels.

    Examples
    --------
    >>> path = ChordalGraph.empty(3).add([(0, 1), (1, 2)])
    >>> signed_sets(path) == {0b011: 1, 0b110: 1, 0b010: -1}
    True
    """
    terms: SignedSets = {}
    visited = 0
    for v in graph.order:
        earlier = graph.neighbours[v] & visited
        visited |= 1 << v
        _count(terms, earlier | 1 << v, +1)
        _count(terms, earlier, -1)
    return terms


def change(chain: Iterable[Addition]) -> SignedSets:
    """Return the signed sets that a chain of link additions adds to the graph's.

    Each addition of x-y behind S adds +Sxy +S -Sx -Sy; entropy falls by minus that sum, which is the gain
    I(x; y | S). The result equals ``signed_sets(after) - signed_sets(before)`` and is local to the chain.
    """
    terms: SignedSets = {}
    for x, y, separator in chain:
        with_x, with_y = VarSet(separator | 1 << x), VarSet(separator | 1 << y)
        if not terms:  # nothing can cancel, and most chains end here
            terms = {VarSet(with_x | with_y): 1, with_x: -1, with_y: -1}
            if separator:
                terms[separator] = 1
            continue
        _count(terms, with_x | with_y, +1)
        _count(terms, with_x, -1)
        _count(terms, with_y, -1)
        _count(terms, separator, +1)
    return terms


def free_parameters(terms: SignedSets, n_levels: tuple[int, ...]) -> int:
    """Return the free parameters of signed sets; of a change, its nominal degrees of freedom.

    Examples
    --------
    >>> free_parameters({VarSet(0b11): 1, VarSet(0b01): -1, VarSet(0b10): -1}, n_levels=(3, 4))
    6
    """
    total = 0
    for s, sign in terms.items():
        cells = 1
        for v in members(s):
            cells *= n_levels[v]
        total += sign * (cells - 1)
    return total


def _count(terms: SignedSets, variables: int, sign: int) -> None:
    if variables == 0:
        return
    key = VarSet(variables)
    total = terms.get(key, 0) + sign
    if total:
        terms[key] = total
    else:
        del terms[key]
