"""What happens to a table while it is read: columns, weights, missing values, bins, rare levels, suspects."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import tables
from xordal import Bins, CategoricalTable, DataError, DataWarning, SettingsError, learn, read_table
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.data.column import from_values
from xordal.data.discretise import binned, merged
from xordal.data.entering import table_from
from xordal.data.suspects import suspect
from xordal.types.choices import Missing
from xordal.types.varsets import VarSet

SURVEY = {"age": [1, 2, 2, 3], "sex": ["f", "m", "f", "m"], "Freq": [2, 0, 1, 3]}


def test_columns_are_chosen_by_name() -> None:
    assert read_table(SURVEY, columns=["sex", "age"]).names == ("age", "sex")  # the order of the table
    assert read_table(SURVEY, exclude=["Freq"]).names == ("age", "sex")
    with pytest.raises(DataError, match=r"There is no column 'Sex'; did you mean 'sex'\?"):
        read_table(SURVEY, columns=["Sex"])
    with pytest.raises(DataError, match=r"There is no column 'freq'; did you mean 'Freq'\?"):
        read_table(SURVEY, weights="freq")
    with pytest.raises(DataError, match="No column is left"):
        read_table(SURVEY, exclude=list(SURVEY))
    with pytest.raises(SettingsError, match="as a list"):
        read_table(SURVEY, columns="age")


def test_weights_repeat_rows_and_zero_contributes_no_level() -> None:
    table = read_table(SURVEY, weights="Freq")
    assert (table.names, table.n_rows) == (("age", "sex"), 6)
    assert read_table(SURVEY, weights="Freq", columns=["sex", "age"]).n_rows == 6
    only_two = read_table({"a": ["x", "y", "z"], "n": [1, 0, 2]}, weights="n")
    assert only_two.levels == (("x", "z"),)
    assert only_two.rows() == [(0,), (1,), (1,)]


def repeated(table: CategoricalTable, weights: list[int]) -> CategoricalTable:
    rows = [row for row, times in zip(table.rows(), weights, strict=True) for _ in range(times)]
    return CategoricalTable.from_rows(table.names, rows)


@settings(max_examples=some(150))
@given(tables(max_variables=5), st.data())
def test_weighted_rows_are_repeated_rows(table: CategoricalTable, data: st.DataObject) -> None:
    weights = data.draw(
        st.lists(st.integers(0, 4), min_size=table.n_rows, max_size=table.n_rows).filter(any), label="weights"
    )
    columns = dict(zip(table.names, table.codes.tolist(), strict=True))
    as_kind: Callable[[list[int]], Any] = data.draw(st.sampled_from([list, np.array, pd.Series]))
    light = CategoricalTable.from_columns(columns, as_kind(weights))
    heavy = repeated(table, weights)
    assert light.levels == heavy.levels
    assert light.n_rows == heavy.n_rows
    assert sorted(light.rows()) == sorted(heavy.rows())
    assert learn(light).trace == learn(heavy).trace
    assert learn(light, engine="reference").trace == learn(heavy, engine="reference").trace
    assert read_table({**columns, "w": weights}, weights="w").rows() == light.rows()
    sets = [VarSet(mask) for mask in range(1 << table.n_variables)]
    for one, two in zip(NumpyCounter(light).counts(sets), NumpyCounter(heavy).counts(sets), strict=True):
        assert one.cells.tolist() == two.cells.tolist()
        assert one.counts.tolist() == two.counts.tolist()


def test_weights_on_tables_too_large_to_number() -> None:
    rows = np.random.default_rng(3).integers(0, 2, size=(20, 70)).tolist()
    table = CategoricalTable.from_rows([f"b{v}" for v in range(70)], rows, weights=range(1, 21))
    for width in (70, 50):  # beyond any integer; beyond any array
        (found,) = NumpyCounter(table).counts([VarSet((1 << width) - 1)])
        assert sorted(found.counts.tolist()) == list(range(1, 21))


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([1, -1], "row 2: -1"),
        ([1, float("nan")], "row 2: the weight is missing"),
        ([1, float("inf")], "row 2"),
        (["1", "many"], "row 2: many"),
        ([0, 0], "All row weights are zero"),
        ([2**53, 1], "more than 2\\^53"),
    ],
)
def test_what_is_no_weight(weights: list[Any], told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_table({"a": [0, 1], "b": [1, 0], "n": weights}, weights="n")
    if isinstance(weights[0], int | float):
        with pytest.raises(DataError, match=told.replace("row", "[Rr]ow")):
            read_table({"a": [0, 1]}, weights=weights)


def test_weights_of_the_wrong_shape() -> None:
    with pytest.raises(DataError, match="3 row weights for 2 rows"):
        read_table({"a": [0, 1]}, weights=[1, 2, 3])
    with pytest.raises(DataError, match="2 dimensions"):
        read_table({"a": [0, 1]}, weights=[[1], [2]])
    with pytest.raises(DataError, match="whole numbers, one per row"):
        read_table({"a": [0, 1]}, weights=["x", "y"])
    with pytest.raises(SettingsError, match="weights of its own"):
        read_table(CategoricalTable.from_columns({"a": [0, 1]}, [1, 2]), weights=[1, 2])


def test_a_table_read_twice_is_the_same_table() -> None:
    table = CategoricalTable.from_columns({"a": [0, 1], "b": [1, 0]}, weights=[1, 3])
    again = read_table(table, columns=["b"])
    assert (again.names, again.n_rows, again.levels) == (("b",), 4, ((0, 1),))


HOLES = {"a": ["x", None, "y", "y"], "b": [1, 2, None, 1], "n": [1, 1, 0, 2]}


def test_missing_values_by_policy() -> None:
    with pytest.raises(DataError, match=r"Column 'a', row 2: the value is missing.*drop.*level"):
        read_table(HOLES)
    dropped = read_table(HOLES, missing="drop", exclude=["n"])
    assert dropped.levels == (("x", "y"), (1.0,))
    level = read_table(HOLES, missing="level", exclude=["n"])
    assert level.levels == (("x", "y", "(missing)"), (1.0, 2.0, "(missing)"))
    assert level.codes.tolist() == [[0, 2, 1, 1], [0, 1, 2, 0]]
    with pytest.raises(SettingsError, match="did you mean 'drop'"):
        read_table(HOLES, missing="drops")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="Every row has a missing value"):
        read_table({"a": [None, 1], "b": [1, None]}, missing="drop")


def test_missing_values_of_uncounted_rows_and_columns_do_not_matter() -> None:
    assert read_table({"a": ["x", None], "n": [1, 0]}, weights="n").levels == (("x",),)
    assert read_table(HOLES, columns=["n"]).n_rows == 4


def test_a_level_that_is_called_missing_already() -> None:
    table = read_table({"a": ["(missing)", None], "b": [1, 2]}, missing="level")
    assert table.levels[0] == ("(missing)", "((missing))")


numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)


@given(numbers, st.integers(2, 6), st.sampled_from(["quantile", "width"]))
def test_bins_keep_the_order_and_say_what_they_hold(values: list[float], number: int, by: Any) -> None:
    column = from_values("x", values)
    cut = binned(column, Bins(number, by))
    assert 1 <= len(cut.levels) <= number
    for value, code in zip(values, cut.codes.tolist(), strict=True):
        for other, other_code in zip(values, cut.codes.tolist(), strict=True):
            assert code <= other_code or value > other
    assert len(set(cut.levels)) == len(cut.levels)


def test_bins_with_bounds() -> None:
    cut = binned(from_values("x", ["1", "2", "3", "10"]), Bins(3, "width"))
    assert cut.levels == ("<= 4", "> 7")
    assert cut.codes.tolist() == [0, 0, 0, 1]
    quarters = binned(from_values("x", list(range(100))), Bins(4))
    assert quarters.levels == ("<= 24", "(24, 49]", "(49, 74]", "> 74")
    assert quarters.counts().tolist() == [25] * 4


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 4)), min_size=1), st.integers(2, 5))
def test_weighted_bins_are_those_of_repeated_rows(rows: list[tuple[int, int]], number: int) -> None:
    values = [value / 2 for value, _ in rows]
    weights = np.array([times for _, times in rows])
    light = binned(from_values("x", values), Bins(number), weights)
    heavy = binned(from_values("x", np.repeat(values, weights).tolist()), Bins(number))
    assert light.levels == heavy.levels
    assert np.repeat(light.codes, weights).tolist() == heavy.codes.tolist()


def test_only_continuous_columns_are_cut() -> None:
    source = {
        "t": [n / 7 for n in range(50)],
        "sex": ["f", "m"] * 25,
        "m": [None] * 10 + [n / 3 for n in range(40)],
    }
    table = read_table(source, bins=4, missing="level")
    assert table.n_levels == (4, 2, 5)
    assert table.levels[2][-1] == "(missing)"
    with pytest.warns(DataWarning, match="Column 't' looks continuous"):
        read_table(source, exclude=["m"])
    assert read_table(source, exclude=["m"], categorical=["t"], bins=4).n_levels == (50, 2)


@pytest.mark.parametrize(
    ("number", "by", "told"), [(1, "width", "at least 2"), (4, "widht", "did you mean 'width'")]
)
def test_bins_that_make_no_sense(number: int, by: Any, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Bins(number, by)


def test_text_cannot_be_cut() -> None:
    with pytest.raises(DataError, match="holds no numbers"):
        binned(from_values("x", ["a", "b"]), Bins())


def test_rare_levels_are_merged() -> None:
    column = from_values("x", ["a"] * 5 + ["b"] * 4 + ["c", "d"])
    assert merged(column, 3).levels == ("a", "b", "(other)")
    assert merged(column, 3).counts().tolist() == [5, 4, 2]
    assert merged(column, 2, np.array([1] * 9 + [9, 9])).levels == ("a", "b", "c", "d")
    assert merged(from_values("x", ["a", "a", "b"]), 2).levels == ("a", "b")  # one rare level is no group
    assert merged(from_values("x", ["(other)", "(other)", "b", "c"]), 2).levels == ("(other)", "((other))")
    assert read_table({"x": list("aabcd"), "y": list("uuvvv")}, merge_rare=2).n_levels == (2, 2)
    with pytest.raises(SettingsError, match="merge_rare"):
        read_table({"x": [1]}, merge_rare=-1)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([n / 10 for n in range(30)], "continuous"),
        ([n / 10 for n in range(12)], "continuous"),  # most rows have a value of their own
        ([n % 12 / 10 for n in range(100)], None),
        ([str(n / 10) for n in range(30)], "continuous"),
        ([n % 70 for n in range(500)], "continuous"),
        ([n % 31 for n in range(500)], None),
        (list(range(500)), "identifier"),
        ([f"name {n}" for n in range(30)], "identifier"),
        ([f"name {n % 30}" for n in range(50)], "identifier"),
        ([f"name {n % 30}" for n in range(500)], None),
        ([f"name {n % 300}" for n in range(3000)], "many levels"),
        ([f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}" for n in range(500)], "dates"),
        ([f"{n / 7:.2f}" for n in range(300)] + ["refused"], "words"),
        ([f"${n},000.50" for n in range(1, 300)], "continuous"),
        (["x"] * 10, "constant"),
        ([None] * 10, "constant"),
        ([f"{n // 10},{n % 10}" for n in range(30)], "continuous"),
        ([f"{n},500" for n in range(8)], None),
        ([f"name {n}" for n in range(10)], None),
    ],
)
def test_suspect_columns(values: list[Any], kind: str | None) -> None:
    found = suspect(from_values("x", values))
    assert (found and found.kind) == kind


def test_a_column_called_freq_is_noted() -> None:
    with pytest.warns(DataWarning, match="Column 'Freq' looks like counts of rows.*weights='Freq'"):
        read_table(SURVEY)
    assert suspect(from_values("Freq", [-1, 2])) is None
    assert suspect(from_values("Freq", ["low", "high"])) is None


def test_the_library_warns_once_per_column() -> None:
    source = {"id": [f"p{n}" for n in range(40)], "x": [0, 1] * 20, "c": [0] * 40}
    with pytest.warns(DataWarning) as caught:
        table = read_table(source)
    assert [str(w.message) for w in caught] == ["Column 'id' looks like an identifier: 40 levels in 40 rows."]
    assert table.names == ("id", "x", "c")


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("missing", ["auto", "drop", "error"])
def test_what_a_column_that_is_left_out_lacks_costs_no_row(is_packed: bool, missing: Missing) -> None:
    n = 400
    days = [f"2026-{1 + k % 12:02}-{1 + k % 28:02}" if k % 10 == 0 else None for k in range(n)]
    columns = {
        "a": ["x" if k % 3 else "y" for k in range(n)],
        "b": [None if k < 4 and missing != "error" else "u" if k % 5 else "v" for k in range(n)],
        "closed": days,
        "ticket": [f"T{k:04}" if k % 2 else None for k in range(n)],
    }
    source = pl.LazyFrame(columns) if is_packed else columns
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = table_from(source, missing=missing)
        asked_for = table_from(source, missing="drop", columns=["a", "closed"])
    told = [str(one.message) for one in caught]
    assert table.names == ("a", "b")
    assert table.n_rows == (n if missing == "error" else n - 4)
    assert all("(missing)" not in levels for levels in table.levels)
    assert sum("'closed' holds" in line and "It is left out" in line for line in told) == 1
    assert sum("'ticket' looks like an identifier" in line for line in told) == 1
    assert asked_for.n_rows == 40  # asked for by name, such a column counts as any other


@pytest.mark.filterwarnings("ignore::xordal.DataWarning")
def test_a_table_of_codes_alone_is_told_what_can_be_done_with_it() -> None:
    codes: dict[str, list[Any]] = {
        "item": list(range(1, 2001)),
        "code": [f"{7 * k % 10_000:06}" for k in range(2000)],
    }
    with pytest.raises(DataError, match=r"'item' looks like an identifier.*'code' looks like") as caught:
        table_from(codes)
    assert "split_column(read_table(...), 'code')" in str(caught.value)
    assert "split_column(read_table(...), 'item')" not in str(caught.value)
    with pytest.raises(DataError, match="every column is left out"):  # also where values are missing
        table_from({"code": [*codes["code"][:-1], None], "item": codes["item"]}, missing="drop")
