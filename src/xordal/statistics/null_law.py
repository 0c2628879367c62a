"""The law of a candidate's G2 when nothing is there: a shifted gamma with the moments of its chain.

The links of a candidate are added one at a time (:mod:`xordal.graph.chain`), and its G2 is the sum of the G2 of
the steps. Each step's mean and variance given its margins come from :mod:`xordal.statistics.moments`; given the
margins of the later one, the earlier steps say nothing about it, so both add up. Of several possible
chains the one is taken that begins with the variables of the smallest counts: a rule that knows no names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import fsum, inf, log
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from xordal.counting.compiled import Kernels, Worth
from xordal.counting.finalize import entropy
from xordal.counting.oracle import CellCounter, CellCounts, EntropyOracle
from xordal.graph.chain import Addition, additions
from xordal.graph.chordal import ChordalGraph
from xordal.statistics.chi_squared import log_f_tail, log_tail_of
from xordal.statistics.criterion import Evidence
from xordal.statistics.design import SampleDesign
from xordal.statistics.margins import StepCounts, Strata, margins_of, strata
from xordal.statistics.mean_bounds import mean_bounds
from xordal.statistics.moments import Moments, moments_of, step_moments
from xordal.statistics.permutation import expanded, shuffled_moments
from xordal.types.varsets import EMPTY, SignedSets, VarSet, members, varset

MOST_MEAN, MOST_VARIANCE = 4, 128
"""No step has a larger mean than so often its nominal degrees of freedom, or variance than their square."""

_AT_ONCE = 1 << 16  # counts whose steps are worked out together: more of them gain nothing, and take memory
# Beyond, rows are shuffled. Of a table of 100,000 rows that took a second or two where a sum over as many cells
# takes hundredths of a second, or with NumPy a second for a million.
_MOST_CELLS = 1_000_000
_QUICK_CELLS = 100_000  # up to which a kernel takes no longer than a bound
_AT_ONCE_PLAIN = 100_000  # cells that NumPy sums over in one go
# Of a bound below a mean: shuffles may happen to be lower. This leaves off five standard errors of a mean
# of 100; tables that are shuffled have means of thousands.
_OF_SHUFFLES = 0.95
_MOST_AT_ONCE = 1_000_000  # cells that a kernel sums over in one go: some hundredths of a second
# Levels of the ends of links up to which a kernel sums over cells as fast as NumPy finds a bound. On splice, up
# to six, bounds ruled out one step in fifty, for half of the time; on hailfinder, eleven, they save a sixth.
_FEW_LEVELS = 6
_WORTH_KERNELS = Worth(loading=1_000_000, compiling=20_000_000)  # cells: NumPy sums over a million in a second


def log_p_value(g2: float, law: Moments) -> float:
    """Return the log probability of a G2 as large, by a gamma law with these moments.

    The law is shift + scale * chi-squared, with the scale variance / (2 mean) and no shift where that scale is
    at least 1. Very sparse tables have less variance than that; there the scale is 1 and the shift fits the
    mean, which leaves the far tail as heavy as a chi-squared's. A G2 that hardly varies, such as that of an
    identifier, is given one degree of freedom, so that its own mean is nothing unusual. Moments that were
    estimated from few units give the wider tail of an F law; infinite ones mean a p-value of 1.

    No p-value is below :func:`lowest_by_mean`, so that one that cannot be small is told from its mean alone.

    Examples
    --------
    >>> round(log_p_value(3.841459, Moments(mean=1, variance=2)), 3)
    -2.996
    """
    if law.mean <= 0 or law.mean == inf:
        return 0.0
    variance = max(law.variance, 2 * min(law.mean, 1.0))
    scale = max(1.0, variance / (2 * law.mean))
    dof = variance / (2 * scale**2)
    shift = law.mean - scale * dof
    if law.n_units < inf:
        return max(log_f_tail((g2 - shift) / scale, dof, law.n_units), lowest_by_mean(g2, law.mean))
    return max(log_tail_of((g2 - shift) / scale, dof), lowest_by_mean(g2, law.mean))


def lowest_by_mean(g2: float, mean: float) -> float:
    """Return the log p-value by a law of this mean that varies no more than a chi-squared of one degree.

    A G2 below its mean is treated as the mean itself.

    Examples
    --------
    >>> round(lowest_by_mean(103.841459, mean=101), 3), round(lowest_by_mean(90, mean=101), 3)
    (-2.996, -1.148)
    """
    return log_tail_of(max(g2 - max(mean - 1, 0.0), 1.0), 1.0)


def is_beyond_doubt(g2: float, dof: int, log_level: float) -> bool:
    """Whether a single link's p-value is below a level whatever its margins: a bound that needs no counts.

    A cell's term has a mean of at most 2 Var X / mu, since log t <= t - 1, so those of a stratum of n rows add
    up to at most 2 (R - 1)(C - 1) n / (n - 1); and a variance of less than 8. Correlations are at most 1, so a
    stratum of k cells has a variance of at most 8 k^2, with k <= 4 (R - 1)(C - 1). The rest is Cantelli's
    inequality, P(G2 >= g2) <= variance / (variance + (g2 - mean)^2).

    Examples
    --------
    >>> is_beyond_doubt(400, dof=1, log_level=-3), is_beyond_doubt(40, dof=1, log_level=-3)
    (True, False)
    """
    excess = g2 - MOST_MEAN * dof
    variance = MOST_VARIANCE * dof * dof
    return dof > 0 and excess > 0 and log(variance / (variance + excess * excess)) <= log_level


KeptCells = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]
"""Margins of cells and what was worked out for them, then the same of strata."""


class NullLaw:
    """Moments of candidates' G2 in one sample; what was counted and computed is remembered.

    Parameters
    ----------
    counter
        Counts the cells of variable sets.
    n_levels
        Number of levels of each variable.
    seed
        Of the shuffles; each step has a stream of its own, named by its variables.
    design
        What survey weights and clusters do to the moments; None for plain rows.
    check
        Called before each block of steps and each shuffle; it may end the work by raising.
    kernels
        Whether compiled kernels may sum over cells. They add the same terms in the same order as NumPy.
    """

    def __init__(
        self,
        counter: CellCounter,
        n_levels: tuple[int, ...],
        seed: int = 0,
        design: SampleDesign | None = None,
        check: Callable[[], None] = lambda: None,
        kernels: Kernels | None = None,
    ) -> None:
        self._check, self._kernels = check, kernels or Kernels()
        self._n_summed = 0  # cells, so far
        self._kept: KeptCells | None = None
        self._counter = counter
        self._oracle = counter if isinstance(counter, EntropyOracle) else None
        self._design = design
        self._n_levels = n_levels
        self._seed = seed
        self._counts: dict[VarSet, CellCounts] = {}
        self._entropies: dict[VarSet, float] = {}
        self._steps: dict[Addition, Moments] = {}
        self._bounds: dict[Addition, float] = {}

    def moments(self, batch: Sequence[Evidence]) -> list[Moments]:
        """Return mean and variance of each candidate's G2, were all its gain chance."""
        chains = [self._chain(found) for found in batch]
        self._count([margin for chain in chains for step in chain for margin in _margins(step)])
        self._work_out(step for chain in chains for step in chain)
        return [sum([self._steps[step] for step in chain], Moments(0, 0)) for chain in chains]

    def gains(self, changes: Sequence[SignedSets]) -> list[float]:
        """Return by how many nats each change lowers the entropy of the network."""
        new = list(dict.fromkeys(s for terms in changes for s in terms if s not in self._entropies))
        if not new:
            pass
        elif self._oracle is not None:  # counts may need no cells, or be known already
            self._entropies.update(zip(new, self._oracle.entropies(new).tolist(), strict=True))
        else:
            self._count(new)
            self._entropies.update((s, entropy(self._counts[s].counts)) for s in new)
        return [-fsum([sign * self._entropies[s] for s, sign in terms.items()]) for terms in changes]

    def tables(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the occupied cells of each set."""
        self._count(sets)
        return [self._counts[s] for s in sets]

    def is_quick(self, found: Evidence) -> bool:
        """Whether moments are no dearer than bounds: kernels sum over cells, and few of them to each count."""
        ends = {v for link in found.links for v in link}
        most = max([self._n_levels[v] for v in ends])
        # A stratum of n rows has at most n levels of one end, and so n times those of the other as cells.
        n_cells = min(4 * found.dof, (found.n_rows or 0) * most * len(found.links))
        return self._kept is not None and most <= _FEW_LEVELS and n_cells < _QUICK_CELLS

    def mean_bounds(self, batch: Sequence[Evidence]) -> list[float]:
        """Return a bound below the mean of each candidate's G2, for much less work than its moments."""
        if self._design is not None:
            return [0.0] * len(batch)
        chains = [self._chain(found) for found in batch]
        new = dict.fromkeys(step for chain in chains for step in chain if step not in self._bounds)
        self._count([margin for step in new for margin in _margins(step)])
        for block in self._blocks(new):
            found = mean_bounds(strata(list(block.values())), has_kernels=self._kept is not None)
            least = np.where(found.n_cells <= _MOST_CELLS, found.least, _OF_SHUFFLES * found.least)
            self._bounds.update(zip(block, least.tolist(), strict=True))
        return [sum([self._bounds[step] for step in chain]) for chain in chains]

    def _chain(self, found: Evidence) -> tuple[Addition, ...]:
        """Return the steps of a candidate, rebuilt from its change: where its links lie, all else is linked."""
        if found.is_fixed or (found.chain and len(found.links) == 1):
            return found.chain
        variables = _union(found.change)
        if len(found.links) == 1:
            (x, y) = found.links[0]
            return (Addition(x, y, VarSet(variables & ~(1 << x | 1 << y))),)
        order = self._by_counts(variables)
        place = {v: at for at, v in enumerate(order)}

        def moved(links: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
            return sorted((min(place[u], place[v]), max(place[u], place[v])) for u, v in links)

        linked = {pair for s in found.change for pair in combinations(members(s), 2)} - set(found.links)
        graph = ChordalGraph.empty(len(order)).extended(tuple(moved(linked)))
        chain = additions(graph, tuple(moved(found.links)))
        assert chain is not None, "the change of a legal candidate"
        return tuple(
            _addition(order[x], order[y], varset(order[v] for v in members(separator)))
            for x, y, separator in chain
        )

    def _by_counts(self, variables: VarSet) -> list[int]:
        """Return the variables by their own counts, then by those of their pairs."""
        chosen = members(variables)
        self._count([VarSet(1 << v) for v in chosen])
        own = {v: self._ordered_counts(VarSet(1 << v)) for v in chosen}
        if len(set(map(tuple, own.values()))) == len(chosen):
            return sorted(chosen, key=own.__getitem__)
        pairs = {pair: varset(pair) for pair in combinations(chosen, 2)}
        self._count(pairs.values())

        def of_pairs(v: int) -> list[list[int]]:
            return sorted([self._ordered_counts(s) for pair, s in pairs.items() if v in pair])

        profiles = {v: (own[v], of_pairs(v)) for v in chosen}
        return sorted(chosen, key=profiles.__getitem__)

    def _ordered_counts(self, s: VarSet) -> list[int]:
        return sorted(self._counts[s].counts.tolist())

    def _count(self, sets: Iterable[VarSet]) -> None:
        new = [s for s in dict.fromkeys(sets) if s not in self._counts]
        if new:
            self._counts.update(zip(new, self._counter.counts(new), strict=True))

    def _work_out(self, steps: Iterable[Addition]) -> None:
        """Compute the moments of steps that are not known."""
        if self._design is not None:
            self._steps.update(
                self._design.moments(step for step in dict.fromkeys(steps) if step not in self._steps)
            )
            return
        for block in self._blocks(step for step in dict.fromkeys(steps) if step not in self._steps):
            self._work_out_block(block)

    def _blocks(self, steps: Iterable[Addition]) -> Iterator[dict[Addition, StepCounts]]:
        """Yield what was counted for steps, so much at a time as is worked out together."""
        block: dict[Addition, StepCounts] = {}
        n_counts = 0
        self._check()
        for step in steps:
            block[step] = counts = self._counts_of(step)
            n_counts += len(counts.of_x.counts) + len(counts.of_y.counts)
            if n_counts > _AT_ONCE:
                yield block
                self._check()
                block, n_counts = {}, 0
        if block:
            yield block

    def _work_out_block(self, block: Mapping[Addition, StepCounts]) -> None:
        counted = strata(list(block.values()))
        # Where all that there may be is little, nobody needs to know how many cells there are.
        most_cells = list(map(self._most_cells, block, block.values()))
        uses_kernels = self._are_kernels_used(sum(most_cells))
        most = _MOST_AT_ONCE if uses_kernels else _AT_ONCE_PLAIN
        is_little = max(most_cells) <= _MOST_CELLS and sum(most_cells) <= most
        n_cells = np.array(most_cells) if is_little else counted.n_cells()
        if n_cells.max() <= _MOST_CELLS and (n_cells.sum() <= most or len(block) == 1):  # nearly always
            self._steps.update(zip(block, self._summed(counted, uses_kernels), strict=True))
            return
        together: dict[int, list[Addition]] = {}
        for step, n, n_so_far in zip(block, n_cells.tolist(), n_cells.cumsum().tolist(), strict=True):
            if n > _MOST_CELLS:
                self._steps[step] = self._shuffled(step)
            else:
                together.setdefault(n_so_far // most, []).append(step)
        for steps in together.values():
            self._check()
            found = self._summed(strata([block[step] for step in steps]), uses_kernels)
            self._steps.update(zip(steps, found, strict=True))

    def _most_cells(self, step: Addition, counts: StepCounts) -> int:
        """Return what the cells of a step do not exceed: each count of one end with all levels of the other."""
        x, y, _ = step
        of_x, of_y = len(counts.of_x.counts), len(counts.of_y.counts)
        return min(of_x * self._n_levels[y], of_y * self._n_levels[x])

    def _are_kernels_used(self, n_cells: int) -> bool:
        """Whether kernels sum over cells from now on."""
        self._n_summed += n_cells
        if self._kept is None and self._kernels.pay(
            _WORTH_KERNELS, self._n_summed, "p-values", lambda: _kernels().step_sums
        ):
            self._kept = _kernels().no_cells()
        return self._kept is not None

    def _summed(self, counted: Strata, uses_kernels: bool) -> list[Moments]:
        """Return the moments of steps by sums over their cells."""
        if not uses_kernels:
            return step_moments(margins_of(counted))
        means, variances = np.empty(len(counted.n_strata)), np.empty(len(counted.n_strata))
        _kernels().step_sums(counted.of_x, counted.of_y, counted.n_strata, self._kept, means, variances)
        return moments_of(means, variances)

    def _counts_of(self, step: Addition) -> StepCounts:
        x, y, separator = step
        with_x, with_y = _margins(step)
        places = (members(with_x).index(x), members(with_y).index(y))
        levels = tuple([self._n_levels[v] for v in members(separator)])
        return StepCounts(self._counts[with_x], self._counts[with_y], places, levels)

    def _shuffled(self, step: Addition) -> Moments:
        x, y, separator = step
        whole = VarSet(separator | 1 << x | 1 << y)
        (table,) = self._counter.counts([whole])
        rows = expanded(table.cells, table.counts)
        place = {v: at for at, v in enumerate(members(whole))}
        context = [place[v] for v in members(separator)]
        _, stratum = np.unique(rows[:, context], axis=0, return_inverse=True)
        generator = np.random.default_rng([self._seed, *members(whole), x, y])
        return shuffled_moments(
            rows[:, place[x]],
            rows[:, place[y]],
            stratum.reshape(-1),
            generator,
            check=self._check,
            has_kernels=self._kept is not None,
        )


def _kernels() -> ModuleType:
    """Return the kernels, loaded when they are needed first."""
    from xordal.statistics import _moments

    return _moments


def _addition(x: int, y: int, separator: VarSet) -> Addition:
    return Addition(min(x, y), max(x, y), separator)


def _margins(step: Addition) -> tuple[VarSet, VarSet]:
    return VarSet(step.separator | 1 << step.x), VarSet(step.separator | 1 << step.y)


def _union(change: SignedSets) -> VarSet:
    variables = 0
    for s in change:
        variables |= s
    return VarSet(variables or EMPTY)
