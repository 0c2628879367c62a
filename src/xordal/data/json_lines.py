"""JSON into columns: one object per line (JSON Lines), or one list of objects. Levels keep their types."""

from __future__ import annotations

import json
from typing import Any

from xordal.data.column import Column
from xordal.data.records import record_columns
from xordal.errors import DataError


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
    objects = _listed(text, label) if text.lstrip().startswith("[") else _lines(text, label)
    if not objects:
        raise DataError(f"{label}: there are no rows.")
    return record_columns(objects, label)


def _lines(text: str, label: str) -> list[dict[str, Any]]:
    lines = [(f"{label}, line {n}", line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
    return [_object(_parsed(line, where), where) for where, line in lines]


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
