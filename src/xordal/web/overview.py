"""What the columns of a table look like, for people: levels, what is missing, what looks odd and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xordal.data.column import Column
from xordal.data.levels import as_numbers
from xordal.data.steps import NO_NUMBER
from xordal.data.suspects import Kind, suspect
from xordal.errors import DataError
from xordal.formats.shown import shown
from xordal.web.words import shown_value

_MOST_LEVELS = 6  # drawn of each column
_MOST_CELLS = 20_000_000  # of columns with gaps, in which rows with the same gaps are counted: about a second
_MOST_PATTERNS = 1_000
_CODES = frozenset(f"{sign}{digit * n}" for sign in ("", "-") for digit in "789" for n in range(1, 6)) | {"-1"}
"""Numbers that people write for a missing one, such as 99 and -9; where others lie near they are numbers."""
_FEW_CELLS = 2  # a number that stands there once may be a slip of the pen
_LONGEST_NAME = 1_000  # characters; names are told with every step of a search, and nobody reads longer ones

_ODD: dict[Kind, tuple[str, str]] = {
    "continuous": ("Numbers on a scale.", "They are cut into ranges."),
    "words": (
        "Numbers, and a few words among them. Empty those cells in the file to have it cut into ranges.",
        "Each number is taken as a value of its own.",
    ),
    "dates": ("Dates: each stands in few rows.", "Each date is taken as a value of its own."),
    "repeated": (
        "Names of people or things that have several rows each.",
        "Each name is taken as a value: rows of one person are taken as if they were of different ones.",
    ),
    "weights": (
        "Looks like weights of a survey.",
        "It is taken as a column like any other.",
    ),
    "identifier": (
        "A value of its own in most rows: there is nothing to learn from it.",
        "It is taken all the same.",
    ),
    "many levels": (
        "Very many values. Chance alone makes such columns look related.",
        "Rare values are merged.",
    ),
    "counts": (
        "Looks like a count of rows.",
        "It is taken as a column like any other.",
    ),
    "alike": (
        "Some values differ only in case, or in blanks around them. If they mean the same, write them alike in "
        "the file.",
        "Each way of writing is a value of its own.",
    ),
    "nested": ("Each cell is a list. Split it into columns of its own in the file.", "It cannot be taken."),
    "constant": ("Only one value occurs: nothing can depend on it.", "It is taken all the same."),
}
"""What each kind of odd column is, and what becomes of it where it is taken; others are left out."""
_LEFT_OUT: set[Kind] = {"identifier", "repeated", "dates", "weights", "words", "constant", "counts", "nested"}


def overview(columns: Sequence[Column]) -> dict[str, Any]:
    """Return the overview of a table as plain values.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> found = overview([from_values("rain", ["yes", "no", "no"]), from_values("wet", [1, 0, None])])
    >>> [(column["name"], column["n_levels"], column["n_missing"]) for column in found["columns"]]
    [('rain', 2, 0), ('wet', 2, 1)]
    """
    for place, column in enumerate(columns, start=1):
        if len(column.name) > _LONGEST_NAME:
            raise DataError(
                f"The name of column {place} has {len(column.name):,} characters, beginning with "
                f"{shown(column.name[:20])!r}. Is the first line that of the names? At most "
                f"{_LONGEST_NAME:,} are taken."
            )
    n_rows = len(columns[0].codes)
    incomplete = np.zeros(n_rows, dtype=np.bool_)
    for column in columns:
        if column.has_missing and not column.holds:
            incomplete |= column.is_missing
    told = [_column(column) for column in columns]
    gaps = _gaps(columns)
    return {
        "n_rows": n_rows,
        "n_incomplete": int(incomplete.sum()),
        "gaps": gaps,
        "columns": told,
        "blanks": _blanks(columns),
        "settings": _defaults(told),
    }


def _column(column: Column) -> dict[str, Any]:
    counts = column.counts()
    found = suspect(column)
    order = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
    return {
        "name": column.name,
        "shown": shown(column.name),
        "n_levels": int((counts > 0).sum()),
        "levels": [[shown_value(column.levels[code]), int(counts[code])] for code in order if counts[code]],
        "spread": _spread(column) if found is not None and found.kind == "continuous" else None,
        "n_missing": int(column.is_missing.sum()) if column.has_missing and not column.holds else 0,
        "odd": None if found is None else found.kind,
        "advice": "" if found is None else _ODD[found.kind][0],
        "if_taken": "" if found is None else _ODD[found.kind][1],
        "taken": found is None or found.kind not in _LEFT_OUT,
    }


def _spread(column: Column) -> list[str] | None:
    """Return the least number of a column, the median and the largest, short: each value by itself says little.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> _spread(from_values("x", [3.25, -1.23456, 20_000.5, 0.5, 0.5]))
    ['-1.235', '0.5', '20,000']
    """
    counts = column.counts()
    occurring = [level for level, count in zip(column.levels, counts.tolist(), strict=True) if count]
    numbers = as_numbers(occurring)
    if numbers is None:
        return None
    order = np.argsort(numbers)
    below = np.cumsum(counts[counts > 0][order])
    middle = int(np.searchsorted(below, below[-1] / 2))
    return [_short(numbers[order[place]]) for place in (0, middle, -1)]


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.4g}"


def _gaps(columns: Sequence[Column]) -> list[list[Any]] | None:
    """Return each set of columns that rows miss values in, with the number of rows; None if there are too many.

    From these the page tells how many rows miss a value in the columns that a person takes.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> _gaps([from_values("a", [None, 0, None, 1]), from_values("b", [None, 1, 1, 0])])
    [[[0], 1], [[0, 1], 1]]
    """
    places = [place for place, column in enumerate(columns) if column.has_missing and not column.holds]
    if len(places) * len(columns[0].codes) > _MOST_CELLS:
        return None
    if not places:
        return []
    packed = np.packbits(np.stack([columns[place].is_missing for place in places], axis=1), axis=1)
    patterns, counts = np.unique(packed, axis=0, return_counts=True)
    if len(patterns) > _MOST_PATTERNS:
        return None
    missing = np.unpackbits(patterns, axis=1, count=len(places)).astype(np.bool_)
    found = [
        [np.array(places)[row].tolist(), int(n)] for row, n in zip(missing, counts, strict=True) if row.any()
    ]
    return sorted(found)


def _blanks(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return the words that may stand for a missing value, with the cells and columns that have them.

    A number such as 99 is one where it lies far off the others in each column that has it.
    """
    found: dict[str, list[int]] = {}
    far: dict[str, list[bool]] = {}
    for column in columns:
        for level, count in zip(column.levels, column.counts().tolist(), strict=True):
            word = _word(level)
            is_code = word in _CODES
            if count and (is_code or _is_no_number(level)):
                found.setdefault(word, []).append(int(count))
                far.setdefault(word, []).append(not is_code or _is_far(column, float(word)))
    return [
        {"word": word, "n_cells": sum(cells), "n_columns": len(cells), "is_far": word in _CODES}
        for word, cells in sorted(found.items())
        if all(far[word])
    ]


def _word(level: object) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level).strip()


def _is_no_number(level: object) -> bool:
    return isinstance(level, str) and level.strip().lower() in NO_NUMBER


def _is_far(column: Column, code: float) -> bool:
    """Whether a number lies further off a column's others than these from each other, and stands there often.

    Others are all but those that people write for a missing one: 7, 8 and 9 beside answers of 1 and 2.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> _is_far(from_values("grade", [1, 5, 2, 99, 99]), 99.0)
    True
    >>> _is_far(from_values("age", [71, 20, 99, 99]), 99.0)
    False
    """
    counts = column.counts()
    occurring = {
        level: count
        for level, count in zip(column.levels, counts.tolist(), strict=True)
        if count and not _is_no_number(level)
    }
    numbers = as_numbers(list(occurring))
    if numbers is None or code not in numbers:
        return False
    often = list(occurring.values())[numbers.index(code)] >= _FEW_CELLS
    others = np.array([n for n, level in zip(numbers, occurring, strict=True) if _word(level) not in _CODES])
    return len(others) > 1 and often and float(np.abs(others - code).min()) > float(np.ptp(others))


def _defaults(columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the settings that suit the table; the page shows them and lets people change them."""
    kinds = {column["odd"] for column in columns}
    weights = [column["name"] for column in columns if column["odd"] == "counts"]
    return {
        "weights": weights[0] if len(weights) == 1 else None,
        "bins": 4 if "continuous" in kinds else None,
        "merge_rare": 20 if "many levels" in kinds else 0,
    }
