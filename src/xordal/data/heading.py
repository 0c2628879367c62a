"""Where a table begins in a file: titles above it, its header, columns without a name, notes below.

The rules, of the first fifty records:

* a record with few values (one, or up to half of what most records have) above a record of names is a title;
* the next record names the columns, unless it holds nothing but numbers (:func:`looks_like_header`);
* a header with one name less than there are values is R's: the first column holds names of rows;
* a column without name and values is none; one without a name at the front that numbers the rows is no data;
* records with one value behind the last full one are notes.

What is left out is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from xordal.data.column import Column
from xordal.data.levels import as_numbers
from xordal.data.numerals import has_unit, is_numeral
from xordal.errors import DataError, counted

SAMPLE = 50
"""Records looked at to find out how a file is written."""

_MOST_NOTES = 10  # records below a table that may be notes


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a table begins, and what its columns are called.

    Attributes
    ----------
    n_above
        Number of records above the header, or above the first row where there is no header.
    has_header
        Whether a record names the columns.
    names
        One name for each field of a row; empty where it has none.
    """

    n_above: int
    has_header: bool
    names: list[str]


def find_heading(records: Sequence[Sequence[str]], has_header: bool | None) -> Heading:
    """Return where the table begins among the first records of a file, blank ones left out.

    Examples
    --------
    >>> find_heading([["Survey 2024", "", ""], ["age", "sex", ""], ["31", "f", ""], ["40", "m", ""]], None)
    Heading(n_above=1, has_header=True, names=['age', 'sex'])
    """
    width = _width(records)
    n_above = _titles(records)
    first = [" ".join(name.split("\n")).strip() for name in records[n_above][:width]]
    if has_header is None:
        if _names_rows(records[n_above:], width):
            return Heading(n_above, True, ["", *first])
        has_header = looks_like_header([name for name in first if name] or first)
    if not has_header:
        return Heading(n_above, False, [f"x{v}" for v in range(max(width, len(first)))])
    return Heading(n_above, True, first)


def _names_rows(records: Sequence[Sequence[str]], width: int) -> bool:
    """Whether records are as R writes them: names of rows, and no name above those in the header."""
    header, rows = records[0], records[1:]
    names = {row[0].strip() for row in rows}
    is_longer = len(header) == width - 1 and all(len(row) == width for row in rows)
    return len(rows) > 1 and is_longer and len(names) == len(rows) and "" not in names


def looks_like_header(first: Sequence[str]) -> bool:
    """Whether the first record names the columns.

    Examples
    --------
    >>> looks_like_header(["age", "7"]), looks_like_header(["0", "1", "1"]), looks_like_header(["0", "1", "2"])
    (True, False, True)
    """
    numbers = None if all(has_unit(name) for name in first) else as_numbers(first)
    if numbers is None:
        return True
    return len(numbers) > 2 and numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def names_among_values(heading: Heading, records: Sequence[Sequence[str]]) -> list[str]:
    """Return the names that are values of their columns too, if so many are that the header may be a row.

    They are at least two, and half of all names. A column that holds nothing but its own name is one of the
    answers to a question with several, and says nothing.

    Examples
    --------
    >>> rows = [["red", "round", "7"], ["blue", "round", "8"], ["red", "square", "9"]]
    >>> names_among_values(Heading(0, True, rows[0]), rows)
    ['red', 'round']
    """
    if not heading.has_header:
        return []
    cells = [[value.strip() for value in row] for row in records[heading.n_above :]]
    rows = [row for row in cells[1:] if row != cells[0]]  # a header may come again
    found = []
    for v, name in enumerate(heading.names):
        values = {"".join(row[v : v + 1]) for row in rows} - {""}
        if name in values and len(values) > 1:
            found.append(name)
    return found if len(found) >= max(2, len(heading.names) / 2) else []


def n_filled(record: Sequence[str]) -> int:
    """Return how many values of a record are not blank."""
    return sum(1 for value in record if value.strip())


def _width(records: Sequence[Sequence[str]]) -> int:
    """Return how many fields most records have, those at the end that are blank everywhere not counted."""
    usual = Counter(map(len, records)).most_common()
    width = max(width for width, times in usual if times == usual[0][1])
    full = [record for record in records if len(record) == width]
    while width > 1 and not any(record[width - 1].strip() for record in full):
        width -= 1
    return width


def _titles(records: Sequence[Sequence[str]]) -> int:
    """Return how many of the first records are titles and notes above the table."""
    filled = [n_filled(record) for record in records]
    most = int(median(filled))
    if most < 2:
        return 0
    above = 0
    while above < len(filled) - 1 and filled[above] <= max(1, most // 2):
        above += 1
    # A header shorter than its rows is a mistake to be told; it is followed by values, a title by names.
    if max(filled[:above], default=0) > 1 and any(is_numeral(value) for value in records[above]):
        return 0
    return above


def n_notes(records: Sequence[Sequence[str]], width: int) -> int:
    """Return how many of the last records are notes below the table: one value where others have three or more.

    Examples
    --------
    >>> n_notes([["1", "2", "3"], ["4", "5", "6"], ["Source: the office"]], width=3)
    1
    """
    if width < 3:
        return 0
    number = 0
    for record in reversed(records[-_MOST_NOTES:]):
        if n_filled(record) > 1 or not (record and record[0].strip()):
            break
        number += 1
    return number if number < len(records) else 0


def named_columns(columns: Sequence[Column], label: str) -> tuple[list[Column], list[str]]:
    """Return the columns, each with a name of its own, and what there is to say about it.

    Columns without name and values are left out, and so is one at the front that numbers the rows.
    """
    kept, said = [], []
    for place, column in enumerate(columns, start=1):
        if column.name or column.levels:
            kept.append((place, column))
    if len(kept) > 1 and not kept[0][1].name and _numbers_rows(kept[0][1]):
        said.append(f"{label}: the first column has no name and numbers the rows; it is left out.")
        kept = kept[1:]
    if not kept:
        raise DataError(f"{label}: there is a header but no column has a name or a value.")
    taken = Counter(column.name for _, column in kept)
    named: list[Column] = []
    before: set[str] = set()
    for place, column in kept:
        name = column.name
        if not name:
            name = _free(f"column {place}", taken)
            said.append(f"{label}: column {place} has no name and is called {name!r}.")
        elif name in before:
            name = _free(name, taken)
            said.append(f"{label}: {counted(taken[column.name], 'column')} are named {column.name!r}; "
                        f"the one at place {place} is called {name!r}.")  # fmt: skip
        named.append(Column(name, column.levels, column.codes))
        before.add(name)
        taken[name] += name != column.name
    return named, said


def _free(name: str, taken: Counter[str]) -> str:
    if not taken[name]:
        return name
    number = 2
    while taken[f"{name} ({number})"]:
        number += 1
    return f"{name} ({number})"


def _numbers_rows(column: Column) -> bool:
    """Whether every row has a value of its own: a row index, as pandas and R write it."""
    return not column.has_missing and len(column.levels) == len(column.codes)
