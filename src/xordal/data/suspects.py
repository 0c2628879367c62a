"""Columns that are probably no categories: continuous numbers, identifiers, counts, too many levels, one level.

The rules look at levels and rows only:

* continuous: numbers with more than 20 levels some of which have decimals (10, where most rows have one of
  their own), or whole numbers with more than 60 (days, weeks and minutes are categories);
* identifier: more than 20 levels, and most rows (of whole numbers: all rows) have one of their own;
* many levels: more than 100;
* counts: whole numbers in a column called Freq, Frequency, Count or Counts;
* constant: one level. It can have no links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.levels import as_numbers

Kind = Literal["continuous", "identifier", "many levels", "counts", "constant"]

_FEW = 10
_MANY_FRACTIONS = 20
_MANY_WHOLE = 60
_MANY_NAMES = 20
_MANY = 100
_COUNT_NAMES = {"freq", "frequency", "count", "counts"}


@dataclass(frozen=True, slots=True)
class Suspect:
    """A column that is probably no category, what it looks like, and a sentence on it."""

    name: str
    kind: Kind
    message: str


def suspect(column: Column, weights: NDArray[np.int64] | None = None) -> Suspect | None:
    """Return what is odd about a column, or None; a weighted row counts as often as its weight says.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> suspect(from_values("t", [n / 4 for n in range(40)])).kind
    'continuous'
    >>> suspect(from_values("id", [f"person {n}" for n in range(40)])).kind
    'identifier'
    >>> suspect(from_values("day", [n % 31 for n in range(400)])) is None
    True
    """
    n_levels, n_rows = len(column.levels), _n_present(column, weights)
    numbers = as_numbers(column.levels)
    if numbers is not None and _is_counts(column.name, numbers):
        told = f"Column {column.name!r} looks like counts of rows. "
        return Suspect(column.name, "counts", told + _weigh(column.name))
    if n_levels <= 1:
        return Suspect(column.name, "constant", f"Column {column.name!r} is constant: it can have no links.")
    if numbers is not None and _is_continuous(numbers, n_rows):
        told = f"Column {column.name!r} looks continuous: {n_levels} different numbers in {n_rows} rows. "
        return Suspect(column.name, "continuous", told + _BIN)
    if n_levels > _MANY_NAMES and _is_identifier(numbers, n_levels, n_rows):
        told = f"Column {column.name!r} looks like an identifier: {n_levels} levels in {n_rows} rows."
        return Suspect(column.name, "identifier", told)
    if n_levels > _MANY:
        told = f"Column {column.name!r} has {n_levels} levels, about {n_rows / n_levels:.1f} rows each. "
        return Suspect(column.name, "many levels", told + _MERGE)
    return None


def _n_present(column: Column, weights: NDArray[np.int64] | None) -> int:
    """Return how many rows have a value."""
    if not column.has_missing:
        return len(column.codes) if weights is None else int(weights.sum())
    present = ~column.is_missing
    return int(present.sum() if weights is None else weights[present].sum())


def suspects(columns: Sequence[Column], weights: NDArray[np.int64] | None = None) -> list[Suspect]:
    """Return the suspect columns, in the order of the table."""
    return [found for column in columns if (found := suspect(column, weights)) is not None]


_BIN = (
    "Cut it into bins with --bins 4 --bin-by quantile (or width) (in Python: bins=Bins(4, by='quantile')), "
    "or take it as it is with --categorical."
)
_MERGE = (
    "Chance alone links such columns: merge rare levels (--merge-rare 20; in Python merge_rare=20), or leave "
    "it out (--exclude; exclude=[...])."
)


def _weigh(name: str) -> str:
    return f"To count each row that often: --weights {name} (in Python: weights={name!r})."


def _is_counts(name: str, numbers: list[float]) -> bool:
    return name.lower() in _COUNT_NAMES and all(number.is_integer() and number >= 0 for number in numbers)


def _is_continuous(numbers: list[float], n_rows: int) -> bool:
    n_levels = len(numbers)
    if all(number.is_integer() for number in numbers):
        return _MANY_WHOLE < n_levels < n_rows
    return n_levels > _MANY_FRACTIONS or (n_levels > _FEW and 2 * n_levels > n_rows)


def _is_identifier(numbers: list[float] | None, n_levels: int, n_rows: int) -> bool:
    return n_levels == n_rows if numbers is not None else 2 * n_levels > n_rows
