"""Comma- or tab-separated text into columns of strings.

Python's own csv reader is the definition of what a file means. It reads headers and small files, and is asked
again whenever Arrow, which reads large files faster, refuses one: it then names the line that is wrong or
reads the file itself. Both forgive text behind a closing quote; a quotation that never ends is refused.
"""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass

from xordal.data.column import MISSING, Column, Where, from_values
from xordal.data.dialect import TextFormat, decode, find_delimiter, looks_like_header, records
from xordal.errors import DataError, DataWarning, counted

_LARGE = 1 << 20  # characters from which on Arrow is worth its import
_BLOCK = 1 << 24  # bytes Arrow parses at a time: a record must fit


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file, or its first lines, split into its header and the rest."""

    label: str
    text: str
    delimiter: str
    names: list[str]
    body_start: int

    @property
    def body(self) -> str:
        """The text behind the header."""
        return self.text[self.body_start :]

    def line_of(self, row: int) -> int:
        """Return the line of the file on which a row (0, 1, ...) of the table ends."""
        lines_before = _line_count(self.text[: self.body_start])
        for number, (line, _) in enumerate(records(self.body, self.delimiter, strict=False)):
            if number == row:
                return lines_before + line
        raise AssertionError("the table has as many rows as the file has records")


def parse(data: bytes, form: TextFormat, label: str, *, least_columns: int = 2) -> tuple[list[Column], Where]:
    """Return the columns of a text file, and a function that tells where a row is.

    Every value is a string, as it stands in the file; blank lines are no rows. Fewer than ``least_columns``
    are refused: mostly they are more, and their delimiter was not found.

    Raises
    ------
    DataError
        If the file is no complete table: with the line, the column and what to do.
    """
    text = split_text(decode(data, form.encoding, label), form, label, least_columns)
    columns = [without_tokens(column, form.missing) for column in _columns(text)]
    return columns, lambda row, name: f"{label}, line {text.line_of(row)}, column {name!r}"


def split_text(text: str, form: TextFormat, label: str, least_columns: int) -> Text:
    """Return a text with its delimiter found and its header apart; the text may be the beginning of a file."""
    if "\0" in text:
        line = _line_count(text[: text.index("\0")]) + 1
        raise DataError(
            f"{label}, line {line}: there is a NUL byte, so this is no text file in the encoding used. Save it "
            "as CSV in UTF-8, or give its encoding, for example --encoding utf-16."
        )
    delimiter = form.delimiter or ("\t" if _is_tab_separated(label, text) else find_delimiter(text))
    try:
        line, first = next(records(text, delimiter), (0, []))
    except csv.Error as error:
        raise DataError(f"{label}: the first line is not valid CSV ({error}). Mend its quotes.") from None
    if not first:
        raise DataError(f"{label}: the file is empty. The first line must name the columns.")
    has_header = looks_like_header(first) if form.has_header is None else form.has_header
    if form.has_header is None and not has_header:
        warnings.warn(
            f"{label}: the first line holds numbers only, so it is read as data and the columns are named x0, "
            "x1, ... Say --header if it names the columns, --no-header if not.",
            DataWarning,
            stacklevel=2,
        )
    names = [name.strip() for name in first] if has_header else [f"x{v}" for v in range(len(first))]
    _check_names(label, names, least_columns)
    return Text(label, text, delimiter, names, _offset(text, line) if has_header else 0)


def _is_tab_separated(label: str, text: str) -> bool:
    name = label.lower().removesuffix(".gz")
    return name.endswith((".tsv", ".tab")) and "\t" in text


def _offset(text: str, lines: int) -> int:
    """Return where the text goes on after some lines, however they end."""
    position = 0
    for _ in range(lines):
        ends = [place for end in "\r\n" if (place := text.find(end, position)) >= 0]
        if not ends:
            return len(text)
        position = min(ends) + (2 if text.startswith("\r\n", min(ends)) else 1)
    return position


def _line_count(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _check_names(label: str, names: list[str], least_columns: int) -> None:
    for place, name in enumerate(names, start=1):
        if not name:
            index = " A row index from pandas or R is left out when written with index=False, row.names=FALSE."
            told = f"{label}: column {place} has no name. Name it in the first line."
            raise DataError(told + (index if place == 1 else ""))
        if names.index(name) != place - 1:
            raise DataError(
                f"{label}: columns {names.index(name) + 1} and {place} are both named {name!r}. Rename one."
            )
    if len(names) < least_columns:
        raise DataError(
            f"{label}: only one column, {names[0]!r}. A network needs at least two. If there are more, "
            "separate them by commas or tabs, or give their delimiter, for example --delimiter ' '."
        )


def _columns(text: Text) -> list[Column]:
    if not text.body.strip("\r\n"):
        raise DataError(f"{text.label}: there is a header but no rows.")
    data = _encoded(text)
    # An odd number of quotes may be a quotation without end, which Arrow would read up to the end of the file.
    has_odd_quotes = text.text.count('"') % 2 == 1
    if len(text.text) < _LARGE or has_odd_quotes:
        return _by_python(text, strict=has_odd_quotes)
    return _by_arrow(text, data) or _by_python(text, strict=False)


def _encoded(text: Text) -> bytes:
    try:
        return text.body.encode()
    except UnicodeEncodeError as error:  # the encoding given was not the file's
        line = _line_count(text.text[: text.body_start] + text.body[: error.start]) + 1
        raise DataError(
            f"{text.label}, line {line}: half a character, so this is no text in the encoding used. Give the "
            "file's own encoding, for example --encoding utf-16."
        ) from None


def _by_arrow(text: Text, data: bytes) -> list[Column] | None:
    """Return the columns, or None for a file that is wrong or has a huge record."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    from xordal.data.arrow import column_of

    places = [str(v) for v in range(len(text.names))]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            # One thread: Arrow's pool of threads can abort a process that ends soon after.
            read_options=arrow_csv.ReadOptions(column_names=places, block_size=_BLOCK, use_threads=False),
            parse_options=arrow_csv.ParseOptions(
                delimiter=text.delimiter, newlines_in_values=b'"' in data, ignore_empty_lines=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.dictionary(pa.int32(), pa.string())),
                strings_can_be_null=False,
                null_values=[],
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column_of(name, array) for name, array in zip(text.names, table.columns, strict=True)]


def _by_python(text: Text, strict: bool) -> list[Column]:
    before = _line_count(text.text[: text.body_start])
    rows: list[list[str]] = []
    line = 0
    try:
        for line, record in records(text.body, text.delimiter, strict):
            if len(record) != len(text.names):
                raise DataError(
                    f"{text.label}, line {before + line}: {counted(len(record), 'value')}, but the header "
                    f"names {counted(len(text.names), 'column')}. Mend the line, or quote values that contain "
                    f"the delimiter {text.delimiter!r}."
                )
            rows.append(record)
    except csv.Error as error:
        raise DataError(
            f"{text.label}, after line {before + line}: not valid CSV ({error}). Mend the quotes."
        ) from None
    return [from_values(name, values) for name, values in zip(text.names, zip(*rows, strict=True), strict=True)]


def without_tokens(column: Column, tokens: tuple[str, ...]) -> Column:
    """Return the column with the levels that stand for a missing value marked as missing."""
    missing = {"", *(token.strip() for token in tokens)}
    groups = [MISSING if str(level).strip() in missing else code for code, level in enumerate(column.levels)]
    return column.regrouped(groups, column.levels).compact() if MISSING in groups else column
