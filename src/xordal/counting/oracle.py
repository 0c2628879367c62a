"""The line between "which entropies" and "how they are counted".

Search, statistics and models ask through these protocols and never learn who answers: NumPy, a JIT, a cluster
or an exact distribution. The batch is the unit, one call per pass or block of candidates.

* :class:`CellCounter` counts rows. Counts are exact and those of row blocks add up.
* :class:`EntropyOracle` answers in nats, always through :mod:`xordal.counting.finalize`.
* :class:`Scanner` finds the m-sets whose total correlation can reach a bar. It is a filter: it may return
  sets that miss the bar, never miss one that reaches it; exact numbers come from the oracle. It also says
  what every variable shares with given sets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, fsum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.total_correlation import total_correlations
from xordal.types import EMPTY, VarSet, varset

_SCAN_BLOCK = 4096

ROUNDING = 1e-12
"""Information this close is equal, in nats: exactly independent tables share up to about 1e-15."""


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


Bar = Callable[[tuple[int, ...]], float]
"""From the numbers of levels of a set's variables, in increasing order, to the nats it must reach."""


@dataclass(frozen=True, slots=True, eq=False)
class ScanBlock:
    """What a scan found among the sets that begin with certain variables.

    Attributes
    ----------
    firsts
        The lowest variables of the sets looked at: all sets that begin with one of these are done.
    sets
        Shape (found, order): variables in increasing order, rows lexicographic.
    shared
        Shape (found,): their total correlation in nats, as the filter saw it.
    n_scanned
        How many sets were looked at.
    """

    firsts: tuple[int, ...]
    sets: NDArray[np.int32]
    shared: NDArray[np.float64]
    n_scanned: int


class Scanner(Protocol):
    """Finds the variable sets of one size that matter."""

    def scan(
        self, order: int, at_least: Bar, *, base: VarSet = EMPTY, done: Collection[int] = ()
    ) -> Iterator[ScanBlock]:
        """Yield, block by block, all sets of ``order`` variables that can reach the bar.

        The bar is on the total correlation, sum of H(v) minus H(set), in nats. With a ``base`` the sets hold
        none of its variables and it takes part as one more variable whose levels are its cells: H(base) + sum
        of H(v) - H(base and set). Firsts that are ``done`` are left out; the others come in increasing order.
        """
        ...

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what each variable v shares with each base, I(v; base), shape (bases, variables), in nats.

        It is 0 for variables of the base and never negative. As a scan it is for choosing: backends say how far
        it may be from the exact number.
        """
        ...


class TableOracle(CellCounter, EntropyOracle, Scanner, Protocol):
    """All that a backend knows of a table."""


class CountingOracle:
    """Entropies and scans from the counts of any counter."""

    def __init__(self, counter: CellCounter, n_levels: tuple[int, ...]) -> None:
        self._counter = counter
        self._n_levels = n_levels

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        return np.array([entropy(table.counts) for table in self._counter.counts(sets)], dtype=np.float64)

    def scan(
        self, order: int, at_least: Bar, *, base: VarSet = EMPTY, done: Collection[int] = ()
    ) -> Iterator[ScanBlock]:
        """Yield the sets of ``order`` variables whose total correlation reaches the bar, exactly."""
        others = [v for v in range(len(self._n_levels)) if not base >> v & 1]
        for place, first in enumerate(others):
            if first not in done:
                every = ((first, *rest) for rest in combinations(others[place + 1 :], order - 1))
                found = self._reaching(every, at_least, base)
                yield ScanBlock((first,), *_as_arrays(found, order), comb(len(others) - place - 1, order - 1))

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        return self._counter.counts(sets)

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what each variable shares with each base, right to about 1e-14 nats."""
        n_variables = len(self._n_levels)
        alone = self.entropies([varset([v]) for v in range(n_variables)])
        shared = np.zeros((len(bases), n_variables))
        for place, base in enumerate(bases):
            others = [v for v in range(n_variables) if not base >> v & 1]
            of_base, *together = self.entropies([base, *(VarSet(base | 1 << v) for v in others)]).tolist()
            shared[place, others] = np.maximum(of_base + alone[others] - np.array(together), 0.0)
        return shared

    def _reaching(
        self, every: Iterator[tuple[int, ...]], at_least: Bar, base: VarSet
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        while block := list(islice(every, _SCAN_BLOCK)):
            for chosen, shared in zip(block, self._shared(block, base), strict=True):
                if shared >= at_least(tuple(sorted(self._n_levels[v] for v in chosen))) - ROUNDING:
                    yield chosen, shared

    def _shared(self, block: Sequence[tuple[int, ...]], base: VarSet) -> list[float]:
        """Return what the variables of each set share with each other and with the base."""
        if base == EMPTY:
            return total_correlations(self, [varset(chosen) for chosen in block])
        singles = sorted({v for chosen in block for v in chosen})
        alone = dict(zip(singles, self.entropies([varset([v]) for v in singles]).tolist(), strict=True))
        (of_base,) = self.entropies([base]).tolist()
        together = self.entropies([VarSet(base | varset(chosen)) for chosen in block]).tolist()
        return [
            fsum([of_base, *(alone[v] for v in chosen), -whole])
            for chosen, whole in zip(block, together, strict=True)
        ]


def _as_arrays(
    found: Iterator[tuple[tuple[int, ...], float]], order: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    kept = list(found)
    sets = np.array([chosen for chosen, _ in kept], dtype=np.int32).reshape(len(kept), order)
    return sets, np.array([shared for _, shared in kept], dtype=np.float64)


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
