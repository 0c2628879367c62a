"""Rules as part of learning a network: whether they are sought, and how, by the sizes of the table alone.

Moduli are the primes that a column could have as its number of levels: up to the largest number of levels plus
one, as the ten digits of book numbers are added modulo 11; of more than 400 unknowns only 2. Relations of two
columns are links, and not told as rules here. A table is looked at first (quick.py), since most obey no rule
and a search takes longer than learning a network of a small table. The same table gives the same rules on every
machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.rules.candidate import candidate_of
from xordal.rules.coding import blanks_of, is_blank
from xordal.rules.elimination import Effort
from xordal.rules.evidence import log_tail
from xordal.rules.finding import MODULI, codings_of, rules_of
from xordal.rules.quick import MOST_UNKNOWNS, is_worth_a_search
from xordal.statistics.weights import RULES
from xordal.types.groups import Submodel
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import members

MOST_UNKNOWNS_SOUGHT = 2_000
"""Unknowns above which rules are not sought by learning: ``find_rules`` does it where it is asked to."""
MOST_ROWS = 1 << 22
"""Rows beyond which rules are sought in so many of them: a search keeps two numbers for each cell of a rule."""
ROWS_REPEATED = 100_000
"""Rows of a weighted table, at most, that are written out one by one."""
_ROWS_AT_ONCE = 1 << 18
_LARGEST = 37  # prime that is tried; larger ones are for those who name them


def rules_beside(
    table: CategoricalTable,
    alpha: float,
    groups: Sequence[Submodel] = (),
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> tuple[AdditiveRule, ...]:
    """Return the rules of three or more columns that a table obeys.

    Parameters
    ----------
    table
        The table. Of more than 4 million rows, so many are searched, evenly spread; in how many rows a rule
        holds is then counted in all of them.
    alpha
        The level of the search for the network, of which a twentieth is kept for rules (statistics/weights.py).
    groups
        Hidden groups that were found. Where they tell all the rules there are, none is sought.
    seed
        Of the random choices of rows.
    check
        Called several times a second; it may end the search by raising.
    """
    every, table = table, table.some(MOST_ROWS)
    is_part = table is not every
    if table.weights is not None and table.n_rows <= ROWS_REPEATED:
        # A weighted row is so many rows: rules are sought in samples of rows, of which there are then enough.
        repeated = np.repeat(table.codes, table.weights, axis=1)
        table = CategoricalTable(table.names, table.levels, repeated)
    moduli = _moduli(table)
    try:
        codings, _ = codings_of(table)
    except DataError:
        return ()  # too short, or too few columns that vary: nothing could be told
    largest = max(coding.n_unknowns for coding in codings)
    if largest > MOST_UNKNOWNS_SOUGHT:
        return ()
    if largest > MOST_UNKNOWNS:
        moduli = (2,)
    generator = np.random.default_rng(seed)
    if not any(
        is_worth_a_search(table, coding, p, told_by_groups(groups, p), generator, check)
        for coding in codings
        for p in moduli
    ):
        return ()
    effort = Effort(exact=False, is_compiled=False, check=check, is_brief=True)
    found = rules_of(table, moduli, effort, RULES * alpha, seed)
    told = tuple(rule for rule in found if len(rule.variables) > 2)
    return tuple(_counted_in_all(rule, every) for rule in told) if is_part else told


def _counted_in_all(rule: AdditiveRule, table: CategoricalTable) -> AdditiveRule:
    """Return a rule that was found in some rows with all rows counted, a block of them at a time."""
    candidate, blanks = candidate_of(rule), blanks_of(table.levels)
    n_broken = n_blank = 0
    for start in range(0, table.codes.shape[1], _ROWS_AT_ONCE):
        codes = table.codes[:, start : start + _ROWS_AT_ONCE]
        often = np.ones(codes.shape[1], np.int64)
        if table.weights is not None:
            often = table.weights[start : start + _ROWS_AT_ONCE]
        blank = is_blank(blanks, rule.variables, codes)
        broken = ~candidate.is_obeyed(codes)
        if blank is not None:
            broken &= ~blank
            n_blank += int(often[blank].sum())
        n_broken += int(often[broken].sum())
    n_some, n_told = rule.n_rows - rule.n_blank, table.n_rows - n_blank
    # What remains of the p-value without the chance of so many rows is the number of rules in question.
    log_p = rule.log_p_value
    if log_p > -inf:
        log_p -= log_tail(n_some - rule.n_broken, n_some, rule.by_chance)
        log_p += log_tail(n_told - n_broken, n_told, rule.by_chance)
    return replace(rule, n_rows=table.n_rows, n_broken=n_broken, n_blank=n_blank, log_p_value=min(log_p, 0.0))


def _moduli(table: CategoricalTable) -> tuple[int, ...]:
    most = max(table.n_levels, default=2)
    return tuple(p for p in MODULI if p <= min(most + 1 if most > 2 else 2, _LARGEST))


def told_by_groups(groups: Sequence[Submodel], p: int) -> set[int]:
    """Return one column of each hidden group that follows a sum modulo p: it follows from the others."""
    found: set[int] = set()
    for group in groups:
        if group.rule is not None and group.rule.additive is not None and group.rule.additive.modulus == p:
            left = [v for v in members(group.variables) if v not in found]
            found.update(left[-1:])
    return found
