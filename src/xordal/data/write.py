"""Files out: written aside and renamed, so that a file is either the old one or all of the new one."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from xordal.errors import DataError


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table as comma-separated text with a header.

    Examples
    --------
    >>> csv_text(["a", "b"], [(0, 1), (1, 0)])
    'a,b\n0,1\n1,0\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all.

    What is no regular file (a pipe, a device) is written to directly.

    Raises
    ------
    DataError
        If the file cannot be written; an existing file is left as it was.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="")
            return
        path = path.resolve()  # a link stays a link: what it points to is replaced
        aside = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            aside.write_text(text, encoding="utf-8", newline="")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"Cannot write {str(path)!r}: {error.strerror}.") from None
