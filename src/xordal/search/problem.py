"""What stays the same in all passes: who counts, who decides, how far to look, and what is ruled out.

And how candidates are put to those who count and decide: :func:`evidence` and :func:`accepted`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

import numpy as np

from xordal.counting.compiled import Kernels
from xordal.counting.oracle import EntropyOracle, ScanBlock, Scanner
from xordal.graph.chain import Addition
from xordal.graph.signed_sets import change, free_parameters
from xordal.search.candidate import Candidate, gains
from xordal.search.constraints import FREE, Rules
from xordal.search.limits import Limits, Watch
from xordal.search.shapes import Shapes
from xordal.statistics.criterion import Evidence, Judge, Shape, Verdict
from xordal.types.varsets import VarSet

_ROUNDING = 1e-9  # nats: far more than sums of gains are off


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
    rules
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
    rules: Rules = FREE
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
        for step, terms, gain in zip(new, changes, gains(changes, self.oracle), strict=True):
            self._weighed[step] = gain, free_parameters(terms, self.n_levels)

    def highest(self, chains: Sequence[tuple[tuple[Addition, ...], VarSet]]) -> list[float]:
        """Return the highest rank that weighed additions between variables of a set can have; -inf if none.

        Many chains have few shapes, so ranks are worked out by shape.
        """
        alike: dict[Shape, dict[int, float]] = {}
        for number, (chain, inside) in enumerate(chains):
            gains, dofs = zip(*[self._weighed[step] for step in chain], strict=True)
            alike.setdefault(self.shapes.of_chain(chain, inside, sum(dofs)), {})[number] = (
                sum(gains) + _ROUNDING
            )
        found = [-inf] * len(chains)
        for shape, gained in alike.items():
            able = [number for number, gain in gained.items() if gain >= self.shapes.least_gain(shape)]
            uppers = self.judge.ceiling(shape, np.array([gained[number] for number in able]))
            for number, upper in zip(able, uppers.tolist(), strict=True):
                found[number] = upper
        return found

    def tie_with(self, best: float) -> float:
        """Return the rank from which on a candidate ties with the best."""
        return best if best == -inf else best - self.judge.tolerance(best)


class Judged(NamedTuple):
    """A candidate's evidence and the judge's verdict on it."""

    evidence: Evidence
    verdict: Verdict


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
    return [Judged(*pair) for pair in zip(batch, verdicts(problem, batch), strict=True)]


def verdicts(problem: Problem, batch: Sequence[Evidence]) -> list[Verdict]:
    """Return what the judge says of candidates; where it tests them, that is what p-values take."""
    if not problem.has_p_values:
        return problem.judge.judge(batch)
    with problem.watch.phases.of("p-values"):
        return problem.judge.judge(batch)


def accepted(problem: Problem, sets: Sequence[Sequence[Evidence]]) -> list[Judged | None]:
    """Return for each set the verdict on the best way to complete it, None where none is accepted.

    A candidate is accepted when each of its tests accepts it, and ranks by the weakest. Of ways that tie, the
    one with the best rank as a whole is taken, then the first link set.
    """
    every = [e for some in sets for e in some]
    further = [test for e in every for test in e.also]
    also = iter(verdicts(problem, further) if further else ())
    others = [[next(also) for _ in e.also] for e in every]  # first: one that fails saves the test of the whole
    able = [all(verdict.is_accepted for verdict in some) for some in others]
    whole = iter(verdicts(problem, [e for e, is_able in zip(every, able, strict=True) if is_able]))
    tests = iter([(next(whole), *some) if is_able else () for some, is_able in zip(others, able, strict=True)])
    found: list[Judged | None] = []
    for some in sets:
        passed = [(e, all_of) for e in some if (all_of := next(tests)) and all_of[0].is_accepted]
        passed = _tied(problem, passed, [min([test.rank for test in all_of]) for _, all_of in passed])
        passed = _tied(problem, passed, [all_of[0].rank for _, all_of in passed])
        best = min(passed, key=lambda one: one[0].links, default=None)
        found.append(best and Judged(best[0], best[1][0]._replace(rank=min([test.rank for test in best[1]]))))
    return found


_Passed = tuple[Evidence, tuple[Verdict, ...]]


def _tied(problem: Problem, passed: list[_Passed], ranks: list[float]) -> list[_Passed]:
    """Return those whose ranks tie with the highest."""
    at_least = problem.tie_with(max(ranks, default=-inf))
    return [one for one, rank in zip(passed, ranks, strict=True) if rank >= at_least]
