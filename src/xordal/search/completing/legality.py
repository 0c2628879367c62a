"""What constraints and limits allow: nobody else asks them of a candidate."""

from __future__ import annotations

from collections.abc import Iterable

from xordal.graph.fill_in import Completion
from xordal.search.candidate import Candidate, candidate
from xordal.search.problem import Problem
from xordal.search.state import GraphState
from xordal.types.varsets import VarSet


def legal(problem: Problem, state: GraphState, variables: VarSet) -> Candidate | None:
    """Return the candidate that completes a set as it is; None if it must not be completed so."""
    problem.watch.check()
    allowed = problem.allowed
    if not allowed.may_complete(variables):
        return None
    found = candidate(state.graph, variables)
    return found if found is not None and allowed.may_change(found.change) else None


def allowed_fill_ins(problem: Problem, offered: Iterable[Completion]) -> list[Completion]:
    """Return those of the offered completions that need fill-in and that nothing forbids."""
    allowed = problem.allowed
    needed = [done for done in offered if done.fill_in and allowed.may_add(done.fill_in)]
    return [done for done in needed if done.largest_clique <= allowed.max_clique]
