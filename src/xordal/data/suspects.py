"""Columns that are probably no categories: numbers, dates, identifiers, weights, too many levels, one level.

The rules look at levels, rows and a few telling names:

* counts: whole numbers in a column called Freq, Frequency, Count or Counts;
* weights: numbers above zero, some of them fractions, in a column named as survey weights are, or called weight
  with a mean of about 1;
* dates: more than 20 levels, all of them dates;
* repeated: names of things that have several rows each: more than 20 levels of text or whole numbers, none of
  them in one row only, in a column with a name such as person, patient or user_id;
* continuous: numbers with more than 20 levels some of which have decimals (10, where most rows have one of
  their own), or whole numbers with more than 60 (days, weeks and minutes are categories);
* words: numbers like these, and a few words among them;
* identifier: more than 20 levels, and most rows (of whole numbers: all rows) have one of their own;
* many levels: more than 100;
* alike: levels that differ in blanks only, or in case, such as Yes and yes (case in words of three letters or
  more: Aa and AA may be genotypes);
* nested: each cell is a list or an object, and no category;
* constant: one level. It can have no links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.dates import as_dates
from xordal.data.levels import as_numbers
from xordal.data.numerals import is_numeral
from xordal.errors import counted, either, typed

Kind = Literal[
    "continuous",
    "words",
    "dates",
    "identifier",
    "repeated",
    "many levels",
    "alike",
    "nested",
    "counts",
    "weights",
    "constant",
]

LEFT_OUT = ("identifier", "repeated", "dates", "weights")
"""What nothing is learned from, unless it is asked for by name."""

_FEW = 10
_MANY_FRACTIONS = 20
_MANY_WHOLE = 60
_MANY_NAMES = 20
_MANY = 100
_COUNT_NAMES = {"freq", "frequency", "count", "counts"}
_WEIGHT_NAMES = re.compile(
    r"(.*[ _.])?(p?weights?|wt|wgt|fnlwgt|finalwe?i?gh?t|svywt|pw|wtssall|wtssnr)([ _.]?(final|norm(ed)?|\d+))?"
)
_THING = (
    "id|ident|person|people|patient|subject|participant|respondent|user|customer|client|member|child|student|pupil|"
    "teacher|school|class|family|household|house|hh|machine|device|sensor|unit|batch|lot|site|plot|station|animal|"
    "mouse|rat|company|firm|account|case|pid|uid|sid|subj|panel"
)
_THING_NAMES = re.compile(
    rf"(?:.*[ _.-])?(?:{_THING})(?:[ _.-]?(?:id|no|nr|num|number|code|key))?", re.IGNORECASE
)
_MOST_WORDS = 3  # different words among numbers
_MOST_ALIKE = 3  # pairs of alike levels that are named
_FOLDED_FROM = 3  # letters
_WIDEST = 64  # characters of a code
_ONE_WIDTH = 0.95  # share of the codes


@dataclass(frozen=True, slots=True)
class Suspect:
    """A column that is probably no category, what it looks like, and a sentence on it.

    ``is_code`` says that its many levels are of one width, as codes with a check digit are.
    """

    name: str
    kind: Kind
    message: str
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the rules look at: a column, its levels as numbers if they are, and how many rows have a value."""

    column: Column
    numbers: list[float] | None
    n_rows: int

    @property
    def n_levels(self) -> int:
        return len(self.column.levels)

    def told(self, kind: Kind, sentence: str) -> Suspect:
        name = self.column.name
        is_code = kind in ("identifier", "many levels") and has_one_width(self.column.levels)
        return Suspect(name, kind, f"Column {name!r} {sentence}", is_code)


def suspect(column: Column, weights: NDArray[np.int64] | None = None) -> Suspect | None:
    """Return what is odd about a column, or None; a weighted row counts as often as its weight says.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> suspect(from_values("t", [n / 4 for n in range(40)])).kind
    'continuous'
    >>> suspect(from_values("id", [f"person {n}" for n in range(40)])).kind
    'identifier'
    >>> suspect(from_values("smokes", ["yes", "Yes ", "no"])).message
    "Column 'smokes' has levels that differ in case or blanks only: 'Yes ' and 'yes'. Where they mean ..."
    >>> suspect(from_values("day", [n % 31 for n in range(400)])) is None
    True
    """
    seen = _Seen(column, as_numbers(column.levels), _n_present(column, weights))
    return next((found for rule in _RULES if (found := rule(seen)) is not None), None)


def _nested(seen: _Seen) -> Suspect | None:
    return seen.told("nested", f"holds {seen.column.holds}.") if seen.column.holds else None


def _dates(seen: _Seen) -> Suspect | None:
    if seen.n_levels <= _MANY_NAMES or (dates := as_dates(seen.column.levels)) is None:
        return None
    between = f"{min(dates).date()} to {max(dates).date()}"
    return seen.told("dates", f"holds {seen.n_levels:,} different dates, {between}. {_dates_parts()}")


def _weights(seen: _Seen) -> Suspect | None:
    if seen.numbers is None or not _is_weights(seen.column, seen.numbers):
        return None
    return seen.told("weights", f"looks like survey weights. {_weigh(seen.column.name)}")


def _repeated(seen: _Seen) -> Suspect | None:
    if seen.n_levels <= _MANY_NAMES or not _is_repeated(seen.column, seen.numbers):
        return None
    least, most = seen.column.counts().min(), seen.column.counts().max()
    often = f"{least} rows each" if least == most else f"{least} to {most} rows each"
    told = f"looks like an identifier that repeats: {seen.n_levels:,} of them, {often}. "
    return seen.told("repeated", told + _cluster(seen.column.name))


def _counts(seen: _Seen) -> Suspect | None:
    if seen.numbers is None or not _is_counts(seen.column.name, seen.numbers):
        return None
    return seen.told("counts", f"looks like counts of rows. {_weigh(seen.column.name)}")


def _constant(seen: _Seen) -> Suspect | None:
    return seen.told("constant", "is constant: it can have no links.") if seen.n_levels <= 1 else None


def _continuous(seen: _Seen) -> Suspect | None:
    is_number = seen.numbers is not None and not _has_leading_zeros(seen.column)
    if not is_number or not _is_continuous(seen.numbers or [], seen.n_rows):
        return None
    told = f"looks continuous: {seen.n_levels:,} different numbers in {seen.n_rows:,} rows. "
    return seen.told("continuous", told + _bin(seen.column.name))


def _words(seen: _Seen) -> Suspect | None:
    if seen.numbers is not None or not (words := words_among_numbers(seen.column, seen.n_rows)):
        return None
    told = f"holds {seen.n_levels - len(words)} different numbers, and {', '.join(map(repr, words))}. "
    tokens = either(f"--missing-tokens {typed('NA', *words)}", f"text=TextFormat(missing={('NA', *words)!r})")
    return seen.told("words", f"{told}Where that stands for a missing value: {tokens}.")


def _identifier(seen: _Seen) -> Suspect | None:
    if seen.n_levels <= _MANY_NAMES or not _is_identifier(seen.numbers, seen.n_levels, seen.n_rows):
        return None
    return seen.told(
        "identifier", f"looks like an identifier: {seen.n_levels:,} levels in {seen.n_rows:,} rows."
    )


def _many_levels(seen: _Seen) -> Suspect | None:
    if seen.n_levels <= _MANY:
        return None
    told = f"has {seen.n_levels:,} levels, about {seen.n_rows / seen.n_levels:.1f} rows each. "
    return seen.told("many levels", told + _merge(seen.column.name))


def _alike(seen: _Seen) -> Suspect | None:
    groups: dict[str, list[str]] = {}
    for level in seen.column.levels:
        if isinstance(level, str):
            groups.setdefault(_folded(level), []).append(level)
    same = [" and ".join(map(repr, levels)) for levels in groups.values() if len(levels) > 1]
    if not same:
        return None
    more = f" and {counted(len(same) - _MOST_ALIKE, 'other')}" if len(same) > _MOST_ALIKE else ""
    told = f"has levels that differ in case or blanks only: {'; '.join(same[:_MOST_ALIKE])}{more}. "
    return seen.told("alike", told + "Where they mean the same, write them alike in the table.")


def _folded(level: str) -> str:
    """Return what is left of a level without blanks around it and, in longer words, without case."""
    plain = " ".join(level.split())
    return plain.casefold() if len(plain) >= _FOLDED_FROM else plain


_RULES = (
    _nested,
    _dates,
    _weights,
    _repeated,
    _counts,
    _constant,
    _continuous,
    _words,
    _identifier,
    _many_levels,
    _alike,
)
"""The first that applies is told."""


def _n_present(column: Column, weights: NDArray[np.int64] | None) -> int:
    """Return how many rows have a value."""
    if not column.has_missing:
        return len(column.codes) if weights is None else int(weights.sum())
    present = ~column.is_missing
    return int(present.sum() if weights is None else weights[present].sum())


def suspects(columns: Sequence[Column], weights: NDArray[np.int64] | None = None) -> list[Suspect]:
    """Return the suspect columns, in the order of the table."""
    return [found for column in columns if (found := suspect(column, weights)) is not None]


def has_one_width(levels: Sequence[Hashable]) -> bool:
    """Whether levels are many, and nearly all of one width without blanks, hyphens and dots, as codes are.

    Examples
    --------
    >>> has_one_width([f"{n:06}" for n in range(40)]), has_one_width(list(range(2000)))
    (True, False)
    """
    widths = Counter(len(re.sub(r"[\s\-./]", "", str(level))) for level in levels)
    if len(levels) <= _MANY_NAMES:
        return False
    (width, often), *_ = widths.most_common(1)
    return 2 <= width <= _WIDEST and often >= _ONE_WIDTH * len(levels)


def _bin(name: str) -> str:
    bins = either("--bins 4 --bin-by quantile (or width)", "bins=4, or bins=Bins(4, by='width')")
    return f"Cut it into bins with {bins}, or take it as it is with {_as_it_is(name)}."


def _as_it_is(name: str) -> str:
    return either(f"--categorical {typed(name)}", f"categorical=[{name!r}]")


def _dates_parts() -> str:
    parts = either("--dates month,weekday", "dates=['month', 'weekday']")
    return f"Take its parts with {parts} (or year, quarter, day, hour)."


def _merge(name: str) -> str:
    merging = either("--merge-rare 20", "merge_rare=20")
    leaving = either(f"--exclude {typed(name)}", f"exclude=[{name!r}]")
    return f"Chance alone links such columns: merge rare levels ({merging}), or leave it out ({leaving})."


def _weigh(name: str) -> str:
    return f"To count each row that often: {either(f'--weights {typed(name)}', f'weights={name!r}')}."


def _cluster(name: str) -> str:
    how = either(f"--cluster {typed(name)}", f"cluster={name!r}")
    return f"Rows of one thing are alike, so that plain p-values are too small: {how} makes them right."


def for_codes(name: str) -> str:
    """Return what to do with a column of codes of one width."""
    rules = either(
        f"xordal rules FILE --split {typed(name)}", f"find_rules(split_column(read_table(...), {name!r})[0])"
    )
    return f"{name!r} looks like a code of one width; {rules} looks for its check digits."


def words_among_numbers(column: Column, n_rows: int) -> list[str]:
    """Return the few levels of a column of many numbers that are none; nothing where it holds other things.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> words_among_numbers(from_values("age", [f"{n / 2}" for n in range(40)] + ["refused"]), 41)
    ['refused']
    """
    if len(column.levels) <= _MANY_NAMES or not all(isinstance(level, str) for level in column.levels):
        return []
    texts = [str(level) for level in column.levels]
    words = [text for text in texts if not is_numeral(text)]
    if not 1 <= len(words) <= _MOST_WORDS:
        return []
    numbers = as_numbers([text for text in texts if text not in words])
    return words if numbers is not None and _is_continuous(numbers, n_rows) else []


def _is_weights(column: Column, numbers: list[float]) -> bool:
    name = column.name.lower()
    if len(numbers) < 2 or min(numbers) < 0 or all(number.is_integer() for number in numbers):
        return False
    if not _WEIGHT_NAMES.fullmatch(name):
        return False
    if name not in ("weight", "weights"):
        return True
    times = column.counts()
    return bool(0.5 < float(np.array(numbers) @ times) / times.sum() < 2)  # else kilograms, perhaps


def _is_repeated(column: Column, numbers: list[float] | None) -> bool:
    """Whether a column names things that have several rows each."""
    if numbers is not None and not all(number.is_integer() for number in numbers):
        return False
    if column.counts().min() < 2:
        return False
    return _THING_NAMES.fullmatch(column.name) is not None


def _has_leading_zeros(column: Column) -> bool:
    """Whether numbers are codes such as 00501, which no calculation would write so."""
    return any(isinstance(level, str) and re.match(r"0\d", level) is not None for level in column.levels)


def _is_counts(name: str, numbers: list[float]) -> bool:
    return name.lower() in _COUNT_NAMES and all(number.is_integer() and number >= 0 for number in numbers)


def _is_continuous(numbers: list[float], n_rows: int) -> bool:
    n_levels = len(numbers)
    if all(number.is_integer() for number in numbers):
        return _MANY_WHOLE < n_levels < n_rows
    return n_levels > _MANY_FRACTIONS or (n_levels > _FEW and 2 * n_levels > n_rows)


def _is_identifier(numbers: list[float] | None, n_levels: int, n_rows: int) -> bool:
    return n_levels == n_rows if numbers is not None else 2 * n_levels > n_rows
