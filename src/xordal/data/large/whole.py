"""The files of a folder or a pattern as columns in memory, for commands that look at each row."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from xordal.data.column import Column, Where, from_distinct
from xordal.data.dialect import TextFormat
from xordal.data.large.batches import Files
from xordal.data.large.files import DataFile
from xordal.errors import DataError


def whole_columns(files: list[DataFile], text: TextFormat) -> tuple[list[Column], Where]:
    """Return the columns of all files, one below the other, and what tells where a row is."""
    source = Files(files, text)
    names = source.names()
    batches = [batch for batch in source.batches(names) if batch.n_rows]
    if not batches:
        raise DataError(f"{files[0].path} and what is beside it: there are no rows.")
    starts = np.cumsum([0, *(batch.n_rows for batch in batches)]).tolist()

    def where(row: int, name: str) -> str:
        place = bisect_right(starts, row) - 1
        label, before = batches[place].label
        return f"{label}, row {before + row - starts[place] + 1:,}, column {name!r}"

    return [_joined([batch.columns[place] for batch in batches]) for place in range(len(names))], where


def _joined(pieces: list[Column]) -> Column:
    """Return a column whose rows are those of several, one below the other."""
    offsets = np.cumsum([0, *(len(piece.levels) for piece in pieces)]).tolist()
    codes = [
        np.where(piece.is_missing, piece.codes, piece.codes + offset)
        for piece, offset in zip(pieces, offsets, strict=False)
    ]
    levels = [level for piece in pieces for level in piece.levels]
    return from_distinct(pieces[0].name, levels, np.concatenate(codes).astype(np.int32), is_declared=False)
