"""Cells of an Excel sheet that are merged over several rows: one label for all the rows beside it.

A workbook keeps the label of such a cell in its first row, and the reader of sheets leaves the others empty.
The sheet itself says which cells are merged, so nothing is guessed: the label is every row's. Cells merged
sideways, as titles are, stay as they are.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

_REL = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})\"")
_CELL = re.compile(rb"<(?:\w+:)?c\s(?:[^>]*?\s)?r=\"([A-Z]{1,3})[0-9]{1,7}\"")
_UNPLACED = re.compile(rb"<(?:\w+:)?c(?:>|\s(?![^>]*?\br=\"))")


def fill_merged(rows: list[list[str]], data: bytes, sheet: str) -> int:
    """Write the value of cells merged over rows into each of them; return how many such cells there were.

    ``rows`` begin with the first row of the sheet and the first column that holds anything, as the reader of
    workbooks has them. Files that are no Excel workbook of today (.xlsx) have none.
    """
    found = _sheet_text(data, sheet)
    merged = [] if found is None else list(_over_rows(found))
    if found is None or not merged or _UNPLACED.search(found):
        return 0
    first = min((_number(match[1]) for match in _CELL.finditer(found)), default=0)
    n_filled = 0
    for column, top, bottom in merged:
        place = column - first
        if top >= len(rows) or not 0 <= place < len(rows[top]) or not rows[top][place].strip():
            continue
        n_filled += 1
        for row in rows[top + 1 : bottom + 1]:
            row[place] = row[place] or rows[top][place]
    return n_filled


def _over_rows(text: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the column, the first and the last row of each cell that is merged over rows, from 0 on."""
    for match in _MERGED.finditer(text):
        top, bottom = int(match[2]) - 1, int(match[4]) - 1
        if bottom > top:
            yield _number(match[1]), top, bottom


def _number(letters: bytes) -> int:
    """Return the place of a column from its letters: A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1


def _sheet_text(data: bytes, sheet: str) -> bytes | None:
    """Return the XML of a sheet by its name; None for other workbooks."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            named, placed = archive.read("xl/workbook.xml"), archive.read("xl/_rels/workbook.xml.rels")
            if b"<!" in named + placed:  # no program writes a document type there, whose entities could unfold
                return None
            book, parts = ElementTree.fromstring(named), ElementTree.fromstring(placed)
            wanted = {each.get(_REL) for each in book.iter() if each.get("name") == sheet and each.get(_REL)}
            targets = [each.get("Target", "") for each in parts if each.get("Id") in wanted]
            if len(targets) != 1:
                return None
            target = targets[0]
            return archive.read(target[1:] if target.startswith("/") else f"xl/{target}")
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError):
        return None
