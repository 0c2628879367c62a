"""Files and standard input: bytes into columns, by what the bytes are and not by what the file is called."""

from __future__ import annotations

import sys
from pathlib import Path

from xordal.data.arrow_extra import need_arrow
from xordal.data.column import Column, Where
from xordal.data.dialect import TextFormat, decode
from xordal.data.unpacking import is_workbook, unpacked
from xordal.errors import DataError

ARROW_STARTS = (b"ARROW1\0\0", b"\xff\xff\xff\xff")
"""What Arrow files begin with: files (Feather) and streams."""

_AS_TEXT = "Or write the table as CSV."
_PICTURE = "a picture"
_NOT_A_TABLE = {
    b"FEA1": "a Feather file of the first version",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"$FL2": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\x89PNG": _PICTURE,
    b"\xff\xd8\xff": _PICTURE,  # JPEG
    b"GIF87a": _PICTURE,
    b"GIF89a": _PICTURE,
    b"II*\0": _PICTURE,  # TIFF, in either order of bytes
    b"MM\0*": _PICTURE,
    b"\x93NUMPY": "a NumPy array",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
}
_WEB_PAGE = (b"<!doctype html", b"<html")


def file_columns(path: str | Path, form: TextFormat, *, least_columns: int = 2) -> tuple[list[Column], Where]:
    """Return the columns of a file, or of standard input for ``-``, and what tells where a row is.

    Text (CSV, TSV, JSON Lines) and workbooks (Excel, OpenDocument), Parquet and Arrow files are known, all of
    them also compressed.

    Raises
    ------
    DataError
        If the file cannot be read or is no table.
    """
    data, label = unpacked(file_bytes(path), "standard input" if str(path) == "-" else str(path))
    for start, kind in _NOT_A_TABLE.items():
        if data.startswith(start):
            raise DataError(f"{label} is {kind}. Save the table as CSV, Excel or Parquet.")
    if data[257:262] == b"ustar":
        raise DataError(
            f"{label} is a tar archive. Unpack it (tar -xf) and name the file that holds the table."
        )
    if is_web_page(data):
        raise DataError(f"{label} is a web page. Save its table as CSV, Excel or Parquet.")
    if is_duckdb(data):
        raise DataError(f"{label} is a DuckDB database. Save the table as CSV, Excel or Parquet.")
    if is_workbook(data):
        from xordal.data.excel import workbook_records
        from xordal.data.text import from_records

        rows, label = workbook_records(data, label, form.sheet)
        return from_records(rows, form, label, least_columns=least_columns)
    if form.sheet is not None:
        raise DataError(f"{label} is no workbook, so it has no sheet {form.sheet!r}. Leave --sheet out.")
    if data.startswith(b"PAR1") and data[4:5] not in (b",", b";", b"\t", b"|"):  # not a column of that name
        need_arrow(f"{label} is a Parquet file", _AS_TEXT)
        from xordal.data.parquet import parquet_columns

        return parquet_columns(data, label), _by_row(label)
    if data.startswith(ARROW_STARTS):
        need_arrow(f"{label} is an Arrow file (Feather)", _AS_TEXT)
        from xordal.data.arrow_file import arrow_columns

        return arrow_columns(data, label), _by_row(label)
    return _text_columns(data, form, label, least_columns)


def is_web_page(start: bytes) -> bool:
    """Whether a file that begins so is HTML.

    Examples
    --------
    >>> is_web_page(b"  <!DOCTYPE html><html>"), is_web_page(b"<BIF>")
    (True, False)
    """
    return start[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB_PAGE)


def is_duckdb(start: bytes) -> bool:
    """Whether a file that begins so is a DuckDB database.

    Behind the name its version follows, a small number in eight bytes. No text has a zero byte there, and a CSV
    file may well begin with ``a,b,c,d,DUCKS``.
    """
    return start[8:12] == b"DUCK" and b"\0" in start[12:20]


def _text_columns(data: bytes, form: TextFormat, label: str, least: int) -> tuple[list[Column], Where]:
    from xordal.data.json_lines import json_columns, looks_like_json
    from xordal.data.text import parse_text

    text = decode(data, form.encoding, label)
    if looks_like_json(text):
        return json_columns(text, label), _by_row(label)
    return parse_text(text, form, label, least_columns=least)


def _by_row(label: str) -> Where:
    return lambda row, name: f"{label}, row {row + 1}, column {name!r}"


def file_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``; DataError if it cannot be read."""
    if str(path) == "-":
        if sys.stdin is None:
            raise DataError("Standard input is closed. Name a file, or pipe a table in.")
        return sys.stdin.buffer.read()
    if not str(path):
        raise DataError("The name of the file is empty. Name a file, or - for standard input.")
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}. Check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{str(path)!r} is a directory. Name a file in it.") from None
    except PermissionError:
        raise DataError(f"{path}: you may not read this file. Check its permissions.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(f"{path}: cannot be read ({reason}).") from None
