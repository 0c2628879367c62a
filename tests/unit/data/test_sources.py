"""The same table from every source is the same network, to the bit."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import compute, parquet

from tests.examples import some
from tests.strategies import tables
from xordal import CategoricalTable, DataError, Learned, MultiLinkSearch, TextFormat, learn, read_table
from xordal.data.arrow import column_of
from xordal.data.write import csv_text
from xordal.pi.zoo import table_1

Values = dict[str, list[str]]


def as_text(table: CategoricalTable) -> Values:
    """Return a table as columns of text: the form every source can hold."""
    return {
        name: [f"level {levels[code]}" for code in codes]
        for name, levels, codes in zip(table.names, table.levels, table.codes.tolist(), strict=True)
    }


def csv_bytes(values: Values) -> bytes:
    return csv_text(list(values), zip(*values.values(), strict=True)).encode()


def parquet_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


FILES: dict[str, tuple[str, Callable[[Values], bytes]]] = {
    "CSV": ("t.csv", csv_bytes),
    "CSV with semicolons": ("t.csv", lambda values: csv_bytes(values).replace(b",", b";")),
    "CSV in UTF-16": ("t.csv", lambda values: csv_bytes(values).decode().encode("utf-16")),
    "TSV, compressed": ("t.tsv.gz", lambda values: gzip.compress(csv_bytes(values).replace(b",", b"\t"))),
    "CSV, compressed, by another name": ("t.dat", lambda values: gzip.compress(csv_bytes(values))),
    "Parquet": ("t.parquet", lambda values: parquet_bytes(pa.table(values))),
    "Parquet from pandas categories": (
        "t.parquet",
        lambda values: parquet_bytes(pa.Table.from_pandas(pd.DataFrame(values, dtype="category"))),
    ),
}
FRAMES: dict[str, Callable[[Values], Any]] = {
    "pandas str": pd.DataFrame,
    "pandas object": lambda values: pd.DataFrame(values, dtype=object),
    "pandas category": lambda values: pd.DataFrame(values, dtype="category"),
    "pandas, part of a larger frame": lambda values: pd.concat([pd.DataFrame(values)] * 2).iloc[
        : len(next(iter(values.values())))
    ],
    "polars String": pl.DataFrame,
    "polars Categorical": lambda values: pl.DataFrame(values).cast(pl.Categorical),
    "polars Enum": lambda values: pl.DataFrame(
        {name: pl.Series(column, dtype=pl.Enum(sorted(set(column)))) for name, column in values.items()}
    ),
    "polars, lazy": lambda values: pl.DataFrame(values).lazy(),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda values: pa.table(
        {name: pa.array(column).dictionary_encode() for name, column in values.items()}
    ),
    "pyarrow, sliced chunks": lambda values: pa.concat_tables([pa.table(values)] * 2).slice(
        len(next(iter(values.values())))
    ),
    "pyarrow record batch": pa.record_batch,
    "Arrow stream": lambda values: pa.table(values).to_reader(),
    "mapping": lambda values: values,
}


def same_tables(one: CategoricalTable, other: CategoricalTable) -> bool:
    parts = (one.names == other.names, one.levels == other.levels, np.array_equal(one.codes, other.codes))
    return all(parts)


def same_networks(one: Learned, other: Learned) -> bool:
    return (one.trace, one.links, one.cliques, one.n_rows) == (
        other.trace,
        other.links,
        other.cliques,
        other.n_rows,
    )


@pytest.mark.parametrize("kind", FILES)
def test_table_1_from_files(kind: str, tmp_path: Path) -> None:
    name, content = FILES[kind]
    values = as_text(table_1().joint.exact_table())
    path = tmp_path / name
    path.write_bytes(content(values))
    expected = CategoricalTable.from_columns(values)
    table = read_table(path)
    assert same_tables(table, expected)
    assert same_networks(learn(table), learn(expected))


@pytest.mark.parametrize("kind", FRAMES)
def test_table_1_from_frames(kind: str) -> None:
    values = as_text(table_1().joint.exact_table())
    expected = CategoricalTable.from_columns(values)
    assert same_tables(read_table(FRAMES[kind](values)), expected)


@settings(max_examples=some(25))
@given(tables(max_variables=5))
def test_any_table_from_any_source(tmp_path_factory: pytest.TempPathFactory, table: CategoricalTable) -> None:
    values = as_text(table)
    folder = tmp_path_factory.mktemp("sources")
    expected = CategoricalTable.from_columns(values)
    for name, content in FILES.values():
        (folder / name).write_bytes(content(values))
        assert same_tables(read_table(folder / name), expected)
    for make in FRAMES.values():
        assert same_tables(read_table(make(values)), expected)


@pytest.mark.parametrize("kind", ["int", "bool", "float"])
@settings(max_examples=some(20))
@given(table=tables(max_variables=4), pair=st.tuples(st.integers(-9, 9), st.integers(10, 20)))
def test_numbers_and_truth_values_keep_their_type(
    kind: str, table: CategoricalTable, pair: tuple[int, int]
) -> None:
    kinds: dict[str, Callable[[int], Any]] = {
        "int": int,
        "bool": lambda n: bool(n % 2),
        "float": lambda n: n / 2,
    }
    make = kinds[kind]
    columns = {
        n: [make(pair[0] + code) for code in c] for n, c in zip(table.names, table.codes.tolist(), strict=True)
    }
    expected = CategoricalTable.from_columns(columns)
    sources = (
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pa.table(columns),
        np.array(list(columns.values())).T,
        list(zip(*columns.values(), strict=True)),
    )
    for source in sources:
        found = read_table(source)
        assert found.levels == expected.levels
        assert all(type(level) is type(make(0)) for levels in found.levels for level in levels)
        assert same_networks(learn(found), learn(CategoricalTable(table.names, found.levels, found.codes)))
        assert learn(found).trace == learn(expected).trace


@settings(max_examples=some(10))
@given(tables(max_variables=4))
def test_the_estimator_sees_the_same_in_all_of_them(table: CategoricalTable) -> None:
    values = as_text(table)
    expected = MultiLinkSearch().fit(pd.DataFrame(values))
    for make in FRAMES.values():
        search = MultiLinkSearch().fit(make(values))
        assert search.trace_ == expected.trace_
        assert search.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
        assert (
            search.score_samples(make(values)).tolist() == expected.score_samples(pd.DataFrame(values)).tolist()
        )


def test_the_order_of_levels() -> None:
    sizes = ["medium", "small", "large", "medium"]
    declared = ["small", "medium", "large", "huge"]
    kept = (("small", "medium", "large"),)
    by_text = (("large", "medium", "small"),)
    assert read_table(pd.DataFrame({"size": pd.Categorical(sizes, declared)})).levels == kept
    assert read_table(pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(declared))})).levels == kept
    ordered = pa.DictionaryArray.from_arrays([1, 0, 2, 1], declared, ordered=True)
    assert read_table(pa.table({"size": ordered})).levels == kept
    assert read_table(pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Categorical)})).levels == by_text
    assert read_table(pa.table({"size": pa.array(sizes).dictionary_encode()})).levels == by_text
    assert read_table({"n": [10, 9, 100], "s": ["10", "9", "b"]}).levels == ((9, 10, 100), ("10", "9", "b"))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\n1\t2\n2\t1\n")))
    assert read_table("-").levels == (("1", "2"), ("1", "2"))


def test_names_come_from_the_source_or_are_numbered() -> None:
    assert read_table(np.zeros((2, 3), dtype=int)).names == ("x0", "x1", "x2")
    assert read_table(pd.DataFrame([[1, 2], [3, 4]])).names == ("0", "1")
    structured = np.array([(1, "x"), (2, "y")], dtype=[("n", "i4"), ("s", "U1")])
    assert read_table(structured).levels == ((1, 2), ("x", "y"))


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Column name 'a' is used more than once"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), "used more than once"),
        (pd.DataFrame({"a": [1, 2], " ": [1, 2]}), "Column 2 has no name"),
        (
            pd.DataFrame({"a": [1, "1"]}, dtype=object),
            r"mixes types: numbers \(1, row 1\) and text \('1', row 2\)",
        ),
        (pd.DataFrame({"a": [[1], [2]]}), "one category"),
        (pa.table({"a": [{"b": 1}]}), "holds objects"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "Column 'a', row 2: the value is infinite"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame(), "no columns"),
        (np.zeros(3), "Expected 2D array, got 1D"),
        (np.zeros((2, 2), dtype=complex), "Complex data"),
        ([(1, 2), (1,)], "Row 2 has 1 values"),
        ({"a": [1, 2], "b": [1]}, "'a' has 2, 'b' has 1"),
        (pd.DataFrame({"a": [1, None], "b": [1, 2]}), "Column 'a', row 2: the value is missing"),
        (pl.DataFrame({"a": [1.0, float("nan")]}), "Column 'a', row 2: the value is missing"),
        (
            np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, False], [False, True]]),
            "Column 'x1', row 2: the value is missing",
        ),
        ({"a": "xyz"}, "Column 'a' is a single value"),
        (pd.Series([1, 2]), "no table of named columns|got 1D array"),
        (object(), "object is no table"),
        (b"a,b", "read_table"),
    ],
)
def test_what_is_no_table_of_categories(source: object, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_table(source)


def test_pandas_missing_values_of_every_kind() -> None:
    frame = pd.DataFrame(
        {
            "object": np.array(["x", None], dtype=object),
            "text": pd.array(["x", None], dtype="string"),
            "number": pd.array([1, None], dtype="Int64"),
            "time": pd.to_datetime(["2020-01-01", None]),
            "category": pd.Categorical(["x", None]),
        }
    )
    table = read_table(frame, missing="level")
    assert all(levels[1] == "(missing)" for levels in table.levels)
    assert table.codes.tolist() == [[0, 1]] * 5


def test_levels_of_rarer_types() -> None:
    cut = pd.cut([1, 2, 3, 4], 2)
    assert [str(level) for level in read_table(pd.DataFrame({"a": cut})).levels[0]] == [
        "(0.997, 2.5]",
        "(2.5, 4.0]",
    ]
    months = pd.period_range("2020-11", periods=3, freq="M")
    assert read_table(pd.DataFrame({"month": months})).levels == (tuple(months),)
    assert read_table(pd.DataFrame({"sparse": pd.arrays.SparseArray([0, 0, 1])})).levels == ((0, 1),)
    assert read_table(pd.DataFrame({"large": [2**70, 1]})).levels == ((1, 2**70),)
    assert read_table(pa.table({"runs": compute.run_end_encode(pa.array(["x", "x", "y"]))})).n_levels == (2,)
    assert read_table(pa.table({"id": pa.array([b"0" * 16, b"1" * 16], pa.uuid())})).n_levels == (2,)
    words = pl.DataFrame({"objects": pl.Series(["x", "y", "x"], dtype=pl.Object)})
    assert read_table(words).levels == (("x", "y"),)
    assert read_table(pl.DataFrame({"day": [date(2020, 1, 2), date(2020, 1, 1)]})).levels == (
        (date(2020, 1, 1), date(2020, 1, 2)),
    )


def test_times_too_fine_for_python_are_text() -> None:
    column = pa.array([1, 2], type=pa.timestamp("ns"))
    levels = read_table(pa.table({"t": column, "u": [1, 2]})).levels[0]
    assert len(levels) == 2


def test_a_text_format_that_makes_no_sense() -> None:
    for wrong in ({"delimiter": ",,"}, {"delimiter": "é"}, {"delimiter": '"'}, {"encoding": "klingon"}):
        with pytest.raises(ValueError, match=r"delimiter|encoding"):
            TextFormat(**wrong)  # type: ignore[arg-type]


def test_a_pandas_index_in_parquet_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"person": ["p", "q", "r"], "a": ["x", "y", "x"], "b": ["u", "v", "u"]})
    for index in (["person"], None):
        path = tmp_path / "t.parquet"
        (frame.set_index(index) if index else frame.drop(columns="person").iloc[::-1]).to_parquet(path)
        assert read_table(str(path)).names == ("a", "b")


@pytest.mark.parametrize("label", [None, float("nan")])
def test_a_nameless_pandas_column_is_refused(label: object) -> None:
    frame = pd.DataFrame([["x", "u"], ["y", "v"]], columns=pd.Index(["a", label], dtype=object))
    with pytest.raises(DataError, match="Column 2 has no name"):
        read_table(frame)


def test_a_dictionary_that_lacks_a_value_is_refused() -> None:
    """As in a damaged file: Arrow itself does not look."""
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None], pa.int32()), ["x", "y"], safe=False)
    with pytest.raises(DataError, match="'a' is damaged"):
        column_of("a", array)
