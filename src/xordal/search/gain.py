"""The gain of a batch of candidates: one oracle call, one exactly rounded sum each.

``fsum`` makes a gain independent of the order of its terms, so that relabelling variables or another route to
the same candidate cannot change a bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from xordal.counting.oracle import EntropyOracle
from xordal.types import SignedSets


def gains(changes: Sequence[SignedSets], oracle: EntropyOracle) -> list[float]:
    """Return by how many nats each change lowers the entropy of the network."""
    needed = list(dict.fromkeys(variables for terms in changes for variables in terms))
    if not needed:
        return [-0.0] * len(changes)
    entropy = dict(zip(needed, oracle.entropies(needed).tolist(), strict=True))
    return [-fsum([sign * entropy[variables] for variables, sign in terms.items()]) for terms in changes]
