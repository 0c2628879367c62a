"""The report: its evidence counted by brute force, its places, its words, and the file it is written to."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xordal.cli.app import main
from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.estimator import MultiLinkSearch
from xordal.formats.model_file import load
from xordal.graph.chordal import ChordalGraph
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.zoo import music_box
from xordal.report.evidence import evidence_of
from xordal.report.html import report_page
from xordal.report.places import components, map_places
from xordal.report.summary import summarise
from xordal.types.groups import Submodel
from xordal.types.learned import Learned
from xordal.types.rules import AdditiveRule, Rule
from xordal.types.trace import SearchRun, TraceEntry, links_after
from xordal.types.varsets import VarSet, varset


def network_of(rows: list[tuple[int, ...]], group: Submodel) -> DecomposableMarkovNetwork:
    """Return the complete network of some rows, with one hidden group."""
    size = len(rows[0])
    links = tuple((u, v) for u in range(size) for v in range(u + 1, size))
    trace = (TraceEntry("add", len(links), links, 0.1, 1, 1),)
    settings = {
        "criterion": {"name": "EntropyDecrement", "delta_h": 0.004},
        "max_links": 3,
        "schedule": "printed",
    }
    run = SearchRun(trace, 1, 1, 1)
    names = tuple(f"v{v}" for v in range(size))
    learned = Learned(names, links, (tuple(range(size)),), run, settings, len(rows), 0.1, (group,), links)
    return fit_network(CategoricalTable.from_rows(names, rows), learned)


ROWS = st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=12, max_size=60)


@given(
    ROWS, st.sampled_from([((0,), (1,), (2,)), ((0, 1), (2,)), ((0,), (1, 2)), ((0, 2), (1, 3))]), st.booleans()
)
def test_expected_counts_are_products_of_the_parts(
    rows: list[tuple[int, ...]], parts: tuple[tuple[int, ...], ...], given_last: bool
) -> None:
    whole = sorted(v for part in parts for v in part)
    context = (3,) if given_last and 3 not in whole else ()
    rows = [*rows, (0, 0, 0, 0), (1, 1, 1, 1)]  # every level occurs
    group = Submodel(varset(whole), tuple(map(varset, parts)), "partial", 0.1, varset(context))
    found = evidence_of(network_of(rows, group), group)
    labels = [dict(zip(found.joint.row_names, row, strict=True)) for row in found.joint.row_labels]
    for at, cells in zip(labels, found.joint.cells, strict=True):
        for level, cell in zip(found.joint.column_labels, cells, strict=True):
            state = {int(name[1:]): int(code) for name, code in {**at, found.joint.column_name: level}.items()}
            counted = [sum(all(row[v] == state[v] for v in part) for row in rows) for part in [
                (*whole, *context), context, *((*part, *context) for part in parts)]]  # fmt: skip
            expected = np.prod(counted[2:]) / max(counted[1], 1) ** (len(parts) - 1)
            assert cell.count == counted[0]
            assert cell.expected == pytest.approx(expected if counted[1] else 0.0)
    assert sum(cell.count for row in found.joint.cells for cell in row) == len(rows)


@given(ROWS)
def test_outcomes_of_a_rule_by_brute_force(rows: list[tuple[int, ...]]) -> None:
    rows = [*rows, (0, 0, 0, 0), (1, 1, 1, 1)]
    additive = AdditiveRule.of_codes((0, 1, 2), 2, (1, 1, 1), 1, len(rows), 0, 0.5, -1.0)
    rule = Rule("parity", 0.9, 0.5, additive, marked=("1", "1", "1"))
    group = Submodel(varset([0, 1, 2]), tuple(varset([v]) for v in range(3)), "full", 0.1, rule=rule)
    found = evidence_of(network_of(rows, group), group).rule
    assert found is not None
    share = [sum(row[v] for row in rows) / len(rows) for v in range(3)]
    for (label,), (cell,) in zip(found.row_labels, found.cells, strict=True):
        odd = label.startswith("odd")
        assert cell.count == sum(sum(row[:3]) % 2 == odd for row in rows)
        chances = [
            np.prod([share[v] if state[v] else 1 - share[v] for v in range(3)])
            for state in product((0, 1), repeat=3)
            if sum(state) % 2 == odd
        ]
        assert cell.expected == pytest.approx(len(rows) * sum(chances))


@given(st.integers(1, 40), st.data())
def test_no_box_of_a_map_lies_over_another(n_nodes: int, data: st.DataObject) -> None:
    pairs = st.tuples(st.integers(0, n_nodes - 1), st.integers(0, n_nodes - 1))
    links = sorted({(min(p), max(p)) for p in data.draw(st.lists(pairs, max_size=60)) if p[0] != p[1]})
    widths = data.draw(st.lists(st.integers(10, 90), min_size=n_nodes, max_size=n_nodes))
    halves = [(float(width), 13.0) for width in widths]
    places = map_places(links, halves)
    assert places == map_places(links, halves)
    for u in range(n_nodes):
        for v in range(u):
            (a, b), (c, d) = places[u], places[v]
            assert abs(a - c) >= halves[u][0] + halves[v][0] or abs(b - d) >= 26.0
    assert sorted(v for part in components(n_nodes, links) for v in part) == list(range(n_nodes))


@pytest.mark.parametrize(
    "links",
    [
        [(v // 2, v) for v in range(1, 120)],
        [(0, v) for v in range(1, 120)],
        [(v - 1, v) for v in range(1, 120)],
    ],
    ids=["tree", "star", "chain"],
)
def test_a_large_component_is_laid_out_without_overlap_and_waste(links: list[tuple[int, int]]) -> None:
    places = map_places(links, [(40.0, 13.0)] * 120)
    apart = [abs(a - c) >= 80 or abs(b - d) >= 26 for n, (a, b) in enumerate(places) for c, d in places[:n]]
    assert all(apart)
    width, height = (max(along) - min(along) for along in zip(*places, strict=True))
    assert max(width, height) < 120 * 110  # no more than all boxes in a row


def test_the_music_box_in_words() -> None:
    table = music_box().joint.exact_table()
    summary = summarise(fit_network(table, learn(table)), "Box")
    assert summary.lead.endswith("Learners that add one link at a time miss 10 of the 12 links.")
    assert summary.groups is not None
    assert [group.heading for group in summary.groups][:2] == [
        "music_box | dog | John",
        "ball1 | ball2 | ball3 | music_box",
    ]
    assert summary.groups[0].words[0] == (
        "music_box, dog and John look independent two at a time. Together they are not: all 3 share 0.6931 "
        "nats (1.00 bits), 100 % hidden from every pair."
    )
    assert [step.p_value for step in summary.steps][:2] == ["1e-37", "1e-4"]
    assert len(summary.stills) == 7
    assert [drawing.title for drawing in summary.executions] == ["Execution chain", "Execution forest"]
    assert [clique.n_occupied for clique in summary.cliques] == [8, 4, 4]


def test_fill_in_and_removed_links_are_drawn_as_such() -> None:
    rows = [(a, b, a) for a in (0, 1) for b in (0, 1)] * 20
    table = CategoricalTable.from_rows("abc", rows)
    trace = (
        TraceEntry("add", 1, ((0, 1),), 0.1, 1, 3),
        TraceEntry("add", 1, ((0, 2), (1, 2)), 0.1, 1, 5, fill_in=((1, 2),)),
        TraceEntry("remove", 1, ((0, 1),), 0.0, -1, 5),
    )
    settings = {"criterion": {"name": "BIC"}, "max_links": 1, "schedule": "single"}
    links = links_after(trace)
    learned = Learned(
        ("a", "b", "c"), links, ((0, 2), (1, 2)), SearchRun(trace, 5, 5, 5), settings, 80, 0.1, (), ()
    )
    summary = summarise(fit_network(table, learned))
    assert [(link.ends, link.kind, link.is_final) for link in summary.map.links] == [
        ((0, 1), "black", False),
        ((0, 2), "black", True),
        ((1, 2), "fill-in", True),
    ]
    assert summary.steps[1].told == "a - c, and to keep the graph chordal b - c"
    assert summary.executions == ()  # which passes there were cannot be told
    page = report_page(summary)
    assert 'class="link fill-in"' in page
    assert 'class="link black off"' in page
    assert "removed: a - b" in page


def test_networks_without_history_links_or_groups_have_reports() -> None:
    table = CategoricalTable.from_rows(["only"], [("x",), ("y",)])
    assert "no links" in report_page(summarise(fit_network(table, learn(table))))
    table = CategoricalTable.from_rows("ab", [(0, 0), (1, 1)] * 30)
    found = fit_network(table, learn(table))
    assert "None: pairs of variables explain" in report_page(summarise(found))
    by_hand = DecomposableMarkovNetwork(found.variables, found.levels, found.graph, found.factors)
    page = report_page(summarise(by_hand))
    assert 'id="slider"' not in page
    assert 'id="groups"' not in page


def test_a_group_outside_every_clique_has_words_and_no_tables() -> None:
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 20
    table = CategoricalTable.from_rows("abc", rows)
    group = Submodel(VarSet(7), (VarSet(1), VarSet(2), VarSet(4)), "full", 0.69)
    settings = {"criterion": {"name": "BIC"}, "max_links": 1, "schedule": "single"}
    learned = Learned(
        ("a", "b", "c"), (), ((0,), (1,), (2,)), SearchRun((), 3, 3, 3), settings, 80, 0.1, (group,), ()
    )
    network = fit_network(table, learned)
    assert network.graph == ChordalGraph.empty(3)
    summary = summarise(network)
    assert summary.groups is not None
    assert summary.groups[0].evidence is None
    assert "a | b | c" in report_page(summary)


def test_many_groups_stay_within_a_megabyte() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, size=(50, 400))
    for v in range(2, 50, 3):
        bits[v] = bits[v - 1] ^ bits[v - 2]
    table = CategoricalTable.from_rows([f"a rather long name {v}" for v in range(50)], bits.T.tolist())
    summary = summarise(fit_network(table, learn(table)))
    assert summary.groups is not None
    assert len(summary.groups) >= 16
    assert len(report_page(summary).encode()) < 1_000_000


@pytest.mark.slow
def test_the_estimator_and_the_command_write_the_same_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    search = MultiLinkSearch().fit([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25)
    search.network_.save("net.json")
    search.report("est.html", title="What xordal found in net")
    with pytest.raises(SystemExit) as end:
        main(["report", "net.json"])
    assert end.value.code == 0
    assert capsys.readouterr().err == "Wrote the report to net.html\n"
    ours, theirs = (Path(name).read_text(encoding="utf-8") for name in ("est.html", "net.html"))
    assert ours == theirs
    assert load("net.json").learned is not None
    with pytest.raises(DataError, match="Cannot write"):
        search.report(tmp_path / "nowhere" / "x.html")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nothing.json"], 1, "nothing.json"),
        (["net.json", "-o", ""], 2, "name of a file"),
        (["net.json", "-o", "nowhere/x.html"], 1, "There is no directory"),
    ],
)
def test_bad_names_are_one_error(
    arguments: list[str],
    code: int,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    MultiLinkSearch().fit([(0, 0), (1, 1)] * 20).network_.save("net.json")
    with pytest.raises(SystemExit) as end:
        main(["report", *arguments])
    assert end.value.code == code
    assert told in capsys.readouterr().err
