"""The categorical table every search starts from: integer codes, levels and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError, counted


@dataclass(frozen=True, slots=True, eq=False)
class CategoricalTable:
    """Rows of categorical variables.

    Attributes
    ----------
    names
        Column names, distinct and in order.
    levels
        The distinct values of each column, in their order; every one of them occurs.
    codes
        Shape (columns, rows): ``levels[v][codes[v, row]]`` is the value of column v.

    Examples
    --------
    >>> table = CategoricalTable.from_columns({"rain": ["yes", "no", "no"], "wet": [1, 0, 1]})
    >>> table.levels, table.n_rows
    ((('no', 'yes'), (0, 1)), 3)
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    codes: NDArray[np.int32]

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Hashable]]) -> CategoricalTable:
        """Build a table from a mapping of names to equally long columns of hashable values."""
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
            raise DataError(f"Columns must have the same number of rows, but {told}.")
        return cls._from_encoded(list(columns), [_encode(name, column) for name, column in columns.items()])

    @classmethod
    def from_rows(cls, names: Sequence[str], rows: Sequence[Sequence[Hashable]]) -> CategoricalTable:
        """Build a table from column names and rows of hashable values."""
        for number, row in enumerate(rows, start=1):
            if len(row) != len(names):
                raise DataError(
                    f"Row {number} has {counted(len(row), 'value')}; there are {counted(len(names), 'column')}."
                )
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return cls._from_encoded(
            list(names), [_encode(name, column) for name, column in zip(names, columns, strict=True)]
        )

    @classmethod
    def _from_encoded(
        cls, names: list[str], encoded: list[tuple[tuple[Hashable, ...], NDArray[np.int32]]]
    ) -> CategoricalTable:
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise DataError(
                f"Column name {repeated[0]!r} is used more than once. Give each column its own name."
            )
        if not names:
            raise DataError("The table has no columns.")
        if len(encoded[0][1]) == 0:
            raise DataError("The table has no rows.")
        codes = np.stack([codes for _, codes in encoded])
        return cls(tuple(names), tuple(levels for levels, _ in encoded), codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    @property
    def n_variables(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(len(levels) for levels in self.levels)

    def rows(self) -> list[tuple[int, ...]]:
        """Return the rows as tuples of codes, for the reference engine."""
        return [tuple(row) for row in self.codes.T.tolist()]


def ordered_levels(values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return distinct values in a defined order: numbers, and text that reads as numbers, by size.

    Everything else is ordered by type and text. Equal numbers spelled apart ("1", "1.0") stay apart.

    Examples
    --------
    >>> ordered_levels(["10", "9", "9", "1"])
    ('1', '9', '10')
    >>> ordered_levels(["b", "a", "10"])
    ('10', 'a', 'b')
    """
    distinct = set(values)
    numbers = {value: _as_number(value) for value in distinct}
    if all(number is not None for number in numbers.values()):
        return tuple(sorted(distinct, key=lambda value: (numbers[value], str(value))))
    return tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))


def _as_number(value: Hashable) -> float | None:
    """Return a number to sort by; None for what is no finite number."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def _encode(name: str, column: Sequence[Hashable]) -> tuple[tuple[Hashable, ...], NDArray[np.int32]]:
    """Return the levels of a column and each row's code; missing values are refused."""
    for number, value in enumerate(column, start=1):
        if value is None or value != value:  # noqa: PLR0124 - NaN, of whatever type
            raise DataError(
                f"Column {name!r}, row {number}: the value is missing ({value}). "
                "Fill it in, remove the row, or make it a level of its own such as 'unknown'."
            )
    levels = ordered_levels(column)
    code_of = {level: code for code, level in enumerate(levels)}
    codes = np.fromiter((code_of[value] for value in column), dtype=np.int32, count=len(column))
    return levels, codes
