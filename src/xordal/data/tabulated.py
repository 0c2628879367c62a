"""Tables of counts: every combination of some columns in a row of its own, and one column that says how many.

A survey is often published like this. Read as rows such a table shows nothing, as each combination occurs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from xordal.data.column import Column
from xordal.data.levels import as_numbers

_FEWEST_ROWS = 4


def count_column(columns: Sequence[Column]) -> str | None:
    """Return the column that may say how often each row occurs in what looks like a table of counts, or None.

    It is the only one of whole numbers that has more levels than any other column, and of all combinations of
    the others at least half stand there, each once.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> table = {"smokes": "yynn", "coughs": "ynyn", "people": [40, 60, 10, 90]}
    >>> columns = [from_values(name, values) for name, values in table.items()]
    >>> count_column(columns), count_column(columns[:2])
    ('people', None)
    """
    most = max((len(column.levels) for column in columns), default=0)
    found = [column for column in columns if len(column.levels) == most and _is_count(column)]
    if len(found) != 1 or len(columns) < 3:
        return None
    others = [column for column in columns if column is not found[0]]
    n_rows = len(found[0].codes)
    if n_rows < _FEWEST_ROWS or any(column.has_missing for column in others):
        return None
    if prod(len(column.levels) for column in others) > 2 * n_rows or any(len(c.levels) == most for c in others):
        return None
    rows = np.unique(np.stack([column.codes for column in others]), axis=1)
    return found[0].name if rows.shape[1] == n_rows else None


def _is_count(column: Column) -> bool:
    numbers = as_numbers(column.levels)
    return numbers is not None and all(number.is_integer() and number >= 0 for number in numbers)
