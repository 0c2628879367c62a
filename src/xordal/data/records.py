"""Rows that are records, names with values, into columns: what JSON files hold, and lists of dictionaries.

An object within a record is taken apart, its parts named by the way to them: ``{"user": {"sex": "f"}}`` has the
column ``user.sex``. A column in which a cell is a list can only be left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from xordal.data.column import Column, from_values, nested
from xordal.errors import DataError, warn

_MOST_NAMED = 3  # objects named in a note


def record_columns(records: Sequence[Mapping[Any, Any]], label: str = "") -> list[Column]:
    """Return the columns of records; a name that a record does not have is a missing value there.

    Raises
    ------
    DataError
        If parts of an object are called as another column is.

    Warns
    -----
    DataWarning
        If objects were taken apart.

    Examples
    --------
    >>> rows = [{"tags": ["a"], "age": 31}, {"tags": [], "age": 45}, {}]
    >>> [(column.name, column.levels, column.holds) for column in record_columns(rows)]
    [('tags', (), 'lists'), ('age', (31, 45), '')]
    """
    objects: dict[str, None] = {}
    rows = [_flat(record, objects, label) for record in records]
    if objects:
        named = ", ".join(map(repr, list(objects)[:_MOST_NAMED]))
        named += f" and {len(objects) - _MOST_NAMED} others" if len(objects) > _MOST_NAMED else ""
        told = f"{named} {'holds' if len(objects) == 1 else 'hold'} objects, so a column for each part is made."
        warn(f"{label}: {told}" if label else told)
    names = dict.fromkeys(name for row in rows for name in row)
    return [_column(name, [row.get(name) for row in rows]) for name in names if name not in objects]


def _flat(record: Mapping[Any, Any], objects: dict[str, None], label: str) -> dict[str, Any]:
    """Return a record without objects in it; what held one is noted."""
    flat: dict[str, Any] = {}
    for name, value in _parts(record, "", objects):
        if name in flat:
            where = f"{label}: two columns" if label else "Two columns"
            raise DataError(f"{where} are called {name!r}, one of them part of an object. Rename one.")
        flat[name] = value
    return flat


def _parts(record: Mapping[Any, Any], before: str, objects: dict[str, None]) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            objects[name] = None
            yield from _parts(value, f"{name}.", objects)
        else:
            yield name, value


def _column(name: str, values: Sequence[Hashable]) -> Column:
    is_nested = any(isinstance(value, list | tuple | Mapping) for value in values)
    return nested(name, len(values), "lists") if is_nested else from_values(name, values)
