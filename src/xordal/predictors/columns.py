"""Columns of numbers and words as codes, the same for rows to learn from and for rows to come.

A column of numbers with many values is cut at quantiles of the rows learned from: floats with more than ten
values; whole numbers with more than sixty (minutes and weeks are categories), or with more than ten of which
there are fewer than ten rows each, too few to learn anything of one. Every other column keeps its values as
levels. A value that was not there then has the code -1: not observed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from xordal.data.discretise import bin_labels
from xordal.data.frames import as_frame
from xordal.data.levels import ordered_levels
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError, counted, warn

MOST_FLOATS = 10
"""Different values of a column of floats up to which each is a level of its own."""

MOST_WHOLE = 60
"""The same of whole numbers, where there are rows enough of each."""

ROWS_EACH = 10
"""Rows for each value, on average, up to which more than ten whole numbers are cut."""

_DATES = "holds dates or times. Make numbers or text of them, such as the month."


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """How the values of one column become codes.

    Attributes
    ----------
    name
        What the column is called.
    levels
        The level of each code: a value, or the bounds of a bin as text.
    edges
        Upper bounds of all bins but the last, which belong to the bin below; None for a column that keeps its
        values.
    """

    name: str
    levels: tuple[Hashable, ...]
    edges: NDArray[np.float64] | None

    @classmethod
    def of(cls, name: str, values: NDArray[Any], n_bins: int) -> CodedColumn:
        """Return the codes of a column's values."""
        distinct = set(values.tolist())
        is_whole = np.issubdtype(values.dtype, np.integer)
        is_number = is_whole or np.issubdtype(values.dtype, np.floating)
        most = MOST_WHOLE if is_whole and len(values) >= ROWS_EACH * len(distinct) else MOST_FLOATS
        if not is_number or len(distinct) <= most:
            return cls(name, ordered_levels(distinct), None)
        # Bounds are values that occur, so that there is a value in each bin.
        bounds = np.quantile(values, np.arange(1, n_bins) / n_bins, method="inverted_cdf").astype(np.float64)
        edges = np.unique(bounds[bounds < values.max()])
        return cls(name, tuple(bin_labels(edges, values.astype(np.float64))), edges)

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.levels)

    def codes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the code of each value; -1 for one that is not known.

        Raises
        ------
        DataError
            If a column that was cut into bins holds what is no number.
        """
        if self.edges is not None:
            return np.searchsorted(self.edges, self._numbers(values), side="left").astype(np.int64)
        code_of = {value: code for code, value in enumerate(self.levels)}
        codes = np.array([code_of.get(value, -1) for value in values.tolist()], dtype=np.int64)
        if (codes == -1).all() and _are_text(self.levels) != _are_text(values.tolist()):
            warn(
                f"Column {self.name!r} holds {values.tolist()[0]!r} and nothing that was there in fit, where "
                f"it held {self.levels[0]!r}: one is text and the other is not. All its values are taken as "
                "not observed. Give it the type it had in fit."
            )
        return codes

    def _numbers(self, values: NDArray[Any]) -> NDArray[np.float64]:
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            row = next(row for row, value in enumerate(values.tolist()) if not _is_number(value))
            raise DataError(
                f"Column {self.name!r} held numbers in fit; {values.tolist()[row]!r} in row {row}, counted "
                "from 0, is none. Mend the value, or leave the row out."
            ) from None


def validated(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Any:
    """Return rows (and the target) as scikit-learn validates them; dates and missing values are told by column.

    Raises
    ------
    DataError
        If a column holds dates or lists, or has missing values, or the target has; or if two have one name.
    """
    _check_columns(X)
    X = _of_several_types(_without_categories(X))
    if isinstance(y, str) and y == "no_validation":
        return validate_data(estimator, X, dtype=None, reset=reset)
    if y is not None:
        _check_present(np.asarray(y, dtype=object).reshape(-1), "The target")
    return validate_data(estimator, X, y, dtype=None, reset=reset)


def _without_categories(X: Any) -> Any:
    """Return a pandas frame with its categories as plain values.

    Beside a column of truth values scikit-learn takes categories for numbers, and fails on words.
    """
    if not hasattr(X, "select_dtypes"):
        return X
    names = X.select_dtypes("category").columns
    return X.astype(dict.fromkeys(names, object)) if len(names) else X


def _of_several_types(X: Any) -> Any:
    """Return lists of rows with text and numbers as an array of both: NumPy would make text of all."""
    is_mixed = isinstance(X, list | tuple) and np.asarray(X).dtype.kind == "U"
    return np.asarray(X, dtype=object) if is_mixed else X


def _check_columns(X: Any) -> None:
    frame = as_frame(X)
    if frame is not None:
        for column in frame.iter_columns():
            told = f"Column {column.name!r}"
            if column.dtype.is_temporal():
                raise DataError(f"{told} {_DATES}")
            if column.null_count() or column.dtype in (nw.Object, nw.String):
                _check_present(column.to_numpy().astype(object), told)
    elif (
        isinstance(X, np.ndarray | list)
        and np.asarray(X, dtype=object).ndim == 2
        and np.asarray(X).dtype == object
    ):
        for number, values in enumerate(np.asarray(X, dtype=object).T):
            _check_present(values, f"Column {number}")


def _check_present(values: NDArray[Any], told: str) -> None:
    """Refuse missing values and those that cannot be levels."""
    missing = [row for row, value in enumerate(values) if _is_missing(value)]
    if missing:
        number = counted(len(missing), "missing value")
        raise DataError(
            f"{told} has {number} (None or NaN), the first in row {missing[0]}, counted from 0. Fill in what "
            "is missing, or leave such rows out."
        )
    for row, value in enumerate(values):
        if isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64):
            raise DataError(f"{told} {_DATES}")
        if not isinstance(value, Hashable):
            raise DataError(
                f"{told} holds a {type(value).__name__} in row {row}; a value must be a number or a text."
            )


def _are_text(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and value != value  # noqa: PLR0124 - NaN


def coded_columns(names: list[str], X: NDArray[Any], n_bins: int) -> tuple[CodedColumn, ...]:
    """Return how each column of an array becomes codes."""
    if not isinstance(n_bins, int | np.integer) or isinstance(n_bins, bool) or n_bins < 2:
        raise SettingsError(f"n_bins must be a whole number of at least 2, not {n_bins!r}.")
    return tuple(
        CodedColumn.of(name, _typed(column), int(n_bins)) for name, column in zip(names, X.T, strict=True)
    )


def codes_of(columns: tuple[CodedColumn, ...], X: NDArray[Any]) -> NDArray[np.int64]:
    """Return rows as codes, shape (columns, rows)."""
    return np.stack([known.codes(_typed(column)) for known, column in zip(columns, X.T, strict=True)])


def table_with_target(
    names: list[str], columns: tuple[CodedColumn, ...], codes: NDArray[np.int64], target: Target
) -> CategoricalTable:
    """Return a table of coded columns with a coded target as the last one; all levels occur."""
    every = np.vstack([codes, target.codes[None]]).astype(np.int32)
    levels = (*(column.levels for column in columns), tuple(target.classes.tolist()))
    return CategoricalTable((*names, _free_name(target.name, names)), levels, every)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The column that is predicted: its name, its classes, and the class of each row as a code."""

    name: str
    classes: NDArray[Any]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, y: Any, checked: NDArray[Any]) -> Target:
        """Return the target as it was given, with its name if it has one, from its checked values."""
        name = getattr(y, "name", None)
        classes, codes = np.unique(checked, return_inverse=True)
        return cls(name if isinstance(name, str) and name.strip() else "target", classes, codes)


def column_names(estimator: Any) -> list[str]:
    """Return the names of the columns that an estimator was fitted to; x0, x1, ... where there are none."""
    known = getattr(estimator, "feature_names_in_", None)
    return [f"x{v}" for v in range(estimator.n_features_in_)] if known is None else list(known)


def _free_name(name: str, names: list[str]) -> str:
    """Return a name for the target that no column has."""
    while name in names:
        name += "_"
    return name


def _typed(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as numbers if that is what it holds, whole ones as integers.

    A frame of several types gives objects, and one with a column of floats gives floats.
    """
    if column.dtype == object and len(column):
        kinds = set(map(type, column))
        if all(issubclass(kind, float | np.floating | int | np.integer) and kind is not bool for kind in kinds):
            column = column.astype(np.float64)
    if np.issubdtype(column.dtype, np.floating):
        is_whole = bool((np.abs(column) < 2**53).all() and (column == np.floor(column)).all())
        return column.astype(np.int64) if is_whole else column
    return column
