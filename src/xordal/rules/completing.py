"""Rules completed by the scheme that a whole code has.

The numbers of one company begin alike. What a nearly constant digit adds to the sum cannot be told from the
few rows in which it differs: these may be typing errors, or other companies. So a rule that is found leaves it
out, and an error in it breaks nothing. But where the code, all of its characters taken together, is of a known
scheme (an EAN-13 of thirteen digits, say), the scheme tells what that digit adds.

A rule is completed if it gives the characters that it has the scheme's values, up to a factor, and if the
commonest characters of the others make up its constant: the sum of the whole code is then 0, as it should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules.candidate import UNKNOWN, Candidate, Values, candidate_of
from xordal.rules.schemes import terms_of_scheme
from xordal.types.rules import AdditiveRule

_NEARLY_ALL = 0.9  # share of the rows that have the commonest character of a nearly constant place
_MODULI = (10, 11)  # of the schemes of digits
_FEWEST_COLUMNS = 4  # characters in a rule that is completed
_SEPARATORS = set(" -./_\u00a0\u2010\u2011\u2012\u2013")


@dataclass(frozen=True, slots=True)
class Completed:
    """The rules of a table after completing, and the nearly constant columns of a code.

    Attributes
    ----------
    rules
        All rules, those completed in the places of those that were found.
    added
        For each number of a completed rule (from 0) the columns that it got.
    unchecked
        Nearly constant columns of the code that are in no rule still, though its other characters are in one.
    differ
        The rows (from 0) in which some of the unchecked columns have another character than most.
    """

    rules: tuple[AdditiveRule, ...]
    added: dict[int, tuple[int, ...]]
    unchecked: tuple[int, ...]
    differ: NDArray[np.int64]


def completed(
    table: CategoricalTable, rules: Sequence[AdditiveRule], places: Sequence[tuple[str, str]]
) -> Completed:
    """Return rules completed by the scheme of a code; ``places`` are its columns and commonest characters.

    The evidence stays that of the rule without the columns that the scheme adds: rows say nothing of those.
    """
    at = {name: v for v, name in enumerate(table.names)}
    code = [(at.get(name, -1), common) for name, common in places]
    own = {v for v, _ in code if v >= 0}
    steady = [v for v in sorted(own) if _differs(table, v).mean() <= 1 - _NEARLY_ALL]
    told, added = list(rules), {}
    for number, rule in enumerate(rules):
        of_code = own & set(rule.variables)
        if rule.modulus not in _MODULI or len(of_code) < max(_FEWEST_COLUMNS, len(rule.variables)):
            continue
        missing = own - of_code
        if not missing or not missing <= set(steady):
            continue
        whole = _whole(table, candidate_of(rule), code)
        if whole is not None:
            told[number] = _counted(table, rule, *whole)
            added[number] = tuple(sorted(missing))
    in_rules = {v for rule in told for v in rule.variables}
    unchecked = [v for v in steady if v not in in_rules]
    if not in_rules & own or not unchecked:
        return Completed(tuple(told), added, (), np.zeros(0, dtype=np.int64))
    differ = np.any([_differs(table, v) for v in unchecked], axis=0)
    return Completed(tuple(told), added, tuple(unchecked), np.flatnonzero(differ))


def _differs(table: CategoricalTable, v: int) -> NDArray[np.bool_]:
    """Return in which rows a column has another level than its commonest."""
    codes = table.codes[v]
    return np.asarray(codes != np.bincount(codes, weights=table.weights).argmax())


def _whole(
    table: CategoricalTable, rule: Candidate, code: Sequence[tuple[int, str]]
) -> tuple[str, Candidate] | None:
    """Return the scheme that a rule is part of, and the rule of the whole code; None if there is none."""
    places = [(v, common) for v, common in code if v >= 0 or common not in _SEPARATORS]
    characters = [table.levels[v] if v >= 0 else (common,) for v, common in places]
    functions = dict(zip(rule.variables, rule.functions, strict=True))
    p = rule.modulus
    for name, terms in terms_of_scheme(p, characters):
        commons = [
            int(values[list(map(str, of)).index(common)])
            for (_, common), of, values in zip(places, characters, terms, strict=True)
        ]
        if UNKNOWN in commons:
            continue
        for factor in range(1, p):
            if gcd(factor, p) > 1:
                continue
            rest = rule.constant
            for (v, _), values, common in zip(places, terms, commons, strict=True):
                shift = None if v not in functions else _shift(functions[v], values, factor, p)
                if v in functions and shift is None:
                    break
                rest += -factor * common if shift is None else shift
            else:
                if rest % p == 0:
                    return name, _candidate(p, [v for v, _ in places], terms)
    return None


def _shift(own: Values, wanted: Values, factor: int, p: int) -> int | None:
    """Return by which constant a function differs from a multiple of the scheme's; None if it is no such."""
    known = own != UNKNOWN
    if not known.any() or (wanted[known] == UNKNOWN).any():
        return None
    shifts = np.unique((own[known] - factor * wanted[known]) % p)
    return int(shifts[0]) if len(shifts) == 1 else None


def _candidate(p: int, places: Sequence[int], terms: Sequence[Values]) -> Candidate:
    """Return the rule of a scheme: what all codes have in common is its constant."""
    both = sorted((v, k) for k, v in enumerate(places) if v >= 0)
    constant = sum(int(values[0]) for v, values in zip(places, terms, strict=True) if v < 0) % p
    return Candidate(p, tuple(v for v, _ in both), tuple(terms[k] for _, k in both), constant)


def _counted(table: CategoricalTable, rule: AdditiveRule, name: str, whole: Candidate) -> AdditiveRule:
    """Return a completed rule with the rows that break it counted."""
    broken = ~whole.is_obeyed(table.codes)
    n_broken = int(broken.sum() if table.weights is None else table.weights[broken].sum())
    functions = tuple(tuple(None if v == UNKNOWN else v for v in f.tolist()) for f in whole.functions)
    return replace(
        rule,
        variables=whole.variables,
        functions=functions,
        constant=whole.constant,
        n_broken=n_broken,
        name=name,
    )
