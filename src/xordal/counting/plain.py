"""Entropies from the counts of any counter, scans from the entropies of any oracle: short and exact."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice
from math import comb, fsum

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.oracle import ROUNDING, Bar, CellCounter, CellCounts, EntropyOracle, ScanBlock
from xordal.types import EMPTY, VarSet, varset

_BLOCK = 4096


class PlainScanner:
    """Scans by asking for every entropy."""

    error: float = ROUNDING

    def __init__(self, oracle: EntropyOracle, n_levels: tuple[int, ...]) -> None:
        self._oracle = oracle
        self._n_levels = n_levels

    def scan(
        self, order: int, at_least: Bar, *, base: VarSet = EMPTY, done: Collection[int] = ()
    ) -> Iterator[ScanBlock]:
        """Yield the sets of ``order`` variables whose total correlation reaches the bar, exactly."""
        others = [v for v in range(len(self._n_levels)) if not base >> v & 1]
        for place, first in enumerate(others):
            if first not in done:
                every = ((first, *rest) for rest in combinations(others[place + 1 :], order - 1))
                found = list(self._reaching(every, at_least, base))
                sets = np.array([chosen for chosen, _ in found], dtype=np.int32).reshape(len(found), order)
                shared = np.array([shared for _, shared in found], dtype=np.float64)
                yield ScanBlock((first,), sets, shared, comb(len(others) - place - 1, order - 1))

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return I(v; base) in nats, shape (bases, variables); zero for the variables of a base."""
        found = np.zeros((len(bases), len(self._n_levels)))
        for row, base in enumerate(bases):
            others = [v for v in range(len(self._n_levels)) if not base >> v & 1]
            found[row, others] = np.maximum(self._shared([(v,) for v in others], base), 0.0)
        return found

    def _reaching(
        self, every: Iterator[tuple[int, ...]], at_least: Bar, base: VarSet
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        while block := list(islice(every, _BLOCK)):
            for chosen, shared in zip(block, self._shared(block, base), strict=True):
                if shared >= at_least(tuple(sorted(self._n_levels[v] for v in chosen))) - ROUNDING:
                    yield chosen, shared

    def _shared(self, block: Sequence[tuple[int, ...]], base: VarSet) -> list[float]:
        """Return what the variables of each set share with each other and with the base."""
        singles = sorted({v for chosen in block for v in chosen})
        alone = dict(zip(singles, self._entropies([varset([v]) for v in singles]), strict=True))
        (of_base,) = self._entropies([base])
        together = self._entropies([VarSet(base | varset(chosen)) for chosen in block])
        return [
            fsum([of_base, *(alone[v] for v in chosen), -whole])
            for chosen, whole in zip(block, together, strict=True)
        ]

    def _entropies(self, sets: Sequence[VarSet]) -> list[float]:
        return [float(h) for h in self._oracle.entropies(sets)]


class CountingOracle:
    """Entropies and scans from the counts of any counter."""

    error: float = ROUNDING

    def __init__(self, counter: CellCounter, n_levels: tuple[int, ...]) -> None:
        self._counter = counter
        self._scanner = PlainScanner(self, n_levels)

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        return self._counter.counts(sets)

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        return np.array([entropy(table.counts) for table in self._counter.counts(sets)], dtype=np.float64)

    def scan(
        self, order: int, at_least: Bar, *, base: VarSet = EMPTY, done: Collection[int] = ()
    ) -> Iterator[ScanBlock]:
        """Yield the sets of ``order`` variables whose total correlation reaches the bar, exactly."""
        return self._scanner.scan(order, at_least, base=base, done=done)

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what each variable shares with each base, right to about 1e-14 nats."""
        return self._scanner.extensions(bases)
