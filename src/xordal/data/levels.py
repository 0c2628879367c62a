"""The order of levels: numbers by size, text by text, declared orders as declared.

The order of levels is for people. No count, entropy or trace depends on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from xordal.data.numerals import written_numbers


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

    Text may be written as people do (:mod:`xordal.data.numerals`): money, percent, thousands, decimal commas.

    Examples
    --------
    >>> as_numbers(["2,5", "10"]), as_numbers(["1,500", "$2,000"]), as_numbers(["1", "one"])
    ([2.5, 10.0], [1500.0, 2000.0], None)
    """
    numbers: list[float] = []
    for level in levels:
        number = as_number(level)
        if number is None:
            texts = [level for level in levels if isinstance(level, str)]
            return written_numbers(texts) if len(texts) == len(levels) else None
        numbers.append(number)
    return numbers
