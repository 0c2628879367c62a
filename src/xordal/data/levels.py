"""The order of levels: numbers by size, text by text, declared orders as declared.

The order of levels is for people. No count, entropy or trace depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

_WITH_COMMA = re.compile(r"[+-]?\d+(,\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)


def ordered_levels(values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return distinct values in a defined order: numbers, and text that reads as numbers, by size.

    Everything else is ordered by type and text. Equal numbers spelled apart ("1", "1.0") stay apart.

    Examples
    --------
    >>> ordered_levels(["10", "9", "9", "1"])
    ('1', '9', '10')
    >>> ordered_levels(["b", "a", "10"])
    ('10', 'a', 'b')
    """
    distinct = list(set(values))
    numbers = as_numbers(distinct)
    if numbers is not None:
        number_of = dict(zip(distinct, numbers, strict=True))
        return tuple(sorted(distinct, key=lambda value: (number_of[value], str(value))))
    return tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))


def unused(label: str, levels: Sequence[Hashable]) -> str:
    """Return a label for a new level, in brackets as often as it takes to be none of the others.

    Examples
    --------
    >>> unused("(other)", ["a"]), unused("(other)", ["(other)"])
    ('(other)', '((other))')
    """
    while label in levels:
        label = f"({label})"
    return label


def as_number(value: Hashable) -> float | None:
    """Return a value as a number to sort by or to bin; None for what is no finite number.

    Examples
    --------
    >>> as_number("2.5"), as_number(True), as_number("1_000"), as_number("inf")
    (2.5, 1.0, None, None)
    """
    if isinstance(value, str) and "_" in value:  # Python reads 1_000 as a number; no table means one by it
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def as_numbers(levels: Sequence[Hashable]) -> list[float] | None:
    """Return all levels as numbers, or None if one of them is none.

    A comma is read as a decimal point where all levels allow it and at least one comma cannot be one between
    thousands.

    Examples
    --------
    >>> as_numbers(["2,5", "10"]), as_numbers(["1,500", "2,000"])
    ([2.5, 10.0], None)
    """
    if _has_decimal_commas(levels):
        levels = [str(level).replace(",", ".") for level in levels]
    numbers: list[float] = []
    for level in levels:
        number = as_number(level)
        if number is None:
            return None
        numbers.append(number)
    return numbers


def _has_decimal_commas(levels: Sequence[Hashable]) -> bool:
    texts = [level for level in levels if isinstance(level, str)]
    with_comma = [text for text in texts if "," in text]
    return (
        bool(with_comma)
        and len(texts) == len(levels)
        and all(_WITH_COMMA.fullmatch(text) for text in texts)
        and not all(_THOUSANDS.fullmatch(text) for text in with_comma)
    )
