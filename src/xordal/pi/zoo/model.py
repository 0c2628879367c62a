"""A model of the zoo: an exact joint, a minimal I-map of it, and the truth that follows from both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.pi.colored import ColoredIMap, colored_imap
from xordal.pi.joint import MOST_EXACT_STATES, Joint
from xordal.pi.measuring import measured_exactly

LARGEST_CLIQUE = 12
"""Variables of the largest clique whose subsets are all looked at, about four thousand."""


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
        """Return the colored I-map; the graph is checked to be a minimal I-map on the way.

        Raises
        ------
        DataError
            If a clique has too many variables to look at each of its subsets.
        """
        largest = max(clique.bit_count() for clique in maximal_cliques(self.graph))
        if largest > LARGEST_CLIQUE:
            raise DataError(
                f"The truth about {largest} variables that are all linked cannot be checked: they have too "
                "many subsets. Use fewer variables."
            )
        found = colored_imap(self.joint.oracle(), self.graph, names=self.joint.variables)
        exact = tuple(measured_exactly(self.joint, submodel) for submodel in found.submodels)
        return replace(found, submodels=exact)


def number_kind(n_states: int) -> Callable[[Fraction], Fraction | float]:
    """Return what to compute the probabilities of a joint with: fractions while it is small, else floats."""
    return Fraction if n_states <= MOST_EXACT_STATES else float


def joint_of(
    names: Sequence[str],
    probabilities: NDArray[np.float64] | NDArray[np.object_],
    levels: Sequence[Sequence[str]] | None = None,
) -> Joint:
    """Return the joint of an array of floats, or of fractions, which it keeps."""
    if probabilities.dtype != object:
        return Joint.from_array(names, probabilities.astype(np.float64), levels)
    known = levels or [[str(code) for code in range(size)] for size in probabilities.shape]
    return Joint.from_states(names, dict(zip(product(*known), probabilities.reshape(-1).tolist(), strict=True)))
