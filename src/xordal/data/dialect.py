"""How a text file is written: its encoding, its delimiter and whether its first line names the columns.

What is not given is detected, by rules a person can check:

* encoding: a byte order mark, else UTF-8; anything else must be given;
* delimiter: of comma, tab, semicolon and bar, the one that splits the first lines most evenly;
* header: there is one, unless the first line holds nothing but numbers that do not count 0, 1, 2, ... or
  1, 2, 3, ...
"""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from xordal.data.levels import as_numbers
from xordal.errors import DataError, SettingsError

MISSING_TOKENS = ("NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?")
"""What stands for a missing value in a text file, beside an empty cell, unless other tokens are given."""

_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE = 50  # lines looked at to find the delimiter
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a CSV or TSV file is written; what is None is detected.

    Parameters
    ----------
    delimiter
        One character between values.
    has_header
        Whether the first line names the columns; without names they are x0, x1, ...
    encoding
        Any name Python knows, such as ``"latin-1"``.
    missing
        The tokens that stand for a missing value, beside an empty or blank cell.

    Examples
    --------
    >>> TextFormat(delimiter=";", encoding="latin-1").delimiter
    ';'
    """

    delimiter: str | None = None
    has_header: bool | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = MISSING_TOKENS

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n\0'):
            raise SettingsError(
                f"The delimiter must be one plain character such as ',' ';' or a tab, not {self.delimiter!r}."
            )
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
    encoding = encoding_of(data, encoding)
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        raise undecodable(label, encoding, error) from None
    return text


def encoding_of(start: bytes, encoding: str | None) -> str:
    """Return the encoding of a file: as given, by the mark it begins with, or UTF-8."""
    if encoding is None:
        return next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8")
    # The mark of UTF-8 is no data, whoever named the encoding.
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def undecodable(label: str, encoding: str, error: UnicodeError, before: int = 0) -> DataError:
    """Return what is to be said of bytes that an encoding does not allow, after so many bytes that it does."""
    place = f"byte {before + error.start} is" if isinstance(error, UnicodeDecodeError) else "its bytes are"
    known = "UTF-8" if encoding.startswith("utf-8") else encoding
    return DataError(
        f"{label}: {place} not {known} text. Save the file as UTF-8, or give its encoding, for example "
        "--encoding latin-1 (in Python: text=TextFormat(encoding='latin-1'))."
    )


def records(text: str, delimiter: str, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Yield each record that is not blank with the number of the line it ends on; csv.Error if malformed."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    usual = csv.field_size_limit(sys.maxsize)  # a long value is no malformed one
    try:
        for record in reader:
            if record:
                yield reader.line_num, record
    finally:
        csv.field_size_limit(usual)


def find_delimiter(text: str) -> str:
    r"""Return the delimiter that splits the first lines into the same number of values, the more the better.

    Examples
    --------
    >>> find_delimiter("name;size\nx,y;1,5\nz;2,5\n")
    ';'
    """
    start = "".join(islice(io.StringIO(text, newline=""), _SAMPLE))

    def fit(delimiter: str) -> tuple[float, int, int]:
        try:
            widths = [len(record) for _, record in records(start, delimiter, strict=False)]
        except csv.Error:
            return (0.0, 0, 0)
        if not widths or widths[0] < 2:
            return (0.0, 0, 0)
        return (widths.count(widths[0]) / len(widths), widths[0], -_DELIMITERS.index(delimiter))

    return max(_DELIMITERS, key=fit)


def looks_like_header(first: list[str]) -> bool:
    """Whether the first record names the columns.

    Examples
    --------
    >>> looks_like_header(["age", "7"]), looks_like_header(["0", "1", "1"]), looks_like_header(["0", "1", "2"])
    (True, False, True)
    """
    numbers = as_numbers(first)
    if numbers is None:
        return True
    return len(numbers) > 2 and numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))
