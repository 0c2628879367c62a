"""Parquet files into columns; levels keep the type they have in the file."""

from __future__ import annotations

import json

import pyarrow as pa
from pyarrow import parquet

from xordal.data.arrow import any_column_of
from xordal.data.column import Column
from xordal.errors import DataError


def parquet_columns(data: bytes, label: str) -> list[Column]:
    """Return the columns of a Parquet file; a row index that pandas stored with them is left out."""
    try:
        schema = parquet.read_schema(pa.BufferReader(data))
        text = [field.name for field in schema if pa.types.is_string(field.type)]
        # One thread: Arrow's pool of threads can abort a process that ends soon after.
        table = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=text).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{label}: this is no complete Parquet file ({error}). Write it anew.") from None
    return [
        any_column_of(name, array)
        for name, array in zip(table.column_names, table.columns, strict=True)
        if name not in index_names(schema)
    ]


def index_names(schema: pa.Schema) -> set[str]:
    """Return the columns in which pandas stored its row index, named or not."""
    try:
        stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return {name for name in stored["index_columns"] if isinstance(name, str)}
    except (ValueError, KeyError, TypeError):  # not written by pandas, or damaged: then every column counts
        return set()
