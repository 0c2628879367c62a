"""What the library says, for people who look at a page: without the options of the command line."""

from __future__ import annotations

import errno
import re

from xordal.formats.shown import shown

_LONGEST_VALUE = 1_000  # characters that are shown of one; a cell may be as long as a file
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SENTENCE = re.compile(r"(?<=[.;])\s+")
_OPTION = re.compile(
    r"(^|[\s(])--[a-z]|\(?in Python|\bxordal (?:check|convert|direct|learn|report|rules|scan) "
)
_SECOND_WAY = re.compile(r",? (?:or|and|for example:) (?:(?!,? (?:or|and) ).)*$")


def for_page(text: str) -> str:
    """Return a message without what it says of options and commands: the page has none.

    Of a sentence that names another way first, that way stays; other sentences with an option or a command go.

    Examples
    --------
    >>> for_page("Columns cut: 'age'. --bins age=5 cuts it in another way.")
    "Columns cut: 'age'."
    >>> for_page("Byte 3 is no text. Save it as UTF-8, or give its encoding: --encoding latin-1.")
    'Byte 3 is no text. Save it as UTF-8.'
    >>> for_page("It is read as Western. If names or levels look wrong, give its encoding: --encoding cp1250.")
    'It is read as Western.'
    >>> for_page("It is a zip archive. Unpack one, for example: unzip -p a.zip a.csv | xordal learn -")
    'It is a zip archive. Unpack one.'
    >>> for_page("net.json is cut short. Copy it again, or write it anew with xordal learn -o.")
    'net.json is cut short. Copy it again.'
    >>> for_page("9 seconds have passed. A time limit or Ctrl-C ends it.")
    '9 seconds have passed.'
    """
    kept = []
    for sentence in _SENTENCE.split(text):
        if "Ctrl-C" in sentence:  # the page has a button for that
            continue
        option = _OPTION.search(sentence)
        if option is None:
            kept.append(sentence)
        elif not sentence.startswith("If ") and (first := _SECOND_WAY.search(sentence[: option.start()])):
            kept.append(f"{sentence[: first.start()]}.")
    return " ".join(kept).rstrip(";") if kept else text


def shown_value(level: object) -> str:
    """Return a value as the page shows it: of one that is pages long the beginning.

    Examples
    --------
    >>> shown_value("yes"), len(shown_value("x" * 10**6))
    ('yes', 1001)
    """
    text = shown(level)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def is_full(error: BaseException | None) -> bool:
    """Whether a full disk is what is behind an error, of the system or of the library.

    Examples
    --------
    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(ValueError())
    (True, False)
    """
    of_system = error if error is None or isinstance(error, OSError) else error.__context__
    return isinstance(of_system, OSError) and of_system.errno in _NO_ROOM


FULL = "The disk is full: nothing more can be kept. Make room, such as by removing earlier runs, and try again."


def cannot_be_kept(error: OSError) -> str:
    """Return what to do where a file of a run cannot be written or read.

    Examples
    --------
    >>> cannot_be_kept(PermissionError(errno.EACCES, "Permission denied"))
    'The files of this run cannot be written or read (Permission denied). Begin a new one.'
    """
    if is_full(error):
        return FULL
    return f"The files of this run cannot be written or read ({error.strerror}). Begin a new one."
