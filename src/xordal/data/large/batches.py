"""Batches of rows: Parquet files, text files and lazy frames, some hundred thousand rows at a time.

A batch is a list of columns as any reader makes them, with levels and codes of its own; whoever gathers batches
brings their levels together. A column has one kind of values in all batches: text, numbers, truth values, ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from xordal.data.arrow_extra import need_arrow
from xordal.data.column import Column, from_values, refuse_nested
from xordal.data.dialect import TextFormat
from xordal.data.large.cache import stamp_of
from xordal.data.large.files import DataFile, Part, many_files, told
from xordal.errors import DataError
from xordal.types.choices import CacheBy

ROWS = 1 << 18
"""Rows of a batch, about: enough for what a call costs, little enough for memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of a source.

    Attributes
    ----------
    columns
        Its columns; missing values have the code -1.
    kinds
        What the values of each column are.
    declared
        The columns whose levels are in an order that the source declares.
    label
        What the file is called, and how many rows of it were in earlier batches.
    done
        Which share of the whole source has been read with this batch; None where that is not known.
    """

    columns: list[Column]
    kinds: dict[str, str]
    declared: frozenset[str]
    label: tuple[str, int]
    done: float | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].codes)


class Source(Protocol):
    """What can be read batch by batch."""

    label: str

    def names(self) -> list[str]:
        """Return the names of the columns."""
        ...

    def batches(self, only: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of some columns, in order."""
        ...


class FileSource(ABC):
    """Files that are read batch by batch, by this process or by others: a :class:`Source`."""

    files: list[DataFile]
    label: str

    @abstractmethod
    def stamp(self, by: CacheBy) -> list[Any]:
        """Return what changes when the files do."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the columns."""

    @abstractmethod
    def batches(self, only: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of some columns, in order."""


def files_of(source: Any, text: TextFormat) -> FileSource | None:
    """Return the files that a source names; None where it is one that fits in memory.

    Raises
    ------
    DataError
        If there is no file, or files of several formats.
    """
    if isinstance(source, FileSource):
        return source
    found = many_files(source)
    return None if found is None else Files(found, text, told(found))


@dataclass(slots=True)
class Files(FileSource):
    """Parquet or text files, one after the other; all must have the same columns, in any order."""

    files: list[DataFile]
    text: TextFormat = field(default_factory=TextFormat)
    label: str = ""
    _reader: Reader | None = None

    def names(self) -> list[str]:
        """Return the columns of the first file, then those its folders name."""
        first = self.files[0]
        own = self._reads(first).names(first.path)
        partition = [key for key, _ in first.partition]
        if twice := [key for key in partition if key in own]:
            raise DataError(
                f"{first.path}: the folders name a column {twice[0]!r}, and the file has one too. Rename one."
            )
        return [*own, *partition]

    def stamp(self, by: CacheBy) -> list[Any]:
        """Return what changes when the files do."""
        return stamp_of(self.files, by)

    def batches(self, only: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of all files; a file with other columns than the first is refused."""
        expected, sizes = set(self.names()), [max(file.path.stat().st_size, 1) for file in self.files]
        before = 0
        for file, size in zip(self.files, sizes, strict=True):
            for batch in self.batches_of(Part(file), expected, only):
                yield replace(batch, done=(before + (batch.done or 0.0) * size) / sum(sizes))
            before += size

    def batches_of(self, part: Part, expected: set[str], only: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of a file or of a part of it; ``done`` is the share of the file."""
        file, at = part.file, part.first_row
        reader = self._reads(file)
        same_names(file, expected, {*reader.names(file.path), *(key for key, _ in file.partition)})
        in_file = [name for name in only if name not in dict(file.partition)]
        for columns, kinds, declared, share in reader.batches(file.path, in_file, part.groups):
            n_rows = len(columns[0].codes) if columns else 0
            added = [_constant(key, value, n_rows) for key, value in file.partition if key in only]
            kinds |= {key: "number" if isinstance(value, int) else "text" for key, value in file.partition}
            by_name = {column.name: column for column in (*columns, *added)}
            yield Batch([by_name[name] for name in only], kinds, declared, (str(file.path), at), share)
            at += n_rows

    def _reads(self, file: DataFile) -> Reader:
        """Return the one who reads the files: all are of one format."""
        if self._reader is None:
            if file.is_parquet:
                need_arrow(f"{file.path} is a Parquet file", "Or write the table as CSV.")
                from xordal.data.large.parquet_batches import ParquetReader

                self._reader = ParquetReader()
            else:
                from xordal.data.large.text_batches import TextReader

                self._reader = TextReader(self.text)
        return self._reader


Piece = tuple[list[Column], dict[str, str], frozenset[str], float]
"""Some rows of a file: columns, the kinds of their values, which are in a declared order, the share read."""


class Reader(Protocol):
    """Reads files of one format."""

    def names(self, path: Path) -> list[str]:
        """Return the names of the columns of a file."""
        ...

    def batches(
        self, path: Path, only: Sequence[str], groups: tuple[int, int] | None = None
    ) -> Iterator[Piece]:
        """Yield the rows of some columns of a file, or of some row groups of a Parquet file."""
        ...


def same_names(file: DataFile, expected: set[str], found: set[str]) -> None:
    """Refuse a file whose columns are not those of the first."""
    for which, names in (("lacks", expected - found), ("has besides", found - expected)):
        if names:
            told = ", ".join(repr(name) for name in sorted(names)[:5])
            raise DataError(
                f"{file.path}: its columns differ from those of the first file; it {which} {told}. All files "
                "of a table must have the same columns: mend the file, or leave it out of the pattern."
            )


def _constant(name: str, value: str | int | None, n_rows: int) -> Column:
    if value is None:
        return Column(name, (), np.full(n_rows, -1, dtype=np.int32))
    return Column(name, (value,), np.zeros(n_rows, dtype=np.int32))


@dataclass(slots=True)
class LazyPolars:
    """A polars LazyFrame, worked out batch by batch by polars itself."""

    frame: Any
    label: str = "the LazyFrame"

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._asked(self.frame.collect_schema).names())

    def batches(self, only: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows; what polars cannot work out is told in its own words."""
        import polars

        from xordal.data.frames import columns_of

        chosen = self.frame.select(list(only))
        schema = self._asked(chosen.collect_schema)
        declared = frozenset(name for name, kind in schema.items() if isinstance(kind, polars.Enum))
        kinds = dict.fromkeys(only, "")  # one schema, so one kind
        at = 0
        frames = self._asked(lambda: iter(chosen.collect_batches(chunk_size=ROWS, maintain_order=True)))
        while (frame := self._asked(lambda: next(frames, None))) is not None:
            if frame.height:
                columns = columns_of(frame)
                refuse_nested(columns)
                yield Batch(columns, kinds, declared, (self.label, at), None)
                at += frame.height

    def _asked(self, ask: Callable[[], Any]) -> Any:
        import polars

        try:
            return ask()
        except (polars.exceptions.PolarsError, OSError) as error:
            raise DataError(f"The LazyFrame cannot be worked out ({_first_line(error)}).") from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def values_batch(
    names: Sequence[str], rows: Sequence[Sequence[Any]], label: tuple[str, int], done: float | None
) -> Batch:
    """Return a batch of Python values, one tuple a row."""
    columns = [from_values(n, values) for n, values in zip(names, zip(*rows, strict=True), strict=True)]
    return Batch(columns, {column.name: kind_of(column) for column in columns}, frozenset(), label, done)


def kind_of(column: Column) -> str:
    """Return what kind of values the levels of a column are; empty where there is none."""
    if not column.levels:
        return ""
    level = column.levels[0]
    if isinstance(level, bool):
        return "truth values"
    return "text" if isinstance(level, str) else "numbers" if as_number_kind(level) else type(level).__name__


def as_number_kind(level: object) -> bool:
    """Whether a level is a number of any type."""
    from decimal import Decimal

    return isinstance(level, int | float | Decimal)
