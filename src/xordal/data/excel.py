"""Workbooks (Excel's .xlsx, .xlsb and .xls, OpenDocument's .ods) into records of text, as a text file has them.

Numbers, dates and truth values become the text they are shown as, so that all that is detected of text files,
from a title above the header to money, is detected here by the same code.
"""

from __future__ import annotations

import re
import warnings
from itertools import islice
from typing import Any

from xordal.data.merged_cells import fill_merged
from xordal.errors import DataError, DataWarning, counted, nearest

_MOMENT, _MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)"), "00:00:00"
_LOOKED_AT = 30  # rows of a sheet that tell whether it holds a table


class SheetChosen(DataWarning):
    """Which of the sheets of a workbook was read, where nobody said which."""

    def __init__(self, label: str, chosen: str, others: list[str]) -> None:
        self.chosen = chosen
        told = ", ".join(map(repr, others[:8])) + (", ..." if len(others) > 8 else "")
        super().__init__(f"{label}: the sheet {chosen!r} is read, not {told}. --sheet names another.")


def workbook_records(data: bytes, label: str, sheet: str | int | None) -> tuple[list[list[str]], str]:
    """Return the rows of one sheet of a workbook, and what the place is called in messages.

    ``sheet`` is a name, or a number from 1 on. Without it, the first sheet that holds at least two columns and
    two rows is taken, and a warning names the others.

    Raises
    ------
    DataError
        If the workbook cannot be read, has no such sheet, or the reader is not installed.
    """
    fastexcel = _reader()
    try:
        book = fastexcel.read_excel(data)
    except Exception as error:  # fastexcel's own errors have no common base but Exception
        raise DataError(
            f"{label}: this workbook cannot be read ({_first_line(error)}). Save it anew."
        ) from None
    names = list(book.sheet_names)
    if not names:
        raise DataError(f"{label}: the workbook has no sheets.")
    if sheet is not None:
        chosen = _named_sheet(names, sheet, label)
        return _filled(_records(book, chosen, label), data, chosen, label), f"{label}, sheet {chosen!r}"
    for name in names:
        rows = _records(book, name, label)
        if _is_table(rows):
            rows = _filled(rows, data, name, label)
            if len(names) == 1:
                return rows, label
            others = [other for other in names if other != name]
            warnings.warn(SheetChosen(label, name, others), stacklevel=2)
            return rows, f"{label}, sheet {name!r}"
    raise DataError(f"{label}: no sheet holds a table ({', '.join(names[:8])}).")


def sheet_names(data: bytes) -> list[str]:
    """Return the names of the sheets of a workbook."""
    return list(_reader().read_excel(data).sheet_names)


def _reader() -> Any:
    try:
        import fastexcel
        import pyarrow  # noqa: F401 - what fastexcel hands sheets over with
    except ImportError:
        raise DataError(
            "To read a workbook (Excel, OpenDocument), install the extra: pip install 'xordal[excel]'. Or save "
            "the sheet as CSV."
        ) from None
    return fastexcel


def _named_sheet(names: list[str], sheet: str | int, label: str) -> str:
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdecimal():
        if 1 <= int(sheet) <= len(names):
            return names[int(sheet) - 1]
        raise DataError(f"{label} has {counted(len(names), 'sheet')}: there is no sheet {sheet}.")
    raise DataError(f"{label}: there is no sheet {sheet!r}; {nearest(sheet, names)}")


def _records(book: Any, name: str, label: str) -> list[list[str]]:
    try:
        sheet = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string")
        columns = [column.to_pylist() for column in sheet.to_arrow().columns]
    except Exception as error:  # as above
        raise DataError(f"{label}, sheet {name!r}: cannot be read ({_first_line(error)}).") from None
    return [list(row) for row in zip(*map(_days, columns), strict=True)]


def _days(cells: list[str | None]) -> list[str]:
    """Return the cells of a column as text; dates without a time where all of them are at midnight.

    Examples
    --------
    >>> _days(["day", "2024-03-25 00:00:00", None])
    ['day', '2024-03-25', '']
    """
    texts = ["" if cell is None else cell for cell in cells]
    found = [_MOMENT.fullmatch(text) for text in texts]
    if {moment[2] for moment in found if moment is not None} != {_MIDNIGHT}:
        return texts
    return [text if moment is None else moment[1] for text, moment in zip(texts, found, strict=True)]


def _filled(rows: list[list[str]], data: bytes, name: str, label: str) -> list[list[str]]:
    """Return rows in which a cell that is merged over several of them is each row's."""
    if n_merged := fill_merged(rows, data, name):
        told = f"{counted(n_merged, 'cell')} merged over several rows: each of these rows has the value."
        warnings.warn(DataWarning(f"{label}, sheet {name!r}: {told}"), stacklevel=2)
    return rows


def _is_table(rows: list[list[str]]) -> bool:
    widths = [sum(cell.strip() != "" for cell in row) for row in islice(rows, _LOOKED_AT)]
    return sum(width >= 2 for width in widths) >= 2


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
