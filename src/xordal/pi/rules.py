"""Rules: what the variables of a hidden group do together, if it can be said in a sentence.

Three kinds are looked for: a parity (two levels each), a sum modulo the common number of levels with factors +1
and -1, and one variable that follows from all others. Where none of them holds clearly, the sentence is a
table: how often one variable has a level, for each combination of the others.

A rule is judged on rows that it was not chosen from. For a function that is exact without drawing anything:
each row is left out in turn, and the function read off the others must tell its level. A sum has little to
choose from, its signs and its remainder, and its p-value is multiplied by their number. Every column must be
needed: a sum must hold more often than if any one column were independent of the others, a function more often
than the function of one column less. An exact rule stands before any that has exceptions, however strong.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounts
from xordal.data.missing import MISSING_LEVEL
from xordal.types.rules import AdditiveRule, Rate, Rule

Integers = NDArray[np.int64]

_MOST_SIGNS = 6  # variables up to which all signs of a sum are tried
_WORTH_NAMING = 0.5  # share of what chance leaves open that a rule must settle
CLEARLY = 0.85
"""Share of rows from which a rule says more than a table of rates."""

_LEVEL = log(0.05)
_MOST_COMBINATIONS = 500  # that occur; of many only the surest are printed, and a network file holds all
_SURE = 1.959964


def find_rule(
    table: CellCounts,
    variables: Sequence[int],
    levels: Sequence[Sequence[Hashable]],
    *,
    parts: float = 1.0,
) -> Rule | None:
    """Return the rule that some variables follow, or None.

    Parameters
    ----------
    table
        Counts of the cells of the variables.
    variables
        Their numbers, in the order of the table's columns.
    levels
        The levels of each.
    parts
        How many of the counts say as much as one plain row: more than one where weights are fractions, which
        are counted in small parts of a row, or where rows belong together.

    Examples
    --------
    >>> from xordal.counting.oracle import CellCounts
    >>> cells = np.array([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)])
    >>> rule = find_rule(CellCounts(cells, np.full(4, 25)), (3, 5, 7), [("no", "yes")] * 3)
    >>> rule.kind, rule.additive.variables, rule.additive.remainder, rule.marked, rule.holds, rule.by_chance
    ('parity', (3, 5, 7), 0, ('yes', 'yes', 'yes'), 1.0, 0.5)
    """
    n_levels = [len(of) for of in levels]
    found = [_sum_rule(table, variables, levels, parts)] if len(set(n_levels)) == 1 else []
    # No function says more than an exact sum. Of those that tell as much, the last column's comes first: tables
    # tend to end with what follows.
    if not any(rule and rule.is_exact and _is_worth_naming(rule) for rule in found):
        found += [_function_rule(table, place, variables, parts) for place in reversed(range(len(variables)))]
    named = [rule for rule in found if rule is not None and _is_worth_naming(rule)]
    best = max(named, key=_worth, default=None)
    if best is not None and best.holds >= CLEARLY:
        return best
    return rates(table, variables, levels, parts=parts) or best


def _worth(rule: Rule) -> tuple[bool, float]:
    """Return what rules are ranked by; of equal ones the first stays, a sum before functions."""
    return rule.is_exact, round(_settled(rule), 2)


def _settled(rule: Rule) -> float:
    return (rule.holds - rule.by_chance) / max(1 - rule.by_chance, 1e-12)


def _is_worth_naming(rule: Rule) -> bool:
    return _settled(rule) > _WORTH_NAMING and rule.log_p_value <= _LEVEL


def _sum_rule(
    table: CellCounts, variables: Sequence[int], levels: Sequence[Sequence[Hashable]], parts: float
) -> Rule | None:
    modulus, size, n_rows = len(levels[0]), len(levels), max(1, round(int(table.counts.sum()) / parts))
    best: tuple[float, int, tuple[int, ...]] = (0.0, 0, ())
    has_signs = modulus > 2 and size <= _MOST_SIGNS
    signs = list(product((1, -1), repeat=size - 1)) if has_signs else [(1,) * (size - 1)]
    for rest in signs:
        factors = (1, *rest)
        shares = _shares((table.cells @ np.array(factors)) % modulus, table.counts, modulus)
        remainder = shares.index(max(shares))
        if shares[remainder] > best[0] + 1e-12:
            best = shares[remainder], remainder, factors
    holds, remainder, factors = best
    if modulus < 2 or not factors:
        return None
    by_chance = max(_with_one_apart(table, factors, modulus, place)[remainder] for place in range(size))
    n_obeyed = round(holds * n_rows)
    low, high = interval(n_obeyed, n_rows)
    log_p = log_p_above(holds, by_chance, n_rows, len(signs) * modulus)
    additive = AdditiveRule.of_codes(
        variables, modulus, factors, remainder, n_rows, n_rows - n_obeyed, by_chance, log_p
    )
    return Rule(
        "parity" if modulus == 2 else "sum", holds, by_chance, additive,
        marked=tuple(str(of[1]) for of in levels) if modulus == 2 else (),
        low=low, high=high, log_p_value=log_p, is_exact=holds == 1.0,
    )  # fmt: skip


def _shares(values: Integers, counts: Integers, n_values: int) -> list[float]:
    """Return the share of the rows with each value."""
    totals = np.bincount(values, weights=counts, minlength=n_values).tolist()  # sums stay below 2^53
    n_rows = sum(totals)
    return [total / n_rows for total in totals]


def _with_one_apart(table: CellCounts, factors: tuple[int, ...], modulus: int, place: int) -> list[float]:
    """Return the shares of the remainders, were one variable independent of the others."""
    own = _shares(table.cells[:, place] * factors[place] % modulus, table.counts, modulus)
    others = [factor if at != place else 0 for at, factor in enumerate(factors)]
    rest = _shares((table.cells @ np.array(others)) % modulus, table.counts, modulus)
    return [sum(own[s] * rest[(r - s) % modulus] for s in range(modulus)) for r in range(modulus)]


def _function_rule(table: CellCounts, place: int, variables: Sequence[int], parts: float) -> Rule | None:
    """Return the rule that one variable follows from all others, or None where one of these is not needed."""
    n_rows, size = int(table.counts.sum()), len(variables)
    others = [at for at in range(size) if at != place]
    told = told_rows(table, place, others, parts=parts)
    n_told = int(table.counts[told.is_told].sum())
    for left_out in others:
        fewer = told_rows(table, place, [at for at in others if at != left_out], parts=parts)
        if not _tells_more(table.counts / parts, told.is_told, fewer.is_told, size * len(others)):
            return None
    by_chance = float(np.bincount(table.cells[:, place], weights=table.counts).max() / n_rows)
    low, high = interval(n_told / parts, n_rows / parts)
    holds = n_told / n_rows
    return Rule(
        "function", holds, by_chance, target=variables[place], low=low, high=high,
        log_p_value=log_p_above(holds, by_chance, n_rows / parts, size), is_exact=told.is_exact,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """The cells whose rows a function tells, each left out in turn, and whether it has no exception at all."""

    is_told: NDArray[np.bool_]
    is_exact: bool


def told_rows(table: CellCounts, place: int, others: Sequence[int], *, parts: float = 1.0) -> Told:
    """Return which rows the commonest level among the other rows with the same values tells.

    A row, of so many parts, is told when its level leads without it: the cell holds more than one row above
    every other.
    """
    group, pair = table.numbered(others), table.numbered([*others, place])
    rows = np.bincount(pair, weights=table.counts)[pair]
    most, first, second = np.zeros((3, int(group.max()) + 1))
    np.maximum.at(most, group, rows)
    is_most = rows == most[group]
    first[group[is_most]] = pair[is_most]  # of several any: none of them leads
    is_first = pair == first[group]
    np.maximum.at(second, group[~is_first], rows[~is_first])
    return Told(is_first & (rows - parts > second[group]), not second.any())


def _tells_more(
    counts: NDArray[np.float64], whole: NDArray[np.bool_], fewer: NDArray[np.bool_], n_tests: int
) -> bool:
    """Whether a function tells more rows than one of a column less: a sign test of the rows only one tells."""
    gained, lost = float(counts[whole & ~fewer].sum()), float(counts[fewer & ~whole].sum())
    if gained <= lost:
        return False
    return log_p_above(gained / (gained + lost), 0.5, gained + lost, n_tests) <= _LEVEL


def log_p_above(holds: float, by_chance: float, n_rows: float, n_choices: int) -> float:
    """Return a bound (Chernoff) on the log p-value of a share above chance, corrected for the choices made."""
    if holds <= by_chance:
        return 0.0
    divergence = holds * log(holds / by_chance) if by_chance > 0 else inf
    if holds < 1:
        divergence += (1 - holds) * log((1 - holds) / (1 - by_chance))
    return min(0.0, -min(n_rows * divergence, 1e300) + log(n_choices))


def interval(n_hits: float, n_rows: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927).

    Examples
    --------
    >>> [round(limit, 3) for limit in interval(31, 100)]
    [0.228, 0.406]
    """
    share, z2 = n_hits / n_rows, _SURE**2
    middle = (share + z2 / (2 * n_rows)) / (1 + z2 / n_rows)
    half = _SURE * sqrt(share * (1 - share) / n_rows + z2 / (4 * n_rows**2)) / (1 + z2 / n_rows)
    return max(0.0, middle - half), min(1.0, middle + half)


def rates(
    table: CellCounts,
    variables: Sequence[int],
    levels: Sequence[Sequence[Hashable]],
    *,
    parts: float = 1.0,
) -> Rule | None:
    """Return how often one variable has a level, for each combination of the others.

    The variable is the one with the fewest levels, of these the last, since tables tend to end with what
    follows from the rest. Of two levels the rarer is told, of more the one whose rates differ most. None where
    no two rates clearly differ, or every variable leaves too many combinations that occur. Rates are those of
    the rows in which the variable is known; so many ``parts`` of the counts say as much as one row.

    Examples
    --------
    >>> cells = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> counts = np.array([69, 31, 94, 6, 95, 5, 65, 35])
    >>> rule = rates(CellCounts(cells, counts), (0, 1, 2), [("L1", "L2"), ("Acme", "Borg"), ("no", "defect")])
    >>> [(rate.levels, rate.share) for rate in rule.rates]
    [(('L1', 'Acme'), 0.31), (('L1', 'Borg'), 0.06), (('L2', 'Acme'), 0.05), (('L2', 'Borg'), 0.35)]
    """
    n_levels = [len(of) for of in levels]
    known = [known_levels(of) for of in levels]
    fitting = [p for p in range(len(variables)) if _n_combinations(table, p) <= _MOST_COMBINATIONS]
    fewest = min((len(known[p]) for p in fitting), default=0)
    found = []
    for place in (p for p in fitting if len(known[p]) == fewest):
        is_known = np.isin(table.cells[:, place], known[place])
        rows = CellCounts(table.cells[is_known], table.counts[is_known])
        own = np.bincount(rows.cells[:, place], weights=rows.counts, minlength=n_levels[place])
        codes = [min(known[place], key=own.item)] if fewest == 2 else known[place]
        for code in codes:
            of_code, share = _rates_of(rows, place, code, levels, parts), float(own[code] / own.sum())
            spread = max(rate.low for rate in of_code) - min(rate.high for rate in of_code)
            level = str(levels[place][code])
            rule = Rule("rates", share, share, target=variables[place], level=level, rates=of_code)
            found.append((place, round(spread, 9), rule))
    clear = [one for one in found if one[1] > 0]
    return max(clear, key=lambda one: one[:2])[2] if clear else None


def _n_combinations(table: CellCounts, place: int) -> int:
    """Return how many combinations of all variables but one occur."""
    return len(np.unique(np.delete(table.cells, place, axis=1), axis=0))


def known_levels(levels: Sequence[Hashable]) -> list[int]:
    """Return the codes of the levels that say what a value is; of fewer than two, that of missing ones as well.

    Examples
    --------
    >>> known_levels(["no", "yes", "(missing)"]), known_levels(["paid", "(missing)"])
    ([0, 1], [0, 1])
    """
    known = [code for code, level in enumerate(levels) if level != MISSING_LEVEL]
    return known if len(known) > 1 else list(range(len(levels)))


def _rates_of(
    table: CellCounts, place: int, code: int, levels: Sequence[Sequence[Hashable]], parts: float
) -> tuple[Rate, ...]:
    """Return the rates of a level in each combination of the others that occurs."""
    others = [at for at in range(len(levels)) if at != place]
    hits: dict[tuple[int, ...], int] = {}
    rows: dict[tuple[int, ...], int] = {}
    for cell, count in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
        key = tuple(cell[at] for at in others)
        rows[key] = rows.get(key, 0) + count
        hits[key] = hits.get(key, 0) + (count if cell[place] == code else 0)
    found = []
    for key in sorted(rows):
        n_rows = max(1, round(rows[key] / parts))
        n_hits = round(hits[key] / rows[key] * n_rows)
        told = tuple(str(levels[at][c]) for at, c in zip(others, key, strict=True))
        found.append(Rate(told, n_hits, n_rows, *interval(hits[key] / parts, rows[key] / parts)))
    return tuple(found)
