"""One pass of an i-link-only search: look at every candidate, take the best one the criterion accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from xordal.counting.oracle import EntropyOracle
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters
from xordal.search.candidates import Candidate, candidate, variable_sets
from xordal.search.constraints import FREE, Rules
from xordal.search.gain import gains
from xordal.statistics.criterion import Criterion, Evidence
from xordal.types import LinkSet, VarSet

# Variable sets per oracle call: large enough to batch, small enough to report progress and keep a time limit.
_BLOCK = 2048
_BLOCK_ROWS = 8_000_000  # rows times variable sets of a block


@dataclass(frozen=True, slots=True)
class Problem:
    """What stays the same in all passes: who counts, who decides, how far to look, and what is ruled out.

    ``max_variables`` bounds the size of the variable sets a pass may complete; None leaves the paper's bound.
    """

    oracle: EntropyOracle
    criterion: Criterion
    n_levels: tuple[int, ...]
    n_rows: int | None
    max_variables: int | None = None
    rules: Rules = FREE

    @property
    def block_size(self) -> int:
        """Variable sets to look at in one go."""
        return max(1, min(_BLOCK, _BLOCK_ROWS // (self.n_rows or 1)))


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its evidence."""

    links: LinkSet
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class PassResult:
    """The best acceptable candidate of one pass, if any, and the work it took."""

    best: Scored | None
    sets_scanned: int
    candidates_scored: int


def run_pass(
    problem: Problem, graph: ChordalGraph, i: int, on_block: Callable[[int], None] = lambda n_sets: None
) -> PassResult:
    """Test every legal set of i links on the graph (function lookahead, lines 3-7).

    ``on_block`` is called with the number of variable sets looked at since its last call.
    """
    accepted: list[Scored] = []
    n_scanned = n_scored = 0
    every = variable_sets(graph, i, problem.max_variables)
    while block := list(islice(every, problem.block_size)):
        scored = list(_score(problem, graph, block))
        n_scanned += len(block)
        n_scored += len(scored)
        accepted.extend(s for s in scored if problem.criterion.is_accepted(s.evidence))
        on_block(len(block))
    return PassResult(_best(problem.criterion, accepted), n_scanned, n_scored)


def _score(problem: Problem, graph: ChordalGraph, block: list[VarSet]) -> Iterator[Scored]:
    admitted = [variables for variables in block if problem.rules.may_complete(variables)]
    legal = [found for variables in admitted if (found := candidate(graph, variables)) is not None]
    return score(problem, [found for found in legal if problem.rules.may_change(found.change)])


def score(problem: Problem, candidates: Sequence[Candidate]) -> Iterator[Scored]:
    """Yield the candidates with their evidence, from one oracle call."""
    changes = [found.change for found in candidates]
    for found, gain in zip(candidates, gains(changes, problem.oracle), strict=True):
        dof = free_parameters(found.change, problem.n_levels)
        yield Scored(found.links, Evidence(gain, found.change, dof, problem.n_rows))


def _best(criterion: Criterion, accepted: list[Scored]) -> Scored | None:
    """Return the first link set, in lexicographic order, that ties with the best rank."""
    if not accepted:
        return None
    ranks = [criterion.rank(scored.evidence) for scored in accepted]
    tie = max(ranks) - criterion.tolerance(max(ranks))
    return min((s for s, rank in zip(accepted, ranks, strict=True) if rank >= tie), key=lambda s: s.links)
