"""Which arcs of a directed network all networks share that fit any data equally well.

Two directed acyclic graphs are Markov equivalent, and so equally likely whatever the data, when they have the
same links and the same colliders a -> c <- b with a and b not linked (Verma & Pearl 1990). The arcs that all
graphs of a class share are *compelled*: those of colliders, and those that follow from them by Meek's rules
(1995), each of which turns the only way left that makes no new collider and no circle. All others can be turned
round.

Example: of a -> b -> c no arc is compelled, since c -> b -> a is as good; of a -> c <- b both are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from xordal.types import Link, members


def compelled_arcs(parents: Sequence[int]) -> frozenset[Link]:
    """Return the arcs (parent, child) that all Markov equivalent networks have.

    ``parents`` has the mask of the parents of each variable.

    Examples
    --------
    >>> sorted(compelled_arcs([0b000, 0b000, 0b011])), sorted(compelled_arcs([0b000, 0b001, 0b010]))
    ([(0, 2), (1, 2)], [])
    """
    n = len(parents)
    linked = list(parents)
    for child, mask in enumerate(parents):
        for parent in members(mask):
            linked[parent] |= 1 << child
    into = [0] * n  # the parents that are known to be such
    for child, mask in enumerate(parents):
        for a, b in combinations(members(mask), 2):
            if not linked[a] >> b & 1:
                into[child] |= 1 << a | 1 << b
    while any(_follow(linked, into, parent, child) for child in range(n) for parent in members(parents[child])):
        pass
    return frozenset((parent, child) for child in range(n) for parent in members(into[child]))


def _follow(linked: Sequence[int], into: list[int], parent: int, child: int) -> bool:
    """Note that an arc is compelled if it follows from those that are; return whether it was news."""
    if into[child] >> parent & 1:
        return False
    out_of_parent = [v for v in members(linked[parent]) if into[v] >> parent & 1]
    is_forced = (
        into[parent] & ~linked[child] & ~(1 << child)  # else a new collider at the parent
        or any(into[child] >> v & 1 for v in out_of_parent)  # else a circle
        or any(  # else one of the two
            not linked[a] >> b & 1
            for a, b in combinations(members(linked[parent] & into[child] & ~into[parent]), 2)
        )
    )
    if is_forced:
        into[child] |= 1 << parent
    return bool(is_forced)
