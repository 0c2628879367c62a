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
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import MISSING, Column, from_distinct
from xordal.data.large.gather import Gathered, Survey
from xordal.data.large.store import BITS, BLOCK, CODES, WEIGHTS, Blocks, code_type, first_planes
from xordal.data.missing import Gaps, as_level
from xordal.data.packed import pack
from xordal.data.table import CategoricalTable
from xordal.data.weights import counts_of
from xordal.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A column that takes part: one that was read, or a part of its dates.

    Attributes
    ----------
    column
        It, with one row for each value of the column that was read, in the order of appearance, and one more
        for a missing value.
    place
        Which of the columns that were read it is of.
    """

    column: Column
    place: int

    @property
    def level_of(self) -> NDArray[np.int64]:
        """From the number of a value (0: missing) to its level, -1 where it is missing."""
        return np.roll(self.column.codes, 1).astype(np.int64)

    def with_values(self, numbers: NDArray[np.int64]) -> Column:
        """Return the column with one row for each of some numbers."""
        codes = self.level_of[numbers].astype(np.int32)
        return Column(self.column.name, self.column.levels, codes).compact()


def surrogate(survey: Survey) -> Column:
    """Return a column with one row for each value, and one for a missing value, behind the others."""
    rows = np.append(np.arange(len(survey.values)), MISSING).astype(np.int32)
    return from_distinct(survey.name, survey.values, rows, survey.is_declared)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a table will be, known from the values of its columns and their counts.

    Attributes
    ----------
    columns
        The columns that stay, as columns with one row a value.
    places
        Which of the columns that were read each of them is of.
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

    @property
    def mark(self) -> str:
        """A checksum of what becomes of each value: codes on disk mean something by that alone."""
        digest = sha256()
        for column, place, lookup in zip(self.columns, self.places, self.lookups, strict=True):
            digest.update(repr((column.name, column.levels, place)).encode())
            digest.update(lookup.astype("<i8").tobytes())
        return digest.hexdigest()[:32]


def plan(
    chosen: Sequence[Chosen],
    counts: Sequence[NDArray[np.int64]],
    prepare: Callable[[list[Column], list[NDArray[np.int64]]], list[Column]],
) -> Plan:
    """Return what becomes of columns, from the counts of the rows that stay.

    ``prepare`` makes categories of columns, each with its own row weights.
    """
    used = [np.flatnonzero(counts[one.place]) for one in chosen]
    found = [one.with_values(numbers) for one, numbers in zip(chosen, used, strict=True)]
    weights = [counts[one.place][numbers] for one, numbers in zip(chosen, used, strict=True)]
    at = {one.column.name: place for place, one in enumerate(chosen)}
    columns = [as_level(column) for column in prepare(found, weights)]
    lookups = []
    for column in columns:
        lookup = np.zeros(len(counts[chosen[at[column.name]].place]), dtype=np.int64)
        lookup[used[at[column.name]]] = column.codes
        lookups.append(lookup)
    return Plan(columns, [chosen[at[column.name]].place for column in columns], lookups)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Which rows stay, and how often each counts: decided for some rows at a time.

    ``drop`` are columns that were read, with which of their numbers stand for a missing value; ``weights`` is
    the place of the column of weights, and the weight of each of its numbers.
    """

    gathered: Gathered
    drop: Sequence[tuple[int, NDArray[np.bool_]]] = ()
    weights: tuple[int, NDArray[np.int64]] | None = None

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.bool_] | None, NDArray[np.int64] | None]]:
        """Yield row ranges, which of their rows stay (None: all), and the weights of those that do."""
        for rows, lacks, counts in self._looked_at():
            stay = (
                ~np.logical_or.reduce(lacks, axis=0) if len(lacks) else np.ones(_length(rows), dtype=np.bool_)
            )
            if counts is not None:
                stay &= counts > 0
                counts = counts[stay]  # noqa: PLW2901 - those of the rows that stay
            yield rows, None if stay.all() else stay, counts

    def _looked_at(self) -> Iterator[tuple[slice, list[NDArray[np.bool_]], NDArray[np.int64] | None]]:
        """Yield row ranges, where each column lacks a value, and the weights."""
        for start in range(0, self.gathered.n_rows, BLOCK):
            rows = slice(start, min(start + BLOCK, self.gathered.n_rows))
            numbers = {place: self.gathered.numbers(place, rows.start, rows.stop) for place, _ in self.drop}
            counts = None
            if self.weights is not None:
                counts = self.weights[1][self.gathered.numbers(self.weights[0], rows.start, rows.stop)]
            yield rows, [is_missing[numbers[place]] for place, is_missing in self.drop], counts

    def gaps(self, names: Sequence[str]) -> Gaps:
        """Return what is missing in the columns whose missing values would leave a row out."""
        n_rows = n_incomplete = 0
        times, without = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
        for rows, lacks, counts in self._looked_at():
            often = np.ones(_length(rows), np.int64) if counts is None else counts
            n_rows += int(often.sum())
            if len(names):
                is_missing = np.stack(lacks)
                n_lacking = is_missing.sum(axis=0)
                n_incomplete += int((n_lacking > 0) @ often)
                times += is_missing @ often
                without += (n_lacking - is_missing > 0) @ often  # incomplete without the one column
        if not len(names):
            return Gaps(n_rows, 0, 0, (), n_rows)
        order = np.argsort(-times, kind="stable")
        by_column = tuple((names[place], int(times[place])) for place in order)
        return Gaps(n_rows, n_incomplete, int(times.sum()), by_column, n_rows - int(without[order[0]]))

    def first_incomplete(self) -> tuple[int, int]:
        """Return the first row that counts and lacks a value, and which of the columns lacks it."""
        for rows, lacks, counts in self._looked_at():
            is_missing = np.stack(lacks) & (True if counts is None else counts > 0)
            if is_missing.any():
                row = int(np.argmax(is_missing.any(axis=0)))
                return rows.start + row, int(np.argmax(is_missing[:, row]))
        raise AssertionError("some row lacks a value")

    def counts(self) -> tuple[list[NDArray[np.int64]], int]:
        """Return how many rows that stay have each number of each column, and how many rows stay."""
        columns = self.gathered.columns
        if not self.drop and self.weights is None:
            return [column.counts for column in columns], self.gathered.n_rows
        counts = [np.zeros(len(column.counts), dtype=np.int64) for column in columns]
        n_rows = 0
        for rows, stay, weights in self.blocks():
            for column in range(len(columns)):
                numbers = self.gathered.numbers(column, rows.start, rows.stop)
                numbers = numbers if stay is None else numbers[stay]
                found = np.bincount(numbers, weights=weights, minlength=len(counts[column]))
                counts[column] += found.astype(np.int64)
            n_rows += _length(rows) if stay is None else int(stay.sum())
        return counts, n_rows


def _length(rows: slice) -> int:
    return int(rows.stop - rows.start)


def weights_by_number(survey: Survey, label: str) -> NDArray[np.int64]:
    """Return the row weight of each number of a column of counts."""
    column = from_distinct(
        survey.name, survey.values, np.arange(len(survey.values), dtype=np.int32), survey.is_declared
    )
    if survey.counts[0]:
        column = Column(column.name, column.levels, np.append(column.codes, np.int32(MISSING)))
    found = counts_of(column, lambda row, name: f"{label}, column {name!r}")
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
