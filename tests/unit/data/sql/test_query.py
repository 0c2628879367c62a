"""Rows where they are: DuckDB, SQLite and any DB-API connection give the table of the same rows in memory."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

from tests.commands import call
from tests.examples import some
from xordal.data.dialect import TextFormat
from xordal.data.read import read_table
from xordal.data.sql import query
from xordal.data.sql.places import told_of, without_secrets
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, DataWarning, SettingsError
from xordal.learning.learn import learn

ROWS = [(a, b, a ^ b, c) for a in (0, 1) for b in (0, 1) for c in ("x", "y", "10")] * 40


def weighted(table: CategoricalTable) -> dict[tuple[Any, ...], int]:
    """Rows as values, with their number: a table whatever the order of its rows."""
    weights = [1] * table.codes.shape[1] if table.weights is None else table.weights.tolist()
    found: dict[tuple[Any, ...], int] = {}
    for codes, weight in zip(table.codes.T.tolist(), weights, strict=True):
        row = tuple(levels[code] for levels, code in zip(table.levels, codes, strict=True))
        found[row] = found.get(row, 0) + weight
    return found


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The same rows in every kind of place."""
    frame = pa.table(dict(zip("abcd", map(list, zip(*ROWS, strict=True)), strict=True)))
    parquet.write_table(frame, tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute(f"CREATE TABLE t AS SELECT * FROM read_parquet('{tmp_path / 't.parquet'}')")
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
        connection.commit()
        yield {
            "duckdb": tmp_path / "t.duckdb",
            "sqlite": str(tmp_path / "t.sqlite"),
            "parquet": str(tmp_path / "t.parquet"),
            "connection": connection,
        }


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "parquet", "connection"])
@pytest.mark.parametrize("counts", [True, False], ids=["counted there", "row by row"])
def test_every_place_gives_the_same_trace(
    places: dict[str, Any], kind: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not counts:
        monkeypatch.setattr(query, "MOST_GROUPS", 0)
    name = "data" if kind == "parquet" else "t"
    found = read_table(places[kind], sql=f"SELECT * FROM {name};")
    expected = read_table(places["parquet"])
    assert found.levels == expected.levels
    assert weighted(found) == weighted(expected)
    assert (found.weights is not None) == counts
    assert not counts or found.codes.shape[1] == 12
    assert learn(found).trace == learn(expected).trace


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_commands_take_the_only_table(places: dict[str, Any], kind: str, tmp_path: Path) -> None:
    for command in (["learn", "-q"], ["scan", "-q"], ["rules"], ["report", "-o", "page.html"]):
        done = call([command[0], str(places[kind]), *command[1:]], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert b"<th" in (tmp_path / "page.html").read_bytes()


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_comment_at_the_end_of_a_query(places: dict[str, Any], kind: str) -> None:
    assert read_table(places[kind], sql="SELECT a, b, c FROM t -- three of them").n_rows == 480


def test_rows_are_told_as_often_as_they_count(places: dict[str, Any], tmp_path: Path) -> None:
    asked = "SELECT a, b, CASE WHEN c = 1 AND d = 'x' THEN NULL ELSE c END AS c FROM t"
    done = call(["learn", str(places["sqlite"]), "--sql", asked, "--missing", "drop"], cwd=tmp_path)
    assert b"Dropped 80 of 480 rows, which had missing values." in done.stderr


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("a,b\n1,x\nNA,y\n,x\n2,NULL\n", {}),
        ("a;b\n1,5;x\nNA;y\n;x\n", {"text": TextFormat(delimiter=";")}),
        ("a,b\n1,x\n-99,y\nNA,x\n", {"text": TextFormat(missing=("-99",))}),
        ("1,x\n2,y\n", {"text": TextFormat(has_header=False)}),
        ("a table\na,b\n1,x\n2,y\n", {"text": TextFormat(skip=1)}),
    ],
)
def test_text_is_what_it_is_without_a_query(tmp_path: Path, text: str, how: Any) -> None:
    (tmp_path / "t.csv").write_text(text)
    found = read_table(tmp_path / "t.csv", sql="SELECT * FROM data", missing="level", **how)
    expected = read_table(tmp_path / "t.csv", missing="level", **how)
    assert found.levels == expected.levels
    assert weighted(found) == weighted(expected)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("names", "told"), [("abz", "besides 'z'"), ("a", "lacks 'b'|\"b\"|Binder"), ("ba", "")]
)
def test_files_whose_columns_differ(tmp_path: Path, ending: str, names: str, told: str) -> None:
    (tmp_path / "d").mkdir()
    for place, own in enumerate(("ab", names)):
        frame = pa.table({name: [f"{name}{row % 2}" for row in range(8)] for name in own})
        path = tmp_path / "d" / f"{place}.{ending}"
        parquet.write_table(frame, path) if ending == "parquet" else csv.write_csv(frame, path)
    if told:
        with pytest.raises(DataError, match=told):
            read_table(tmp_path / "d", sql="SELECT * FROM data")
    else:
        found = read_table(tmp_path / "d", sql="SELECT * FROM data")
        assert found.levels == (("a0", "a1"), ("b0", "b1"))


def test_partitions_are_what_they_are_without_a_query(tmp_path: Path) -> None:
    for ending in ("csv", "parquet"):
        for year in (2023, 2024):
            folder = tmp_path / ending / f"year={year}"
            folder.mkdir(parents=True)
            frame = pa.table({"a": ["x", "y"]})
            path = folder / f"f.{ending}"
            parquet.write_table(frame, path) if ending == "parquet" else csv.write_csv(frame, path)
        found = read_table(tmp_path / ending, sql="SELECT * FROM data")
        expected = read_table(tmp_path / ending)
        assert (found.names, found.levels) == (expected.names, expected.levels)


def test_options_hold_for_queries(places: dict[str, Any]) -> None:
    asked = "SELECT a, b, c, CASE WHEN d = 'x' THEN NULL ELSE d END AS d FROM t"
    found = read_table(places["sqlite"], sql=asked, columns=["a", "d"], missing="level")
    assert found.levels == ((0, 1), ("10", "y", "(missing)"))
    with pytest.warns(DataWarning, match="missing=.drop. costs 160 of 480 rows"):
        dropped = read_table(places["sqlite"], sql=asked, exclude=["a"], missing="drop")
    assert dropped.n_rows == 320
    with pytest.raises(DataError, match="column 'd': the value is missing"):
        read_table(places["sqlite"], sql=asked)
    weights = read_table(places["duckdb"], sql="SELECT a, b, 2 + a AS n FROM t", weights="n")
    assert weights.n_rows == 240 * 2 + 240 * 3


def test_the_only_table_of_a_file_is_taken(places: dict[str, Any], tmp_path: Path) -> None:
    assert read_table(places["duckdb"]).n_rows == read_table(places["sqlite"]).n_rows == 480
    with duckdb.connect(str(tmp_path / "two.duckdb")) as database:
        database.execute("CREATE TABLE one AS SELECT 1 AS a; CREATE TABLE two AS SELECT 1 AS a")
    with pytest.raises(DataError, match=r"say which table to take.*'one', 'two'"):
        read_table(tmp_path / "two.duckdb")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT nothing FROM t", "the database says"),
        ("SELEC a FROM t", "begins with SELECT or WITH"),
        ("SELECT a FROM t WHERE", "the database says.*Check the query and the connection"),
        ("SELECT a, b FROM t WHERE 1 = 0", "no rows"),
        ("DROP TABLE t", "the database says"),
        ("SELECT a FROM t) AS x; DROP TABLE t; --", "the database says"),
    ],
)
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_what_cannot_be_asked(places: dict[str, Any], kind: str, sql: str, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_table(places[kind], sql=sql)
    assert read_table(places[kind]).n_rows == 480


def test_what_the_database_suggests_is_told(places: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r'tt does not exist! Did you mean "t"\? Check'):
        read_table(places["duckdb"], sql="SELECT * FROM tt")
    with pytest.raises(DataError, match=r"In the query the files are called data\."):
        read_table(places["parquet"], sql="SELECT * FROM t")


@pytest.mark.parametrize("most", [0, query.MOST_GROUPS])
@pytest.mark.parametrize("arrow", [True, False])
def test_infinity_is_refused(monkeypatch: pytest.MonkeyPatch, most: int, arrow: bool) -> None:
    monkeypatch.setattr(query, "MOST_GROUPS", most)
    monkeypatch.setattr(query, "has_arrow", lambda: arrow)
    with duckdb.connect() as database, pytest.raises(DataError, match="column 'b' has an infinite value"):
        rows = "SELECT i % 2 AS a, CASE WHEN i % 2 = 1 THEN 'inf'::DOUBLE ELSE 1 END AS b FROM range(9) r(i)"
        read_table(database, sql=rows)


@pytest.mark.parametrize("sql", [None, "SELECT 1"])
def test_other_addresses_are_told_without_their_password(sql: str | None) -> None:
    with pytest.raises(DataError, match="addresses of mysql are not read") as error:
        read_table("mysql://ann:s3cret@127.0.0.1/shop", sql=sql)
    assert "s3cret" not in str(error.value)


def test_where_nothing_can_be_asked(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="query is empty"):
        read_table(tmp_path / "x.csv", sql=" ; ")
    with pytest.raises(SettingsError, match="sql needs a database"):
        read_table({"a": [1]}, sql="SELECT 1")
    with pytest.raises(SettingsError, match="Say which rows"):
        read_table("postgresql://nobody@localhost/x")


def test_passwords_are_never_told() -> None:
    address = "postgresql://ann:s3cr%40t@127.0.0.1:1/shop?password=other"
    assert told_of(address) == "postgresql://127.0.0.1:1/shop"
    assert "s3cr" not in without_secrets(f"no connection to {address} with s3cr@t", address)
    with pytest.raises(DataError) as error:
        read_table(address, sql="SELECT 1 AS a, 2 AS b")
    assert "s3cr" not in str(error.value)
    assert "127.0.0.1" in str(error.value)


def test_passwords_are_not_printed(tmp_path: Path) -> None:
    done = call(["learn", "postgresql://ann:s3cret@127.0.0.1:1/shop", "--sql", "SELECT 1"], cwd=tmp_path)
    assert done.returncode == 1
    assert b"s3cret" not in done.stderr + done.stdout
    assert b"Traceback" not in done.stderr


class Leaving:
    """A connection to SQLite whose rows stop coming in the middle, as when a server goes away."""

    def __init__(self, inner: sqlite3.Connection) -> None:
        self._inner = inner
        self.n_asked = 0

    def cursor(self) -> Leaving:
        return self

    def close(self) -> None:
        pass

    def execute(self, sql: str) -> Leaving:
        self._cursor = self._inner.execute(sql)
        self.description = self._cursor.description
        return self

    def fetchone(self) -> Any:
        return self._cursor.fetchone()

    def fetchmany(self, size: int) -> Any:
        self.n_asked += 1
        if self.n_asked > 2:
            raise sqlite3.OperationalError("server closed the connection unexpectedly")
        return self._cursor.fetchmany(100)


def test_a_database_that_goes_away(places: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "MOST_GROUPS", 0)
    with pytest.raises(DataError, match="the database says: server closed the connection"):
        read_table(Leaving(places["connection"]), sql="SELECT * FROM t")


@settings(max_examples=some(40))
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "é", "'", '"', "x y"]) | st.none(), st.integers(-2, 2) | st.none()
        ),
        min_size=1,
        max_size=30,
    ),
    name=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=5),
)
def test_any_names_and_values(rows: list[tuple[Any, Any]], name: str) -> None:
    name = f"c{name}"  # SQLite gives a column called FALSE another name
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({query.quoted(name)} TEXT, other INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        in_memory = dict(zip((name, "other"), map(list, zip(*rows, strict=True)), strict=True))
        how: Any = {"missing": "level", "categorical": [name, "other"]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            try:
                expected = read_table(in_memory, **how)
            except DataError:
                with pytest.raises(DataError):
                    read_table(connection, sql="SELECT * FROM t", **how)
                return
            finally:
                connection.execute("PRAGMA query_only = 1")
            found = read_table(connection, sql="SELECT * FROM t", **how)
    assert found.levels == expected.levels
    assert weighted(found) == weighted(expected)
