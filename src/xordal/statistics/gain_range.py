r"""How sure a gain is: the range of the nats that a set of links gains in the population.

2 n times it, G2, varies as a noncentral chi-squared: as the sum of d - 1 squares of standard normal numbers
and of the square of a number around sqrt(lambda), lambda = 2 n gain in the population. That number has the
variance 1 where the gain is weak. Elsewhere it has that of a mean over the rows: each row adds log p(W |
links) - log p(W | without), whose variance v among the rows is known from the table itself, and on the scale
of the square root that is v / (2 gain). So, with r = sqrt(G2 - (d - 1)),

    sqrt(lambda)  =  r  +-  1.96 sqrt( v / (2 gain)  +  (d - 1) / (2 r^2) ),  not below zero.

It is that of one set named beforehand. Of those that a search picked, being the strongest, the gains are
rather too large; rows that the search has not seen tell (``xordal check``).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounts
from xordal.types.varsets import SignedSets, VarSet, members

SURE = 1.959964
"""Standard deviations on either side of 95 % of a normal law."""

Range = tuple[float, float]


def gain_range(change: SignedSets, counted: CellCounts, variables: VarSet, dof: int) -> Range:
    """Return the range, with 95 %, of what a change gains; counted are the cells of all its variables.

    Examples
    --------
    >>> from xordal.counting.oracle import CellCounts
    >>> pairs = CellCounts(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([40, 10, 10, 40]))
    >>> low, high = gain_range({VarSet(3): 1, VarSet(1): -1, VarSet(2): -1}, pairs, VarSet(3), dof=1)
    >>> round(low, 3), round(high, 3)
    (0.098, 0.32)
    """
    inside = {v: place for place, v in enumerate(members(variables))}
    logs = np.zeros(len(counted.counts))
    for part, sign in change.items():
        logs += sign * np.log(_counts_over(counted, [inside[v] for v in members(part)]))
    n_rows = float(counted.counts.sum())
    logs -= sum(change.values()) * np.log(n_rows)
    shares = counted.counts / n_rows
    gain = float(shares @ logs)
    variance = float(shares @ (logs - gain) ** 2)
    return corrected_range(gain, variance, dof, n_rows, len(logs))


def corrected_range(nats: float, variance: float, dof: int, n_rows: float, n_cells: int) -> Range:
    """Return the range of some nats whose terms have this variance among the rows.

    The terms were estimated too, one for each occupied cell, and so vary too little, by (n - cells) / n.
    """
    variance *= n_rows / max(n_rows - n_cells, 1.0)
    others = max(dof - 1, 0)
    g2 = 2 * n_rows * nats
    root = sqrt(max(g2 - others, 0.0))
    own = min(variance / (2 * nats), 1.0) if g2 > 1 else 1.0
    half = SURE * sqrt(own + others / (2 * max(root**2, sqrt(2 * others), 1.0)))
    low, high = max(0.0, root - half), root + half
    return low**2 / (2 * n_rows), high**2 / (2 * n_rows)


def _counts_over(counted: CellCounts, places: list[int]) -> NDArray[np.float64]:
    """Return for each cell the rows that agree with it in some of the variables."""
    number = counted.numbered(places)
    sums = np.bincount(number, weights=counted.counts)
    return np.asarray(sums[number], dtype=np.float64)
