"""Relations of whole numbers, told as what they are.

A total, "exactly one of these", a column that is a function of another: each is a sum that is zero without any
modulus, and therefore zero modulo every prime. They are sought first, modulo a prime so large that solutions in
small whole numbers can be read off it, and what follows from them modulo other primes is not told again.

A relation of two columns is never a rule modulo something. Two columns that agree modulo p agree in which class
each is, and that is a plain dependence of a pair; it is told as a function where it is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules.candidate import UNKNOWN, Candidate, Values, weight_of
from xordal.rules.coding import blanks_of
from xordal.rules.evidence import Evidence, log_tail

LARGE_PRIME = 1021
"""Modulo this prime, fractions of whole numbers up to 22 are told apart: 2 x 22 x 22 is less than it."""
_LARGEST = 22
_SETTLED_PAIR = 0.8  # below it two columns merely depend on each other, which is for `learn` to tell


def in_whole_numbers(solution: Values) -> Values | None:
    """Return a solution modulo the large prime as small whole numbers without common divisor, or None.

    The constant is 0 in it and left to the rows (``with_constant``): shares in percent add up to 100, which is
    no small number.

    Examples
    --------
    >>> in_whole_numbers(np.array([100, 1, 1020, 511])).tolist()  # 511 is 1/2
    [0, 2, -2, 1]
    """
    others = np.flatnonzero(solution[1:])
    found = np.zeros(len(solution), dtype=np.int64)
    if not len(others):
        return found
    values = solution[1 + others] * pow(int(solution[1 + others[-1]]), -1, LARGE_PRIME) % LARGE_PRIME
    tops, bottoms = _fractions()[:, values]
    if not bottoms.all():
        return None
    whole = tops * (np.lcm.reduce(bottoms) // bottoms)
    whole //= np.gcd.reduce(whole)
    found[1 + others] = whole
    return found if abs(whole).max() <= _LARGEST else None


@lru_cache(maxsize=1)
def _fractions() -> Values:
    """Return the fractions that all numbers modulo the large prime are, 0/0 where there is none."""
    return np.array([_fraction(value) or (0, 0) for value in range(LARGE_PRIME)]).T


def with_constant(candidate: Candidate, codes: NDArray[np.int32]) -> Candidate:
    """Return a relation of whole numbers with the constant with which it holds in most rows."""
    if not candidate.variables:
        return candidate
    terms, known = candidate.terms(codes)
    sums, counts = np.unique(terms.sum(axis=0)[known], return_counts=True)
    return replace(candidate, constant=-int(sums[counts.argmax()])) if len(sums) else candidate


def _fraction(value: int) -> tuple[int, int] | None:
    """Return the fraction of small numbers that equals a value modulo the large prime (Wang 1981)."""
    before, now = (LARGE_PRIME, 0), (value, 1)
    while now[0] > _LARGEST:
        quotient = before[0] // now[0]
        before, now = now, (before[0] - quotient * now[0], before[1] - quotient * now[1])
    if abs(now[1]) > _LARGEST:
        return None
    return (now[0], now[1]) if now[1] > 0 else (-now[0], -now[1])


def as_whole_numbers(candidate: Candidate, table: CategoricalTable, evidence: Evidence) -> Candidate | None:
    """Return a rule modulo p as an equation of whole numbers, where one holds as often.

    The values are taken as they are and between -p/2 and p/2; the sum must then be one number in all rows that
    obey the rule.
    """
    p = candidate.modulus
    for lowest in (0, -((p - 1) // 2)):
        functions = tuple(np.where(f == UNKNOWN, f, (f - lowest) % p + lowest) for f in candidate.functions)
        whole = Candidate(0, candidate.variables, functions, 0)
        terms, known = whole.terms(table.codes)
        sums = terms.sum(axis=0)[known]
        least = int(sums.min())
        counts = np.bincount(sums - least, weights=None if table.weights is None else table.weights[known])
        if counts.max() >= evidence.n_rows - 1.2 * evidence.n_broken:
            return Candidate(0, candidate.variables, functions, -int(counts.argmax()) - least)
    return None


def function_of_a_column(
    table: CategoricalTable, one: int, other: int, n_moduli: int
) -> tuple[Candidate, Evidence, str] | None:
    """Return the relation of two columns as a function of one of them, where it is one.

    The function's level k, in the order of the levels, is k in the column that follows and -k in the one that
    it follows from.
    """
    best: tuple[float, Candidate, Evidence] | None = None
    n_told = 0
    for source, target in ((one, other), (other, one)):
        candidate, evidence = _function(table, source, target, n_moduli)
        if evidence.log_p_value > log(0.05):
            continue
        settled = (1 - evidence.n_broken / evidence.n_rows - evidence.by_chance) / (1 - evidence.by_chance)
        if settled <= _SETTLED_PAIR:
            continue
        n_told += 1
        if best is None or settled > best[0] + 1e-9:
            best = settled, candidate, evidence
    if best is None:
        return None
    same = n_told == 2 and len(table.levels[one]) == len(table.levels[other])
    return best[1], best[2], "same" if same else "function"


def _function(table: CategoricalTable, source: int, target: int, n_moduli: int) -> tuple[Candidate, Evidence]:
    sizes = len(table.levels[source]), len(table.levels[target])
    keys = table.codes[source].astype(np.int64) * sizes[1] + table.codes[target]
    counts = np.bincount(keys, weights=table.weights, minlength=sizes[0] * sizes[1]).reshape(sizes)
    blanks = blanks_of([table.levels[source], table.levels[target]])
    for axis, blank in enumerate(blanks):
        if blank >= 0:  # what is missing follows from nothing, and nothing from it
            np.moveaxis(counts, axis, 0)[blank] = 0
    asked, n_obeyed = counts.argmax(axis=1).astype(np.int64), int(counts.max(axis=1).sum())
    n_rows = int(counts.sum())
    by_chance = float(counts.sum(axis=0).max() / max(n_rows, 1))
    n_variables = table.n_variables
    log_rules = log(n_variables * n_variables) + sizes[0] * log(max(sizes[1], 2)) + log(2 * n_moduli * 6)
    evidence = Evidence(
        n_rows, n_rows - n_obeyed, by_chance, min(log_tail(n_obeyed, n_rows, by_chance) + log_rules, 0.0)
    )
    functions = {source: -asked, target: np.arange(sizes[1], dtype=np.int64)}
    for variable, blank in zip((source, target), blanks, strict=True):
        if blank >= 0:
            functions[variable][blank] = UNKNOWN
    variables = tuple(sorted(functions))
    return Candidate(0, variables, tuple(functions[v] for v in variables), 0), evidence


def marked_levels(candidate: Candidate) -> list[int] | None:
    """Return one level of each column such that in rows that obey a rule exactly one column has its level.

    None where the rule says something else. The level of a column of two may be either.

    Examples
    --------
    >>> values = np.array([0, 1]), np.array([0, 1]), np.array([0, -1])  # any = one + other
    >>> marked_levels(Candidate(0, (0, 1, 2), values, 0))
    [1, 1, 0]
    """
    for sign in (1, -1):
        marks = []
        offset = sign * candidate.constant
        for f in candidate.functions:
            values = np.where(f == UNKNOWN, f, sign * f)
            least = int(values[f != UNKNOWN].min())
            offset += least
            marks.append(np.flatnonzero((f != UNKNOWN) & (values > least)))
            if len(marks[-1]) != 1 or values[marks[-1]] != least + 1:
                break
        else:
            if offset == -1:
                return [int(mark[0]) for mark in marks]
    return None


def kind_of(candidate: Candidate, levels: Sequence[Sequence[object]]) -> str:
    """Return what a relation of whole numbers of three or more columns is.

    ``"exactly one"``: in each row exactly one of the columns has its marked level. ``"total"``: weights of
    numbers. ``"sum"``: anything else.
    """
    if marked_levels(candidate) is not None:
        return "exactly one"
    weights = [
        1 if len(f) == 2 else weight_of(levels[v], f, 0)
        for v, f in zip(candidate.variables, candidate.functions, strict=True)
    ]
    return "sum" if any(weight is None for weight in weights) else "total"
