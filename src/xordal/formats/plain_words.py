"""Odd names in formats that allow plain words only: one escape for all of them, and back again.

A character that a format cannot hold is written as its code point in hexadecimal between ``_x`` and ``_``, as
spreadsheets and XML tools do: ``my dog`` becomes ``my_x0020_dog``. An underscore that would be read as the
beginning of such an escape is escaped itself, so every text comes back as it was. Which characters are escaped
depends on the format (docs/formats.md has the table); how, never.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

_ESCAPE = re.compile(r"_x([0-9A-F]{4,6})_")
_LIKE_AN_ESCAPE = re.compile(r"_(?=x[0-9A-F]{4})|^_(?=x_$)")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_INTEGER = re.compile(r"[0-9]+")
_EMPTY = "_x_"


def plain_word(text: str, reserved: Collection[str] = ()) -> str:
    """Return a text as a word of letters, digits and underscores that begins with no digit.

    Examples
    --------
    >>> plain_word("my dog"), plain_word("7up"), plain_word("table", reserved={"table"}), plain_word("_x0041_")
    ('my_x0020_dog', '_x0037_up', '_x0074_able', '_x005F_x0041_')
    >>> plain_word("music_box")
    'music_box'
    """
    begins_oddly = text in reserved or text[:1].isdigit()
    return _escaped(text, _PLAIN.__contains__, escape_first=begins_oddly)


def title_word(text: str, reserved: Collection[str] = ()) -> str:
    """Return a title as one plain word for people: nobody reads it back, so that nothing is escaped.

    Examples
    --------
    >>> title_word("The music box"), title_word("2024"), title_word("")
    ('The_music_box', 'n2024', 'unknown')
    """
    word = "".join(c if c in _PLAIN else "_" for c in text) or "unknown"
    return f"n{word}" if word[0].isdigit() or word in reserved else word


def plain_level(text: str, reserved: Collection[str] = ()) -> str:
    """Return a text as a plain word or, if that is what it is, as digits.

    Examples
    --------
    >>> plain_level("12"), plain_level("-1"), plain_level("<5")
    ('12', '_x002D_1', '_x003C_5')
    """
    return text if _INTEGER.fullmatch(text) and len(text) < 10 else plain_word(text, reserved)


def printable(text: str, also: str = "") -> str:
    r"""Return a text in which only what cannot be printed, and some characters named, are escaped.

    Blanks at either end count as what cannot be printed: programs that read XML cut them off.

    Examples
    --------
    >>> print(printable("two  words\n"), printable("a\\b", also="\\"), printable(" x"))
    two  words_x000A_ a_x005C_b _x0020_x
    """
    inner = text.strip(" ")
    before = len(text) - len(text.lstrip(" ")) if inner else len(text)
    body = _escaped(inner, lambda c: c.isprintable() and c not in also) if inner or not text else ""
    after = len(text) - before - len(inner)
    return "_x0020_" * before + body + "_x0020_" * after


def no_escape(text: str) -> str:
    """Return a text in which only what would be read as an escape is escaped; for libraries that hold any name.

    Examples
    --------
    >>> no_escape("my dog"), no_escape("_x0041_")
    ('my dog', '_x005F_x0041_')
    """
    return _escaped(text, lambda _: True)


def original(word: str) -> str:
    """Return the text that an escaped one stands for; what is no escape is left alone.

    Examples
    --------
    >>> original("my_x0020_dog"), original("music_box"), original("_x005F_x0041_")
    ('my dog', 'music_box', '_x0041_')
    """
    return "" if word == _EMPTY else _ESCAPE.sub(_character, word)


def _escaped(text: str, is_safe: Callable[[str], bool], *, escape_first: bool = False) -> str:
    if not text:
        return _EMPTY
    odd = {match.start() for match in _LIKE_AN_ESCAPE.finditer(text)} | ({0} if escape_first else set())
    return "".join(c if is_safe(c) and place not in odd else f"_x{ord(c):04X}_" for place, c in enumerate(text))


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code <= 0x10FFFF else found[0]
