"""Columns as unknowns of a linear system.

A column enters a rule in one of two ways. *By numbers*: its levels are whole numbers and the unknown is one
weight, so that f(x) = w x. *By levels*: every level but the commonest has an unknown value of its own, and any
function can be found. Few unknowns survive much noise, since a solution is found from about as many rows as
there are unknowns and those rows must be clean; many unknowns find more. Both are tried, numbers first.

The first unknown is the constant f0. A level that few rows have is no unknown: it would be one more number to
find that hardly any row speaks of. Rows with such levels are not used for solving, and the level's value is
read off afterwards (candidate.py).

A missing value that was made a level has no value in a rule: nobody knows what it adds to the sum. Rows that
miss one are left out of solving, as long as enough are left. In columns that miss more the level has an
unknown, so that its rows can be used for rules of other columns, and what is found for it is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.data.levels import as_numbers
from xordal.data.missing import MISSING_LEVEL
from xordal.data.table import CategoricalTable

MOST_LEVELS = 64
"""Levels of a column that can have a value each; the primes by default end at 97, and rows are finite."""
_MOST_RARE = 0.2  # share of the rows that may be left out of solving because of rare levels
_FEWEST_ROWS = 8  # rows that a level needs to be an unknown
_ENOUGH_ROWS = 400  # that miss no value, with which a search does as well as with more; and
_ROWS_PER_LEVEL = 4  # so many for each level of the table
_FEWEST_NUMBERS = 3  # of a column that enters by a weight; one of two levels needs none
_MOST_EXTRAS = 3  # levels that are no numbers in a column of numbers, such as the X of ISBN-10
_LARGEST = 10**9
_UNITS = (100, 10_000)  # in which amounts are counted that have decimals: cents also where all have one decimal
_ROUNDED = 1e-5  # hundred times 12.34 is 1234.0000000000002
_BOTH = np.ones(2, dtype=bool)
_OTHER = (np.array([[0], [1]]), np.array([[1], [0]]))  # indicators of the level that is not the commonest


@lru_cache(maxsize=8)
def some_rows(n_rows: int, most: int) -> NDArray[np.int64]:
    """Return the places of at most so many rows: all, or a random choice, always the same, in increasing order.

    Every second row, or the first ones, would not do: tables come sorted, and columns count up to some number
    again and again.

    Examples
    --------
    >>> some_rows(4, 10).tolist(), len(some_rows(1000, 10))
    ([0, 1, 2, 3], 10)
    """
    found = np.arange(n_rows)
    if n_rows > most:
        found = np.sort(np.random.default_rng(0).choice(n_rows, size=most, replace=False))
    found.setflags(write=False)
    return found


class Levels(NamedTuple):
    """The levels of all columns, one after the other, and what each adds to a sum.

    Attributes
    ----------
    column
        The column of each level.
    start, sizes
        Where the levels of each column begin, and how many they are; ``start`` ends with their number.
    first
        For each column the place of its first level that has a value.
    is_known
        Which levels have one.
    reference
        The level of each column that its others are compared with, where each has an unknown value.
    place, unknown, factor
        Of each number in the equations that is not zero: which level, which unknown, and the number.
    """

    column: NDArray[np.int64]
    start: NDArray[np.int64]
    sizes: NDArray[np.int64]
    first: NDArray[np.int64]
    is_known: NDArray[np.bool_]
    reference: NDArray[np.int64]
    place: NDArray[np.int64]
    unknown: NDArray[np.int64]
    factor: NDArray[np.float64]

    def values(self, solution: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the values that a solution gives to all levels; sums of whole numbers below 2^53 are exact."""
        found = np.bincount(self.place, self.factor * solution[self.unknown], len(self.column))
        return found.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """How the columns of a table enter a linear system.

    Attributes
    ----------
    values
        For each column an integer array (levels, unknowns of the column): what each level multiplies the
        unknowns by. A column that is left out has no unknowns.
    is_coded
        For each column which levels have a value; rows with others are not used for solving.
    blanks
        For each column the code of the level that missing values are; -1 where there is none.
    variable
        The column of each unknown; -1 for the first, the constant.
    by_numbers
        Whether any column enters by a weight.
    is_between
        Whether columns of few numbers enter by levels all the same. What is found for those is put to a vote.
    """

    values: tuple[NDArray[np.int64], ...]
    is_coded: tuple[NDArray[np.bool_], ...]
    blanks: tuple[int, ...]
    variable: NDArray[np.int64]
    by_numbers: bool
    is_between: bool = False

    @property
    def n_unknowns(self) -> int:
        """Number of unknowns, the constant included."""
        return len(self.variable)

    @property
    def n_variables(self) -> int:
        """Number of columns that take part."""
        return len(np.unique(self.variable)) - 1

    def usable(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the rows in which every column that takes part has a coded level."""
        fits = np.ones(codes.shape[1], dtype=bool)
        for coded, column in zip(self.is_coded, codes, strict=True):
            if not coded.all():
                fits &= coded[column]
        return np.flatnonzero(fits)

    def matrix(self, codes: NDArray[np.int32], rows: NDArray[np.int64], p: int) -> NDArray[np.float32]:
        """Return the equations of some rows modulo p, shape (unknowns, rows)."""
        found = np.empty((self.n_unknowns, len(rows)), dtype=np.float32)
        found[0] = 1
        at = 1
        for values, column in zip(self.values, codes, strict=True):
            if width := values.shape[1]:
                found[at : at + width] = (values % p).astype(np.float32)[column[rows]].T
                at += width
        return found

    def of_binary_columns(self) -> NDArray[np.int64]:
        """Return the unknowns of the columns that have one: of two levels, but for rare ones."""
        _, place, count = np.unique(self.variable[1:], return_inverse=True, return_counts=True)
        return 1 + np.flatnonzero(count[place] == 1)

    def bits(self, codes: NDArray[np.int32], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the equations of some rows modulo 2; quick where every column has two levels."""
        if any(values.shape != (2, 1) for values in self.values):
            return self.matrix(codes, rows, 2).astype(np.uint8)
        is_first = np.array([values[0, 0] for values in self.values], dtype=np.uint8)
        found = np.ones((self.n_unknowns, len(rows)), dtype=np.uint8)
        np.bitwise_xor(codes.take(rows, axis=1).astype(np.uint8), is_first[:, None], out=found[1:])
        return found

    @property
    def as_levels(self) -> Levels:
        """The levels of all columns."""
        return _levels(self)


@lru_cache(maxsize=8)
def _levels(coding: Coding) -> Levels:
    sizes = np.array([len(coded) for coded in coding.is_coded])
    start = np.concatenate([[0], np.cumsum(sizes)])
    known = np.concatenate(coding.is_coded)
    blanks = np.array(coding.blanks)
    known[(start[:-1] + blanks)[blanks >= 0]] = False
    first = np.array([begin + known[begin:end].argmax() for begin, end in pairwise(start.tolist())])
    unknown, entries, reference = 1, [], []
    for array, coded, begin in zip(coding.values, coding.is_coded, start.tolist(), strict=False):
        level, own = np.nonzero(array)
        entries.append((level + begin, own + unknown, array[level, own]))
        unknown += array.shape[1]
        reference.append(begin + int(np.argmax(~array.any(axis=1) & coded)))
    place, unknowns, factor = (np.concatenate(each) for each in zip(*entries, strict=True))
    column = np.repeat(np.arange(len(sizes)), sizes)
    return Levels(
        column, start, sizes, first, known, np.array(reference), place, unknowns, factor.astype(np.float64)
    )


def numbers_of(levels: Sequence[Hashable]) -> list[int | None]:
    """Return levels as whole numbers, None for those that are none.

    Where more than a few are none, single letters are the digits above 9, as in base 36. Amounts with decimals
    are told in hundredths, or ten thousandths where those are not enough (``unit_of``).

    Examples
    --------
    >>> numbers_of(("0", "9", "X")), numbers_of(("7", "A", "E", "I", "O")), numbers_of((True, False))
    ([0, 9, None], [7, 10, 14, 18, 24], [None, None])
    >>> numbers_of((0.5, 1.25, 2.0, 3.2, 4.99))
    [50, 125, 200, 320, 499]
    """
    found = _whole_numbers(levels)
    if found.count(None) <= _MOST_EXTRAS:
        return found
    return [_letter(level) if number is None else number for level, number in zip(levels, found, strict=True)]


def unit_of(levels: Sequence[Hashable]) -> int:
    """Return how many of the unit that a column's levels are counted in make 1: more than 1 for decimals."""
    return _unit([_number(level) for level in levels])


def _whole_numbers(levels: Sequence[Hashable]) -> list[int | None]:
    numbers = [_number(level) for level in levels]
    unit = _unit(numbers)
    return [round(unit * x) if x is not None and _is_whole(unit * x) else None for x in numbers]


def _unit(numbers: Sequence[float | None]) -> int:
    fractions = [x for x in numbers if x is not None and not x.is_integer()]
    if len(fractions) <= _MOST_EXTRAS and 2 * len(fractions) < len(numbers):
        return 1  # a digit that was mistyped does not make the others hundredths
    return next((unit for unit in _UNITS if all(_is_whole(unit * x) for x in fractions)), 1)


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < _ROUNDED and abs(number) <= _LARGEST


def _number(level: Hashable) -> float | None:
    number = None if isinstance(level, bool) else as_numbers([level])
    return None if number is None or not isfinite(number[0]) else number[0]


def _letter(level: Hashable) -> int | None:
    is_letter = isinstance(level, str) and len(level) == 1 and level.isascii() and level.isalpha()
    return int(str(level), 36) if is_letter else None


def coded_by_numbers(
    table: CategoricalTable, *, letters: bool = False, fewest: int = _FEWEST_NUMBERS
) -> Coding | None:
    """Return the coding with one weight for each column of numbers; None where no column has any.

    A column of two levels needs no numbers: one weight is any function of it. Other columns that are no numbers
    enter by levels; letters too, unless they are asked for as numbers. So do columns of fewer numbers than
    ``fewest``.
    """
    if max(map(len, table.levels)) <= 2:
        return None
    blanks, solved = blanks_of(table.levels), _solved_counts(table)
    values, coded, is_weighted = [], [], False
    for levels, counts, blank in zip(table.levels, solved, blanks, strict=True):
        numbers = numbers_of(levels) if letters else _whole_numbers(levels)
        extras = [place for place, number in enumerate(numbers) if number is None and place != blank]
        if len(levels) - len(extras) - (blank >= 0) >= fewest and len(extras) <= _MOST_EXTRAS:
            extras += [blank] if blank >= 0 else []
            known = [place for place in extras if counts[place] >= _FEWEST_ROWS]
            array = np.zeros((len(levels), 1 + len(known)), dtype=np.int64)
            array[:, 0] = [number or 0 for number in numbers]
            array[known, 1 + np.arange(len(known))] = 1
            of_levels = np.ones(len(levels), dtype=bool)
            of_levels[[place for place in extras if place not in known]] = False
            is_weighted = True
        else:
            array, of_levels = _indicators(counts, _FEWEST_ROWS)
        values.append(array)
        coded.append(of_levels)
    found = _coding(values, coded, blanks, by_numbers=True)
    return replace(found, is_between=fewest > _FEWEST_NUMBERS) if is_weighted else None


def coded_by_levels(table: CategoricalTable) -> Coding | None:
    """Return the coding with a value for each level that is not rare; None where no column has two of those."""
    counts = _solved_counts(table)
    fewest = _fewest_rows(counts, table.n_rows)
    arrays = [_indicators(count, fewest) for count in counts]
    if not any(array.shape[1] for array, _ in arrays):
        return None
    values, coded = [array for array, _ in arrays], [of_levels for _, of_levels in arrays]
    return _coding(values, coded, blanks_of(table.levels), by_numbers=False)


def blanks_of(levels: Sequence[Sequence[Hashable]]) -> tuple[int, ...]:
    """Return for each column the code of the level that missing values are, -1 where there is none.

    A column with one other level is a mark that is there or not: what is missing is then a value like another.

    Examples
    --------
    >>> blanks_of([("a", "b"), ("a", "b", "(missing)"), ("x", "(missing)")])
    (-1, 2, -1)
    """
    return tuple(
        len(of) - 1 if len(of) > 2 and of[-1] == MISSING_LEVEL else -1  # it comes last
        for of in levels
    )


def is_blank(
    blanks: Sequence[int], variables: Sequence[int], codes: NDArray[np.integer]
) -> NDArray[np.bool_] | None:
    """Return which rows miss a value in some of the columns; None where none of these can."""
    having = [v for v in variables if blanks[v] >= 0]
    if not having:
        return None
    return np.asarray((codes[having] == np.array([blanks[v] for v in having])[:, None]).any(axis=0))


def _solved_counts(table: CategoricalTable) -> list[NDArray[np.float64]]:
    """Return how many rows each level has for solving: none for a missing value whose rows are left out.

    Columns that miss least come first, and rows are left out as long as half of them, or enough, remain.
    """
    counts, blanks = level_counts(table), blanks_of(table.levels)
    having = sorted((counts[v][blank], v) for v, blank in enumerate(blanks) if blank >= 0)
    kept, n_rows = np.ones(table.codes.shape[1], dtype=bool), table.codes.shape[1]
    enough = min(n_rows / 2, max(_ENOUGH_ROWS, _ROWS_PER_LEVEL * sum(map(len, counts))))
    for _, v in having:
        fewer = kept & (table.codes[v] != blanks[v])
        if fewer.sum() < enough:
            break
        kept = fewer
        counts[v][blanks[v]] = 0
    return counts


def level_counts(table: CategoricalTable) -> list[NDArray[np.float64]]:
    """Return how many rows each level of each column has."""
    if table.weights is None and set(table.n_levels) == {2}:  # thousands of columns at once
        ones = table.codes.sum(axis=1, dtype=np.int64).astype(np.float64)
        return list(np.stack([table.codes.shape[1] - ones, ones], axis=1))
    return [
        np.bincount(column, weights=table.weights, minlength=size).astype(np.float64)
        for column, size in zip(table.codes, table.n_levels, strict=True)
    ]


def _fewest_rows(counts: Sequence[NDArray[np.float64]], n_rows: int) -> float:
    """Return how many rows a level needs, so that the rows with rarer levels are few.

    A level is worth an unknown when a random sample of about as many rows as there are unknowns shows it.
    """
    every = np.sort(np.concatenate([c for c in counts if len(c) <= MOST_LEVELS] or [np.zeros(1)]))
    wanted = max(_FEWEST_ROWS, n_rows / (4 * max(len(every), 1)))
    rarer = every[every < wanted]
    allowed = np.searchsorted(np.cumsum(rarer), _MOST_RARE * n_rows)
    return max(_FEWEST_ROWS, float(wanted if allowed == len(rarer) else rarer[allowed]))


def _indicators(counts: NDArray[np.float64], fewest: float) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the indicators of all common levels but the commonest, and which levels are common.

    A column whose rows mostly have rare levels takes no part, and its levels keep no row from being used.
    """
    if len(counts) == 2 and min(counts) >= fewest:  # one of two levels: nothing to choose
        return _OTHER[int(np.argmax(counts))], _BOTH
    nothing = np.zeros((len(counts), 0), dtype=np.int64), np.ones(len(counts), dtype=bool)
    common = counts >= fewest
    if len(counts) > MOST_LEVELS or common.sum() < 2 or counts[common].sum() < counts.sum() / 2:
        return nothing
    unknown = common.copy()
    unknown[int(np.argmax(counts))] = False
    places = np.flatnonzero(unknown)
    array = np.zeros((len(counts), len(places)), dtype=np.int64)
    array[places, np.arange(len(places))] = 1
    return array, common


def _coding(
    values: Sequence[NDArray[np.int64]],
    is_coded: Sequence[NDArray[np.bool_]],
    blanks: tuple[int, ...],
    *,
    by_numbers: bool,
) -> Coding:
    variable = np.repeat(np.arange(len(values)), [array.shape[1] for array in values])
    return Coding(tuple(values), tuple(is_coded), blanks, np.concatenate([[-1], variable]), by_numbers)
