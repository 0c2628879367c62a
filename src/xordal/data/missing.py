"""Missing values, by a policy: what it costs is said, and nothing is filled in or dropped in silence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import MISSING, Column, Where, refuse_nested
from xordal.data.levels import as_number, unused
from xordal.errors import DataError, SettingsError, counted, either, nearest, typed
from xordal.types.choices import Missing

MISSING_LEVEL = "(missing)"
"""The level that missing values become under the policy ``"level"``; it comes last."""

_MOST_NAMED = 3  # columns named in a message
_CHEAP = 0.05  # share of the rows that is dropped without being asked for
_DEAR = 0.2  # share of the rows from which on a drop is warned of
_A_FEW = 20  # rows that a drop may cost in any table


def check_policy(policy: str) -> None:
    """Refuse a policy that is none."""
    if policy not in get_args(Missing):
        raise SettingsError(
            f"Unknown policy for missing values {policy!r}; {nearest(policy, get_args(Missing))}"
        )


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is missing in a table: what each policy would cost is worked out before any row goes.

    Attributes
    ----------
    n_rows
        Number of rows.
    n_incomplete
        Rows with a missing value.
    n_cells
        Missing values.
    by_column
        How many each column has, the most first; columns without are left out.
    saved
        How many rows are complete without the column that has most of them.
    """

    n_rows: int
    n_incomplete: int
    n_cells: int
    by_column: tuple[tuple[str, int], ...]
    saved: int

    @classmethod
    def of(cls, columns: Sequence[Column], weights: NDArray[np.int64] | None = None) -> Gaps:
        """Return what is missing in some columns; a weighted row counts as often as its weight says."""
        often = np.ones(len(columns[0].codes), np.int64) if weights is None else weights
        n_rows = int(often.sum())
        having = [column for column in columns if column.has_missing]
        if not having:
            return cls(n_rows, 0, 0, (), n_rows)
        is_missing = np.stack([column.is_missing for column in having])
        times = is_missing @ often
        order = np.argsort(-times, kind="stable")
        others = np.delete(is_missing, order[0], axis=0)
        by_column = tuple((having[place].name, int(times[place])) for place in order)
        n_incomplete = int(is_missing.any(axis=0) @ often)
        return cls(n_rows, n_incomplete, int(times.sum()), by_column, n_rows - int(others.any(axis=0) @ often))

    def where(self) -> str:
        """Return which columns have most of the missing values."""
        told = ", ".join(f"{name!r} ({number:,})" for name, number in self.by_column[:_MOST_NAMED])
        left = len(self.by_column) - _MOST_NAMED
        return told + (f" and {counted(left, 'other column')}" if left > 0 else "")

    def alternatives(self) -> str:
        """Return what can be done instead of dropping, with what it costs."""
        name, _ = self.by_column[0]
        without = ""
        if self.saved > self.n_rows - self.n_incomplete:
            both = either(f"--exclude {typed(name)} {drop()}", f"exclude=[{name!r}] with {drop()}")
            without = f"{both} keeps {self.saved:,} rows; "
        return without + f"{_level()} keeps all rows and makes missing values a level of their own."


def settled(policy: Missing, gaps: Gaps, warn: Callable[[str], None]) -> Missing:
    """Return the policy for a table, ``"auto"`` settled by what it would cost, and say what that means.

    By itself, rows are dropped where they are at most one in twenty; elsewhere missing values become a level.
    A drop that the user asked for and that costs more than a fifth of the rows is told with alternatives.
    """
    if not gaps.n_cells:
        return policy if policy != "auto" else "error"
    left = gaps.n_rows - gaps.n_incomplete
    if policy == "drop" and gaps.n_incomplete > max(_DEAR * gaps.n_rows, _A_FEW) and left:
        warn(
            f"{drop()} costs {gaps.n_incomplete:,} of {gaps.n_rows:,} rows; {left:,} are left. Most is "
            f"missing in {gaps.where()}. Instead: {gaps.alternatives()}"
        )
    if policy != "auto":
        return policy
    if gaps.n_incomplete <= _CHEAP * gaps.n_rows:
        return "drop"
    warn(
        f"{counted(gaps.n_cells, 'value')} missing in {gaps.where()}: a level of their own, "
        f"{MISSING_LEVEL!r}. {drop()} would leave {left:,} of {gaps.n_rows:,} rows."
    )
    return "level"


def rows_kept(columns: Sequence[Column], policy: Missing, where: Where) -> NDArray[np.bool_]:
    """Return which rows stay: all of them, or under ``"drop"`` the complete ones.

    Raises
    ------
    DataError
        Under ``"error"`` if a value is missing, with its place; under ``"drop"`` if no row is complete.
    """
    if not any(column.has_missing for column in columns):
        return np.ones(len(columns[0].codes), dtype=np.bool_)
    is_missing = np.stack([column.is_missing for column in columns])
    incomplete: NDArray[np.bool_] = np.logical_or.reduce(is_missing, axis=0)
    if policy == "error" and incomplete.any():
        row = int(np.argmax(incomplete))
        name = columns[int(np.argmax(is_missing[:, row]))].name
        raise DataError(f"{where(row, name)}: {refusal(Gaps.of(columns))}")
    if policy != "drop":
        return np.ones(len(incomplete), dtype=np.bool_)
    if incomplete.all():
        raise DataError(
            f"Every row has a missing value, so no row is left; most in {Gaps.of(columns).where()}. Leave out "
            f"the columns that are mostly missing ({either('--exclude', 'exclude=[...]')}), or use {_level()}."
        )
    return ~incomplete


def refusal(gaps: Gaps) -> str:
    """Say of the first missing value that it is one, how many there are, and what can be done."""
    first = "the value is missing (NaN, empty or a missing-value token)"
    if gaps.n_cells > 1:
        first += f", the first of {gaps.n_cells:,}, most in {gaps.where()}"
    left = gaps.n_rows - gaps.n_incomplete
    return (
        f"{first}. Fill it in, or choose what to do: {drop()} leaves such rows out and keeps {left:,} "
        f"of {gaps.n_rows:,}, {_level()} makes missing values a level of their own"
        + either(".", ", missing='auto' chooses between the two, as the command line does.")
    )


def drop() -> str:
    """Return how to ask that rows with missing values are dropped."""
    return either("--missing drop", "missing='drop'")


def _level() -> str:
    return either("--missing level", "missing='level'")


def without_words(column: Column, words: Collection[str]) -> Column:
    """Return the column with the levels that are one of some words, or a number written so, taken as missing.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> without_words(from_values("age", [31, 99, 44]), {"99", "-"}).levels
    (31, 44)
    """
    numbers = {number for word in words if (number := as_number(word)) is not None}
    is_missing = np.array([_is_one_of(level, words, numbers) for level in column.levels], dtype=np.bool_)
    if not is_missing.any():
        return column
    kept = [level for level, gone in zip(column.levels, is_missing.tolist(), strict=True) if not gone]
    return column.regrouped(np.where(is_missing, MISSING, np.cumsum(~is_missing) - 1), kept)


def _is_one_of(level: Hashable, words: Collection[str], numbers: Collection[float]) -> bool:
    if isinstance(level, int | float) and not isinstance(level, bool):
        return level in numbers
    return isinstance(level, str) and level.strip() in words


def without_empty(columns: Sequence[Column], tell: Callable[[str], None]) -> list[Column]:
    """Leave out columns that hold no value at all, and say so; a table of nothing else stays as it is."""
    kept = [column for column in columns if column.levels]
    empty = [column.name for column in columns if not column.levels]
    if not empty or not kept:
        return list(columns)
    told = ", ".join(repr(name) for name in empty[:_MOST_NAMED])
    left = len(empty) - _MOST_NAMED
    told += f" and {counted(left, 'other')}" if left > 0 else ""
    tell(f"Without a single value, so left out: {told}.")
    return kept


def without_nested(
    columns: Sequence[Column], asked_for: Collection[str], tell: Callable[[str], None]
) -> list[Column]:
    """Leave out columns of lists or objects, and say so; one that was asked for by name is refused.

    Raises
    ------
    DataError
        If a column was asked for, or no other is left.
    """
    odd = [column for column in columns if column.holds]
    refuse_nested(odd if len(odd) == len(columns) else [one for one in odd if one.name in asked_for])
    for column in odd:
        tell(
            f"Column {column.name!r} holds {column.holds}, which are no category, so it is left out. Split it "
            "into columns of its own to take it in."
        )
    return [column for column in columns if not column.holds]


def as_level(column: Column) -> Column:
    """Return a column in which missing values are a level of their own, the last."""
    if not column.has_missing:
        return column
    levels: tuple[Hashable, ...] = (*column.levels, unused(MISSING_LEVEL, column.levels))
    codes = np.where(column.is_missing, np.int32(len(column.levels)), column.codes)
    return Column(column.name, levels, codes)
