"""Rows of DuckDB as Arrow arrays are the rows that it gives one by one."""

from __future__ import annotations

import datetime
import decimal
import uuid
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from xordal.data.read import read_table
from xordal.data.sql import query
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, DataWarning

DAYS = st.dates(datetime.date(1950, 1, 1), datetime.date(2050, 1, 1))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "BOOLEAN": st.booleans(),
    "TINYINT": st.integers(-128, 127),
    "UBIGINT": st.integers(0, 2**64 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "HUGEINT": st.integers(-(2**90), 2**90),
    "FLOAT": st.floats(allow_infinity=False, width=32),
    "DOUBLE": st.floats(allow_infinity=False),
    "DECIMAL(9, 3)": st.integers(-(10**8), 10**8).map(lambda n: decimal.Decimal(n) / 1000),
    "VARCHAR": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3),
    "ENUM ('z', 'a', 'é')": st.sampled_from("zaé"),
    "DATE": DAYS,
    "TIMESTAMP": st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1)),
    "TIME": st.times(),
    "UUID": st.integers(0, 3).map(lambda n: uuid.UUID(int=n)),
    "BLOB": st.binary(max_size=2),
}


def read(database: Any, names: list[str], **how: Any) -> CategoricalTable | str:
    """Return the table, or what was said instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return read_table(database, sql="SELECT * FROM t", missing="level", categorical=names, **how)
        except DataError as error:
            return str(error)


@settings(max_examples=some(60), deadline=None)
@given(data=st.data(), kinds=st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3))
def test_values_are_those_of_rows(data: st.DataObject, kinds: list[str]) -> None:
    few = [data.draw(st.lists(VALUES[kind] | st.none(), min_size=1, max_size=3)) for kind in kinds]
    rows = data.draw(st.lists(st.tuples(*(st.sampled_from(own) for own in few)), min_size=1, max_size=12))
    names = [f"c{place}" for place in range(len(kinds))]
    with duckdb.connect() as database:
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
        database.execute(f"CREATE TABLE t ({columns})")
        database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(kinds))})", rows)
        with mock.patch.object(query, "MOST_GROUPS", 0):
            found = read(database, names)
            with mock.patch.object(query, "has_arrow", lambda: False):
                expected = read(database, names)
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
        return
    assert [list(map(type, own)) for own in found.levels] == [list(map(type, own)) for own in expected.levels]
    assert found.levels == expected.levels
    assert found.codes.tolist() == expected.codes.tolist()


@pytest.mark.slow
def test_many_batches_are_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level that only the last rows have, and a column with no value before these."""
    monkeypatch.setattr(query, "MOST_GROUPS", 0)
    with duckdb.connect() as database:
        late = "CASE WHEN i >= 599990 THEN 'late' END"
        rows = f"SELECT i % 7 AS a, {late} AS b, i % 2 = 0 AS c FROM range(600000) r(i)"
        found = read_table(database, sql=rows, missing="level")
        monkeypatch.setattr(query, "has_arrow", lambda: False)
        expected = read_table(database, sql=rows, missing="level")
    assert found.levels == expected.levels == (tuple(range(7)), ("late", "(missing)"), (False, True))
    assert (found.codes[:] == expected.codes[:]).all()


def test_python_makes_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "MOST_GROUPS", 0)
    monkeypatch.setattr(query, "values_batch", None)
    with duckdb.connect() as database:
        assert read_table(database, sql="SELECT i % 2 AS a, i % 3 AS b FROM range(60) r(i)").n_rows == 60


def test_a_value_that_fails_far_into_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT (i % 5)::VARCHAR AS a, i % 2 AS b FROM range(600000) r(i)")
        database.execute("INSERT INTO t VALUES ('five', 1)")
    monkeypatch.setattr(query.Query, "counted", lambda *_: None)
    with pytest.raises(DataError, match=r"the database says: .*Could not convert string 'five'"):
        read_table(tmp_path / "t.duckdb", sql="SELECT a::INTEGER AS a, b FROM t")
