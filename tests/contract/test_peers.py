"""Files and bridges to the real pgmpy and pyAgrum: what they read is what was written, and the other way."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agrum import gum
from tests.bayesian import ODD_NAMES, difference, odd_network, random_network
from xordal import (
    BayesianNetwork,
    CategoricalTable,
    DataError,
    DecomposableMarkovNetwork,
    SettingsError,
    from_pgmpy,
    from_pyagrum,
    learn,
    read_network,
    to_pgmpy,
    to_pyagrum,
)
from xordal.formats.network_files import write_network
from xordal.learning.fitting import fit_network
from xordal.model.directed import Family, along_a_perfect_order
from xordal.pi.zoo import music_box

pytestmark = pytest.mark.slow  # to import pgmpy and pyAgrum takes seconds

SINGLE_PRECISION = 1e-6
ENDINGS = {"bif": "bif", "xmlbif": "bifxml", "net": "net", "uai-pyagrum": "uai", "uai-pgmpy": "uai"}
NAMED = ("bif", "xmlbif", "net")


@pytest.fixture(scope="module")
def pgmpy() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("pgmpy", reason="pip install pgmpy")
        from pgmpy import readwrite
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    assert module
    return readwrite


def networks() -> dict[str, BayesianNetwork]:
    table = music_box().joint.sample_table(500, 0)
    learned = along_a_perfect_order(fit_network(table, learn(table)))
    chains = random_network([2, 3, 2, 4], 2, n_parents=1)
    return {
        "random": random_network([2, 3, 4, 2, 3], 6),
        "learned": learned,
        "chains": chains,
        "alone": random_network([2, 2, 3, 2, 2], 0),
        "odd": odd_network(),
    }


each = pytest.mark.parametrize("name", ["random", "learned", "odd"])


def numbered(network: BayesianNetwork, prefix: str) -> BayesianNetwork:
    """The same without names, as UAI files hold it."""
    names = tuple(f"{prefix}{v}" for v in range(len(network.variables)))
    return BayesianNetwork(names, tuple(tuple(map(str, range(n))) for n in network.n_levels), network.families)


def read_back(path: Path) -> BayesianNetwork:
    found = read_network(path)
    assert isinstance(found, BayesianNetwork)
    return found


@each
@pytest.mark.parametrize("to", [*NAMED, "uai-pyagrum"])
def test_pyagrum_both_ways(to: str, name: str, tmp_path: Path) -> None:
    network = networks()[name]
    path, theirs = tmp_path / f"ours.{ENDINGS[to]}", tmp_path / f"theirs.{ENDINGS[to]}"
    write_network(network, path, to)
    model = gum.loadBN(str(path))
    expected = numbered(network, "") if to == "uai-pyagrum" else network
    assert difference(expected, from_pyagrum(model)) < SINGLE_PRECISION
    gum.saveBN(model, str(theirs))
    expected = numbered(network, "x") if to == "uai-pyagrum" else network
    assert difference(expected, read_back(theirs)) < SINGLE_PRECISION


@pytest.mark.parametrize("seed", range(5))
def test_a_markov_network_that_pyagrum_saved(seed: int, tmp_path: Path) -> None:
    """Its own inference before saving is the oracle: pyAgrum 3.3 reads another network from its file."""
    gum.initRandom(seed)
    generator = np.random.default_rng(seed)
    theirs = gum.MarkovRandomField("field")
    n_levels = generator.integers(2, 4, size=5).tolist()
    for v, n in enumerate(n_levels):
        theirs.add(gum.LabelizedVariable(f"v{v}", "", n))
    for inside in ([3, 0, 1], [1, 4, 2], [4, 3], [2]):
        values = generator.random(int(np.prod([n_levels[v] for v in inside]))) + 0.1
        theirs.addFactor([f"v{v}" for v in inside]).fillWith(values.tolist())
    theirs.saveUAI(str(tmp_path / "field.uai"))
    inference = gum.ShaferShenoyMRFInference(theirs)
    inference.makeInference()
    ours = read_network(tmp_path / "field.uai")
    assert isinstance(ours, DecomposableMarkovNetwork)
    for v in range(5):
        expected = inference.posterior(f"v{v}").toarray()
        assert np.allclose(list(ours.query(f"x{v}").values()), expected, atol=SINGLE_PRECISION)


def test_a_markov_network_of_pgmpy_is_refused_with_what_to_do(pgmpy: Any, tmp_path: Path) -> None:
    network = networks()[
        "learned"
    ]  # has a variable with two parents, so that it is written as a Markov network
    write_network(network, tmp_path / "net.uai", "uai-pgmpy")
    model = pgmpy.UAIReader(str(tmp_path / "net.uai")).get_model()
    with pytest.raises(SettingsError, match="UAIWriter"):
        from_pgmpy(model)
    pgmpy.UAIWriter(model).write(str(tmp_path / "theirs.uai"))
    ours = read_network(tmp_path / "theirs.uai")
    assert isinstance(ours, DecomposableMarkovNetwork)
    expected = network.to_markov()
    answers = [list(expected.query(name).values()) for name in expected.variables]
    assert np.allclose([list(ours.query(name).values()) for name in ours.variables], answers, atol=1e-6)


@each
@pytest.mark.parametrize("to", NAMED)
def test_pgmpy_both_ways(to: str, name: str, pgmpy: Any, tmp_path: Path) -> None:
    network = networks()[name]
    path, theirs = tmp_path / f"ours.{to}", tmp_path / f"theirs.{to}"
    write_network(network, path, to)
    model = getattr(pgmpy, f"{to.upper()}Reader")(str(path)).get_model()
    assert difference(network, from_pgmpy(model)) < SINGLE_PRECISION
    getattr(pgmpy, f"{to.upper()}Writer")(model).write(str(theirs))
    assert difference(network, read_back(theirs)) < SINGLE_PRECISION


def test_pgmpy_reads_uai_where_it_keeps_the_order_of_parents(pgmpy: Any, tmp_path: Path) -> None:
    """Its reader puts parents into a set, so with two or more their order is chance; with one it is sure."""
    network = networks()["chains"]
    write_network(network, tmp_path / "ours.uai", "uai-pgmpy")
    model = pgmpy.UAIReader(str(tmp_path / "ours.uai")).get_model()
    assert difference(numbered(network, "var_"), _with_codes(from_pgmpy(model))) < SINGLE_PRECISION


@pytest.mark.parametrize("name", ["random", "learned", "alone"])
def test_pgmpy_reads_tables_with_several_parents_from_uai(name: str, pgmpy: Any, tmp_path: Path) -> None:
    """They are factors of a Markov network there, whose order of parents it keeps; it writes them back."""
    network = networks()[name]
    write_network(network, tmp_path / "ours.uai", "uai-pgmpy")
    model = pgmpy.UAIReader(str(tmp_path / "ours.uai")).get_model()
    for family, factor in zip(network.families, model.get_factors(), strict=False):
        assert factor.scope() == [f"var_{v}" for v in (*family.parents, family.variable)]
        assert np.allclose(factor.values, family.chances, rtol=0, atol=SINGLE_PRECISION)
    pgmpy.UAIWriter(model).write(str(tmp_path / "theirs.uai"))
    theirs = read_network(tmp_path / "theirs.uai")
    assert isinstance(theirs, DecomposableMarkovNetwork)
    # It numbers the variables by their number of levels, then by name.
    order = sorted(range(len(network.variables)), key=lambda v: (str(network.n_levels[v]), f"var_{v}"))
    codes = network.sample_codes(50, seed=1)
    assert np.allclose(theirs.log_prob(codes[order]), network.log_prob(codes), atol=1e-6)


def test_uai_files_of_pgmpy_are_read(pgmpy: Any, tmp_path: Path) -> None:
    network = networks()["random"]
    pgmpy.UAIWriter(to_pgmpy(network)).write(str(tmp_path / "theirs.uai"))
    # It numbers the variables by their number of levels, then by name.
    order = sorted(
        range(len(network.variables)), key=lambda v: (str(network.n_levels[v]), network.variables[v])
    )
    place = {v: new for new, v in enumerate(order)}
    families = [network.families[v] for v in order]
    renumbered = BayesianNetwork(
        tuple(f"x{v}" for v in range(len(order))),
        tuple(tuple(map(str, range(network.n_levels[v]))) for v in order),
        tuple(Family(new, tuple(place[p] for p in f.parents), f.chances) for new, f in enumerate(families)),
    )
    assert difference(renumbered, read_back(tmp_path / "theirs.uai")) < SINGLE_PRECISION


def _with_codes(network: BayesianNetwork) -> BayesianNetwork:
    """Levels as text: pgmpy numbers those of UAI files."""
    return BayesianNetwork(
        network.variables, tuple(tuple(map(str, one)) for one in network.levels), network.families
    )


@pytest.mark.parametrize("name", ["random", "learned", "odd"])
def test_bridges(name: str, pgmpy: Any) -> None:
    network = networks()[name]
    assert pgmpy
    assert difference(network, from_pgmpy(to_pgmpy(network))) < 1e-15
    assert from_pgmpy(to_pgmpy(network)).levels == network.levels
    if name != "odd":  # a level of pyAgrum cannot be half of a character
        assert difference(network, from_pyagrum(to_pyagrum(network))) < 1e-15


def test_variables_of_pgmpy_may_be_numbers(pgmpy: Any) -> None:
    assert pgmpy
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork([(1, 2)])
    given = TabularCPD(2, 2, [[0.5, 0.1], [0.5, 0.9]], [1], [2], state_names={1: ["u", "v"], 2: ["s", "t"]})
    model.add_cpds(TabularCPD(1, 2, [[0.3], [0.7]], state_names={1: ["u", "v"]}), given)
    network = from_pgmpy(model)
    assert (network.arcs, network.levels) == ((("1", "2"),), (("u", "v"), ("s", "t")))
    assert network.table("2").tolist() == [[0.5, 0.5], [0.1, 0.9]]
    given.state_names[1] = ["v", "u"]
    with pytest.raises(DataError, match="'2' has other levels of '1', or in another order"):
        from_pgmpy(model)


@pytest.mark.parametrize("odd", ["\ud800", "x\0y"])
def test_levels_that_pyagrum_cannot_hold_are_refused(odd: str) -> None:
    """The first would end the process (a segmentation fault in pyAgrum 3.3), the second lose all after x."""
    network = BayesianNetwork((odd,), ((odd, "v"),), (Family(0, (), np.array([0.5, 0.5])),))
    with pytest.raises(DataError, match="which pyAgrum cannot hold"):
        to_pyagrum(network)


@pytest.mark.parametrize("to", NAMED)
def test_names_that_end_in_a_word_of_the_format(to: str, pgmpy: Any, tmp_path: Path) -> None:
    """pgmpy looks for words such as node anywhere, in the list of parents and at the end of a name too."""
    names = ("lymph_node", "mydata", "xstates", "a_potential", "xvariable", "a_probability", "xtable")
    families = [Family(0, (), np.array([0.2, 0.8]))]
    for v in range(1, len(names)):
        own = tuple(range(max(0, v - 3), v))
        families.append(Family(v, own, np.random.default_rng(v).dirichlet([1, 1], size=[2] * len(own))))
    network = BayesianNetwork(names, (("yes", "no"),) * len(names), tuple(families))
    path = tmp_path / f"ours.{ENDINGS[to]}"
    write_network(network, path, to)
    assert difference(network, read_back(path)) == 0
    assert difference(network, from_pyagrum(gum.loadBN(str(path)))) < SINGLE_PRECISION
    model = getattr(pgmpy, f"{to.upper()}Reader")(str(path)).get_model()
    assert difference(network, from_pgmpy(model)) < SINGLE_PRECISION


@pytest.mark.parametrize("to", NAMED)
@pytest.mark.filterwarnings("ignore::xordal.DataWarning")
def test_rules_in_comments_are_no_variables(to: str, pgmpy: Any, tmp_path: Path) -> None:
    """pgmpy reads the comments of a NET file as it reads all else; columns of a rule may be called anything."""
    columns = np.random.default_rng(0).integers(0, 5, size=(6, 600))
    columns[5] = columns[:5].sum(axis=0) % 5
    names = (
        "node 1", "variable x { type discrete [ 2 ] { a, b }; }", "/* x", "lymph_node", "</PROPERTY>",
        'node q { states = ("a" "b"); } potential (q) { data = (0.5 0.5); } */',
    )  # fmt: skip
    table = CategoricalTable.from_columns({n: c.tolist() for n, c in zip(names, columns, strict=True)})
    network = learn(table).network()
    assert len(network.rules) == 1
    path = tmp_path / f"ours.{ENDINGS[to]}"
    write_network(network, path, to)
    expected = along_a_perfect_order(network)
    assert difference(expected, read_back(path)) == 0
    assert difference(expected, from_pyagrum(gum.loadBN(str(path)))) < SINGLE_PRECISION
    model = getattr(pgmpy, f"{to.upper()}Reader")(str(path)).get_model()
    assert difference(expected, from_pgmpy(model)) < SINGLE_PRECISION


def test_variables_of_one_level(tmp_path: Path) -> None:
    """pyAgrum holds them, and reads them from XMLBIF; from BIF, NET and UAI it refuses them."""
    families = (Family(0, (), np.array([1.0])), Family(1, (0,), np.array([[0.3, 0.7]])))
    network = BayesianNetwork(("one", "b"), (("only",), ("u", "v")), families)
    assert difference(network, from_pyagrum(to_pyagrum(network))) < 1e-15
    for to in (*NAMED, "uai-pyagrum"):
        path = tmp_path / f"ours.{ENDINGS[to]}"
        write_network(network, path, to)
        if to == "xmlbif":
            assert difference(network, from_pyagrum(gum.loadBN(str(path)))) < SINGLE_PRECISION
        else:
            with pytest.raises(gum.FatalError):
                gum.loadBN(str(path))
        assert difference(read_back(path), network) == 0


def test_a_learned_network_crosses_the_bridges_with_its_joint(pgmpy: Any) -> None:
    table = music_box().joint.sample_table(500, 0)
    network = fit_network(table, learn(table))
    assert pgmpy
    for there in (from_pgmpy(to_pgmpy(network)), from_pyagrum(to_pyagrum(network))):
        assert network.compare(there.to_markov()).divergence == pytest.approx(0, abs=1e-9)


def test_all_networks_of_the_repository_are_read_as_pgmpy_reads_them(pgmpy: Any, real_data: Path) -> None:
    files = sorted((real_data / "bif").glob("*.bif"))
    assert len(files) == 10
    for file in files:
        theirs = from_pgmpy(pgmpy.BIFReader(str(file)).get_model())
        assert difference(read_back(file), theirs) < 1e-12, file.name


def test_some_variables_have_several_parents() -> None:
    """Parents in a wrong order show only then."""
    assert all(
        max(len(f.parents) for f in networks()[name].families) > 1 for name in ("random", "alone", "odd")
    )


def test_odd_names_hold_all_that_is_odd() -> None:
    text = "".join(ODD_NAMES)
    assert (
        all(sign in text for sign in " \"',;|</\\\n\t") and "東" in text and max(map(len, ODD_NAMES)) == 10_000
    )
