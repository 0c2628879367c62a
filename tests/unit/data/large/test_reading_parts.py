"""Parts of Parquet files, as workers of a cluster read them: each row once, in order, told where it is."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from xordal.counting.dask.reading import read_part
from xordal.data.dialect import TextFormat
from xordal.data.large.batches import Files
from xordal.data.large.files import DataFile, Part
from xordal.data.large.parquet_batches import parts_of


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 30), max_size=8), st.integers(1, 50))
def test_parts_are_the_file(groups: list[int], n_rows: int) -> None:
    """Row groups of any length, also none and empty ones."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        rows = pa.table({"a": [f"v{n % 7}" for n in range(sum(groups))], "b": list(range(sum(groups)))})
        with parquet.ParquetWriter(path, rows.schema) as writer:
            at = 0
            for length in groups:
                writer.write_table(rows.slice(at, length), row_group_size=max(length, 1))
                at += length
        file = DataFile(path)
        parts = parts_of(file, n_rows)
        found: list[tuple[object, ...]] = []
        for part in parts:
            assert part.first_row == len(found)
            for batch in read_part(part, TextFormat(), {"a", "b"}, ["b", "a"]):
                assert batch.label == (str(path), len(found))
                assert all(column.codes.dtype.itemsize == 1 for column in batch.columns)
                found += zip(*([c.levels[code] for code in c.codes] for c in batch.columns), strict=True)
        assert found == [(n, f"v{n % 7}") for n in range(sum(groups))]
        most = max([n_rows, *groups])
        begins = [part.first_row for part in parts]
        assert all(end - begin <= most for begin, end in zip(begins, [*begins[1:], sum(groups)], strict=True))
        whole = list(Files([file]).batches_of(Part(file), {"a", "b"}, ["a", "b"]))
        assert sum(batch.n_rows for batch in whole) == sum(groups)
