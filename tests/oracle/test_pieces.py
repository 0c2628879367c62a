"""Every piece needed, against brute force: parts of random sets, whole traces, and a bar that is too high."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.oracle.plain import flipped, pieces_of, plain_search, subsets
from tests.strategies import chordal_graphs, tables
from xordal import CategoricalTable, Significance, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.graph.chordal import ChordalGraph, is_chordal, linked
from xordal.graph.fill_in import completions
from xordal.graph.pieces import last_to_come, pieces
from xordal.graph.separators import SeparatorPaths
from xordal.graph.signed_sets import change, free_parameters, signed_sets
from xordal.search import shapes
from xordal.search.candidate import candidate
from xordal.search.schedule import Schedule
from xordal.statistics.criterion import Evidence
from xordal.statistics.needed import NeededParts, largest_part
from xordal.statistics.null_law import NullLaw
from xordal.types.varsets import LinkSet, SignedSets, VarSet, varset


def added(before: ChordalGraph, after: ChordalGraph) -> SignedSets:
    old, new = signed_sets(before), signed_sets(after)
    gained = {s: new.get(s, 0) - old.get(s, 0) for s in old | new}
    return {s: c for s, c in gained.items() if c and s}


def parts_by_the_letter(graph: ChordalGraph, variables: VarSet, links: LinkSet) -> dict[LinkSet, SignedSets]:
    """Return what is added to every largest chordal graph without the links of one piece."""
    found = {}
    for piece in pieces_of(graph, variables):
        others = [link for link in links if not set(link) & piece]
        able = [set(some) for some in subsets(others) if is_chordal(linked(graph.neighbours, some))]
        for kept in able:
            if not any(kept < other for other in able):
                rest = tuple(sorted(set(links) - kept))
                found[rest] = added(graph.add(kept), graph.add(links))
    return found


def coins(n: int) -> CategoricalTable:
    rows = np.random.default_rng(0).integers(2, size=(20, n)).tolist()
    return CategoricalTable.from_rows(
        [f"v{v}" for v in range(n)], [[*row] for row in [*rows, [0] * n, [1] * n]]
    )


@settings(max_examples=some(300))
@given(chordal_graphs(min_vertices=3, max_vertices=8), st.data())
def test_the_parts_follow_from_the_change_alone(graph: ChordalGraph, data: st.DataObject) -> None:
    """What a judge works out without the graph is what the whole graph says."""
    chosen = data.draw(st.sets(st.integers(0, graph.n_vertices - 1), min_size=3, max_size=5))
    found = candidate(graph, varset(chosen))
    if found is None or not found.links:
        return
    ends = varset(v for link in found.links for v in link)
    table = coins(graph.n_vertices)
    needed = NeededParts(NullLaw(NumpyCounter(table), table.n_levels), table.n_levels)
    evidence = Evidence(ends, found.links, found.change, 0.1, 1, table.n_rows)
    (parts,) = needed.of([evidence])
    expected = parts_by_the_letter(graph, ends, found.links)
    assert {part.links: part.change for part in parts} == expected
    assert {tuple(sorted(p)) for p in pieces_of(graph, ends)} == {
        tuple(v for v in range(graph.n_vertices) if piece >> v & 1) for piece in pieces(ends, found.links)
    }
    if not any(s & ~ends for s in found.change):
        dofs = [free_parameters(terms, table.n_levels) for terms in expected.values()]
        assert largest_part(ends, found.links, table.n_levels) in (max(dofs), None)


@settings(max_examples=some(150))
@given(chordal_graphs(min_vertices=4, max_vertices=8), st.data())
def test_what_can_come_last_beside_a_fill_in(graph: ChordalGraph, data: st.DataObject) -> None:
    chosen = varset(data.draw(st.sets(st.integers(0, graph.n_vertices - 1), min_size=3, max_size=4)))
    own = graph.missing_links(chosen)
    for done in completions(graph, SeparatorPaths(graph), chosen, (2,) * graph.n_vertices)[:3]:
        after = graph.add([(x, y) for x, y, _ in done.steps])
        expected = {}
        for piece in pieces_of(graph, chosen):
            its_own = [link for link in own if set(link) & piece]
            able = [set(gone) for gone in subsets(its_own) if flipped(after, gone) is not None]
            for gone in able:
                before = flipped(after, gone)
                if gone and before is not None and not any(gone < other for other in able):
                    expected[tuple(sorted(gone))] = added(before, after)
        found = last_to_come(after, chosen, own)
        assert {tuple(sorted((x, y) for x, y, _ in one)): change(one) for one in found} == expected


def xor_beside_coins(n_rows: int, seed: int) -> CategoricalTable:
    generator = np.random.default_rng(seed)
    columns = generator.integers(2, size=(7, n_rows))
    columns[2] = np.where(generator.random(n_rows) < 0.65, columns[2], columns[0] ^ columns[1])
    return CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})


@pytest.mark.slow
def test_a_bar_that_is_too_high_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bar of the parts alone, a scan loses sets that are to be learned by their odd cells."""

    def differ() -> int:
        n_other = 0
        for n_rows, seed in ((100, 16), (110, 12), (120, 7), (130, 4), (140, 1)):
            table = xor_beside_coins(n_rows, seed)
            plain = plain_search(table, Schedule("printed", 3), Significance(), fill_in=True, prune=True)
            n_other += learn(table, find_rules=False).trace != plain.trace
        return n_other

    assert differ() == 0
    monkeypatch.setattr(shapes, "is_tested", lambda levels: False)
    assert differ() == 5


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@settings(max_examples=some(30), deadline=None)
@given(table=tables(min_variables=4, max_variables=6), m=st.integers(3, 4))
def test_same_trace_by_the_letter_with_any_backend(backend: str, table: CategoricalTable, m: int) -> None:
    """Sets of up to four free columns have parts of three, whichever counts."""
    learned = learn(table, max_variables=m, criterion=Significance(0.3), backend=backend, find_rules=False)
    schedule = Schedule("printed", m * (m - 1) // 2)
    plain = plain_search(table, schedule, Significance(0.3), max_variables=m, fill_in=True, prune=True)
    assert learned.trace == plain.trace


@pytest.mark.slow
def test_noise_does_not_ride_along() -> None:
    """Skewed bits and their parity: one real link is left over where three must come at once.

    By chance alone, in a step of its own, noise may be linked in a twentieth of the runs.
    """
    n_linked = 0
    model = set(combinations(range(5), 2))
    for seed in range(24):
        generator = np.random.default_rng([seed, 7])
        bits = (generator.random((4, 20_000)) < 0.35).astype(int)
        columns = [*bits, bits.sum(axis=0) % 2, *generator.integers(2, size=(30, 20_000))]
        table = CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})
        learned = learn(table, find_groups=False)
        assert model <= set(learned.links)
        assert all(set(entry.links) <= model for entry in learned.trace if model & set(entry.links))
        n_linked += set(learned.links) != model
    assert n_linked <= 1


def test_a_column_without_variation_takes_part_in_nothing() -> None:
    """Not even in a set of which the rest is as strong as can be."""
    rows = [(a, b, a ^ b, 0, a) for a in (0, 1) for b in (0, 1)] * 50
    for m in (3, 4):
        links = learn(CategoricalTable.from_rows("abcde", rows), max_variables=m).links
        assert links and not any(3 in link for link in links)
