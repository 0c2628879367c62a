"""Data where they enter: whatever takes a table takes any source, and says how to read it with the same words.

``learn(frame, missing="drop", bins=4)`` is ``learn`` of the table that these words make. Tables that are a
:class:`CategoricalTable` already are taken as they are. What looks like an identifier is left out, as on the
command line, and so are dates and survey weights, unless ``columns`` or ``categorical`` names them; numbers are
cut into bins, unless ``bins=None``. :func:`xordal.read_table` keeps every column as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

from xordal.data.discretise import Binning, Bins
from xordal.data.read import read
from xordal.data.reading import AnyBins, ReadingOptions, reading_of
from xordal.data.suspects import LEFT_OUT, Suspect
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
        If a column is left out because it looks like an identifier, is cut into bins, or has very many levels.

    Examples
    --------
    >>> table_from({"rain": ["yes", "no", None], "wet": [1, 0, 1]}, missing="drop").n_rows
    2
    """
    if isinstance(source, CategoricalTable) and not how:
        return source
    reading = reading_of(**how)
    if not isinstance(source, CategoricalTable):
        reading = replace(reading, bins=_as_on_the_command_line(how.get("bins", "auto")))

    def judge(found: Sequence[Suspect]) -> list[str]:
        out = identifiers(found, reading.columns or ())
        for column in found:
            if column.kind != "constant":
                told = f"{column.message} {left_out()}" if column.name in out else column.message
                warn(told)
        return out

    return read(source, reading, judge, warn=warn)


def _as_on_the_command_line(bins: AnyBins) -> Binning:
    """Return how numbers are cut: those that nobody spoke of into four bins, and the reader is told."""
    asked = Binning.of(bins)
    return replace(asked, others=Bins(), was_asked=False) if isinstance(bins, Mapping) else asked


def left_out() -> str:
    """Return what is said of a column that looks like an identifier."""
    return f"It is left out; {either('--columns', 'columns=[...] or categorical=[...]')} takes it in by name."


def identifiers(found: Iterable[Suspect], asked_for: Sequence[str]) -> list[str]:
    """Return the columns to leave out: identifiers, dates and weights that were not asked for by name."""
    return [column.name for column in found if column.kind in LEFT_OUT and column.name not in asked_for]


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
