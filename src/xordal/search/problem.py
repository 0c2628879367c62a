"""What stays the same in all passes: who counts, who decides, how far to look, and what is ruled out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from xordal.counting.oracle import EntropyOracle, Scanner
from xordal.graph.chain import Addition
from xordal.graph.signed_sets import change, free_parameters
from xordal.search.candidates import Candidate
from xordal.search.constraints import FREE, Rules
from xordal.search.gain import gains
from xordal.search.scans import Scans
from xordal.statistics.criterion import Evidence, Judge, Shape, Verdict, least_gain


@dataclass(frozen=True, slots=True)
class Problem:
    """A search to be carried out.

    Attributes
    ----------
    oracle
        Knows entropies.
    scans
        Find the sets that may be accepted.
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
    """

    oracle: EntropyOracle
    scans: Scans
    judge: Judge
    n_levels: tuple[int, ...]
    n_rows: int | None
    max_variables: int | None = None
    rules: Rules = FREE
    fill_in: bool = False
    _bars: dict[Shape, float] = field(default_factory=dict, init=False, repr=False, compare=False)
    _steps: dict[Addition, tuple[float, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def least_gain(self, shape: Shape) -> float:
        """Return the gain up to which no candidate of a shape is accepted, worked out once for each shape."""
        if shape not in self._bars:
            self._bars[shape] = least_gain(self.judge, shape)
        return self._bars[shape]

    def weigh(self, steps: Iterable[Addition]) -> None:
        """Work out what single additions gain, and their degrees of freedom, of those that are not known."""
        new = [step for step in dict.fromkeys(steps) if step not in self._steps]
        changes = [change([step]) for step in new]
        for step, terms, gain in zip(new, changes, gains(changes, self.oracle), strict=True):
            self._steps[step] = gain, free_parameters(terms, self.n_levels)

    def total(self, steps: Iterable[Addition]) -> tuple[float, int]:
        """Return what weighed additions gain together, up to rounding, and their degrees of freedom."""
        known = [self._steps[step] for step in steps]
        return sum(gain for gain, _ in known), sum(dof for _, dof in known)

    def tie_with(self, best: float) -> float:
        """Return the rank from which on a candidate ties with the best."""
        return best if best == -inf else best - self.judge.tolerance(best)

    @property
    def scanner(self) -> Scanner:
        """Finds sets that share enough."""
        return self.scans.scanner


class Judged(NamedTuple):
    """A candidate's evidence and the judge's verdict on it."""

    evidence: Evidence
    verdict: Verdict


def evidence(problem: Problem, candidates: Sequence[Candidate]) -> list[Evidence]:
    """Return what the data say about the candidates, from one oracle call."""
    changes = [found.change for found in candidates]
    return [
        Evidence(
            found.variables,
            found.links,
            found.change,
            gain,
            free_parameters(found.change, problem.n_levels),
            problem.n_rows,
            found.fill_in,
            found.steps,
        )
        for found, gain in zip(candidates, gains(changes, problem.oracle), strict=True)
    ]


def judge(problem: Problem, candidates: Sequence[Candidate]) -> list[Judged]:
    """Return the candidates with evidence and verdict."""
    batch = evidence(problem, candidates)
    return [Judged(*pair) for pair in zip(batch, problem.judge.judge(batch), strict=True)]
