"""Constraints, limits and the fill-in rule against brute force."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.oracle.test_graphs import as_networkx
from tests.strategies import neighbour_masks, tables
from xordal import (
    BIC,
    CategoricalTable,
    Constraints,
    EntropyDecrement,
    Limits,
    SettingsError,
    Significance,
    learn,
)
from xordal.graph.chordal import is_chordal, linked
from xordal.graph.min_fill import min_fill
from xordal.pi.zoo import music_box
from xordal.reference import entropy as entropy_of_network
from xordal.statistics.criterion import Criterion
from xordal.types.varsets import Link, LinkSet, members

BOX = music_box().joint.exact_table()


def cliques(n: int, links: set[Link]) -> list[list[int]]:
    graph = nx.Graph(links)
    graph.add_nodes_from(range(n))
    return [sorted(clique) for clique in nx.find_cliques(graph)]


def plain_search(
    table: CategoricalTable, k: int, start: set[Link], forbidden: set[Link], max_clique: int
) -> list[LinkSet]:
    """Search by the letter of the printed algorithm; a link set may not break a rule."""
    rows, n = table.rows(), range(table.n_variables)
    links, learned, i, j = set(start), [], 1, 1
    while j <= k:
        modified = False
        while True:
            found = []
            for chosen in combinations(sorted(set(combinations(n, 2)) - links), i):
                after = links | set(chosen)
                ends = sorted({v for link in chosen for v in link})
                one_clique = set(combinations(ends, 2)) <= after
                if not one_clique or set(chosen) & forbidden or not nx.is_chordal(nx.Graph(after)):
                    continue
                if max(map(len, cliques(len(n), after))) <= max_clique:
                    gain = entropy_of_network(rows, n, frozenset(links))
                    found.append((gain - entropy_of_network(rows, n, frozenset(after)), chosen))
            best = max((gain for gain, _ in found), default=0.0)
            if best <= 0.004:
                break
            chosen = next(chosen for gain, chosen in found if gain >= best - 1e-12)
            links |= set(chosen)
            learned.append(chosen)
            modified = True
        if modified and i > 1:
            i = 1
        elif i < j:
            i += 1
        else:
            i = j = j + 1
    return learned


@settings(max_examples=some(60))
@given(tables(min_variables=3, max_variables=5), st.integers(1, 3), st.data())
def test_a_search_under_constraints(table: CategoricalTable, k: int, data: st.DataObject) -> None:
    pairs = list(combinations(range(table.n_variables), 2))
    required = data.draw(st.sets(st.sampled_from(pairs), max_size=3), label="required")
    forbidden = data.draw(st.sets(st.sampled_from(pairs), max_size=3), label="forbidden")
    max_clique = data.draw(st.integers(2, 5), label="max_clique")
    filled = set(min_fill(linked([0] * table.n_variables, required)))
    start = required | filled
    constraints = Constraints(
        required=[(table.names[u], table.names[v]) for u, v in required],
        forbidden=[(table.names[v], table.names[u]) for u, v in forbidden],
    )
    limits = Limits(max_clique=max_clique)
    if start & forbidden or max(map(len, cliques(table.n_variables, start))) > max_clique:
        with pytest.raises(SettingsError):
            learn(table, max_links=k, constraints=constraints, limits=limits)
        return
    paper = EntropyDecrement(0.004)
    learned = learn(table, max_links=k, criterion=paper, constraints=constraints, limits=limits)
    trace = list(learned.trace)
    if start:
        first = trace.pop(0)
        assert (first.lookahead, set(first.links), set(first.fill_in)) == (0, start, filled)
        assert first.graphs_tested == 0
        n = range(table.n_variables)
        entropies = [entropy_of_network(table.rows(), n, frozenset(links)) for links in ((), start)]
        assert first.gain == pytest.approx(entropies[0] - entropies[1], abs=1e-12)
    assert [entry.links for entry in trace] == plain_search(table, k, start, forbidden, max_clique)
    if trace:
        missing = comb(table.n_variables, 2) - len(start)
        assert trace[0].graphs_tested >= missing


def test_no_constraints_change_nothing() -> None:
    assert (
        learn(BOX, constraints=Constraints(), limits=Limits(max_clique=8, time_limit=600)).trace
        == learn(BOX).trace
    )


@pytest.mark.parametrize(
    "criterion",
    [EntropyDecrement(0.004), pytest.param(Significance(), marks=pytest.mark.slow), BIC()],
    ids=["the paper's", "significance", "BIC"],
)
def test_a_forbidden_link_between_linked_pairs_is_not_learned(criterion: Criterion) -> None:
    """Two pairs of different components, four links apart, that depend on each other only together."""
    rows = [
        (a, b, a ^ differs, b ^ differs ^ flipped)
        for a, b, differs, flipped in product((0, 1), repeat=4)
        for _ in range((4 - 3 * differs) * (19 - 18 * flipped))
    ]
    table = CategoricalTable.from_rows("abcd", rows)
    free = learn(table, max_variables=4, criterion=criterion, fill_in=False, prune=False, local_search=False)
    assert any(entry.lookahead == 4 for entry in free.trace)
    limited = learn(
        table,
        max_variables=4,
        criterion=criterion,
        constraints=Constraints(forbidden=[("a", "b")]),
        fill_in=False,
        prune=False,
        local_search=False,
    )
    assert (0, 1) not in limited.links
    assert limited.links


def test_a_ring_of_required_links_is_completed() -> None:
    ring = [("ball1", "dog"), ("dog", "light1"), ("light1", "ball2"), ("ball2", "ball1")]
    learned = learn(BOX, max_links=1, constraints=Constraints(required=ring))
    assert [learned.names(link) for link in learned.trace[0].fill_in] == [("ball2", "dog")]
    assert learned.settings["required"] == tuple(ring)


@given(neighbour_masks())
def test_fill_in_is_chordal_minimal_and_none_where_none_is_needed(masks: list[int]) -> None:
    filled = min_fill(masks)
    assert list(filled) == sorted(set(filled))
    assert not any(masks[u] >> v & 1 for u, v in filled)
    assert nx.is_chordal(as_networkx(linked(masks, filled)))
    assert (filled == ()) == is_chordal(masks)
    for link in filled:
        assert not is_chordal(linked(masks, [other for other in filled if other != link]))
    assert min_fill(masks) == filled


@pytest.mark.parametrize(
    ("constraints", "limits", "told"),
    [
        ({"required": [("ball1", "cat")]}, {}, "no column 'cat' to link"),
        ({"required": [("ball1", "dgo")]}, {}, "did you mean 'dog'"),
        ({"required": [("ball1", "dog")], "forbidden": [("dog", "ball1")]}, {}, "both required and forbidden"),
        (
            {
                "required": [("ball1", "ball3"), ("ball3", "ball2"), ("ball2", "dog"), ("ball1", "dog")],
                "forbidden": [("ball3", "dog")],
            },
            {},
            "ball3 - dog is forbidden, but completes the required links",
        ),
        (
            {"required": [("ball1", "ball2"), ("ball1", "dog"), ("ball2", "dog")]},
            {"max_clique": 2},
            "clique of ball1",
        ),
    ],
)
def test_constraints_that_contradict(
    constraints: dict[str, list[tuple[str, str]]], limits: dict[str, int], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        learn(BOX, constraints=Constraints(**constraints), limits=Limits(**limits))


def test_settings_that_make_no_sense() -> None:
    for links in (["ab"], [("a",)], [("a", "a")], [("a", "b", "c")]):
        with pytest.raises(SettingsError, match="pair of two column names"):
            Constraints(required=links)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="max_clique"):
        Limits(max_clique=1)
    for seconds in (0, -1, float("nan"), float("inf")):
        with pytest.raises(SettingsError, match="time_limit"):
            Limits(time_limit=seconds)
    with pytest.raises(SettingsError, match="reference engine knows no constraints"):
        learn(BOX, engine="reference", limits=Limits(max_clique=3))


def test_a_time_limit_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth bit is the parity of the three before it; time goes by one second per learned entry."""
    rows = []
    for number in range(600):
        bits = [(number * prime >> 3) & 1 for prime in range(3, 93, 4)]
        rows.append([b for i in range(0, 21, 3) for b in (*bits[i : i + 3], sum(bits[i : i + 3]) % 2)])
    table = CategoricalTable.from_rows([f"b{v}" for v in range(28)], rows)
    whole = learn(table, max_links=1, criterion=EntropyDecrement(0.05))
    seen: list[object] = []
    monkeypatch.setattr("xordal.search.limits.monotonic", lambda: float(len(seen)))
    limits = Limits(time_limit=2.5)
    learned = learn(table, max_links=6, criterion=EntropyDecrement(0.05), limits=limits, on_entry=seen.append)
    assert learned.run.stopped_by == "time limit"
    assert learned.trace == whole.trace[:3]


@given(masks=neighbour_masks())
def test_min_fill_is_what_it_says(masks: list[int]) -> None:
    """Every count taken anew at every step, and every link tried after every link that goes."""
    assert set(min_fill(masks)) == _filled_in_step_by_step(masks)


def _filled_in_step_by_step(masks: list[int]) -> set[Link]:
    links = {(u, v) for u, mask in enumerate(masks) for v in members(mask) if u < v}
    left, filled = set(range(len(masks))), set[Link]()

    def missed(v: int) -> set[Link]:
        around = [u for u in sorted(left) if (min(u, v), max(u, v)) in links | filled]
        return set(combinations(around, 2)) - links - filled

    while left:
        first = min(left, key=lambda v: (len(missed(v)), v))
        filled |= missed(first)
        left.remove(first)
    while idle := [one for one in filled if is_chordal(linked([0] * len(masks), links | filled - {one}))]:
        filled.remove(max(idle))
    return filled
