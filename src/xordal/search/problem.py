"""What stays the same in all passes: who counts, who decides, how far to look, and what is ruled out.

And how candidates are put to those who count and decide: :func:`evidence` and :func:`accepted`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, prod
from typing import NamedTuple

import numpy as np

from xordal.counting.compiled import Kernels
from xordal.counting.oracle import EntropyOracle, ScanBlock, Scanner
from xordal.graph.chain import Addition
from xordal.graph.signed_sets import change, free_parameters
from xordal.search.candidate import Candidate, gains
from xordal.search.constraints import ALL_ALLOWED, Allowed
from xordal.search.limits import Limits, Watch
from xordal.search.shapes import Shapes
from xordal.statistics.criterion import Evidence, Judge, Verdict
from xordal.types.varsets import VarSet, members

_ROUNDING = 1e-9  # nats: far more than sums of gains are off


class Sum(NamedTuple):
    """What several additions come to together: all that bounds of their rank need.

    Attributes
    ----------
    gain, dof, n_links
        Nats, degrees of freedom, and how many they are.
    ends
        The variables that they link, or those of the set that they complete.
    around
        The variables that they are conditioned on.
    """

    gain: float
    dof: int
    n_links: int
    ends: int
    around: int

    def with_more(self, other: Sum) -> Sum:
        """Return what these additions and others come to."""
        gain, dof, n_links, ends, around = other
        return Sum(
            self.gain + gain, self.dof + dof, self.n_links + n_links, self.ends | ends, self.around | around
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A search to be carried out.

    Attributes
    ----------
    oracle
        Knows entropies.
    scanner
        Finds sets that share enough.
    judge
        Ranks and accepts.
    n_levels
        Number of levels of each variable.
    n_rows
        Number of rows; None for an exact joint.
    max_variables
        Largest variable set that a pass may complete; None leaves the paper's bound.
    allowed
        What is required, forbidden and limited.
    fill_in
        Whether sets that break chordality are candidates together with their fill-in.
    known_blocks
        What an earlier run of the same search has scanned, by the size of the sets.
    on_scanned
        Called with the size and each block of a scan that is finished now.
    watch
        Asked by everybody who works long whether to go on, and told what is being done.
    kernels
        Whether those who could use compiled kernels may.
    has_p_values
        Whether p-values are what the judge takes its time for.
    shapes
        Shapes of candidates, and bars.
    """

    oracle: EntropyOracle
    scanner: Scanner
    judge: Judge
    n_levels: tuple[int, ...]
    n_rows: int | None
    max_variables: int | None = None
    allowed: Allowed = ALL_ALLOWED
    fill_in: bool = False
    known_blocks: Mapping[int, Iterable[ScanBlock]] = field(default_factory=dict, compare=False)
    on_scanned: Callable[[int, ScanBlock], None] = field(default=lambda size, block: None, compare=False)
    watch: Watch = field(default_factory=lambda: Watch(Limits()), compare=False)
    kernels: Kernels = field(default_factory=Kernels, compare=False)
    has_p_values: bool = False
    shapes: Shapes = field(init=False, repr=False, compare=False)
    _weighed: dict[Addition, tuple[float, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _cells: dict[VarSet, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", Shapes(self.judge, self.n_levels))

    def at(self, judge: Judge) -> Problem:
        """Return the same problem with another judge; what was scanned at the level of this one is not kept."""
        return replace(self, judge=judge, known_blocks={}, on_scanned=lambda size, block: None)

    def weigh(self, steps: Iterable[Addition]) -> None:
        """Work out what single additions gain, and their degrees of freedom, of those that are not known.

        The fill-ins of a set share most of their steps with those of other sets, so that steps are remembered.
        """
        new = [step for step in dict.fromkeys(steps) if step not in self._weighed]
        changes = [change([step]) for step in new]
        levels, cells = self.n_levels, self._cells
        for step, gain in zip(new, gains(changes, self.oracle), strict=True):
            x, y, separator = step
            if separator not in cells:
                cells[separator] = prod([levels[v] for v in members(separator)])
            self._weighed[step] = gain, (levels[x] - 1) * (levels[y] - 1) * cells[separator]

    def sums_up_to(self, chain: Sequence[Addition], up_to: Sequence[int]) -> list[Sum]:
        """Return what the first weighed additions come to together, for some numbers of them that increase."""
        gain, dof, ends, around, n_links = 0.0, 0, 0, 0, 0
        weighed, found = self._weighed, list[Sum]()
        for n in up_to:
            for step in chain[n_links:n]:
                x, y, separator = step
                own, own_dof = weighed[step]
                gain += own
                dof += own_dof
                ends |= 1 << x | 1 << y
                around |= separator
            n_links = n
            found.append(Sum(gain, dof, n_links, ends, around))
        return found

    def sum_of(self, chain: Sequence[Addition]) -> Sum:
        """Return what all weighed additions of a chain come to."""
        return self.sums_up_to(chain, [len(chain)])[0]

    def weights_of(self, steps: Sequence[Addition]) -> list[tuple[float, int]]:
        """Return what single additions gain, and their degrees of freedom."""
        self.weigh(steps)
        return [self._weighed[step] for step in steps]

    def highest(self, every: Sequence[Sum]) -> list[float]:
        """Return the highest rank that the additions of each sum can have; -inf if none."""
        sizes = [
            (ends.bit_count(), n_links, (around & ~ends).bit_count(), dof)
            for _, dof, n_links, ends, around in every
        ]
        return self.highest_of([one.gain for one in every], sizes)

    def highest_of(self, gained: Sequence[float], sizes: Iterable[tuple[int, int, int, int]]) -> list[float]:
        """Return the same by gains and sizes, those of a shape; many have few of them, so it goes by shape."""
        alike: dict[tuple[int, int, int, int], list[int]] = {}
        for number, size in enumerate(sizes):
            alike.setdefault(size, []).append(number)
        found = [-inf] * len(gained)
        for size, numbers in alike.items():
            shape = self.shapes.of_sizes(*size)
            least = self.shapes.least_gain(shape)
            able = [number for number in numbers if gained[number] + _ROUNDING >= least]
            if able:
                uppers = self.judge.ceiling(shape, np.array([gained[number] for number in able]) + _ROUNDING)
                for number, upper in zip(able, uppers.tolist(), strict=True):
                    found[number] = upper
        return found

    def tie_with(self, best: float) -> float:
        """Return the rank from which on a candidate ties with the best."""
        return best if best == -inf else best - self.judge.tolerance(best)


class Judged(NamedTuple):
    """A candidate's evidence and the judge's verdict on it.

    ``whole`` is its rank as a whole: the verdict's is lower where another of its tests is weaker.
    """

    evidence: Evidence
    verdict: Verdict
    whole: float


def evidence(problem: Problem, candidates: Sequence[Candidate]) -> list[Evidence]:
    """Return what the data say about the candidates, from one oracle call."""
    gained = gains([one.change for one in candidates], problem.oracle)
    return [
        Evidence(*one[:3], gain, free_parameters(one.change, problem.n_levels), problem.n_rows, *one[3:])
        for one, gain in zip(candidates, gained, strict=True)
    ]


def judge(problem: Problem, candidates: Sequence[Candidate]) -> list[Judged]:
    """Return the candidates with evidence and verdict."""
    batch = evidence(problem, candidates)
    both = zip(batch, verdicts(problem, batch), strict=True)
    return [Judged(e, verdict, verdict.rank) for e, verdict in both]


def verdicts(problem: Problem, batch: Sequence[Evidence]) -> list[Verdict]:
    """Return what the judge says of candidates; where it tests them, that is what p-values take."""
    if not problem.has_p_values:
        return problem.judge.judge(batch)
    with problem.watch.phases.of("p-values"):
        return problem.judge.judge(batch)


def accepted(problem: Problem, batch: Sequence[Evidence]) -> list[Judged | None]:
    """Return the verdict on each candidate, None where it is not accepted.

    A candidate is accepted when each of its tests accepts it, and ranks by the weakest.
    """
    further = [test for e in batch for test in e.also]
    also = iter(verdicts(problem, further) if further else ())
    others = [[next(also) for _ in e.also] for e in batch]  # first: one that fails saves the test of the whole
    able = [all(verdict.is_accepted for verdict in some) for some in others]
    whole = iter(verdicts(problem, [e for e, is_able in zip(batch, able, strict=True) if is_able]))
    found: list[Judged | None] = []
    for e, is_able, some in zip(batch, able, others, strict=True):
        verdict = next(whole) if is_able else None
        if verdict is None or not verdict.is_accepted:
            found.append(None)
        else:
            weakest = min([verdict.rank, *(test.rank for test in some)])
            found.append(Judged(e, verdict._replace(rank=weakest), verdict.rank))
    return found


def best_ways(problem: Problem, found: Iterable[tuple[VarSet, Judged]]) -> list[Judged]:
    """Return of each variable set the best way to complete it.

    Of ways that tie, the one with the best rank as a whole is taken, then the first link set.
    """
    ways: dict[VarSet, list[Judged]] = {}
    for variables, one in found:
        ways.setdefault(variables, []).append(one)
    return [_best_way(problem, some) for some in ways.values()]


def _best_way(problem: Problem, ways: Sequence[Judged]) -> Judged:
    at_least = problem.tie_with(max([one.verdict.rank for one in ways]))
    tied = [one for one in ways if one.verdict.rank >= at_least]
    at_least = problem.tie_with(max([one.whole for one in tied]))
    return min([one for one in tied if one.whole >= at_least], key=lambda one: one.evidence.links)
