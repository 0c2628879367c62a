"""How an upload is written, where a person said so in the page: the sheet, and words for missing values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xordal.data.dialect import MISSING_TOKENS, TextFormat
from xordal.errors import SettingsError

_MOST_WORDS, _LONGEST_WORD = 20, 100


@dataclass(frozen=True, slots=True)
class Form:
    """The sheet of a workbook that is read, and what stands for a missing value beside the usual words."""

    sheet: str | None = None
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
        Form(sheet=None, missing=('-',))
        """
        if not isinstance(given, Mapping) or not set(given) <= {"sheet", "missing"}:
            raise SettingsError("How a file is written is one JSON object: sheet and missing.")
        sheet, missing = given.get("sheet"), given.get("missing", [])
        if not (sheet is None or isinstance(sheet, str)):
            raise SettingsError("sheet is the name of a sheet.")
        if not isinstance(missing, list) or not all(isinstance(word, str) for word in missing):
            raise SettingsError("missing is a list of words.")
        words = tuple(dict.fromkeys(word.strip() for word in missing if word.strip()))
        if len(words) > _MOST_WORDS or any(len(word) > _LONGEST_WORD for word in words):
            raise SettingsError(
                f"At most {_MOST_WORDS} words of {_LONGEST_WORD} characters stand for a missing value."
            )
        return cls(sheet, words)

    def to_json(self) -> dict[str, Any]:
        """Return the form as JSON."""
        return {"sheet": self.sheet, "missing": list(self.missing)}

    def text(self) -> TextFormat:
        """Return it as the library takes it."""
        return TextFormat(sheet=self.sheet, missing=(*MISSING_TOKENS, *self.missing))
