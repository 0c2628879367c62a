"""Compressed files: bytes into those that were packed, by what they begin with and not by the file's name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from xordal.data.arrow_extra import need_arrow
from xordal.errors import DataError, counted, warn

_MOST_LAYERS = 3  # a CSV in a gzip in a zip is met; more layers than this are not
_PIECE = 2**20  # bytes that are unpacked at a time
_TABLES = (
    ".csv",
    ".tsv",
    ".tab",
    ".xlsx",
    ".xlsb",
    ".xls",
    ".ods",
    ".parquet",
    ".feather",
    ".jsonl",
    ".ndjson",
)
_WORKBOOKS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")


def unpacked(data: bytes, label: str, most: int | None = None) -> tuple[bytes, str]:
    """Return what a compressed file holds, and its name in an archive; other bytes as they are.

    gzip, bzip2, xz and zstd are known, and zip archives of one file. An Excel workbook is a zip archive too,
    and is left as it is.

    Raises
    ------
    DataError
        If the compressed data are damaged, an archive holds several files, or what is in it is larger than
        ``most`` bytes.

    Examples
    --------
    >>> unpacked(bz2.compress(b"a,b"), "small.csv.bz2")
    (b'a,b', 'small.csv')
    """
    n_layers = 0
    while True:
        with _layer(io.BytesIO(data), label) as found:
            if found is None:
                return data, label
            n_layers = _one_more(n_layers, label)
            inside, label = found
            data = inside.read() if most is None else inside.read(most + 1)  # Arrow's zstd takes no -1
            if most is not None and len(data) > most:
                raise DataError(f"{label} unpacks to more than {most:,} bytes, the most that is read.")


def unpack_file(path: Path, label: str, most: int) -> None:
    """Put what a compressed file holds in its place, piece by piece, so that it never stands in memory.

    Raises
    ------
    DataError
        As :func:`unpacked` does, or if what it holds is larger than ``most`` bytes. That goes for a workbook
        and a Parquet file too, which are left as they are.
    """
    part = path.with_name(f"{path.name}.unpacked")
    n_layers = 0
    try:
        while True:
            with path.open("rb") as file, _layer(file, label) as found:
                if found is None:
                    break
                n_layers = _one_more(n_layers, label)
                inside, label = found
                with part.open("wb") as out:
                    part.chmod(0o600)
                    while piece := inside.read(_PIECE):
                        if out.tell() + len(piece) > most:
                            raise _too_large(label, most)
                        out.write(piece)
            part.replace(path)
        _check_workbook(path, label, most)
        _check_parquet(path, label, most)
    finally:
        part.unlink(missing_ok=True)


def _one_more(n_layers: int, label: str) -> int:
    """Count a layer; refuse what is still compressed after a few, for a file could go on so without an end."""
    if n_layers == _MOST_LAYERS:
        raise DataError(f"{label} is compressed more than {_MOST_LAYERS} times over. Unpack it, and try again.")
    return n_layers + 1


def _check_workbook(path: Path, label: str, most: int) -> None:
    """Refuse a workbook that says itself that it unpacks to more."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > most:
            raise _too_large(label, most)


def _check_parquet(path: Path, label: str, most: int) -> None:
    """Refuse a Parquet file of more cells than text of that size has: two bytes each are the least.

    A value that stands in all rows takes a few bytes there, in memory it takes some for each row.
    """
    with path.open("rb") as file:
        if file.read(len(_PARQUET)) != _PARQUET:
            return
    try:
        import pyarrow as pa
        from pyarrow import parquet

        about = parquet.read_metadata(path)
    except ModuleNotFoundError:  # who reads the file says so
        return
    except (pa.ArrowException, OSError):  # cut short, or a table of text that begins so
        return
    if 2 * about.num_rows * about.num_columns > most:
        raise DataError(
            f"{label} holds {about.num_rows:,} rows of {counted(about.num_columns, 'column')}, which as text "
            f"are more than {most / 2**20:,.0f} MB, the most that is taken here. Leave out columns or rows."
        )


def _too_large(label: str, most: int) -> DataError:
    return DataError(
        f"{label} unpacks to more than {most / 2**20:,.0f} MB, the most that is taken here. Leave out columns "
        "or rows."
    )


@contextmanager
def _layer(file: BinaryIO, label: str) -> Iterator[tuple[IO[bytes], str] | None]:
    """Open what a compressed file holds, under its own name; None for a file that is not compressed."""
    start = file.read(_LONGEST_START)
    file.seek(0)
    if start.startswith(_ZIP):
        with _archive(file, label) as found:
            yield found
        return
    kind = next((kind for begins, kind in _KINDS.items() if start.startswith(begins)), None)
    if kind is None:
        yield None
        return
    name, ending, opened = kind
    try:
        with opened(file) as inside:
            yield inside, label.removesuffix(ending)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{label}: the {name} data are damaged or cut short ({error}). Compress it anew."
        ) from None


def is_workbook(data: bytes) -> bool:
    """Whether bytes are a spreadsheet: Excel's two formats, or OpenDocument."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return True
    if not data.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _has_workbook(archive)
    except zipfile.BadZipFile:
        return False


def _has_workbook(archive: zipfile.ZipFile) -> bool:
    return any(name in _WORKBOOKS for name in archive.namelist())


@contextmanager
def _archive(file: BinaryIO, label: str) -> Iterator[tuple[IO[bytes], str] | None]:
    """Open the only file of a zip archive, or its only one with the name of a table; None for a workbook."""
    try:
        with zipfile.ZipFile(file) as archive:
            if _has_workbook(archive):
                yield None
                return
            names = [name for name in archive.namelist() if _is_meant(name)]
            tables = [name for name in names if name.lower().endswith(_TABLES)]
            if len(names) > 1 and len(tables) == 1:
                warn(f"{label} is a zip archive of {len(names)} files; {tables[0]!r} is read.")
            if len(names) == 1 or len(tables) == 1:
                chosen = (tables or names)[0]
                with archive.open(chosen) as inside:
                    yield inside, f"{label}/{chosen}"
                return
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, zlib.error) as error:
        raise DataError(
            f"{label}: the zip archive or Excel workbook cannot be read ({error}). Save it anew."
        ) from None
    told = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    example = f"unzip -p {label} {names[0] if names else 'FILE'} | xordal learn -"
    raise DataError(
        f"{label} is a zip archive of {counted(len(names), 'file')}{': ' * bool(names)}{told}. Unpack the "
        f"one that holds the table, for example: {example}"
    )


def _is_meant(name: str) -> bool:
    """Whether a name in an archive is a file that someone put there, and none that a program added."""
    return not name.endswith("/") and not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))


def _zstd(file: BinaryIO) -> Any:
    need_arrow("To unpack zstd", "Or unpack the file first: zstd -d.")
    import pyarrow as pa

    return pa.input_stream(pa.PythonFile(file, "r"), compression="zstd")


_ZIP = b"PK\x03\x04"
_PARQUET = b"PAR1"
_KINDS: dict[bytes, tuple[str, str, Callable[[BinaryIO], Any]]] = {
    b"\x1f\x8b": ("gzip", ".gz", gzip.open),
    b"BZh91AY&SY": ("bzip2", ".bz2", bz2.open),
    b"\xfd7zXZ\0": ("xz", ".xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst", _zstd),
}
"""What compressed data begin with: the name of the format, the ending of its files, and what opens them."""
_LONGEST_START = max(map(len, _KINDS))
