"""Files and standard input: bytes into columns, by what the bytes are and not by what the file is called."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

from xordal.data.column import Column, Where
from xordal.data.dialect import TextFormat
from xordal.errors import DataError

_NOT_A_TABLE = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF document",
    b"ARROW1\0\0": "an Arrow IPC (Feather) file",
    b"BZh91AY": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"SQLite format 3": "an SQLite database",
}


def file_columns(path: str | Path, form: TextFormat, *, least_columns: int = 2) -> tuple[list[Column], Where]:
    """Return the columns of a file, or of standard input for ``-``, and what tells where a row is.

    Parquet, CSV and TSV are known, the last two also compressed with gzip.

    Raises
    ------
    DataError
        If the file cannot be read or is no table.
    """
    label = "standard input" if str(path) == "-" else str(path)
    data = _unzipped(file_bytes(path), label)
    for start, kind in _NOT_A_TABLE.items():
        if data.startswith(start):
            raise DataError(f"{label} is {kind}. Save the table as CSV or Parquet.")
    if data.startswith(b"PAR1") and data[4:5] not in (b",", b";", b"\t", b"|"):  # not a column of that name
        from xordal.data.parquet import parquet_columns

        return parquet_columns(data, label), lambda row, name: f"{label}, row {row + 1}, column {name!r}"
    from xordal.data.text import parse

    return parse(data, form, label, least_columns=least_columns)


def file_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``; DataError if it cannot be read."""
    if str(path) == "-":
        if sys.stdin is None:
            raise DataError("Standard input is closed. Name a file, or pipe a table in.")
        return sys.stdin.buffer.read()
    if not str(path):
        raise DataError("The name of the file is empty. Name a CSV or Parquet file, or - for standard input.")
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}. Check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{str(path)!r} is a directory. Name a CSV or Parquet file in it.") from None
    except PermissionError:
        raise DataError(f"{path}: you may not read this file. Check its permissions.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(f"{path}: cannot be read ({reason}).") from None


def _unzipped(data: bytes, label: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{label}: the gzip data are damaged or cut short ({error}). Compress it anew."
        ) from None
