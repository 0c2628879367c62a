"""find_rules(): the additive rules that a table obeys.

Relations of whole numbers are sought first, then rules modulo each prime; for each, columns enter by numbers
first and by levels after. What follows from rules already found is left out on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from time import perf_counter
from typing import Any, Unpack

import numpy as np

from xordal.data.read import read_table
from xordal.data.reading import ReadingOptions
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError
from xordal.rules.candidate import Candidate
from xordal.rules.coding import Coding, blanks_of, coded_by_levels, coded_by_numbers
from xordal.rules.elimination import MOST_MODULUS, Effort, wants_compiled
from xordal.rules.evidence import Evidence, Judge
from xordal.rules.meeting import FEWEST, plan
from xordal.rules.merging import merged, scaled
from xordal.rules.relations import function_of_a_column, kind_of
from xordal.rules.schemes import scheme_of
from xordal.rules.seeking import Sought, seek
from xordal.types.rules import AdditiveRule

MODULI = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 89, 97)
"""The moduli that are tried by default: all primes to 37, 89 and 97."""
WIDE = 400
"""Unknowns above which only the primes up to the largest number of levels are tried by default: each modulus
above 2 costs time with the cube of the unknowns."""
_MOST_REPEATED = 1_000_000  # rows up to which a weighted table is written out
_MANY_NUMBERS = 13  # more than months: levels of a column that are worth trying by one weight, others by levels
_SAVING = 0.8  # of the unknowns by levels, up to which that is tried
_FEWEST_SPARE = 8  # rows a table needs beyond the unknowns


@dataclass(frozen=True, slots=True, repr=False)
class FoundRules:
    """The rules of a table.

    Attributes
    ----------
    variables
        Column names.
    levels
        The levels of each column, in whose order the functions of the rules are.
    rules
        Rules modulo something first, the surest first; then relations of whole numbers.
    n_rows
        Number of rows.
    moduli
        The primes that were tried.
    notes
        What was not looked for, and why.
    seconds
        How long it took.

    Examples
    --------
    >>> found = find_rules({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "c": [0, 1, 1, 0] * 20})
    >>> [(found.names(rule), rule.modulus, rule.name) for rule in found]
    [(('a', 'b', 'c'), 2, 'parity')]
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    rules: tuple[AdditiveRule, ...]
    n_rows: int
    moduli: tuple[int, ...]
    notes: tuple[str, ...]
    seconds: float

    def __iter__(self) -> Iterator[AdditiveRule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        from xordal.formats.additive import rule_lines

        return "\n".join(line for line in rule_lines(self) if line)

    def names(self, rule: AdditiveRule) -> tuple[str, ...]:
        """Return the names of a rule's columns."""
        return tuple(self.variables[v] for v in rule.variables)


def find_rules(
    data: Any,
    *,
    moduli: Sequence[int] | None = None,
    exact: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    largest_parity: int = 4,
    notice: Callable[[str], None] = lambda line: None,
    check: Callable[[], None] = lambda: None,
    **reading: Unpack[ReadingOptions],
) -> FoundRules:
    """Find the additive rules of a table: sums of functions of columns that are constant modulo a number.

    Parameters
    ----------
    data
        A table, or anything :func:`xordal.read_table` takes: a data frame, an array, a file.
    moduli
        Whole numbers to look modulo of: primes, or products of different primes, which are sought by their
        factors. By default the primes to 37, 89 and 97.
    exact
        Only rules that hardly any row breaks; quicker.
    alpha
        With probability of at most about alpha, any rule is found in a table that obeys none.
    seed
        Of the random choices of rows and orders.
    largest_parity
        Parities of up to so many binary columns are sought through much noise: 4, 5 or 6. Among a thousand
        columns 5 takes half a minute, and 6 (which seeks those of 5 too) a minute.
    notice
        Called with a line of text when something takes long before the search can begin.
    check
        Called several times a second; it may end the search by raising.
    reading
        How the data are read: ``missing``, ``bins``, ``weights`` and the other words of
        :func:`xordal.read_table`. Every column is kept, since codes of many levels obey rules too.

    Returns
    -------
    FoundRules
        The rules, as :class:`xordal.AdditiveRule`.

    Raises
    ------
    DataError
        If there are fewer than two columns that vary, or fewer rows than unknowns.
    SettingsError
        If a modulus or another parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> d = np.random.default_rng(0).integers(0, 10, (400, 3))
    >>> table = {"a": d[:, 0], "b": d[:, 1], "c": d[:, 2], "check": (3 * d[:, 0] + d[:, 1] + 3 * d[:, 2]) % 10}
    >>> rule = find_rules({name: column.tolist() for name, column in table.items()}).rules[0]
    >>> rule.modulus, rule.variables, rule.n_broken
    (10, (0, 1, 2, 3), 0)
    """
    started = perf_counter()
    primes = None if moduli is None else primes_of(moduli)
    if not isinstance(alpha, float | int) or not 0 < alpha < 1:
        raise SettingsError(f"alpha must be between 0 and 1, not {alpha!r}.")
    if not isinstance(seed, Integral) or seed < 0:
        raise SettingsError(f"seed must be zero or a positive whole number, not {seed!r}.")
    if largest_parity not in (4, 5, 6):
        raise SettingsError(f"largest_parity must be 4, 5 or 6, not {largest_parity!r}.")
    is_table = isinstance(data, CategoricalTable) and not reading
    table = data if is_table else read_table(data, **reading)
    effort = Effort(exact, False, largest_parity, check)
    found = rules_of(table.plain("A search for rules"), primes, effort, float(alpha), int(seed), notice)
    return replace(found, seconds=perf_counter() - started)


def rules_of(
    table: CategoricalTable,
    primes: tuple[int, ...] | None,
    effort: Effort,
    alpha: float,
    seed: int,
    notice: Callable[[str], None] = lambda line: None,
) -> FoundRules:
    """Return the rules of a table, found with some effort; whether by compiled code is decided here."""
    started = perf_counter()
    table = _repeated(table)
    codings, notes = codings_of(table)
    codings += _between(table, codings)
    tried = primes if primes is not None else _default_moduli(table, codings, notes)
    judge = Judge(table.codes, table.levels, table.weights, len(tried) + 1)
    largest = max(coding.n_unknowns for coding in codings)
    effort = replace(effort, is_compiled=wants_compiled(largest, len(tried) + 1, effort.exact))
    if 2 in tried and not effort.exact:
        notes += _parities_not_sought(
            max(len(coding.of_binary_columns()) for coding in codings), effort.largest_parity
        )
    if effort.is_compiled:
        _tell_of_compiling(notice)
    sought = seek(table, codings, tried, effort, judge, alpha, np.random.default_rng(seed))
    rules = _told(table, sought, judge)
    names = table.names, table.levels
    return FoundRules(*names, rules, table.n_rows, tried, tuple(notes), perf_counter() - started)


def _repeated(table: CategoricalTable) -> CategoricalTable:
    """Return a table with rows repeated as often as they count, unless that makes it very long."""
    if table.weights is None or table.n_rows > _MOST_REPEATED:
        return table
    codes = np.repeat(table.codes, table.weights, axis=1)
    return CategoricalTable(table.names, table.levels, np.ascontiguousarray(codes))


def codings_of(table: CategoricalTable) -> tuple[list[Coding], list[str]]:
    """Return the ways in which the columns can enter, fewest unknowns first, and notes on those that cannot."""
    if sum(size > 1 for size in table.n_levels) < 2:
        raise DataError(
            "A rule needs at least two columns that vary. A column of codes such as 978-3-16-148410-0 can be "
            "split into its characters with --split COLUMN (in Python: split_column)."
        )
    ways = {
        "Weights of numbers": coded_by_numbers(table),
        "Weights of numbers, letters being 10 to 35,": coded_by_numbers(table, letters=True),
        "Functions of the levels": coded_by_levels(table),
    }
    distinct: dict[str, Coding] = {}
    for what, coding in ways.items():
        if coding is None or coding.n_variables < 2:
            continue
        if not any(_are_equal(coding, other) for other in distinct.values()):
            distinct[what] = coding
    if not distinct:
        raise DataError(
            "No two columns have levels that are common enough to be in a rule: each level needs at least 8 "
            "rows. Merge rare levels (--merge-rare 20; in Python merge_rare=20) or split codes into characters "
            "(--split COLUMN; split_column)."
        )
    usable, notes = [], []
    for what, coding in distinct.items():
        n_rows = len(coding.usable(table.codes))
        if n_rows >= coding.n_unknowns + _FEWEST_SPARE:
            usable.append(coding)
            continue
        notes.append(
            f"{what} were not sought: they have {coding.n_unknowns:,} unknowns and there are {n_rows:,} rows "
            f"that can tell; at least {coding.n_unknowns + _FEWEST_SPARE:,} are needed."
        )
    if not usable:
        raise DataError(
            f"The table is too short. {' '.join(notes)} Take more rows or fewer columns (--columns)."
        )
    taking_part = {v for coding in usable for v in coding.variable.tolist()}
    varying = [v for v, levels in enumerate(table.levels) if len(levels) > 1]
    left_out = [table.names[v] for v in varying if v not in taking_part]
    if left_out:
        notes.append(
            f"Left out, with too many levels to have a value each: {', '.join(map(repr, left_out[:8]))}"
            + (f" and {len(left_out) - 8:,} others." if len(left_out) > 8 else ".")
        )
    return usable, notes


def _between(table: CategoricalTable, codings: Sequence[Coding]) -> list[Coding]:
    """Return the coding by weights of columns of many numbers and by levels of others, where that saves much.

    Days of the month go by their number, months and years by levels. Among other columns a calendar with leap
    years is found this way, and not with an unknown for each day.
    """
    found = coded_by_numbers(table, fewest=_MANY_NUMBERS)
    if found is None or any(found.n_unknowns > _SAVING * coding.n_unknowns for coding in codings[-1:]):
        return []
    has_rows = len(found.usable(table.codes)) >= found.n_unknowns + _FEWEST_SPARE
    return [found] if has_rows and not any(_are_equal(found, coding) for coding in codings) else []


def _are_equal(one: Coding, other: Coding) -> bool:
    pairs = zip(one.values, other.values, strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def primes_of(moduli: Sequence[int]) -> tuple[int, ...]:
    """Return the primes to try for the moduli that a user named.

    Examples
    --------
    >>> primes_of([10, 97])
    (2, 5, 97)
    """
    found: set[int] = set()
    for modulus in moduli:
        if not isinstance(modulus, Integral) or isinstance(modulus, bool) or modulus < 2:
            raise SettingsError(f"A modulus is a whole number of at least 2, not {modulus!r}.")
        rest, factors = int(modulus), []
        for prime in range(2, MOST_MODULUS + 1):
            while rest % prime == 0:
                factors.append(prime)
                rest //= prime
        if rest > 1:
            what = f"the factor {rest}" if rest < MOST_MODULUS**2 else "factors"
            raise SettingsError(
                f"The modulus {modulus} has {what} above {MOST_MODULUS}, the largest prime that can be tried."
            )
        if len(set(factors)) < len(factors):
            power = next(prime for prime in factors if factors.count(prime) > 1)
            raise SettingsError(
                f"The modulus {modulus} is divisible by {power * power}: rules are sought modulo primes and "
                f"products of different primes. A rule modulo {modulus} is one modulo {power} too: try {power}."
            )
        found.update(factors)
    if not found:
        raise SettingsError("Name at least one modulus, for example 2 or 97.")
    return tuple(sorted(found))


def _default_moduli(table: CategoricalTable, codings: Sequence[Coding], notes: list[str]) -> tuple[int, ...]:
    largest = max(coding.n_unknowns for coding in codings)
    if largest <= WIDE:
        return MODULI
    most = 1 + max(values.shape[1] for coding in codings for values in coding.values)
    tried = tuple(p for p in MODULI if p <= max(most, 2))
    told = ", ".join(map(str, tried))
    notes.append(
        f"With {largest:,} unknowns only {'the modulus' if len(tried) == 1 else 'the moduli'} {told} "
        f"{'was' if len(tried) == 1 else 'were'} tried; --moduli names others."
    )
    return tried


def _parities_not_sought(n_binary: int, largest: int) -> list[str]:
    too_many = [
        order for order in range(4, largest + 1) if n_binary >= FEWEST and plan(order, n_binary) is None
    ]
    if not too_many:
        return []
    return [
        f"Parities of {' and '.join(map(str, too_many))} among {n_binary:,} binary columns were sought by "
        "elimination only, which finds those that hardly any row breaks."
    ]


def _tell_of_compiling(notice: Callable[[str], None]) -> None:
    from xordal.counting._jit import is_compiled
    from xordal.rules import _dense

    if not is_compiled(_dense.reduce_system):
        notice("The first search of this size compiles its code, which takes some ten seconds; it is kept.")


def _told(table: CategoricalTable, sought: Sought, judge: Judge) -> tuple[AdditiveRule, ...]:
    """Return what was found as rules: primes merged, pairs as functions, each under its name."""
    modular = _merged_all([rule for rule in sought.rules if rule.modulus], table)
    told: list[tuple[Candidate, Evidence, str]] = []
    for candidate in modular:
        rule = scaled(candidate, table.levels)
        told.append((rule, judge.evidence(candidate), scheme_of(*_with_values(rule, table.levels))))
    told.sort(key=lambda each: (each[1].log_p_value, each[0].variables))
    told += _functions(table, sought, judge)
    for candidate in sought.rules:
        if not candidate.modulus:
            rule = scaled(candidate, table.levels)
            told.append((rule, judge.evidence(candidate), kind_of(*_with_values(rule, table.levels))))
    return tuple(_rule(table, *each) for each in told)


def _with_values(
    rule: Candidate, levels: Sequence[Sequence[Hashable]]
) -> tuple[Candidate, Sequence[Sequence[Hashable]]]:
    """Return a rule and the levels of all columns, without the levels that missing values are."""
    blanks = blanks_of(levels)
    if max(blanks) < 0:
        return rule, levels
    functions = (f[:-1] if blanks[v] >= 0 else f for v, f in zip(rule.variables, rule.functions, strict=True))
    kept = [of[:-1] if blank >= 0 else of for of, blank in zip(levels, blanks, strict=True)]
    return replace(rule, functions=tuple(functions)), kept


def _merged_all(rules: list[Candidate], table: CategoricalTable) -> list[Candidate]:
    """Merge rules of different primes until none can be."""
    rules = sorted(rules, key=lambda rule: rule.modulus)
    for one in rules:
        for other in rules:
            if one is not other and (both := merged(one, other, table.codes, table.levels)) is not None:
                return _merged_all([both, *(r for r in rules if r is not one and r is not other)], table)
    return rules


def _functions(table: CategoricalTable, sought: Sought, judge: Judge) -> list[tuple[Candidate, Evidence, str]]:
    """Return columns that are functions of another, each once, from the column of fewest levels."""
    found: dict[int, tuple[tuple[int, int], Candidate, Evidence, str]] = {}
    for one, other in sorted({(pair.variables[0], pair.variables[1]) for pair in sought.pairs}):
        told = function_of_a_column(table, one, other, judge.n_moduli)
        if told is None:
            continue
        candidate, evidence, kind = told
        target = other if kind == "same" else _target(candidate)
        source = one if target == other else other
        rank = (evidence.n_broken, len(table.levels[source]))
        if target not in found or rank < found[target][0]:
            found[target] = rank, candidate, evidence, kind
    return [(candidate, evidence, kind) for _, candidate, evidence, kind in found.values()]


def _target(candidate: Candidate) -> int:
    """Return the column that follows: its levels are numbered upwards."""
    one, other = candidate.functions
    return candidate.variables[0] if (one > 0).any() or not (other > 0).any() else candidate.variables[1]


def _rule(table: CategoricalTable, candidate: Candidate, evidence: Evidence, name: str) -> AdditiveRule:
    from xordal.rules.candidate import UNKNOWN

    functions = tuple(tuple(None if v == UNKNOWN else v for v in f.tolist()) for f in candidate.functions)
    return AdditiveRule(
        candidate.variables,
        candidate.modulus,
        functions,
        candidate.constant,
        table.n_rows,
        evidence.n_broken,
        evidence.by_chance,
        evidence.log_p_value,
        name,
        table.n_rows - evidence.n_rows,
    )
