"""Arrow IPC files (Feather) into columns; levels keep the type they have in the file."""

from __future__ import annotations

import pyarrow as pa

from xordal.data.arrow import any_column_of
from xordal.data.column import Column
from xordal.data.parquet import index_names
from xordal.errors import DataError


def arrow_columns(data: bytes, label: str) -> list[Column]:
    """Return the columns of an Arrow file; a row index that pandas stored with them is left out."""
    try:
        table = _table(data)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{label}: this is no complete Arrow file ({error}). Write it anew.") from None
    stored = index_names(table.schema)
    both = zip(table.column_names, table.columns, strict=True)
    return [any_column_of(name, array) for name, array in both if name not in stored]


def _table(data: bytes) -> pa.Table:
    source = pa.BufferReader(data)
    if data.startswith(b"ARROW1"):
        return pa.ipc.open_file(source).read_all()
    return pa.ipc.open_stream(source).read_all()
