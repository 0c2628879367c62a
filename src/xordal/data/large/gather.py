"""Levels numbered as they appear, in one pass over the rows, and the numbers written to disk.

Which levels a column has is known when its last row has been read, and their order only then. So each value
gets the next free number when it is first seen, 0 being kept for missing values; the numbers of a column go to
a file of its own, as bytes until there are more than 255 values, then in two or four bytes. What is left in
memory are the distinct values and how many rows have each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.large.batches import Batch, Source
from xordal.errors import DataError

MOST_VALUES = 1 << 20
"""Distinct values that a column may have: each takes some hundred bytes of memory, and none is a category."""
_TYPES: tuple[np.dtype[Any], ...] = (np.dtype("u1"), np.dtype("<u2"), np.dtype("<u4"))
_AT_ONCE = 1 << 20  # values copied at a time when a file gets a larger type


@dataclass(frozen=True, slots=True)
class RowsRead:
    """How far reading is: rows so far, the share of the source (None where unknown), and seconds."""

    n_rows: int
    done: float | None
    seconds: float

    @property
    def rows_per_second(self) -> float:
        """Return how many rows were read in a second, on average."""
        return self.n_rows / max(self.seconds, 1e-9)


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What is known of a column when all rows have been read.

    Attributes
    ----------
    name
        Its name.
    values
        Its distinct values in the order in which they first appeared.
    is_declared
        Whether that order is one that the source declares.
    counts
        Shape (values + 1,): rows with a missing value, then rows with each value.
    """

    name: str
    values: list[Hashable]
    is_declared: bool
    counts: NDArray[np.int64]


class _Numbered:
    """One column while it is read."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self._number: dict[Hashable, int] = {}
        self._counts = np.zeros(1, dtype=np.int64)
        self._kind: np.dtype[Any] = _TYPES[0]
        self._file = path.open("wb", buffering=0)
        self._values_are, self._since = "", ""
        self._is_declared = True

    def add(self, column: Column, batch: Batch) -> None:
        """Write the rows of a batch."""
        self._check_kind(batch.kinds.get(self.name, ""), batch.label[0])
        self._is_declared &= self.name in batch.declared
        number = self._number
        lookup = np.zeros(len(column.levels) + 1, dtype=np.int64)  # the last entry is that of a missing value
        for code, level in enumerate(column.levels):
            lookup[code] = number.setdefault(level, len(number) + 1)
        if len(number) > MOST_VALUES:
            raise DataError(
                f"{batch.label[0]}: column {self.name!r} has more than {MOST_VALUES:,} different values, so it "
                f"is no category. Leave it out (--exclude {self.name}; in Python exclude=[{self.name!r}]), or "
                "cut it into few values where the data are, for example with --sql."
            )
        self._widen()
        numbers = lookup.astype(self._kind)[column.codes]
        self._counts.resize(len(number) + 1, refcheck=False)
        np.add.at(self._counts, lookup[:-1], column.counts())
        self._counts[0] += int(column.is_missing.sum()) if column.has_missing else 0
        _write(self._file, numbers)

    def _check_kind(self, kind: str, label: str) -> None:
        if kind and self._values_are and kind != self._values_are:
            raise DataError(
                f"{label}: column {self.name!r} holds {kind}, but {self._values_are} in {self._since}. All "
                "files of a table must have the same types: write one of them anew."
            )
        if kind and not self._values_are:
            self._values_are, self._since = kind, label

    def _widen(self) -> None:
        """Copy the file into one of a larger type, where numbers have outgrown the present one."""
        kind = next(kind for kind in _TYPES if len(self._number) <= np.iinfo(kind).max)
        if kind == self._kind:
            return
        self._file.close()
        aside = self.path.with_suffix(".wide")
        with self.path.open("rb") as old, aside.open("wb", buffering=0) as new:
            while len(some := np.fromfile(old, self._kind, _AT_ONCE)):
                _write(new, some.astype(kind))
        aside.replace(self.path)
        self._file, self._kind = self.path.open("ab", buffering=0), kind

    def close(self) -> None:
        self._file.close()

    def survey(self) -> Survey:
        return Survey(self.name, list(self._number), self._is_declared, self._counts)

    @property
    def kind(self) -> np.dtype[Any]:
        """The type of the numbers in the file."""
        return self._kind


def _write(file: Any, numbers: NDArray[Any]) -> None:
    """Write all of an array; a disk that is full is an OSError, never half an array."""
    data = np.ascontiguousarray(numbers).data.cast("B")
    while data:
        data = data[file.write(data) :]


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """All rows of a source as numbers on disk: what is known of each column, and its file and type."""

    columns: list[Survey]
    files: list[tuple[Path, np.dtype[Any]]]
    n_rows: int
    begins: list[tuple[int, str, int]]  # of each batch: its first row, its file, and its first row there

    def where(self, row: int, name: str) -> str:
        """Return where a value is: the file, and its row there."""
        first, label, before = next(begin for begin in reversed(self.begins) if begin[0] <= row)
        return f"{label}, row {before + row - first + 1:,}, column {name!r}"

    def numbers(self, column: int, start: int, stop: int) -> NDArray[Any]:
        """Return the numbers of some rows of a column."""
        path, kind = self.files[column]
        return np.fromfile(path, kind, stop - start, offset=start * kind.itemsize)


def gather(source: Source, only: Sequence[str], folder: Path, on_rows: Callable[[RowsRead], None]) -> Gathered:
    """Read all rows of some columns; their numbers go to files in a folder."""
    columns = [_Numbered(name, folder / f"{place}.numbers") for place, name in enumerate(only)]
    began, n_rows = perf_counter(), 0
    begins: list[tuple[int, str, int]] = []
    batches = source.batches(only)
    try:
        for batch in batches:
            begins.append((n_rows, *batch.label))
            for numbered, column in zip(columns, batch.columns, strict=True):
                numbered.add(column, batch)
            n_rows += batch.n_rows
            on_rows(RowsRead(n_rows, batch.done, perf_counter() - began))
    finally:
        if isinstance(batches, Generator):
            batches.close()  # at once: a cluster may be reading ahead for it
        for numbered in columns:
            numbered.close()
    if not n_rows:
        raise DataError(f"{source.label}: the table has no rows.")
    return Gathered([c.survey() for c in columns], [(c.path, c.kind) for c in columns], n_rows, begins)
