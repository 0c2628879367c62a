"""Tables as people have them: workbooks, JSON, archives, titles, money, dates, odd headers."""

import bz2
import io
import json
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.messy import workbook
from tests.examples import some
from xordal import Bins, DataError, DataWarning, SettingsError, TextFormat, learn, read_table
from xordal.data.column import from_values
from xordal.data.discretise import _edges, bin_of, binned
from xordal.data.heading import find_heading
from xordal.data.numerals import written_numbers
from xordal.data.table import CategoricalTable
from xordal.errors import speaking_of_options

PLAIN = "colour,size\nred,small\nblue,large\nred,large\n"


def written(folder: Path, content: bytes | str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def zipped(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def values(table: CategoricalTable) -> dict[str, list[object]]:
    return {
        name: [levels[code] for code in codes]
        for name, levels, codes in zip(table.names, table.levels, table.codes, strict=True)
    }


@pytest.mark.parametrize(
    ("told", "number"),
    [
        ("12.5 kg", 12.5),
        ("-3.0°C", -3),
        ("2.25k", 2.25),
        ("~7.5", 7.5),
        ("80 km/h", 80),
        ("7 m²", 7),
        ("12,34,567.5", 1234567.5),
        ("25 years", 25),
    ],
)
def test_units_are_read_as_numbers(told: str, number: float) -> None:
    assert written_numbers([told]) == [number]


@pytest.mark.parametrize(
    "texts",
    [
        ["5 kg", "5 g"],
        ["5 kg", "5"],
        ["1st", "2nd"],
        ["A12", "B7"],
        ["12A", "12B"],
        ["1f", "2e"],
        ["5 min", "x"],
    ],
)
def test_a_unit_is_one_for_all(texts: list[str]) -> None:
    assert written_numbers(texts) is None


def test_columns_named_by_times_have_a_header(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "5min,10min,15min\nlow,low,high\nhigh,low,low\n"))
    assert table.names == ("5min", "10min", "15min")


@settings(max_examples=some(100), deadline=None)
@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=60), st.integers(2, 6), st.booleans())
def test_short_bounds_part_values_as_the_long_ones_do(numbers: list[float], n: int, by_width: bool) -> None:
    how = Bins(n, by="width" if by_width else "quantile")
    column = from_values("x", numbers)
    made = binned(column, how)
    found = [bin_of(made.levels, number) for number in numbers]
    assert found == made.codes.tolist()
    if not by_width:
        edges = _edges(np.array(column.levels), column.counts(None), how)
        groups = np.searchsorted(edges, numbers, side="left")
        assert np.unique(groups, return_inverse=True)[1].tolist() == found


def test_bounds_of_measurements_are_short() -> None:
    measured = np.random.default_rng(0).normal(20, 3, 1000)
    labels = read_table({"t": measured.tolist()}, bins=4).levels[0]
    assert max(len(str(label)) for label in labels) < 20


@pytest.mark.parametrize("word", ["\\N", "n.d.", "(blank)", "*", ":", "not available"])
def test_what_stands_for_no_number_is_missing(tmp_path: Path, word: str) -> None:
    rows = "".join(f"{n / 4 if n % 20 else word};{'ab'[n % 2]}\n" for n in range(200))
    with pytest.warns(DataWarning, match="is taken as missing there"):
        table = read_table(written(tmp_path, "x;y\n" + rows), missing="drop", bins=3)
    assert table.n_rows == 190


def test_options_in_messages_can_be_typed(tmp_path: Path) -> None:
    rows = "".join(f"{n / 4 if n % 20 else '<5'},{'ab'[n % 2]}\n" for n in range(200))
    with pytest.warns(DataWarning, match=re.escape("--missing-tokens 'NA,<5'")), speaking_of_options():
        read_table(written(tmp_path, "x [kg],y\n" + rows))
    with pytest.warns(DataWarning, match=re.escape("text=TextFormat(missing=('NA', '<5'))")):
        read_table(written(tmp_path, "x [kg],y\n" + rows))


def surveyed(folder: Path) -> Path:
    generator = np.random.default_rng(4)
    rows = [
        f"{generator.integers(2)},{generator.integers(2)},{generator.integers(20, 2000)}" for _ in range(400)
    ]
    return written(folder, "\n".join(["a,b,people", *rows]))


def test_whole_survey_weights_are_asked_about(tmp_path: Path) -> None:
    path = surveyed(tmp_path)
    with pytest.warns(DataWarning, match="survey_weights='people'"):
        table = read_table(path, weights="people")
    assert table.n_rows > 100_000
    table = read_table(path, survey_weights="people")
    assert table.n_rows == 400
    assert table.design is not None
    people = np.loadtxt(path, delimiter=",", skiprows=1)[:, 2]
    assert table.design.weights is not None
    assert np.array_equal(table.design.weights, people)
    frame = {"a": [0, 1] * 200, "b": [0, 0, 1, 1] * 100}
    by_values = read_table(frame, survey_weights=people)
    assert by_values.design is not None
    with pytest.raises(SettingsError, match="one weight"):
        read_table(path, weights="people", survey_weights="people")


def test_tables_of_counts_are_not_asked_about(tmp_path: Path) -> None:
    content = "a,b,n\nx,u,100\nx,v,30\ny,u,12\ny,v,80\n"
    assert read_table(written(tmp_path, content), weights="n").n_rows == 222


def test_survey_weights_learn_nothing_where_nothing_is() -> None:
    wrong = np.zeros(2, dtype=int)
    for seed in range(60):
        generator = np.random.default_rng(seed)
        frame = {name: generator.integers(0, 2, 400).tolist() for name in "ab"}
        people = generator.integers(20, 2000, 400)
        wrong += [len(learn(frame, weights=people).links), len(learn(frame, survey_weights=people).links)]
    assert wrong[0] > 50
    assert wrong[1] <= 8  # 5 % of 60 are three; more than eight are one chance in a hundred


@pytest.mark.parametrize(
    "content",
    [
        bz2.compress(PLAIN.encode()),
        lzma.compress(PLAIN.encode()),
        pa.compress(PLAIN.encode(), "zstd", asbytes=True) if hasattr(pa, "compress") else b"",
        zipped(**{"t.csv": PLAIN}),
        zipped(**{"__MACOSX/._t.csv": "x", "inner/t.csv": PLAIN}),
        PLAIN.encode("utf-16"),
        PLAIN.encode("utf-16-le"),
        PLAIN.encode("utf-16-be"),
        PLAIN.encode("utf-8-sig"),
        PLAIN.replace(",", "  ").encode(),
        PLAIN.replace(",", ";").encode(),
        ("sep=|\n" + PLAIN.replace(",", "|")).encode(),
        ("".join(line + ",,\n" for line in PLAIN.splitlines())).encode(),
        PLAIN.replace("red,small\n", "red,small\n,\n").encode(),
    ],
)
@pytest.mark.filterwarnings("ignore::xordal.errors.DataWarning")
def test_the_same_table_however_it_is_written(tmp_path: Path, content: bytes) -> None:
    table = read_table(written(tmp_path, content, "t.bin"))
    assert values(table) == {"colour": ["red", "blue", "red"], "size": ["small", "large", "large"]}


def test_json_lines_and_lists_keep_types(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 1}]
    lines = "\n".join(map(json.dumps, rows))
    for content in (lines, json.dumps(rows, indent=1)):
        table = read_table(written(tmp_path, content), missing="level")
        assert table.levels == ((1, 2), ("x", "y", "(missing)"))
    with pytest.raises(DataError, match=r"line 2: not valid JSON"):
        read_table(written(tmp_path, '{"a": 1}\n{"a": }\n'))
    with pytest.raises(DataError, match=r"Column 'a' holds lists\. Each cell must hold one category"):
        read_table(written(tmp_path, '{"a": [1]}\n'))


NESTED = [{"user": {"sex": "f", "os": {"name": "mac"}}, "tags": ["x"]}, {"user": {"sex": "m"}, "tags": None}]


def test_objects_in_json_are_taken_apart_and_lists_left_out(tmp_path: Path) -> None:
    lines = "\n".join(map(json.dumps, NESTED))
    with pytest.warns(DataWarning) as told:
        table = read_table(written(tmp_path, lines), missing="level")
    assert dict(zip(table.names, table.levels, strict=True)) == {
        "user.sex": ("f", "m"),
        "user.os.name": ("mac", "(missing)"),
    }
    first, second = (str(warning.message) for warning in told)
    assert first.endswith("'user', 'user.os' hold objects, so a column for each part is made.")
    assert second.startswith("Column 'tags' holds lists, which are no category, so it is left out.")
    with pytest.raises(DataError, match=r"two columns are called 'a\.b'"):
        read_table(written(tmp_path, '{"a.b": 1, "a": {"b": 2}}\n'))


@pytest.mark.filterwarnings("ignore::xordal.errors.DataWarning")
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, list])
def test_records_and_columns_of_lists_in_memory(frame: Callable[[list[dict[str, Any]]], Any]) -> None:
    rows = [{"tags": [str(n)], "x": n % 2, "y": 1 - n % 2} for n in range(40)]
    table = read_table(frame(rows))
    assert table.names == ("x", "y")
    assert read_table(frame(rows), exclude=["tags"]).names == ("x", "y")
    with pytest.raises(DataError, match="Column 'tags' holds lists"):
        read_table(frame(rows), columns=["tags", "x"])
    network = learn(table).network()
    renamed = [{"x": row["tags"], "y": row["y"]} for row in rows]
    with pytest.raises(DataError, match="Column 'x' holds lists"):
        network.predict(frame(renamed), "y")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"<!DOCTYPE html><table><tr><td>a", "is a web page. Save its table as CSV"),
        (b"\x93NUMPY\x01\x00", "is a NumPy array"),
        (b"\x80\x04\x95\x0e", "is a Python pickle"),
        (b"a,b\n\xe9\x01,2\n", "byte 5 is 0x01, which no text has"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(tmp_path: Path, content: bytes, told: str) -> None:
    with pytest.raises(DataError, match=re.escape(told)):
        read_table(written(tmp_path, content))


def test_levels_that_differ_in_case_or_blanks_only_are_told(tmp_path: Path) -> None:
    content = "smokes,gene\n" + "yes,AA\nYes,Aa\nno,aa\nno ,AA\n" * 5
    with pytest.warns(DataWarning) as told:
        table = read_table(written(tmp_path, content))
    assert [str(warning.message) for warning in told] == [
        "Column 'smokes' has levels that differ in case or blanks only: 'Yes' and 'yes'; 'no' and 'no '. Where "
        "they mean the same, write them alike in the table."
    ]
    assert table.levels[0] == ("Yes", "no", "no ", "yes")


def test_feather(tmp_path: Path) -> None:
    from pyarrow import feather

    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    feather.write_feather(table, tmp_path / "file")
    with pa.OSFile(str(tmp_path / "stream"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    for name in ("file", "stream"):
        assert read_table(tmp_path / name).levels == ((1, 2), ("x", "y"))


def test_an_archive_of_several_files_names_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"zip archive of 2 files: a.csv, b.csv"):
        read_table(written(tmp_path, zipped(**{"a.csv": PLAIN, "b.csv": PLAIN})))


def test_titles_notes_and_odd_headers_are_left_out_and_told(tmp_path: Path) -> None:
    body = "a,b,c,d\n1,2,3,x\n1,3,3,y\n2,2,3,x\n"
    with pytest.warns(DataWarning, match=r"lines 1 to 3 are above the header"):
        assert read_table(written(tmp_path, f"Survey of 2024\nby the office, region\n\n{body}")).names == (
            *"abcd",
        )
    with pytest.warns(DataWarning, match=r"last line holds a note"):
        assert read_table(written(tmp_path, f"{body}Source: the office\n")).n_rows == 3
    with pytest.warns(DataWarning, match=r"2 columns are named 'a'; the one at place 3 is called 'a \(2\)'"):
        assert read_table(written(tmp_path, "a,b,a\n1,2,3\n2,2,3\n")).names == ("a", "b", "a (2)")
    with pytest.warns(DataWarning, match=r"column 2 has no name and is called 'column 2'"):
        assert read_table(written(tmp_path, "a,,c\n1,2,3\n2,2,3\n")).names == ("a", "column 2", "c")
    with pytest.warns(DataWarning, match=r"numbers the rows"):
        assert read_table(written(tmp_path, ",b,c\n0,x,u\n1,y,v\n2,x,u\n")).names == ("b", "c")
    with pytest.warns(DataWarning, match=r"numbers the rows"):
        assert read_table(written(tmp_path, '"b" "c"\n"1" "x" "u"\n"2" "y" "v"\n')).names == ("b", "c")
    assert read_table(written(tmp_path, f"x\ny\n{body}"), text=TextFormat(skip=2)).names == (*"abcd",)


def test_a_missing_reader_of_workbooks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fastexcel", None)
    with pytest.raises(DataError, match=r"pip install 'xordal\[excel\]'"):
        read_table(written(tmp_path, zipped(**{"xl/workbook.xml": "<x/>"})))
    with pytest.raises(DataError, match=r"no workbook, so it has no sheet 'x'"):
        read_table(written(tmp_path, PLAIN), text=TextFormat(sheet="x"))


@settings(max_examples=some(200))
@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2, allow_nan=False), min_size=1, max_size=8),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("\u00a0", ","), ("", ".")]),
    st.sampled_from(["", "$", "€ ", "CHF "]),
)
def test_numbers_written_in_one_way_are_read(
    numbers: list[Decimal], marks: tuple[str, str], money: str
) -> None:
    thousands, decimal = marks

    def text(number: object) -> str:
        return money + f"{number:,.2f}".replace(",", "_").replace(".", decimal).replace("_", thousands)

    texts = [text(number).replace(money + "-", "-" + money) for number in numbers]
    assert written_numbers(texts) == [float(number) for number in numbers]


@pytest.mark.parametrize(
    "text", ["", "1.2.3", "12:30", "1,23,4", "5 apples", "(5", "--5", "$5%", "12 34", "A1"]
)
def test_what_is_no_number(text: str) -> None:
    assert written_numbers([text]) is None


def test_bins_by_column() -> None:
    table = {"age": [n % 90 for n in range(100)], "dose": [f"{n},5%" for n in range(100)], "few": [0, 1] * 50}
    read = read_table(table, bins={"age": 5, "dose": Bins(2, by="width"), "few": 2})
    assert read.n_levels == (5, 2, 2)
    assert read.levels[1] == ("<= 50", "> 50")
    with pytest.warns(DataWarning, match="Numbers cut into bins: 'age', 'dose'"):
        assert read_table(table, bins="auto").n_levels == (4, 4, 2)
    with pytest.raises(DataError, match="no column 'aeg'; did you mean 'age'"):
        read_table(table, bins={"aeg": 5})


def test_parts_of_dates() -> None:
    days = [f"{n % 28 + 1:02}.{n % 12 + 1:02}.2024 {n % 24}:30" for n in range(200)]
    table = read_table({"visit": days, "x": [0, 1] * 100}, dates=["month", "weekday", "hour", "year"])
    assert table.names == ("visit month", "visit weekday", "visit hour", "x")
    assert table.levels[0][:3] == ("Jan", "Feb", "Mar")
    assert table.levels[1][0] == "Mon"
    by_name = read_table(
        {"visit": days, "x": [0, 1] * 100}, dates={"visit": ["quarter"]}, columns=["visit", "x"]
    )
    assert by_name.names == ("visit quarter", "x")
    with pytest.raises(SettingsError, match=r"no 'moth'; did you mean 'month'"):
        read_table({"visit": days}, dates=["moth"])


def test_missing_values_are_counted_before_rows_go() -> None:
    generator = np.random.default_rng(0)
    holes = [None if generator.random() < 0.8 else "x" for _ in range(1600)]
    table = {"a": holes, "b": [0, 1] * 800, "c": [None] * 1600}
    n_left = sum(value is not None for value in holes)
    with pytest.warns(DataWarning) as told:
        assert read_table(table, missing="drop").n_rows == n_left
    assert "Without a single value, so left out: 'c'." in str(told[0].message)
    assert f"costs {1600 - n_left:,} of 1,600 rows" in str(told[1].message)
    assert "exclude=['a'] with missing='drop' keeps 1,600 rows" in str(told[1].message)
    with pytest.warns(DataWarning, match="a level of their own"):
        assert read_table({"a": holes, "b": [0, 1] * 800}, missing="auto").n_rows == 1600
    few = [None, *["x", "y"] * 800]
    with pytest.warns(DataWarning, match="Dropped 1 of 1,601 rows"):
        assert read_table({"a": few, "b": [0, *[0, 1] * 800]}, missing="auto").n_rows == 1600


def test_a_dash_among_numbers_is_no_number(tmp_path: Path) -> None:
    rows = "".join(f"{n / 3:.2f},{n % 2}\n" for n in range(200))
    with pytest.warns(DataWarning, match="'-' is taken as missing"):
        table = read_table(written(tmp_path, f"x,y\n{rows}-,1\n"), bins=4, missing="drop")
    assert table.n_levels == (4, 2)
    assert table.n_rows == 200


@settings(max_examples=some(100))
@given(st.integers(2, 8), st.integers(0, 4), st.data())
def test_any_number_of_titles_is_found(width: int, n_titles: int, data: st.DataObject) -> None:
    names = [f"name {v}" for v in range(width)]
    rows = [[str(n * v) for v in range(width)] for n in range(6)]
    titles = [["a title"] + [""] * data.draw(st.integers(0, width - 1)) for _ in range(n_titles)]
    heading = find_heading([*titles, names, *rows], None)
    assert (heading.n_above, heading.names) == (n_titles, names)


def test_a_network_takes_new_rows_as_they_are_written(tmp_path: Path) -> None:
    from xordal import learn

    generator = np.random.default_rng(3)
    month = generator.integers(1, 13, 400)
    days = [f"{n % 28 + 1:02}.{m:02}.2024" for n, m in enumerate(month)]
    price = [
        f"{1000 * m + n % 90:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
        for n, m in enumerate(month)
    ]
    table = {"visit": days, "price": [f"{each} €" for each in price], "late": (month > 6).astype(int)}
    network = learn(table, bins=2, dates=["quarter"]).network()
    assert network.variables == ("visit quarter", "price", "late")
    chances = network.predict_proba(
        {"visit": ["31.12.2023", "02.01.2024"], "price": ["12.500,00 €", "1.000,50 €"]},
        "late",
        absent="missing",
    )
    assert chances.argmax(axis=1).tolist() == [1, 0]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_row_that_is_taken_for_the_names_is_told(ending: str, tmp_path: Path) -> None:
    rows = [["red", "round", "7.5"], ["blue", "square", "8"], ["red", "square", "9"], ["blue", "round", "7.5"]]
    text = "".join(",".join(row) + "\n" for row in rows)
    path = written(tmp_path, workbook({"Data": rows}) if ending == "xlsx" else text, f"t.{ending}")
    with pytest.warns(DataWarning, match=r"1 is taken for the names .* 'red', 'round', '7.5' are values"):
        assert read_table(path).n_rows == 3
    assert read_table(path, text=TextFormat(has_header=False)).n_rows == 4
    assert read_table(path, text=TextFormat(has_header=True)).names == ("red", "round", "7.5")


def test_answers_to_one_question_in_columns_of_their_own_are_no_header_that_is_a_row(tmp_path: Path) -> None:
    """A survey that allows several answers: each has a column, which holds its own name or nothing."""
    rows = ["tea,milk,sex", "tea,,f", ",milk,m", "tea,milk,f", ",,m"]
    path = written(tmp_path, "\n".join(rows) + "\n", "t.csv")
    assert read_table(path, missing="level").names == ("tea", "milk", "sex")


def test_of_several_sheets_a_warning_names_the_one_that_is_read(tmp_path: Path) -> None:
    rows = [["a", "b"], ["0", "1"], ["1", "0"]]
    path = written(tmp_path, workbook({"Notes": [["nothing here"]], "Old": rows, "New": rows}), "t.xlsx")
    with pytest.warns(
        DataWarning, match=r"the sheet 'Old' is read, not 'Notes', 'New'\. --sheet names another"
    ):
        assert read_table(path).names == ("a", "b")
    assert read_table(path, text=TextFormat(sheet="New")).names == (
        "a",
        "b",
    )  # said, so that nothing is guessed


def test_what_is_compressed_again_and_again_is_refused(tmp_path: Path) -> None:
    packed = PLAIN.encode()
    for _ in range(3):
        packed = bz2.compress(packed)
    assert read_table(written(tmp_path, packed)).n_rows == 3
    with pytest.raises(DataError, match="compressed more than 3 times over"):
        read_table(written(tmp_path, bz2.compress(packed)))


def test_a_table_that_begins_like_a_database_is_none(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "a,b,c,d,DUCKS\n0,1,0,1,0\n1,0,0,1,1\n"))
    assert table.names == ("a", "b", "c", "d", "DUCKS")


def merged(rows: list[list[str]], *ranges: str) -> bytes:
    """Return a workbook of one sheet with merged cells."""
    made = io.BytesIO()
    cells = (
        f"<mergeCells>{''.join(f'<mergeCell ref={chr(34)}{each}{chr(34)}/>' for each in ranges)}</mergeCells>"
    )
    with zipfile.ZipFile(io.BytesIO(workbook({"Data": rows}))) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, text.replace(b"</worksheet>", cells.encode() + b"</worksheet>"))
    return made.getvalue()


def test_cells_merged_over_rows_are_each_rows(tmp_path: Path) -> None:
    rows = [
        ["", "region", "shop"],
        ["", "north", "a"],
        ["", "", "b"],
        ["", "south", "a"],
        ["", "", "c"],
        ["", "", "c"],
    ]
    path = written(tmp_path, merged([["Report"], *rows], "A1:C1", "B3:B4", "B5:B7"), "t.xlsx")
    with pytest.warns(DataWarning) as caught:
        table = read_table(path)
    assert any("2 cells merged over several rows" in str(each.message) for each in caught)
    assert values(table) == {"region": ["north"] * 2 + ["south"] * 3, "shop": ["a", "b", "a", "c", "c"]}


def test_cells_that_are_not_merged_stay_empty(tmp_path: Path) -> None:
    rows = [["region", "shop"], ["north", "a"], ["", "b"], ["south", "a"]]
    path = written(tmp_path, workbook({"Data": rows}), "t.xlsx")
    assert values(read_table(path, missing="level"))["region"] == ["north", "(missing)", "south"]


def test_merged_cells_begin_where_the_sheet_does(tmp_path: Path) -> None:
    rows = [["", "", "a", "b"], ["", "", "x", "u"], ["", "", "", "v"], ["", "", "y", "v"]]
    path = written(tmp_path, merged(rows, "C2:C3"), "t.xlsx")
    with pytest.warns(DataWarning):
        assert values(read_table(path)) == {"a": ["x", "x", "y"], "b": ["u", "v", "v"]}


@pytest.mark.slow
def test_a_header_that_comes_again_is_no_row(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\nx,1\na,b\ny,2\na , b\nz,\n")
    with pytest.warns(DataWarning, match="the header stands there 2 more times"):
        assert read_table(path, missing="drop").levels == (("x", "y"), ("1", "2"))
    with pytest.warns(DataWarning), pytest.raises(DataError, match="line 6, column 'b'"):
        read_table(path)
    large = "a,b\n" + "x,1\ny,2\n" * 150_000
    with pytest.warns(DataWarning, match="the header stands there 1 more time"):
        assert read_table(written(tmp_path, large + large)).levels == (("x", "y"), ("1", "2"))


def test_all_lines_of_another_length_are_told(tmp_path: Path) -> None:
    lines = ["a,b", "x,1", "x,1,2", "y,2", *["x,y,z"] * 5]
    with pytest.raises(
        DataError, match=r"line 3: 3 values, .* 5 further lines \(5, 6, 7, \.\.\.\)\. Mend the lines"
    ):
        read_table(written(tmp_path, "\n".join(lines)))


def test_the_only_table_of_an_archive_is_read(tmp_path: Path) -> None:
    files = {"README.txt": "words", "data.csv": PLAIN, "meta.json": "{}"}
    with pytest.warns(DataWarning, match="'data.csv' is read"):
        assert read_table(written(tmp_path, zipped(**files), "t.zip")).n_rows == 3
    with pytest.raises(DataError, match="zip archive of 2 files"):
        read_table(written(tmp_path, zipped(**{"a.csv": PLAIN, "b.csv": PLAIN}), "t.zip"))


def test_a_tar_archive_is_called_one(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("t.csv"), io.BytesIO())
    with pytest.raises(DataError, match="is a tar archive"):
        read_table(written(tmp_path, made.getvalue(), "t.tar.gz"))


ROWS = [{"a": n % 2, "b": "xy"[n // 2 % 2]} for n in range(8)]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"a": [row["a"] for row in ROWS], "b": [row["b"] for row in ROWS]}),
        json.dumps({"count": 8, "next": None, "results": ROWS}, indent=2),
        json.dumps({"columns": ["a", "b"], "index": list(range(8)), "data": [list(r.values()) for r in ROWS]}),
        pd.DataFrame(ROWS).to_json(),
        pd.DataFrame(ROWS).to_json(orient="split"),
        pd.DataFrame(ROWS).to_json(orient="records", indent=1),
        pd.DataFrame(ROWS).to_json(orient="records", lines=True),
    ],
)
@pytest.mark.filterwarnings("ignore:.*the table is the list")
def test_one_object_may_hold_the_table(tmp_path: Path, content: str) -> None:
    expected = {name: [row[name] for row in ROWS] for name in ("a", "b")}
    assert values(read_table(written(tmp_path, content, "t.json"))) == expected


@pytest.mark.filterwarnings("ignore::xordal.DataWarning")
@pytest.mark.parametrize(
    "content",
    [
        '{"a": 1, "b": 2}',
        '{"a": {"b": 1}, "c": {"d": 2}}',
        '{"a": 1, "b": [1, 2]}\n{"a": 2, "b": []}',
        '{"a": 1}',
    ],
)
def test_one_object_may_be_one_row(tmp_path: Path, content: str) -> None:
    assert read_table(written(tmp_path, content, "t.json")).n_rows == 1 + content.count("\n")
