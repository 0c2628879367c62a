"""Rows that break rules, and the smallest single change that repairs each.

A single change gives one column another of its levels. It repairs a row if all rules hold afterwards that hold
in most rows. Of the changes that do, the smallest is taken: numbers by how far they move, other levels by how
common the new one is. A check digit tells that a row is wrong, not where, so there are usually several.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules.candidate import UNKNOWN, Candidate, candidate_of
from xordal.rules.coding import blanks_of, is_blank, numbers_of
from xordal.types.rules import AdditiveRule

_MOST_NOISE = 0.25  # share of rows breaking a rule above which it is no ground to call a row wrong


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A row that breaks rules.

    Attributes
    ----------
    row
        Its number, from 0.
    rules
        Numbers of the rules that it breaks, from 0.
    column, value, repaired
        The smallest single change: the column, its value and the value that repairs the row; None where no
        single change does.
    n_repairs
        How many single changes would repair it.
    """

    row: int
    rules: tuple[int, ...]
    column: int | None = None
    value: Hashable = None
    repaired: Hashable = None
    n_repairs: int = 0


def broken_rows(table: CategoricalTable, rules: Sequence[AdditiveRule]) -> Iterator[BrokenRow]:
    """Yield the rows that break any of the rules, in order; one that misses a value in a rule breaks it not.

    Examples
    --------
    >>> from xordal.rules.finding import find_rules
    >>> rows = [(a, b, (a + b) % 5) for a in range(5) for b in range(5)] * 8 + [(1, 1, 3)]
    >>> table = CategoricalTable.from_rows("abc", rows)
    >>> for row in broken_rows(table, find_rules(table).rules):
    ...     print(row.row, table.names[row.column], row.value, "->", row.repaired, "of", row.n_repairs)
    200 a 1 -> 2 of 3
    """
    candidates = [candidate_of(rule) for rule in rules]
    trusted = [k for k, rule in enumerate(rules) if rule.n_broken <= _MOST_NOISE * rule.n_rows]
    if not trusted:
        return
    blanks = blanks_of(table.levels)
    obeyed = np.stack([_is_kept(candidates[k], table.codes, blanks) for k in trusted])
    changes = _Changes(table, [candidates[k] for k in trusted])
    for row in np.flatnonzero(~obeyed.all(axis=0)).tolist():
        breaks = tuple(k for place, k in enumerate(trusted) if not obeyed[place, row])
        found = changes.of(row)
        if not found:
            yield BrokenRow(row, breaks)
            continue
        _, variable, code = min(found)
        levels = table.levels[variable]
        value = levels[int(table.codes[variable, row])]
        yield BrokenRow(row, breaks, variable, value, levels[code], len(found))


def _is_kept(rule: Candidate, codes: NDArray[np.int32], blanks: Sequence[int]) -> NDArray[np.bool_]:
    """Return which rows do not break a rule: they obey it, or miss a value in its columns."""
    obeyed, blank = rule.is_obeyed(codes), is_blank(blanks, rule.variables, codes)
    return obeyed if blank is None else obeyed | blank


class _Changes:
    """The single changes of a row after which all rules hold."""

    def __init__(self, table: CategoricalTable, rules: Sequence[Candidate]) -> None:
        self._table, self._rules = table, rules
        self._variables = sorted({v for rule in rules for v in rule.variables})
        self._counts = [np.bincount(column, weights=table.weights) for column in table.codes]
        self._numbers = [numbers_of(levels) for levels in table.levels]

    def of(self, row: int) -> list[tuple[tuple[float, float], int, int]]:
        """Return the size of each change, its column and its level; sizes compare."""
        codes = self._table.codes[:, row]
        found = []
        for variable in self._variables:
            fits = np.ones(len(self._table.levels[variable]), dtype=bool)
            fits[codes[variable]] = False
            for rule in self._rules:
                fits &= _fits(rule, variable, codes)
            found += [(self._size(variable, int(codes[variable]), code), variable, int(code))
                      for code in np.flatnonzero(fits).tolist()]  # fmt: skip
        return found

    def _size(self, variable: int, old: int, new: int) -> tuple[float, float]:
        before, after = self._numbers[variable][old], self._numbers[variable][new]
        far = 1e9 if before is None or after is None else abs(after - before)
        return float(far), -float(self._counts[variable][new])


def _fits(rule: Candidate, variable: int, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which levels of a column let a rule hold, the other columns as they are."""
    total, own = rule.constant, None
    for v, values in zip(rule.variables, rule.functions, strict=True):
        if v == variable:
            own = values
        elif values[codes[v]] == UNKNOWN:
            return np.zeros(1, dtype=bool)
        else:
            total += int(values[codes[v]])
    if own is None:
        return np.array([(total % rule.modulus if rule.modulus else total) == 0])
    sums = np.where(own == UNKNOWN, 0, own) + total
    zero = (sums % rule.modulus if rule.modulus else sums) == 0
    return np.asarray(zero & (own != UNKNOWN))
