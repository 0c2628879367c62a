"""The order of levels: numbers by size, text by text, declared orders as declared.

The order of levels is for people. No count, entropy or trace depends on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable


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
    distinct = set(values)
    numbers = {value: as_number(value) for value in distinct}
    if all(number is not None for number in numbers.values()):
        return tuple(sorted(distinct, key=lambda value: (numbers[value], str(value))))
    return tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))


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


def as_numbers(levels: Iterable[Hashable]) -> list[float] | None:
    """Return all levels as numbers, or None if one of them is none."""
    numbers: list[float] = []
    for level in levels:
        number = as_number(level)
        if number is None:
            return None
        numbers.append(number)
    return numbers
