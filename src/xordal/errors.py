"""The few exceptions of xordal. Each message says what is wrong, where, and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from math import log10
from pathlib import Path
from shlex import quote


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


def warn(line: str) -> None:
    """Warn of data at the line of the caller's own code, however deep inside xordal it is noticed."""
    package = str(Path(__file__).parent)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(line, DataWarning, stacklevel=level)


_of_options: list[bool] = []  # one entry for each command under way; all threads of it see it


@contextmanager
def speaking_of_options() -> Iterator[None]:
    """Have advice name options of the command line, within; elsewhere it names arguments in Python."""
    _of_options.append(True)
    try:
        yield
    finally:
        _of_options.pop()


def either(option: str, argument: str) -> str:
    """Return what to type, as the reader would: an option of the command line, or an argument in Python.

    Examples
    --------
    >>> either("--missing drop", "missing='drop'")
    "missing='drop'"
    >>> with speaking_of_options():
    ...     either("--missing drop", "missing='drop'")
    '--missing drop'
    """
    return option if _of_options else argument


class SettingsError(XordalError, ValueError):
    """A parameter out of its range, or two that contradict each other."""


_MOST_NAMED = 12
_LONGEST = 64  # characters of such a name


def nearest(word: object, known: Iterable[str]) -> str:
    """Return a hint naming the known word nearest to a mistyped one, or all of them; of very many only some.

    Examples
    --------
    >>> nearest("musicbox", ["music-box", "table-1"])
    "did you mean 'music-box'?"
    >>> nearest("zebra", ["music-box", "table-1"])
    'known are: music-box, table-1'
    """
    known, text = list(known), str(word)
    same = [other for other in known if other.casefold() == text.casefold()]
    if close := same or get_close_matches(text, known, n=1):
        return f"did you mean {close[0]!r}?"
    left = len(known) - _MOST_NAMED
    told = (name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..." for name in known[:_MOST_NAMED])
    return f"known are: {', '.join(told)}" + (f" and {counted(left, 'other')}" if left > 0 else "")


def counted(number: int, thing: str) -> str:
    """Return a number with its noun, in the plural where it belongs.

    Examples
    --------
    >>> counted(1, "link"), counted(3583, "graph")
    ('1 link', '3,583 graphs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def typed(*names: str) -> str:
    r"""Return names as an option takes them on a command line, in quotes where it or the shell needs some.

    Examples
    --------
    >>> typed("age", "sex"), typed("amount [kg]"), typed("size, m")
    ('age,sex', "'amount [kg]'", '\'"size, m"\'')
    """
    return quote(",".join(f'"{name}"' if "," in name else name for name in names))


def about(number: int) -> str:
    """Return a large whole number in short, however large it is.

    Examples
    --------
    >>> about(16_777_217), about(2**27), about(2**100_000)
    ('16,777,217', '1.34e+08', '1e+30103')
    """
    if number < 10**8:
        return f"{number:,}"
    return f"{number:.3g}" if number < 10**300 else f"1e+{round(log10(number))}"
