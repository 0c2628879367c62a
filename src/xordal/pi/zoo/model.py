"""A model of the zoo: an exact joint, a minimal I-map of it, and the truth that follows from both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from xordal.errors import SettingsError
from xordal.graph.chordal import ChordalGraph
from xordal.pi.colored import ColoredIMap, colored_imap
from xordal.pi.joint import Joint

MOST_CELLS = 2**20
"""Cells of the largest joint a family builds: twenty binary variables."""


def check_size(n_cells: int) -> None:
    """Refuse a model whose joint would not fit, before it is built."""
    if n_cells > MOST_CELLS:
        raise SettingsError(
            f"A model can have at most {MOST_CELLS:,} states, not {n_cells:,}: use fewer variables."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """An exact joint with one of its minimal I-maps.

    Examples
    --------
    >>> from xordal.pi.zoo import music_box
    >>> truth = music_box().truth()
    >>> len(truth.submodels), len(truth.colored_links), len(truth.black_links)
    (5, 10, 2)
    """

    joint: Joint
    graph: ChordalGraph

    @classmethod
    def of_cliques(cls, joint: Joint, cliques: Iterable[Sequence[str]]) -> Model:
        """Build a model whose graph completes some sets of named variables."""
        number = {name: v for v, name in enumerate(joint.variables)}
        links = {
            (min(number[a], number[b]), max(number[a], number[b]))
            for clique in cliques
            for a, b in combinations(clique, 2)
        }
        return cls(joint, ChordalGraph.empty(len(joint.variables)).add(sorted(links)))

    def truth(self) -> ColoredIMap:
        """Return the colored I-map; the graph is checked to be a minimal I-map on the way."""
        return colored_imap(self.joint.oracle(), self.graph)
