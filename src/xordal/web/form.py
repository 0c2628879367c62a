"""How an upload is written, where a person said so: its sheet, encoding, and words for missing values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xordal.data.dialect import MISSING_TOKENS, TextFormat
from xordal.errors import SettingsError

_MOST_WORDS, _LONGEST_WORD = 20, 100
ENCODINGS = ("utf-8", "utf-16", "cp1252", "cp1250", "cp1251", "shift_jis", "gb18030")
"""Encodings that the page offers; the command line takes all that Python knows."""


@dataclass(frozen=True, slots=True)
class Form:
    """The sheet of a workbook that is read, the encoding, and what is missing beside the usual words."""

    sheet: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, given: object) -> Form:
        """Return the form in a JSON object, checked.

        Raises
        ------
        SettingsError
            If it is none.

        Examples
        --------
        >>> Form.from_json({"missing": ["-"]})
        Form(sheet=None, encoding=None, missing=('-',))
        """
        if not isinstance(given, Mapping) or not set(given) <= {"sheet", "encoding", "missing"}:
            raise SettingsError("How a file is written is one JSON object: sheet, encoding and missing.")
        sheet, encoding, missing = given.get("sheet"), given.get("encoding"), given.get("missing", [])
        if not (sheet is None or isinstance(sheet, str)):
            raise SettingsError("sheet is the name of a sheet.")
        if not (encoding is None or encoding in ENCODINGS):
            raise SettingsError(f"encoding is one of {', '.join(ENCODINGS)}.")
        if not isinstance(missing, list) or not all(isinstance(word, str) for word in missing):
            raise SettingsError("missing is a list of words.")
        words = tuple(dict.fromkeys(word.strip() for word in missing if word.strip()))
        if len(words) > _MOST_WORDS or any(len(word) > _LONGEST_WORD for word in words):
            raise SettingsError(
                f"At most {_MOST_WORDS} words of {_LONGEST_WORD} characters stand for a missing value."
            )
        return cls(sheet, encoding, words)

    def to_json(self) -> dict[str, Any]:
        """Return the form as JSON."""
        return {"sheet": self.sheet, "encoding": self.encoding, "missing": list(self.missing)}

    def text(self) -> TextFormat:
        """Return it as the library takes it."""
        return TextFormat(encoding=self.encoding, sheet=self.sheet, missing=(*MISSING_TOKENS, *self.missing))
