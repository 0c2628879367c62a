"""Parquet files batch by batch; levels keep the type they have in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from xordal.data.arrow import column_of
from xordal.data.column import Column
from xordal.data.large.batches import ROWS, Piece
from xordal.data.large.files import DataFile, Part
from xordal.data.parquet import index_names
from xordal.errors import DataError


class ParquetReader:
    """Reads Parquet files."""

    def names(self, path: Path) -> list[str]:
        """Return the names of the columns, without a row index that pandas stored with them."""
        with _told(path):
            schema = parquet.read_schema(path)
        return [field.name for field in schema if field.name not in index_names(schema)]

    def batches(
        self, path: Path, only: Sequence[str], groups: tuple[int, int] | None = None
    ) -> Iterator[Piece]:
        """Yield the rows of some columns, or of some row groups of them."""
        with _told(path):
            schema = parquet.read_schema(path)
            text = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
            file = parquet.ParquetFile(path, read_dictionary=text, pre_buffer=False)
            n_rows, at = file.metadata.num_rows, 0
            # One thread: Arrow's pool of threads can abort a process that ends soon after.
            batches = file.iter_batches(
                batch_size=ROWS,
                row_groups=None if groups is None else list(range(*groups)),
                columns=list(only),
                use_threads=False,
            )
        while True:
            with _told(path, at):
                batch = next(batches, None)
            if batch is None:
                return
            at += batch.num_rows
            fields = [batch.schema.field(name) for name in only]
            columns = [_column(path, at - batch.num_rows, name, batch.column(name)) for name in only]
            declared = frozenset(f.name for f in fields if pa.types.is_dictionary(f.type) and f.type.ordered)
            yield columns, {f.name: kind_of_type(f.type) for f in fields}, declared, at / max(n_rows, 1)


def parts_of(file: DataFile, n_rows: int) -> list[Part]:
    """Return the row groups of a file in parts of so many rows, or of one row group."""
    with _told(file.path):
        about = parquet.read_metadata(file.path)
        lengths = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
    parts: list[Part] = []
    begin = first = row = 0
    for group, length in enumerate(lengths):
        if group > begin and row + length > first + n_rows:
            parts.append(Part(file, (begin, group), first))
            begin, first = group, row
        row += length
    return [*parts, Part(file, (begin, len(lengths)), first)]


def _column(path: Path, at: int, name: str, array: pa.Array) -> Column:
    try:
        return column_of(name, array)
    except DataError as error:
        raise DataError(f"{path}, after row {at:,}: {error}") from None


def kind_of_type(kind: pa.DataType) -> str:
    """Return what kind of values an Arrow type holds: levels of one kind can be brought together."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return ""  # no value at all goes with any kind
    if pa.types.is_boolean(kind):
        return "truth values"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return "text" if is_text else str(kind)


@contextmanager
def _told(path: Path, at: int | None = None) -> Iterator[None]:
    """Say which file cannot be read, and where."""
    place = "" if at is None else f", after row {at:,}"
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        said = (str(error).strip().splitlines() or [""])[0]
        raise DataError(f"{path}{place}: this is no complete Parquet file ({said}). Write it anew.") from None
