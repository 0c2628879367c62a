"""Tables in memory: any dataframe, Arrow data, arrays and sequences become columns.

Frames come through narwhals (pandas, polars, pyarrow, modin, cuDF; lazy ones are collected), anything else that
speaks the Arrow PyCapsule protocol through pyarrow. Without pyarrow, values are taken one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from xordal.data.arrow_extra import has_arrow, need_arrow
from xordal.data.column import Column, from_distinct, from_values, nested
from xordal.data.records import record_columns
from xordal.data.select import check_lengths
from xordal.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def columns_of(source: Any) -> list[Column]:
    """Return the columns of a table in memory.

    A pandas, polars or pyarrow frame, an object with an Arrow stream, a mapping of names to columns, a sequence
    of mappings from names to values (records), a two-dimensional NumPy array, or a sequence of rows; the last
    two have columns named x0, x1, ...

    Raises
    ------
    DataError
        If it is none of these, or a column cannot be taken as categories.
    """
    if isinstance(source, str | bytes):
        raise DataError(
            f"A table in memory was expected, not {source!r}. Read a file with xordal.read_table(path)."
        )
    if hasattr(type(source), "toarray"):  # asking a frame itself takes it long to say no
        raise DataError("A sparse matrix is no table of categories. Make it dense: X.toarray().")
    if isinstance(source, Mapping):
        check_lengths(source)
        return [_sequence_column(str(name), column) for name, column in source.items()]
    if isinstance(source, Sequence) and source and all(isinstance(row, Mapping) for row in source):
        return record_columns(source)
    if is_plain_pandas(source):
        return [_pandas_column(label, series) for label, series in source.items()]
    frame = as_frame(source)
    if frame is not None:
        return [_frame_column(*column) for column in zip(frame.columns, frame.iter_columns(), strict=True)]
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        need_arrow(f"A {type(source).__name__} is Arrow data", "Or make it a pandas frame.")
        from xordal.data.arrow import any_column_of

        table = _arrow_table(source)
        return [
            any_column_of(name, array) for name, array in zip(table.column_names, table.columns, strict=True)
        ]
    return _array_columns(_as_array(source))


def as_frame(source: Any) -> Any:
    """Return a narwhals frame, or None for what narwhals does not know."""
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except DuplicateError:
        names = [str(name) for name in getattr(source, "column_names", None) or source.columns]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"Column name {twice!r} is used more than once. Give each column its own name."
        ) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def is_plain_pandas(source: Any) -> bool:
    """Whether it is a pandas frame that needs nothing of narwhals: a small table is read in half the time."""
    pandas = sys.modules.get("pandas")
    return (
        pandas is not None
        and isinstance(source, pandas.DataFrame)
        and source.columns.nlevels == 1
        and source.columns.is_unique
    )


def _name_of(label: Any) -> str:
    is_named = label is not None and label == label  # noqa: PLR0124 - pandas calls a nameless column None or NaN
    return str(label) if is_named else ""


def _pandas_column(label: Any, series: Any) -> Column:
    if hasattr(series.dtype, "categories"):
        return _declared_column(label, series)
    name = _name_of(label)
    if not has_arrow():
        return _plain_column(name, series.to_list())
    import pyarrow as pa

    return _by_arrow(name, lambda: pa.Array.from_pandas(_values_of(series)), series.to_list)


def _by_arrow(
    name: str, array_of: Callable[[], Any], values: Callable[[], list[Any]], is_declared: bool = False
) -> Column:
    """Return a column by Arrow; from its values where Arrow has no type of its own for them."""
    import pyarrow as pa

    from xordal.data.arrow import any_column_of

    try:
        array = array_of()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return from_values(name, values())
    if isinstance(array.type, pa.BaseExtensionType):
        return from_values(name, values())
    return any_column_of(name, array, is_declared)


def _plain_column(name: str, values: Sequence[Any]) -> Column:
    """Return a column from its values without Arrow: with the levels that Arrow would have made of them."""
    if (odd := next((value for value in values if isinstance(value, list | dict)), None)) is not None:
        return nested(name, len(values), "lists" if isinstance(odd, list) else "objects")
    column = from_values(name, values)
    wrong = next((level for level in column.levels if isinstance(level, float) and isinf(level)), None)
    if wrong is not None:
        row = int(np.argmax(column.codes == column.levels.index(wrong))) + 1
        raise DataError(
            f"Column {name!r}, row {row}: the value is infinite. Replace it, or mark it as missing."
        )
    has_float = any(isinstance(level, float) for level in column.levels)
    if has_float and any(isinstance(level, int) for level in column.levels):
        return Column(name, tuple(float(level) for level in column.levels), column.codes)  # type: ignore[arg-type]
    return column


def _values_of(series: Any) -> Any:
    """Return what Arrow would take from a series, where that is plain: a series itself is slow to answer."""
    values = series.array
    if hasattr(values, "__arrow_array__"):
        return values
    is_plain = isinstance(series.dtype, np.dtype) and series.dtype.kind in "Obiuf"
    return series.to_numpy() if is_plain else series


def _declared_column(label: Any, series: Any) -> Column:
    """Return a pandas categorical, declared also where pandas does not call it ordered.

    Arrow does not know all levels it can have, such as those of pandas.cut.
    """
    codes = np.asarray(series.cat.codes, dtype=np.int32)
    return from_distinct(_name_of(label), series.cat.categories.tolist(), codes, is_declared=True)


def _frame_column(label: Any, series: Any) -> Column:
    import narwhals.stable.v2 as nw

    name, native, kind = _name_of(label), series.to_native(), series.dtype
    if series.implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        return _declared_column(label, native)
    if kind == nw.Object and not series.implementation.is_pandas_like():
        return from_values(name, series.to_list())  # Arrow would see addresses
    if not has_arrow():
        column = _plain_column(name, series.to_list())
        return _in_order(column, kind.categories) if isinstance(kind, nw.Enum) else column
    return _by_arrow(name, series.to_arrow, series.to_list, isinstance(kind, nw.Enum))


def _in_order(column: Column, levels: Sequence[Any]) -> Column:
    """Return a column with its levels in a declared order."""
    place = {level: code for code, level in enumerate(levels)}
    return column.regrouped([place[level] for level in column.levels], levels)


def _arrow_table(source: Any) -> pa.Table:
    import pyarrow as pa

    try:
        return pa.table(source)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        if type(source).__name__ == "Series":
            raise DataError(
                "A Series is one column, no table of named columns. Give the frame it is of; counts of "
                "combinations, as groupby(...).size() gives, become one by .reset_index(name='n'), to be read "
                "with weights='n'."
            ) from None
        raise DataError(
            f"A {type(source).__name__} is no table of named columns ({error}). Make it a frame."
        ) from None


def _as_array(source: Any) -> np.ndarray[Any, Any]:
    if isinstance(source, np.ndarray):
        array = source
    elif isinstance(source, Sequence):
        array = _from_rows(source)
    elif hasattr(source, "__array__"):
        array = np.asarray(source)
    else:
        raise DataError(
            f"An object of type {type(source).__name__} is no table. Give a pandas, polars or pyarrow frame, a "
            "two-dimensional array, a mapping of names to columns, or the path of a file."
        )
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported. Levels are text, numbers or truth values.")
    if array.ndim != 2 and array.dtype.names is None:
        raise DataError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: rows by columns."
        )
    return array


def _from_rows(rows: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return rows as an array of objects, so that 1 and "1" in one row stay what they are."""
    widths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else None for row in rows]
    for number, width in enumerate(widths, start=1):
        if width is not None and widths[0] is not None and width != widths[0]:
            raise DataError(f"Row {number} has {width} values; the first row has {widths[0]}.")
    if not widths or None in widths:
        return np.asarray(rows, dtype=object)
    array = np.empty((len(rows), widths[0] or 0), dtype=object)
    for number, row in enumerate(rows):
        array[number, :] = row
    return array


def _array_columns(array: np.ndarray[Any, Any]) -> list[Column]:
    if array.dtype.names is not None:
        return [_sequence_column(name, array[name]) for name in array.dtype.names]
    return [_sequence_column(f"x{v}", array[:, v]) for v in range(array.shape[1])]


def _sequence_column(name: str, values: Any) -> Column:
    """Return one column from a NumPy array or any sequence of values, by Arrow where it can."""
    if isinstance(values, np.ma.MaskedArray):
        return from_values(name, [None if value is np.ma.masked else value for value in values])

    def as_list() -> list[Any]:
        return values.tolist() if isinstance(values, np.ndarray) else list(values)

    if not has_arrow():
        return _plain_column(name, as_list())
    import pyarrow as pa

    return _by_arrow(name, lambda: pa.array(values, from_pandas=True), as_list)
