"""Networks in files of other programs: what is written is read back exactly, and means the same."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import xordal
from tests.bayesian import ODD_LEVELS, ODD_NAMES, difference, joint_of, odd_network, random_network
from xordal import (
    BayesianNetwork,
    CategoricalTable,
    DataError,
    DataWarning,
    DecomposableMarkovNetwork,
    ModelFileError,
    SettingsError,
    learn,
)
from xordal.formats.bif import RESERVED, read_bif
from xordal.formats.hugin_net import read_net
from xordal.formats.network_files import format_of, is_network_file, network_text, read_network, write_network
from xordal.formats.plain_words import original, plain_level, plain_word, printable
from xordal.formats.uai import read_uai
from xordal.learning.fitting import fit_network
from xordal.model.directed import Family, along_a_perfect_order
from xordal.model.smoothing import Backoff, Smoothing
from xordal.pi.zoo import music_box

DIRECTED = ("bif", "xmlbif", "net", "uai", "uai-pgmpy", "uai-pyagrum", "json")
each_format = pytest.mark.parametrize("to", DIRECTED)


def learned_network(smoothing: Smoothing = 1.0, n_rows: int = 500) -> DecomposableMarkovNetwork:
    table = music_box().joint.sample_table(n_rows, 1)
    return fit_network(table, learn(table), smoothing=smoothing)


def there_and_back(
    network: BayesianNetwork | DecomposableMarkovNetwork, to: str, folder: Path
) -> BayesianNetwork:
    write_network(network, folder / "net", to)
    found = read_network(folder / "net")
    assert isinstance(found, BayesianNetwork)
    return found


@each_format
@example(n_levels=[2, 2], seed=264)  # rows that nearly sum to one in two orders of the cells
@given(n_levels=st.lists(st.integers(1, 4), min_size=1, max_size=6), seed=st.integers(0, 999))
def test_a_network_comes_back_exactly(
    to: str, n_levels: list[int], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    network = random_network(n_levels, seed, n_parents=3)
    found = there_and_back(network, to, tmp_path_factory.mktemp("files"))
    assert (found.variables, found.levels) == (network.variables, network.levels)
    assert found.numbered_arcs == network.numbered_arcs  # parents in their order
    assert difference(network, found) == 0.0


@each_format
def test_odd_names_and_levels_come_back(to: str, tmp_path: Path) -> None:
    network = odd_network()
    found = there_and_back(network, to, tmp_path)
    assert (found.variables, found.levels) == (ODD_NAMES, ODD_LEVELS)
    assert difference(network, found) == 0.0


@given(st.text(alphabet=st.characters(), max_size=12) | st.text(alphabet="_x0041F ", max_size=14))
def test_every_text_comes_back_from_its_escape(text: str) -> None:
    for word in (plain_word(text), plain_word(text, RESERVED), plain_level(text, RESERVED)):
        assert original(word) == text
        assert word.isascii()
        assert word.replace("_", "a").isalnum()
    assert original(printable(text)) == text
    assert original(printable(text, also="\\")) == text
    assert printable(text).isprintable()
    assert printable(text) == printable(text).strip()


@given(n_levels=st.lists(st.integers(1, 3), min_size=1, max_size=6), seed=st.integers(0, 999))
def test_the_decomposable_network_has_the_same_joint(n_levels: list[int], seed: int) -> None:
    network = random_network(n_levels, seed, n_parents=3)
    markov = network.to_markov()
    cells = np.indices(network.n_levels).reshape(len(n_levels), -1)
    joint = joint_of(network)
    assert np.allclose(np.exp(markov.log_prob(cells)).reshape(joint.shape), joint, rtol=1e-9, atol=1e-14)
    for v, name in enumerate(network.variables):
        margin = joint.sum(axis=tuple(u for u in range(len(n_levels)) if u != v))
        assert np.allclose(list(markov.query(name).values()), margin)
    again = along_a_perfect_order(markov)
    assert np.allclose(joint_of(again), joint, rtol=1e-9, atol=1e-14)
    assert again.to_markov().graph == markov.graph


@pytest.mark.parametrize("smoothing", [1.0, 0.0, Backoff(10)])
@each_format
def test_a_learned_network_is_written_with_the_same_joint(
    to: str, smoothing: Smoothing, tmp_path: Path
) -> None:
    network = learned_network(smoothing)
    write_network(network, tmp_path / "net", to)
    found = read_network(tmp_path / "net")
    codes = np.random.default_rng(0).integers(0, 2, size=(len(network.variables), 200))
    assert np.allclose(np.exp(found.log_prob(codes)), np.exp(network.log_prob(codes)), rtol=1e-9, atol=1e-300)


def test_a_network_that_was_given_is_saved_loaded_and_asked(tmp_path: Path) -> None:
    network = random_network([2, 3, 2], 3).to_markov()
    network.save(tmp_path / "net.json")
    again = DecomposableMarkovNetwork.load(tmp_path / "net.json")
    assert not again.is_counted
    assert again.graph == network.graph
    assert network.compare(again).divergence == pytest.approx(0, abs=1e-12)
    assert again.query("v1") == pytest.approx(network.query("v1"))
    assert network.sample(100, seed=1).n_rows == 100
    with pytest.raises(DataError, match="given"):
        network.smoothed(1.0)
    with pytest.raises(DataError, match="given"):
        _ = network.clique_tables()[0].counted


def test_types_of_levels_survive_in_our_own_formats(tmp_path: Path) -> None:
    table = CategoricalTable.from_columns({"a": [0, 1] * 20, "b": [True, False] * 20, "c": [0.5, 1.5] * 20})
    network = fit_network(table, learn(table))
    for to in ("json", "uai"):
        write_network(network, tmp_path / "net", to)
        assert read_network(tmp_path / "net").levels == network.levels
    directed = there_and_back(network, "bif", tmp_path)
    assert directed.levels == (("0", "1"), ("False", "True"), ("0.5", "1.5"))


@pytest.mark.parametrize("to", ["json", "uai", "bif", "xmlbif", "net"])
def test_dates_as_levels(to: str, tmp_path: Path) -> None:
    """JSON and the names beside UAI keep the type; other formats hold text."""
    days: tuple[Hashable, ...] = (date(2024, 2, 29), date(2024, 3, 1))
    network = BayesianNetwork(("day",), (days,), (Family(0, (), np.array([0.25, 0.75])),))
    network.export(tmp_path / f"net.{to}")
    kept = to in ("json", "uai")
    assert read_network(tmp_path / f"net.{to}").levels == (days if kept else tuple(map(str, days)),)


@pytest.mark.parametrize(("to", "name"), [("graphml", "GraphML"), ("dot", "DOT"), ("hif", "HIF")])
@pytest.mark.parametrize("directed", [False, True])
def test_formats_that_are_only_written_say_so_on_reading(
    to: str, name: str, directed: bool, tmp_path: Path
) -> None:
    network = random_network([2, 2, 3], 0)
    (network if directed else network.to_markov()).export(tmp_path / f"net.{to}")
    with pytest.raises(ModelFileError, match=f"is {name}, which can be written and not read"):
        read_network(tmp_path / f"net.{to}")


def ruled_network() -> DecomposableMarkovNetwork:
    """A parity of eight columns, one with a name that no format takes as it is, in a rule and no link."""
    bits = np.random.default_rng(0).integers(0, 2, size=(600, 7))
    names = ["-->\n; }", *(f"b{v}" for v in range(1, 8))]
    rows = np.column_stack([bits, bits.sum(axis=1) % 2]).tolist()
    table = CategoricalTable.from_rows(names, rows)
    return fit_network(table, learn(table))


@pytest.mark.parametrize("to", ["bif", "xmlbif", "net", "uai", "uai-pgmpy", "graphml", "dot"])
def test_rules_are_said_in_words_where_a_format_cannot_hold_them(to: str, tmp_path: Path) -> None:
    network = ruled_network()
    assert len(network.rules) == 1
    for one in (network, network.to_bayesian()):
        with pytest.warns(DataWarning, match="There is no place for 1 rule"):
            one.export(tmp_path / "net", to)
        file = tmp_path / ("net.names" if to.startswith("uai") else "net")
        assert "parity: an even number of these 8 have the value 1" in file.read_text(encoding="utf-8")
        if to in DIRECTED:
            assert read_network(tmp_path / "net").variables == network.variables
    if to == "graphml":
        assert "parity" in nx.read_graphml(tmp_path / "net").graph["rules"]


@pytest.mark.slow
def test_rules_in_model_files_hypergraphs_and_bridges(tmp_path: Path, real_data: Path) -> None:
    network = ruled_network()
    network.export(tmp_path / "net.json")
    assert len(network.load(tmp_path / "net.json").rules) == 1
    network.export(tmp_path / "net.hif")
    found = json.loads((tmp_path / "net.hif").read_text(encoding="utf-8"))
    from jsonschema import Draft7Validator

    schema = json.loads((real_data / "hif" / "hif_schema.json").read_text(encoding="utf-8"))
    Draft7Validator(schema).validate(found)
    assert found["edges"][-1]["attrs"]["kind"] == "additive rule"
    last = found["edges"][-1]["edge"]
    assert [each["node"] for each in found["incidences"] if each["edge"] == last] == list(network.variables)
    with pytest.warns(DataWarning, match="parity"):
        assert "parity" in xordal.to_networkx(network).graph["rules"][0]
    for bridge in (xordal.to_pgmpy, xordal.to_pyagrum):
        with pytest.warns(DataWarning, match="parity"):
            bridge(network)
    with pytest.warns(DataWarning, match="parity"):
        network.to_bayesian().export(tmp_path / "bn.json")
    assert "parity" in json.loads((tmp_path / "bn.json").read_text(encoding="utf-8"))["rules"][0]
    assert isinstance(read_network(tmp_path / "bn.json"), BayesianNetwork)


def test_levels_of_the_same_text_are_refused(tmp_path: Path) -> None:
    odd = BayesianNetwork(("a",), ((1, "1"),), (Family(0, (), np.array([0.5, 0.5])),))
    with pytest.raises(DataError, match="both written '1'"):
        write_network(odd, tmp_path / "net.bif")
    assert list(tmp_path.iterdir()) == []


def test_bif_as_others_write_it() -> None:
    text = """
    // a comment
    network "Dog-Problem" { property "of \\"what\\" }" ; }
    variable a { type discrete[2] { "true" "false" }; property position = (1, 2) ; }
    variable b { /* another */ type discrete [ 3 ] { x, y, z }; }
    variable c { type discrete [ 2 ] { >=7.5, <5 }; }
    probability ( a ) { table 0.25 0.75 ; }
    probability ( b | a ) { table 0.1, 0.2, 0.3, 0.4, 0.6, 0.4; }
    probability ( "c" | "a", "b" ) { default 0.5, 0.5; (true, x) 0.9, 0.1; }
    """
    network = read_bif(text)
    assert network.levels == (("true", "false"), ("x", "y", "z"), (">=7.5", "<5"))
    assert np.allclose(network.table("b"), [[0.1, 0.3, 0.6], [0.2, 0.4, 0.4]])  # the child's levels are slowest
    assert network.parents("c") == ("a", "b")
    assert network.table("c")[0, 0].tolist() == [0.9, 0.1]
    assert network.table("c")[1, 2].tolist() == [0.5, 0.5]


def test_net_as_others_write_it() -> None:
    text = """
    % Hugin
    net { node_size = (80 40); name = "net; of {dogs}"; }
    discrete node a { label = "A = 1;"; position = (1 2); states = ("yes" "no"); }
    node b { states = ( "x" "y" "z" ); }
    potential ( a | ) { data = ( 0.25 0.75 ); }
    potential (b | a) { data = (( 0.1 0.3 0.6 ) % a = yes
                                ( 0.2 0.4 0.4 )); }
    """
    network = read_net(text)
    assert network.table("b").tolist() == [[0.1, 0.3, 0.6], [0.2, 0.4, 0.4]]
    even = read_net('node a { states = ("u" "v"); } potential ( a ) { }')
    assert even.table("a").tolist() == [0.5, 0.5]


def test_uai_of_a_markov_network() -> None:
    text = "MARKOV\n3\n2 2 2\n2\n2 0 1\n2 1 2\n\n4\n 1 2 3 4\n4\n 5 6 0 8\n"
    network = read_uai(text)
    assert isinstance(network, DecomposableMarkovNetwork)
    joint = np.array([[1, 2], [3, 4.0]])[:, :, None] * np.array([[5, 6], [0, 8.0]])[None]
    joint /= joint.sum()
    cells = np.indices((2, 2, 2)).reshape(3, -1)
    assert np.allclose(np.exp(network.log_prob(cells)), joint.reshape(-1))
    assert network.query("x1")["0"] == pytest.approx(joint.sum(axis=(0, 2))[0])


def test_comments_tell_the_order_of_cells_in_markov_networks_of_pyagrum() -> None:
    """The first variable of the comment changes fastest, whatever the line of the scope says."""
    text = "MARKOV\n2 # nbr Nodes\n2 3\n2 # nbr Factors\n2 1 0\n1 1\n\n"
    text += "6 # {0, 1}\n1 2\n 3 4\n 5 6\n3 # {1}\n1 1 2\n"
    network = read_uai(text)
    assert isinstance(network, DecomposableMarkovNetwork)
    joint = np.array([[1, 3, 5 * 2], [2, 4, 6 * 2.0]])
    cells = np.indices((2, 3)).reshape(2, -1)
    assert np.allclose(np.exp(network.log_prob(cells)), (joint / joint.sum()).reshape(-1))
    for odd in ("{0, 2}", "{1}", "{0, 0}", "{}"):
        with pytest.raises(ModelFileError, match="does not name its variables"):
            read_uai(text.replace("{0, 1}", odd))


@pytest.mark.parametrize(
    "last",
    ["network n {", "variable", "variable a {", "type discrete", "{ yes", "};", "( a", ") {", "table 0.2"],
)
def test_a_file_that_ends_in_the_middle_says_so(last: str) -> None:
    whole = (
        "network n { } variable a { type discrete [ 2 ] { yes, no }; } probability ( a ) { table 0.2, 0.8; }"
    )
    with pytest.raises(ModelFileError, match="line 1: the file ends in the middle"):
        read_bif(whole[: whole.index(last) + len(last)])


def test_a_uai_table_whose_sums_are_one_in_both_orders_is_read_as_the_format_says() -> None:
    """The sums of these rows and columns are all one, but for their last bits."""
    table = [
        [0.21, 0.31, 0.22, 0.0, 0.26], [0.0, 0.21, 0.0, 0.26, 0.53], [0.0, 0.26, 0.21, 0.53, 0.0],
        [0.22, 0.0, 0.57, 0.21, 0.0], [0.57, 0.22, 0.0, 0.0, 0.21],
    ]  # fmt: skip
    for rows in (table, [list(column) for column in zip(*table, strict=True)]):
        cells = " ".join(str(share) for row in rows for share in row)
        network = read_uai(f"BAYES 2 5 5 2 1 0 2 0 1 5 0.2 0.2 0.2 0.2 0.2 25 {cells}")
        assert isinstance(network, BayesianNetwork)
        assert network.table("x1").tolist() == rows


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ('{"variables": ["a", "b"], "levels": {}}', "names 2 variables, and the file beside it has 1"),
        (
            '{"variables": ["a"], "levels": {"a": ["u"]}}',
            "has 1 different level of 'a', and the file beside it 2",
        ),
        ('{"variables": ["a"], "levels": {"a": ["u", "u"]}}', "has 1 different level of 'a'"),
        ("a b", "this cannot be read as JSON"),
        ("[" * 100_000, "this cannot be read as JSON"),
    ],
)
def test_names_of_another_network_beside_a_uai_file(names: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "net.uai"
    path.write_text("BAYES 1 2 1 1 0 2 0.3 0.7")
    (tmp_path / "net.uai.names").write_text(names)
    with pytest.raises(ModelFileError, match=re.escape(words)) as caught:
        read_network(path)
    assert "net.uai.names" in str(caught.value)
    assert "Remove it, which leaves x0, x1, ... as names" in str(caught.value)


def test_a_name_says_the_format() -> None:
    assert [format_of(name) for name in ("a.bif", "b.XML", "c.gv", "d.hif")] == ["bif", "xmlbif", "dot", "hif"]
    with pytest.raises(SettingsError, match=r"\.bif"):
        format_of("a.txt")
    with pytest.raises(SettingsError, match="did you mean 'bif'"):
        format_of("a.txt", "biff")


@pytest.mark.slow
def test_hidden_groups_are_hyperedges(tmp_path: Path, real_data: Path) -> None:
    from jsonschema import Draft7Validator

    schema = json.loads((real_data / "hif" / "hif_schema.json").read_text())
    learned = learned_network(n_rows=2000)
    odd = BayesianNetwork(ODD_NAMES[:3], ODD_LEVELS[:3], _exclusive_or().families)
    for network in (learned, odd, random_network([2, 2], 0)):
        content = json.loads("".join(network_text(network, "hif")))
        Draft7Validator(schema).validate(content)
        assert [node["node"] for node in content["nodes"]] == list(network.variables)
    groups = json.loads("".join(network_text(learned, "hif")))
    assert learned.learned is not None
    assert learned.learned.submodels is not None
    assert len(groups["edges"]) == len(learned.learned.submodels) >= 3
    members = [
        {one["node"] for one in groups["incidences"] if one["edge"] == e["edge"]} for e in groups["edges"]
    ]
    assert {"music_box", "dog", "John"} in members
    exact = json.loads("".join(network_text(odd, "hif")))
    assert [edge["attrs"]["kind"] for edge in exact["edges"]] == ["full"]  # found in the tables themselves
    assert {one["node"] for one in exact["incidences"]} == set(ODD_NAMES[:3])


def _exclusive_or() -> BayesianNetwork:
    fair = np.array([0.5, 0.5])
    lamp = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], dtype=np.float64)
    families = (Family(0, (), fair), Family(1, (), fair), Family(2, (0, 1), lamp))
    return BayesianNetwork(("a", "b", "c"), (("u", "v"),) * 3, families)


def test_graphml_holds_names_links_and_marks() -> None:
    network = learned_network(n_rows=2000)
    graph = nx.parse_graphml("".join(network_text(network, "graphml")))
    assert set(graph.nodes) == set(network.variables)
    assert {frozenset(edge) for edge in graph.edges} == {
        frozenset(network.names(1 << u | 1 << v)) for u, v in network.graph.links
    }
    assert graph.edges["dog", "John"]["colored"]
    odd = nx.parse_graphml("".join(network_text(odd_network(), "graphml")))
    assert odd.is_directed()
    assert {original(name) for name in odd.nodes} == set(ODD_NAMES)
    told = {original(name): json.loads(original(text)) for name, text in odd.nodes(data="levels")}
    assert told == {
        name: list(map(str, levels))
        for name, levels in zip(odd_network().variables, odd_network().levels, strict=True)
    }
    ElementTree.fromstring("".join(network_text(odd_network(), "graphml")))


@pytest.mark.filterwarnings("ignore")  # of pydot itself
def test_dot_holds_names_and_arcs() -> None:
    pydot = pytest.importorskip("pydot")
    network = odd_network()
    (graph,) = pydot.graph_from_dot_data("".join(network_text(network, "dot")))
    names = {original(node.get_name()[1:-1].replace('\\"', '"')) for node in graph.get_nodes()}
    assert set(ODD_NAMES) <= names | {"\\n"}
    arcs = {
        tuple(original(end[1:-1].replace('\\"', '"')) for end in (edge.get_source(), edge.get_destination()))
        for edge in graph.get_edges()
    }
    assert arcs == set(network.arcs)


@given(n_levels=st.lists(st.integers(1, 3), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_networkx_both_ways(n_levels: list[int], seed: int) -> None:
    network = random_network(n_levels, seed, n_parents=3)
    again = xordal.from_networkx(xordal.to_networkx(network))
    assert isinstance(again, BayesianNetwork)
    assert difference(network, again) == 0.0
    markov = network.to_markov()
    undirected = xordal.from_networkx(xordal.to_networkx(markov))
    assert isinstance(undirected, DecomposableMarkovNetwork)
    assert undirected.graph == markov.graph
    cells = np.indices(network.n_levels).reshape(len(n_levels), -1)
    assert np.allclose(np.exp(undirected.log_prob(cells)), np.exp(markov.log_prob(cells)))


def test_a_graph_without_probabilities_is_no_network() -> None:
    with pytest.raises(DataError, match="levels"):
        xordal.from_networkx(nx.path_graph(3))
    graph = nx.DiGraph()
    graph.add_node("a", levels=["u", "v"], chances=[0.5, 0.4, 0.1])
    with pytest.raises(DataError, match="shape"):
        xordal.from_networkx(graph)
    graph.nodes["a"]["chances"] = [0.5, 0.9]
    with pytest.raises(DataError, match=r"sum to 1\.4"):
        xordal.from_networkx(graph)
    for odd in ("x", [[0.5], [0.5, 0.5]], None, object()):
        graph.nodes["a"]["chances"] = odd
        with pytest.raises(DataError, match=r"'a' (must be numbers|have the shape)"):
            xordal.from_networkx(graph)
    with pytest.raises(SettingsError, match="a graph of networkx, not str"):
        xordal.from_networkx("net.bif")


def test_all_networks_of_the_repository_are_read(real_data: Path) -> None:
    files = sorted((real_data / "bif").glob("*.bif"))
    assert len(files) == 10
    for file in files:
        network = read_network(file)
        assert isinstance(network, BayesianNetwork)
        codes = network.sample_codes(200, 0)
        assert np.allclose(network.to_markov().log_prob(codes), network.log_prob(codes), rtol=0, atol=1e-9)


def test_the_table_of_odd_names_on_the_page() -> None:
    """Each line of docs/formats.md: a name, how it is written in BIF, XMLBIF and NET, and in GraphML."""
    page = Path(__file__).parents[3] / "docs" / "formats.md"
    table = page.read_text(encoding="utf-8").split("| name | in BIF, XMLBIF, NET | in GraphML |")[1]
    lines = [line for line in table.split("\n\n")[0].splitlines() if line.startswith("| `")]
    assert len(lines) >= 8
    for line in lines:
        name, word, shown = (cell.split("`")[1] for cell in line.strip("| ").split(" | "))
        assert (plain_word(name, RESERVED), printable(name)) == (word, shown)


@pytest.mark.parametrize(
    ("parents", "tables", "words"),
    [
        (((), ()), ([0.5, 0.6], [0.5, 0.5]), "'a' must hold probabilities"),
        (((), ()), ([0.5, float("nan")], [0.5, 0.5]), "'a' must hold probabilities"),
        (((), ()), ([-0.5, 1.5], [0.5, 0.5]), "'a' must hold probabilities"),
        (((), ()), ([0.5, 0.3, 0.2], [0.5, 0.5]), "the shape .* instead of"),
        (((), (0,)), ([0.5, 0.5], [0.5, 0.5]), "the shape .* instead of"),
        (((1,), (0,)), ([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2), "form a cycle"),
        (((), (1,)), ([0.5, 0.5], [[0.5, 0.5]] * 2), "other variables"),
        (((), (2,)), ([0.5, 0.5], [[0.5, 0.5]] * 2), "other variables"),
    ],
)
def test_a_network_made_in_python_must_fit_together(
    parents: tuple[tuple[int, ...], ...], tables: tuple[object, ...], words: str
) -> None:
    """It would be written to a file that nobody can read back."""
    families = tuple(Family(v, above, np.array(tables[v])) for v, above in enumerate(parents))
    with pytest.raises(DataError, match=words):
        BayesianNetwork(("a", "b"), (("u", "v"),) * 2, families)


@pytest.mark.parametrize(
    "asked", [{"n": -1}, {"n": 0}, {"n": 2.5}, {"n": "3"}, {"n": 3, "seed": -1}, {"n": 3, "seed": "a"}]
)
def test_rows_that_cannot_be_drawn(asked: dict[str, Any]) -> None:
    network = random_network([2, 3], 0)
    for each in (network, network.to_markov()):
        with pytest.raises(SettingsError, match=r"rows can be drawn, not|The seed must be"):
            each.sample(**asked)


def test_a_sample_has_no_level_that_was_not_drawn() -> None:
    network = random_network([2, 3, 4], 0)
    for each in (network, network.to_markov()):
        table = each.sample(1, seed=3)
        assert table.n_rows == 1
        assert [len(known) for known in table.levels] == [1, 1, 1]


def test_names_levels_and_places_of_families_are_checked() -> None:
    first, second = (Family(v, (), np.array([0.5, 0.5])) for v in range(2))
    for variables, levels, families, words in (
        (("a", "a"), (("u", "v"),) * 2, (first, second), "same name"),
        (("a", "b"), (("u", "v"), ("u", "u")), (first, second), "'b' must have levels"),
        (("a", "b"), (("u", "v"),) * 2, (second, first), "in the order of the variables"),
        (("a", "b"), (("u", "v"),), (first, second), "must have its levels"),
    ):
        with pytest.raises(DataError, match=words):
            BayesianNetwork(variables, levels, families)


@pytest.mark.parametrize(
    "text",
    [
        "<18,x\n1,0\n",
        "<18>,x\n1,0\n",
        "<none>,x\n1,0\n",
        "<none>\tx\n1\t0\n",
        '{"format": "A4", "x": 0}\n{"format": "A5", "x": 1}\n',
        '{"format": "xordal network", "x": 0}\n{"format": "BIF", "x": 1}\n',
        '{ "a": 0, "b": 1}\n{ "a": 1, "b": 1}\n',
    ],
)
def test_a_table_that_begins_like_a_network(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text(text)
    assert not is_network_file(path)


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0"?>\n<BIF VERSION="0.3">',
        "<BIF",
        "<!-- made by hand -->\n<BIF>",
        '<BIF VERSION="0.3"><NETWORK>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n  <graph>',
        '{"format": "xordal network", "version": 1}',
        '{"format": "xordal network", "version": 1,\n"variables": [{}]}',
        '{\n"format": "xordal network",\n',
    ],
)
def test_a_network_is_known_by_how_it_begins(text: str, tmp_path: Path) -> None:
    path = tmp_path / "network"
    path.write_text(text)
    assert is_network_file(path)
