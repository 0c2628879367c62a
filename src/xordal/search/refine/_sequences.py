"""Kernels that list the moves with which sequences go on: arrays in, arrays out.

Graphs are arrays of masks (:mod:`xordal.search._masks`). Moves are listed in the order in which
:mod:`xordal.graph.moves` yields them. Rows of ``out`` are the number of a beginning, the ends of a link and
what flipping it does; rows of ``separators`` the common neighbours of the ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import popcount
from xordal.counting._jit import kernel
from xordal.search._masks import (
    ADDS,
    NOT_POSSIBLE,
    REMOVES,
    fill_components,
    fill_within_two,
    flip,
    has,
    lowest,
    move,
)

ACROSS = 4  # added to what a move does: it links two parts that were one

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def fill_disturbed(base: Any, now: Any, flipped: Any, found: Any) -> None:
    """Fill in the vertices around flipped links (:func:`xordal.graph.moves.disturbed_by`)."""
    n_words = base.shape[1]
    found[:] = _ZERO
    for u, v in flipped:
        found[u >> 6] |= _ONE << np.uint64(u & 63)
        found[v >> 6] |= _ONE << np.uint64(v & 63)
        for w in range(n_words):
            rest = (base[u, w] | now[u, w]) & (base[v, w] | now[v, w])
            found[w] |= rest
            while rest != _ZERO:
                s = 64 * w + lowest(rest)
                rest &= rest - _ONE
                for t in range(n_words):
                    found[t] |= base[s, t] | now[s, t]


@kernel
def may(kind: int, x: int, y: int, common: Any, barred: Any, kept: Any, most: int) -> Any:
    """Whether no rule is against a move: links that are barred, kept, or would make too large a clique."""
    if kind == REMOVES:
        return not has(kept[x], y)
    if has(barred[x], y):
        return False
    size = np.int64(2)
    for w in range(len(common)):
        size += np.int64(popcount(common[w]))
    return size <= most


@kernel
def is_among(links: Any, x: int, y: int) -> Any:
    """Whether a link is among some."""
    for u, v in links:  # noqa: SIM110 - Numba knows no generators
        if u == x and v == y:
            return True
    return False


@kernel
def flipped_graph(base: Any, flipped: Any, now: Any) -> None:
    """Fill in the graph after links are flipped."""
    now[:] = base
    for u, v in flipped:
        flip(now[u], v)
        flip(now[v], u)


@kernel
def list_near(
    graph: Any, around: Any, b: int, links: Any, rules: Any, found: int, out: Any, separators: Any
) -> Any:
    """List the moves with an end in ``around`` behind those that are there; return how many there are then.

    It is -1 where they do not fit.
    """
    masks, components = graph
    barred, kept, most = rules
    n, n_words = masks.shape
    common, near = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    work = np.empty((4, n_words), np.uint64)
    for v in range(n):
        near[:] = _ZERO
        if has(around, v):
            fill_within_two(masks, v, near)
        for u in range(n):
            if (
                not has(near, u)
                or u == v
                or (u < v and has(around, u))
                or is_among(links, min(u, v), max(u, v))
            ):
                continue
            x, y = min(u, v), max(u, v)
            kind = move(masks, components, x, y, common, work)
            if kind != NOT_POSSIBLE and may(kind, x, y, common, barred, kept, most):
                if found == len(out):
                    return -1
                out[found, 0], out[found, 1], out[found, 2], out[found, 3] = b, x, y, kind
                separators[found] = common
                found += 1
    return found


@kernel
def list_across(
    both: Any, b: int, links: Any, pairs: Any, most: int, found: int, out: Any, separators: Any
) -> Any:
    """List links between components, of those that were one where there are ``links``; return as above."""
    before, now = both
    n_across = 0
    for p in range(len(pairs)):
        x, y = pairs[p, 0], pairs[p, 1]
        if has(now[x], y) or (len(links) > 0 and not has(before[x], y)):
            continue
        n_across += 1
        if n_across > most and len(links) > 0:
            break
        if is_among(links, x, y):
            continue
        if found == len(out):
            return -1
        out[found, 0], out[found, 1], out[found, 2], out[found, 3] = b, x, y, ADDS + ACROSS
        separators[found] = _ZERO
        found += 1
    return found


@kernel
def list_moves(
    base: Any, flipped: Any, begin: int, pairs: Any, most: int, rules: Any, out: Any, separators: Any
) -> Any:
    """List the moves that may follow each beginning, from one on; return how many there are, and the next.

    ``base`` is a graph and its components; ``flipped`` has the links of each beginning, shape (beginnings,
    links, 2); where it has none, all moves of the graph are listed. ``pairs`` are links between components, the
    one worth most first, of which at most so many are listed. ``rules`` are the barred and the kept links as
    masks, and the size of the largest clique. A beginning whose moves do not fit is left for the next call.
    """
    masks, before = base
    now, components = np.empty_like(masks), np.empty_like(masks)
    around = np.empty(masks.shape[1], np.uint64)
    found = 0
    for b in range(begin, len(flipped)):
        links, started = flipped[b], found
        flipped_graph(masks, links, now)
        fill_components(now, components)
        if len(links) == 0:
            around[:] = _ZERO
            for v in range(len(masks)):
                around[v >> 6] |= _ONE << np.uint64(v & 63)
        else:
            fill_disturbed(masks, now, links, around)
        found = list_near((now, components), around, b, links, rules, found, out, separators)
        if found >= 0 and (len(links) == 0 or not are_equal(components, before)):
            found = list_across((before, components), b, links, pairs, most, found, out, separators)
        if found < 0:
            return started, b
    return found, len(flipped)


@kernel
def are_equal(one: Any, other: Any) -> Any:
    """Whether two arrays of masks are equal."""
    for v in range(one.shape[0]):
        for w in range(one.shape[1]):
            if one[v, w] != other[v, w]:
                return False
    return True


@kernel
def list_side_by_side(masks: Any, flipped: Any, begin: int, rules: Any, out: Any, separators: Any) -> Any:
    """List pairs of single moves that may both affect a third; returns and arrays as :func:`list_moves`."""
    n, n_words = masks.shape
    barred, kept, most = rules
    now, components = np.empty_like(masks), np.empty_like(masks)
    common, work = np.empty(n_words, np.uint64), np.empty((4, n_words), np.uint64)
    around, reach = np.empty((len(flipped), n_words), np.uint64), np.empty(n_words, np.uint64)
    for b in range(begin, len(flipped)):
        flipped_graph(masks, flipped[b], now)
        fill_disturbed(masks, now, flipped[b], around[b])
    found = 0
    for b in range(begin, len(flipped)):
        started = found
        flipped_graph(masks, flipped[b], now)
        fill_components(now, components)
        reach[:] = around[b]
        for v in range(n):
            if has(around[b], v):
                fill_within_two(masks, v, reach)
        for other in range(b + 1, len(flipped)):
            meets = False
            for w in range(n_words):
                meets |= reach[w] & around[other, w] != _ZERO
            if not meets:
                continue
            x, y = flipped[other, 0, 0], flipped[other, 0, 1]
            kind = move(now, components, x, y, common, work)
            if kind != NOT_POSSIBLE and may(kind, x, y, common, barred, kept, most):
                if found == len(out):
                    return started, b
                out[found, 0], out[found, 1], out[found, 2], out[found, 3] = b, x, y, kind
                separators[found] = common
                found += 1
    return found, len(flipped)
