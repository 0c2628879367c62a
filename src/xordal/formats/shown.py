"""Names and values as printable text."""

from __future__ import annotations


def shown(name: object) -> str:
    r"""Return a name or value as printable text.

    Examples
    --------
    >>> print(shown("red\x1b[31m"))
    red\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(name))
