"""A column of codes of one width as one column for each character.

Codes that people typed are written in more than one way: 0-306-40615-2, 0 306 40615 2, 080442957x. Where the
codes as they stand have no common width, they are taken without what only separates their characters; and
where a letter occurs in both cases, all are taken as capitals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, from_distinct
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted, nearest

_MOST_WIDE = 64
_MOST_OTHER = 0.05  # share of the rows that may have another width, if codes are taken as they stand
_MOST_LEFT_OUT = 0.5  # share of the rows that may have another width at all
_SEPARATORS = str.maketrans("", "", " -./_\u00a0\u2010\u2011\u2012\u2013")  # spaces, hyphens, dashes


class Split(NamedTuple):
    """A table with one column replaced by its characters.

    Attributes
    ----------
    table, fits
        The table, and which rows of the one before it has.
    places
        For each character of the codes the name of its column and the commonest character; places in which all
        codes have the same have a name and no column.
    n_cut
        Rows left out whose code may have lost leading zeros: it is shorter, and of digits.
    """

    table: CategoricalTable
    fits: NDArray[np.bool_]
    places: tuple[tuple[str, str], ...]
    n_cut: int


def split_column(table: CategoricalTable, name: str) -> tuple[CategoricalTable, int]:
    """Return the table with one column replaced by its characters, and how many rows were left out.

    Places in which every code has the same character are left out, and so are rows whose code has another
    width than most. Where more than one code in twenty has another width, all are taken without spaces,
    hyphens, dots, slashes and underscores; where letters occur in both cases, they are taken as capitals. The
    new columns are called after the old one: ``isbn1``, ``isbn2``, ...

    Raises
    ------
    DataError
        If there is no such column, or fewer than half of its codes have a common width.

    Examples
    --------
    >>> table = CategoricalTable.from_columns({"code": ["A-17", "B-28"], "ok": ["yes", "no"]})
    >>> split, left_out = split_column(table, "code")
    >>> split.names, split.levels[1], left_out
    (('code1', 'code3', 'code4', 'ok'), ('1', '2'), 0)
    """
    split = split_rows(table, name)
    return split.table, int((~split.fits).sum())


def split_rows(table: CategoricalTable, name: str) -> Split:
    """Do what :func:`split_column` does, and return which rows stay and what the codes were made of."""
    if name not in table.names:
        raise DataError(f"There is no column {name!r} to split; {nearest(name, table.names)}")
    at = table.names.index(name)
    counts = np.bincount(table.codes[at], minlength=len(table.levels[at])).tolist()
    texts = _written_alike([str(level) for level in table.levels[at]], counts)
    width = _width(name, texts, counts)
    fits = np.array([len(text) == width for text in texts])[table.codes[at]]
    parts: list[Column] = []
    places: list[tuple[str, str]] = []
    for place in range(width):
        letters = [text[place] if len(text) == width else "" for text in texts]
        column = from_distinct(f"{name}{place + 1}", letters, table.codes[at], is_declared=False).only(fits)
        places.append((column.name, str(column.levels[int(column.counts().argmax())])))
        if len(column.levels) > 1:
            parts.append(column)
    if not parts:
        raise DataError(f"Column {name!r} cannot be split: all of its codes are the same.")
    others = [column.only(fits) for column in table.columns()]
    weights = None if table.weights is None else table.weights[fits]
    split = CategoricalTable.complete([*others[:at], *parts, *others[at + 1 :]], weights)
    is_cut = np.array([len(text) < width and text[:-1].isdecimal() for text in texts])[table.codes[at]]
    return Split(split, fits, tuple(places), int(is_cut.sum()))


def _written_alike(texts: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Return codes without separators if they have no common width as they stand, and letters in one case."""
    if _widths(texts, counts).most_common(1)[0][1] < (1 - _MOST_OTHER) * sum(counts):
        texts = [text.translate(_SEPARATORS) for text in texts]
    used = set("".join(texts))
    in_both = any(letter.lower() in used for letter in used if letter != letter.lower())
    return [text.upper() if in_both and len(text.upper()) == len(text) else text for text in texts]


def _widths(texts: Sequence[str], counts: Sequence[int]) -> Counter[int]:
    """Return how many rows have each width."""
    found: Counter[int] = Counter()
    for text, count in zip(texts, counts, strict=True):
        found[len(text)] += count
    return found


def _width(name: str, texts: Sequence[str], counts: Sequence[int]) -> int:
    widths = _widths(texts, counts)
    (width, n_rows), *_ = widths.most_common(1)
    if n_rows < (1 - _MOST_LEFT_OUT) * sum(counts):
        told = ", ".join(f"{w} characters in {counted(n, 'row')}" for w, n in sorted(widths.items())[:5])
        raise DataError(
            f"Column {name!r} cannot be split: no width has half of its codes, also without spaces and hyphens "
            f"({told}). Split the rows of one kind of code at a time."
        )
    if not 2 <= width <= _MOST_WIDE:
        raise DataError(
            f"Column {name!r} cannot be split: its codes have {counted(width, 'character')}; "
            f"2 to {_MOST_WIDE} can be."
        )
    return width
