"""Simple rules: what the variables of a hidden group do together, if it can be said in a sentence.

Looked for, in this order: a parity (two levels each), a sum modulo the common number of levels with factors +1
and -1, and one variable that follows from the others. A rule is named when it holds clearly more often than it
would by chance; it is a description of the data, not a test.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounts
from xordal.types import Rule

_MOST_SIGNS = 6  # variables up to which all signs of a sum are tried
_ROWS_A_CELL = 5  # below it a function is as good as learned by heart
_WORTH_NAMING = 0.5  # share of what chance leaves open that a rule must settle


def find_rule(table: CellCounts, variables: Sequence[int], levels: Sequence[Sequence[Hashable]]) -> Rule | None:
    """Return the rule that some variables follow, or None.

    Parameters
    ----------
    table
        Counts of the cells of the variables.
    variables
        Their numbers, in the order of the table's columns.
    levels
        The levels of each.

    Examples
    --------
    >>> from xordal.counting.oracle import CellCounts
    >>> cells = np.array([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)])
    >>> rule = find_rule(CellCounts(cells, np.full(4, 25)), (3, 5, 7), [("no", "yes")] * 3)
    >>> rule.kind, rule.remainder, rule.marked, rule.holds, rule.by_chance
    ('parity', 0, ('yes', 'yes', 'yes'), 1.0, 0.5)
    """
    n_levels = [len(of) for of in levels]
    if len(set(n_levels)) == 1:
        found = _sum_rule(table, n_levels, levels)
        if found is not None:
            return found
    return _function_rule(table, variables, n_levels)


def _sum_rule(table: CellCounts, n_levels: Sequence[int], levels: Sequence[Sequence[Hashable]]) -> Rule | None:
    modulus, size = n_levels[0], len(n_levels)
    best: tuple[float, int, tuple[int, ...]] = (0.0, 0, ())
    signs = product((1, -1), repeat=size - 1) if modulus > 2 and size <= _MOST_SIGNS else [(1,) * (size - 1)]
    for rest in signs:
        factors = (1, *rest)
        shares = _residues(table, factors, modulus)
        remainder = shares.index(max(shares))
        if shares[remainder] > best[0] + 1e-12:
            best = shares[remainder], remainder, factors
    holds, remainder, factors = best
    by_chance = _independent_residues(table, factors, n_levels)[remainder]
    if not _is_worth_naming(holds, by_chance):
        return None
    marked = tuple(str(of[1]) for of in levels) if modulus == 2 else ()
    return Rule("parity" if modulus == 2 else "sum", holds, by_chance, modulus, remainder, factors, marked)


def _residues(table: CellCounts, factors: tuple[int, ...], modulus: int) -> list[float]:
    """Return the share of the rows with each remainder."""
    sums = (table.cells @ np.array(factors)) % modulus
    return _shares(sums, table.counts, modulus)


def _shares(values: NDArray[np.int64], counts: NDArray[np.int64], n_values: int) -> list[float]:
    """Return the share of the rows with each value."""
    totals = np.bincount(values, weights=counts, minlength=n_values).tolist()  # sums stay below 2^53
    n_rows = sum(totals)
    return [total / n_rows for total in totals]


def _independent_residues(table: CellCounts, factors: tuple[int, ...], n_levels: Sequence[int]) -> list[float]:
    """Return the shares of the residues, were the variables independent: a cyclic convolution."""
    modulus = n_levels[0]
    shares = [1.0, *[0.0] * (modulus - 1)]
    for place, factor in enumerate(factors):
        own = _shares(table.cells[:, place], table.counts, modulus)
        turned = [own[(s * factor) % modulus] for s in range(modulus)]
        shares = [_convolved(shares, turned, r) for r in range(modulus)]
    return shares


def _convolved(shares: Sequence[float], turned: Sequence[float], r: int) -> float:
    total = 0.0
    for s, share in enumerate(turned):
        total += shares[(r - s) % len(turned)] * share
    return total


def _function_rule(table: CellCounts, variables: Sequence[int], n_levels: Sequence[int]) -> Rule | None:
    n_rows = int(table.counts.sum())
    best: Rule | None = None
    for place, variable in enumerate(variables):
        n_others = prod(n_levels) // n_levels[place]
        if n_rows < _ROWS_A_CELL * n_others:
            continue
        holds = _largest(_without(table.cells, place, n_levels), table.counts).sum() / n_rows
        own = np.bincount(table.cells[:, place], weights=table.counts)
        rule = Rule("function", float(holds), float(own.max() / n_rows), target=variable)
        if best is None or _settled(rule) > _settled(best) + 1e-9:
            best = rule
    return best if best is not None and _is_worth_naming(best.holds, best.by_chance) else None


def _without(cells: NDArray[np.int64], place: int, n_levels: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of each cell in the table of all variables but one."""
    numbers = np.zeros(len(cells), dtype=np.int64)
    for other, levels in enumerate(n_levels):
        if other != place:
            numbers = numbers * levels + cells[:, other]
    return numbers


def _largest(group: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest count of each group."""
    found = np.zeros(int(group.max()) + 1, dtype=np.int64)
    np.maximum.at(found, group, counts)
    return found


def _settled(rule: Rule) -> float:
    return (rule.holds - rule.by_chance) / max(1 - rule.by_chance, 1e-12)


def _is_worth_naming(holds: float, by_chance: float) -> bool:
    return holds - by_chance > _WORTH_NAMING * (1 - by_chance)
