"""Variables, sets of them and the links between them.

Variables are numbered 0 .. N-1 in the order of the table's columns; names come back only at the edge
(:class:`~xordal.Learned`, formats, command line).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NewType

VarSet = NewType("VarSet", int)
"""A set of variables as a bitmask: bit v is set when variable v is a member."""

Link = tuple[int, int]
"""An undirected link (u, v) with u < v."""

LinkSet = tuple[Link, ...]
"""Distinct links in increasing order; link sets compare lexicographically, which is also the tie rule."""

SignedSets = dict[VarSet, int]
"""A signed multiset of variable sets: +1 per clique, -1 per separator, zeros and the empty set left out."""

EMPTY = VarSet(0)


def varset(variables: Iterable[int]) -> VarSet:
    """Return the set of the given variables.

    Examples
    --------
    >>> varset([0, 2])
    5
    """
    mask = 0
    for v in variables:
        mask |= 1 << v
    return VarSet(mask)


@lru_cache(maxsize=1 << 16)
def members(variables: int) -> tuple[int, ...]:
    """Return the variables of a set in increasing order.

    Examples
    --------
    >>> members(varset([2, 0]))
    (0, 2)
    """
    found = []
    while variables:
        lowest = variables & -variables
        found.append(lowest.bit_length() - 1)
        variables ^= lowest
    return tuple(found)
