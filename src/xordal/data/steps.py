"""What happens to columns on their way into a table, wherever they were read.

Columns are chosen, dates become their parts, empty columns go; later numbers are cut into bins, rare levels
merged, and columns looked at that are probably no categories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import MISSING, Column, from_distinct
from xordal.data.dates import with_parts
from xordal.data.discretise import Binning, binned, merged
from xordal.data.missing import without_empty, without_nested
from xordal.data.reading import Reading
from xordal.data.select import named, select
from xordal.data.suspects import LEFT_OUT, Suspect, for_codes, suspect, words_among_numbers
from xordal.errors import DataError, either, typed

Judge = Callable[[Sequence[Suspect]], Iterable[str]]
"""Looks at the suspect columns and returns the names of those to leave out."""


Weights = NDArray[np.int64] | None


@dataclass(frozen=True, slots=True)
class Judged:
    """Which suspect columns were judged before rows went, and which of them are left out."""

    found: tuple[Suspect, ...] = ()
    left_out: frozenset[str] = frozenset()

    def without(self, columns: Iterable[Column]) -> list[Column]:
        """Return the columns that are not left out."""
        return [column for column in columns if column.name not in self.left_out]

    def and_also(self, found: Sequence[Suspect], judge: Judge) -> Judged:
        """Return what was judged with some more."""
        left_out = self.left_out.union(judge(found)) if found else self.left_out
        return Judged((*self.found, *found), left_out)

    def knows(self, name: str) -> bool:
        """Whether a column was judged."""
        return any(one.name == name for one in self.found)

    def check_some_are_left(self, columns: Iterable[Column]) -> None:
        """Refuse a table whose columns are all left out; say why each is, and what codes are good for."""
        if self.without(columns):
            return
        out = [one for one in self.found if one.name in self.left_out]
        by_name = either("--columns", "columns=[...] or categorical=[...]")
        told = [*(one.message for one in out), f"{by_name} takes one in by name."]
        told += [for_codes(one.name) for one in out if one.is_code][:1]
        raise DataError(f"Nothing to learn from, as every column is left out. {' '.join(told)}")


NO_NUMBER = {
    "-",
    "--",
    "---",
    "\u2013",
    "\u2014",
    ".",
    "..",
    "n.a.",
    "na",
    "none",
    "nil",
    "missing",
    "unknown",
    "not available",
    "n.d.",
    "k.a.",
    "(blank)",
    "\\n",  # as databases write it out: a backslash and an N
    "*",
    ":",
}
"""What stands for a number that is not there; among words it may be a level, so only among numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """What happens to columns on their way into a table, however they were read.

    All of it happens to levels and their counts. So it is the same for columns with a row for each row of the
    table, and for columns with a row for each value, weighted by its number.
    """

    how: Reading
    judge: Judge
    tell: Callable[[str], None]
    warn: Callable[[str], None]

    def needed(self, names: list[str]) -> list[str]:
        """Return which of the columns of a source must be read."""
        if self.how.dates:  # names may be those of parts of dates, which nobody knows yet
            return names
        every = [Column(name, (), np.empty(0, np.int32)) for name in names]
        return [column.name for column in select(every, self.how.columns, self.how.exclude)]

    def chosen(
        self, every: list[Column], n_rows: int, *, is_part: bool = True
    ) -> tuple[list[Column], set[str], dict[str, str]]:
        """Return the columns that take part, which to take as they are, and what each part of a date is of.

        Where only a part of the columns was read, those that are needed, excluded ones may not be among them.
        """
        have = {column.name for column in every}
        left = [name for name in self.how.exclude if name in have or self.how.dates or not is_part]
        found, declared, origin = _chosen(every, replace(self.how, exclude=left))
        found = without_nested(found, {*(self.how.columns or ()), *declared}, self.warn)
        found = [_numbers_alone(column, n_rows, self.warn) for column in without_empty(found, self.warn)]
        return found, declared, origin

    def judged(self, columns: Sequence[Column], weights: Sequence[Weights], declared: set[str]) -> Judged:
        """Judge the columns that lack values, before the rows that lack them go: some are left out.

        What is missing in a column that is left out must cost no row, and is no reason for a level.
        """
        found = []
        for column, w in zip(columns, weights, strict=True):
            if column.name in declared or column.name in self.how.bins.named or not column.has_missing:
                continue
            whole = column.compact()
            if self.how.merge_rare and column.name not in self.how.unmerged:
                whole = merged(whole, self.how.merge_rare, w)
            if (one := suspect(whole, w)) is not None and one.kind in LEFT_OUT:
                found.append(one)
        judged = Judged().and_also(found, self.judge)
        judged.check_some_are_left(columns)
        return judged

    def prepared(
        self,
        columns: list[Column],
        weights: Sequence[Weights],
        declared: set[str],
        judged: Judged = Judged(),
    ) -> list[Column]:
        """Make categories of columns, each with row weights of its own: bins, rare levels, none that is odd.

        Those that were judged before are not judged again.
        """
        how = self.how
        weighted = [(_cut(c, how.bins, declared, w), w) for c, w in zip(columns, weights, strict=True)]
        pairs = zip(columns, weighted, strict=True)
        cut = [one.name for one, (made, _) in pairs if len(made.levels) != len(one.levels)]
        if not how.bins.was_asked:
            cut = [name for name in cut if name not in how.bins.named]
        if cut:
            other = either(f"--bins {typed(f'{cut[0]}=5')}", f"bins={{{cut[0]!r}: 5}}")
            as_it_is = either("--categorical", f"categorical=[{cut[0]!r}]")
            told = self.tell if how.bins.was_asked else self.warn
            told(
                f"Numbers cut into bins: {', '.join(map(repr, cut))}. {other} cuts one in another way, "
                f"{as_it_is} takes it as it is."
            )
        if how.merge_rare:
            before = weighted
            weighted = [
                (column if column.name in how.unmerged else merged(column, how.merge_rare, w), w)
                for column, w in before
            ]
            fewer = [new for (new, _), (old, _) in zip(weighted, before, strict=True) if new is not old]
            if fewer:
                names = ", ".join(repr(column.name) for column in fewer)
                self.tell(f"Levels of fewer than {how.merge_rare} rows merged: {names}.")
        odd = [suspect(c, w) for c, w in weighted if c.name not in declared and not judged.knows(c.name)]
        judged = judged.and_also([one for one in odd if one is not None], self.judge)
        made = [column for column, _ in weighted]
        judged.check_some_are_left(made)
        return judged.without(made)


def _chosen(every: list[Column], how: Reading) -> tuple[list[Column], set[str], dict[str, str]]:
    """Return the columns that take part, dates as their parts, which to take as they are, and parts' dates."""
    for name in how.dates if isinstance(how.dates, Mapping) else ():
        named(every, name)
    every, parts = with_parts(every, how.dates) if how.dates else (every, {})

    def expanded(names: Iterable[str]) -> list[str]:
        return [each for name in names for each in parts.get(name, [name])]

    by_name = [name for name in (how.weights, how.survey_weights, how.cluster) if isinstance(name, str)]
    only = None if how.columns is None else expanded(how.columns)
    chosen = select(every, only, expanded([*how.exclude, *by_name]))
    for name in how.bins.named:
        named(every, name)
    origin = {part: name for name, own in parts.items() for part in own}
    return chosen, {named(every, name).name for name in expanded(how.categorical)}, origin


def _numbers_alone(column: Column, n_rows: int, warn: Callable[[str], None]) -> Column:
    """Return a column of numbers without the signs that stand for a missing one, such as a dash."""
    words = words_among_numbers(column, n_rows)
    if not words or not all(word.strip().lower() in NO_NUMBER for word in words):
        return column
    warn(f"Column {column.name!r} holds numbers; {', '.join(map(repr, words))} is taken as missing there.")
    levels = [level for level in column.levels if level not in words]
    groups = [MISSING if level in words else levels.index(level) for level in column.levels]
    return from_distinct(column.name, levels, column.regrouped(groups, levels).codes, is_declared=False)


def _cut(column: Column, bins: Binning, declared: set[str], weights: NDArray[np.int64] | None) -> Column:
    if column.name in bins.named:
        return binned(column, bins.named[column.name], weights)
    if bins.others is None or column.name in declared:
        return column
    found = suspect(column, weights)
    is_cut = found is not None and found.kind == "continuous"
    return binned(column, bins.others, weights) if is_cut else column
