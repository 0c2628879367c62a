"""Words, strings and signs of BIF and Hugin NET files, one after the other, with the line for errors.

Commas mean nothing in either format and are read as blanks are. Quantifiers are possessive (``++``): a text
that does not match is given up at once, without a memory of all the ways in which it might have matched. What
is of no interest, such as a property, is passed over by one match, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from xordal.errors import ModelFileError
from xordal.formats.draft import short

MOST_PASSED = 500_000
"""Properties that a file may have: of 250 million empty ones, reading took more than five minutes."""

_STRING = r'"(?P<string>[^"\\]*+(?:\\.[^"\\]*+)*+)"'


class Syntax:
    """What a format's words are made of: how a comment to the end of the line begins, and its signs."""

    def __init__(self, comment: str, signs: str) -> None:
        self._blank = rf"(?:[\s,]++|{comment}[^\n]*+|/\*.*?\*/)++"
        self._word = rf'[^\s,"{signs}]++'
        self._signs = signs
        self.token = self._compiled(
            rf"(?P<blank>{self._blank})|{_STRING}|(?P<sign>[{signs}])|(?P<word>{self._word})|(?P<odd>.)"
        )

    def up_to(self, end: str) -> re.Pattern[str]:
        """Return the pattern of everything before a sign."""
        others = self._signs.replace(re.escape(end), "").replace(end, "")
        return self._compiled(rf"(?:{self._blank}|{_STRING}|[{others}]++|(?!/\*){self._word})*+")

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.DOTALL)


BIF = Syntax("//", r"{}()\[\];|")  # no equals sign: levels such as >=7.5 occur
NET = Syntax("%", r"{}()\[\];|=")


class Tokens:
    """The tokens of a text; :attr:`text` is the present one, empty at the end."""

    def __init__(self, text: str, file: str, syntax: Syntax) -> None:
        self._whole, self._file, self._syntax = text, file, syntax
        self._found: Iterator[re.Match[str]] = syntax.token.finditer(text)
        self._place = self._last = self._n_passed = 0
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
        self._check_not_cut_short()
        text = self.text
        self._advance()
        return text

    def word(self, what: str) -> str:
        """Return the present token, which must be a word or a string in quotes, and go on."""
        if not self.is_word:
            self._check_not_cut_short()
            self.wrong(f"there must be {what}, not {short(self.text)}")
        return self.take()

    def expect(self, *wanted: str) -> None:
        """Go past tokens that must come next."""
        for text in wanted:
            if not self.accept(text):
                self._check_not_cut_short()
                self.wrong(f"there must be {short(text)}, not {short(self.text)}")

    def accept(self, wanted: str) -> bool:
        """Whether the present token is the one wanted; if so, go past it."""
        if self.text != wanted or self._is_quoted or self.is_end:
            return False
        self._advance()
        return True

    def words_until(self, end: str, most: int, things: str) -> list[str]:
        """Return the words up to a sign and go past it; an error if there are more than so many."""
        found: list[str] = []
        while not self.accept(end):
            if len(found) == most and self.is_word:
                self.wrong(f"there are more than {most:,} {things}")
            found.append(self.word(f"a word or {short(end)}"))
        return found

    def skip_past(self, end: str) -> None:
        """Go past the next sign of a kind, whatever comes before it."""
        self._n_passed += 1
        if self._n_passed > MOST_PASSED:
            self.wrong(f"there are more than {MOST_PASSED:,} properties")
        passed = self._syntax.up_to(end).match(self._whole, self._place)
        assert passed is not None, "it matches nothing, too"
        self._found = self._syntax.token.finditer(self._whole, passed.end())
        self._advance()
        self._check_not_cut_short()
        self._advance()

    def wrong(self, why: str) -> NoReturn:
        """Raise an error about the present place."""
        line = self._whole.count("\n", 0, self._place) + 1
        raise ModelFileError(f"{self._file}, line {line}: {why}. Mend the file, or write it anew.")

    def wrong_above(self, why: str) -> NoReturn:
        """Raise an error about what was read last."""
        self._place = self._last
        self.wrong(why)

    def _check_not_cut_short(self) -> None:
        if self.is_end:
            self.wrong("the file ends in the middle")

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
