"""Kernels on graphs as arrays of neighbour masks: what keeps a graph chordal, and what hangs together.

A graph is an array of shape (vertices, words), 64 vertices to a word; a set of vertices is one row of such an
array. All is decided as in :mod:`xordal.graph`, which is the place to read about it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import popcount
from xordal.counting._jit import kernel

NOT_POSSIBLE, ADDS, REMOVES = 0, 1, 2

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def lowest(word: Any) -> Any:
    """Return the place of the lowest bit of a word that is not zero."""
    return np.int64(popcount((word & (~word + _ONE)) - _ONE))


@kernel
def has(mask: Any, v: int) -> Any:
    """Whether a vertex is in a set."""
    return (mask[v >> 6] >> np.uint64(v & 63)) & _ONE != _ZERO


@kernel
def flip(mask: Any, v: Any) -> None:
    """Put a vertex into a set, or take it out."""
    mask[v >> 6] ^= _ONE << np.uint64(v & 63)


@kernel
def fill_linked_to_all(masks: Any, inside: Any, found: Any) -> None:
    """Fill in the vertices that are linked to all of a set and not in it."""
    n_words = masks.shape[1]
    for w in range(n_words):
        found[w] = ~inside[w]
    for w in range(n_words):
        rest = inside[w]
        while rest != _ZERO:
            s = 64 * w + lowest(rest)
            rest &= rest - _ONE
            for t in range(n_words):
                found[t] &= masks[s, t]


@kernel
def separates(masks: Any, components: Any, x: int, y: int, common: Any, work: Any) -> Any:
    """Whether the common neighbours of x and y separate them (:func:`xordal.graph.chordal.separator_of`)."""
    n_words = masks.shape[1]
    is_empty = True
    for w in range(n_words):
        is_empty &= common[w] == _ZERO
    if is_empty:
        return not has(components[x], y)
    around, goal, reached, left = work[0], work[1], work[2], work[3]
    fill_linked_to_all(masks, common, around)
    has_goal = False
    for w in range(n_words):
        goal[w] = masks[y, w] & around[w]
        reached[w] = left[w] = masks[x, w] & around[w]
        has_goal |= goal[w] != _ZERO
    if not has_goal:
        return True
    at = 0
    while at < n_words:
        if left[at] == _ZERO:
            at += 1
            continue
        v = 64 * at + lowest(left[at])
        left[at] &= left[at] - _ONE
        for t in range(n_words):
            more = masks[v, t] & around[t] & ~reached[t]
            if more & goal[t] != _ZERO:
                return False
            reached[t] |= more
            left[t] |= more
            if more != _ZERO and t < at:
                at = t
    return True


@kernel
def move(masks: Any, components: Any, x: int, y: int, common: Any, work: Any) -> Any:
    """Return what flipping a link does, if the graph stays chordal; the common neighbours go to ``common``."""
    n_words = masks.shape[1]
    for w in range(n_words):
        common[w] = masks[x, w] & masks[y, w]
    if not has(masks[x], y):
        return ADDS if separates(masks, components, x, y, common, work) else NOT_POSSIBLE
    for w in range(n_words):
        rest = common[w]
        while rest != _ZERO:
            s = 64 * w + lowest(rest)
            rest &= rest - _ONE
            for t in range(n_words):
                beyond = common[t] & ~masks[s, t]
                if t == s >> 6:
                    beyond &= ~(_ONE << np.uint64(s & 63))
                if beyond != _ZERO:
                    return NOT_POSSIBLE
    return REMOVES


@kernel
def fill_components(masks: Any, components: Any) -> None:
    """Fill in the component of each vertex."""
    n, n_words = masks.shape
    components[:] = _ZERO
    inside, left = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    for v in range(n):
        if has(components[v], v):
            continue
        inside[:] = _ZERO
        flip(inside, v)
        left[:] = inside
        at = 0
        while at < n_words:
            if left[at] == _ZERO:
                at += 1
                continue
            u = 64 * at + lowest(left[at])
            left[at] &= left[at] - _ONE
            for t in range(n_words):
                more = masks[u, t] & ~inside[t]
                inside[t] |= more
                left[t] |= more
                if more != _ZERO and t < at:
                    at = t
        for w in range(n_words):
            rest = inside[w]
            while rest != _ZERO:
                u = 64 * w + lowest(rest)
                rest &= rest - _ONE
                components[u] = inside


@kernel
def fill_within_two(masks: Any, v: int, found: Any) -> None:
    """Add the vertices that are at most two links away from v, itself among them where it has a neighbour."""
    n_words = masks.shape[1]
    for w in range(n_words):
        rest = masks[v, w]
        found[w] |= rest
        while rest != _ZERO:
            u = 64 * w + lowest(rest)
            rest &= rest - _ONE
            for t in range(n_words):
                found[t] |= masks[u, t]
