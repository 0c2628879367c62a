"""Compressed files: bytes into those that were packed, by what they begin with and not by the file's name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable

from xordal.errors import DataError, counted

_MOST_LAYERS = 3  # a CSV in a gzip in a zip is met; more layers than this are not
_WORKBOOKS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")


def unpacked(data: bytes, label: str) -> tuple[bytes, str]:
    """Return what a compressed file holds, and its name in an archive; other bytes as they are.

    gzip, bzip2, xz and zstd are known, and zip archives of one file. An Excel workbook is a zip archive too,
    and is left as it is.

    Raises
    ------
    DataError
        If the compressed data are damaged, or an archive holds several files.

    Examples
    --------
    >>> unpacked(bz2.compress(b"a,b"), "small.csv.bz2")
    (b'a,b', 'small.csv')
    """
    for _ in range(_MOST_LAYERS):
        if data.startswith(b"PK\x03\x04"):
            if is_workbook(data):
                return data, label
            data, label = _only_file(data, label)
            continue
        found = next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)
        if found is None:
            return data, label
        name, ending, unpack = found
        try:
            data, label = unpack(data), label.removesuffix(ending)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise DataError(
                f"{label}: the {name} data are damaged or cut short ({error}). Compress it anew."
            ) from None
    return data, label


def is_workbook(data: bytes) -> bool:
    """Whether bytes are a spreadsheet: Excel's two formats, or OpenDocument."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return True
    if not data.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name in _WORKBOOKS for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


def _only_file(data: bytes, label: str) -> tuple[bytes, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inside = [name for name in archive.namelist() if _is_meant(name)]
            if len(inside) == 1:
                return archive.read(inside[0]), f"{label}/{inside[0]}"
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, zlib.error) as error:
        raise DataError(
            f"{label}: the zip archive or Excel workbook cannot be read ({error}). Save it anew."
        ) from None
    told = ", ".join(inside[:8]) + (", ..." if len(inside) > 8 else "")
    example = f"unzip -p {label} {inside[0] if inside else 'FILE'} | xordal learn -"
    raise DataError(
        f"{label} is a zip archive of {counted(len(inside), 'file')}{': ' * bool(inside)}{told}. Unpack the "
        f"one that holds the table, for example: {example}"
    )


def _is_meant(name: str) -> bool:
    """Whether a name in an archive is a file that someone put there, and none that a program added."""
    return not name.endswith("/") and not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))


def _zstd(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.input_stream(pa.BufferReader(data), compression="zstd") as stream:
        return bytes(stream.read())


_KINDS: dict[bytes, tuple[str, str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzip", ".gz", gzip.decompress),
    b"BZh91AY&SY": ("bzip2", ".bz2", bz2.decompress),
    b"\xfd7zXZ\0": ("xz", ".xz", lzma.decompress),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst", _zstd),
}
"""What compressed data begin with: the name of the format, the ending of its files, and what unpacks them."""
