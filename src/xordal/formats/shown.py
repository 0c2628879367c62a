"""Names and values as printable text."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import combining, east_asian_width


def shown(name: object) -> str:
    r"""Return a name or value as printable text.

    Examples
    --------
    >>> print(shown("red\x1b[31m"))
    red\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(name))


def beside(names: Iterable[object]) -> str:
    """Return names beside each other, with commas between them where one has blanks of its own.

    Examples
    --------
    >>> beside(["line", "shift"]), beside(["line", "oven temp"])
    ('line shift', 'line, oven temp')
    """
    texts = [shown(name) for name in names]
    return (", " if any(" " in text for text in texts) else " ").join(texts)


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: letters of East Asia two, marks upon letters none.

    Examples
    --------
    >>> width_of("dog"), width_of("東京"), width_of("e\u0301")
    (3, 4, 1)
    """
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, width: int) -> str:
    """Return a text with blanks after it up to a width on the screen."""
    return text + " " * (width - width_of(text))
