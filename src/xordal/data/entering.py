"""Data where they enter: whatever takes a table takes any source, and says how to read it with the same words.

``learn(frame, missing="drop", bins=4)`` is ``learn`` of the table that these words make. Tables that are a
:class:`CategoricalTable` already are taken as they are. What looks like an identifier is left out, as on the
command line, and so are dates and survey weights, unless ``columns`` or ``categorical`` names them;
:func:`xordal.read_table` keeps every column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack, cast

from xordal.data.read import read
from xordal.data.reading import ReadingOptions, reading_of
from xordal.data.suspects import Suspect
from xordal.data.table import CategoricalTable
from xordal.errors import either, warn


def table_from(source: Any, **how: Unpack[ReadingOptions]) -> CategoricalTable:
    """Return the table of any source, read for learning.

    Raises
    ------
    DataError
        If the table cannot be used: with the file, the column, the row and what to do.

    Warns
    -----
    DataWarning
        If a column is left out because it looks like an identifier, or looks continuous, or has very many
        levels.

    Examples
    --------
    >>> table_from({"rain": ["yes", "no", None], "wet": [1, 0, 1]}, missing="drop").n_rows
    2
    """
    if isinstance(source, CategoricalTable) and not how:
        return source
    reading = reading_of(**how)

    def judge(found: Sequence[Suspect]) -> list[str]:
        out = identifiers(found, reading.columns or ())
        for column in found:
            if column.kind != "constant":
                told = f"{column.message} {left_out()}" if column.name in out else column.message
                warn(told)
        return out

    return read(source, reading, judge, warn=warn)


def left_out() -> str:
    """Return what is said of a column that looks like an identifier."""
    return f"It is left out; {either('--columns', 'columns=[...] or categorical=[...]')} takes it in by name."


_NO_CATEGORIES = {"identifier", "repeated", "dates", "weights"}


def identifiers(found: Iterable[Suspect], asked_for: Sequence[str]) -> list[str]:
    """Return the columns to leave out: identifiers, dates and weights that were not asked for by name."""
    return [column.name for column in found if column.kind in _NO_CATEGORIES and column.name not in asked_for]


def separated(settings: dict[str, Any]) -> tuple[ReadingOptions, dict[str, Any]]:
    """Return which of some settings say how data are read, and the others.

    Examples
    --------
    >>> separated({"bins": 4, "max_links": 2})
    ({'bins': 4}, {'max_links': 2})
    """
    how = {name: value for name, value in settings.items() if name in ReadingOptions.__annotations__}
    others = {name: value for name, value in settings.items() if name not in how}
    return cast("ReadingOptions", how), others
