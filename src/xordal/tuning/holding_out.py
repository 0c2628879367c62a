"""Rows to learn from and rows held out to judge by: a second table, or folds of one.

Both sides have the same levels: those of all rows together. A level that only held-out rows have is then no
impossible event but one never seen, and smoothing decides how probable it is. Links are learned from levels
that occur (:func:`occurring`), since absent ones say nothing about dependence. Equal rows are taken together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError, counted
from xordal.model.rows import MISSING, UNSEEN, RowCodes, Schema, encoded


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows to learn from, with all levels, and rows held out.

    ``codes`` has the shape (columns, rows held out), ``weights`` says how often each of them counts.
    """

    training: CategoricalTable
    codes: NDArray[np.int32]
    weights: NDArray[np.int64]


def folds_of(table: CategoricalTable, n_folds: int, seed: int) -> list[Split]:
    """Return the splits of a cross-validation: each row is held out once; folds differ by one row at most.

    The order of the rows does not matter, and a row of weight w is w rows.
    """
    if table.n_rows < 2 * n_folds:
        raise SettingsError(
            f"{counted(table.n_rows, 'row')} are too few for {n_folds} folds: each needs at least two. Take "
            "fewer folds (at least 2), or more rows."
        )
    whole = table.distinct()
    assert whole.weights is not None
    row_of = np.repeat(np.arange(len(whole.weights)), whole.weights)
    fold_of = np.random.default_rng(seed).permutation(len(row_of)) % n_folds
    numbers = fold_of * len(whole.weights) + row_of
    held_out = np.bincount(numbers, minlength=n_folds * len(whole.weights)).reshape(n_folds, -1)
    return [_split(whole, weights) for weights in held_out]


def split_with(table: CategoricalTable, valid: Any) -> Split:
    """Return the split of a table to learn from and another one, anything ``read_table`` takes, to judge by.

    Raises
    ------
    DataError
        If the other one lacks a column, or a value is missing in it.
    """
    rows = encoded(Schema(table.names, table.levels), valid, unseen="impossible")
    levels, codes = zip(*_with_new_levels(table, rows), strict=True)
    held_out = CategoricalTable(table.names, levels, np.stack(codes).astype(np.int32), rows.weights).distinct()
    assert held_out.weights is not None
    training = CategoricalTable(table.names, levels, table.codes, table.weights).distinct()
    return Split(training, held_out.codes, held_out.weights)


def occurring(table: CategoricalTable) -> CategoricalTable:
    """Return a table without levels that no row has."""
    return CategoricalTable.complete([column.compact() for column in table.columns()], table.weights)


def _split(whole: CategoricalTable, held_out: NDArray[np.int64]) -> Split:
    assert whole.weights is not None
    kept = whole.weights - held_out
    training = CategoricalTable(whole.names, whole.levels, whole.codes[:, kept > 0], kept[kept > 0])
    return Split(training, whole.codes[:, held_out > 0], held_out[held_out > 0])


def _with_new_levels(
    table: CategoricalTable, rows: RowCodes
) -> Iterator[tuple[tuple[Hashable, ...], NDArray[np.int64]]]:
    """Yield the levels of each column, those of held-out rows alone at the end, and the held-out codes."""
    by_name = {column.name: column for column in rows.columns}
    for name, levels, codes in zip(table.names, table.levels, rows.codes, strict=True):
        if (codes == MISSING).any():
            where = rows.where(int(np.argmax(codes == MISSING)), name)
            raise DataError(
                f"{where}: the value is missing. Rows to judge by must be complete: mend or drop it."
            )
        column, is_new = by_name[name], codes == UNSEEN
        fresh = np.unique(column.codes[is_new])
        more = tuple(column.levels[code] for code in fresh.tolist())
        yield (*levels, *more), np.where(is_new, len(levels) + np.searchsorted(fresh, column.codes), codes)
