"""Row weights: whole numbers say how often each row is counted, fractions how much it stands for.

A survey may give its weights as whole numbers too: a row of a census sample stands for 212 people and is one
row all the same. Nothing in the numbers tells that from counts, so ``survey_weights`` says it, and a note asks
where rows that are alike have several weights.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, Where
from xordal.data.levels import as_numbers
from xordal.data.missing import drop
from xordal.errors import DataError, either, typed

_LARGEST_TOTAL = 2**53  # counts up to here are exact in every number type on the way


_FEWEST_ASKED = 50  # rows that a survey has at least
_MANY_TIMES = 10  # rows that count less often than that on average are hardly those of a survey


RowWeights = NDArray[np.int64] | NDArray[np.float64]
"""Counts, or survey weights that are fractions."""


def weights_of(
    column: Column, where: Where, *, drops_missing: bool = False, is_survey: bool = False
) -> RowWeights:
    """Return a column of weights; ``where`` tells the place of a row that cannot be one.

    Whole numbers are counts and come as such; survey weights, and a column with fractions, come as they are. A
    missing weight is zero where rows with missing values are dropped, so that its row is.
    """
    numbers = np.array([_number(level) for level in column.levels] + [None], dtype=np.float64)
    if drops_missing:
        numbers[-1] = 0.0
    _check(numbers[column.codes], lambda row: where(row, column.name), _values(column))
    if not is_survey and _are_counts(numbers[column.codes]):
        exact = np.array([int(n) if n.is_integer() else 0 for n in numbers.tolist()], dtype=np.int64)
        return exact[column.codes]
    return np.asarray(numbers[column.codes])


def counts_of(column: Column, where: Where) -> NDArray[np.int64]:
    """Return a column of counts as weights; fractions are refused."""
    found = weights_of(column, where)
    if found.dtype.kind != "i":
        raise DataError(
            f"Column {column.name!r} holds weights that are no whole numbers; these are taken of tables in "
            "memory: one file, or a frame."
        )
    return found.astype(np.int64)


def any_weights(weights: Any, n_rows: int, *, is_survey: bool = False) -> RowWeights:
    """Return an array or series of weights, one per row: whole numbers as counts, fractions as they are.

    Survey weights come as they are, whole numbers or not.
    """
    numbers = _one_per_row(weights, n_rows)
    _check(numbers, lambda row: f"Row {row + 1}", lambda row: numbers[row])
    return numbers.astype(np.int64) if not is_survey and _are_counts(numbers) else numbers


def doubtful_counts(columns: Sequence[Column], weights: Column, counts: NDArray[np.int64]) -> list[str]:
    """Return a question where a column of counts may well hold survey weights, or nothing.

    In a table of counts every combination of the other columns has one row. Where rows that are alike have
    several weights, and columns that name nearly every row are no help, the weights may be those of a survey.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> smokes, people = from_values("smokes", ["y", "n"] * 50), np.arange(100, 200)
    >>> doubtful_counts([smokes], from_values("people", people.tolist()), people)[0][:66]
    "Each of the 100 rows is counted as often as 'people' says, 14,950 "
    >>> doubtful_counts([smokes], from_values("n", [30, 70] * 50), np.array([30, 70] * 50))
    []
    """
    n_rows = len(counts)
    others = [c.codes for c in columns if c.name != weights.name and 2 * len(c.levels) <= n_rows]
    if n_rows < _FEWEST_ASKED or counts.sum() < _MANY_TIMES * n_rows or not others:
        return []
    n_apart, n_with_weights = (
        np.unique(np.stack(rows), axis=1).shape[1] for rows in (others, [*others, weights.codes])
    )
    if n_apart == n_with_weights:
        return []
    return [
        f"Each of the {n_rows:,} rows is counted as often as {weights.name!r} says, {counts.sum():,} times in "
        "all. If it says instead how many people or things a row of a survey stands for, p-values are far too "
        f"small: {either(f'--survey-weights {typed(weights.name)}', f'survey_weights={weights.name!r}')}."
    ]


def _number(level: Hashable) -> float | None:
    found = as_numbers([level])
    return None if found is None else found[0]


def _are_counts(numbers: NDArray[np.float64]) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def weights_array(weights: Any, n_rows: int) -> NDArray[np.int64]:
    """Return an array or series of counts, one per row, as weights."""
    numbers = _one_per_row(weights, n_rows)
    _check(numbers, lambda row: f"Row {row + 1}", lambda row: numbers[row])
    if not _are_counts(numbers):
        row = int(np.argmax(numbers != np.floor(numbers)))
        raise DataError(
            f"Row {row + 1}: {numbers[row]} is not a row weight. A weight says how often a row is counted: "
            "zero or a positive whole number. Fractions go into read_table(..., weights=...)."
        )
    return numbers.astype(np.int64)


def _one_per_row(weights: Any, n_rows: int) -> NDArray[np.float64]:
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
    return numbers


def _values(column: Column) -> Callable[[int], object]:
    return lambda row: column.levels[column.codes[row]] if column.codes[row] >= 0 else None


def _check(numbers: NDArray[np.float64], where: Callable[[int], str], value: Callable[[int], object]) -> None:
    with np.errstate(invalid="ignore"):
        wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        is_missing = value(row) is None or value(row) != value(row)
        told = "the weight is missing" if is_missing else f"{value(row)} is not a row weight"
        raise DataError(
            f"{where(row)}: {told}. A weight is zero or a positive number: how often a row is counted, or how "
            f"much it stands for. {drop()} leaves rows without a weight out."
        )
    if numbers.sum() >= _LARGEST_TOTAL:
        raise DataError("The row weights add up to more than 2^53. Divide them by a common factor.")
    if not numbers.any():
        raise DataError("All row weights are zero, so no row is left. Check which column holds the counts.")
