"""Sets without a link inside, found by one scan of all sets of their size.

A set whose variables lie in different components gains its total correlation, whatever the graph looks like. So
one scan serves the whole search: :class:`Free` has these sets. Once two of its variables are connected, though
not linked, such a set can be completed only with fill-in, if at all: :class:`Unlinked` has those. Both look at
what the same :class:`SetScan` found; which of them has a set depends on the graph alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import chain, repeat
from math import inf

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import ScanBlock
from xordal.scanning.trees import least_beyond_pairs
from xordal.search.problem import Problem
from xordal.search.shapes import free_shape
from xordal.search.sources import Tell
from xordal.search.sources.bounded import BoundedSets, are_apart
from xordal.search.state import Change, Labels
from xordal.types.varsets import VarSet, members, varset

_MOST_KEPT = 200_000  # sets of a block; one that found more is scanned again rather than kept
MOST_WAITING = 4_000_000  # sets of one size that wait to be scored, 20 to 50 bytes each

_FEW = 8  # of the variables one in so many, at most, is looked up rather than all sets looked through

Sets = NDArray[np.int32]


class SetScan:
    """The scan of all sets of one size for those that may be accepted where they have no link and no context.

    The bar is that of free sets and of nothing else, so that everybody who asks gets the same sets. Blocks are
    remembered: an earlier run may have scanned some, and they may be looked through more than once. Where many
    pairs are strong a block holds more than is remembered, and a scan of many columns takes long; so both who
    look through all of it at first, :class:`Free` and :class:`Unlinked`, do so in one scan.
    """

    def __init__(self, problem: Problem, size: int, tell: Tell) -> None:
        self.problem, self.size, self.tell = problem, size, tell
        self._known = list(problem.known_blocks.get(size, ()))
        self._is_counted = False
        self._unlinked: Sets | None = None
        self.has_unlinked = False
        """Whether somebody will ask for :attr:`unlinked`."""

    @property
    def unlinked(self) -> Sets:
        """The sets that may be admitted once they are not free."""
        self.has_unlinked = True
        if self._unlinked is None:
            for _ in self.blocks():
                pass
        assert self._unlinked is not None
        return self._unlinked

    def blocks(self) -> Iterator[ScanBlock]:
        """Yield what was found, by groups of first variables; what is looked at is told once."""
        done = {first for block in self._known for first in block.firsts}
        scanned = self.problem.scanner.scan(self.size, self.problem.shapes.bar(free_shape), done=done)
        is_first, self._is_counted = not self._is_counted, True
        self.tell(0, self.size)  # from now on its time is taken
        blocks = chain(zip(repeat(False), list(self._known)), zip(repeat(True), scanned))
        is_wanted = self.has_unlinked and self._unlinked is None
        unlinked = [np.empty((0, self.size), np.int32)] if is_wanted else None
        while True:
            with self.problem.watch.phases.of("scanning"):
                is_new, block = next(blocks, (False, None))
            if block is None:
                self._unlinked = self._unlinked if unlinked is None else np.concatenate(unlinked)
                return
            if unlinked is not None:
                unlinked.append(self._unlinked_of(block))
            if is_new and len(block.sets) <= _MOST_KEPT:
                self.problem.on_scanned(self.size, block)
                self._known.append(block)
            yield block
            self.tell(block.n_scanned * is_first, self.size)

    def _unlinked_of(self, block: ScanBlock) -> Sets:
        """Return the sets of a block that may be admitted once they are not free."""
        sets, problem = block.sets, self.problem
        if self.size == 2:
            return sets
        beyond = least_beyond_pairs(sets, block.shared, self._pairs) + (self.size + 1) * problem.scanner.error
        bars = problem.shapes.least_gains(free_shape, problem.shapes.levels(sets))
        return np.asarray(sets[(beyond >= bars) | (bars <= 0)])  # where no gain is too small, none is ruled out

    @cached_property
    def _pairs(self) -> NDArray[np.float64]:
        """What each two variables share."""
        n_variables = len(self.problem.n_levels)
        return self.problem.scanner.extensions([VarSet(1 << v) for v in range(n_variables)])


class Free:
    """The scanned sets whose variables lie in different components."""

    def __init__(self, scan: SetScan) -> None:
        self._scan = scan
        self._is_scanned = False

    def fresh(self, change: Change) -> Iterator[BoundedSets]:
        """Yield them all at first, later those that a split of components has set free again."""
        if not self._is_scanned:
            self._is_scanned = True
            yield self._best(change.labels[1])
        elif change.split:
            yield self._best(change.labels[1], connected=change.labels[0])

    def _best(self, labels: Labels, connected: Labels | None = None, below: float = inf) -> BoundedSets:
        """Return the best of the free sets; what is too much to keep is scanned for when it is needed.

        ``labels`` number the components. With ``connected``, those of an earlier graph, only sets that were not
        free in it; with ``below``, only sets that cannot rank higher.
        """
        sets, uppers, cut = np.empty((0, self._scan.size), np.int32), np.empty(0), -inf
        found: list[tuple[Sets, NDArray[np.float64]]] = []
        n_found = 0
        for block in self._scan.blocks():
            is_free = are_apart(labels[block.sets])
            if connected is not None:
                is_free &= ~are_apart(connected[block.sets])
            upper = self._upper(block.sets[is_free], block.shared[is_free])
            may = (upper > -inf) & (upper <= below)
            found.append((block.sets[is_free][may], upper[may]))
            n_found += len(found[-1][1])
            if n_found > MOST_WAITING:
                sets, uppers, cut = _best_of([(sets, uppers), *found], cut)
                found, n_found = [], 0
        sets, uppers, cut = _best_of([(sets, uppers), *found], cut)
        more = partial(self._best, connected=connected, below=cut)
        return BoundedSets(sets, uppers, are_apart=True, cut=cut, more=more)

    def _upper(self, sets: Sets, shared: NDArray[np.float64]) -> NDArray[np.float64]:
        problem = self._scan.problem
        return problem.shapes.highest(free_shape, problem.shapes.levels(sets), shared + problem.scanner.error)


def _best_of(
    found: list[tuple[Sets, NDArray[np.float64]]], cut: float
) -> tuple[Sets, NDArray[np.float64], float]:
    """Return the best sets, so many as can wait unless more are equal, and the rank of the next best."""
    sets, upper = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if len(upper) <= MOST_WAITING:
        return sets, upper, cut
    least = np.partition(upper, -MOST_WAITING)[-MOST_WAITING]
    best = upper > least if (upper > least).any() else upper >= least
    return sets[best], upper[best], max(cut, float(upper[~best].max(initial=-inf)))


class Unlinked:
    """The scanned sets without a link inside of which two or more variables lie in one component.

    Of these only such are of interest as their own variables may admit with fill-in
    (:mod:`xordal.search.completing`): each two of them share enough more given the rest than by themselves.
    """

    def __init__(self, scan: SetScan) -> None:
        self._scan = scan
        scan.has_unlinked = True

    def fresh(self, change: Change) -> Iterator[BoundedSets]:
        """Yield those that are no longer free, or have lost a link inside."""
        if not change.regrouped and not change.removed:
            return
        sets, after = self._near(VarSet(change.regrouped | change.ends)), change.after
        is_new, is_free = (are_apart(labels[sets]) for labels in change.labels)
        for link in change.removed:
            is_new |= np.isin(sets, link).sum(axis=1) == 2
        found = map(varset, sets[is_new & ~is_free].tolist())
        yield BoundedSets.each([s for s in found if not any(after.neighbours[v] & s for v in members(s))])

    def _near(self, variables: VarSet) -> Sets:
        """Return the sets that hold one of some variables: a step leaves most others as they are."""
        sets, chosen = self._scan.unlinked, members(variables)
        if len(chosen) * _FEW > len(self._scan.problem.n_levels):
            return sets
        places, begins = self._places
        rows = [places[begins[v] : begins[v + 1]] for v in chosen]
        return np.asarray(sets[np.unique(np.concatenate(rows))])

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of the sets by the variables they hold, and where those of each variable begin."""
        sets = self._scan.unlinked
        counts = np.bincount(sets.reshape(-1), minlength=len(self._scan.problem.n_levels))
        rows = np.argsort(sets.reshape(-1), kind="stable") // self._scan.size
        return rows, np.concatenate([[0], np.cumsum(counts)])
