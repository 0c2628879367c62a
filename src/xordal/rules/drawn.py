"""How often a rule holds in rows that obey other rules and nothing else.

A column that is the total of two others, and one that is the total of that and a third, make many sums of
functions of all five constant in most rows. Such a sum is no rule of its own. So rows are drawn: of each rule
one column follows from the others, all other columns are independent, and the candidate must hold more often in
the data than in those rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xordal.rules.candidate import UNKNOWN, Candidate, Values, residues, without

_FEWEST = 100  # drawn rows in which the rules can hold at all, from which a share is taken


def share_obeyed(candidate: Candidate, rules: Sequence[Candidate], codes: NDArray[np.int32]) -> float:
    """Return the share of drawn rows that obey a candidate; 0 where hardly any row can be drawn."""
    generator = np.random.default_rng(0)  # the same table gives the same answer
    columns = sorted({v for rule in (candidate, *rules) for v in rule.variables})
    seen = codes[columns].astype(np.int64)
    drawn = np.stack([generator.permutation(column) for column in seen])
    fits = np.ones(codes.shape[1], dtype=bool)
    for together, column in _following([_among(rule, columns) for rule in rules]):
        fits &= _draw(drawn, together, column, seen, generator)
    if fits.sum() < _FEWEST:
        return 0.0
    return float(_among(candidate, columns).is_obeyed(drawn[:, fits]).mean())


def connected(candidate: Candidate, rules: Sequence[Candidate]) -> list[Candidate]:
    """Return the rules that share a column with a candidate, or with such a rule, and so on."""
    reached, found = set(candidate.variables), list[Candidate]()
    left = list(rules)
    while touching := [rule for rule in left if reached & set(rule.variables)]:
        found += touching
        left = [rule for rule in left if rule not in touching]
        reached |= {v for rule in touching for v in rule.variables}
    return found


def _among(rule: Candidate, columns: list[int]) -> Candidate:
    """Return a rule with its columns numbered by their place among some."""
    return replace(rule, variables=tuple(columns.index(v) for v in rule.variables))


def _following(rules: Sequence[Candidate]) -> list[tuple[list[Candidate], int]]:
    """Return a column that follows from its others for all rules of the same columns, in an order to draw in.

    No rule that is drawn earlier holds the column. Rules for which there is none are left out.
    """
    groups: dict[tuple[int, ...], list[Candidate]] = {}
    for rule in sorted(rules, key=lambda rule: rule.variables[-1]):
        groups.setdefault(rule.variables, []).append(rule)
    found, used = [], set[int]()
    for variables, together in groups.items():
        column = next((v for v in reversed(variables) if v not in used), None)
        if column is not None:
            found.append((together, column))
        used |= set(variables)
    return found


def _draw(
    drawn: Values, together: Sequence[Candidate], column: int, seen: Values, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Write a column's levels as rules ask for them, the commoner the likelier; return where there is one."""
    place = together[0].variables.index(column)
    asked, known = [], np.ones(drawn.shape[1], dtype=bool)
    for rule in together:
        terms, is_known = without(rule, place).terms(drawn)
        asked.append(residues(-(terms.sum(axis=0) + rule.constant), rule.modulus))
        known &= is_known
    values = np.stack([rule.functions[place] for rule in together])
    counts = np.bincount(seen[column], minlength=values.shape[1])
    counts[(values == UNKNOWN).any(axis=0)] = 0
    fits = np.zeros(drawn.shape[1], dtype=bool)
    for value in np.unique(values[:, counts > 0], axis=1).T:
        here = np.flatnonzero((np.stack(asked) == value[:, None]).all(axis=0))
        likely = counts * (values == value[:, None]).all(axis=0)
        if len(here):
            drawn[column, here] = generator.choice(len(counts), size=len(here), p=likely / likely.sum())
            fits[here] = True
    n_broken = max(_share_broken(rule, seen) for rule in together)
    broken = generator.random(drawn.shape[1]) < n_broken
    drawn[column, broken] = generator.permutation(seen[column])[broken]
    return (fits | broken) & known


def _share_broken(rule: Candidate, seen: Values) -> float:
    """Return the share of rows that break a rule, of those that it says something of."""
    known = rule.terms(seen)[1]
    return float(1 - rule.is_obeyed(seen)[known].mean()) if known.any() else 1.0
