"""Exhaustive search: every chordal graph over a few vertices, and the best of them by a score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.graph.chordal import ChordalGraph, is_chordal, linked
from xordal.graph.signed_sets import signed_sets
from xordal.types.varsets import Link, LinkSet


class Everything(NamedTuple):
    """All chordal graphs over some vertices: links, and signed sets as rows of a matrix."""

    links: list[LinkSet]
    signs: NDArray[np.int8]

    def scores(self, set_scores: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of every graph, from the scores of all variable sets."""
        return np.asarray(self.signs @ np.asarray(set_scores))

    def score(self, links: Iterable[Link], set_scores: Sequence[float] | NDArray[np.float64]) -> float:
        """Return the score of one graph."""
        return float(self.scores(set_scores)[self.links.index(tuple(sorted(links)))])


@cache
def everything(n: int) -> Everything:
    """Return all chordal graphs: 2, 8, 61, 822 and 18154 over 2 to 6 vertices (OEIS A058862)."""
    pairs = list(combinations(range(n), 2))
    found: list[LinkSet] = []
    rows: list[NDArray[np.int8]] = []
    for code in range(1 << len(pairs)):
        links = tuple(pair for place, pair in enumerate(pairs) if code >> place & 1)
        masks = linked([0] * n, links)
        if is_chordal(masks):
            row = np.zeros(1 << n, dtype=np.int8)
            for variables, sign in signed_sets(ChordalGraph.of(masks)).items():
                row[variables] = sign
            found.append(links)
            rows.append(row)
    return Everything(found, np.array(rows))
