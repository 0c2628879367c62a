"""Row weights: how often each row is to be counted. Weights are counts, so they must be whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, Where
from xordal.data.levels import as_number
from xordal.errors import DataError

_LARGEST_TOTAL = 2**53  # counts up to here are exact in every number type on the way


def weights_of(column: Column, where: Where) -> NDArray[np.int64]:
    """Return a column of counts as weights; ``where`` tells the place of a row that cannot be one."""
    numbers = np.array([as_number(level) for level in column.levels] + [None], dtype=np.float64)
    _check(numbers[column.codes], lambda row: where(row, column.name), _values(column))
    exact = np.array([int(number) for number in numbers[:-1]] + [0], dtype=np.int64)
    return exact[column.codes]


def weights_array(weights: Any, n_rows: int) -> NDArray[np.int64]:
    """Return an array or series of counts, one per row, as weights."""
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("Row weights must be whole numbers, one per row.") from None
    if numbers.ndim != 1:
        raise DataError(
            f"Sample weights must be 1D array or scalar; these row weights have {numbers.ndim} dimensions."
        )
    if len(numbers) != n_rows:
        raise DataError(f"There are {len(numbers)} row weights for {n_rows} rows. Give one per row.")
    _check(numbers, lambda row: f"Row {row + 1}", lambda row: numbers[row])
    return numbers.astype(np.int64)


def _values(column: Column) -> Callable[[int], object]:
    return lambda row: column.levels[column.codes[row]] if column.codes[row] >= 0 else "missing"


def _check(numbers: NDArray[np.float64], where: Callable[[int], str], value: Callable[[int], object]) -> None:
    with np.errstate(invalid="ignore"):
        wrong = ~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{where(row)}: {value(row)} is no row weight. A weight says how often a row is counted: zero or "
            "a positive whole number."
        )
    if numbers.sum() >= _LARGEST_TOTAL:
        raise DataError("The row weights add up to more than 2^53. Divide them by a common factor.")
    if not numbers.any():
        raise DataError("All row weights are zero, so no row is left. Check which column holds the counts.")
