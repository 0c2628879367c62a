"""The rows of a query to DuckDB as Arrow arrays: Python sees distinct values and never the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from xordal.data.arrow import column_of
from xordal.data.column import Column
from xordal.data.large.batches import ROWS, Batch
from xordal.data.large.parquet_batches import kind_of_type


def arrow_batches(cursor: Any, sql: str, names: Sequence[str], label: str) -> Iterator[Batch]:
    """Yield the rows of a query, in order; only one batch of them is in memory at a time."""
    rows = cursor.sql(sql)
    # The second name is that of DuckDB before 1.4.
    reader = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader
    kinds: dict[str, str] | None = None
    at = 0
    for batch in _batches(reader(ROWS)):
        kinds = kinds or {name: kind_of_type(f.type) for name, f in zip(names, batch.schema, strict=True)}
        columns = [_column(name, own) for name, own in zip(names, batch.columns, strict=True)]
        yield Batch(columns, dict(kinds), frozenset(), (label, at), None)
        at += batch.num_rows


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield the batches that have rows; an error of the database comes as one of Arrow."""
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except pa.ArrowException as error:
            raise OSError(str(error)) from None
        if batch.num_rows:
            yield batch


def _column(name: str, array: pa.Array) -> Column:
    """Return a column; infinite values are let through, and an ENUM has only the levels that occur."""
    return column_of(name, array.dictionary_encode() if pa.types.is_floating(array.type) else array).compact()
