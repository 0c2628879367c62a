"""A lookahead that has followed links that come and go finds what one that begins anew finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs, tables
from xordal import BIC, CategoricalTable, EntropyDecrement, Significance
from xordal.counting.compiled import words_of
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CachedOracle
from xordal.counting.plain import CountingOracle, PlainScanner
from xordal.graph.chordal import ChordalGraph
from xordal.search.lookahead import Lookahead
from xordal.search.problem import Judged, Problem
from xordal.search.refine.prune import removable
from xordal.search.sources import scanned
from xordal.search.sources.around import Held
from xordal.search.state import GraphState, labels_of
from xordal.statistics.criterion import Criterion, Sample
from xordal.types.varsets import VarSet


@dataclass(frozen=True)
class AllTie(EntropyDecrement):
    """Accepts whatever gains anything, and lets all of it tie, so that a lookahead returns every candidate."""

    def on(self, sample: Sample) -> AllTie:
        return self

    def tolerance(self, best: float) -> float:
        return inf


criteria = st.sampled_from([EntropyDecrement(0.01), BIC(0.2), Significance(0.5)])


def problem_of(table: CategoricalTable, criterion: Criterion, k: int) -> Problem:
    counter = NumpyCounter(table)
    oracle = CachedOracle(CountingOracle(counter, table.n_levels))
    judge = criterion.on(Sample(table.n_levels, table.n_rows, counter, k, k + 1))
    scanner = PlainScanner(oracle, table.n_levels)
    return Problem(oracle, scanner, judge, table.n_levels, table.n_rows, fill_in=True)


def quiet(n_sets: int, scanned: int = 0, /) -> None:
    pass


def told(best: Judged | None) -> object:
    return best and (best.evidence.links, best.evidence.fill_in, best.evidence.gain, best.verdict)


def follow(
    problem: Problem, k: int, graph: ChordalGraph, data: st.DataObject, answer: Callable[[Lookahead], object]
) -> None:
    """Let links come and go at random, bridges among them; lookaheads that follow answer as new ones do."""
    state = GraphState(graph)
    kept = data.draw(st.sampled_from([(0, 3), (1, 2), (16, 256)]))
    held = Held(problem, state, quiet)
    lookaheads = {i: Lookahead(held, i) for i in range(1, k + 1)}
    for _ in range(data.draw(st.integers(1, 8))):
        graph = state.graph
        assert (state.words == words_of(graph.neighbours)).all()
        able = [
            link for link in graph.missing_links(VarSet((1 << graph.n_vertices) - 1)) if graph.may_add(link)
        ]
        unneeded = [link for link, _ in removable(graph)]
        link = data.draw(st.sampled_from(able + unneeded))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("xordal.search.state._LAST", kept[0])
            patch.setattr("xordal.search.state._EVERY", kept[1])
            if link in unneeded:
                state.remove(link)
            else:
                state.add((link,))
        for i in data.draw(st.sets(st.integers(1, k))):  # some follow at once, others several changes later
            fresh = GraphState(state.graph)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(scanned, "_FEW", 0)  # sets are looked up by what has changed, as in a wide table
                found = answer(lookaheads[i])
            assert found == answer(Lookahead(Held(problem, fresh, quiet), i))


@settings(max_examples=some(100), deadline=None)
@given(tables(min_variables=4, max_variables=7), criteria, st.integers(1, 4), st.data())
def test_links_that_come_and_go_leave_the_best_candidate(
    table: CategoricalTable, criterion: Criterion, k: int, data: st.DataObject
) -> None:
    empty = ChordalGraph.empty(table.n_variables)
    follow(problem_of(table, criterion, k), k, empty, data, lambda lookahead: told(lookahead.best()))


@st.composite
def trees(draw: st.DrawFn, n: int) -> ChordalGraph:
    parents = [draw(st.integers(0, v - 1)) for v in range(1, n)]
    return ChordalGraph.empty(n).add([(parent, v) for v, parent in enumerate(parents, start=1)])


FAN = ChordalGraph.empty(7).add([*((0, v) for v in range(1, 7)), *((v, v + 1) for v in range(1, 6))])


@settings(max_examples=some(400), deadline=None)
@given(
    tables(min_variables=7, max_variables=7),
    st.one_of(trees(7), st.just(FAN), chordal_graphs(min_vertices=7, max_vertices=7)),
    st.integers(2, 4),
    st.data(),
)
def test_links_that_come_and_go_lose_no_candidate(
    table: CategoricalTable, graph: ChordalGraph, k: int, data: st.DataObject
) -> None:
    """In trees links that go split components; in a fan those of its hub leave sets that need fill-in."""

    def every_candidate(lookahead: Lookahead) -> set[object]:
        return {told(found) for way in lookahead._ways for found in way.best()}

    follow(problem_of(table, AllTie(0.0), k), k, graph, data, every_candidate)


@settings(max_examples=some(100), deadline=None)
@given(chordal_graphs(min_vertices=3, max_vertices=7), st.integers(0, 3), st.integers(1, 4), st.data())
def test_graphs_that_are_not_kept_are_made_anew(
    graph: ChordalGraph, last: int, every: int, data: st.DataObject
) -> None:
    state, graphs = GraphState(graph), [graph]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xordal.search.state._LAST", last)
        patch.setattr("xordal.search.state._EVERY", every)
        for _ in range(data.draw(st.integers(1, 8))):
            missing = graph.missing_links(VarSet((1 << graph.n_vertices) - 1))
            able = [link for link in missing if graph.may_add(link)]
            unneeded = [link for link, _ in removable(graph)]
            link = data.draw(st.sampled_from(able + unneeded))
            if link in unneeded:
                state.remove(link)
            else:
                state.add((link,))
            graph = state.graph
            graphs.append(graph)
        assert len(state._known) <= 3 + last + len(graphs) // every
    for position, before in enumerate(graphs, start=1):
        change = state.since(position) if position < state.position else None
        if change is not None:
            assert change.before == before and change.before.components == before.components
            assert change.labels[0].tolist() == labels_of(before.components).tolist()
