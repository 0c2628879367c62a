"""From numbers in the order of appearance to the codes of a table, and its bits.

All that may happen to a column (missing values, bins, rare levels, odd columns left out) happens to its few
levels and their counts, by the same functions that prepare a table in memory. So a column of a hundred million
rows is prepared as a column with one row for each of its values, weighted by its count, and what became of each
value is then looked up for all rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import MISSING, Column, from_distinct
from xordal.data.large.gather import Gathered, Survey
from xordal.data.large.store import BITS, BLOCK, CODES, WEIGHTS, Blocks, code_type, first_planes
from xordal.data.missing import as_level
from xordal.data.packed import pack
from xordal.data.table import CategoricalTable
from xordal.data.weights import weights_of
from xordal.errors import DataError, counted
from xordal.types.choices import Missing

Prepare = Callable[[list[Column], list[NDArray[np.int64]]], list[Column]]
"""Makes categories of columns, each with its own row weights: bins, rare levels, odd columns left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a table will be, known from the values of its columns and their counts.

    Attributes
    ----------
    columns
        The columns that stay, as columns with one row a value.
    places
        Which of the columns that were read each of them is.
    lookups
        From the number of a value (0: missing) to the code of its level.
    """

    columns: list[Column]
    places: list[int]
    lookups: list[NDArray[np.int64]]

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(len(column.levels) for column in self.columns)


def plan(surveys: Sequence[Survey], missing: Missing, prepare: Prepare) -> Plan:
    """Return what becomes of columns; their counts are those of the rows that stay."""
    found, used = [], []
    for survey in surveys:
        here = np.flatnonzero(survey.counts[1:])
        values = [survey.values[place] for place in here.tolist()]
        has_missing = missing == "level" and bool(survey.counts[0])
        rows = np.arange(len(values) + has_missing, dtype=np.int32)
        if has_missing:
            rows[-1] = MISSING
        found.append(from_distinct(survey.name, values, rows, survey.is_declared))
        used.append(np.append(here + 1, [0] if has_missing else []).astype(np.int64))
    weights = [survey.counts[numbers] for survey, numbers in zip(surveys, used, strict=True)]
    place_of = {column.name: place for place, column in enumerate(found)}
    columns = [as_level(column) for column in prepare(found, weights)]
    places = [place_of[column.name] for column in columns]
    lookups = []
    for place, column in zip(places, columns, strict=True):
        lookup = np.zeros(len(surveys[place].counts), dtype=np.int64)
        lookup[used[place]] = column.codes
        lookups.append(lookup)
    return Plan(columns, places, lookups)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Which rows stay, and how often each counts: decided for some rows at a time."""

    gathered: Gathered
    drop: Sequence[int] = ()  # columns whose missing values leave a row out
    weights: tuple[int, NDArray[np.int64]] | None = None  # the column of weights, and the weight of each number

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.bool_] | None, NDArray[np.int64] | None]]:
        """Yield row ranges, which of their rows stay (None: all), and the weights of those that do."""
        for start in range(0, self.gathered.n_rows, BLOCK):
            rows = slice(start, min(start + BLOCK, self.gathered.n_rows))
            stay = np.ones(rows.stop - rows.start, dtype=np.bool_)
            for column in self.drop:
                stay &= self.gathered.numbers(column, rows.start, rows.stop) > 0
            counts = None
            if self.weights is not None:
                counts = self.weights[1][self.gathered.numbers(self.weights[0], rows.start, rows.stop)]
                stay &= counts > 0
                counts = counts[stay]
            yield rows, None if stay.all() else stay, counts

    def surveys(self) -> tuple[list[Survey], int]:
        """Return the columns with the counts of the rows that stay, and how many rows stay."""
        columns = self.gathered.columns
        if not self.drop and self.weights is None:
            return columns, self.gathered.n_rows
        counts = [np.zeros(len(column.counts), dtype=np.int64) for column in columns]
        n_rows = 0
        for rows, stay, weights in self.blocks():
            for column in range(len(columns)):
                numbers = self.gathered.numbers(column, rows.start, rows.stop)
                numbers = numbers if stay is None else numbers[stay]
                found = np.bincount(numbers, weights=weights, minlength=len(counts[column]))
                counts[column] += found.astype(np.int64)
            n_rows += rows.stop - rows.start if stay is None else int(stay.sum())
        kept = [Survey(c.name, c.values, c.is_declared, n) for c, n in zip(columns, counts, strict=True)]
        return kept, n_rows


def weights_by_number(survey: Survey, label: str) -> NDArray[np.int64]:
    """Return the row weight of each number of a column of counts."""
    column = from_distinct(
        survey.name, survey.values, np.arange(len(survey.values), dtype=np.int32), survey.is_declared
    )
    if survey.counts[0]:
        column = Column(column.name, column.levels, np.append(column.codes, np.int32(MISSING)))
    found = weights_of(column, lambda row, name: f"{label}, column {name!r}")
    total = sum(int(w) * int(n) for w, n in zip(found, survey.counts[1:], strict=False))
    if total >= 2**53:
        raise DataError("The row weights add up to more than 2^53. Divide them by a common factor.")
    return np.concatenate([[0], found[: len(survey.values)]]).astype(np.int64)


def write_columns(gathered: Gathered, kept: Kept, made: Plan, n_rows: int, folder: Path) -> None:
    """Write codes, bits and weights of a table into a folder."""
    kind = code_type(made.n_levels)
    lookups = [lookup.astype(kind) for lookup in made.lookups]
    weights = None if kept.weights is None else np.zeros(n_rows, dtype="<i8")
    with _codes_file(folder) as descriptor:
        at = 0
        for rows, stay, counts in kept.blocks():
            for column, (place, lookup) in enumerate(zip(made.places, lookups, strict=True)):
                numbers = gathered.numbers(place, rows.start, rows.stop)
                codes = lookup[numbers if stay is None else numbers[stay]]
                _write_at(descriptor, codes, (column * n_rows + at) * kind.itemsize)
            length = rows.stop - rows.start if stay is None else int(stay.sum())
            if weights is not None:
                weights[at : at + length] = counts
            at += length
        _write_bits(descriptor, kind, made.n_levels, n_rows, folder, is_weighted=weights is not None)
    _write_weights(folder, weights)


def write_table(table: CategoricalTable, folder: Path) -> Blocks:
    """Write a table that is in memory into a folder, for those who count it from there."""
    kind, n_rows = code_type(table.n_levels), table.codes.shape[1]
    with _codes_file(folder) as descriptor:
        for v, column in enumerate(table.codes):
            _write_at(descriptor, column.astype(kind), v * n_rows * kind.itemsize)
        is_weighted = table.weights is not None
        _write_bits(descriptor, kind, table.n_levels, n_rows, folder, is_weighted=is_weighted)
    _write_weights(folder, table.weights)
    return Blocks.open(folder, table.n_levels, n_rows)


@contextmanager
def _codes_file(folder: Path) -> Iterator[int]:
    """Yield a new file for codes, open to read and write; the disk has all of it in the end."""
    descriptor = os.open(folder / CODES, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        yield descriptor
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_weights(folder: Path, weights: NDArray[np.int64] | None) -> None:
    if weights is not None:
        with (folder / WEIGHTS).open("wb", buffering=0) as file:
            _write_at(file.fileno(), weights.astype("<i8"), 0)
            os.fsync(file.fileno())


def _write_bits(
    codes: int, kind: np.dtype[Any], n_levels: tuple[int, ...], n_rows: int, folder: Path, *, is_weighted: bool
) -> None:
    """Write the bit planes of all blocks, from codes that have been written."""
    n_planes = np.diff(first_planes(n_levels, is_weighted=is_weighted))
    packed = np.flatnonzero(n_planes).tolist()
    with (folder / BITS).open("wb", buffering=0) as file:
        at = 0
        for start in range(0, n_rows, BLOCK) if packed else ():
            length = min(BLOCK, n_rows - start)
            rows = [_read_at(codes, kind, length, v * n_rows + start) for v in packed]
            planes = pack(np.stack(rows), [n_levels[v] for v in packed]).planes.astype("<u8", copy=False)
            _write_at(file.fileno(), planes, at)
            at += planes.nbytes
        os.fsync(file.fileno())


def _read_at(descriptor: int, kind: np.dtype[Any], length: int, start: int) -> NDArray[Any]:
    return np.frombuffer(os.pread(descriptor, length * kind.itemsize, start * kind.itemsize), kind)


def _write_at(descriptor: int, array: NDArray[Any], offset: int) -> None:
    data = np.ascontiguousarray(array).data.cast("B")
    while data:
        written = os.pwrite(descriptor, data, offset)
        data, offset = data[written:], offset + written


def dropped_text(n_kept: int, n_rows: int) -> str:
    """Say how many rows were left out, as a table read in memory does."""
    return f"Dropped {n_rows - n_kept:,} of {counted(n_rows, 'row')}, which had missing values."
