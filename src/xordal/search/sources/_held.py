"""Kernels that list the variable sets near some vertices that can be completed as they are.

Graphs are arrays of masks (:mod:`xordal.search._masks`). Sets grow as in :mod:`xordal.graph.nearby` and are
completed as in :mod:`xordal.graph.chain`. A row of ``out`` holds the words of a set, then for each step of its
chain one word for the two ends and the words of its separator; rows are equal exactly where set and chain are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import kernel
from xordal.search._masks import fill_within_two, flip, has, lowest, separates

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def fill_chain(masks: Any, inside: Any, n_missing: int, row: Any, common: Any, work: Any) -> Any:
    """Write the chain that completes a set of one component; return whether there is one.

    Links are added to the graph on the way, and taken out again.
    """
    n_words = masks.shape[1]
    n_steps = 0
    may_be_more = True
    while n_steps < n_missing and may_be_more:
        may_be_more = False
        for a in range(len(inside)):
            x = inside[a]
            for b in range(a + 1, len(inside)):
                y = inside[b]
                if may_be_more or has(masks[x], y):
                    continue
                is_empty = True
                for w in range(n_words):
                    common[w] = masks[x, w] & masks[y, w]
                    is_empty &= common[w] == _ZERO
                if is_empty or not separates(masks, masks, x, y, common, work):
                    continue
                begin = n_words + n_steps * (n_words + 1)
                row[begin] = (np.uint64(x) << np.uint64(32)) | np.uint64(y)
                row[begin + 1 : begin + 1 + n_words] = common
                flip(masks[x], y)
                flip(masks[y], x)
                n_steps += 1
                may_be_more = True
    for step in range(n_steps):
        ends = row[n_words + step * (n_words + 1)]
        x, y = np.int64(ends >> np.uint64(32)), np.int64(ends & np.uint64(0xFFFFFFFF))
        flip(masks[x], y)
        flip(masks[y], x)
    return n_steps == n_missing


@kernel
def n_not_linked(masks: Any, inside: Any, n_inside: int, v: int) -> Any:
    """Return how many of some vertices a vertex is not linked to."""
    found = 0
    for place in range(n_inside):
        found += not has(masks[v], inside[place])
    return found


@kernel
def take_lowest(mask: Any) -> Any:
    """Take the lowest vertex out of a set and return it; -1 if there is none."""
    for w in range(len(mask)):
        if mask[w] != _ZERO:
            v = 64 * w + lowest(mask[w])
            mask[w] &= mask[w] - _ONE
            return v
    return -1


@kernel
def meet(masks: Any, v: int, near: Any, is_known: Any) -> None:
    """Fill the row of a vertex with those within two links of it, unless that is done."""
    if not is_known[v]:
        near[v] = _ZERO
        fill_within_two(masks, v, near[v])
        near[v, v >> 6] &= ~(_ONE << np.uint64(v & 63))
        is_known[v] = True


@kernel
def list_legal(masks: Any, anchors: Any, begin: int, kind: Any, out: Any) -> Any:
    """List the sets of a kind, size and missing links, that hold an anchor, hang together and are legal.

    Return how many there are, how many were looked at, and the place of the next anchor: one whose sets do not
    fit is left for the next call. Sets come with the first of the anchors that they hold, from ``begin`` on.
    """
    size, n_missing = kind
    n, n_words = masks.shape
    # Who is near is worked out for those that are met: of thousands of variables that is a few.
    near, is_known = np.empty((n, n_words), np.uint64), np.zeros(n, np.bool_)
    work = np.empty((4, n_words), np.uint64)
    left, passed = np.zeros((size, n_words), np.uint64), np.zeros((size, n_words), np.uint64)
    chosen, missing = np.zeros(size, np.int64), np.zeros(size, np.int64)
    inside, common = np.empty(size, np.int64), np.empty(n_words, np.uint64)
    found = looked = 0
    for at in range(begin, len(anchors)):
        started, looked_before = found, looked
        passed[0] = _ZERO
        for earlier in range(at + 1):
            flip(passed[0], anchors[earlier])
        chosen[0] = anchors[at]
        depth = 0  # of the vertex chosen last; left[depth] are those that may come next
        meet(masks, anchors[at], near, is_known)
        left[0] = near[anchors[at]] & ~passed[0]
        while depth >= 0:
            v = take_lowest(left[depth])
            if v < 0:
                depth -= 1
                continue
            flip(passed[depth], v)
            now = missing[depth] + n_not_linked(masks, chosen, depth + 1, v)
            n_chosen = depth + 2
            if n_chosen < size:
                later = (size * (size - 1) - n_chosen * (n_chosen - 1)) // 2
                if now <= n_missing <= now + later:
                    depth += 1
                    chosen[depth], missing[depth] = v, now
                    passed[depth] = passed[depth - 1]
                    meet(masks, v, near, is_known)
                    left[depth] = (left[depth - 1] | near[v]) & ~passed[depth]
                continue
            if now != n_missing:
                continue
            looked += 1
            if found == len(out):
                return started, looked_before, at
            inside[: size - 1] = chosen[: size - 1]
            inside[size - 1] = v
            inside.sort()
            if fill_chain(masks, inside, n_missing, out[found], common, work):
                out[found, :n_words] = _ZERO
                for u in inside:
                    flip(out[found], u)
                found += 1
    return found, looked, len(anchors)
