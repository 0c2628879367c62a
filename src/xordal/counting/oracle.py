"""The line between "which entropies" and "how they are counted".

Search, statistics and models ask through these protocols and never learn who answers: NumPy, a JIT, a cluster
or an exact distribution. The batch is the unit, one call per pass or block of candidates.

* :class:`CellCounter` counts rows. Counts are exact and those of row blocks add up.
* :class:`EntropyOracle` answers in nats, always through :mod:`xordal.counting.finalize`.
* :class:`Scanner` looks at all sets of m variables and returns those that can reach a bar in one of three
  measures. It is a filter: it may return too many sets, never too few; exact numbers come from the oracle. It
  also says what every variable shares with given sets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from xordal.types.varsets import EMPTY, VarSet

ROUNDING = 1e-12
"""Information this close is equal, in nats: exactly independent tables share up to about 1e-15."""

FEW_CELLS = 1024
"""Cells of a small table: however few the rows, it may be counted in full."""

_FEW_NUMBERS = 16  # times the cells: to sort these takes longer than to go through so many numbers


@lru_cache(maxsize=256)
def cells_of(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the level codes of all cells of a small table, in the order of their numbers, to be read only.

    Examples
    --------
    >>> cells_of((2, 2)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    numbers = np.arange(prod(shape))
    cells = np.empty((len(numbers), len(shape)), dtype=np.int64)
    for place in reversed(range(len(shape))):
        numbers, cells[:, place] = np.divmod(numbers, shape[place])
    cells.setflags(write=False)
    return cells


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
        if np.array_equal(self.cells, other.cells):  # as a rule, where tables are small and blocks are long
            return CellCounts(self.cells, self.counts + other.counts)
        cells, place = np.unique(np.concatenate([self.cells, other.cells]), axis=0, return_inverse=True)
        counts = np.zeros(len(cells), dtype=np.int64)
        np.add.at(counts, place.reshape(-1), np.concatenate([self.counts, other.counts]))
        return CellCounts(cells, counts)

    def over(self, places: Sequence[int]) -> CellCounts:
        """Return the counts of some of the variables, given by their places: the others are summed out."""
        number = self.numbered(places)
        occurring, first = np.unique(number, return_index=True)
        counts = np.bincount(number, weights=self.counts)[occurring].astype(np.int64)  # sums stay below 2^53
        return CellCounts(self.cells[first][:, list(places)], counts)

    def numbered(self, places: Sequence[int]) -> NDArray[np.int64]:
        """Return a number for each cell, equal where cells agree in some of the variables; lexicographic.

        No number is much larger than there are cells: beginnings are numbered anew where few of them occur.

        >>> CellCounts(np.array([[0, 0, 1], [0, 2, 1], [1, 2, 0]]), np.array([5, 3, 2])).numbered([0, 2])
        array([1, 1, 2])
        """
        number, n_numbers = np.zeros(len(self.cells), dtype=np.int64), 1
        for place in places:
            column = self.cells[:, place]
            width = int(column.max(initial=0)) + 1
            number, n_numbers = number * width + column, n_numbers * width
            if n_numbers > _FEW_NUMBERS * (len(number) + _FEW_NUMBERS):
                occurring, number = np.unique(number, return_inverse=True)
                number, n_numbers = number.reshape(-1), len(occurring)
        return number


@runtime_checkable
class CellCounter(Protocol):
    """Counts the cells of variable sets."""

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        ...


@runtime_checkable
class EntropyOracle(Protocol):
    """Knows the entropy of variable sets."""

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        ...


Bar = Callable[[tuple[int, ...]], float]
"""From the numbers of levels of a set's variables, in increasing order, to the nats it must reach."""

Measure = Literal["total", "needed", "interaction"]
"""What is measured of a set W of variables, in nats, each no larger than the one before it:

* ``"total"``, all they share, the total correlation: the sum of H(v) less H(W);
* ``"needed"``, what the least needed variable adds: the smallest I(v; W without v) over v in W;
* ``"interaction"``, what no smaller set shows: the divergence of the data from the distribution of largest
  entropy that agrees with them on every proper subset of W. Of a pair all three are the mutual information.

Take x, y and z with z = x xor y of fair coins: all three are log 2. Take z = x instead and y apart: the total
is log 2, but y is not needed and there is no interaction.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ScanBlock:
    """What a scan found among the sets that begin with certain variables.

    Attributes
    ----------
    firsts
        The lowest variables of the sets looked at: all sets that begin with one of these are done, with this
        block. A scan for the best so many may cut the sets of one variable into blocks; all but the last of
        these then name none.
    sets
        Shape (found, order): variables in increasing order, rows lexicographic.
    shared
        Shape (found,): what was measured of each set, in nats, as the filter saw it: never more than ``error``
        below what it is. Of ``"interaction"`` it may be a bound that lies above it.
    n_scanned
        How many sets were looked at.
    """

    firsts: tuple[int, ...]
    sets: NDArray[np.int32]
    shared: NDArray[np.float64]
    n_scanned: int


class Scanner(Protocol):
    """Finds the variable sets of one size that matter.

    ``error`` is by how many nats what it says of a set may be off.
    """

    error: float

    def scan(
        self,
        order: int,
        at_least: Bar,
        *,
        measure: Measure = "total",
        top: int | None = None,
        base: VarSet = EMPTY,
        done: Collection[int] = (),
    ) -> Iterator[ScanBlock]:
        """Yield, block by block, all sets of ``order`` variables that can reach the bar.

        Parameters
        ----------
        order
            Number of variables of a set, the base not counted.
        at_least
            The nats that a set must reach, by the levels of its variables, the base not among them.
        measure
            What must reach them.
        top
            The caller wants the best ``top`` sets only, of each combination of numbers of levels by itself. The
            scanner may then leave out a set that is below ``top`` others with the same numbers of levels, by
            more than its error, if it has returned these or will. One that returns all sets that reach the bar
            is right, too.
        base
            Takes part in every set as one more variable, whose levels are its cells: W is the base and the set.
            The sets hold none of its variables.
        done
            Lowest variables of sets that need not be looked at, from blocks of an earlier scan.

        Yields
        ------
        ScanBlock
            Blocks whose ``firsts`` are in increasing order, none of them twice, all but those that are done.
        """
        ...

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what each variable v shares with each base, I(v; base), shape (bases, variables), in nats.

        It is 0 for variables of the base and never negative.
        """
        ...


@runtime_checkable
class TableOracle(CellCounter, EntropyOracle, Scanner, Protocol):
    """All that a backend knows of a table."""


class CachedOracle:
    """Remembers the entropies that an inner oracle has answered: all, or some of the last ``most``.

    ``widen`` may add to the sets that are new others that will be asked for and cost little in the same call.
    """

    def __init__(
        self,
        inner: EntropyOracle,
        most: int | None = None,
        widen: Callable[[list[VarSet]], list[VarSet]] = lambda new: new,
    ) -> None:
        self._inner = inner
        self._most = most
        self._widen = widen
        self._known: dict[VarSet, float] = {}

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats, asking the inner oracle once per distinct set."""
        try:
            return np.array([self._known[s] for s in sets], dtype=np.float64)
        except KeyError:
            new = [s for s in dict.fromkeys(sets) if s not in self._known]
        if self._most is not None and len(self._known) + len(new) > self._most:
            self._known.clear()
            new = list(dict.fromkeys(sets))
        new = self._widen(new)
        self._known.update(zip(new, self._inner.entropies(new).tolist(), strict=True))
        return np.array([self._known[s] for s in sets], dtype=np.float64)
