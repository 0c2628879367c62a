"""A network is used on a folder or a pattern as on the same rows in one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

from tests.commands import call
from tests.examples import some
from xordal.data.column import Column, from_values
from xordal.data.dialect import TextFormat
from xordal.data.large.whole import _joined
from xordal.data.read import columns_from
from xordal.errors import DataError

CELL = st.sampled_from(["b", "a", "é", None])


def values(column: Column) -> list[object]:
    return [None if code < 0 else column.levels[code] for code in column.codes.tolist()]


@settings(max_examples=some(200))
@given(st.lists(st.lists(CELL, min_size=1, max_size=6), min_size=1, max_size=5))
def test_joined_pieces_are_the_column_of_all_values(pieces: list[list[str | None]]) -> None:
    found = _joined([from_values("a", own) for own in pieces])
    expected = from_values("a", [value for own in pieces for value in own])
    assert (found.levels, values(found)) == (expected.levels, values(expected))


def write(path: Path, rows: Sequence[tuple[str | None, ...]], names: str = "abc") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    own = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    frame = pa.table({name: pa.array(cells, pa.string()) for name, cells in own.items()})
    parquet.write_table(frame, path) if path.suffix == ".parquet" else csv.write_csv(frame, path)


ROWS = [("xy"[a], "xy"[b], "xy"[a ^ b]) for a in (0, 1) for b in (0, 1)] * 60


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_commands_that_use_a_network(tmp_path: Path, ending: str) -> None:
    every: list[tuple[str | None, ...]] = [*ROWS, ("x", "x", "y"), (None, "x", "y")]
    for number, rows in enumerate((every[:100], every[100:-1], every[-1:])):
        write(tmp_path / f"parts/f{number}.{ending}", rows)
    write(tmp_path / f"all.{ending}", every)
    assert call(["learn", f"all.{ending}", "-q", "-o", "net.json"], cwd=tmp_path).returncode == 0
    for command in (["score"], ["predict", "-t", "c"], ["predict", "--impute"], ["check", "--json"]):
        said = [
            call([command[0], "net.json", place, *command[1:]], cwd=tmp_path)
            for place in (f"all.{ending}", "parts", f"parts/*.{ending}")
        ]
        assert [done.returncode for done in said] == [0, 0, 0], said
        assert said[0].stdout == said[1].stdout == said[2].stdout
        assert len(said[0].stdout) > 100


def test_partitions_are_columns_and_rows_are_told_in_their_file(tmp_path: Path) -> None:
    write(tmp_path / "d/year=2023/f.csv", [("x", "y", "x")] * 3)
    write(tmp_path / "d/year=2024/f.csv", [("x", "z", None)] * 2)
    columns, where = columns_from(tmp_path / "d", TextFormat())
    assert {column.name: values(column) for column in columns} == {
        "a": ["x"] * 5,
        "b": ["y"] * 3 + ["z"] * 2,
        "c": ["x"] * 3 + [None] * 2,
        "year": ["2023"] * 3 + ["2024"] * 2,
    }
    assert where(4, "b") == f"{tmp_path / 'd/year=2024/f.csv'}, row 2, column 'b'"
    assert where(2, "b") == f"{tmp_path / 'd/year=2023/f.csv'}, row 3, column 'b'"


def test_what_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No file matches"):
        columns_from(tmp_path / "*.csv", TextFormat())
    write(tmp_path / "d/f.csv", ROWS)
    write(tmp_path / "d/g.csv", ROWS, "abd")
    with pytest.raises(DataError, match="its columns differ"):
        columns_from(tmp_path / "d", TextFormat())
    (tmp_path / "e").mkdir()
    (tmp_path / "e/f.parquet").touch()
    write(tmp_path / "e/g.parquet", ROWS)
    with pytest.raises(DataError, match=r"f\.parquet: the file is empty"):
        columns_from(tmp_path / "e", TextFormat())
