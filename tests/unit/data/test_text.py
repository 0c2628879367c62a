"""Text files: what is detected, what is given, and that both parsers read the same."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from xordal import DataError, DataWarning, TextFormat, read_table
from xordal.data import text as reader
from xordal.data.column import Column
from xordal.data.dialect import TextFormat as Format
from xordal.data.text import parse


def levels(content: str | bytes, **form: object) -> tuple[tuple[object, ...], ...]:
    data = content if isinstance(content, bytes) else content.encode()
    columns, _ = parse(data, Format(**form), "t.csv")  # type: ignore[arg-type]
    return tuple(column.levels for column in columns)


@pytest.mark.parametrize(
    "content",
    [
        "a,b\nx,1\ny,2\n",
        "a;b\nx;1\ny;2\n",
        "a\tb\nx\t1\ny\t2\n",
        "a|b\nx|1\ny|2\n",
        '"a","b"\n"x","1"\n"y","2"\n',
        "a,b\r\nx,1\r\ny,2",
        "a,b\rx,1\ry,2\r",
        "\n\na,b\n\nx,1\n\ny,2\n\n",
        "\ufeffa,b\nx,1\ny,2\n",
    ],
)
def test_delimiters_quotes_and_line_ends_are_found(content: str) -> None:
    assert levels(content) == (("x", "y"), ("1", "2"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_tells_the_encoding(encoding: str) -> None:
    assert levels("é,b\nü,1\ny,2\n".encode(encoding))[0] == ("y", "ü")


def test_an_encoding_can_be_given() -> None:
    content = "name,b\nMüller,1\nGarcía,2\n".encode("latin-1")
    assert levels(content, encoding="latin-1")[0] == ("García", "Müller")
    with pytest.warns(DataWarning, match=r"t.csv: not UTF-8, so it is read as Windows-1252"):
        assert levels(content)[0] == ("García", "Müller")
    with pytest.raises(DataError, match=r"t.csv: byte 4 is not UTF-8 text.*encoding='latin-1'"):
        levels("a,b\nМосква,1\nТула,2\n".encode("cp1251"))
    with pytest.raises(DataError, match="not ascii text"):
        levels(content, encoding="ascii")
    with pytest.raises(DataError, match=r"line 1: there is a NUL byte.*utf-16"):
        levels("a\0,b\nx,1\n")
    assert levels("a,b\nx,1\n".encode("utf-16-le")) == (("x",), ("1",))
    assert levels("\ufeffa,b\nx,1\n", encoding="utf8") == (("x",), ("1",))


def test_a_first_line_of_numbers_is_data() -> None:
    with pytest.warns(DataWarning, match="read as data"):
        assert levels("0,1\n1,1\n") == (("0", "1"), ("1",))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert levels("0,1\n1,1\n", has_header=False) == (("0", "1"), ("1",))
        assert levels("0,1\n1,1\n", has_header=True) == (("1",), ("1",))
        assert levels("0,1,2\n1,1,1\n") == (("1",), ("1",), ("1",))
        assert levels("x,y\na,b\n", has_header=False) == (("a", "x"), ("b", "y"))


def test_missing_tokens(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,1\n?,2\n NA ,3\n-,4\n,5\n")
    with pytest.raises(DataError, match=r"line 3, column 'a': the value is missing"):
        read_table(path)
    assert read_table(path, missing="drop").levels[0] == ("-", "x")
    given = read_table(path, missing="drop", text=TextFormat(missing=("-",)))
    assert given.levels[0] == (" NA ", "?", "x")


def test_lines_are_counted_as_an_editor_does(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n\n"two\nlines",1\n\nx,\n')
    with pytest.raises(DataError, match=r"line 6, column 'b'"):
        read_table(path)
    path.write_text('"a\nname",b\nx,1\n\nx,1,2\n')
    with pytest.raises(DataError, match=r"line 5: 3 values, but the header names 2 columns"):
        read_table(path)
    path.write_text("a,b,w\nx,1,1\nx,2,half\n")
    with pytest.raises(DataError, match=r"line 3, column 'w': half is not a row weight"):
        read_table(path, weights="w")


def test_a_quotation_without_end_is_told() -> None:
    with pytest.raises(DataError, match="after line 2: not valid CSV"):
        levels('a,b\nx,1\nx,"2\ny,3\n')
    with pytest.raises(DataError, match="first line is not valid CSV"):
        levels('a,"b\nx,1\n')
    assert levels('a,b\n5" pipe,1\ny,2\n')[0] == ('5" pipe', "y")


cell = st.text('ab ,;"\n\r\t0é', max_size=4)


def is_header(row: list[str]) -> bool:
    return [value.strip() for value in row] == ["a", "b"]


Parsed = tuple[list[Column], bool] | None


def told_apart(text: reader.Text) -> tuple[Parsed, Parsed]:
    """Return what Arrow and what Python reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return reader._by_arrow(text, text.body.encode()), reader._by_python(text, strict=True)


@settings(max_examples=some(300))
@given(st.lists(st.lists(cell, min_size=2, max_size=2), min_size=1, max_size=5), st.sampled_from("\n\r"))
def test_both_parsers_read_what_is_well_formed(rows: list[list[str]], end: str) -> None:
    quoted = [",".join('"' + value.replace('"', '""') + '"' for value in row) for row in rows]
    text = reader.Text("t.csv", end.join(["a,b", *quoted]), ",", ["a", "b"], len("a,b") + 1)
    while rows and not any(value.strip() for value in rows[-1]):
        rows.pop()  # rows without a value that come last are none
    if not rows:
        return
    by_arrow, by_python = told_apart(text)
    if any(is_header(row) for row in rows):
        assert by_arrow is None
        return
    assert by_arrow is not None and by_python is not None and by_arrow[1] == by_python[1]
    if not by_arrow[1]:
        rows = [row for row in rows if any(value.strip() for value in row)]
    for one, two, position in zip(by_arrow[0], by_python[0], (0, 1), strict=True):
        assert one.levels == two.levels
        assert [one.levels[code] for code in one.codes] == [row[position] for row in rows]
        assert one.codes.tolist() == two.codes.tolist()


def told(body: str) -> list[list[str | None]] | str:
    """Return the values of a file with columns a and b, or the complaint."""
    try:
        columns, _ = parse(f"a,b\n{body}".encode(), Format(",", has_header=True, missing=()), "t.csv")
    except DataError as error:
        return str(error)
    rows = range(len(columns[0].codes))
    return [[None if c.codes[row] < 0 else str(c.levels[c.codes[row]]) for c in columns] for row in rows]


@pytest.mark.filterwarnings("ignore:.*the header stands there", "ignore:.*no value")
@settings(max_examples=some(300))
@given(st.text('ab,"\n\r ', max_size=30))
def test_random_text_means_the_same_in_small_and_large_files(body: str) -> None:
    small = told(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_LARGE", 0)
        assert told(body) == small
    if isinstance(small, str):
        return
    every = [
        r[:2] if any(v.strip() for v in r) else ["", ""]
        for r in csv.reader(io.StringIO(body, newline=""))
        if len(r) > 1 or "".join(r).strip()
    ]
    while not any(value.strip() for value in every[-1]):
        every.pop()
    filled = [record for record in every if any(value.strip() for value in record)]
    assert small in [as_read(every), as_read(filled)]  # rows without a value stay where that may be chance


def as_read(records: list[list[str]]) -> list[list[str | None]]:
    records = [record for record in records if not is_header(record)] or records
    return [[value if value.strip() else None for value in record] for record in records]


def test_numbers_beside_missing_values_are_ordered_by_size(tmp_path: Path) -> None:
    """A table with gaps has its levels in the same order as one without."""
    (tmp_path / "t.csv").write_text("n,m\n10,z\n9,z\n,z\nNA,z\n")
    assert read_table(tmp_path / "t.csv", missing="drop").levels[0] == ("9", "10")
    assert read_table(tmp_path / "t.csv", missing="level").levels[0] == ("9", "10", "(missing)")
