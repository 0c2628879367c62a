"""How a text file is written: its encoding and its delimiter.

What is not given is detected, by rules a person can check:

* encoding: a byte order mark, else UTF-8; UTF-16 where every other byte is zero; Windows-1252 where few
  characters are beyond ASCII, which is said; anything else must be given;
* delimiter: of comma, tab, semicolon and bar, the one that splits the first lines most evenly; blanks where
  none of them does.

Where the header is, :mod:`xordal.data.heading` finds out.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from xordal.data.heading import SAMPLE
from xordal.errors import DataError, SettingsError, either, warn

MISSING_TOKENS = (
    "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "NULL", "null", "?",
    "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!",
)  # fmt: skip
"""What stands for a missing value in a text file, beside an empty cell, unless other tokens are given."""

_DELIMITERS = (",", "\t", ";", "|")
_TOLD = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_LOOKED_AT = 4096  # bytes that tell UTF-16 from others
_UNUSED = (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # bytes that mean nothing in Windows-1252
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a text file or a sheet is written; what is None is detected.

    Parameters
    ----------
    delimiter
        One character between values.
    has_header
        Whether a line names the columns; without names they are x0, x1, ...
    encoding
        Any name Python knows, such as ``"latin-1"``.
    missing
        The tokens that stand for a missing value, beside an empty or blank cell.
    skip
        Number of lines, or rows of a sheet, above the header.
    sheet
        Of a workbook: the name of the sheet, or its number from 1 on.

    Examples
    --------
    >>> TextFormat(delimiter=";", encoding="latin-1").delimiter
    ';'
    """

    delimiter: str | None = None
    has_header: bool | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = MISSING_TOKENS
    skip: int | None = None
    sheet: str | int | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n\0'):
            raise SettingsError(
                f"The delimiter must be one plain character such as ',' ';' or a tab, not {self.delimiter!r}."
            )
        if self.skip is not None and (not isinstance(self.skip, int) or self.skip < 0):
            raise SettingsError(f"skip must be a number of lines, not {self.skip!r}.")
        if isinstance(self.missing, str):
            raise SettingsError(f"missing must be a list of tokens such as ['NA'], not {self.missing!r}.")
        if self.encoding is not None:
            try:
                is_text = codecs.lookup(self.encoding)._is_text_encoding
            except (LookupError, ValueError):
                is_text = False
            if not is_text:
                raise SettingsError(
                    f"There is no encoding {self.encoding!r}. Try utf-8, utf-16, latin-1 or cp1252."
                )


def decode(data: bytes, encoding: str | None, label: str) -> str:
    """Return the text of a file; bytes that the encoding does not allow are told with their place."""
    known = encoding_of(data, encoding)
    if known is None:
        return _unmarked(data, label)
    try:
        return data.decode(known)
    except UnicodeError as error:
        raise undecodable(label, known, error) from None


def encoding_of(start: bytes, encoding: str | None) -> str | None:
    """Return the encoding of a file: as given, or as its beginning shows; None where nothing does."""
    if encoding is None:
        return next((name for mark, name in _MARKS if start.startswith(mark)), None) or _utf_16(start)
    # The mark of UTF-8 is no data, whoever named the encoding.
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def undecodable(label: str, encoding: str, error: UnicodeError, before: int = 0) -> DataError:
    """Return what is to be said of bytes that an encoding does not allow, after so many bytes that it does."""
    place = f"byte {before + error.start} is" if isinstance(error, UnicodeDecodeError) else "its bytes are"
    known = "UTF-8" if encoding.startswith("utf-8") else encoding
    return DataError(f"{label}: {place} not {known} text. {_give()}")


def _give() -> str:
    return (
        f"Save the file as UTF-8, or give its encoding: {in_encoding('latin-1')} (Western Europe), "
        "cp1250 (Central Europe), cp1251 (Cyrillic), shift_jis (Japanese), gb18030 (Chinese)."
    )


def in_encoding(name: str) -> str:
    """Return how to say which encoding a text file has."""
    return either(f"--encoding {name}", f"text=TextFormat(encoding={name!r})")


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # characters that are in no text of one byte each
_WORD = re.compile(rb"[A-Za-z\xc0-\xff]*[\xc0-\xff][A-Za-z\xc0-\xff]*")  # letters; below are signs, as of euros


def _utf_16(data: bytes) -> str | None:
    """Return the name of UTF-16 where every other byte of the beginning is zero, as in Western text."""
    start = data[:_LOOKED_AT]
    for first, name in ((0, "utf-16-be"), (1, "utf-16-le")):
        zeros = start[first::2].count(0)
        if len(start) >= 8 and zeros > 0.7 * len(start[first::2]) and start.count(0) < 1.1 * zeros:
            return name
    return None


def _unmarked(data: bytes, label: str) -> str:
    """Return UTF-8 text, or that of Western Windows where words have few characters beyond ASCII."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if control := _CONTROL.search(data[:_LOOKED_AT]):
            raise DataError(
                f"{label}: byte {control.start()} is {control[0][0]:#04x}, which no text has, so this is no "
                "table that can be read. Save the table as CSV, Excel or Parquet; if it is text, give its "
                f"encoding, for example {in_encoding('utf-16')}."
            ) from None
        words = _WORD.findall(data)
        is_western = all(byte not in data for byte in _UNUSED) and b"\0" not in data
        n_beyond = sum(byte > 127 for word in words for byte in word)
        if not is_western or 2 * n_beyond > sum(map(len, words)):
            raise DataError(f"{label}: byte {error.start} is not UTF-8 text. {_give()}") from None
    warn(
        f"{label}: not UTF-8, so it is read as Windows-1252 (Western Europe). If names or levels look wrong, "
        f"give its encoding, for example {in_encoding('cp1250')}."
    )
    return data.decode("cp1252")


def records(
    text: str, delimiter: str, strict: bool = True, *, with_blank: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield each record that holds a value with the number of the line it ends on; csv.Error if malformed.

    ``with_blank`` yields those that hold nothing but delimiters, too. Empty lines are no records.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    usual = csv.field_size_limit(sys.maxsize)  # a long value is no malformed one
    try:
        for record in reader:
            if (with_blank and len(record) > 1) or any(value.strip() for value in record):
                yield reader.line_num, record
    finally:
        csv.field_size_limit(usual)


def find_delimiter(text: str) -> str | None:
    r"""Return the delimiter that splits most of the first lines evenly; None if none does.

    Of delimiters that split as many lines evenly, the one with more values is taken.

    Examples
    --------
    >>> find_delimiter("name;size\nx,y;1,5\nz;2,5\n")
    ';'
    """
    start = "".join(islice(io.StringIO(text, newline=""), SAMPLE))
    if told := _TOLD.match(start):  # Excel's own hint
        return told[1]

    def fit(delimiter: str) -> tuple[float, int, int]:
        width, share = _evenness(start, delimiter)
        return (0.0, 0, 0) if width < 2 else (share, width, -_DELIMITERS.index(delimiter))

    best = max(_DELIMITERS, key=fit)
    return best if fit(best)[0] > 0 else None


def _evenness(start: str, delimiter: str) -> tuple[int, float]:
    """Return the number of values that most records have, and the share of the records that have it."""
    try:
        widths = [len(record) for _, record in records(start, delimiter, strict=False)]
    except csv.Error:
        return 0, 0.0
    if not widths:
        return 0, 0.0
    width, times = Counter(widths).most_common(1)[0]
    return width, times / len(widths)


def blanks_between(text: str) -> str | None:
    r"""Return the text with one blank between values, where blanks separate them evenly; else None.

    Examples
    --------
    >>> blanks_between("age   sex\n31    f\n40    m\n")
    'age sex\n31 f\n40 m'
    """
    lines = text.splitlines()
    plain = text if '"' in text else "\n".join(" ".join(line.split()) for line in lines)
    start = "\n".join(plain.split("\n")[:SAMPLE])
    width, share = _evenness(start, " ")
    n_lines = sum(line.strip() != "" for line in lines[:SAMPLE])
    # All lines alike, or all but the first, where R names no column for the names of rows.
    return plain if width >= 2 and n_lines >= 3 and share * n_lines >= n_lines - 1 else None
