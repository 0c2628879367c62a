"""A table that is read batch by batch is the table that is read at once, to the bit."""

from __future__ import annotations

import gzip
import warnings
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from tests.examples import some
from xordal.data.discretise import Bins
from xordal.data.large import batches, files, parquet_batches, text_batches
from xordal.data.large import read as large_read
from xordal.data.read import read_table
from xordal.data.table import CategoricalTable
from xordal.data.write import csv_text
from xordal.errors import DataError, DataWarning

TEXT = st.sampled_from(["a", "b", "10", "9", "2", "NA", "", " ", "x y", 'say "no"', "1,5", "é"])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXT | st.none(),
    "whole": st.integers(-3, 40) | st.none(),
    "real": st.sampled_from([0.5, 1.0, -2.0, float("nan"), 10.25]) | st.none(),
    "truth": st.booleans() | st.none(),
    "day": st.dates(date(2024, 1, 1), date(2024, 1, 9)),
}


@st.composite
def columns(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(VALUES)) -> dict[str, list[Any]]:
    n_rows = draw(st.integers(1, 40))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    return {
        f"{kind}{place}": draw(st.lists(VALUES[kind], min_size=n_rows, max_size=n_rows))
        for place, kind in enumerate(chosen)
    }


def outcome(source: Any, **how: Any) -> object:
    """What reading gives: the table as plain values, or that it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            table = read_table(source, **how)
        except DataError:
            return "refused"
    weights = None if table.weights is None else table.weights.tolist()
    return table.names, table.levels, table.codes.tolist(), weights, table.identity()


def plain(outcome: object) -> object:
    """Equal levels of equal types: 1 and True and 1.0 are not one level."""
    if not isinstance(outcome, tuple):
        return outcome
    names, levels, *rest = outcome
    return names, [[(type(level).__name__, level) for level in own] for own in levels], rest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XORDAL_CACHE", str(tmp_path_factory.mktemp("cache")))


how_to_read = st.fixed_dictionaries(
    {
        "missing": st.sampled_from(["error", "drop", "level", "auto"]),
        "dates": st.sampled_from([(), ["month", "day"], ["weekday"]]),
        "bins": st.sampled_from([None, Bins(2), Bins(3, by="width")]),
        "merge_rare": st.sampled_from([0, 2, 5]),
    }
)


@pytest.mark.slow
@settings(max_examples=some(40))
@given(data=columns(), how=how_to_read, cuts=st.lists(st.integers(0, 40), max_size=3), rows=st.integers(1, 9))
def test_parquet_files_are_one_table(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, list[Any]], how: Any, cuts: list[int], rows: int
) -> None:
    """However rows are cut into files and batches, and from the cache as from the files."""
    folder = tmp_path_factory.mktemp("parquet")
    whole = pa.table(data)
    parquet.write_table(whole, folder / "whole.parquet")
    ends = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    (folder / "parts").mkdir()
    for place, (start, stop) in enumerate(pairwise(ends)):
        part = whole.slice(start, stop - start)
        parquet.write_table(part, folder / "parts" / f"{place}.parquet", row_group_size=7)
    expected = outcome(folder / "whole.parquet", **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_batches, "ROWS", rows)
        patch.setattr(large_read, "_SMALL", 0)
        for source in (folder / "parts", folder / "parts", [str(folder / "whole.parquet")]):
            assert plain(outcome(source, **how)) == plain(expected)


@pytest.mark.slow
@settings(max_examples=some(40))
@given(data=columns(("text",)), how=how_to_read, cut=st.integers(0, 40), streams=st.booleans())
def test_text_files_are_one_table(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, list[Any]], how: Any, cut: int, streams: bool
) -> None:
    folder = tmp_path_factory.mktemp("text")
    rows = list(zip(*([value or "" for value in column] for column in data.values()), strict=True))
    cut = min(cut, len(rows))
    data = {**data, "last": ["z"] * len(rows)}
    rows = [(*row, "z") for row in rows]
    (folder / "whole.csv").write_text(csv_text(list(data), rows))
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    names = [str(folder / f"part{place}.csv.gz") for place in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        Path(name).write_bytes(gzip.compress(csv_text(list(data), part).encode()))
    with pytest.MonkeyPatch.context() as patch:
        if streams:
            patch.setattr(text_batches, "MODERATE", 0)
        expected = outcome(folder / "whole.csv", **how)
        assert outcome([folder / "whole.csv"], **how) == expected
        assert outcome(names, **how) == expected


@pytest.mark.slow
@settings(max_examples=some(30))
@given(data=columns(), how=how_to_read)
def test_a_lazy_frame_is_its_frame(data: dict[str, list[Any]], how: Any) -> None:
    frame = pl.DataFrame(data, strict=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "ROWS", 7)
        assert plain(outcome(frame.lazy(), **how)) == plain(outcome(frame, **how))


@pytest.mark.slow
@settings(max_examples=some(20))
@given(
    data=columns(("text", "whole")),
    weights=st.lists(st.integers(0, 3), min_size=40, max_size=40),
    missing=st.sampled_from(["error", "drop", "level"]),
)
def test_weights_in_a_column(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, list[Any]], weights: list[int], missing: str
) -> None:
    folder = tmp_path_factory.mktemp("weights")
    table = pa.table({**data, "n": weights[: len(next(iter(data.values())))]})
    parquet.write_table(table, folder / "t.parquet")
    how = {"weights": "n", "missing": missing}
    assert outcome([folder / "t.parquet"], **how) == outcome(folder / "t.parquet", **how)


def test_declared_orders_are_kept(tmp_path: Path) -> None:
    sizes = pa.DictionaryArray.from_arrays([2, 0, 1, 0], ["small", "large", "huge"], ordered=True)
    table = pa.table({"size": sizes, "n": [1, 2, 1, 2]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert read_table([tmp_path / "t.parquet"]).levels[0] == ("small", "large", "huge")
    enum = pl.DataFrame(
        {"size": ["huge", "small"], "n": [1, 2]}, schema={"size": pl.Enum(["small", "huge"]), "n": pl.Int8}
    )
    assert read_table(enum.lazy()).levels[0] == ("small", "huge")


def test_partitions_are_columns(tmp_path: Path) -> None:
    for year, place in ((2023, "a b"), (2024, "__HIVE_DEFAULT_PARTITION__")):
        folder = tmp_path / f"year={year}" / f"place={place.replace(' ', '%20')}"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"x": [year, 1]}), folder / "f.parquet")
    (tmp_path / "_SUCCESS").touch()
    table = read_table(tmp_path, missing="level", categorical=["x"])
    for source in (str(tmp_path / "year=*" / "*" / "*.parquet"), sorted(tmp_path.rglob("*.parquet"))):
        assert read_table(source, missing="level", categorical=["x"]).identity() == table.identity()
    assert table.names == ("x", "year", "place")
    assert table.levels[1:] == ((2023, 2024), ("a b", "(missing)"))
    assert table.codes[1].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("values", [("--5", "7"), ("-0", "1"), ("٣", "4"), ("07", "8")])
def test_partitions_that_are_no_whole_numbers_are_text(tmp_path: Path, values: tuple[str, str]) -> None:
    for value in values:
        (tmp_path / f"k={value}").mkdir()
        parquet.write_table(pa.table({"x": [0, 1]}), tmp_path / f"k={value}" / "f.parquet")
    assert set(read_table(tmp_path).levels[1]) == set(values)


@pytest.mark.slow
def test_many_levels_take_more_bytes(tmp_path: Path) -> None:
    """Numbers outgrow one byte, then two, in the middle of a column."""
    values = [*range(200), *range(70_000), 5]
    parquet.write_table(
        pa.table({"a": [f"v{v}" for v in values], "b": [0, 1] * 35_100 + [0]}), tmp_path / "t.parquet"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_batches, "ROWS", 10_000)
        found, expected = (
            read_table(source, categorical=["a"])
            for source in ([tmp_path / "t.parquet"], tmp_path / "t.parquet")
        )
    assert found.identity() == expected.identity()
    assert found.codes.dtype == np.int32
    assert isinstance(found, CategoricalTable)


def test_which_large_files_are_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text and Parquet; what must be read as a whole is, however large it is."""
    monkeypatch.setattr(files, "LARGE", 1)
    table = pa.table({"a": ["x", "y"], "b": ["0", "1"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b\nx,0\ny,1\n")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\nx,0\ny,1\n"))
    (tmp_path / "t.jsonl").write_text('{"a": "x", "b": "0"}\n{"a": "y", "b": "1"}\n')
    with pa.OSFile(str(tmp_path / "t.feather"), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    for name, streams in (
        ("parquet", True),
        ("csv", True),
        ("csv.gz", True),
        ("jsonl", False),
        ("feather", False),
    ):
        found = read_table(tmp_path / f"t.{name}")
        assert (found.blocks is not None) == streams, name
        assert found.codes.tolist() == [[0, 1], [0, 1]]
