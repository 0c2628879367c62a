"""Words, strings and signs of BIF and Hugin NET files, one after the other, with the line for errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from xordal.errors import ModelFileError
from xordal.formats.draft import short


def _pattern(comment: str, signs: str) -> re.Pattern[str]:
    return re.compile(
        rf'(?P<blank>\s+|{comment}[^\n]*|/\*.*?\*/)|"(?P<string>[^"\\]*(?:\\.[^"\\]*)*)"|(?P<sign>[{signs}])'
        rf'|(?P<word>[^\s"{signs}]+)|(?P<odd>.)',
        re.DOTALL,
    )


BIF = _pattern("//", r"{}()\[\];,|")  # no equals sign: levels such as >=7.5 occur
NET = _pattern("%", r"{}()\[\];,|=")


class Tokens:
    """The tokens of a text; :attr:`text` is the present one, empty at the end."""

    def __init__(self, text: str, file: str, pattern: re.Pattern[str]) -> None:
        self._whole, self._file = text, file
        self._found: Iterator[re.Match[str]] = pattern.finditer(text)
        self._place = self._last = 0
        self.text = ""
        self.is_word = False
        self._is_quoted = False
        self._advance()

    @property
    def is_end(self) -> bool:
        """Whether there is nothing more."""
        return self._place >= len(self._whole)

    def take(self) -> str:
        """Return the present token and go on to the next; an error at the end."""
        if self.is_end:
            self.wrong("the file ends in the middle")
        text = self.text
        self._advance()
        return text

    def word(self, what: str) -> str:
        """Return the present token, which must be a word or a string in quotes, and go on."""
        if not self.is_word:
            self.wrong(f"there must be {what}, not {self._shown()}")
        return self.take()

    def expect(self, *wanted: str) -> None:
        """Go past tokens that must come next."""
        for text in wanted:
            if not self.accept(text):
                self.wrong(f"there must be {short(text)}, not {self._shown()}")

    def accept(self, wanted: str) -> bool:
        """Whether the present token is the one wanted; if so, go past it."""
        if self.text != wanted or self._is_quoted or self.is_end:
            return False
        self._advance()
        return True

    def words_until(self, end: str) -> list[str]:
        """Return the words up to a sign and go past it; commas between them do not matter."""
        found = []
        while not self.accept(end):
            if not self.accept(","):
                found.append(self.word(f"a word or {short(end)}"))
        return found

    def skip_past(self, end: str) -> None:
        """Go past the next sign of a kind, whatever comes before it."""
        while not self.accept(end):
            self.take()

    def wrong(self, why: str) -> NoReturn:
        """Raise an error about the present place."""
        line = self._whole.count("\n", 0, self._place) + 1
        raise ModelFileError(f"{self._file}, line {line}: {why}. Mend the file, or write it anew.")

    def wrong_above(self, why: str) -> NoReturn:
        """Raise an error about what was read last."""
        self._place = self._last
        self.wrong(why)

    def _shown(self) -> str:
        return "the end of the file" if self.is_end else short(self.text)

    def _advance(self) -> None:
        self._last = self._place
        for match in self._found:
            kind = match.lastgroup
            if kind == "blank":
                continue
            self._place, self.is_word, self._is_quoted = (
                match.start(),
                kind in ("word", "string"),
                kind == "string",
            )
            if kind == "odd" or (kind == "word" and match[0].startswith("/*")):
                self.wrong("a string or a comment is not closed")
            self.text = match["string"] if kind == "string" else match[0]
            return
        self._place, self.text, self.is_word = len(self._whole), "", False
