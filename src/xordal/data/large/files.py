"""Which files a source names: one, a pattern, a folder with its partitions, or a list of any of these.

Files are read in the order of their paths. Folders named ``key=value`` add a column to all files below them, as
Hive, Spark and DuckDB write partitions; of a folder, what begins with a dot or an underscore is no data.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from xordal.errors import DataError, counted

LARGE = 1 << 27
"""Bytes from which a single file is packed on disk rather than read into memory."""
_ENDINGS = (".parquet", ".pq", ".parq", ".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".txt", ".txt.gz")
_PARQUET = _ENDINGS[:3]
_LOOKED_AT = 4096  # bytes that show whether a file is text
_NO_COLUMNS = (b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"ARROW1", b"%PDF", b"SQLite format 3")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file, and the value of each column that its folders name; None for one that is missing."""

    path: Path
    partition: tuple[tuple[str, str | int | None], ...] = ()

    @property
    def is_parquet(self) -> bool:
        """Whether it holds Parquet data, by its first bytes."""
        return _start_of(self.path) == b"PAR1"


@dataclass(frozen=True, slots=True)
class Part:
    """What is read at one go: a whole file, or some row groups of a Parquet file.

    Attributes
    ----------
    file
        The file.
    groups
        Its row groups from the one to before the other; all of them where None.
    first_row
        How many rows of the file come before.
    """

    file: DataFile
    groups: tuple[int, int] | None = None
    first_row: int = 0


def many_files(source: Any) -> list[DataFile] | None:
    """Return the files of a source that is read batch by batch; None where it is one that fits in memory.

    Raises
    ------
    DataError
        If there is no file, or files of several formats.
    """
    if (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(one, str | os.PathLike) for one in source)
    ):
        found = [file for one in source for file in _files(os.fspath(one)) or [_in_partition(Path(one))]]
    elif isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        named = _files(path)
        if named is None:
            return [DataFile(Path(path))] if _is_large(path) else None
        found = named
    else:
        return None
    _check(found)
    return _typed(found)


def is_folder_or_pattern(path: str) -> bool:
    """Whether a path names the files of a folder or a pattern, and not one file."""
    return bool(path) and not Path(path).is_file() and (Path(path).is_dir() or glob.has_magic(path))


def _files(path: str) -> list[DataFile] | None:
    """Return the files of a folder or a pattern, None where the path names a file."""
    if not is_folder_or_pattern(path):
        return None
    if Path(path).is_dir():
        found = sorted(p for p in _below(path) if p.name.lower().endswith(_ENDINGS) and p.is_file())
        if not found:
            raise DataError(f"There is no CSV or Parquet file in {path!r} or below it. Check the folder.")
        return [DataFile(p, _in_partition(p.relative_to(path)).partition) for p in found]
    matches = [Path(p) for p in sorted(glob.glob(path, recursive=True))]  # noqa: PTH207 - absolute patterns too
    found = [p for p in matches if p.is_file()]
    if not found:
        raise DataError(
            f"No file matches {path!r}. Check the pattern, and quote it so that the shell leaves it."
        )
    return [_in_partition(p) for p in found]


def _is_large(path: str) -> bool:
    try:
        is_large = path != "-" and Path(path).is_file() and Path(path).stat().st_size >= LARGE
        return is_large and (_start_of(Path(path)) == b"PAR1" or is_text(Path(path)))
    except (OSError, ValueError):
        return False  # whoever opens it says what is wrong


def is_text(path: Path) -> bool:
    """Whether a file is plain text in columns, perhaps compressed with gzip: what can be read piece by piece.

    Workbooks, Feather files, JSON Lines and other compressed files are read as a whole.
    """
    with path.open("rb") as file:
        start = file.read(_LOOKED_AT)
    if start.startswith((b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")):  # gzip, and the marks of UTF-16
        return True
    return b"\0" not in start and not start.startswith(_NO_COLUMNS) and start.lstrip()[:1] not in (b"{", b"[")


def _below(folder: str) -> Iterator[Path]:
    """Yield what is in a folder and those below it; one that cannot be listed is an error, not empty."""

    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}).")

    for at, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(at, name) for name in names if not name.startswith((".", "_")))


def _in_partition(path: Path) -> DataFile:
    """Return a file with what its folders say."""
    pairs = [part.split("=", 1) for part in path.parts[:-1] if "=" in part]
    named = ((unquote(key), None if value == _NO_VALUE else unquote(value)) for key, value in pairs if key)
    return DataFile(path, tuple(named))


def _check(files: Sequence[DataFile]) -> None:
    for file in files:
        if file.path.suffix.lower() in _PARQUET and file.path.is_file() and not file.path.stat().st_size:
            raise DataError(f"{file.path}: the file is empty. Write it anew, or take it out of the folder.")
    kinds = {file.is_parquet: file for file in reversed(files)}
    if len(kinds) == 2:
        raise DataError(
            f"{kinds[True].path} is a Parquet file and {kinds[False].path} is none. Read files of one format: "
            "text has levels of text, Parquet those of its types."
        )
    keys = [key for key, _ in files[0].partition]
    for file in files:
        if (other := [key for key, _ in file.partition]) != keys:
            raise DataError(
                f"{file.path} lies in partitions {other}, and {files[0].path} in {keys}. Name a folder or a "
                "pattern of files that lie in the same ones."
            )


def _typed(files: list[DataFile]) -> list[DataFile]:
    """Return the files with those partitions as numbers whose values all are whole numbers."""
    if not files[0].is_parquet:
        return files
    whole = {
        place
        for place in range(len(files[0].partition))
        if all(_is_whole(file.partition[place][1]) for file in files)
    }
    return [
        DataFile(
            file.path,
            tuple(
                (key, int(value) if place in whole and value is not None else value)
                for place, (key, value) in enumerate(file.partition)
            ),
        )
        for file in files
    ]


def _is_whole(value: str | int | None) -> bool:
    return value is None or (str(value).removeprefix("-").isdecimal() and str(int(value)) == value)


def _start_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}. Check the path.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(f"{path}: cannot be read ({reason}).") from None


def told(files: Sequence[DataFile]) -> str:
    """Return what to call some files on the screen."""
    first = str(files[0].path)
    return first if len(files) == 1 else f"{first} and {counted(len(files) - 1, 'other file')}"
