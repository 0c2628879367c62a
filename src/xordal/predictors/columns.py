"""Columns of numbers and words as codes, the same for rows to learn from and for rows to come.

A column of floats with many values is cut at quantiles of the rows learned from; every other column keeps its
values as levels. A value that was not there then has the code -1: not observed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError

MOST_VALUES = 10
"""Different values of a column of floats up to which each is a level of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """How the values of one column become codes.

    Attributes
    ----------
    edges
        Where a column of floats is cut; None for one that keeps its values.
    code_of
        The code of each value, of a column that keeps them.
    """

    edges: NDArray[np.float64] | None
    code_of: dict[Any, int]

    @classmethod
    def of(cls, values: NDArray[Any], n_bins: int) -> CodedColumn:
        """Return the codes of a column's values."""
        distinct = list(dict.fromkeys(values.tolist()))
        if np.issubdtype(values.dtype, np.floating) and len(distinct) > MOST_VALUES:
            inner = np.quantile(values, np.arange(1, n_bins) / n_bins)
            return cls(np.unique(inner), {})
        with suppress(TypeError):  # values of several types keep the order they come in
            distinct = sorted(distinct)
        return cls(None, {value: code for code, value in enumerate(distinct)})

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.code_of) if self.edges is None else len(self.edges) + 1

    def codes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the code of each value; -1 for one that is not known."""
        if self.edges is not None:
            return np.searchsorted(self.edges, values.astype(np.float64), side="right").astype(np.int64)
        return np.array([self.code_of.get(value, -1) for value in values.tolist()], dtype=np.int64)


def coded_columns(X: NDArray[Any], n_bins: int) -> tuple[CodedColumn, ...]:
    """Return how each column of an array becomes codes."""
    if not isinstance(n_bins, int | np.integer) or isinstance(n_bins, bool) or n_bins < 2:
        raise SettingsError(f"n_bins must be a whole number of at least 2, not {n_bins!r}.")
    return tuple(CodedColumn.of(_typed(column), int(n_bins)) for column in X.T)


def codes_of(columns: tuple[CodedColumn, ...], X: NDArray[Any]) -> NDArray[np.int64]:
    """Return rows as codes, shape (columns, rows)."""
    return np.stack([known.codes(_typed(column)) for known, column in zip(columns, X.T, strict=True)])


def table_with_target(
    names: list[str], columns: tuple[CodedColumn, ...], codes: NDArray[np.int64], target: NDArray[np.int64]
) -> CategoricalTable:
    """Return a table of coded columns with a coded target as the last one; all levels occur."""
    levels = tuple(tuple(range(column.n_levels)) for column in columns)
    every = np.vstack([codes, target[None]]).astype(np.int32)
    return CategoricalTable((*names, free_name(names)), (*levels, tuple(range(int(target.max()) + 1))), every)


def column_names(estimator: Any) -> list[str]:
    """Return the names of the columns that an estimator was fitted to; x0, x1, ... where there are none."""
    known = getattr(estimator, "feature_names_in_", None)
    return [f"x{v}" for v in range(estimator.n_features_in_)] if known is None else list(known)


def free_name(names: list[str]) -> str:
    """Return a name for the target that no column has."""
    name = "target"
    while name in names:
        name += "_"
    return name


def _typed(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as floats if that is what it holds: a frame of several types gives objects."""
    if (
        column.dtype == object
        and len(column)
        and all(isinstance(value, float | np.floating) for value in column)
    ):
        return column.astype(np.float64)
    return column
