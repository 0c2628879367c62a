"""Levels in a model file: text, numbers, truth values and null as JSON has them, others with their type."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any

from xordal.errors import DataError
from xordal.formats.checked import Node

_READ: dict[str, Callable[[str], Hashable]] = {
    "bytes": bytes.fromhex,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "decimal": Decimal,
    "float": float,
    "time": time.fromisoformat,
    "timedelta": lambda text: timedelta(microseconds=int(text)),
}


def level_to_json(level: Hashable, name: str) -> object:
    """Return a level as JSON; its type can be told from it.

    Examples
    --------
    >>> level_to_json("a", "x"), level_to_json(1.0, "x"), level_to_json(date(2024, 2, 29), "x")
    ('a', 1.0, {'type': 'date', 'value': '2024-02-29'})
    """
    if level is None or type(level) in (str, int, bool) or (type(level) is float and isfinite(level)):
        return level
    kind, text = _typed(level)
    if kind is None:
        raise DataError(
            f"Column {name!r} has levels of type {type(level).__name__}, which a model file cannot hold. "
            "Make them text or numbers before learning."
        )
    return {"type": kind, "value": text}


def _typed(level: Any) -> tuple[str | None, str]:  # noqa: PLR0911 - one per type
    if type(level) is float:
        return "float", repr(level)
    if isinstance(level, datetime | date | time):
        # A subclass, such as pandas' Timestamp, comes back as what it stands for, and equal to it.
        kind = "datetime" if isinstance(level, datetime) else "date" if isinstance(level, date) else "time"
        return kind, level.isoformat()
    if isinstance(level, timedelta):
        return "timedelta", str(level // timedelta(microseconds=1))
    if isinstance(level, Decimal):
        return "decimal", str(level)
    if isinstance(level, bytes):
        return "bytes", level.hex()
    if isinstance(level, str):  # a subclass: a level is its text
        return "text", str(level)
    return None, ""


def level_from_json(node: Node) -> Hashable:
    """Return a level from JSON, checked."""
    value = node.value
    if isinstance(value, list):
        node.wrong("a level cannot be a list")
    if not isinstance(value, dict):
        if isinstance(value, float) and not isfinite(value):
            node.wrong("the number is too large")
        return value  # type: ignore[no-any-return]
    kind, text = node["type"].one_of(*_READ, "text"), node["value"]
    if not isinstance(text.value, str):
        text.wrong("there must be a text")
    if kind == "text":
        return str(text.value)
    try:
        level = _READ[kind](text.value)
        is_nan = level != level  # noqa: PLR0124 - NaN of any type; a signalling one raises
    except (ValueError, OverflowError, InvalidOperation):
        text.wrong(f"{text.value!r} is no {kind}")
    if is_nan:
        text.wrong("a level cannot be NaN")
    return level
