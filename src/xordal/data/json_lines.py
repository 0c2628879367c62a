"""JSON into columns: one object per line (JSON Lines), or one list of objects. Levels keep their types.

One object may also hold a whole table, as programs write it out: a list of objects beside other things, as web
services answer (``{"count": 2, "results": [{...}, {...}]}``); a list of values for each column; an object of
values for each column, which pandas writes by default; ``columns`` and ``data`` apart.
"""

from __future__ import annotations

import json
from typing import Any, TypeGuard

from xordal.data.column import Column
from xordal.data.records import record_columns
from xordal.errors import DataError, warn


def looks_like_json(text: str) -> bool:
    """Whether a text begins as JSON objects do: no table in plain text begins so.

    Examples
    --------
    >>> looks_like_json('{"a": 1}'), looks_like_json('[{"a": 1}]'), looks_like_json("[a],b")
    (True, True, False)
    """
    start = "".join(text[:200].split())
    return start.startswith(('{"', '[{"'))


def json_columns(text: str, label: str) -> list[Column]:
    """Return the columns of JSON objects; a key that an object does not have is a missing value.

    Raises
    ------
    DataError
        If a line is no JSON object, with its number.
    """
    if text.lstrip().startswith("["):
        objects = _listed(text, label)
    else:
        whole = _whole(text)
        if whole is not None and str(whole.get("format")).startswith("xordal "):
            raise DataError(f"{label} is a network that xordal wrote, not a table. Name a table of rows.")
        objects = _lines(text, label) if whole is None else _rows_within(whole, label) or [whole]
    if not objects:
        raise DataError(f"{label}: there are no rows.")
    return record_columns(objects, label)


def _lines(text: str, label: str) -> list[dict[str, Any]]:
    lines = [(f"{label}, line {n}", line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
    return [_object(_parsed(line, where), where) for where, line in lines]


def _whole(text: str) -> dict[str, Any] | None:
    """Return the object of a text that holds nothing else; None for several, and for what is no JSON."""
    text = text.strip()
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return found if end == len(text) and isinstance(found, dict) else None


def _rows_within(whole: dict[str, Any], label: str) -> list[dict[str, Any]]:
    """Return the rows of a table that one object holds; none where it holds none.

    Examples
    --------
    >>> _rows_within({"a": [1, 2], "b": ["x", "y"]}, "t.json")
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    >>> _rows_within({"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}, "t.json")
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    >>> _rows_within({"columns": ["a", "b"], "data": [[1, "x"]]}, "t.json"), _rows_within({"a": 1}, "t.json")
    ([{'a': 1, 'b': 'x'}], [])
    """
    names, data = whole.get("columns"), whole.get("data")
    if _is_names(names) and isinstance(data, list) and data and all(_is_row(row, len(names)) for row in data):
        return [dict(zip(names, row, strict=True)) for row in data]
    lists = [name for name, value in whole.items() if _is_objects(value)]
    if len(lists) == 1:
        warn(f"{label}: the table is the list {lists[0]!r} in it.")
        return list(whole[lists[0]])
    columns = list(whole.values())
    if len(columns) < 2 or not _is_nested(columns[0]) or len(columns[0]) < 2:
        return []
    if all(_is_row(column, len(columns[0])) for column in columns):
        return [dict(zip(whole, row, strict=True)) for row in zip(*columns, strict=True)]
    if all(_is_row_of(column, columns[0]) for column in columns):
        return [{name: column[row] for name, column in whole.items()} for row in columns[0]]
    return []


def _is_names(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(each, dict) for each in value)


def _is_row(value: Any, width: int) -> bool:
    return isinstance(value, list) and len(value) == width and not any(_is_nested(each) for each in value)


def _is_row_of(value: Any, first: Any) -> bool:
    is_alike = isinstance(value, dict) and isinstance(first, dict) and value.keys() == first.keys()
    return is_alike and not any(_is_nested(each) for each in value.values())


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | dict)


def _listed(text: str, label: str) -> list[dict[str, Any]]:
    rows = _parsed(text, label)
    return [_object(row, f"{label}, object {number}") for number, row in enumerate(rows, start=1)]


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not valid JSON ({error}). Each line must be one JSON object.") from None


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f'{where}: {str(value)[:40]} is no JSON object such as {{"age": 31}}.')
    return value
