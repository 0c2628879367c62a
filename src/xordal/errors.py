"""The few exceptions of xordal. Each message says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class XordalError(Exception):
    """Base of every error a user can mend; the command line prints its message and exits with 1."""


class DataError(XordalError, ValueError):
    """A table that cannot be used as it is: names the file, column, row or value."""


class ImpossibleEvidence(DataError):
    """Evidence that has probability zero, so that nothing follows from it: names the smallest part that has."""


class ModelFileError(DataError):
    """A file that is no model file, or not a whole and sensible one: names the file and the place in it."""


class DataWarning(UserWarning):
    """A table that can be used and probably should not be as it is: names the column and what to do."""


class SettingsError(XordalError, ValueError):
    """A parameter out of its range, or two that contradict each other."""


def nearest(word: object, known: Iterable[str]) -> str:
    """Return a hint naming the known word nearest to a mistyped one, or all of them.

    Examples
    --------
    >>> nearest("musicbox", ["music-box", "table-1"])
    "did you mean 'music-box'?"
    >>> nearest("zebra", ["music-box", "table-1"])
    'known are: music-box, table-1'
    """
    known = list(known)
    close = get_close_matches(str(word), known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known are: {', '.join(known)}"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun, in the plural where it belongs.

    Examples
    --------
    >>> counted(1, "link"), counted(3583, "graph")
    ('1 link', '3,583 graphs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
