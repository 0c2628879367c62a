"""Files in: a CSV file with a header becomes a :class:`CategoricalTable`.

Every value is a string, as it stands in the file. A table that cannot be used is refused with the file, the
row and the column of what is wrong; rows are counted as lines of the file, the header being line 1.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted


def read_csv(path: str | Path) -> CategoricalTable:
    """Read a comma-separated UTF-8 file whose first line names the columns.

    Raises
    ------
    DataError
        If the file cannot be read or is no complete table of categories.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return _table(path, csv.reader(lines, strict=True))
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}. Check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{str(path)!r} is a directory. Name a CSV file in it.") from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} is not UTF-8 text. Save the file as CSV in UTF-8."
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None


def _table(path: Path, reader: Iterator[list[str]]) -> CategoricalTable:
    lines = _numbered(path, reader)
    header = next(lines, None)
    if header is None:
        raise DataError(f"{path}: the file is empty. The first line must name the columns.")
    names = [name.strip() for name in header[1]]
    _check_names(path, names)
    rows: list[list[str]] = []
    places: list[int] = []
    for number, row in lines:
        if len(row) != len(names):
            raise DataError(
                f"{path}, line {number}: {counted(len(row), 'value')}, but the header names "
                f"{counted(len(names), 'column')}. Mend the line, or quote values that contain a comma."
            )
        rows.append(row)
        places.append(number)
    if not rows:
        raise DataError(f"{path}: there is a header but no rows.")
    columns: dict[str, tuple[str, ...]] = dict(zip(names, zip(*rows, strict=True), strict=True))
    for name, column in columns.items():
        for value in set(column):
            if wrong := _wrong_with(value):
                place = places[column.index(value)]
                raise DataError(f"{path}, line {place}, column {name!r}: {wrong}")
    return CategoricalTable.from_columns(columns)


def _wrong_with(value: str) -> str | None:
    """Return what is wrong with a value and what to do, or None."""
    if not value.strip():
        return (
            "the value is missing. Fill it in, remove the row, or write a level of its own such as 'unknown'."
        )
    if "\0" in value:
        return "the value contains a NUL byte. This is no text file; save it as CSV in UTF-8."
    return None


def _numbered(path: Path, reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not blank with the number of the line they end on."""
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            line = reader.line_num  # type: ignore[attr-defined]
            raise DataError(f"{path}, line {line}: not valid CSV ({error}).") from None
        if row is None:
            return
        if row:
            yield reader.line_num, row  # type: ignore[attr-defined]


def _check_names(path: Path, names: list[str]) -> None:
    for place, name in enumerate(names, start=1):
        if not name:
            raise DataError(f"{path}: column {place} has no name. Name it in the first line.")
        if names.index(name) != place - 1:
            raise DataError(
                f"{path}: columns {names.index(name) + 1} and {place} are both named {name!r}. Rename one."
            )
    if len(names) == 1:
        raise DataError(
            f"{path}: only one column, {names[0]!r}. A network needs at least two; "
            "if there are more, separate them by commas."
        )
