"""Clique and separator tables from counts, smoothed so that they agree with one another.

The table over a variable set of c cells is estimated as ``(count + a / c) / (n + a)``: a prior of ``a`` rows,
the *equivalent sample size*, spread evenly over the cells. Summing a clique's table over some of its variables
gives exactly the table of the rest, since ``a / c`` summed over the cells that differ in those variables is
``a`` over the number of cells left. So the product of clique tables over separator tables is a distribution
that sums to one: the posterior mean under the hyper-Dirichlet prior (Dawid & Lauritzen 1993).

Tables hold occupied cells only; a cell never seen has the prior's share. ``a = 0`` gives the maximum-likelihood
tables, in which such a cell is impossible. The other smoothing is :mod:`xordal.model.backoff`; what all tables
can do is :class:`Table`, and what inference needs of a clique is :class:`Conditional`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounts
from xordal.model.smoothing import Smoothing
from xordal.types.varsets import VarSet, members


class Table(Protocol):
    """The distribution of a clique or a separator."""

    @property
    def variables(self) -> VarSet:
        """The variable set."""
        ...

    @property
    def counted(self) -> CellCounts:
        """Its occupied cells and their counts."""
        ...

    @property
    def n_cells(self) -> float:
        """Number of cells, occupied or not."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows counted."""
        ...

    @property
    def smoothing(self) -> Smoothing:
        """How it was smoothed."""
        ...

    def log_prob(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability of each row, from the codes of all columns, in nats."""
        ...

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> NDArray[np.float64]:
        """Return the log probabilities of all cells in which some variables have given levels."""
        ...

    def over(self, variables: VarSet, n_levels: Sequence[int]) -> Table:
        """Return the table of some of the variables."""
        ...

    def entropy(self) -> float:
        """Return the entropy in nats."""
        ...


class Looked(Table, Protocol):
    """A table in which cells can be looked up by the codes of its own variables."""

    def log_prob_of(self, chosen: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability of rows of codes of the table's variables, shape (variables, rows)."""
        ...


class Conditional(Protocol):
    """P(own variables | separator) of a clique."""

    @property
    def n_cells(self) -> float:
        """Number of cells of the clique."""
        ...

    def log_prob_of(self, chosen: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return its logarithm for rows of codes of the clique's variables, shape (variables, rows)."""
        ...

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> NDArray[np.float64]:
        """Return its logarithm for all cells in which some variables have given levels; others have an axis."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityTable:
    """The smoothed distribution of one variable set.

    Attributes
    ----------
    variables
        The variable set.
    counted
        Its occupied cells and their counts.
    n_cells
        Number of cells, occupied or not; a float, since it may be beyond any integer type.
    n_rows
        Number of rows counted.
    prior_rows
        The equivalent sample size.
    """

    variables: VarSet
    counted: CellCounts
    n_cells: float
    n_rows: int
    prior_rows: float

    @property
    def smoothing(self) -> Smoothing:
        """The equivalent sample size."""
        return self.prior_rows

    def log_prob(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability of each row in nats; -inf for impossible ones.

        Parameters
        ----------
        codes
            Shape (all columns, rows): level codes; a negative code is a level that was never seen.
        """
        return self.log_prob_of(np.asarray(codes[list(members(self.variables))]))

    def log_prob_of(self, chosen: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the same from the codes of the table's own variables alone, shape (variables, rows)."""
        counts = np.append(self.counted.counts, 0)[_places(self.counted.cells, chosen)]
        cells = counts + self.prior_rows / self.n_cells
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(cells) - np.log(self.n_rows + self.prior_rows)
        logs[(chosen < 0).any(axis=0)] = -np.inf
        return logs

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> NDArray[np.float64]:
        """Return the log probabilities of all cells in which some variables have given levels.

        One axis for each of the other variables, in increasing order; memory is that of those cells.
        """
        inside = members(self.variables)
        free = [place for place, v in enumerate(inside) if v not in observed]
        fixed = [place for place, v in enumerate(inside) if v in observed]
        here = (self.counted.cells[:, fixed] == [observed[inside[place]] for place in fixed]).all(axis=1)
        counts = np.zeros([1, *(n_levels[inside[place]] for place in free)])  # an axis even where none is free
        cells = self.counted.cells[here][:, free]
        counts[np.zeros(len(cells), dtype=np.int64), *cells.T] = self.counted.counts[here]
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(counts[0] + self.prior_rows / self.n_cells)
        return np.asarray(logs - np.log(self.n_rows + self.prior_rows))

    def over(self, variables: VarSet, n_levels: Sequence[int]) -> ProbabilityTable:
        """Return the table of some of the variables: the margin of this one, which smoothing leaves exact."""
        inside = members(self.variables)
        counted = self.counted.over([inside.index(v) for v in members(variables)])
        n_cells = prod(float(n_levels[v]) for v in members(variables))
        return ProbabilityTable(variables, counted, n_cells, self.n_rows, self.prior_rows)

    def entropy(self) -> float:
        """Return the entropy of the smoothed distribution, in nats; cells never seen have their share."""
        total = self.n_rows + self.prior_rows
        seen = (self.counted.counts + self.prior_rows / self.n_cells) / total
        unseen = self.n_cells - len(seen)
        share = self.prior_rows / self.n_cells / total
        rest = unseen * share * log(share) if unseen and share else 0.0
        return fsum((*(-seen * np.log(seen)).tolist(), -rest))


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """P(own variables | separator) as the table of a clique over that of its separator, None at a root."""

    whole: Looked
    separator: Looked | None

    @property
    def n_cells(self) -> float:
        """Number of cells of the clique."""
        return self.whole.n_cells

    def log_prob_of(self, chosen: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the logarithm for rows of codes of the clique's variables, shape (variables, rows)."""
        logs = self.whole.log_prob_of(chosen)
        if self.separator is None:
            return logs
        inside = members(self.whole.variables)
        places = [inside.index(v) for v in members(self.separator.variables)]
        return _difference(logs, self.separator.log_prob_of(chosen[places]))

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> NDArray[np.float64]:
        """Return the logarithm for all cells in which some variables have given levels."""
        table = self.whole.cut(observed, n_levels)
        if self.separator is None:
            return table
        inside = set(members(self.separator.variables))
        free = [v for v in members(self.whole.variables) if v not in observed]
        below = self.separator.cut({v: code for v, code in observed.items() if v in inside}, n_levels)
        return _difference(table, below.reshape([n_levels[v] if v in inside else 1 for v in free]))


def _difference(logs: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logs minus logs; what is impossible stays so."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(below), logs - below, -np.inf)


def probability_table(
    variables: VarSet, counted: CellCounts, n_levels: tuple[int, ...], prior_rows: float
) -> ProbabilityTable:
    """Return the smoothed table of a variable set from its counts."""
    n_cells = prod(float(n_levels[v]) for v in members(variables))
    return ProbabilityTable(variables, counted, n_cells, int(counted.counts.sum()), prior_rows)


def _places(cells: NDArray[np.int64], rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return where each row is in the list of occupied cells, one past the end for rows that are not.

    Cells are compared one variable at a time, numbering the beginnings that occur, so that no number of cells
    is too large.
    """
    start = Beginnings.none(len(cells), rows.shape[1])
    for position in range(cells.shape[1]):
        start = start.longer(cells[:, position], rows[position])
    # Cells are in lexicographic order, so the number of a whole cell is its place.
    return np.where(start.rows < 0, len(cells), start.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Beginnings:
    """The numbers of the levels that cells and rows begin with, of those beginnings that some cell has.

    Attributes
    ----------
    cells, rows
        The number of each cell's beginning, and of each row's; -1 for a row that begins as no cell does.
    """

    cells: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def none(cls, n_cells: int, n_rows: int) -> Beginnings:
        """Return beginnings of no level: all are equal."""
        return cls(np.zeros(n_cells, dtype=np.int64), np.zeros(n_rows, dtype=np.int64))

    def longer(self, cells: NDArray[np.int64], rows: NDArray[np.integer]) -> Beginnings:
        """Return the beginnings with one more variable, whose levels these are; numbered in their order."""
        width = int(max(cells.max(initial=0), rows.max(initial=0))) + 2
        known, of_cells = np.unique(self.cells * width + cells, return_inverse=True)
        wanted = np.where(self.rows < 0, -1, self.rows * width + rows)
        found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return Beginnings(of_cells, np.where((rows >= 0) & (known[found] == wanted), found, -1))
