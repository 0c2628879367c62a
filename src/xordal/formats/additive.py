"""Additive rules in words and as JSON."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import log10
from typing import Any

import numpy as np

from xordal.errors import counted
from xordal.formats.rule_json import rule_to_json
from xordal.formats.shown import shown
from xordal.formats.sums import parity_words, signed_sum, term
from xordal.formats.text import p_text
from xordal.rules.candidate import UNKNOWN, candidate_of, weight_of
from xordal.rules.coding import blanks_of, numbers_of, unit_of
from xordal.rules.finding import FoundRules
from xordal.rules.relations import marked_levels
from xordal.types.learned import Learned
from xordal.types.rules import AdditiveRule

_MOST_TERMS = 24
_WITHOUT_WEIGHTS = ("Luhn", "calendar")
_RELATIONS = ("function", "same", "exactly one", "total", "sum")


def rules_to_json(found: FoundRules) -> dict[str, Any]:
    """Return the rules of a table as the command line prints them; levels are keys, as text."""
    return {
        "rules": [_to_json(found, rule) for rule in found],
        "moduli": list(found.moduli),
        "n_rows": found.n_rows,
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def told(learned: Learned) -> FoundRules:
    """Return the rules of a learned network with what it takes to tell them in words."""
    levels = learned.levels or tuple(() for _ in learned.variables)
    return FoundRules(learned.variables, levels, learned.rules, learned.n_rows or 0, (), (), learned.seconds)


def _to_json(found: FoundRules, rule: AdditiveRule) -> dict[str, Any]:
    return rule_to_json(rule, found.variables, found.levels)


def rule_lines(found: FoundRules) -> list[str]:
    """Return all rules of a table in words, numbered, and a last line on what was looked for."""
    lines: list[str] = []
    for number, rule in enumerate(found, start=1):
        lines.append(f"{number}. {rule_words(found, rule)}")
        lines.append(f"   {evidence_text(rule)}")
        lines += [f"   {line}" for line in function_lines(found, rule)]
        lines.append("")
    if not len(found):
        lines += ["No rule was found.", ""]
    tried = ", ".join(map(str, found.moduli))
    columns = counted(len(found.variables), "column")
    lines.append(f"{columns}, {counted(found.n_rows, 'row')}, moduli {tried}; {found.seconds:.2f} s")
    return lines


def told_lines(found: FoundRules) -> list[str]:
    """Return the rules of a network in words, two lines each; none where there are none.

    Examples
    --------
    >>> rule = AdditiveRule((0, 1, 2), 2, ((0, 1),) * 3, 0, 1000, 0, 0.5, -500.0, "parity")
    >>> found = FoundRules(("a", "b", "c"), ((0, 1),) * 3, (rule,), 1000, (), (), 0.0)
    >>> for line in told_lines(found):
    ...     print(line)
    Rules: sums that the rows obey, of any number of columns
      parity: 0 or 2 of these 3 have the value 1: a, b, c
        in 100.0 % of rows (50.0 % by chance), no row breaks it, p = 7e-218
    """
    lines = ["Rules: sums that the rows obey, of any number of columns"] if len(found) else []
    for rule in found:
        lines.append(f"  {rule_words(found, rule)}")
        lines.append(f"    {evidence_text(rule)}")
        lines += [f"    {line}" for line in function_lines(found, rule)]
    return lines


def rule_words(found: FoundRules, rule: AdditiveRule) -> str:
    """Return a rule with its name, where it has one, as one line."""
    name = f"{rule.name}: " if rule.name and rule.name not in _RELATIONS else ""
    if not _has_levels(found, rule):
        return f"{name}a sum of {', '.join(map(shown, found.names(rule)))}, modulo {rule.modulus}"
    return f"{name}{statement(found, rule)}"


def _with_values(found: FoundRules, rule: AdditiveRule) -> tuple[FoundRules, AdditiveRule]:
    """Return a rule without the levels that missing values are, of which it says nothing."""
    blanks = blanks_of(found.levels)
    if not any(blanks[v] >= 0 for v in rule.variables):
        return found, rule
    functions = (f[:-1] if blanks[v] >= 0 else f for v, f in zip(rule.variables, rule.functions, strict=True))
    levels = tuple(of[:-1] if blank >= 0 else of for of, blank in zip(found.levels, blanks, strict=True))
    return replace(found, levels=levels), replace(rule, functions=tuple(functions))


def _has_levels(found: FoundRules, rule: AdditiveRule) -> bool:
    """Whether the levels are known to which the functions give values."""
    return all(len(found.levels[v]) == len(f) for v, f in zip(rule.variables, rule.functions, strict=True))


def evidence_text(rule: AdditiveRule) -> str:
    """Return how often a rule holds and how often it would by chance.

    Examples
    --------
    >>> evidence_text(AdditiveRule((0, 1, 2), 2, ((0, 1),) * 3, 0, 1000, 10, 0.5, -500.0))
    'in 99.0 % of rows (50.0 % by chance), 10 rows break it, p = 7e-218'
    >>> evidence_text(AdditiveRule((0, 1, 2), 2, ((0, 1),) * 3, 0, 1000, 10, 0.5, -500.0, n_blank=9))
    'in 99.0 % of 991 rows (50.0 % by chance), 10 rows break it, 9 have a missing value in it, p = 7e-218'
    """
    plural = f"{rule.n_broken:,} rows break it"
    broken = {0: "no row breaks it", 1: "1 row breaks it"}.get(rule.n_broken, plural)
    if rule.n_blank:
        broken += f", {rule.n_blank:,} {'has' if rule.n_blank == 1 else 'have'} a missing value in it"
    share = 100 * rule.holds
    holds = f"{share:.{1 if rule.n_broken == 0 else min(6, max(1, int(-log10(1 - rule.holds)) - 0))}f}"
    chance = f"{100 * rule.by_chance:.1f} % by chance"
    told = f"{rule.n_rows - rule.n_blank:,} rows" if rule.n_blank else "rows"
    return f"in {holds} % of {told} ({chance}), {broken}, {p_text(rule.log_p_value)}"


def statement(found: FoundRules, rule: AdditiveRule) -> str:
    """Return what a rule says, as a formula or a sentence."""
    found, rule = _with_values(found, rule)
    names = [shown(name) for name in found.names(rule)]
    levels = [found.levels[v] for v in rule.variables]
    if rule.name in ("function", "same"):
        return _function_text(rule, names)
    if rule.name == "exactly one":
        return f"exactly one of these holds: {_marked(rule, names, levels)}"
    if rule.name == "parity":
        return _parity_text(rule, names, levels)
    plain = _amounts_text(rule, names, levels) or _signs_text(rule, names, levels)
    if plain is not None:
        return plain
    terms, constant = [], rule.constant
    for name, of, values in zip(names, levels, rule.functions, strict=True):
        weight = _scheme_weight(rule, of, values)
        if weight is not None:
            terms.append(term(weight, name if (unit := unit_of(of)) == 1 else f"({unit}·{name})"))
        elif len(values) == 2 and None not in values:
            step = int(values[1] or 0) - int(values[0] or 0)
            constant += int(values[0] or 0)
            terms.append(term(step % rule.modulus if rule.modulus else step, f"[{name} = {shown(of[1])}]"))
        else:
            terms.append(f"+ f({name})")
    text = " ".join(terms).removeprefix("+ ")
    if rule.modulus:
        return f"{text} ≡ {-constant % rule.modulus} (mod {rule.modulus})"
    return f"{text} = {-constant}"


def _amounts_text(rule: AdditiveRule, names: Sequence[str], levels: Sequence[Sequence[Hashable]]) -> str | None:
    """Return an equation of amounts with decimals, whose functions count hundredths; None for other rules.

    Examples
    --------
    >>> prices, numbers = (0.25, 0.5, 0.75, 1.25), (0, 1, 2, 3)
    >>> rule = AdditiveRule((0, 1), 0, ((25, 50, 75, 125), (0, 5, 10, 15)), -99, 10, 0, 0.0, -9.0)
    >>> _amounts_text(rule, ("price", "n"), (prices, numbers))
    'price + 0.05·n = 0.99'
    """
    unit = max(unit_of(of) for of in levels)
    if rule.modulus or unit == 1:
        return None
    terms, constant = [], rule.constant
    for name, of, values in zip(names, levels, rule.functions, strict=True):
        weight = _weight(of, values, 0)
        if weight is not None:
            terms.append(term(weight * unit_of(of) / unit, name))
        elif len(values) == 2 and None not in values:
            constant += int(values[0] or 0)
            terms.append(term((int(values[1] or 0) - int(values[0] or 0)) / unit, f"[{name} = {shown(of[1])}]"))
        else:
            return None
    return f"{' '.join(terms).removeprefix('+ ')} = {-constant / unit:.12g}"


def _signs_text(rule: AdditiveRule, names: Sequence[str], levels: Sequence[Sequence[Hashable]]) -> str | None:
    """Return a sum modulo a number in which all weights are 1 or -1, the first of them 1; None for others."""
    weights = [_weight(of, values, rule.modulus) for of, values in zip(levels, rule.functions, strict=True)]
    if rule.modulus < 3 or any(weight not in (1, rule.modulus - 1) for weight in weights):
        return None
    sign = 1 if weights[0] == 1 else -1
    factors = [sign if weight == 1 else -sign for weight in weights]
    return signed_sum(factors, names, sign * rule.remainder % rule.modulus, rule.modulus)


def _weight(levels: Sequence[Hashable], values: Sequence[int | None], modulus: int) -> int | None:
    return weight_of(levels, _array(values), modulus)


def _scheme_weight(rule: AdditiveRule, levels: Sequence[Hashable], values: Sequence[int | None]) -> int | None:
    """Return the weight of a column; in a scheme also of one with two digits, which alone would tell none."""
    weight = _weight(levels, values, rule.modulus)
    numbers = numbers_of(levels)
    if weight is not None or not rule.name or rule.name in _WITHOUT_WEIGHTS or not rule.modulus:
        return weight
    known = [
        (n, value) for n, value in zip(numbers, values, strict=True) if n is not None and value is not None
    ]
    fits = (w for w in range(1, rule.modulus) if all((w * n - value) % rule.modulus == 0 for n, value in known))
    return next(fits, None)


def _array(values: Sequence[int | None]) -> Any:
    return np.array([UNKNOWN if value is None else value for value in values], dtype=np.int64)


def _function_text(rule: AdditiveRule, names: Sequence[str]) -> str:
    rising = [all(value == k for k, value in enumerate(f)) for f in rule.functions]
    target = 0 if rising[0] and not rising[1] else 1
    if rule.name == "same":
        return f"{names[target]} and {names[1 - target]} are the same column under other names of levels"
    return f"{names[target]} is a function of {names[1 - target]}"


def _marked(rule: AdditiveRule, names: Sequence[str], levels: Sequence[Sequence[Hashable]]) -> str:
    """Return the level of each column of which exactly one holds."""
    marked = marked_levels(candidate_of(rule)) or [0] * len(names)
    return ", ".join(
        f"{name} = {shown(of[code])}" for name, of, code in zip(names, levels, marked, strict=True)
    )


def _parity_text(rule: AdditiveRule, names: Sequence[str], levels: Sequence[Sequence[Hashable]]) -> str:
    start = rule.constant + sum(int(values[0] or 0) for values in rule.functions)
    return parity_words(start % 2, names, [str(of[1]) for of in levels])


def function_lines(found: FoundRules, rule: AdditiveRule) -> list[str]:
    """Return what each sign of the formula means: functions with the levels of each value, and brackets.

    Columns that share a function share a line.

    Examples
    --------
    >>> rule = AdditiveRule((0, 1, 2), 3, ((2, 0, 1), (2, 0, 1), (0, 1)), 0, 1000, 0, 0.5, -500.0)
    >>> levels = (("x", "y", "z"), ("x", "y", "z"), ("no", "yes"))
    >>> found = FoundRules(("a", "b", "c"), levels, (rule,), 1000, (), (), 0.0)
    >>> statement(found, rule)
    'f(a) + f(b) + [c = yes] ≡ 0 (mod 3)'
    >>> for line in function_lines(found, rule):
    ...     print(line)
    f is 0 where the value is y; 1 where it is z; 2 where it is x (in a, b)
    [c = yes] is 1 where that holds, else 0
    """
    if rule.name in ("function", "same", "exactly one", "parity") or not _has_levels(found, rule):
        return []
    found, rule = _with_values(found, rule)
    if _signs_text(rule, [""] * len(rule.variables), [found.levels[v] for v in rule.variables]) is not None:
        return []
    weights, brackets = [], []
    functions: dict[tuple[str, ...], list[str]] = {}
    for v, values in zip(rule.variables, rule.functions, strict=True):
        of, name = found.levels[v], shown(found.variables[v])
        if _scheme_weight(rule, of, values) is not None:
            weights += _beside_weight(name, of, values)
        elif len(values) == 2 and None not in values:
            brackets.append(f"[{name} = {shown(of[1])}]")
        else:
            functions.setdefault(_by_value(of, values), []).append(name)
    lines = weights + [_function_line(parts, names) for parts, names in functions.items()]
    if brackets:
        lines.append(
            f"{brackets[0]} is 1 where that holds, else 0{'; so are the others' if brackets[1:] else ''}"
        )
    return lines[:_MOST_TERMS] + ([f"and {len(lines) - _MOST_TERMS} more"] if len(lines) > _MOST_TERMS else [])


def _beside_weight(name: str, levels: Sequence[Hashable], values: Sequence[int | None]) -> list[str]:
    """Return what levels that are no numbers count as, in a column whose numbers count by a weight."""
    both = zip(levels, numbers_of(levels), values, strict=True)
    words = [(level, value) for level, number, value in both if number is None and value is not None]
    if len(values) == 2 or not words:
        return []
    told = ", ".join(f"{shown(level)} adds {value}" for level, value in words)
    return [f"in {name}, {told} to the sum"]


def _by_value(levels: Sequence[Hashable], values: Sequence[int | None]) -> tuple[str, ...]:
    """Return each value of a function with the levels that have it, the smallest first, unknown ones last."""
    having: dict[int | None, list[str]] = {}
    for level, value in zip(levels, values, strict=True):
        having.setdefault(value, []).append(shown(level))
    ordered = sorted(having, key=lambda value: (value is None, value or 0))
    return tuple(f"{'not known' if v is None else v} where it is {_either(having[v])}" for v in ordered)


def _either(levels: Sequence[str]) -> str:
    return f"{', '.join(levels[:-1])} or {levels[-1]}" if len(levels) > 1 else levels[0]


def _function_line(parts: tuple[str, ...], names: Sequence[str]) -> str:
    """Return a function in words, that of one column or of several."""
    first = parts[0].replace("where it is", f"where {names[0] if len(names) == 1 else 'the value'} is", 1)
    told = "; ".join((first, *parts[1:]))
    return f"f({names[0]}) is {told}" if len(names) == 1 else f"f is {told} (in {', '.join(names)})"
