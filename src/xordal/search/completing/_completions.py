"""Kernels that complete a variable set by the fill-in rule: what :mod:`xordal.graph.fill_in` does, to the link.

They work on the region of a set, up to 64 vertices numbered from 0 on, so that each set of vertices is one
word. A graph that grows is a row of neighbours, a row of components, and the steps that were taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import popcount
from xordal.counting._jit import kernel
from xordal.search._masks import lowest

MOST = 64
"""Vertices of a region, at most."""

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_EXACT = 2.0**53  # free parameters up to which a float counts them


@kernel
def bit(v: int) -> Any:
    """Return the set of one vertex."""
    return _ONE << np.uint64(v)


@kernel
def is_linked(masks: Any, x: int, y: int) -> Any:
    """Whether two vertices are linked."""
    return (masks[x] >> np.uint64(y)) & _ONE != _ZERO


@kernel
def reached(masks: Any, v: int, inside: Any) -> Any:
    """Return the vertices that can be reached from one without leaving a set."""
    found = left = bit(v) & inside
    while left != _ZERO:
        u = lowest(left)
        left &= left - _ONE
        more = masks[u] & inside & ~found
        found |= more
        left |= more
    return found


@kernel
def separator(masks: Any, components: Any, x: int, y: int) -> Any:
    """Return whether x and y can be linked, and their common neighbours."""
    common = masks[x] & masks[y]
    if common == _ZERO:
        return (components[x] >> np.uint64(y)) & _ONE == _ZERO, common
    around, rest = ~common, common
    while rest != _ZERO:
        around &= masks[lowest(rest)]
        rest &= rest - _ONE
    if masks[y] & around == _ZERO or masks[x] & around == _ZERO:
        return True, common
    found = left = masks[x] & around
    while left != _ZERO:
        v = lowest(left)
        left &= left - _ONE
        more = masks[v] & around & ~found
        if more & masks[y] != _ZERO:
            return False, common
        found |= more
        left |= more
    return True, common


@kernel
def take(graph: Any, x: int, y: int) -> Any:
    """Link two vertices, if the graph stays chordal; return whether it does."""
    masks, components, ends, separators, n_steps = graph
    can, common = separator(masks, components, x, y)
    if not can:
        return False
    masks[x] |= bit(y)
    masks[y] |= bit(x)
    joined = rest = components[x] | components[y]
    while rest != _ZERO:
        components[lowest(rest)] = joined
        rest &= rest - _ONE
    n = n_steps[0]
    ends[n, 0], ends[n, 1], separators[n] = x, y, common
    n_steps[0] = n + 1
    return True


@kernel
def add(graph: Any, links: Any, chosen: Any) -> Any:
    """Add what may be added alone of the chosen links, always the first; return the first left, or -1."""
    masks = graph[0]
    while True:
        is_added, first_left = False, -1
        for k in range(len(links)):
            x, y = links[k, 0], links[k, 1]
            if not chosen[k] or is_linked(masks, x, y):
                continue
            if take(graph, x, y):
                is_added = True
                break
            if first_left < 0:
                first_left = k
        if not is_added:
            return first_left


@kernel
def minimal_separators(masks: Any, inside: Any, x: int, y: int, found: Any) -> Any:
    """List the minimal separators of x and y from x to y; return how many there are.

    The one nearest to some vertices on the side of x is what the rest of the graph around y touches. The next
    one leaves out a vertex of it; of those that leave out one or another the nearest has most on the side of y.
    """
    beyond = reached(masks, y, inside & ~(masks[x] | bit(x)))
    n_found = 0
    while beyond != _ZERO:
        here, rest = _ZERO, beyond
        while rest != _ZERO:
            here |= masks[lowest(rest)]
            rest &= rest - _ONE
        here &= ~beyond
        found[n_found] = here
        n_found += 1
        side = reached(masks, x, inside & ~here)
        beyond, rest = _ZERO, here & ~masks[y]
        while rest != _ZERO:
            v = lowest(rest)
            rest &= rest - _ONE
            further = reached(masks, y, inside & ~(side | here | masks[v]))
            if popcount(further) > popcount(beyond):
                beyond = further
    return n_found


@kernel
def spread(graph: Any, v: int, separator: Any) -> None:
    """Link a vertex to all of a separator."""
    rest = separator & ~graph[0][v] & ~bit(v)
    while rest != _ZERO:
        u = lowest(rest)
        rest &= rest - _ONE
        take(graph, min(u, v), max(u, v))


@kernel
def copy_to(graph: Any, other: Any) -> None:
    """Make a graph equal to another."""
    n = graph[4][0]
    other[0][:] = graph[0]
    other[1][:] = graph[1]
    other[2][:n] = graph[2][:n]
    other[3][:n] = graph[3][:n]
    other[4][0] = n


@kernel
def fill(graph: Any, x: int, y: int, separators: Any, n_separators: int, number: int) -> Any:
    """Link x and y with one of their fill-ins, by its number; return whether there is one of this number."""
    if number < n_separators:
        for place in range(number + 1):
            spread(graph, x, separators[place])
        for place in range(n_separators - 1, number - 1, -1):
            spread(graph, y, separators[place])
        spread(graph, x, bit(y))
        return True
    place = number - n_separators
    if popcount(separators[place]) != 1:
        return False
    hub = lowest(separators[place])
    for before in range(place - 1, -1, -1):
        spread(graph, hub, separators[before])
    spread(graph, hub, bit(x))
    for after in range(place + 1, n_separators):
        spread(graph, hub, separators[after])
    spread(graph, hub, bit(y))
    spread(graph, x, bit(y))
    return True


@kernel
def cost_from(graph: Any, begin: int, n_levels: Any) -> Any:
    """Return the free parameters that steps add."""
    total = 0.0
    for step in range(begin, graph[4][0]):
        x, y = graph[2][step, 0], graph[2][step, 1]
        cells, rest = (n_levels[x] - 1.0) * (n_levels[y] - 1.0), graph[3][step]
        while rest != _ZERO:
            cells *= n_levels[lowest(rest)]
            rest &= rest - _ONE
        total += cells
    return total


@kernel
def complete(graph: Any, links: Any, chosen: Any, n_levels: Any, tried: Any, best: Any, separators: Any) -> Any:
    """Add links, with the cheapest fill-in where one must be; return whether costs could be told exactly."""
    left = add(graph, links, chosen)
    while left >= 0:
        x, y, begin = links[left, 0], links[left, 1], graph[4][0]
        n_separators = minimal_separators(graph[0], graph[1][x], x, y, separators)
        least = np.inf
        for number in range(2 * n_separators):
            copy_to(graph, tried)
            if fill(tried, x, y, separators, n_separators, number):
                cost = cost_from(tried, begin, n_levels)
                if cost > _EXACT:
                    return False
                if cost < least or (cost == least and tried[4][0] < best[4][0]):
                    least = cost
                    copy_to(tried, best)
        copy_to(best, graph)
        left = add(graph, links, chosen)
    return True


@kernel
def induced(words: Any, inside: Any) -> Any:
    """Return the graph between some vertices, and its components."""
    n = len(inside)
    masks, components = np.zeros(n, np.uint64), np.empty(n, np.uint64)
    for i in range(n):
        row = words[inside[i]]
        for j in range(n):
            v = inside[j]
            if (row[v >> 6] >> np.uint64(v & 63)) & _ONE != _ZERO:
                masks[i] |= bit(j)
    everything = ~_ZERO if n == MOST else bit(n) - _ONE
    for i in range(n):
        components[i] = reached(masks, i, everything)
    return masks, components


@kernel
def growing(masks: Any, components: Any, most: int) -> Any:
    """Return a graph with room for so many steps."""
    ends, separators = np.empty((most, 2), np.int64), np.empty(most, np.uint64)
    return masks.copy(), components.copy(), ends, separators, np.zeros(1, np.int64)


@kernel
def complete_set(words: Any, inside: Any, n_levels: Any, links: Any) -> Any:
    """Return the steps of each completion: ends, separators, where those of each end, and how many there are.

    Of completions that come to the same links only the first is there. ``links`` are the missing links of the
    set, by places in the region ``inside``. There are -1 where costs are too large to be told by floats.
    """
    n = len(inside)
    masks, components = induced(words, inside)
    n_links = len(links)
    apart, within = np.ones(n_links, np.bool_), np.zeros(n_links, np.bool_)
    for k in range(n_links):
        within[k] = (components[links[k, 0]] >> np.uint64(links[k, 1])) & _ONE != _ZERO
    most = n * (n - 1) // 2 + 1
    separators, others = np.empty(n, np.uint64), np.empty(n, np.uint64)
    start = growing(masks, components, most)
    one, tried, best = (
        growing(masks, components, most),
        growing(masks, components, most),
        growing(masks, components, most),
    )
    stuck = add(start, links, within)
    x, y, n_separators = 0, 0, 0
    if stuck >= 0:
        x, y = links[stuck, 0], links[stuck, 1]
        n_separators = minimal_separators(start[0], start[1][x], x, y, separators)
        for k in range(n_links):
            within[k] = within[k] and not is_linked(start[0], links[k, 0], links[k, 1])
    n_numbers = max(1, 2 * n_separators)
    seen, n_seen = np.empty((n_numbers, n), np.uint64), 0
    done = np.empty((n_numbers, n), np.uint64)  # the graphs in the end: those that are equal count once
    ends, sets = np.empty((n_numbers * most, 2), np.int64), np.empty(n_numbers * most, np.uint64)
    until, n_done, n_written = np.empty(n_numbers, np.int64), 0, 0
    for number in range(n_numbers):
        copy_to(start, one)
        if stuck >= 0 and not fill(one, x, y, separators, n_separators, number):
            continue
        is_new = True
        for other in range(n_seen):
            is_new = is_new and not np.all(seen[other] == one[0])
        if not is_new:
            continue
        seen[n_seen] = one[0]
        n_seen += 1
        for chosen in (within, apart):
            if not complete(one, links, chosen, n_levels, tried, best, others):
                return ends[:0], sets[:0], until[:0], -1
        for other in range(n_done):
            is_new = is_new and not np.all(done[other] == one[0])
        if not is_new:
            continue
        done[n_done] = one[0]
        n_steps = one[4][0]
        ends[n_written : n_written + n_steps] = one[2][:n_steps]
        sets[n_written : n_written + n_steps] = one[3][:n_steps]
        n_written += n_steps
        until[n_done] = n_written
        n_done += 1
    return ends[:n_written], sets[:n_written], until, n_done


@kernel
def put_back(
    ends: Any, sets: Any, inside: Any, links: Any, vertices: Any, separators: Any, is_own: Any
) -> None:
    """Fill in the ends and separators of steps as the graph numbers them, and which steps add ``links``."""
    for step in range(len(ends)):
        for end in range(2):
            vertices[step, end] = inside[ends[step, end]]
        separators[step] = _ZERO
        rest = sets[step]
        while rest != _ZERO:
            v = inside[lowest(rest)]
            rest &= rest - _ONE
            separators[step, v >> 6] |= bit(v & 63)
        is_own[step] = False
        for k in range(len(links)):
            if links[k, 0] == ends[step, 0] and links[k, 1] == ends[step, 1]:
                is_own[step] = True
