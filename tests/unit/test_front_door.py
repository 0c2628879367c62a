"""``xordal.learn(frame)`` and what to do with what it returns."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import xordal
from xordal import DataError, DataWarning, Learned, MultiLinkSearch, SettingsError
from xordal.types.groups import Share
from xordal.types.rules import Rate, Rule

XOR = pd.DataFrame([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 30, columns=["a", "b", "c"])
HOLED = pd.DataFrame({name: [None, *XOR[name]] for name in XOR.columns}, dtype="Int64")
TEMPERATURE = np.random.default_rng(0).normal(20, 3, len(XOR)).round(2)


def sources(tmp_path: Path) -> dict[str, Any]:
    XOR.to_csv(tmp_path / "xor.csv", index=False)
    return {
        "pandas": XOR,
        "polars": pl.from_pandas(XOR),
        "lazy": pl.from_pandas(XOR).lazy(),
        "arrow": pl.from_pandas(XOR).to_arrow(),
        "array": XOR.to_numpy(),
        "mapping": XOR.to_dict("list"),
        "records": XOR.to_dict("records"),
        "path": tmp_path / "xor.csv",
        "text": str(tmp_path / "xor.csv"),
    }


def test_every_source_gives_the_same(tmp_path: Path) -> None:
    for name, source in sources(tmp_path).items():
        learned = xordal.learn(source)
        assert len(learned.groups[0].variables) == 3, name
        assert learned.links == ((0, 1), (0, 2), (1, 2)), name


def test_a_duckdb_relation_is_a_source() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select i % 2 as a, (i // 2) % 2 as b, (i + i // 2) % 2 as c from range(120) t(i)")
    assert xordal.learn(relation).groups[0].variables == ("a", "b", "c")


def test_what_to_do_with_it(tmp_path: Path) -> None:
    learned = xordal.learn(XOR)
    assert learned.named_links == (("a", "b"), ("a", "c"), ("b", "c"))
    assert learned.groups[0].variables == ("a", "b", "c")
    assert repr(learned).splitlines()[0] == "Learned from 120 rows of 3 columns: 3 links, 1 hidden group"
    assert "VarSet" not in repr(learned)
    assert "Submodel(" not in repr(learned)
    assert learned.query("c", given={"a": 1, "b": 0})[1] > 0.9
    assert learned.network(smoothing=0).query("c", given={"a": 1, "b": 0}) == {0: 0.0, 1: 1.0}
    assert "<svg" in learned._repr_html_()
    learned.report(tmp_path / "page.html", title="Lamps")
    assert "Lamps" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_plot(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert [text.get_text() for text in xordal.learn(XOR).plot().texts] == ["a", "b", "c"]


def test_what_is_found_is_shown_in_words() -> None:
    learned = xordal.learn(XOR)
    assert repr(learned.groups[0]) == "<full group a | b | c: 0.6931 hidden of 0.6931 nats>"
    rules = repr(xordal.find_rules(XOR))
    assert rules.startswith("1. parity: 0 or 2 of these 3 have the value 1: a, b, c")
    held = repr(xordal.check(learned, XOR))
    assert held == "Checked on 120 new rows: 3 of 3 links held, 1 of 1 hidden groups held, 1 of 1 rules held"
    tuned = repr(xordal.tune(XOR, folds=2, links=[3], penalties=[1.0], smoothings=[1.0]))
    assert tuned.splitlines() == [
        "Tuned to max_links=3, penalty=1, smoothing=1.0, the best of 1 setting on 120 held-out rows",
        *repr(learned).splitlines(),
    ]


def test_a_series_is_no_table() -> None:
    for series in (XOR["a"], XOR.groupby(["a", "b"]).size(), pl.Series([0, 1])):
        with pytest.raises(DataError, match="reset_index"):
            xordal.learn(series)


def test_what_has_no_rows_says_so() -> None:
    network = xordal.learn(XOR).network()
    assert network.learned is not None
    assert network.learned.table is None
    with pytest.raises(SettingsError, match="no rows to count"):
        network.learned.network()
    assert "hidden group" in network.learned._repr_html_()


@pytest.mark.parametrize("take", [xordal.learn, xordal.scan, xordal.find_rules, xordal.bootstrap])
def test_missing_values_and_weights_wherever_data_enter(take: Any) -> None:
    more = {"n_samples": 2} if take is xordal.bootstrap else {}
    with pytest.raises(DataError, match="missing='drop'"):
        take(HOLED, **more)
    with_counts = HOLED.assign(times=2)
    found = take(with_counts, missing="drop", weights="times", **more)
    assert found.variables == ("a", "b", "c")
    if hasattr(found, "n_rows"):
        assert found.n_rows == 240
    with pytest.raises(TypeError, match="missng"):
        take(XOR, missng="drop", **more)


def test_names_are_asked_for_in_a_list() -> None:
    with pytest.raises(SettingsError, match="as a list"):
        xordal.learn(XOR, exclude="a")


def test_numbers_are_cut_and_asked_for_by_number() -> None:
    frame = XOR.assign(temp=TEMPERATURE, c=(XOR["a"] + (TEMPERATURE > 20)) % 2)
    learned = xordal.learn(frame, bins=2)
    network = learned.network()
    cold, warm = (
        network.query("c", given={"a": 1, "temp": 15.5}),
        network.query("c", given={"a": 1, "temp": 25}),
    )
    assert cold[1] > 0.7
    assert warm[1] < 0.3
    with pytest.raises(DataError, match="no level 'cold'"):
        network.query("c", given={"temp": "cold"})
    with pytest.raises(DataError, match="no level"):
        network.query("c", given={"a": 7})


@pytest.mark.parametrize("take", [xordal.learn, xordal.scan])
def test_numbers_are_cut_into_four_bins_as_on_the_command_line(take: Any) -> None:
    frame = XOR.assign(temp=TEMPERATURE)
    with pytest.warns(DataWarning, match=r"Numbers cut into bins: 'temp'\. bins=\{'temp': 5\}") as caught:
        found = take(frame)
    assert {warning.filename for warning in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # who asked for bins is not told of them
        asked = take(frame, bins=4)
    if take is xordal.learn:
        assert found.links == asked.links
        assert found.table.levels == asked.table.levels
    else:
        assert found.sets == asked.sets
    with pytest.warns(DataWarning, match="looks continuous"):
        take(frame, bins=None)


def test_bins_of_one_column_leave_the_others_to_the_default() -> None:
    frame = XOR.assign(temp=TEMPERATURE, weight=TEMPERATURE[::-1] * 3)
    with pytest.warns(DataWarning, match=r"Numbers cut into bins: 'weight'\. "):
        learned = xordal.learn(frame, bins={"temp": 2})
    assert learned.table is not None
    assert [len(levels) for levels in learned.table.levels] == [2, 2, 2, 2, 4]


def test_the_estimator_cuts_numbers_too() -> None:
    with pytest.warns(DataWarning, match="Numbers cut into bins"):
        search = MultiLinkSearch().fit(XOR.assign(temp=TEMPERATURE))
    assert len(search.categories_[3]) == 4
    new = XOR.assign(temp=TEMPERATURE + 100).head(3)  # numbers that were not there go into the last bin
    assert np.isfinite(search.score_samples(new)).all()


def test_columns_and_rows_of_the_wrong_kind_are_told_in_a_line() -> None:
    frame = XOR.assign(temp=TEMPERATURE)
    network = xordal.learn(frame, bins=2).network()
    with pytest.raises(DataError, match="by its name, not by an object of type DataFrame"):
        network.predict("c", frame)
    with pytest.raises(DataError, match="score_rows takes a table"):
        network.log_prob(frame)
    with pytest.raises(DataError, match="a number is taken too"):
        network.query("c", given={"temp": "cold"})


@pytest.mark.parametrize("take", [xordal.learn, xordal.scan])
def test_identifiers_are_left_out_as_on_the_command_line(take: Any) -> None:
    frame = XOR.assign(who=[f"p{n}" for n in range(len(XOR))])
    with pytest.warns(DataWarning, match=r"'who' looks like an identifier.*left out.*columns=\[") as caught:
        assert take(frame).variables == ("a", "b", "c")
    assert {warning.filename for warning in caught} == {__file__}
    assert take(frame, categorical=["who"]).variables == ("a", "b", "c", "who")


def test_the_estimator_reads_with_the_same_words() -> None:
    frame = HOLED.assign(temp=[20.0, *TEMPERATURE])
    search = MultiLinkSearch(missing="drop", bins=2).fit(frame)
    assert search.categories_[3].tolist()[0].startswith("<= ")
    assert search.submodels_ is not None
    assert search.submodels_[0].variables == ("a", "b", "c")
    scores = search.score_samples(frame)
    assert np.isfinite(scores).all()
    assert scores[0] > scores[1]  # less is said of a row, so it is more probable
    weighted = MultiLinkSearch().fit(XOR.assign(times=3), sample_weight="times")
    assert weighted.network_.n_rows == 360
    assert weighted.score(XOR.assign(times=3)) == pytest.approx(MultiLinkSearch().fit(XOR).score(XOR), abs=0.02)


def test_identifiers_take_no_part_in_the_estimator() -> None:
    frame = XOR.assign(who=[f"p{n}" for n in range(len(XOR))])
    with pytest.warns(DataWarning, match="left out"):
        search = MultiLinkSearch().fit(frame[["who", "a", "b", "c"]])
    assert search.n_features_in_ == 4
    assert search.network_.variables == ("a", "b", "c")
    assert np.isfinite(search.score(frame[["who", "a", "b", "c"]]))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_out(library: Any) -> None:
    network = xordal.learn(XOR).network()
    drawn = nw.from_native(network.sample(50, seed=1).to_frame(library))
    assert drawn.columns == ["a", "b", "c"]
    assert set(drawn["a"].to_list()) == {0, 1}
    filled = network.impute(HOLED.iloc[:3]).to_frame(library)
    assert len(filled) == 3
    ranked = nw.from_native(xordal.scan(XOR).to_frame(library))
    assert ranked.columns[:3] == ["column 1", "column 2", "column 3"]
    assert ranked["interaction"][0] == pytest.approx(np.log(2))
    with pytest.raises(SettingsError, match="polars"):
        network.sample(5).to_frame("polar")  # type: ignore[arg-type]


def test_frames_keep_weights_and_pandas_is_a_word_of_its_own() -> None:
    table = xordal.read_table(XOR.assign(n=2), weights="n")
    assert table.to_pandas().columns.tolist() == ["a", "b", "c", "weight"]
    assert xordal.scan(XOR).to_pandas().shape[0] == 1
    assert repr(table) == "CategoricalTable of 240 rows and 3 columns, with levels: a (2), b (2), c (2)"


def test_graphs_of_all_that_is_learned() -> None:
    learned = xordal.learn(XOR)
    for found in (learned, learned.network(), MultiLinkSearch().fit(XOR)):
        assert sorted(map(sorted, xordal.to_networkx(found).edges)) == [["a", "b"], ["a", "c"], ["b", "c"]]
    with pytest.raises(DataError, match="A DataFrame has no graph"):
        xordal.to_networkx(XOR)


def test_stability_in_names() -> None:
    stability = xordal.bootstrap(XOR, 3)
    assert stability.named_links["a", "b"] == 1.0
    assert stability.named_groups == {("a", "b", "c"): 1.0}
    assert "('a', 'b', 'c'): 1.0" in repr(stability)


def test_an_exact_joint_is_not_read() -> None:
    from xordal.pi.zoo.paper import table_1

    with pytest.raises(SettingsError, match="leave bins out"):
        xordal.learn(table_1().joint, bins=3)
    assert isinstance(xordal.learn(table_1().joint), Learned)


def test_a_column_that_others_tell_is_not_among_those_that_do() -> None:
    learned = xordal.learn(XOR)
    assert learned.submodels is not None
    rule = Rule("function", holds=0.93, by_chance=0.6, target=2, low=0.91, high=0.95)
    told = repr(replace(learned, submodels=(replace(learned.submodels[0], rule=rule),)))
    assert told.splitlines()[1].startswith("  a, b tell c rightly, in 93.0 % of rows held out")


def test_what_is_told_in_few_lines_needs_no_other_text() -> None:
    """A share is a sentence, and bare numbers have the names of their columns."""
    learned = xordal.learn(XOR)
    assert learned.submodels is not None
    group = replace(learned.submodels[0], rule=None, share=Share(0.21, 0.19, 0.22))
    told = repr(replace(learned, submodels=(group,)))
    assert "  a, b, c: 21 % of what they share shows in no pair of them (19 to 22)" in told.splitlines()
    rates = (Rate(("0", "1"), 31, 100, 0.23, 0.41), Rate(("1", "1"), 5, 100, 0.02, 0.11))
    rule = Rule("rates", 0.18, 0.18, level="1", rates=rates, target=2)
    told = repr(replace(learned, submodels=(replace(group, rule=rule),)))
    assert "  a, b, c: c = 1 in 31 % of a/b = 0/1 (23 to 41), 5 % of 1/1 (2 to 11)" in told.splitlines()


def test_of_many_links_the_first_that_were_learned_are_listed() -> None:
    """Each of ten columns copies the one before it, later ones more faithfully."""
    generator = np.random.default_rng(1)
    columns = [generator.integers(0, 2, 2000)]
    for wrong in np.linspace(0.4, 0.02, 10):
        columns.append(columns[-1] ^ (generator.random(2000) < wrong))
    learned = xordal.learn({f"c{n}": column for n, column in enumerate(columns)})
    line = repr(learned).splitlines()[1]
    assert line.startswith("  The first that were learned: c9 - c10, c8 - c9, ")
    assert line.endswith(", and 2 more")


def test_what_only_networks_do_is_pointed_to() -> None:
    learned = xordal.learn(XOR)
    for name in ("sample", "predict", "impute", "save"):
        assert not hasattr(learned, name)
        assert hasattr(learned.network(), name)
        with pytest.raises(AttributeError, match=rf"learned\.network\(\)\.{name}\("):
            getattr(learned, name)
    with pytest.raises(AttributeError, match=r"xordal\.check\(learned, "):
        getattr(learned, "check")  # noqa: B009 - it is not there
    with pytest.raises(AttributeError, match="no attribute 'smaple'"):
        getattr(learned, "smaple")  # noqa: B009 - it is not there
    assert pickle.loads(pickle.dumps(learned)).links == copy.deepcopy(learned).links == learned.links


def test_missing_values_name_the_policy_of_the_command_line() -> None:
    with pytest.raises(xordal.DataError, match="missing='auto' chooses between the two"):
        xordal.learn({"a": [0, 1, None], "b": [0, 1, 1]})
