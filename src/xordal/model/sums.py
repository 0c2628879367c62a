"""The sum of an additive rule, over rows and step by step.

A rule says that its constant and the values of its columns add up to 0, modulo a number or as whole numbers.
Inference cannot hold a table over all columns of a rule, but the sum can be carried from column to column: the
*running sum* after t columns is the one before plus the value of column t. Only the sums that can be reached
are its states, so that modulo p there are at most p of them, and of whole numbers as many as occur. A level
whose value is not known makes the sum unknown, which is one more state, and it stays so.

An example: three bits modulo 2 have running sums with the states 0 and 1, and a total of three columns from 0
to 9 has running sums with 10, 19 and 28 states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xordal.types.rules import AdditiveRule

Numbers = NDArray[np.int64]
UNKNOWN = np.iinfo(np.int64).min
"""In place of the sum, or of a column's value, where it is not known."""
_ROWS_AT_ONCE = 1 << 18


def residues(sums: Numbers, modulus: int) -> Numbers:
    """Return sums as they compare: modulo a number, or as they are for modulus 0."""
    return np.asarray(sums % modulus) if modulus else sums


def added(sums: Numbers, values: Numbers, modulus: int) -> Numbers:
    """Return sums plus values, broadcast; unknown where one of them is.

    Examples
    --------
    >>> added(np.array([1, 2]), np.array([2, UNKNOWN]), 3).tolist() == [0, UNKNOWN]
    True
    """
    is_unknown = (sums == UNKNOWN) | (values == UNKNOWN)
    total = np.where(sums == UNKNOWN, 0, sums) + np.where(values == UNKNOWN, 0, values)
    return np.where(is_unknown, UNKNOWN, residues(total, modulus))


def values_of(rule: AdditiveRule, variable: int) -> Numbers:
    """Return the value of each level of one of a rule's columns."""
    values = rule.functions[rule.variables.index(variable)]
    return np.array([UNKNOWN if value is None else value for value in values], dtype=np.int64)


def sums_of(rule: AdditiveRule, codes: NDArray[np.integer], variables: Sequence[int]) -> Numbers:
    """Return the constant plus the values of some of a rule's columns in each row; codes are of all columns.

    A negative code, of a level that is missing or was never seen, makes the sum unknown.
    """
    total = np.full(codes.shape[1], rule.constant, dtype=np.int64)
    for v in variables:
        values = np.append(values_of(rule, v), UNKNOWN)
        total = added(total, values[np.maximum(codes[v].astype(np.intp), -1)], rule.modulus)
    return residues(total, rule.modulus) if not variables else total


def row_blocks(n_rows: int) -> Iterator[slice]:
    """Yield the rows some at a time: a sum takes several numbers a row, too many for a hundred million rows."""
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        yield slice(start, min(start + _ROWS_AT_ONCE, n_rows))


def n_marked(rows: NDArray[np.bool_], weights: NDArray[np.int64] | None) -> int:
    """Return how many of some rows are marked, each as often as it counts."""
    return int(np.count_nonzero(rows) if weights is None else weights[rows].sum())


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """A variable that tells the sum so far: a column, or a running sum.

    ``sums`` is the sum that each of its levels stands for; UNKNOWN is one of them where a value is not known.
    """

    variable: int
    sums: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One addition: the new running sum from the sum so far and a column.

    Attributes
    ----------
    before, after
        What tells the sum so far, and the new running sum.
    column
        The column that is added.
    table
        1 where the new sum is the old one plus the column's value, 0 elsewhere; shape (levels of before, levels
        of the column, states of after).
    """

    before: Carrier
    column: int
    after: Carrier
    table: NDArray[np.float64]


def running_sums(
    rule: AdditiveRule, columns: Sequence[int], first: int, start: Carrier | None = None
) -> tuple[Carrier, list[Step]]:
    """Return the running sums over some of a rule's columns: the last of them, and the steps.

    They begin with ``start``, or else with the rule's constant, and then the first column carries its own
    value. Running sums are numbered as variables from ``first`` on.
    """
    carrier = start
    steps: list[Step] = []
    for v in columns:
        values = values_of(rule, v)
        if carrier is None:
            carrier = Carrier(v, added(np.array(rule.constant), values, rule.modulus))
            continue
        totals = added(carrier.sums[:, None], values, rule.modulus)
        after = Carrier(first + len(steps), np.unique(totals))
        steps.append(Step(carrier, v, after, (totals[:, :, None] == after.sums).astype(np.float64)))
        carrier = after
    assert carrier is not None, "a rule has columns that are not linked to its last one"
    return carrier, steps


def sums_reached(rule: AdditiveRule, columns: Sequence[int]) -> Numbers:
    """Return all that a rule's constant and some of its columns can add up to, in increasing order."""
    found = residues(np.array([rule.constant], dtype=np.int64), rule.modulus)
    for v in columns:
        found = np.unique(added(found[:, None], values_of(rule, v), rule.modulus))
    return found
