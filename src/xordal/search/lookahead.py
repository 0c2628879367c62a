"""One pass of an i-link-only search: look at every candidate, take the best one the criterion accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from xordal.counting.oracle import EntropyOracle
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters
from xordal.search.candidates import Candidate, candidate, variable_sets
from xordal.search.constraints import FREE, Rules
from xordal.search.gain import gains
from xordal.statistics.criterion import Evidence, Judge, Verdict
from xordal.types import VarSet

# Variable sets per oracle call: large enough to batch, small enough to report progress and keep a time limit.
_BLOCK = 2048
_BLOCK_ROWS = 8_000_000  # rows times variable sets of a block


@dataclass(frozen=True, slots=True)
class Problem:
    """What stays the same in all passes: who counts, who decides, how far to look, and what is ruled out.

    ``max_variables`` bounds the size of the variable sets a pass may complete; None leaves the paper's bound.
    """

    oracle: EntropyOracle
    judge: Judge
    n_levels: tuple[int, ...]
    n_rows: int | None
    max_variables: int | None = None
    rules: Rules = FREE

    @property
    def block_size(self) -> int:
        """Variable sets to look at in one go."""
        return max(1, min(_BLOCK, _BLOCK_ROWS // (self.n_rows or 1)))


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate's evidence and the criterion's verdict on it."""

    evidence: Evidence
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class PassResult:
    """The best acceptable candidate of one pass, if any, and how many were scored."""

    best: Judged | None
    candidates_scored: int


def run_pass(
    problem: Problem, graph: ChordalGraph, i: int, on_block: Callable[[int], None] = lambda n_sets: None
) -> PassResult:
    """Test every legal set of i links on the graph (function lookahead, lines 3-7).

    ``on_block`` is called with the number of variable sets looked at since its last call.
    """
    accepted: list[Judged] = []
    n_scored = 0
    every = variable_sets(graph, i, problem.max_variables)
    while block := list(islice(every, problem.block_size)):
        judged = judge(problem, _legal(problem, graph, block))
        n_scored += len(judged)
        accepted.extend(found for found in judged if found.verdict.is_accepted)
        on_block(len(block))
    return PassResult(_best(problem.judge, accepted), n_scored)


def judge(problem: Problem, candidates: Sequence[Candidate]) -> list[Judged]:
    """Return the candidates with evidence and verdict, from one oracle call."""
    changes = [found.change for found in candidates]
    batch = [
        Evidence(
            found.variables,
            found.links,
            found.change,
            gain,
            free_parameters(found.change, problem.n_levels),
            problem.n_rows,
            found.fill_in,
        )
        for found, gain in zip(candidates, gains(changes, problem.oracle), strict=True)
    ]
    return [Judged(*pair) for pair in zip(batch, problem.judge.judge(batch), strict=True)]


def _legal(problem: Problem, graph: ChordalGraph, block: list[VarSet]) -> list[Candidate]:
    admitted = (variables for variables in block if problem.rules.may_complete(variables))
    legal = (found for variables in admitted if (found := candidate(graph, variables)) is not None)
    return [found for found in legal if problem.rules.may_change(found.change)]


def _best(judge: Judge, accepted: list[Judged]) -> Judged | None:
    """Return the first link set, in lexicographic order, that ties with the best rank."""
    if not accepted:
        return None
    best = max(found.verdict.rank for found in accepted)
    tie = best - judge.tolerance(best)
    tied = (found for found in accepted if found.verdict.rank >= tie)
    return min(tied, key=lambda found: found.evidence.links)
