"""Where the variables of a large network go: components apart, cliques apart, no box over another.

Each component is laid out by itself (:func:`~xordal.report.layout.stress_layout`), its boxes are pushed apart,
and the components are packed row by row, the largest first; variables without a link come last, as a block.
The same network gives the same places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.report.drawings import Place
from xordal.report.layout import stress_layout
from xordal.types.varsets import Link

_UNIT = 84.0  # pixels between linked variables, about
_GAP = 14.0  # free pixels between boxes
_BETWEEN = 34.0  # free pixels between components
_ASPECT = 1.5  # width of the whole over its height, about
_FEW = 8  # variables that need no stretching
_STRETCH = 1.5  # boxes are wide, so pushing them apart makes a drawing higher
_PUSHES = 20  # before it is looked anew which boxes are near each other
_NEAR = 60.0  # pixels
_TOUCH = 0.01  # pixels two boxes may overlap


def map_places(links: Sequence[Link], halves: Sequence[Place]) -> tuple[Place, ...]:
    """Place the boxes of a network, given by their half widths and heights in pixels.

    Examples
    --------
    >>> places = map_places([(0, 1)], [(20.0, 13.0)] * 3)
    >>> len(set(places)), places[0] != places[1]
    (3, True)
    """
    blocks = [_laid_out(part, links, halves) for part in components(len(halves), links) if len(part) > 1]
    linked = {v for block in blocks for v in block}
    alone = [v for v in range(len(halves)) if v not in linked]
    if alone:
        blocks.append(_rows_of(alone, halves, _width(blocks, halves)))
    placed = _packed(blocks, halves)
    return tuple(placed[v] for v in range(len(halves)))


def components(n_nodes: int, links: Sequence[Link]) -> list[list[int]]:
    """Return the connected components, the largest first.

    Examples
    --------
    >>> components(4, [(1, 3)])
    [[1, 3], [0], [2]]
    """
    home = list(range(n_nodes))

    def root(v: int) -> int:
        while home[v] != v:
            home[v] = home[home[v]]
            v = home[v]
        return v

    for u, v in links:
        one, other = sorted((root(u), root(v)))
        home[other] = one
    parts: dict[int, list[int]] = {}
    for v in range(n_nodes):
        parts.setdefault(root(v), []).append(v)
    return sorted(parts.values(), key=lambda part: (-len(part), part))


def _laid_out(part: list[int], links: Sequence[Link], halves: Sequence[Place]) -> dict[int, Place]:
    """Place one component: by stress, wide rather than high, then pushed apart."""
    at = {v: place for place, v in enumerate(part)}
    inner = [(at[u], at[v]) for u, v in links if u in at]
    places = np.array(stress_layout(len(part), inner)) * _UNIT
    places = _wide(places - places.mean(axis=0))
    spans = np.maximum(np.ptp(places, axis=0), 1e-6)
    if len(part) > _FEW:
        places[:, 0] *= min(max(_STRETCH * spans[1] / spans[0], 1.0), _STRETCH)
    sizes = np.array([halves[v] for v in part])
    pushed = _apart(places, sizes)
    return {v: (float(x), float(y)) for v, (x, y) in zip(part, pushed, strict=True)}


def _wide(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn places so that they spread most from left to right; of two turns, always the same."""
    _, axes = np.linalg.eigh(places.T @ places)
    turned = places @ axes[:, ::-1]
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), [0, 1]])
    return np.asarray(turned * np.where(signs == 0, 1, signs))


def _apart(places: NDArray[np.float64], halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push boxes that overlap apart, each pair along the shorter way, until none does.

    Where that does not end soon there is too little room, and everything moves apart more and more.
    """
    one, other = np.triu_indices(len(places), 1)
    room = halves[one] + halves[other] + _GAP
    growth = 1.0
    while True:
        overlap = room - np.abs(places[one] - places[other])
        if not (overlap > _TOUCH).all(axis=1).any():
            return places
        near = np.flatnonzero((overlap > -_NEAR).all(axis=1))  # the others cannot meet in a few pushes
        for _ in range(_PUSHES):
            if not _pushed(places, one[near], other[near], room[near]):
                break
        else:
            growth += 0.04
            places *= growth


def _pushed(
    places: NDArray[np.float64],
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    room: NDArray[np.float64],
) -> bool:
    """Push the pairs that overlap apart once, in place; return whether there were any."""
    gaps = places[one] - places[other]
    overlap = room - np.abs(gaps)
    hit = np.flatnonzero((overlap > _TOUCH).all(axis=1))
    axis = (overlap[hit, 0] >= overlap[hit, 1]).astype(np.int64)
    push = np.where(gaps[hit, axis] < 0, -0.55, 0.55) * overlap[hit, axis]
    np.add.at(places, (one[hit], axis), push)
    np.add.at(places, (other[hit], axis), -push)
    return len(hit) > 0


def _rows_of(alone: list[int], halves: Sequence[Place], width: float) -> dict[int, Place]:
    """Place variables without a link in rows."""
    placed: dict[int, Place] = {}
    x = y = 0.0
    for v in alone:
        half, height = halves[v]
        if x and x + 2 * half > width:
            x, y = 0.0, y + 2 * height + _GAP
        placed[v] = (x + half, y)
        x += 2 * half + _GAP
    return placed


Block = dict[int, Place]


def _frame(block: Block, halves: Sequence[Place]) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a block's boxes."""
    return (
        min(x - halves[v][0] for v, (x, _) in block.items()),
        min(y - halves[v][1] for v, (_, y) in block.items()),
        max(x + halves[v][0] for v, (x, _) in block.items()),
        max(y + halves[v][1] for v, (_, y) in block.items()),
    )


def _sizes(blocks: Sequence[Block], halves: Sequence[Place]) -> Iterator[Place]:
    for block in blocks:
        left, top, right, bottom = _frame(block, halves)
        yield right - left + _BETWEEN, bottom - top + _BETWEEN


def _width(blocks: Sequence[Block], halves: Sequence[Place]) -> float:
    """Return how wide the whole is to be: room for all boxes, in the wanted proportion."""
    sizes = list(_sizes(blocks, halves))
    linked = {v for block in blocks for v in block}
    alone = sum((2 * w + _GAP) * (2 * h + _GAP) for v, (w, h) in enumerate(halves) if v not in linked)
    area = sum(w * h for w, h in sizes) * 1.15 + alone
    return float(max([(area * _ASPECT) ** 0.5, *(w for w, _ in sizes)]))


def _packed(blocks: Sequence[Block], halves: Sequence[Place]) -> dict[int, Place]:
    """Put blocks side by side in rows of the wanted width."""
    width = _width(blocks, halves)
    placed: dict[int, Place] = {}
    x = y = row = 0.0
    for block, (w, h) in zip(blocks, _sizes(blocks, halves), strict=True):
        if x and x + w > width + _BETWEEN:
            x, y, row = 0.0, y + row, 0.0
        left, top, _, _ = _frame(block, halves)
        placed |= {v: (px - left + x, py - top + y) for v, (px, py) in block.items()}
        x, row = x + w, max(row, h)
    return placed
