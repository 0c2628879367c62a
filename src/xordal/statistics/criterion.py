"""Criteria: which candidate is best, and whether it is good enough.

A criterion sees the :class:`Evidence` for one candidate and nothing of the graph or the engine. The search
keeps the candidates it accepts, finds the highest rank among them and takes, of those within the criterion's
tolerance of it, the first link set in lexicographic order: ties are normal (XOR is symmetric) and must not be
decided by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from xordal.errors import SettingsError
from xordal.types import SignedSets

ZERO_GAIN = 1e-12
"""Exactly independent tables have computed gains up to about 1e-15; below this a gain is zero, in nats."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the data say about one candidate change of the graph.

    Attributes
    ----------
    gain
        Entropy decrement in nats.
    change
        Signed sets the change adds to the graph's.
    dof
        Nominal degrees of freedom: free parameters of ``change``.
    n_rows
        Number of rows behind the gain; None for an exact joint.
    """

    gain: float
    change: SignedSets
    dof: int
    n_rows: int | None


class Criterion(Protocol):
    """Ranks and accepts candidates."""

    def rank(self, evidence: Evidence) -> float:
        """Return how good a candidate is; higher is better."""
        ...

    def tolerance(self, best: float) -> float:
        """Return how far below the best rank a candidate still ties with it."""
        ...

    def is_accepted(self, evidence: Evidence) -> bool:
        """Whether the candidate may enter the graph."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return the name and the parameters."""
        ...


@dataclass(frozen=True, slots=True)
class EntropyDecrement:
    """The paper's criterion: rank by entropy decrement, accept above a fixed threshold.

    Parameters
    ----------
    delta_h
        Threshold in nats. The paper uses 0.001 for Table 1 and 0.004 for the music box.

    References
    ----------
    Hu & Xiang (1997), section 6, function lookahead, lines 6-8.
    """

    delta_h: float = 0.004

    def __post_init__(self) -> None:
        if not isfinite(self.delta_h) or self.delta_h < 0:
            raise SettingsError(f"delta_h must be zero or a positive number of nats, not {self.delta_h}.")

    def rank(self, evidence: Evidence) -> float:
        """Return the gain."""
        return evidence.gain

    def tolerance(self, best: float) -> float:
        """Return 1e-12 nats, whatever the best gain."""
        return 1e-12

    def is_accepted(self, evidence: Evidence) -> bool:
        """Whether the gain is above the threshold and above rounding."""
        return evidence.gain > max(self.delta_h, ZERO_GAIN)

    def to_json(self) -> dict[str, object]:
        """Return the name and the threshold."""
        return {"name": "EntropyDecrement", "delta_h": self.delta_h}
