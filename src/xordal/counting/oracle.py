"""The line between "which entropies" and "how they are counted".

Search, statistics and models ask through these protocols and never learn who answers: NumPy, a JIT, a cluster
or an exact distribution. The batch is the unit, one call per pass or block of candidates.

* :class:`CellCounter` counts rows. Counts are exact and those of row blocks add up.
* :class:`EntropyOracle` answers in nats, always through :mod:`xordal.counting.finalize`.
* :class:`Scanner` finds the m-sets whose total correlation can reach a bound. It is a filter: it may return
  sets that miss the bound, never miss one that reaches it; exact numbers come from the oracle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.total_correlation import total_correlations
from xordal.types import VarSet, varset

_SCAN_BLOCK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts:
    """The occupied cells of the table over one variable set.

    Attributes
    ----------
    cells
        Shape (occupied, variables): level codes, variables in increasing order, rows lexicographic.
    counts
        Shape (occupied,): how many rows fall into each cell; all positive.
    """

    cells: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __add__(self, other: CellCounts) -> CellCounts:
        """Merge the counts of two row blocks."""
        cells, place = np.unique(np.concatenate([self.cells, other.cells]), axis=0, return_inverse=True)
        counts = np.zeros(len(cells), dtype=np.int64)
        np.add.at(counts, place.reshape(-1), np.concatenate([self.counts, other.counts]))
        return CellCounts(cells, counts)

    def over(self, places: Sequence[int]) -> CellCounts:
        """Return the counts of some of the variables, given by their places: the others are summed out."""
        part = self.cells[:, list(places)]
        number = np.zeros(len(part), dtype=np.int64)
        for column in part.T:  # numbering the beginnings that occur, so that no number of cells is too large
            number = np.unique(number * (column.max() + 1) + column, return_inverse=True)[1].reshape(-1)
        first = np.unique(number, return_index=True)[1]
        counts = np.bincount(number, weights=self.counts).astype(np.int64)  # sums stay below 2^53
        return CellCounts(part[first], counts)


class CellCounter(Protocol):
    """Counts the cells of variable sets."""

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        ...


class EntropyOracle(Protocol):
    """Knows the entropy of variable sets."""

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        ...


class Scanner(Protocol):
    """Finds the variable sets of one size that matter."""

    def scan(self, order: int, at_least: float) -> Iterator[VarSet]:
        """Yield, in lexicographic order, all sets of ``order`` variables that can reach the bound.

        The bound is on the total correlation, sum of H(v) minus H(set), in nats.
        """
        ...


class CountingOracle:
    """Entropies and scans from the counts of any counter."""

    def __init__(self, counter: CellCounter, n_variables: int) -> None:
        self._counter = counter
        self._n_variables = n_variables

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        return np.array([entropy(table.counts) for table in self._counter.counts(sets)], dtype=np.float64)

    def scan(self, order: int, at_least: float) -> Iterator[VarSet]:
        """Yield the sets of ``order`` variables whose total correlation is at least ``at_least``, exactly."""
        every = (varset(chosen) for chosen in combinations(range(self._n_variables), order))
        while block := list(islice(every, _SCAN_BLOCK)):
            for variables, shared in zip(block, total_correlations(self, block), strict=True):
                if shared >= at_least:
                    yield variables


class CachedOracle:
    """Remembers every entropy an inner oracle has answered."""

    def __init__(self, inner: EntropyOracle) -> None:
        self._inner = inner
        self._known: dict[VarSet, float] = {}

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats, asking the inner oracle once per distinct set."""
        new = [s for s in dict.fromkeys(sets) if s not in self._known]
        if new:
            self._known.update(zip(new, self._inner.entropies(new).tolist(), strict=True))
        return np.array([self._known[s] for s in sets], dtype=np.float64)
