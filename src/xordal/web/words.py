"""What the library says, for people who look at a page: without the options of the command line."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.;])\s+")
_OPTION = re.compile(r"(^|[\s(])--[a-z]|\(?in Python")
_SECOND_WAY = re.compile(r",? (?:or|and) (?:(?!,? (?:or|and) ).)*$")


def for_page(text: str) -> str:
    """Return a message without what it says of options: the page has none.

    Of a sentence that names another way first, that way stays; other sentences with an option go.

    Examples
    --------
    >>> for_page("Columns cut: 'age'. --bins age=5 cuts it in another way.")
    "Columns cut: 'age'."
    >>> for_page("Byte 3 is no text. Save it as UTF-8, or give its encoding: --encoding latin-1.")
    'Byte 3 is no text. Save it as UTF-8.'
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
        elif first := _SECOND_WAY.search(sentence[: option.start()]):
            kept.append(f"{sentence[: first.start()]}.")
    return " ".join(kept).rstrip(";") if kept else text
