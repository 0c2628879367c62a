"""A lookahead that has followed links that come and go finds what one that begins anew finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import tables
from xordal import BIC, CategoricalTable, EntropyDecrement, Significance
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CachedOracle
from xordal.counting.plain import CountingOracle, PlainScanner
from xordal.graph.chordal import ChordalGraph
from xordal.search.lookahead import Lookahead
from xordal.search.problem import Judged, Problem
from xordal.search.refine.prune import removable
from xordal.search.sources.around import Held
from xordal.search.state import GraphState
from xordal.statistics.criterion import Criterion, Sample
from xordal.types import VarSet

criteria = st.sampled_from([EntropyDecrement(0.0), EntropyDecrement(0.01), BIC(0.2), Significance(0.5)])


def problem_of(table: CategoricalTable, criterion: Criterion, k: int) -> Problem:
    counter = NumpyCounter(table)
    oracle = CachedOracle(CountingOracle(counter, table.n_levels))
    judge = criterion.on(Sample(table.n_levels, table.n_rows, counter, k, k + 1))
    scanner = PlainScanner(oracle, table.n_levels)
    return Problem(oracle, scanner, judge, table.n_levels, table.n_rows, fill_in=True)


def quiet(n_sets: int) -> None:
    pass


def told(best: Judged | None) -> object:
    return best and (best.evidence.links, best.evidence.fill_in, best.evidence.gain, best.verdict)


@settings(max_examples=some(300), deadline=None)
@given(tables(min_variables=4, max_variables=7), criteria, st.integers(1, 4), st.data())
def test_links_that_come_and_go_lose_no_candidate(
    table: CategoricalTable, criterion: Criterion, k: int, data: st.DataObject
) -> None:
    """Links are taken out at random, bridges among them, so that components are joined and split."""
    problem = problem_of(table, criterion, k)
    state = GraphState(ChordalGraph.empty(table.n_variables))
    held = Held(problem, state, quiet)
    lookaheads = {i: Lookahead(held, i) for i in range(1, k + 1)}
    for _ in range(data.draw(st.integers(1, 8))):
        graph = state.graph
        able = [
            link for link in graph.missing_links(VarSet((1 << graph.n_vertices) - 1)) if graph.may_add(link)
        ]
        unneeded = [link for link, _ in removable(graph)]
        link = data.draw(st.sampled_from(able + unneeded))
        if link in unneeded:
            state.remove(link)
        else:
            state.add((link,))
        for i in data.draw(st.sets(st.integers(1, k))):  # some follow at once, others several changes later
            fresh = GraphState(state.graph)
            assert told(lookaheads[i].best()) == told(Lookahead(Held(problem, fresh, quiet), i).best())
