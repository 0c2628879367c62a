"""Kernels for links behind separators: their numbers, and what many of them come to together.

A separator is a mask in words; ``ends`` has the two variables of each link, the lower first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._bits import popcount
from xordal.counting._jit import kernel, rounded_kernel
from xordal.search._masks import lowest

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def find_numbers(
    ends: Any, separators: Any, n_known: int, slots: Any, links: Any, known_separators: Any, places: Any
) -> Any:
    """Find the number of each link and separator, adding those that are new; return how many there are then.

    ``slots`` is a table of places by hash, -1 where there is none; ``links`` and ``known_separators`` are those
    of the places.
    """
    n_words = separators.shape[1]
    last = len(slots) - 1
    for at in range(len(ends)):
        x, y = ends[at, 0], ends[at, 1]
        code = (np.uint64(x) << np.uint64(32)) | np.uint64(y)
        for w in range(n_words):  # shifts alone: they mix well enough, and cannot overflow
            code ^= separators[at, w]
            code ^= code << np.uint64(13)
            code ^= code >> np.uint64(7)
            code ^= code << np.uint64(17)
        slot = np.int64(code & np.uint64(last))
        while True:
            place = slots[slot]
            if place < 0:
                place = n_known
                slots[slot] = place
                links[place, 0], links[place, 1] = x, y
                known_separators[place] = separators[at]
                n_known += 1
                break
            is_same = links[place, 0] == x and links[place, 1] == y
            for w in range(n_words):
                is_same &= known_separators[place, w] == separators[at, w]
            if is_same:
                break
            slot = (slot + 1) & last
        places[at] = place
    return n_known


@kernel
def list_spreads(
    masks: Any, begins: Any, path: Any, starts: Any, ends: Any, separators: Any, up_to: Any
) -> int:
    """List the steps that link each vertex to all that lies on a path next to it; return how many they are.

    Spread s begins at vertex ``begins[s]`` and goes along ``path[starts[s] : starts[s + 1]]``, masks of
    separators; ``up_to`` gets the number of steps listed by the end of each place. Return -1 where they do not
    fit.
    """
    n_words = masks.shape[1]
    near = np.empty(n_words, np.uint64)
    n = 0
    for s in range(len(begins)):
        v = begins[s]
        near[:] = masks[v]
        for place in range(starts[s], starts[s + 1]):
            for w in range(n_words):
                rest = path[place, w] & ~near[w]
                while rest != _ZERO:
                    u = 64 * w + lowest(rest)
                    rest &= rest - _ONE
                    if n == len(ends):
                        return -1
                    ends[n, 0], ends[n, 1] = min(u, v), max(u, v)
                    for t in range(n_words):
                        separators[n, t] = near[t] & masks[u, t]
                    near[w] |= _ONE << np.uint64(u & 63)
                    n += 1
            up_to[place] = n
    return n


@rounded_kernel
def add_up_spreads(starts: Any, up_to: Any, numbers: Any, known: Any, places: Any) -> None:
    """Add up the steps of each spread to the end of each place, one after the other.

    ``numbers`` are those of the steps. ``known`` is what there is by number: gains, degrees of freedom, links
    and separators; and ``places`` gets by place: gains, degrees of freedom, and in words, shape (places, 2,
    words), the variables that the steps link and those that they are conditioned on.
    """
    gains, dofs, links, separators = known
    gain, dof, held = places
    n_words = separators.shape[1]
    step = 0
    both = np.empty((2, n_words), np.uint64)
    for s in range(len(starts) - 1):
        all_gain, all_dof = 0.0, 0
        both[:] = _ZERO
        for place in range(starts[s], starts[s + 1]):
            while step < up_to[place]:
                at = numbers[step]
                all_gain += gains[at]
                all_dof += dofs[at]
                for end in range(2):
                    v = links[at, end]
                    both[0, v >> 6] |= _ONE << np.uint64(v & 63)
                for w in range(n_words):
                    both[1, w] |= separators[at, w]
                step += 1
            gain[place], dof[place], held[place] = all_gain, all_dof, both


@rounded_kernel
def put_together(parts: Any, own: Any, known: Any, places: Any, n_steps: Any, gain: Any, sizes: Any) -> None:
    """Put two spreads and one step more together, for each of some fill-ins.

    ``parts`` has the place up to which each spread is taken, ``n_steps`` how many steps that are by place, and
    ``own`` the number of the one step more. Rows of ``sizes`` get the numbers of variables linked, of steps, of
    variables conditioned on, and the degrees of freedom.
    """
    gains, dofs, links, separators = known
    of_gain, of_dof, held = places
    n_words = separators.shape[1]
    for f in range(len(own)):
        one, other, at = parts[f, 0], parts[f, 1], own[f]
        gain[f] = of_gain[one] + of_gain[other] + gains[at]
        n_ends, n_around = np.int64(0), np.int64(0)
        for w in range(n_words):
            ends = held[one, 0, w] | held[other, 0, w]
            for end in range(2):
                v = links[at, end]
                if v >> 6 == w:
                    ends |= _ONE << np.uint64(v & 63)
            around = held[one, 1, w] | held[other, 1, w] | separators[at, w]
            n_ends += np.int64(popcount(ends))
            n_around += np.int64(popcount(around & ~ends))
        sizes[f, 0], sizes[f, 1] = n_ends, n_steps[one] + n_steps[other] + 1
        sizes[f, 2], sizes[f, 3] = n_around, of_dof[one] + of_dof[other] + dofs[at]


@rounded_kernel
def add_up_completions(
    until: Any, numbers: Any, is_own: Any, sets: Any, known: Any, gain: Any, sizes: Any
) -> None:
    """Add up the steps of completions: first those that add the links of the set itself, then all of them.

    ``until`` says where the steps of each completion end, ``is_own`` which steps are the set's own, and
    ``sets`` has the set of each completion in words. Rows of ``sizes`` are those of :func:`put_together`; what
    the own steps link counts as the whole set.
    """
    gains, dofs, links, separators = known
    n_words = separators.shape[1]
    ends, around = np.empty((2, n_words), np.uint64), np.empty((2, n_words), np.uint64)
    step = 0
    for c in range(len(until)):
        ends[0], ends[1], around[:] = sets[c], _ZERO, _ZERO
        gain[c] = 0.0
        sizes[c] = 0
        while step < until[c]:
            at = numbers[step]
            for part in range(0 if is_own[step] else 1, 2):
                gain[c, part] += gains[at]
                sizes[c, part, 1] += 1
                sizes[c, part, 3] += dofs[at]
                for w in range(n_words):
                    around[part, w] |= separators[at, w]
            for end in range(2):
                v = links[at, end]
                ends[1, v >> 6] |= _ONE << np.uint64(v & 63)
            step += 1
        for part in range(2):
            for w in range(n_words):
                sizes[c, part, 0] += np.int64(popcount(ends[part, w]))
                sizes[c, part, 2] += np.int64(popcount(around[part, w] & ~ends[part, w]))
