"""How rows were drawn: survey weights that are fractions, and rows that belong together.

A whole number is a count, and a row with it is that many rows. A fraction is no count: a survey gives a row the
weight 1.7 because people like it were drawn too seldom. Such weights change what is estimated, and they make
estimates less sure than the number of rows says. So do rows of one person or one machine, which are alike. The
weights and the clusters stand here, beside the rows; what they do to p-values is worked out in
:mod:`xordal.statistics.design`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_UNITS = 2.0**16
"""Into so many parts a row of average weight is divided, so that counts of parts are exact whole numbers.

Weights are off by half a part at most, one in 131,072 of the average.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """How the rows of a table were drawn.

    Attributes
    ----------
    weights
        Shape (rows,): a positive number for each row; None where rows count alike, or as whole numbers do.
    clusters
        Shape (rows,): the number of the person, machine or place that a row belongs to; None where every row
        stands by itself.
    """

    weights: NDArray[np.float64] | None = None
    clusters: NDArray[np.int32] | None = None

    def only(self, rows: NDArray[np.bool_]) -> Design:
        """Return the design of some of the rows."""
        return Design(
            None if self.weights is None else self.weights[rows],
            None if self.clusters is None else self.clusters[rows],
        )

    @property
    def n_clusters(self) -> int | None:
        """How many clusters there are; None where every row stands by itself."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def parts(self) -> NDArray[np.int64] | None:
        """Return the weights as whole numbers of small parts of a row; None where they are no fractions.

        Examples
        --------
        >>> Design(np.array([0.5, 1.5])).parts().tolist()
        [32768, 98304]
        """
        if self.weights is None:
            return None
        parts = np.rint(self.weights / self.weights.mean() * _UNITS)
        return np.asarray(np.maximum(parts, 1), dtype=np.int64)

    def rounded(self, codes: NDArray[np.int32]) -> NDArray[np.int64] | None:
        """Return whole numbers that add up to the number of rows, for tables of a network.

        The running sum of the weights is rounded, along rows sorted by their values: so the count of rows that
        begin alike is off by less than one.
        """
        if self.weights is None:
            return None
        order = np.lexsort(codes[::-1])
        up_to = np.floor(np.cumsum(self.weights[order]) / self.weights.mean() + 0.5)
        counts = np.empty(len(order), dtype=np.int64)
        counts[order] = np.diff(up_to, prepend=0.0).astype(np.int64)
        return counts
