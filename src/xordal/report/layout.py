"""Where the nodes of a network go, when nobody has placed them: a deterministic layout.

Places minimise the stress of the drawing, the squared differences between drawn distance and distance in the
graph, by majorisation from a circle, in large graphs from classical scaling (Gansner, Koren & North 2004). Then
everything is scaled until no two boxes overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.report.drawings import Place
from xordal.types.varsets import Link

_ROUNDS = 300
_LARGE = 40  # nodes from which a circle is too tangled a start


def stress_layout(n_nodes: int, links: Sequence[Link]) -> tuple[Place, ...]:
    """Place linked nodes about one unit apart, others as far as their distance in the graph.

    Nodes of different components are one more than the largest distance apart. The same graph gives the same
    places; O(N^2) a round.

    Examples
    --------
    >>> (ax, ay), (bx, by), (cx, cy) = stress_layout(3, [(0, 1), (1, 2)])
    >>> round(abs(complex(ax - cx, ay - cy)), 1)
    2.0
    """
    turns = 2 * np.pi * np.arange(n_nodes) / max(n_nodes, 1)
    places = np.stack([np.cos(turns), np.sin(turns) * 0.9], axis=1) * max(n_nodes, 1) / 4
    if n_nodes < 2:
        return tuple((0.0, 0.0) for _ in range(n_nodes))
    wanted = _distances(n_nodes, links)
    if n_nodes >= _LARGE:
        places = _scaling(wanted)
    weights = 1 / (wanted + np.eye(n_nodes)) ** 2 * (1 - np.eye(n_nodes))
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_rounds(n_nodes)):
        gaps = places[:, None, :] - places[None, :, :]
        drawn = np.maximum(np.sqrt((gaps**2).sum(axis=2)), 1e-9)
        pull = weights * wanted / drawn
        places = inverse @ (pull[:, :, None] * gaps).sum(axis=1)
    return tuple((float(x), float(y)) for x, y in places)


def _scaling(wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places whose squared distances come near the wanted ones (classical scaling, Torgerson 1952)."""
    centred = wanted**2 - (wanted**2).mean(axis=0)
    centred = -(centred - centred.mean(axis=1, keepdims=True)) / 2
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    # Nodes that are alike to the graph would start, and stay, at one place.
    turns = 2.4 * np.arange(len(wanted))
    return np.asarray(places + 0.05 * np.stack([np.cos(turns), np.sin(turns)], axis=1))


def _rounds(n_nodes: int) -> int:
    """Return how often to improve the places: seldom where a round takes long."""
    return max(20, min(_ROUNDS, 12_000 // n_nodes))


def _distances(n_nodes: int, links: Sequence[Link]) -> NDArray[np.float64]:
    """Return the distances in the graph, breadth first, across components one more than the largest."""
    neighbours: list[list[int]] = [[] for _ in range(n_nodes)]
    for u, v in links:
        neighbours[u].append(v)
        neighbours[v].append(u)
    distance = np.full((n_nodes, n_nodes), np.inf)
    for start in range(n_nodes):
        steps = {start: 0.0}
        queue = [start]
        for v in queue:
            for w in neighbours[v]:
                if w not in steps:
                    steps[w] = steps[v] + 1
                    queue.append(w)
        distance[start, list(steps)] = list(steps.values())
    far = distance[np.isfinite(distance)].max() + 1
    return np.where(np.isfinite(distance), distance, far)


def spread(
    places: Sequence[Place], halves: Sequence[Place], gap: float, unit: float = 0.0
) -> tuple[Place, ...]:
    """Scale places up until boxes of the given half widths and heights keep a gap between them.

    Parameters
    ----------
    places
        Distinct places in any unit.
    halves
        Half width and half height of the box at each place, in pixels.
    gap
        Free pixels wanted between boxes, sideways or up and down.
    unit
        Pixels of one unit at least.

    Examples
    --------
    >>> spread([(0, 0), (1, 0)], [(10, 5), (10, 5)], gap=20)
    ((0.0, 0.0), (40.0, 0.0))
    """
    scale = unit
    for one, ((x0, y0), (w0, h0)) in enumerate(zip(places, halves, strict=True)):
        for (x1, y1), (w1, h1) in zip(places[one + 1 :], halves[one + 1 :], strict=True):
            sideways = (w0 + w1 + gap) / max(abs(x0 - x1), 1e-6)
            downwards = (h0 + h1 + gap) / max(abs(y0 - y1), 1e-6)
            scale = max(scale, min(sideways, downwards))
    return tuple((scale * x, scale * y) for x, y in places)
