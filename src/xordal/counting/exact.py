"""Entropies of an exact joint distribution, through the same interface as those of data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.types.varsets import VarSet


class ExactOracle:
    """Knows the entropies of a joint given as an array with one axis per variable."""

    def __init__(self, probabilities: NDArray[np.float64]) -> None:
        self._probabilities = probabilities

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        return np.array([entropy(self._marginal(variables)) for variables in sets], dtype=np.float64)

    def _marginal(self, variables: VarSet) -> NDArray[np.float64]:
        others = tuple(v for v in range(self._probabilities.ndim) if not variables >> v & 1)
        return np.asarray(self._probabilities.sum(axis=others))
