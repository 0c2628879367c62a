"""Total correlation: what a set of variables share in all, sum of H(v) minus H(set), in nats."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING

from xordal.types import VarSet, members, varset

if TYPE_CHECKING:
    from xordal.counting.oracle import EntropyOracle


def total_correlations(oracle: EntropyOracle, sets: Sequence[VarSet]) -> list[float]:
    """Return the total correlation of each set; of a pair, its mutual information."""
    singles = [varset([v]) for v in sorted({v for variables in sets for v in members(variables)})]
    entropy = dict(zip([*singles, *sets], oracle.entropies([*singles, *sets]).tolist(), strict=True))
    return [
        fsum([*(entropy[varset([v])] for v in members(variables)), -entropy[variables]]) for variables in sets
    ]
