"""One column on its way into a table: levels and codes, with missing values still marked.

All that happens to a column while it is read (missing tokens, bins, rare levels, rows left out) happens to its
few levels and is carried over to its many rows by one lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from xordal.data.levels import ordered_levels
from xordal.errors import DataError

MISSING = -1
"""The code of a missing value."""

Where = Callable[[int, str], str]
"""Tells a person where a value is, from its row (0, 1, ...) and the name of its column."""


def in_memory(row: int, name: str) -> str:
    """Return where a value is in a table that came from no file."""
    return f"Column {name!r}, row {row + 1}"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A named column: ``levels[codes[row]]`` is the value of a row, a negative code a missing one.

    Levels are distinct and in their order; some may not occur until :meth:`only` leaves them out. A column of
    lists or objects has none, and ``holds`` says what it holds: it can be left out, and not be taken.
    """

    name: str
    levels: tuple[Hashable, ...]
    codes: NDArray[np.int32]
    holds: str = ""

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return self.codes < 0

    @property
    def has_missing(self) -> bool:
        """Whether a row has no value."""
        return len(self.codes) > 0 and bool(self.codes.min() < 0)

    def counts(self, weights: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return how many rows each level has; weighted rows count as often as their weight says."""
        codes = self.codes
        if self.has_missing:
            present = ~self.is_missing
            codes, weights = codes[present], None if weights is None else weights[present]
        return np.bincount(codes, weights=weights, minlength=len(self.levels)).astype(np.int64)

    def only(self, rows: NDArray[np.bool_]) -> Column:
        """Return the column with some of its rows, and the levels that occur in them."""
        return Column(self.name, self.levels, self.codes[rows]).compact()

    def compact(self) -> Column:
        """Return the column without levels that do not occur."""
        used = self.counts() > 0
        if used.all():
            return self
        levels = tuple(level for level, is_used in zip(self.levels, used, strict=True) if is_used)
        return self.regrouped(np.where(used, np.cumsum(used) - 1, MISSING), levels)

    def regrouped(self, group_of: Sequence[int] | NDArray[np.int64], levels: Sequence[Hashable]) -> Column:
        """Return the column with each level replaced by the new level it belongs to, or by none."""
        lookup = np.append(np.asarray(group_of, dtype=np.int32), np.int32(MISSING))  # -1 finds the last entry
        return Column(self.name, tuple(levels), lookup[np.maximum(self.codes, MISSING)])


def from_distinct(name: str, values: Sequence[Hashable], codes: NDArray[np.int32], is_declared: bool) -> Column:
    """Return a column from values that may repeat or be missing, and codes into them.

    The order of the values is kept where it was declared; elsewhere levels are put in their order. Text and
    numbers in one column are refused.
    """
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    _refuse_mixed_types(name, values, codes)
    present = [value for value in values if not is_missing_value(value)]
    levels = tuple(dict.fromkeys(present)) if is_declared else ordered_levels(present)
    code_of = {level: code for code, level in enumerate(levels)}
    groups = [MISSING if is_missing_value(value) else code_of[value] for value in values]
    column = Column(name, levels, codes)
    return column if groups == list(range(len(groups))) else column.regrouped(groups, levels)


def from_values(name: str, values: Sequence[Hashable]) -> Column:
    """Return a column from one Python value per row."""
    try:
        seen: dict[Hashable, int] = {}
        codes = np.fromiter((seen.setdefault(value, len(seen)) for value in values), np.int32, len(values))
    except TypeError:
        wrong = next(value for value in values if not _is_hashable(value))
        raise DataError(
            f"Column {name!r} holds {type(wrong).__name__} values such as {str(wrong)[:40]}. "
            "Each cell must hold one category: text, a number or a truth value."
        ) from None
    return from_distinct(name, list(seen), codes, is_declared=False)


def nested(name: str, n_rows: int, holds: str) -> Column:
    """Return a column whose cells are no single values; see :func:`refuse_nested`."""
    return Column(name, (), np.full(n_rows, MISSING, dtype=np.int32), holds)


def refuse_nested(columns: Iterable[Column]) -> None:
    """Refuse columns of lists or objects, where they are to be taken."""
    for column in columns:
        if column.holds:
            raise DataError(
                f"Column {column.name!r} holds {column.holds}. Each cell must hold one category: leave the "
                "column out, or split it into columns of its own."
            )


def is_missing_value(value: Hashable) -> bool:
    """Whether a value stands for nothing: None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN and NaT, of whatever type
    except TypeError:  # comparing pandas.NA answers with pandas.NA
        return True


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _refuse_mixed_types(name: str, values: Sequence[Hashable], codes: NDArray[np.int32]) -> None:
    first_of: dict[str, int] = {}
    for code, value in enumerate(values):
        if not is_missing_value(value):
            first_of.setdefault(_kind(value), code)
    if len(first_of) > 1:
        (one, first), (two, second) = list(first_of.items())[:2]
        rows = [int(np.argmax(codes == code)) + 1 for code in (first, second)]
        raise DataError(
            f"Column {name!r} mixes types: {one} ({values[first]!r}, row {rows[0]}) and {two} "
            f"({values[second]!r}, row {rows[1]}). Make them one type, for example all text."
        )


def _kind(value: Hashable) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth values"
    if isinstance(value, int | float | complex | Decimal | np.number):
        return "numbers"
    return "text" if isinstance(value, str) else f"{type(value).__name__} values"
