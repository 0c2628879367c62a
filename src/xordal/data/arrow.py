"""Arrow arrays into columns: the one fast road, taken by files and frames alike.

Arrow finds the distinct values of a column; Python sees those few and never the rows.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from xordal.data.column import MISSING, Column, from_distinct, from_values, nested, refuse_nested
from xordal.errors import DataError


def any_column_of(name: str, array: pa.Array | pa.ChunkedArray, is_declared: bool = False) -> Column:
    """Return an Arrow array as a column, also one of lists or objects, which can only be left out."""
    if pa.types.is_nested(array.type) and not pa.types.is_run_end_encoded(array.type):
        return nested(name, len(array), "lists" if "list" in str(array.type).partition("<")[0] else "objects")
    return column_of(name, array, is_declared)


def column_of(name: str, array: pa.Array | pa.ChunkedArray, is_declared: bool = False) -> Column:
    """Return an Arrow array as a column.

    The order of a dictionary is kept where Arrow marks it as ordered, or where its source declared it.
    """
    if pa.types.is_run_end_encoded(array.type):
        array = compute.run_end_decode(array)
    if pa.types.is_nested(array.type):
        refuse_nested([nested(name, len(array), f"{array.type} values")])
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array.type, pa.BaseExtensionType):
        return from_values(name, array.to_pylist())
    if not pa.types.is_dictionary(array.type):
        _refuse_infinity(name, array)
        array = _encoded(array)
    codes = _codes(array.indices)
    if len(codes) and not MISSING <= codes.min() <= codes.max() < max(len(array.dictionary), 1):
        raise DataError(
            f"Column {name!r} is damaged: a row refers to a value that the column's dictionary does not have. "
            "Write the file anew."
        )
    return from_distinct(name, _values(name, array.dictionary), codes, is_declared or array.type.ordered)


def _codes(indices: pa.Array) -> NDArray[np.int32]:
    """Return the indices, read from their buffers: Arrow's own ``to_numpy`` would import pandas."""
    valid, values = indices.buffers()
    rows = slice(indices.offset, indices.offset + len(indices))
    codes = np.frombuffer(values or b"", dtype=str(indices.type))[rows].astype(np.int32)
    if indices.null_count:
        bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")[rows]
        codes[bits == 0] = MISSING
    return codes


def _encoded(array: pa.Array) -> pa.Array:
    if pa.types.is_null(array.type):  # a column without a single value
        array = array.cast(pa.string())
    elif pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_string() if pa.types.is_string_view(array.type) else pa.large_binary())
    return array.dictionary_encode()


def _refuse_infinity(name: str, array: pa.Array) -> None:
    if not pa.types.is_floating(array.type):
        return
    infinite = compute.is_inf(array)
    if compute.any(infinite).as_py():
        row = infinite.to_pylist().index(True) + 1
        raise DataError(
            f"Column {name!r}, row {row}: the value is infinite (infinity or a value too large for "
            f"{array.type}). Replace it, or mark it as missing."
        )


def _values(name: str, dictionary: pa.Array) -> list[Hashable]:
    try:
        values: list[Hashable] = dictionary.to_pylist()
    except UnicodeDecodeError as error:
        raise DataError(
            f"Column {name!r} holds bytes that are no UTF-8 text ({error.object!r}). Write it anew as text."
        ) from None
    except ValueError:  # nanoseconds that Python's own datetime cannot hold
        values = dictionary.cast(pa.string()).to_pylist()
    return values
