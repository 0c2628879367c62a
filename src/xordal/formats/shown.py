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


def brief(texts: Iterable[str], most: int = 48) -> dict[str, str]:
    """Return each text as it stands in a narrow place: long ones without their middle, unless two became alike.

    Names such as the questions of a survey often begin alike, and differ at their ends.

    Examples
    --------
    >>> brief(["dog", "How satisfied are you with the streets and parks?"], 24)["dog"]
    'dog'
    >>> brief(["How satisfied are you with the streets and parks?"], 24).popitem()[1]
    'How satisfied …nd parks?'
    """
    whole = sorted(set(texts))
    tail = round(0.38 * most)
    short = {text: text if len(text) <= most else f"{text[: most - tail - 1]}…{text[-tail:]}" for text in whole}
    return short if len(set(short.values())) == len(whole) else dict(zip(whole, whole, strict=True))


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
