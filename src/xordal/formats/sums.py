"""Sums in words: the parts of sentences that hidden groups and additive rules share."""

from __future__ import annotations

from collections.abc import Sequence

from xordal.formats.shown import shown

_MOST_COUNTED = 7  # columns up to which the numbers that fit a parity are listed


def parity_words(remainder: int, names: Sequence[str], marks: Sequence[str], *, are_named: bool = False) -> str:
    """Return a parity in words: how many of the columns have their mark, a level.

    ``are_named`` says that the text before has named the columns.

    Examples
    --------
    >>> parity_words(1, ("a", "b", "c"), ("1", "1", "1"))
    '1 or 3 of these 3 have the value 1: a, b, c'
    >>> parity_words(0, ("a", "b", "c"), ("1", "1", "1"), are_named=True)
    '0 or 2 of the 3 columns have the value 1'
    >>> parity_words(0, ("ball", "dog", "cat"), ("white", "quiet", "in"))
    '0 or 2 of these 3 hold: ball = white, dog = quiet, cat = in'
    """
    times, size = parity_text(len(names), remainder), len(names)
    if len(set(marks)) > 1:
        each = ", ".join(f"{name} = {shown(mark)}" for name, mark in zip(names, marks, strict=True))
        return f"{times} of these {size} hold: {each}"
    if are_named:
        return f"{times} of the {size} columns have the value {shown(marks[0])}"
    return f"{times} of these {size} have the value {shown(marks[0])}: {', '.join(names)}"


def parity_text(n_columns: int, remainder: int) -> str:
    """Return which numbers up to a number of columns have the remainder modulo 2, of many columns in a word.

    Examples
    --------
    >>> parity_text(3, 0), parity_text(3, 1), parity_text(5, 0), parity_text(9, 1)
    ('0 or 2', '1 or 3', '0, 2 or 4', 'an odd number')
    """
    if n_columns > _MOST_COUNTED:
        return "an odd number" if remainder else "an even number"
    *first, last = (str(number) for number in range(remainder, n_columns + 1, 2))
    return f"{', '.join(first)} or {last}" if first else last


def signed_sum(factors: Sequence[int], names: Sequence[str], remainder: int, modulus: int) -> str:
    """Return a sum of columns times factors as a formula.

    Examples
    --------
    >>> signed_sum((1, -1, 3), ("x", "y", "z"), 2, 10)
    'x - y + 3·z ≡ 2 (mod 10)'
    """
    terms = " ".join(term(factor, name) for factor, name in zip(factors, names, strict=True))
    return f"{terms.removeprefix('+ ')} ≡ {remainder} (mod {modulus})"


def term(weight: float, name: str) -> str:
    """Return one term of a sum, its sign first.

    Examples
    --------
    >>> term(-3, "x"), term(1, "y"), term(0.05, "z")
    ('- 3·x', '+ y', '+ 0.05·z')
    """
    size = "" if abs(weight) == 1 else f"{abs(weight):.12g}·"
    return f"{'-' if weight < 0 else '+'} {size}{name}"
