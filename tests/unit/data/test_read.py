"""CSV files in: what is read, and every way a file can be wrong."""

from __future__ import annotations

import gzip
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xordal import CategoricalTable, DataError, DataWarning, TextFormat, read_table
from xordal.data.write import csv_text


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_values_are_text_and_levels_ordered(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, 'size,"last name"\n10,"a, b"\n9,c\n\n10,c\n'))
    assert table.names == ("size", "last name")
    assert table.levels == (("9", "10"), ("a, b", "c"))
    assert table.codes.tolist() == [[1, 0, 1], [0, 1, 1]]


def test_a_byte_order_mark_and_windows_line_ends_are_no_data(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, b"\xef\xbb\xbfa,b\r\n0,1\r\n1,0\r\n"))
    assert table.names == ("a", "b")
    assert table.levels == (("0", "1"), ("0", "1"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("a,b\n", "a header but no rows"),
        ("a\n1\n", "only one column, 'a'"),
        ("a b\n1 2\n", "separate them by commas"),
        ("a,b\n1,2\n1,2,3\n", "line 3: 3 values, but the header names 2 columns"),
        ("a,b\n1,2\n\n1\n", "line 4: 1 value"),
        ("a,b\n1,2\n1,\n", "line 3, column 'b': the value is missing"),
        ("a,b\n1,2\n1,  \n", "line 3, column 'b': the value is missing"),
        ('a,b\n1,"2\n', "not valid CSV"),
        (b"a,b\n1,\xff\n", "byte 6 is not UTF-8"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-4], "damaged or cut short"),
        (b"a,b\n1,2\x00\n", "line 2"),
    ],
)
def test_a_bad_file_is_told_what_and_where(tmp_path: Path, text: str | bytes, told: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(DataError) as error:
        read_table(path)
    assert told in str(error.value)
    assert "data.csv" in str(error.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="no CSV or Parquet file in"):
        read_table(tmp_path)


@given(st.binary(max_size=200))
@example(b",0")
def test_random_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = write(tmp_path_factory.mktemp("random"), content)
    with warnings.catch_warnings(record=True) as warned, suppress(DataError):
        warnings.simplefilter("always")
        n_columns = read_table(path).n_variables
        is_told = any("Without a single value" in str(each.message) for each in warned)
        assert n_columns >= (1 if is_told else 2)


def test_a_column_without_a_value_is_left_out_though_it_leaves_one(tmp_path: Path) -> None:
    """As with ``columns=["b"]``: whoever needs two refuses one."""
    path = write(tmp_path, "a,b\n,0\n,1\n,0\n")
    with pytest.warns(DataWarning, match="Without a single value, so left out: 'a'"):
        assert read_table(path).names == ("b",)


word = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(word, word), min_size=1))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    path = write(tmp_path_factory.mktemp("random"), csv_text(["x", "y"], rows))
    form = TextFormat(has_header=True, missing=())
    table = read_table(path, categorical=["x", "y"], text=form)
    back = [tuple(table.levels[v][code] for v, code in enumerate(row)) for row in table.rows()]
    assert back == rows


def test_columns_and_rows_make_the_same_table() -> None:
    columns = CategoricalTable.from_columns({"a": [0, 1, 1], "b": ["x", "y", "x"]})
    rows = CategoricalTable.from_rows(["a", "b"], [(0, "x"), (1, "y"), (1, "x")])
    assert (columns.names, columns.levels, columns.codes.tolist()) == (
        rows.names,
        rows.levels,
        rows.codes.tolist(),
    )


@pytest.mark.parametrize(
    ("names", "rows", "told"),
    [
        (["a", "a"], [(0, 1)], "Column name 'a' is used more than once"),
        ([], [], "no columns"),
        (["a", "b"], [], "no rows"),
        (["a", "b"], [(0, 1), (0,)], "Row 2 has 1 value; there are 2 columns"),
        (["a", "b"], [(0, 1), (0, None)], "Column 'b', row 2: the value is missing"),
        (["a", "b"], [(0, 1), (float("nan"), 1)], "Column 'a', row 2: the value is missing"),
    ],
)
def test_bad_rows_are_refused(names: list[str], rows: list[tuple[object, ...]], told: str) -> None:
    with pytest.raises(DataError, match=told):
        CategoricalTable.from_rows(names, rows)


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(DataError, match="'a' has 2, 'b' has 1"):
        CategoricalTable.from_columns({"a": [0, 1], "b": [0]})
