"""What is observed of many rows: evidence, and blocks of it that are worked on at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xordal.model.potential import Potential
from xordal.types.varsets import VarSet, varset

Logs = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """What is known about rows.

    Attributes
    ----------
    codes
        Shape (variables, rows): the observed level of each variable, negative where it is not observed.
    weights
        Log likelihoods of the levels of variables observed with doubt, the same for all rows: shape (levels,).
    """

    codes: NDArray[np.int64]
    weights: Mapping[int, Logs] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])


def patterns(is_seen: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Rows]:
    """Return the distinct columns of a table of variables and rows, and the number of each row's.

    Examples
    --------
    >>> kinds, kind = patterns(np.array([[True, False, True], [False, False, False]]))
    >>> kinds.tolist(), kind.tolist()
    ([[False, True], [False, False]], [1, 0, 1])
    """
    packed = np.packbits(is_seen, axis=0)
    if packed.shape[1] and not (packed != packed[:, :1]).any():  # most tables miss the same columns throughout
        return is_seen[:, :1], np.zeros(is_seen.shape[1], dtype=np.int64)
    _, first, kind = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    return is_seen[:, first], kind.reshape(-1)


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of evidence; ``hard`` variables are observed in all of them and cut out of the tables."""

    evidence: Observed
    rows: Rows
    hard: VarSet

    @property
    def observed(self) -> int:
        """Variables with any evidence."""
        return self.hard | self.soft

    @cached_property
    def soft(self) -> int:
        """Variables whose evidence is multiplied in: doubtful, or observed in some of the rows only."""
        some = (self.evidence.codes[:, self.rows] >= 0).any(axis=1)
        return (varset(np.flatnonzero(some).tolist()) | varset(self.evidence.weights)) & ~self.hard

    def codes(self, v: int) -> Rows:
        """Return the observed level of a variable in each of the rows."""
        return np.asarray(self.evidence.codes[v, self.rows])

    def doubt(self, v: int, n_levels: int) -> Potential:
        """Return the evidence on one variable as a potential."""
        codes = self.codes(v)[:, None]
        logs = np.where((codes < 0) | (codes == np.arange(n_levels)), 0.0, -np.inf)
        if v in self.evidence.weights:
            logs = logs + self.evidence.weights[v]
        return Potential((v,), logs)
