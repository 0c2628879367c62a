"""Dates: text that reads as dates, and the parts of a date that are categories (month, weekday, year, ...).

A date is nearly an identifier: each day has a level of its own. What repeats is its month, its weekday or its
year, so a column of dates is replaced by those of its parts that are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Literal, cast, get_args

from xordal.data.column import Column
from xordal.errors import DataError, SettingsError, nearest

DatePart = Literal["year", "quarter", "month", "weekday", "day", "hour"]
"""A part of a date that is a category."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_TIME = re.compile(
    r"[ T](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2}(?:[.,]\d+)?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"(?:Z|UTC|[+-]\d{2}:?\d{2})?"
)
_MAYBE = re.compile(r"(?=.*\d.*\d)[\w./, :+-]{6,40}")
# Of 03/04/2024 nobody can say which is the month; with strokes the American order is tried first, elsewhere
# the European one. A day above 12 in any row decides.
_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y",
    "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y",
    "%d-%b-%Y", "%d-%b-%y", "%d %b %y", "%a %d %b %Y", "%Y%m%d",
)  # fmt: skip


def as_dates(levels: Sequence[Hashable]) -> list[datetime] | None:
    """Return all levels as dates, or None if they are not dates written in one way.

    Examples
    --------
    >>> [d.date().isoformat() for d in as_dates(["31.12.2023", "01.01.2024"])]
    ['2023-12-31', '2024-01-01']
    >>> as_dates(["03/25/2024 14:30"])[0].hour, as_dates(["12", "13"]) is None
    (14, True)
    """
    if not levels:
        return None
    if all(isinstance(level, date) for level in levels):
        return [_whole(level) for level in levels if isinstance(level, date)]
    texts = [level.strip() for level in levels if isinstance(level, str)]
    if len(texts) < len(levels) or not _MAYBE.fullmatch(texts[0]):
        return None
    split = [_split(text) for text in texts]
    for form in _FORMATS:
        if form == "%Y%m%d" and not all(re.fullmatch(r"(19|20)\d{6}", day) for day, _ in split):
            continue
        found = _by(form, split)
        if found is not None:
            return found
    return None


def _whole(day: date) -> datetime:
    return day if isinstance(day, datetime) else datetime.combine(day, time())


def _split(text: str) -> tuple[str, int]:
    """Return the day and the hour of a date with a time; hour 0 where it has none."""
    found = _TIME.search(text)
    if found is None or found.end() != len(text):
        return text, 0
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    return text[: found.start()], hour if hour < 24 else 0


def _by(form: str, split: Sequence[tuple[str, int]]) -> list[datetime] | None:
    found = []
    for day, hour in split:
        try:
            found.append(datetime.strptime(day, form).replace(hour=hour))
        except ValueError:
            return None
    return found


_PARTS: dict[str, tuple[Callable[[datetime], int], Callable[[int], str]]] = {
    "year": (lambda d: d.year, str),
    "quarter": (lambda d: (d.month + 2) // 3, "Q{}".format),
    "month": (lambda d: d.month, lambda m: _MONTHS[m - 1]),
    "weekday": (lambda d: d.isoweekday(), lambda d: _DAYS[d - 1]),
    "day": (lambda d: d.day, str),
    "hour": (lambda d: d.hour, str),
}


def part_name(column: str, part: str) -> str:
    """Return what the part of a date is called as a column: ``visit month``."""
    return f"{column} {part}"


def part_of(column: Column, part: DatePart) -> Column:
    """Return one part of a column of dates as a column of its own.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> part_of(from_values("visit", ["2024-02-01", "2024-01-31", "2025-01-01"]), "month").levels
    ('Jan', 'Feb')
    """
    dates = as_dates(column.levels)
    if dates is None:
        raise DataError(f"Column {column.name!r} holds no dates, so it has no {part}.")
    number, told = _PARTS[part]
    numbers = [number(day) for day in dates]
    distinct = sorted(set(numbers))
    groups = [distinct.index(each) for each in numbers]
    made = column.regrouped(groups, [told(each) for each in distinct])
    return Column(part_name(column.name, part), made.levels, made.codes)


def parts_named(columns: Mapping[str, Column], names: Sequence[str]) -> dict[str, Column]:
    """Return the parts of dates that some names ask for, where a table has the dates and not the parts.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> visits = {"visit": from_values("visit", ["2024-02-01", "2024-01-31"])}
    >>> parts_named(visits, ["visit month", "age"])["visit month"].levels
    ('Jan', 'Feb')
    """
    found: dict[str, Column] = {}
    for name in names:
        column, _, part = name.rpartition(" ")
        if name in columns or column not in columns or part not in _PARTS:
            continue
        if as_dates(columns[column].levels) is not None:
            found[name] = part_of(columns[column], cast("DatePart", part))
    return found


def check_parts(parts: Sequence[str] | Mapping[str, Sequence[str]]) -> None:
    """Refuse a part that dates do not have."""
    every = parts.values() if isinstance(parts, Mapping) else [parts]
    for some in every:
        if isinstance(some, str):
            raise SettingsError(
                f"Give parts of dates as a list, for example ['month', 'weekday'], not {some!r}."
            )
        for part in some:
            if part not in get_args(DatePart):
                raise SettingsError(f"A date has no {part!r}; {nearest(part, get_args(DatePart))}")


def with_parts(
    columns: Sequence[Column], parts: Sequence[str] | Mapping[str, Sequence[str]]
) -> tuple[list[Column], dict[str, list[str]]]:
    """Return the columns with dates replaced by their parts, and the names of the parts of each.

    ``parts`` are of every column that holds dates, or by the name of the column. A part that is the same in all
    rows, such as the hour of a date without a time, is left out.
    """
    made: list[Column] = []
    named: dict[str, list[str]] = {}
    for column in columns:
        wanted = parts.get(column.name, ()) if isinstance(parts, Mapping) else parts
        if not wanted or (not isinstance(parts, Mapping) and as_dates(column.levels) is None):
            made.append(column)
            continue
        own = [part_of(column, part) for part in dict.fromkeys(wanted)]  # type: ignore[arg-type]  # checked above
        own = [part for part in own if len(part.levels) > 1] or own[:1]
        made += own
        named[column.name] = [part.name for part in own]
    return made, named
