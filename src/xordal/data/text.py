"""Comma- or tab-separated text into columns of strings.

Python's own csv reader is the definition of what a file means. It reads headers and small files, and is asked
again whenever Arrow, which reads large files faster where it is installed, refuses one: it then names the line
that is wrong or reads the file itself. Both forgive text behind a closing quote; a quotation that never ends is
refused.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from xordal.data.arrow_extra import has_arrow
from xordal.data.blank_rows import are_kept
from xordal.data.column import Column, Where, from_distinct, from_values
from xordal.data.dialect import TextFormat, blanks_between, decode, find_delimiter, in_encoding, records
from xordal.data.heading import (
    SAMPLE,
    Heading,
    find_heading,
    n_filled,
    n_notes,
    named_columns,
    names_among_values,
)
from xordal.data.suspects import for_codes, has_one_width
from xordal.errors import DataError, counted, either, warn

_LARGE = 1 << 20  # characters from which on Arrow is worth its import
_MOST_LINES = 4  # lines named in a message
_BLOCK = 1 << 24  # bytes Arrow parses at a time: a record must fit


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file, split into its header and the rest."""

    label: str
    text: str
    delimiter: str
    names: list[str]
    body_start: int

    @property
    def body(self) -> str:
        """The text behind the header."""
        return self.text[self.body_start :]

    def line_of(self, row: int, *, with_blank: bool = False) -> int:
        """Return the line of the file on which a row (0, 1, ...) of the table ends; blank ones may count."""
        lines_before = _line_count(self.text[: self.body_start])
        every = records(self.body, self.delimiter, strict=False, with_blank=with_blank)
        rows = (line for line, record in every if not _is_header(record, self.names))
        for number, line in enumerate(rows):
            if number == row:
                return lines_before + line
        raise AssertionError("the table has as many rows as the file has records")


def parse(data: bytes, form: TextFormat, label: str, *, least_columns: int = 2) -> tuple[list[Column], Where]:
    """Return what :func:`parse_text` returns, from the bytes of a file."""
    return parse_text(decode(data, form.encoding, label), form, label, least_columns=least_columns)


def parse_text(
    text: str, form: TextFormat, label: str, *, least_columns: int = 2
) -> tuple[list[Column], Where]:
    """Return the columns of a text file, and a function that tells where a row is.

    Every value is a string, as it stands in the file; empty lines are no rows, and of rows that hold no value
    :mod:`xordal.data.blank_rows` decides. Fewer columns than ``least_columns`` are refused: mostly they are
    more, and their delimiter was not found.

    Raises
    ------
    DataError
        If the file is no complete table: with the line, the column and what to do.
    """
    whole = split_text(text, form, label, least_columns)
    raw, with_blank = _columns(whole)
    columns = _finished(raw, form, label, least_columns)
    return (
        columns,
        lambda row, name: f"{label}, line {whole.line_of(row, with_blank=with_blank)}, column {name!r}",
    )


def from_records(
    rows: Sequence[list[str]], form: TextFormat, label: str, *, least_columns: int = 2
) -> tuple[list[Column], Where]:
    """Return the columns of a sheet, whose cells are text, and a function that tells where a row is."""
    every = [(n, row) for n, row in enumerate(rows, start=1) if n > (form.skip or 0)]
    numbered = [(n, row) for n, row in every if n_filled(row)]
    if not numbered:
        raise DataError(f"{label}: there are no rows.")
    heading = _heading(label, form, numbered[:SAMPLE], "row")
    n_before = heading.n_above + heading.has_header
    last = numbered[n_before - 1][0] if n_before else 0
    width = len(heading.names)
    body, _ = _body([(n, row) for n, row in every if n > last], width, label)
    if not body:
        raise DataError(f"{label}: there is a header but no rows.")
    values = zip(*[row[:width] for _, row in body], strict=True)
    raw = [from_values(name, column) for name, column in zip(heading.names, values, strict=True)]
    columns = _finished(raw, form, label, least_columns)
    return columns, lambda row, name: f"{label}, row {body[row][0]}, column {name!r}"


def split_text(text: str, form: TextFormat, label: str, least_columns: int) -> Text:
    """Return a text with its delimiter found and its header apart; the text may be the beginning of a file."""
    if "\0" in text:
        line = _line_count(text[: text.index("\0")]) + 1
        raise DataError(
            f"{label}, line {line}: there is a NUL byte, so this is no text file in the encoding used. Save it "
            f"as CSV in UTF-8, or give its encoding, for example {in_encoding('utf-16')}."
        )
    text, delimiter = _delimited(text, form, label, least_columns)
    skipped = _offset(text, form.skip or 0)
    try:
        next(records(text[skipped:], delimiter), None)  # a quotation in the header that never ends is refused
        first = list(islice(records(text[skipped:], delimiter, strict=False), SAMPLE))
    except csv.Error as error:
        raise DataError(f"{label}: the first line is not valid CSV ({error}). Mend its quotes.") from None
    if not first:
        fewer = either("--skip-lines", "skip")
        raise DataError(
            f"{label}: no line is left below the {form.skip} that are skipped. Skip fewer ({fewer})."
            if form.skip and text.strip()
            else f"{label}: the file is empty. The first line must name the columns."
        )
    numbered = [((form.skip or 0) + line, record) for line, record in first]
    heading = _heading(label, form, numbered, "line")
    n_before = heading.n_above + heading.has_header
    start = _offset(text, numbered[n_before - 1][0]) if n_before else skipped
    return Text(label, text, delimiter, heading.names, start)


def _delimited(text: str, form: TextFormat, label: str, least_columns: int) -> tuple[str, str]:
    """Return the text and its delimiter; where many blanks separate values, with one of them."""
    if form.delimiter is not None:
        return text, form.delimiter
    if _is_tab_separated(label, text):
        return text, "\t"
    found = find_delimiter(text)
    if found is None and least_columns > 1 and (plain := blanks_between(text)) is not None:
        return plain, " "
    return text, found or ","


def _heading(label: str, form: TextFormat, numbered: Sequence[tuple[int, list[str]]], unit: str) -> Heading:
    """Return where the table begins, and warn of what was decided."""
    first = [record for _, record in numbered]
    heading = find_heading(first, form.has_header)
    if heading.n_above:
        last = numbered[heading.n_above][0] - 1
        where = f"{unit} 1 is" if last == 1 else f"{unit}s 1 to {last} are"
        lines_above = either("--skip-lines", "text=TextFormat(skip=...)")
        warn(f"{label}: {where} above the header and not read; {lines_above} says how many to leave out.")
    if form.has_header is None:
        say = either("--header", "text=TextFormat(has_header=True)")
        say_not = either("--no-header", "text=TextFormat(has_header=False)")
        if not heading.has_header:
            warn(
                f"{label}: the first {unit} holds numbers only, so it is read as data and the columns are "
                f"named x0, x1, ... Say {say} if it names the columns, {say_not} if not."
            )
        elif names := names_among_values(heading, first):
            told = ", ".join(repr(name) for name in names[:3]) + (", ..." if len(names) > 3 else "")
            warn(
                f"{label}: {unit} {numbered[heading.n_above][0]} is taken for the names of the columns, but "
                f"{told} are values of their columns, too. Say {say_not} if it is a row, {say} if not."
            )
    return heading


def _body(
    numbered: Sequence[tuple[int, list[str]]], width: int, label: str
) -> tuple[list[tuple[int, list[str]]], bool]:
    """Return the rows below a header with their numbers, and whether rows without any value are among them.

    Notes below the table are no rows, and neither are the blank ones that come last.
    """
    filled = [place for place, (_, row) in enumerate(numbered) if n_filled(row)]
    n_below = n_notes([numbered[place][1] for place in filled], width)
    _tell_notes(label, n_below)
    filled = filled[: len(filled) - n_below]
    n_blank = filled[-1] + 1 - len(filled) if filled else 0
    rows = [numbered[place] for place in filled]
    n_missing = [
        sum(not "".join(row[v : v + 1]).strip() for _, row in rows) for v in range(width if n_blank else 0)
    ]
    if not are_kept(n_blank, len(rows), n_missing, label):
        return rows, False
    every = [
        (n, row if n_filled(row) or len(row) == width else [""] * width)
        for n, row in numbered[: filled[-1] + 1]
    ]
    return every, True


def _tell_notes(label: str, n_below: int) -> None:
    if n_below:
        told = f"the last {counted(n_below, 'line')} hold" if n_below > 1 else "the last line holds"
        warn(f"{label}: {told} a note and no row; left out.")


def _is_tab_separated(label: str, text: str) -> bool:
    name = label.lower()
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


def _finished(raw: Sequence[Column], form: TextFormat, label: str, least_columns: int) -> list[Column]:
    """Return columns with missing values marked and a name each; one where there should be more is refused."""
    columns, said = named_columns([without_tokens(column, form.missing) for column in raw], label)
    for line in said:
        warn(line)
    if len(columns) < least_columns:
        if has_one_width(columns[0].levels) and not any(" " in str(level) for level in columns[0].levels):
            raise DataError(
                f"{label}: only one column, {columns[0].name!r}. A network needs at least two. "
                + for_codes(columns[0].name)
            )
        raise DataError(
            f"{label}: only one column, {columns[0].name!r}. A network needs at least two. If there are more, "
            "separate them by commas or tabs, or give their delimiter, for example "
            + either("--delimiter ' '.", "text=TextFormat(delimiter=' ').")
        )
    return columns


def _columns(text: Text) -> tuple[list[Column], bool]:
    """Return the columns below the header, and whether rows without any value are among them."""
    if not text.body.strip("\r\n"):
        raise DataError(f"{text.label}: there is a header but no rows.")
    data = _encoded(text)
    # An odd number of quotes may be a quotation without end, which Arrow would read up to the end of the file.
    has_odd_quotes = text.text.count('"') % 2 == 1
    if len(text.text) < _LARGE or has_odd_quotes or not has_arrow():
        return _by_python(text, strict=has_odd_quotes)
    return _by_arrow(text, data) or _by_python(text, strict=False)


def _encoded(text: Text) -> bytes:
    try:
        return text.body.encode()
    except UnicodeEncodeError as error:  # the encoding given was not the file's
        line = _line_count(text.text[: text.body_start] + text.body[: error.start]) + 1
        raise DataError(
            f"{text.label}, line {line}: half a character, so this is no text in the encoding used. Give the "
            f"file's own encoding, for example {in_encoding('utf-16')}."
        ) from None


def _by_arrow(text: Text, data: bytes) -> tuple[list[Column], bool] | None:
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
    columns = [column_of(name, array) for name, array in zip(text.names, table.columns, strict=True)]
    return None if _has_header_again(columns) else _without_blank_rows(columns, text.label)


def _has_header_again(columns: list[Column]) -> bool:
    """Whether a row repeats the header."""
    is_header = np.ones(len(columns[0].codes), dtype=np.bool_)
    for column in columns:
        named = np.array([str(level).strip() == column.name for level in column.levels])
        if len(columns) == 1 or not named.any():
            return False
        is_header &= named[column.codes]
    return bool(is_header.any())


def _without_blank_rows(columns: list[Column], label: str) -> tuple[list[Column], bool] | None:
    """Do with rows that hold no value what :func:`_body` does in a small file; None where all are such."""
    is_blank = [np.array([not str(level).strip() for level in column.levels]) for column in columns]
    if not all(blank.any() for blank in is_blank):
        return columns, False
    is_gap = [blank[column.codes] for blank, column in zip(is_blank, columns, strict=True)]
    is_filled = ~np.logical_and.reduce(is_gap)
    if not is_filled.any():
        return None
    end = int(np.flatnonzero(is_filled)[-1]) + 1
    n_filled = int(is_filled.sum())
    n_missing = [int((gap & is_filled).sum()) for gap in is_gap]
    kept = are_kept(end - n_filled, n_filled, n_missing, label)
    if kept:
        is_filled[:end] = True
    return (columns if is_filled.all() else [column.only(is_filled) for column in columns]), kept


def _by_python(text: Text, strict: bool) -> tuple[list[Column], bool]:
    before = _line_count(text.text[: text.body_start])
    numbered: list[tuple[int, list[str]]] = []
    try:
        for line, record in records(text.body, text.delimiter, strict, with_blank=True):
            numbered.append((before + line, record))
    except csv.Error as error:
        after = numbered[-1][0] if numbered else before
        raise DataError(
            f"{text.label}, after line {after}: not valid CSV ({error}). Mend the quotes."
        ) from None
    width = len(text.names)
    body, with_blank = _body(numbered, width, text.label)
    if not body:
        raise DataError(f"{text.label}: there is a header but no rows.")
    lines, rows = [line for line, _ in body], [record for _, record in body]
    fitted = [_fitted(record, width) for record in rows]
    if wrong := [place for place, record in enumerate(fitted) if record is None]:
        raise _uneven(text, [lines[place] for place in wrong], len(rows[wrong[0]]))
    rows = _without_headers([record for record in fitted if record is not None], text.names, text.label)
    columns = [
        from_values(name, values) for name, values in zip(text.names, zip(*rows, strict=True), strict=True)
    ]
    return columns, with_blank


def _fitted(record: list[str], width: int) -> list[str] | None:
    """Return a record without the blank values behind the last column; None for one of another length."""
    if len(record) == width:
        return record
    return record[:width] if len(record) > width and n_filled(record[width:]) == 0 else None


def _uneven(text: Text, lines: list[int], n_values: int) -> DataError:
    """Return what to say of lines of another length than the header: all of them, in one answer."""
    others = lines[1:_MOST_LINES]
    left = len(lines) - 1 - len(others)
    more = f" The same goes for {counted(len(lines) - 1, 'further line')}" if others else ""
    more += f" ({', '.join(map(str, others))}{', ...' if left else ''})." if others else ""
    return DataError(
        f"{text.label}, line {lines[0]}: {counted(n_values, 'value')}, but the header names "
        f"{counted(len(text.names), 'column')}.{more} Mend the line{'s' if more else ''}, or quote values that "
        f"contain the delimiter {text.delimiter!r}."
    )


def _is_header(row: Sequence[str], names: Sequence[str]) -> bool:
    return len(names) > 1 and [value.strip() for value in row[: len(names)]] == list(names)


def _without_headers(rows: list[list[str]], names: Sequence[str], label: str) -> list[list[str]]:
    """Leave out rows that repeat the header, as files put one behind the other have them, and say so."""
    kept = [row for row in rows if not _is_header(row, names)]
    if len(kept) in (0, len(rows)):
        return rows
    warn(f"{label}: the header stands there {counted(len(rows) - len(kept), 'more time')}; left out.")
    return kept


def without_tokens(column: Column, tokens: tuple[str, ...]) -> Column:
    """Return the column with the levels that stand for a missing value marked as missing.

    The others are put in their order anew: beside ``NA`` numbers were ordered as text.
    """
    missing = {"", *(token.strip() for token in tokens)}
    values = [None if str(level).strip() in missing else level for level in column.levels]
    return from_distinct(column.name, values, column.codes, is_declared=False) if None in values else column
