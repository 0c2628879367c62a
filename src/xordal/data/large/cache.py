"""The folder that keeps packed columns, so that the second run on the same data starts at once.

It is the folder named by ``XORDAL_CACHE``, else ``xordal`` in ``XDG_CACHE_HOME``, else ``~/.cache/xordal``.
``xordal cache`` lists it, ``xordal cache --clear`` empties it. An entry is a folder of plain files (store.py).

An entry is looked up by what was asked for: the paths, and how the table is to be read. It holds the stamp of
the data it was made of: path, size, time of change and a checksum of both ends (of Parquet the footer, which
holds the statistics of every column) of each file. Where the stamp is another now, the entry is stale and is
made anew. By content, the stamp is a checksum of all bytes, and the paths do not matter.

Entries are written aside and renamed when they are whole: two runs at once both pack, and the first one done is
the one that stays. What a run that was killed has left is removed by the next one.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from xordal.data.large.files import DataFile
from xordal.data.large.store import DamagedStore, read_description
from xordal.errors import DataError
from xordal.types.choices import CacheBy

_ENDS = 1 << 16  # bytes of both ends of a file that are looked at
_AT_ONCE = 1 << 22
_PART = ".part"


def cache_folder() -> Path:
    """Return the folder that keeps packed columns; it need not exist yet."""
    if named := os.environ.get("XORDAL_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "xordal"
    except RuntimeError:  # no home at all
        return Path(tempfile.gettempdir()) / "xordal-cache"


def key_of(*asked: object) -> str:
    """Return the name of an entry for what was asked."""
    return sha256(repr(asked).encode()).hexdigest()[:32]


def stamp_of(files: Sequence[DataFile], by: CacheBy) -> list[Any]:
    """Return what changes when the data do, as JSON can hold it.

    Raises
    ------
    DataError
        If a file cannot be read.
    """
    found: list[Any] = []
    for file in files:
        try:
            if by == "content":
                found.append([str(file.partition), _content(file.path)])
            else:
                about = file.path.stat()
                found.append(
                    [
                        str(file.path.absolute()),
                        about.st_size,
                        about.st_mtime_ns,
                        _ends(file.path, about.st_size),
                    ]
                )
        except OSError as error:
            raise DataError(f"{file.path}: cannot be read ({error.strerror}).") from None
    return found


def _content(path: Path) -> str:
    digest = sha256()
    with path.open("rb", buffering=0) as file:
        while data := file.read(_AT_ONCE):
            digest.update(data)
    return digest.hexdigest()


def _ends(path: Path, size: int) -> str:
    with path.open("rb") as file:
        start = file.read(_ENDS)
        file.seek(max(size - _ENDS, 0))
        return sha256(start + file.read(_ENDS)).hexdigest()[:32]


@contextmanager
def written_aside(temporary: str | None = None) -> Iterator[Path]:
    """Yield an empty folder to write into, in the cache or in a folder for temporary files.

    It is gone afterwards unless it was renamed.

    Raises
    ------
    DataError
        If the disk is full or the folder cannot be written to; nothing is left behind then.
    """
    with folder_aside(temporary) as aside:
        try:
            yield aside
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def folder_aside(temporary: str | None = None) -> Iterator[Path]:
    """Yield an empty folder to write into; it stays when all of it could be written.

    When the process is gone that made it, the next one that writes removes it.
    """
    folder = cache_folder() if temporary is None else Path(temporary)
    aside = _aside(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        aside.mkdir()
        yield aside
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        raise DataError(
            f"The packed columns cannot be written to {str(folder)!r} ({error.strerror}). Make room there, or "
            f"name another folder with the environment variable {'TMPDIR' if temporary else 'XORDAL_CACHE'}."
        ) from None


def _aside(folder: Path) -> Path:
    return folder / f".{socket.gethostname()}.{os.getpid()}.{uuid4().hex[:8]}{_PART}"


def publish(aside: Path, entry: Path) -> None:
    """Make a folder that was written aside the entry; one of the same table that is there already stays.

    One of the same data is not always the same table: what looks like an identifier is left out by some
    commands and kept by others.
    """
    for _ in range(10):
        try:
            aside.rename(entry)
        except OSError:  # there is an entry: another run was faster, or it is stale
            if is_same(entry, aside):
                return
            remove(entry)
        else:
            return
    raise OSError(0, "another run keeps writing the same entry")


def is_same(entry: Path, other: Path) -> bool:
    """Whether two folders hold the same table of the same data."""
    try:
        found, expected = read_description(entry), read_description(other)
    except DamagedStore:
        return False
    return all(found.get(word) == expected.get(word) for word in ("stamp", "mark"))


def remove(entry: Path) -> None:
    """Remove an entry at once: it is renamed first, so that nobody finds half of it."""
    with contextlib.suppress(OSError):
        gone = _aside(entry.parent)
        entry.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Remove what processes of this machine that no longer run have left."""
    for left in folder.glob(f".{glob.escape(socket.gethostname())}.*{_PART}"):
        if not _is_written(left):
            shutil.rmtree(left, ignore_errors=True)


def _is_written(aside: Path) -> bool:
    """Whether a process of this machine is still at work in a folder."""
    pid = aside.name.removeprefix(f".{socket.gethostname()}.").split(".")[0]
    return pid.isdecimal() and _runs(int(pid))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@dataclass(frozen=True, slots=True)
class Entry:
    """One table in the cache: where, what it was made of, and its size."""

    folder: Path
    label: str
    n_rows: int
    n_columns: int
    n_bytes: int
    made: float


def entries() -> list[Entry]:
    """Return what is in the cache, the newest first."""
    found = []
    folder = cache_folder()
    for entry in folder.iterdir() if folder.is_dir() else ():
        try:
            about = read_description(entry)
            size = sum(file.stat().st_size for file in entry.iterdir())
            made = entry.stat().st_mtime
            sizes = int(about["n_rows"]), len(about["names"])
            found.append(Entry(entry, str(about["label"]), *sizes, size, made))
        except (DamagedStore, OSError, KeyError, TypeError, ValueError):
            continue
    return sorted(found, key=lambda one: -one.made)


def clear() -> int:
    """Remove all entries, and what killed runs have left; return how many bytes that freed."""
    folder, freed = cache_folder(), 0
    for entry in folder.iterdir() if folder.is_dir() else ():
        is_left = entry.name.endswith(_PART) and not _is_written(entry)
        is_own = is_left or (len(entry.name) == 32 and entry.name.isalnum())
        if is_own and entry.is_dir():
            freed += sum(file.stat().st_size for file in entry.iterdir() if file.is_file())
            remove(entry)
    return freed
