"""The plain engine: every pass enumerates and scores every variable set anew. For any criterion, and slow.

The library's engine is right when its trace equals this one's; for the paper's criterion this one's equals the
reference's.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CachedOracle
from xordal.counting.plain import CountingOracle, PlainScanner
from xordal.data.table import CategoricalTable
from xordal.graph.chordal import ChordalGraph
from xordal.search.candidates import Candidate, addition, candidate
from xordal.search.constraints import FREE, Rules
from xordal.search.problem import Judged, Problem, judge
from xordal.search.scans import Scans
from xordal.search.schedule import Position, Schedule
from xordal.statistics.criterion import Criterion, Sample
from xordal.types import SearchRun, TraceEntry, VarSet, members


def plain_search(
    table: CategoricalTable,
    schedule: Schedule,
    criterion: Criterion,
    *,
    max_variables: int | None = None,
    rules: Rules = FREE,
) -> SearchRun:
    """Carry a schedule out, testing everything in every pass."""
    counter = NumpyCounter(table)
    oracle = CachedOracle(CountingOracle(counter, table.n_levels))
    k = schedule.max_links
    sample = Sample(table.n_levels, table.n_rows, counter, k, max_variables or k + 1)
    problem = Problem(
        oracle,
        Scans(PlainScanner(oracle, table.n_levels)),
        criterion.on(sample),
        table.n_levels,
        table.n_rows,
        max_variables,
        rules,
    )
    graph = ChordalGraph.empty(table.n_variables)
    trace: list[TraceEntry] = []
    graphs_tested = n_scored = 0

    def add(i: int, best: Judged) -> ChordalGraph:
        e = best.evidence
        entry = TraceEntry("add", i, e.links, e.gain, e.dof, graphs_tested, e.fill_in, best.verdict.log_p_value)
        trace.append(entry)
        return graph.add(e.links)

    if rules.required:
        start = addition(graph, tuple(sorted((*rules.required, *rules.fill_in))), rules.fill_in)
        assert start is not None
        graph = add(0, judge(problem, [start])[0])
    position: Position | None = schedule.start
    while position is not None and position.i <= max(1, graph.n_missing):
        modified = False
        while True:
            scored = judge(problem, list(legal(problem, graph, position.i)))
            n_scored += len(scored)
            graphs_tested += comb(graph.n_missing, position.i)
            best = first_of_best(problem, scored)
            if best is None:
                break
            graph, modified = add(position.i, best), True
        position = schedule.after(position, modified)
    return SearchRun(tuple(trace), graphs_tested, n_scored, n_scored)


def legal(problem: Problem, graph: ChordalGraph, i: int) -> Iterator[Candidate]:
    """Yield every legal candidate of one pass."""
    for variables in variable_sets(graph, i, problem.max_variables):
        if problem.rules.may_complete(variables):
            found = candidate(graph, variables)
            if found is not None and problem.rules.may_change(found.change):
                yield found


def first_of_best(problem: Problem, scored: list[Judged]) -> Judged | None:
    """Return the first link set, in lexicographic order, that ties with the best accepted rank."""
    accepted = [found for found in scored if found.verdict.is_accepted]
    if not accepted:
        return None
    best = max(found.verdict.rank for found in accepted)
    tie = best - problem.judge.tolerance(best)
    return min(
        (found for found in accepted if found.verdict.rank >= tie), key=lambda found: found.evidence.links
    )


def variable_sets(graph: ChordalGraph, i: int, max_variables: int | None = None) -> Iterator[VarSet]:
    """Yield every variable set with exactly i missing links in which each variable has one.

    Parameters
    ----------
    graph
        The current graph G.
    i
        Number of lookahead links.
    max_variables
        Largest set to yield; the paper's own bound, i + 1, by default.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2)])
    >>> [members(W) for W in variable_sets(path, 2)]
    [(0, 1, 3), (1, 2, 3)]
    """
    largest = min(i + 1, max_variables or i + 1, graph.n_vertices)
    for size in range(2, largest + 1):
        if comb(size, 2) >= i:
            for chosen in _grow(graph, size, i):
                if all(chosen & ~graph.neighbours[v] & ~(1 << v) for v in members(chosen)):
                    yield VarSet(chosen)


def _grow(graph: ChordalGraph, size: int, i: int) -> Iterator[int]:
    """Yield the sets of ``size`` variables with i missing links, adding variables in increasing order.

    ``apart[c]`` is the mask of later variables that miss c links to the chosen ones, so the last variable is
    read off a mask instead of tried.
    """

    def grow(chosen: int, n_chosen: int, missing: int, apart: list[int]) -> Iterator[int]:
        if n_chosen == size - 1:
            wanted = i - missing
            for v in members(apart[wanted]) if wanted < len(apart) else ():
                yield chosen | 1 << v
            return
        still_possible = comb(size, 2) - comb(n_chosen + 1, 2)  # missing links of the variables after the next
        for c, mask in enumerate(apart):
            if missing + c <= i <= missing + c + still_possible:
                for v in members(mask):
                    yield from grow(chosen | 1 << v, n_chosen + 1, missing + c, after(apart, v))

    def after(apart: list[int], v: int) -> list[int]:
        later, near = -(2 << v), graph.neighbours[v]
        moved = [*apart, 0]
        for c in range(len(apart), 0, -1):
            moved[c] = (moved[c] & near | apart[c - 1] & ~near) & later
        moved[0] &= near & later
        return moved

    yield from grow(0, 0, 0, [(1 << graph.n_vertices) - 1])
