"""Files out: written aside and renamed, so that a file is either the old one or all of the new one."""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from xordal.errors import DataError

_ROWS_AT_A_TIME = 50_000
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_BINARY = getattr(os, "O_BINARY", 0)  # without it Windows would end lines in two characters
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table as comma-separated text with a header.

    Examples
    --------
    >>> csv_text(["a", "b"], [(0, 1), (1, 0)])
    'a,b\n0,1\n1,0\n'
    """
    return "".join(csv_pieces(names, rows))


def csv_pieces(names: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> Iterator[str]:
    """Yield a table as comma-separated text piece by piece, so that a long one need not fit into memory."""
    rows = iter(rows)
    piece: list[Sequence[object]] = [names]
    while piece:
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(piece)
        yield text.getvalue()
        piece = list(islice(rows, _ROWS_AT_A_TIME))


def is_standard_output(path: str | Path) -> bool:
    """Whether a path names this process's standard output, by a dash or as a device.

    Examples
    --------
    >>> is_standard_output("-"), is_standard_output("/dev/stdout"), is_standard_output("out.csv")
    (True, True, False)
    """
    return str(path) == "-" or _descriptor(path) == 1


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all.

    What is no regular file (a pipe, a device) is written to directly; ``/dev/stdout`` and the like are what the
    process already holds open, never replaced or cut. The permissions of an existing file are kept.

    Raises
    ------
    DataError
        If the file cannot be written; an existing file is left as it was.
    """
    write_pieces(path, [text])


def write_pieces(path: str | Path, pieces: Iterable[str | bytes]) -> None:
    """Write a file given piece by piece, texts in UTF-8, as :func:`write_text` does."""
    try:
        if (descriptor := _descriptor(path)) is not None:
            _write_to(os.dup(descriptor), pieces)
        elif Path(path).exists() and not Path(path).is_file():
            _write_to(os.open(path, os.O_WRONLY), pieces)
        else:
            _replace(Path(path).resolve(), pieces)  # a link stays a link: what it points to is replaced
    except OSError as error:
        raise DataError(f"Cannot write {str(path)!r}: {error.strerror}.") from None


def _descriptor(path: str | Path) -> int | None:
    """Return the number of the open file a path under /dev or /proc stands for."""
    numbered = _DESCRIPTOR.fullmatch(str(path))
    return int(numbered[1]) if numbered else _STANDARD.get(str(path))


def _replace(path: Path, pieces: Iterable[str | bytes]) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o666)
        if path.exists() and hasattr(os, "fchmod"):  # Windows has no such permissions
            os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
        _write_to(descriptor, pieces, sync=True)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _write_to(descriptor: int, pieces: Iterable[str | bytes], *, sync: bool = False) -> None:
    """Write to an open file and close it; with ``sync`` the disk has it all before anything is renamed."""
    with open(descriptor, "wb") as file:
        file.writelines(piece if isinstance(piece, bytes) else piece.encode("utf-8") for piece in pieces)
        if sync:
            file.flush()
            os.fsync(descriptor)
