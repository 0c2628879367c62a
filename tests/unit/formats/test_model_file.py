"""Model files: what is saved comes back, and what is no sensible file is refused with one clear error."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import tables
from xordal import Backoff, CategoricalTable, DataError, DecomposableMarkovNetwork, ModelFileError, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.formats.model_file import dumps, load, loads
from xordal.formats.stories import network_to_json, story_lines, structure_lines, variable_lines
from xordal.graph.chordal import ChordalGraph
from xordal.learning.fitting import fit_network
from xordal.model.estimation import estimate
from xordal.pi.zoo import music_box, table_1


def network() -> DecomposableMarkovNetwork:
    table = music_box().joint.exact_table()
    return fit_network(table, learn(table))


def text() -> str:
    return dumps(network())


def is_same(one: DecomposableMarkovNetwork, other: DecomposableMarkovNetwork) -> bool:
    codes = np.array([np.zeros(5, dtype=np.int64) for _ in one.variables])
    return (
        (one.variables, one.levels, one.graph, one.learned, one.smoothing)
        == (other.variables, other.levels, other.graph, other.learned, other.smoothing)
        and [list(map(type, levels)) for levels in one.levels]
        == [list(map(type, levels)) for levels in other.levels]
        and np.array_equal(one.log_prob(codes), other.log_prob(codes))
        and [t.counted.counts.tolist() for _, t in one.factors]
        == [t.counted.counts.tolist() for _, t in other.factors]
    )


@settings(max_examples=some(60))
@given(tables(), st.sampled_from([0.0, 0.1, 1.0, 25.0, Backoff(0.1), Backoff(30.0)]))
def test_a_network_comes_back_to_the_bit(table: CategoricalTable, smoothing: float | Backoff) -> None:
    saved = fit_network(table, learn(table), smoothing=smoothing)
    loaded = loads(dumps(saved))
    assert is_same(saved, loaded)
    assert loaded.learned is not None
    assert loaded.learned.seconds == saved.learned.seconds  # type: ignore[union-attr]
    assert dumps(loaded) == dumps(saved)


def test_a_file_is_of_the_oldest_version_that_can_hold_it() -> None:
    told = json.loads(dumps(network().smoothed(Backoff(30))))
    assert (told["version"], told["smoothing"]) == (2, {"name": "Backoff", "rows": 30.0})
    assert json.loads(dumps(network().smoothed(2)))["version"] == 1


def test_a_file_comes_back(tmp_path: Path) -> None:
    saved = network()
    saved.save(tmp_path / "net.json")
    assert is_same(DecomposableMarkovNetwork.load(tmp_path / "net.json"), saved)
    assert [file.name for file in tmp_path.iterdir()] == ["net.json"]


def test_it_holds_what_learn_prints_and_what_using_it_needs() -> None:
    whole = json.loads(text())
    assert (whole["format"], whole["version"]) == ("xordal network", 1)
    printed = (
        "variables links colored_links submodels cliques trace graphs_tested candidates_scored criterion n_rows"
    )
    assert set(printed.split()) <= set(whole)
    assert whole["single_link"] == {"links": [["ball3", "music_box"], ["light1", "dog"]]}
    assert whole["data"]["counts"]["ball1"] == [800, 200]
    assert whole["tables"][1]["counts"] == [250] * 4


LEVELS: list[tuple[Hashable, Hashable]] = [
    ("a", "b"),
    (1, 2),
    (1.5, -2.0),
    (False, True),
    (2**70, -1),
    (date(2024, 2, 29), date(1, 1, 1)),
    (datetime(2024, 1, 1, 12, tzinfo=UTC), datetime(2024, 1, 1, 13, tzinfo=UTC)),
    (time(1, 2, 3), time(4)),
    (timedelta(days=1), timedelta(microseconds=-1)),
    (Decimal("1.10"), Decimal("2")),
    (b"\x00\xff", b""),
    ("\x1b[31m", "\ud800"),
    ("null", "NaN"),
    ("", " "),
]


@pytest.mark.parametrize("levels", LEVELS, ids=repr)
def test_levels_keep_their_type(levels: tuple[Hashable, Hashable]) -> None:
    table = CategoricalTable.from_columns({"x": list(levels) * 5, "y": list(levels) * 5})
    saved = fit_network(table, learn(table))
    loaded = loads(dumps(saved))
    assert is_same(saved, loaded)
    assert loaded.query("y", given={"x": levels[0]}) == saved.query("y", given={"x": levels[0]})


def test_infinite_levels_and_none_come_back() -> None:
    table = CategoricalTable(
        ("x", "y"), ((float("inf"), 1.0), (None, "b")), np.array([[0, 1], [0, 1]], dtype=np.int32)
    )
    saved = estimate(ChordalGraph.empty(2).add([(0, 1)]), NumpyCounter(table), table.names, table.levels)
    loaded = loads(dumps(saved))
    assert loaded.levels == saved.levels
    assert loaded.learned is None


def test_a_level_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    table = CategoricalTable.from_columns({"x": [(1, 2), (3, 4)] * 5, "y": [0, 1] * 5})
    with pytest.raises(DataError, match="Column 'x' has levels of type tuple"):
        fit_network(table, learn(table)).save(tmp_path / "net.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.9, 0.999])
def test_a_truncated_file(share: float) -> None:
    whole = text().rstrip()
    with pytest.raises(ModelFileError, match=r"cut short|line"):
        loads(whole[: int(len(whole) * share)], "net.json")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "not JSON"),
        ("[1, 2]", "no model file of xordal"),
        ('"text"', "no model file of xordal"),
        ("{}", "no model file of xordal"),
        ('{"trace": []}', "learn --json prints"),
        ('{"format": "xordal network", "version": 4}', "version 4 .* reads up to version 3. Install a newer"),
        ('{"format": "xordal network", "version": "1"}', "version there must be a whole number"),
        ('{"format": "xordal network", "version": true}', "version there must be a whole number"),
        ('{"format": "xordal network"}', "there must be 'version'"),
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": -Infinity}', "-Infinity is no number"),
        ("[" * 100_000, "not JSON|nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply|cut short"),
        ('{"a": ' + "1" * 5000 + "}", "number too long"),
    ],
)
def test_what_is_not_ours(content: str, told: str) -> None:
    with pytest.raises(ModelFileError, match=told):
        loads(content, "net.json")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_bytes(b"\x80\x04\x95pickled\xff")
    with pytest.raises(ModelFileError, match="no text in UTF-8"):
        load(tmp_path / "net.json")
    with pytest.raises(DataError, match="is a directory"):
        load(tmp_path)


Edit = Callable[[dict[str, Any]], object]


def rule(whole: dict[str, Any], **changes: object) -> None:
    whole["submodels"][0]["rule"].update(changes)


NONSENSE: list[tuple[str, Edit, str]] = [
    (
        "variable twice",
        lambda f: f["variables"].__setitem__(1, "ball1"),
        r"at variables\[1\] 'ball1' is there a second",
    ),
    ("no variables", lambda f: f.update(variables=[]), "at variables there must be at least one"),
    (
        "a number as a name",
        lambda f: f["variables"].__setitem__(0, 3),
        r"at variables\[0\] there must be a text",
    ),
    ("unknown in a link", lambda f: f["links"].append(["dog", "cat"]), r"at links\[12\] 'cat' is no variable"),
    (
        "link to itself",
        lambda f: f["links"].append(["dog", "dog"]),
        r"at links\[12\]\[1\] 'dog' is there a second",
    ),
    ("link twice", lambda f: f["links"].append(["John", "dog"]), r"at links\[12\] this link is there a second"),
    ("three in a link", lambda f: f["links"].append(["John", "dog", "ball1"]), "a link joins two variables"),
    (
        "not chordal",
        lambda f: f["links"].remove(["dog", "John"]) or f["links"].append(["light1", "John"]),
        "at links",
    ),
    ("fewer links", lambda f: f["links"].pop(), "not the maximal cliques"),
    ("cliques out of order", lambda f: f["cliques"].reverse(), "at cliques these are not the maximal cliques"),
    (
        "a clique left out",
        lambda f: f["tables"].pop(),
        "at tables these are not the maximal cliques .* number differs",
    ),
    ("levels of a stranger", lambda f: f["levels"].update(cat=[1]), "at levels 'cat' is no variable"),
    ("no levels", lambda f: f["levels"].update(dog=[]), "at levels.dog a variable must have"),
    ("levels left out", lambda f: f["levels"].pop("dog"), "at levels there must be 'dog'"),
    (
        "a level twice",
        lambda f: f["levels"].update(dog=["a", "a"]),
        r"at levels.dog\[1\] the level 'a' is there a second",
    ),
    (
        "equal levels",
        lambda f: f["levels"].update(dog=[1, 1.0]),
        "at levels.dog\\[1\\] levels of different types are equal",
    ),
    (
        "a list as a level",
        lambda f: f["levels"].update(dog=[[], 1]),
        r"at levels.dog\[0\] a level cannot be a list",
    ),
    (
        "an unknown type",
        lambda f: f["levels"].update(dog=[{"type": "os.system", "value": "x"}, 1]),
        "there must be one of",
    ),
    (
        "no date",
        lambda f: f["levels"].update(dog=[{"type": "date", "value": "31.2."}, 1]),
        "'31.2.' is no date",
    ),
    ("not a number", lambda f: f["levels"].update(dog=[{"type": "float", "value": "nan"}, 1]), "cannot be NaN"),
    (
        "a code too large",
        lambda f: f["tables"][1]["cells"].__setitem__(3, [1, 1, 2]),
        r"at tables\[1\].cells\[3\]\[2\] .* between 0 and 1",
    ),
    (
        "a cell twice",
        lambda f: f["tables"][1]["cells"].__setitem__(1, [0, 0, 0]),
        r"at tables\[1\].cells\[1\] .* increasing",
    ),
    (
        "a cell too wide",
        lambda f: f["tables"][1]["cells"].__setitem__(0, [0, 0, 0, 0]),
        "as many numbers, not 4",
    ),
    (
        "a count left out",
        lambda f: f["tables"][1]["counts"].pop(),
        r"at tables\[1\].counts there are 3 counts of 4 cells",
    ),
    ("a count of zero", lambda f: f["tables"][1]["counts"].__setitem__(0, 0), r"at tables\[1\].counts\[0\]"),
    ("half a row", lambda f: f["tables"][1]["counts"].__setitem__(0, 250.0), "whole number"),
    (
        "too few rows",
        lambda f: f["tables"][1]["counts"].__setitem__(0, 249),
        "counts sum to 999, but there are 1000 rows",
    ),
    ("other rows", lambda f: f.update(n_rows=999), "there are 999 rows|between 1 and 999"),
    (
        "separators disagree",
        lambda f: f["tables"][1].update(counts=[251, 250, 250, 249]),
        r"at tables\[1\].counts music_box has other counts here than in tables\[0\]",
    ),
    ("summary", lambda f: f["data"]["counts"].update(dog=[499, 501]), "at data.counts.dog"),
    ("summary of rows", lambda f: f["data"].update(n_rows=10), "at data.n_rows the network has 1000 rows"),
    (
        "negative smoothing",
        lambda f: f.update(smoothing=-1),
        "at smoothing there must be a finite number of at least 0",
    ),
    ("text as smoothing", lambda f: f.update(smoothing="1"), "at smoothing"),
    (
        "unknown smoothing",
        lambda f: f.update(smoothing={"name": "Kernel"}),
        "at smoothing.name there must be one of",
    ),
    (
        "back-off of nothing",
        lambda f: f.update(smoothing={"name": "Backoff", "rows": 0}),
        "at smoothing.rows there must be a number of rows above 0",
    ),
    ("huge smoothing", lambda f: f.update(smoothing=10**400), "at smoothing"),
    ("a step left out", lambda f: f["trace"].pop(), "at trace the steps do not lead to the links"),
    (
        "a step twice",
        lambda f: f["trace"].append(f["trace"][0]),
        r"at trace\[7\].links the step adds a link that is there",
    ),
    (
        "an unknown action",
        lambda f: f["trace"][0].update(action="run"),
        r"at trace\[0\].action there must be one of",
    ),
    (
        "a gain of text",
        lambda f: f["trace"][0].update(gain="x"),
        r"at trace\[0\].gain there must be a finite number",
    ),
    (
        "an empty step",
        lambda f: f["trace"][0].update(links=[]),
        r"at trace\[0\].links a step changes at least one",
    ),
    (
        "fill-in from elsewhere",
        lambda f: f["trace"][0].update(fill_in=[["dog", "John"]]),
        r"at trace\[0\].fill_in",
    ),
    ("p above one", lambda f: f["trace"][0].update(log_p_value=1), r"at trace\[0\].log_p_value"),
    ("the trace is no list", lambda f: f.update(trace={}), "at trace there must be a list"),
    (
        "parts of a group",
        lambda f: f["submodels"][0].update(partition=[["dog"], ["John"]]),
        r"at submodels\[0\].partition",
    ),
    ("kind of a group", lambda f: f["submodels"][0].update(kind="odd"), r"at submodels\[0\].kind"),
    (
        "a stranger in a group",
        lambda f: f["submodels"][0].update(variables=["cat"]),
        r"at submodels\[0\].variables\[0\]",
    ),
    ("single links", lambda f: f.update(single_link={"links": [["a", "b"]]}), r"at single_link.links\[0\]"),
    ("huge degrees of freedom", lambda f: f["trace"][0].update(dof=10**400), r"at trace\[0\].dof"),
    ("a group given itself", lambda f: f["submodels"][0].update(context=["dog"]), r"at submodels\[0\].context"),
    ("p of a group", lambda f: f["submodels"][0].update(log_p_value=0.5), r"at submodels\[0\].log_p_value"),
    ("a rule that always holds, twice", lambda f: rule(f, holds=2), r"at submodels\[0\].rule.holds .* share"),
    ("a rule of no kind", lambda f: rule(f, kind="whim"), r"at submodels\[0\].rule.kind"),
    ("parity of nothing", lambda f: rule(f, marked=[]), r"at submodels\[0\].rule.marked .* one mark"),
    ("parity of three", lambda f: rule(f, modulus=3), r"at submodels\[0\].rule.modulus"),
    ("a sum without factors", lambda f: rule(f, kind="sum", factors=[]), r"at submodels\[0\].rule.factors"),
    ("a remainder too large", lambda f: rule(f, remainder=2), r"at submodels\[0\].rule.remainder"),
    ("a function of nothing", lambda f: rule(f, kind="function"), r"at submodels\[0\].rule .* 'target'"),
    ("an infinite setting", lambda f: f["criterion"].update(alpha=float("inf")), "at criterion.alpha"),
    (
        "no chance of an error",
        lambda f: f["criterion"].update(alpha=0),
        "at criterion.alpha there must be a prob",
    ),
    ("a group of one", lambda f: f.update(max_variables=1), "at max_variables there must be a whole number"),
    ("a deep setting", lambda f: f.update(engine=[[[[1]]]]), "at engine.* nested too deeply"),
    ("no criterion", lambda f: f.pop("criterion"), "there must be 'criterion'"),
    ("stopped by", lambda f: f.update(stopped_by="fate"), "at stopped_by"),
]


@pytest.mark.parametrize(("edit", "told"), [case[1:] for case in NONSENSE], ids=[case[0] for case in NONSENSE])
def test_a_file_edited_into_nonsense(edit: Edit, told: str) -> None:
    whole = json.loads(text())
    edit(whole)
    with pytest.raises(ModelFileError, match=told) as caught:
        loads(json.dumps(whole).replace("Infinity", "1e400"), "net.json")
    assert str(caught.value).startswith("net.json: this network contradicts itself")


@settings(max_examples=some(300))
@given(st.data())
def test_no_edit_ends_in_anything_but_a_network_or_one_error(data: st.DataObject) -> None:
    """Replace or drop any value anywhere in the file."""
    table = table_1().joint.exact_table()
    whole = json.loads(dumps(fit_network(table, learn(table))))
    place: Any = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and data.draw(st.integers(0, 3)):
            place = inner
            continue
        odd: st.SearchStrategy[Any] = st.sampled_from(
            [None, True, -1, 0, 1, 10**400, 1.5, "", "d", "x", [], {}, [[]], [0], ["d"], {"type": "date"}]
        )
        if data.draw(st.booleans()):
            place[key] = data.draw(odd)
        else:
            del place[key]
        break
    try:
        loaded = loads(json.dumps(whole))
    except ModelFileError:
        return
    assert sum(loaded.query(loaded.variables[0]).values()) == pytest.approx(1)
    assert all(map(str.isprintable, [*variable_lines(loaded), *structure_lines(loaded)]))
    assert story_lines(loaded.why_link(*loaded.variables[:2]))
    json.dumps(network_to_json(loaded), allow_nan=False)
    assert loads(dumps(loaded)).levels == loaded.levels


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Cannot write"):
        network().save(tmp_path / "none" / "net.json")


@pytest.mark.slow
def test_a_column_of_very_many_levels_is_read_at_once(tmp_path: Path) -> None:
    """Every level is looked up: none of this compares each with each, which would take minutes."""
    levels = [f"level {number}" for number in range(30_000)]
    table = CategoricalTable.from_columns({"id": levels, "number": [*range(30_000)]})
    graph = ChordalGraph.empty(2)
    many = estimate(graph, NumpyCounter(table), table.names, table.levels)
    loaded = loads(dumps(many))
    (tmp_path / "t.csv").write_text("id,number\n" + "\n".join(f"{text},{n}.0" for n, text in enumerate(levels)))
    assert np.isfinite(loaded.score_rows(tmp_path / "t.csv").log_prob).all()
