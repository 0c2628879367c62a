"""Entropies from the counts of any counter, scans from the entropies of any oracle: short and exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain, combinations, islice
from math import comb, fsum

import numpy as np
from numpy.typing import NDArray

from xordal.counting.best import Best
from xordal.counting.finalize import entropy
from xordal.counting.measures import measured
from xordal.counting.oracle import (
    ROUNDING,
    Bar,
    CachedOracle,
    CellCounter,
    CellCounts,
    EntropyOracle,
    Measure,
    ScanBlock,
)
from xordal.types.varsets import EMPTY, VarSet, varset

_BATCH = 4096  # sets asked for at once
_BLOCK = 256  # sets up to which a block takes in another first: told at least so often
_CHEAP = 1 << 14  # rows of sets that NumPy counts in about the time a call costs
_SMALL = 4  # variables of the sets that most searches ask for
_GOOD_PART = 8  # sets of a size for each that is asked for
_REMEMBERED = 100_000  # entropies, about 15 MB of them


class PlainScanner:
    """Scans by asking for every entropy."""

    error: float = ROUNDING

    def __init__(self, oracle: EntropyOracle, n_levels: tuple[int, ...]) -> None:
        self._oracle = oracle
        self._n_levels = n_levels

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
        """Yield the sets of ``order`` variables that reach the bar, up to rounding; interactions by a bound."""
        best = Best(
            None if measure == "interaction" else top, 2 * self.error
        )  # a bound is not known to be reached
        others = [v for v in range(len(self._n_levels)) if not base >> v & 1]
        n_begin = {first: comb(len(others) - at - 1, order - 1) for at, first in enumerate(others)}
        for firsts in _groups([first for first in others if first not in done], n_begin):
            every = chain.from_iterable(
                ((first, *rest) for rest in combinations([v for v in others if v > first], order - 1))
                for first in firsts
            )
            n_left, found = sum(n_begin[first] for first in firsts), []
            for block in _blocks(every):
                reaching = self._reaching(block, at_least, base, measure, best)
                if top is not None and len(block) < n_left:
                    n_left -= len(block)
                    yield ScanBlock((), *reaching, len(block))
                else:
                    found.append(reaching)
            sets = np.concatenate([np.empty((0, order), np.int32), *(sets for sets, _ in found)])
            shared = np.concatenate([np.empty(0), *(shared for _, shared in found)])
            yield ScanBlock(tuple(firsts), sets, shared, n_left)

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return I(v; base) in nats, shape (bases, variables); zero for the variables of a base."""
        n = len(self._n_levels)
        found = np.zeros((len(bases), n))
        rows = max(1, _BATCH // max(n, 1))
        for start in range(0, len(bases), rows):
            block = bases[start : start + rows]
            found[start : start + rows] = self._with_each(block, n)
        return found

    def _with_each(self, bases: Sequence[VarSet], n: int) -> list[list[float]]:
        """Return for each base what each of n variables shares with it."""
        singles = [VarSet(1 << v) for v in range(n)]
        wholes = [VarSet(base | single) for base in bases for single in singles]
        known = self._oracle.entropies([*singles, *bases, *wholes]).tolist()
        alone, of_bases, of_wholes = known[:n], known[n : n + len(bases)], iter(known[n + len(bases) :])
        return [
            [  # what a variable shares with a base that holds it is not asked for
                max(fsum((of_base, of_single, -of_whole)), 0.0) if not base & single else 0.0
                for single, of_single, of_whole in zip(singles, alone, of_wholes, strict=False)
            ]
            for base, of_base in zip(bases, of_bases, strict=True)
        ]

    def _reaching(
        self, block: Sequence[tuple[int, ...]], at_least: Bar, base: VarSet, measure: Measure, best: Best
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return those of some sets that reach the bar, and what was measured of them."""
        sets = np.array(block, dtype=np.int32)
        if measure == "total":
            shared = self._totals(sets, base)
        else:
            shared = measured(measure, sets, base != EMPTY, lambda some, based: self._of(some, base * based))
        bars, levels = self._bars(sets, at_least, best)
        reach = shared >= bars - ROUNDING
        for shape in set(levels) if best.top is not None else ():
            best.take(shape, shared[reach & np.array([one == shape for one in levels])])
        return sets[reach], shared[reach]

    def _totals(self, sets: NDArray[np.int32], base: VarSet) -> NDArray[np.float64]:
        """Return the total correlation of each set with the base, in one question to the oracle."""
        n = len(self._n_levels)
        singles = [VarSet(1 << v) for v in range(n)]
        together = [VarSet(base | varset(chosen)) for chosen in sets.tolist()]
        known = self._oracle.entropies([*singles, base, *together])
        return np.asarray(known[n] + known[:n][sets].sum(axis=1) - known[n + 1 :])

    def _of(self, sets: NDArray[np.int32], base: int) -> NDArray[np.float64]:
        """Return the entropy of each set together with a base."""
        return self._oracle.entropies([VarSet(base | varset(chosen)) for chosen in sets.tolist()])

    def _bars(
        self, sets: NDArray[np.int32], at_least: Bar, best: Best
    ) -> tuple[NDArray[np.float64], list[tuple[int, ...]]]:
        """Return the bar of each set, raised to what the best reach, and its numbers of levels."""
        if len(set(self._n_levels)) == 1:
            shape = (self._n_levels[0],) * sets.shape[1]
            return np.full(len(sets), max(at_least(shape), best.floor(shape))), [shape] * len(sets)
        levels = [tuple(one) for one in np.sort(np.array(self._n_levels)[sets], axis=1).tolist()]
        bars = {shape: max(at_least(shape), best.floor(shape)) for shape in set(levels)}
        return np.array([bars[shape] for shape in levels]), levels


def _blocks(every: Iterator[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    while block := list(islice(every, _BATCH)):
        yield block


def _groups(firsts: Sequence[int], n_begin: dict[int, int]) -> Iterator[list[int]]:
    """Yield the firsts in groups, so that few sets are asked for together and many alone."""
    group: list[int] = []
    n_sets = 0
    for first in firsts:
        if group and n_sets + n_begin[first] > _BLOCK:
            yield group
            group, n_sets = [], 0
        group.append(first)
        n_sets += n_begin[first]
    if group:
        yield group


class CountingOracle:
    """Entropies and scans from the counts of any counter; a counter that knows entropies is asked for those."""

    error: float = ROUNDING

    def __init__(self, counter: CellCounter, n_levels: tuple[int, ...]) -> None:
        self._counter = counter
        inner = counter if isinstance(counter, EntropyOracle) else _Finalized(counter)
        self._n_variables = len(n_levels)
        self._most_at_once = _CHEAP // max(getattr(counter, "n_distinct", _CHEAP), 1)
        self._is_first = True
        self._entropies = CachedOracle(inner, _REMEMBERED, self._with_siblings)
        self._scanner = PlainScanner(self._entropies, n_levels)

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        return self._counter.counts(sets)

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        return self._entropies.entropies(sets)

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
        """Yield the sets of ``order`` variables that reach the bar, up to rounding; interactions by a bound."""
        return self._scanner.scan(order, at_least, measure=measure, top=top, base=base, done=done)

    def extensions(self, bases: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return what each variable shares with each base, right to about 1e-14 nats."""
        return self._scanner.extensions(bases)

    def _with_siblings(self, new: list[VarSet]) -> list[VarSet]:
        """Add sets that will be asked for too, where these are few and cheap.

        At first these are all small ones; later those of the sizes that are asked for in good part already.
        """
        wider = dict.fromkeys(new)
        if self._is_first:
            self._is_first = False
            if sum(comb(self._n_variables, size) for size in range(_SMALL + 1)) <= self._most_at_once:
                for size in range(_SMALL + 1):
                    wider.update(dict.fromkeys(_sets_of(self._n_variables, size)))
                return list(wider)
        for size, n_new in Counter(s.bit_count() for s in new).items():
            n_sets = comb(self._n_variables, size)
            if n_sets <= min(_GOOD_PART * n_new, self._most_at_once):
                wider.update(dict.fromkeys(_sets_of(self._n_variables, size)))
        return list(wider)


@lru_cache(maxsize=64)
def _sets_of(n_variables: int, size: int) -> tuple[VarSet, ...]:
    return tuple(map(varset, combinations(range(n_variables), size)))


class _Finalized:
    """The entropies of a counter that only counts."""

    def __init__(self, counter: CellCounter) -> None:
        self._counter = counter

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        return np.array([entropy(table.counts) for table in self._counter.counts(sets)], dtype=np.float64)
