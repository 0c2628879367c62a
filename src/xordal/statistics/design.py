"""P-values of weighted and clustered rows: the correction of Rao and Scott, step by step of a chain.

Were the link of a step x-y behind S absent, the step's G2 would be, for many rows, a quadratic form in the
residuals of its cells: with c = (a, b, s) and shares p,

    G2 = n * sum over cells of r_c^2 / (p_s p_a|s p_b|s),     r_c = sum over rows of w u(c) / W,
    u(c) = 1[s] (1[a] - p_a|s) (1[b] - p_b|s).

So its mean follows from the rows' own weights. Two rows, in cells c and d, go together as

    K(c, d) = 1[s_c = s_d] (1[a_c = a_d] / p_a|s - 1) (1[b_c = b_d] / p_b|s - 1) / p_s,

and with D(c, d) the sum, over clusters, of the products of the weights that they have in both cells,

    mean = n / W^2 * trace(K D),     variance = 2 (n / W^2)^2 * trace(K D K D).

Where every row is a cluster by itself, D is diagonal and holds the cells' sums of squared weights. Without
weights and clusters the mean is the degrees of freedom, (R - 1)(C - 1) in each stratum. The mean is the
correction of the first order, and the variance that of the second (Satterthwaite's), which matters far out in
the tail, where searches decide. Both are estimates from as many units as there are clusters, so the tail is
that of an F law with these (Thomas and Rao 1987).

This is the law of large counts. Where cells are sparse it does not hold, and no p-value is given.

References
----------
Rao and Scott (1984), On chi-squared tests for multiway contingency tables. Annals of Statistics 12.
Thomas and Rao (1987), Small-sample comparisons of level and power. Journal of the American Statistical
Association 82.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted
from xordal.graph.chain import Addition
from xordal.statistics.moments import Moments
from xordal.types.varsets import members

Floats = NDArray[np.float64]

LEAST_ROWS = 5.0
"""Effective rows that a cell must hold on average, for the law of large counts to be trusted."""

_MOST_CELLS = 2_000  # occupied ones: the kernel has as many rows and columns
_LEAST_CLUSTERS = 4.0  # for each degree of freedom: the spread over clusters is estimated from them


class SampleDesign:
    """What weights and clusters do to the G2 of steps in one table.

    Parameters
    ----------
    table
        The rows, with their design.

    Examples
    --------
    >>> from xordal.data.design import Design
    >>> rows = [(a, b) for a in (0, 1) for b in (0, 1)] * 50
    >>> heavy = np.tile([1.0, 3.0], 100)
    >>> table = CategoricalTable.from_rows("ab", rows, design=Design(heavy))
    >>> round(SampleDesign(table).effective_rows)
    160
    """

    def __init__(self, table: CategoricalTable) -> None:
        assert table.design is not None
        self._codes, self._n_levels = table.codes, table.n_levels
        self._n_rows = table.n_rows
        own = table.design.weights
        if own is None:
            own = np.ones(table.codes.shape[1]) if table.weights is None else table.weights.astype(np.float64)
        self._weights: Floats = own / own.sum()
        self._clusters: NDArray[np.int64] | None = None
        if table.design.clusters is not None:
            self._clusters = np.unique(table.design.clusters, return_inverse=True)[1].reshape(-1)
        self.n_units = self._units()
        self.effective_rows = self._n_rows / max(1.0, *map(self._effect, range(table.n_variables)))

    def moments(self, steps: Iterable[Addition]) -> dict[Addition, Moments]:
        """Return mean and variance of the G2 of steps whose link is absent; infinite where cells are sparse."""
        return {step: self._moments(step) for step in steps}

    def is_sparse(self, n_cells: int, dof: int) -> bool:
        """Whether a table of so many cells is too sparse for the law of large counts."""
        if self._clusters is not None and dof * _LEAST_CLUSTERS > self.n_units:
            return True
        return self.effective_rows < LEAST_ROWS * n_cells

    def _units(self) -> float:
        """Return from how many units the spread is estimated: clusters, or rows as equal weights would have."""
        if self._clusters is None:
            return float(1 / (self._weights**2).sum())
        return float(self._clusters.max() + 1)

    def _effect(self, v: int) -> float:
        """Return by how much the variance of a column's shares is larger than that of as many plain rows."""
        _, shares, products = self._cells((v,))
        if len(shares) < 2:
            return 1.0
        kernel = np.diag(1 / shares) - 1
        return float(self._n_rows * (kernel * products).sum() / (len(shares) - 1))

    def _cells(self, variables: tuple[int, ...]) -> tuple[NDArray[np.int32], Floats, Floats]:
        """Return the occupied cells of some variables, their shares, and products of weights over clusters."""
        chosen = self._codes[list(variables)]
        cells, place = np.unique(chosen, axis=1, return_inverse=True)
        place = place.reshape(-1)
        n_cells = cells.shape[1]
        shares: Floats = np.bincount(place, self._weights, n_cells).astype(np.float64)
        if self._clusters is None:
            squares: Floats = np.bincount(place, self._weights**2, n_cells).astype(np.float64)
            return cells, shares, np.diag(squares)
        n_clusters = int(self._clusters.max()) + 1
        flat = np.bincount(place * n_clusters + self._clusters, self._weights, minlength=n_cells * n_clusters)
        by_cluster: Floats = flat.astype(np.float64).reshape(n_cells, n_clusters)
        return cells, shares, by_cluster @ by_cluster.T

    def _moments(self, step: Addition) -> Moments:
        x, y, separator = step
        inside = members(separator)
        n_x, n_y = self._n_levels[x], self._n_levels[y]
        n_strata = prod(self._n_levels[v] for v in inside)
        if self.is_sparse(n_x * n_y * n_strata, (n_x - 1) * (n_y - 1) * n_strata):
            return Moments(inf, inf)
        cells, shares, products = self._cells((*inside, x, y))
        if len(shares) > _MOST_CELLS:
            return Moments(inf, inf)
        both = self._kernel(cells, shares) @ products
        mean = self._n_rows * float(np.trace(both))
        variance = 2 * self._n_rows**2 * float((both * both.T).sum())
        return Moments(mean, variance, self.n_units - 1)

    def _kernel(self, cells: NDArray[np.int32], shares: Floats) -> Floats:
        """Return how two rows go together, for each pair of occupied cells; the last variables are x and y."""
        stratum = _numbered(cells[:-2], cells.shape[1])
        of_stratum = np.bincount(stratum, weights=shares)[stratum]
        kernel = (stratum[:, None] == stratum) / of_stratum
        for at in (-2, -1):
            level = _numbered(np.vstack([cells[:-2], cells[at]]), cells.shape[1])
            given = np.bincount(level, weights=shares)[level] / of_stratum
            kernel = kernel * ((level[:, None] == level) / given - 1)
        return np.asarray(kernel)


def tell_sparse(
    design: SampleDesign, names: Sequence[str], n_levels: Sequence[int], notice: Callable[[str], None]
) -> None:
    """Say which columns have too many levels for any p-value, were they linked with one of two levels.

    Raises
    ------
    DataError
        If that is so of every pair of columns.
    """
    pairs = list(combinations(range(len(names)), 2))
    sparse = [
        (u, v) for u, v in pairs
        if design.is_sparse(n_levels[u] * n_levels[v], (n_levels[u] - 1) * (n_levels[v] - 1))
    ]  # fmt: skip
    if not sparse:
        return
    rows = f"{design.effective_rows:,.0f} effective rows"
    if len(sparse) == len(pairs):
        raise DataError(
            f"With fractional weights or clusters no p-value can be given here: {rows} are too few for any two "
            "columns, fewer than 5 for each cell. Merge rare levels (--merge-rare), cut numbers into fewer "
            "bins (--bins 2), or learn by a score (--bic)."
        )
    often = Counter(v for pair in sparse for v in pair).most_common(3)
    told = ", ".join(repr(names[v]) for v, _ in often)
    notice(
        f"{counted(len(sparse), 'pair')} of columns, most with {told}, cannot be linked: their cells hold "
        f"fewer than 5 of {rows}, too few for a p-value with fractional weights or clusters. --merge-rare "
        "makes fewer levels; --bic learns by a score."
    )


def _numbered(columns: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Return a number for each distinct column of codes."""
    if len(columns) == 0:
        return np.zeros(n, dtype=np.int64)
    return np.unique(columns, axis=1, return_inverse=True)[1].reshape(-1)
