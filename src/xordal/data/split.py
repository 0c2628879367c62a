"""A column of codes of one width as one column for each character."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, from_distinct
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted, nearest

_MOST_WIDE = 64
_MOST_OTHER = 0.05  # share of the rows that may have another width; they are left out


def split_column(table: CategoricalTable, name: str) -> tuple[CategoricalTable, int]:
    """Return the table with one column replaced by its characters, and how many rows were left out.

    Places in which every code has the same character (hyphens for example) are left out, and so are the few
    rows whose code has another width. The new columns are called after the old one: ``isbn1``, ``isbn2``, ...

    Raises
    ------
    DataError
        If there is no such column, or its codes have no common width.

    Examples
    --------
    >>> table = CategoricalTable.from_columns({"code": ["A-17", "B-28"], "ok": ["yes", "no"]})
    >>> split, left_out = split_column(table, "code")
    >>> split.names, split.levels[1], left_out
    (('code1', 'code3', 'code4', 'ok'), ('1', '2'), 0)
    """
    split, fits = split_rows(table, name)
    return split, int((~fits).sum())


def split_rows(table: CategoricalTable, name: str) -> tuple[CategoricalTable, NDArray[np.bool_]]:
    """Do what :func:`split_column` does, and return which rows stay."""
    if name not in table.names:
        raise DataError(f"There is no column {name!r} to split; {nearest(name, table.names)}")
    at = table.names.index(name)
    texts = [str(level) for level in table.levels[at]]
    width = _width(name, table, at, texts)
    fits = np.array([len(text) == width for text in texts])[table.codes[at]]
    parts: list[Column] = []
    for place in range(width):
        letters = [text[place] if len(text) == width else "" for text in texts]
        column = from_distinct(f"{name}{place + 1}", letters, table.codes[at], is_declared=False).only(fits)
        if len(column.levels) > 1:
            parts.append(column)
    if not parts:
        raise DataError(f"Column {name!r} cannot be split: all of its codes are the same.")
    others = [column.only(fits) for column in table.columns()]
    weights = None if table.weights is None else table.weights[fits]
    return CategoricalTable.complete([*others[:at], *parts, *others[at + 1 :]], weights), fits


def _width(name: str, table: CategoricalTable, at: int, texts: Sequence[str]) -> int:
    counts: Counter[int] = Counter()
    for text, count in zip(texts, np.bincount(table.codes[at]).tolist(), strict=True):
        counts[len(text)] += count
    (width, n_rows), *_ = counts.most_common(1)
    if n_rows < (1 - _MOST_OTHER) * table.codes.shape[1]:
        told = ", ".join(f"{w} characters in {counted(n, 'row')}" for w, n in sorted(counts.items())[:5])
        raise DataError(f"Column {name!r} cannot be split: its codes are not of one width ({told}).")
    if not 2 <= width <= _MOST_WIDE:
        raise DataError(
            f"Column {name!r} cannot be split: its codes have {counted(width, 'character')}; "
            f"2 to {_MOST_WIDE} can be."
        )
    return width
