"""The rule of a hidden group in words."""

from __future__ import annotations

from collections.abc import Sequence

from xordal.formats.shown import shown
from xordal.types.rules import Rate, Rule

_MOST_RATES = 8
_MOST_COUNTED = 7  # columns up to which the numbers that fit a parity are listed


def rule_text(rule: Rule, names: Sequence[str], target: str = "") -> str:
    """Return a rule as the end of a sentence about the variables; names come as they are to be printed.

    Examples
    --------
    >>> parity = Rule("parity", holds=0.987, by_chance=0.5, marked=("odd", "odd", "odd"), low=0.98, high=0.99)
    >>> rule_text(parity, ["n1", "n3", "c"])
    '0 or 2 of the 3 columns have the value odd, in 98.7 % of rows (98.0 to 99.0; 50.0 % by chance)'
    >>> rule_text(Rule("sum", 1.0, 0.2, 5, 3, (1, -1, 1), is_exact=True), ["x", "y", "z"])
    'x - y + z = 3 modulo 5 (levels numbered from 0), in all rows (20.0 % by chance)'
    >>> rule_text(Rule("function", 0.93, 0.6, target=2, low=0.91, high=0.95), ["a", "b", "c"], target="c")
    'they determine c, in 93.0 % of rows left out (91.0 to 95.0; 60.0 % by its commonest level)'
    >>> rates = (Rate(("L1", "Acme"), 31, 100, 0.23, 0.41), Rate(("L2", "Acme"), 5, 100, 0.02, 0.11))
    >>> rule_text(Rule("rates", 0.18, 0.18, level="yes", rates=rates), ["line", "part", "bad"], target="bad")
    'bad = yes: 31 % L1/Acme (23 to 41), 5 % L2/Acme (2 to 11)'
    """
    words = rule_words(rule, names, target)
    if rule.kind == "rates":
        return f"{words}: {', '.join(map(_rate_text, _telling(rule.rates)))}{_left_out(rule)}"
    if rule.kind == "function":
        return f"{words}, {_how_often(rule, 'rows left out')} by its commonest level)"
    return f"{words}, {_how_often(rule, 'rows')} by chance)"


def rule_words(rule: Rule, names: Sequence[str], target: str = "") -> str:
    """Return what a rule says, without how often it holds."""
    if rule.kind == "rates":
        return f"{target} = {shown(rule.level)}"
    if rule.kind == "function":
        return f"they determine {target}"
    if rule.kind == "sum":
        signed = zip(rule.factors, names, strict=True)
        text = " ".join(f"{'-' if factor < 0 else '+'} {name}" for factor, name in signed).removeprefix("+ ")
        return f"{text} = {rule.remainder} modulo {rule.modulus} (levels numbered from 0)"
    times = parity_text(len(rule.marked), rule.remainder)
    if len(set(rule.marked)) == 1:
        return f"{times} of the {len(names)} columns have the value {shown(rule.marked[0])}"
    each = ", ".join(f"{name} = {shown(level)}" for name, level in zip(names, rule.marked, strict=True))
    return f"{times} of these {len(names)} hold: {each}"


def parity_text(n_columns: int, remainder: int) -> str:
    """Return which numbers up to a number of columns have the remainder modulo 2, of many columns in a word.

    Examples
    --------
    >>> parity_text(3, 0), parity_text(3, 1), parity_text(5, 0), parity_text(9, 1)
    ('0 or 2', '1 or 3', '0, 2 or 4', 'an odd number')
    """
    if n_columns > _MOST_COUNTED:
        return "an odd number" if remainder else "an even number"
    *first, last = (str(number) for number in range(remainder, n_columns + 1, 2))
    return f"{', '.join(first)} or {last}" if first else last


def _how_often(rule: Rule, rows: str) -> str:
    chance = f"{100 * rule.by_chance:.1f} %"
    if rule.is_exact:
        return f"in all rows ({chance}"
    return f"in {100 * rule.holds:.1f} % of {rows} ({100 * rule.low:.1f} to {100 * rule.high:.1f}; {chance}"


def _telling(rates: Sequence[Rate]) -> Sequence[Rate]:
    """Return the rates that are told: all, or the highest and the lowest of many."""
    if len(rates) <= _MOST_RATES:
        return rates
    ordered = sorted(rates, key=lambda rate: -rate.share)
    return [*ordered[: _MOST_RATES // 2], *ordered[-_MOST_RATES // 2 :]]


def _left_out(rule: Rule) -> str:
    return (
        f"; {len(rule.rates) - _MOST_RATES} combinations lie between" if len(rule.rates) > _MOST_RATES else ""
    )


def _rate_text(rate: Rate) -> str:
    levels = "/".join(map(shown, rate.levels))
    return f"{100 * rate.share:.0f} % {levels} ({100 * rate.low:.0f} to {100 * rate.high:.0f})"
