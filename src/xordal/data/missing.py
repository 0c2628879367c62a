"""Missing values, by a policy that is always the user's own: nothing is filled in or dropped in silence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, Where
from xordal.data.levels import unused
from xordal.errors import DataError, SettingsError, nearest
from xordal.types.choices import Missing

MISSING_LEVEL = "(missing)"
"""The level that missing values become under the policy ``"level"``; it comes last."""


def check_policy(policy: str) -> None:
    """Refuse a policy that is none."""
    if policy not in get_args(Missing):
        raise SettingsError(
            f"Unknown policy for missing values {policy!r}; {nearest(policy, get_args(Missing))}"
        )


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
        raise DataError(
            f"{where(row, name)}: the value is missing (NaN, empty or a missing-value token). Fill it in, or "
            "choose what to do: --missing drop leaves such rows out, --missing level makes missing values a "
            "level of their own (in Python: missing='drop' or 'level')."
        )
    if policy != "drop":
        return np.ones(len(incomplete), dtype=np.bool_)
    if incomplete.all():
        raise DataError(
            "Every row has a missing value, so no row is left. Leave out the columns that are mostly missing "
            "(--exclude), or use --missing level."
        )
    return ~incomplete


def as_level(column: Column) -> Column:
    """Return a column in which missing values are a level of their own, the last."""
    if not column.has_missing:
        return column
    levels: tuple[Hashable, ...] = (*column.levels, unused(MISSING_LEVEL, column.levels))
    codes = np.where(column.is_missing, np.int32(len(column.levels)), column.codes)
    return Column(column.name, levels, codes)
