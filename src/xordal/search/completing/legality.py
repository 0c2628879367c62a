"""What the rules allow: nobody else asks them of a candidate."""

from __future__ import annotations

from xordal.graph.fill_in import Completion, completions
from xordal.search.candidate import Candidate
from xordal.search.problem import Problem
from xordal.search.state import GraphState
from xordal.types.varsets import VarSet


def legal(problem: Problem, state: GraphState, variables: VarSet) -> Candidate | None:
    """Return the candidate that completes a set as it is; None if chordality or a rule forbids it."""
    problem.watch.check()
    rules = problem.rules
    if not rules.may_complete(variables):
        return None
    found = state.candidate(variables)
    return found if found is not None and rules.may_change(found.change) else None


def fill_ins(problem: Problem, state: GraphState, variables: VarSet) -> list[Completion]:
    """Return the fill-ins with which a set may be completed; none where it needs none."""
    problem.watch.check()
    rules = problem.rules
    if not rules.may_complete(variables):
        return []
    offered = completions(state.graph, state.paths, variables, problem.n_levels)
    needed = [done for done in offered if done.fill_in and rules.may_add(done.fill_in)]
    return [done for done in needed if done.largest_clique <= rules.max_clique]
