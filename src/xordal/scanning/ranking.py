"""All sets of m variables ranked: one scan, of which the best are kept.

The scanner is asked for the best so many sets of each combination of numbers of levels, by what they are ranked
by, and returns little more than these. They are looked through best first, by the scanner's number or bound,
until what is left cannot be among the best any more; the few of one block wait for those of the next. Exact
numbers are made from counts, and p-values of sets with few rows per cell from tables drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, islice
from math import comb, exp, inf, log, prod
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import ScanBlock, TableOracle
from xordal.errors import DataError
from xordal.statistics.chi_squared import log_tail, log_tail_of
from xordal.statistics.interaction import (
    interaction_dof,
    interactions,
    moments_of_interaction,
    moments_of_sharing,
)
from xordal.types.choices import RankBy
from xordal.types.varsets import EMPTY, VarSet, members, varset

_BATCH, _LARGEST_BATCH = 32, 4096  # sets made exact at a time, at first and when many must be
_MOST_CELLS = 1_000_000  # of a table that is fitted
_MOST_WAITING = 1 << 16  # cells of the sets that wait to be made exact together: a hundredth of a second
_MOST_AT_ONCE = (
    60_000_000  # sets that begin with one variable, some 30 bytes each when all may be among the best
)
_SPARSE = 20.0  # rows per cell below which the nominal degrees of freedom are not trusted
_N_DRAWS = 600  # tables drawn for a p-value: its standard deviations are then right to 3 %


@dataclass(frozen=True, slots=True)
class RankedSet:
    """A set of variables and what it shares.

    Attributes
    ----------
    variables
        The variables, in increasing order.
    total_correlation
        What they share in all, in nats.
    interaction
        The part of it that no smaller set of them shows, in nats.
    dof
        Degrees of freedom of what the sets are ranked by; where rows are few for the cells, effective ones.
    log_p_value
        Natural logarithm of the p-value of what they are ranked by.
    log_p_corrected
        The same, corrected for all sets that were looked at.
    """

    variables: VarSet
    total_correlation: float
    interaction: float
    dof: float
    log_p_value: float
    log_p_corrected: float

    @property
    def p_value(self) -> float:
        """The p-value; 0.0 where it underflows."""
        return exp(self.log_p_value)

    def __repr__(self) -> str:
        """Name the columns by their numbers: a set of a wide table, as one number, has thousands of digits."""
        return (
            f"RankedSet({members(self.variables)}, interaction={self.interaction:.6g}, "
            f"total_correlation={self.total_correlation:.6g}, p_value={self.p_value:.3g})"
        )

    @property
    def p_corrected(self) -> float:
        """The p-value corrected for all sets looked at; 0.0 where it underflows."""
        return exp(self.log_p_corrected)


@dataclass(frozen=True, slots=True)
class RankProgress:
    """How far a ranking is: sets looked at, of how many."""

    n_scanned: int
    n_sets: int


class Ranking:
    """The best sets of one size, as a scan goes on.

    Parameters
    ----------
    oracle
        Counts and scans.
    n_levels, n_rows
        Of the table.
    order
        Size of the sets.
    top
        How many to keep.
    target
        A variable that every set must hold.
    by
        ``"interaction"``: what no smaller set shows; ``"total"``: all that is shared.
    """

    def __init__(
        self,
        oracle: TableOracle,
        n_levels: tuple[int, ...],
        n_rows: int,
        order: int,
        *,
        top: int,
        target: int | None = None,
        by: RankBy = "interaction",
    ) -> None:
        self._oracle = oracle
        self._levels = np.array(n_levels)
        self._n_rows = n_rows
        self._order = order
        self._top = top
        self._target = target
        self._by = by
        self._best: list[RankedSet] = []
        self._waiting: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        self.n_scanned = 0
        self._largest = prod(sorted(n_levels)[-order:])
        if self._largest > _MOST_CELLS:
            raise DataError(
                f"The table of the {order} columns with most levels has {self._largest:,} cells; a scan takes "
                f"up to {_MOST_CELLS:,}. Leave out columns with many levels, or merge their rare ones."
            )
        others = len(n_levels) - (target is not None)
        at_once = comb(others - 1, order - 1 - (target is not None))
        # Of sets of four binary columns kernels keep the best alone, so there may be any number of them.
        keeps_the_best = order == 4 and target is None and max(n_levels) == 2
        if order > 3 and at_once > _MOST_AT_ONCE and not keeps_the_best:
            advice = "Choose" if target is not None else "Name a target, choose"
            raise DataError(
                f"Of {others} columns, one alone begins {at_once:,} sets of {order}; a scan holds up to "
                f"{_MOST_AT_ONCE:,} at a time. {advice} fewer columns, or a smaller order."
            )
        self.n_sets = comb(others, order - (target is not None))

    def run(
        self, on_progress: Callable[[RankProgress], None] = lambda progress: None, deadline: float = inf
    ) -> None:
        """Look at all sets, or as many as can be until a time of the clock ``time.monotonic``."""
        base = EMPTY if self._target is None else varset([self._target])
        order = self._order - (self._target is not None)
        on_progress(RankProgress(0, self.n_sets))
        for block in self._oracle.scan(order, self._bar, measure=self._by, top=self._top, base=base):
            before = self.n_scanned
            for share in self._look_through(block):
                self.n_scanned = before + int(share * block.n_scanned)
                on_progress(RankProgress(self.n_scanned, self.n_sets))
                if monotonic() > deadline:
                    return
            self.n_scanned = before + block.n_scanned
            on_progress(RankProgress(self.n_scanned, self.n_sets))
            if monotonic() > deadline:
                return
        self._look_at_waiting()
        self._fill_up()

    def best(self) -> tuple[RankedSet, ...]:
        """Return the best sets found so far, the most significant first."""
        self._look_at_waiting()
        checked = [self._by_simulation(found) if self._is_sparse(found) else found for found in self._best]
        return tuple(sorted(checked, key=_rank))

    @property
    def _floor(self) -> float:
        """The log p-value that a set must beat to be among the best; infinity while there is room."""
        return self._best[-1].log_p_value if len(self._best) == self._top else inf

    def _bar(self, levels: tuple[int, ...]) -> float:
        """Leave out the sets that hold a constant: nothing can be tested of them."""
        own = () if self._target is None else (int(self._levels[self._target]),)
        return -inf if self._dof((*levels, *own)) else inf

    def _fill_up(self) -> None:
        """Add sets of which nothing can be tested, the first of them, where there are too few others."""
        room = self._top - len(self._best)
        if not room:
            return
        untested = (
            chosen
            for chosen in combinations(range(len(self._levels)), self._order)
            if not self._dof(tuple(self._levels[list(chosen)].tolist()))
            and (self._target is None or self._target in chosen)
        )
        if added := list(islice(untested, room)):
            self._take(np.array(added, dtype=np.int32))

    def _dof(self, levels: tuple[int, ...]) -> int:
        if self._by == "interaction":
            return interaction_dof(levels)
        return prod(levels) - 1 - sum(r - 1 for r in levels)

    def _look_through(self, block: ScanBlock) -> Iterator[float]:
        """Make the sets of a block exact, or let them wait where they are few.

        Yields the share of the block that is done, now and then.
        """
        if not len(block.sets):
            return
        sets = self._whole(block.sets)
        lowest = self._lowest_log_p(sets, block.shared + self._oracle.error)
        promising = lowest < self._floor
        sets, lowest = sets[promising], lowest[promising]
        if (sum(len(some) for some, _ in self._waiting) + len(sets)) * self._largest <= _MOST_WAITING:
            self._waiting.append((sets, lowest))
            return
        self._look_at_waiting()
        yield from self._made_exact(sets, lowest)

    def _look_at_waiting(self) -> None:
        """Make those exact that wait."""
        if self._waiting:
            sets, lowest = zip(*self._waiting, strict=True)
            for _ in self._made_exact(np.concatenate(sets), np.concatenate(lowest)):
                pass
            self._waiting = []  # only now: an interruption loses none

    def _made_exact(self, sets: NDArray[np.int32], lowest: NDArray[np.float64]) -> Iterator[float]:
        """Make sets exact, the most promising first, as long as one may be among the best."""
        best_first = np.argsort(lowest, kind="stable")
        start, n_next = 0, max(_BATCH, self._top)
        while start < len(best_first):
            rows = best_first[start : start + n_next]
            promising = rows[lowest[rows] < self._floor]
            if not len(promising):
                return
            self._take(sets[promising])
            start, n_next = start + len(rows), min(2 * n_next, max(_LARGEST_BATCH, self._top))
            yield start / len(best_first)

    def _whole(self, sets: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the sets with the target among them, variables in increasing order."""
        if self._target is None:
            return sets
        own = np.full((len(sets), 1), self._target, dtype=np.int32)
        return np.sort(np.hstack([sets, own]), axis=1)

    def _lowest_log_p(self, sets: NDArray[np.int32], shared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the lowest log p-value that each set can have."""
        dof = cache(self._dof)
        dofs = np.array([dof(tuple(levels)) for levels in self._levels[sets].tolist()], dtype=np.float64)
        lowest = np.zeros(len(sets))
        counts = dofs > 0
        lowest[counts] = log_tail(2 * self._n_rows * np.maximum(shared[counts], 0.0), dofs[counts])
        return lowest

    def _take(self, sets: NDArray[np.int32]) -> None:
        """Make sets exact and keep the best of them."""
        masks = [varset(chosen) for chosen in sets.tolist()]
        singles = [varset([v]) for v in np.unique(sets).tolist()]
        of = dict(zip(singles, self._oracle.entropies(singles).tolist(), strict=True))
        best = {known.variables: known for known in self._best}
        for mask, together, own in zip(
            masks, self._oracle.entropies(masks).tolist(), self._interactions(masks), strict=True
        ):
            total = max(0.0, sum(of[varset([v])] for v in members(mask)) - together)
            dof = self._dof(self._levels_of(mask))
            value = own if self._by == "interaction" else total
            log_p = log_tail_of(2 * self._n_rows * value, dof) if dof else 0.0
            best[mask] = RankedSet(mask, total, own, dof, log_p, self._corrected(log_p))
        self._best = sorted(best.values(), key=_rank)[: self._top]

    def _interactions(self, masks: list[VarSet]) -> list[float]:
        """Return the interaction of each set, those of equal levels fitted together."""
        found: dict[VarSet, float] = {}
        by_shape: dict[tuple[int, ...], list[VarSet]] = {}
        for mask in masks:
            by_shape.setdefault(self._levels_of(mask), []).append(mask)
        for shape, same in by_shape.items():
            most = max(1, _MOST_CELLS // prod(shape))
            for start in range(0, len(same), most):
                part = same[start : start + most]
                tables = self._tables(part)
                if len(part) == 1 < most:  # one by itself is fitted in another way, and rounded otherwise
                    tables = np.repeat(tables, 2, axis=0)
                found.update(zip(part, interactions(tables).tolist(), strict=False))
        return [found[mask] for mask in masks]

    def _tables(self, masks: list[VarSet]) -> NDArray[np.float64]:
        """Return the full tables of sets with equal levels."""
        tables = np.zeros((len(masks), *self._levels_of(masks[0])))
        for table, counted in zip(tables, self._oracle.counts(masks), strict=True):
            table[tuple(counted.cells.T)] = counted.counts
        return tables

    def _levels_of(self, mask: VarSet) -> tuple[int, ...]:
        return tuple(int(self._levels[v]) for v in members(mask))

    def _corrected(self, log_p: float) -> float:
        return min(0.0, log_p + log(max(self.n_sets, 1)))

    def _is_sparse(self, found: RankedSet) -> bool:
        return self._n_rows < _SPARSE * prod(self._levels_of(found.variables))

    def _by_simulation(self, found: RankedSet) -> RankedSet:
        """Return a set with the p-value of a scaled chi-squared that fits tables drawn at random.

        Where that is below the nominal one, the nominal one stands: it is no less likely to be chance.
        """
        null = moments_of_interaction if self._by == "interaction" else moments_of_sharing
        mean, variance = null(self._tables([found.variables])[0], _N_DRAWS)
        if mean <= 0 or variance <= 0:
            return found
        value = found.interaction if self._by == "interaction" else found.total_correlation
        dof = 2 * mean * mean / variance
        log_p = log_tail_of(2 * self._n_rows * value * dof / mean, dof)
        if log_p < found.log_p_value:
            return found
        return replace(found, dof=dof, log_p_value=log_p, log_p_corrected=self._corrected(log_p))


def _rank(found: RankedSet) -> tuple[float, float, tuple[int, ...]]:
    """Order by significance; equal ones by what they share, then by their variables."""
    return found.log_p_value, -found.interaction, members(found.variables)
