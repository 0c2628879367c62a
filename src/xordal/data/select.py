"""Which columns of a table take part, by name; a mistyped name is answered with the nearest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized

from xordal.data.column import Column
from xordal.errors import DataError, nearest


def check_names(columns: Sequence[Column]) -> None:
    """Refuse a table without columns, and columns without a name or with the same one."""
    if not columns:
        raise DataError("The table has no columns.")
    for place, column in enumerate(columns, start=1):
        if not column.name.strip():
            raise DataError(f"Column {place} has no name. Give each column a name.")
    repeated = [name for name, times in Counter(column.name for column in columns).items() if times > 1]
    if repeated:
        raise DataError(f"Column name {repeated[0]!r} is used more than once. Give each column its own name.")


def check_lengths(columns: Mapping[str, Sized]) -> None:
    """Refuse columns of unequal length."""
    for name, column in columns.items():
        if isinstance(column, str) or not hasattr(column, "__len__"):
            raise DataError(f"Column {name!r} is a single value. Give a sequence of values, one per row.")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise DataError(f"Columns must have the same number of rows, but {told}.")


def named(columns: Sequence[Column], name: str) -> Column:
    """Return the column of a name."""
    for column in columns:
        if column.name == name:
            return column
    raise DataError(f"There is no column {name!r}; {nearest(name, [column.name for column in columns])}")


def select(
    columns: Sequence[Column], only: Iterable[str] | None = None, exclude: Iterable[str] = ()
) -> list[Column]:
    """Return the columns asked for, in the order of the table, without the excluded ones."""
    wanted = {column.name for column in columns} if only is None else {named(columns, n).name for n in only}
    unwanted = {named(columns, name).name for name in exclude}
    chosen = [column for column in columns if column.name in wanted and column.name not in unwanted]
    if not chosen:
        raise DataError("No column is left. Ask for some, or exclude fewer.")
    return chosen
