"""Total correlation: what a set of variables share in all, sum of H(v) minus H(set), in nats.

Given a context C, every entropy is one given C: sum of H(v | C) minus H(set | C).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING

from xordal.types.varsets import EMPTY, VarSet, members

if TYPE_CHECKING:
    from xordal.counting.oracle import EntropyOracle


def total_correlations(oracle: EntropyOracle, sets: Sequence[int], given: int = EMPTY) -> list[float]:
    """Return the total correlation of each set, given a context; of a pair, its mutual information.

    Examples
    --------
    >>> from xordal.counting.cpu_numpy import NumpyCounter
    >>> from xordal.data.table import CategoricalTable
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)]
    >>> counter = NumpyCounter(CategoricalTable.from_rows("abc", rows))
    >>> [round(shared, 4) for shared in total_correlations(counter, [0b011, 0b111])]
    [0.0, 0.6931]
    """
    singles = list(dict.fromkeys(1 << v for variables in sets for v in members(variables)))
    asked = [VarSet(s | given) for s in (EMPTY, *singles, *sets)]
    context, *known = oracle.entropies(asked).tolist()
    alone = dict(zip(singles, known, strict=False))
    return [
        fsum([*(own := [alone[1 << v] for v in members(s)]), -whole, *[-context] * (len(own) - 1)])
        for s, whole in zip(sets, known[len(singles) :], strict=True)
    ]
