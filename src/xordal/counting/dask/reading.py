"""Files that the workers of a cluster list and read: what travels to the client are codes and levels.

A file, or some row groups of a Parquet file, is read by one task, on whatever worker is free. The client asks
for the next few parts while it numbers the levels of the last one and packs it, in the order of the files. So
the table is the one that a single machine reads, and no more of it is under way than workers can be busy with.
A task needs nothing but the file: when its worker dies, another one reads that part again.

The client need not see the files. Where it does, and workers do not, or see others by the same names, it reads
them itself. So it does where a text file is large: text is read from its beginning to its end, which a task
would have to keep in memory, and the client packs as it reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from xordal.counting.dask.cluster import Cluster
from xordal.data.dialect import TextFormat
from xordal.data.large.batches import Batch, Files, FileSource, files_of
from xordal.data.large.cache import stamp_of
from xordal.data.large.files import LARGE, DataFile, Part, many_files, told
from xordal.errors import DataError
from xordal.types.choices import CacheBy

_ROWS_OF_A_PART = 1 << 20  # some tenths of a second of a worker, and a megabyte a column on the way
_FILES_OF_A_TASK = 64  # of which sizes and footers are looked at
_AHEAD = 3  # parts that are asked for, for each worker, before the first of them is packed
_COMPARED = 16  # files by which it is told whether workers see what the client sees


def files_on(cluster: Cluster, source: Any, text: TextFormat | None) -> FileSource | None:
    """Return the files that a source names, to be read by workers where they see them.

    None where there are none, or it is one file that is read as a whole.

    Raises
    ------
    DataError
        If neither this machine nor the workers find such files, in the words of this machine.
    """
    text = text or TextFormat()
    try:
        here = files_of(source, text)
    except DataError as error:
        if (found := _seen_there(cluster, source)) is None:
            raise error from None
        return FilesOnWorkers(cluster, found, text)
    if here is None:  # one file that is read as a whole, or one that is not here
        if not isinstance(source, str | os.PathLike) or source == "-" or Path(source).exists():
            return None
        found = _seen_there(cluster, source)
        return None if found is None else FilesOnWorkers(cluster, found, text)
    files = [DataFile(file.path.absolute(), file.partition) for file in here.files]
    if any(_is_large_text(file) for file in files):
        return here
    compared = files[:: -(-len(files) // _COMPARED)]
    is_the_same = cluster.run(_are_seen, [file.path for file in compared], _sizes(compared))
    return FilesOnWorkers(cluster, files, text) if all(is_the_same.values()) else here


def _is_large_text(file: DataFile) -> bool:
    size = file.path.stat().st_size
    is_packed = file.path.suffix.lower() == ".gz"  # to about an eighth
    return size >= (LARGE // 8 if is_packed else LARGE) and not file.is_parquet


def _seen_there(cluster: Cluster, source: Any) -> list[DataFile] | None:
    """Return the files that a worker finds, by their full paths; None where it finds none."""
    found: list[DataFile] | None = next(cluster.answers([(_listed, source)]))
    return found


def _listed(source: Any) -> list[DataFile] | None:
    try:
        found = many_files(source) or many_files([source]) or []
    except (DataError, OSError, ValueError):
        return None
    return [DataFile(file.path.absolute(), file.partition) for file in found]


def _sizes(files: Sequence[DataFile]) -> list[tuple[int, int]]:
    return [(about.st_size, about.st_mtime_ns) for about in (file.path.stat() for file in files)]


def _are_seen(paths: Sequence[Path], sizes: Sequence[tuple[int, int]]) -> bool:
    """Whether this machine sees files of these sizes and times."""
    try:
        return _sizes([DataFile(path) for path in paths]) == list(sizes)
    except OSError:
        return False


class FilesOnWorkers(FileSource):
    """Files, in their order, each read by tasks."""

    def __init__(self, cluster: Cluster, files: list[DataFile], text: TextFormat) -> None:
        self._cluster, self.files, self._text = cluster, files, text
        self.label = told(files)

    def stamp(self, by: CacheBy) -> list[Any]:
        """Return what changes when the files do."""
        tasks = [(stamp_of, some, by) for some in self._some()]
        return list(chain.from_iterable(self._cluster.answers(tasks)))

    def names(self) -> list[str]:
        """Return the columns of the first file, then those its folders name."""
        found: list[str] = next(self._cluster.answers([(_names, self.files[0], self._text)]))
        return found

    def batches(self, only: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of all files, in order; a file with other columns than the first is refused."""
        expected = set(self.names())
        asked = [(_parts, some, _ROWS_OF_A_PART) for some in self._some()]
        parts = list(chain.from_iterable(self._cluster.answers(asked)))
        tasks = ((read_part, part, self._text, expected, tuple(only)) for part in parts)
        for n_before, batches in enumerate(self._cluster.answers(tasks, ahead=_AHEAD)):
            for batch in batches:
                yield replace(_with_codes(batch, np.int32), done=(n_before + 1) / len(parts))

    def _some(self) -> Iterator[list[DataFile]]:
        return (self.files[at : at + _FILES_OF_A_TASK] for at in range(0, len(self.files), _FILES_OF_A_TASK))


def _names(first: DataFile, text: TextFormat) -> list[str]:
    return Files([first], text).names()


def _parts(files: Sequence[DataFile], n_rows: int) -> list[Part]:
    """Return what one task each reads: row groups of Parquet files; text is read from its beginning."""
    found: list[Part] = []
    for file in files:
        if file.is_parquet:
            from xordal.data.large.parquet_batches import parts_of

            found += parts_of(file, n_rows)
        else:
            found.append(Part(file))
    return found


def read_part(part: Part, text: TextFormat, expected: set[str], only: Sequence[str]) -> list[Batch]:
    """Return the rows of a file, or of a part of it, with codes that take as few bytes as they can."""
    return [_with_codes(batch) for batch in Files([part.file], text).batches_of(part, expected, only)]


def _with_codes(batch: Batch, kind: Any = None) -> Batch:
    """Return a batch with codes of a type; of the smallest one that holds those of a column where None."""
    columns = [
        replace(column, codes=column.codes.astype(kind or np.min_scalar_type(-len(column.levels) - 1)))
        for column in batch.columns
    ]
    return replace(batch, columns=columns)
