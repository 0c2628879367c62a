"""The table as it came, at a glance: its first rows, and what is missing in each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xordal.data.column import Column
from xordal.data.missing import MISSING_LEVEL
from xordal.formats.shown import shown

_ROWS = 5  # that are shown
_MOST_COLUMNS = 40  # of them


@dataclass(frozen=True, slots=True)
class TableOverview:
    """The first rows of a table, and how many values each column misses; names and values as printable text."""

    n_rows: int
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    missing: dict[str, int]

    @property
    def n_more(self) -> int:
        """How many columns the rows are not shown of."""
        return len(self.missing) - len(self.names)


def overview_of(columns: Sequence[Column]) -> TableOverview:
    """Return a table at a glance.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> overview = overview_of([from_values("age", [31, None, 45]), from_values("sex", ["f", "m", "f"])])
    >>> overview.rows[1], overview.missing
    (('', 'm'), {'age': 1, 'sex': 0})
    """
    seen = columns[:_MOST_COLUMNS]
    n_rows = len(columns[0].codes)
    rows = tuple(tuple(_cell(column, row) for column in seen) for row in range(min(_ROWS, n_rows)))
    missing = {shown(column.name): _n_missing(column) for column in columns}
    return TableOverview(n_rows, tuple(shown(column.name) for column in seen), rows, missing)


def _cell(column: Column, row: int) -> str:
    if column.holds:
        return f"({column.holds})"
    return "" if column.codes[row] < 0 else shown(column.levels[column.codes[row]])


def _n_missing(column: Column) -> int:
    """Return how many values are missing, those that became a level included."""
    n_missing = int(column.is_missing.sum()) if column.has_missing and not column.holds else 0
    if MISSING_LEVEL in column.levels:
        n_missing += int((column.codes == column.levels.index(MISSING_LEVEL)).sum())
    return n_missing
