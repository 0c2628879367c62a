"""The rule of a hidden group in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from xordal.data.levels import as_number
from xordal.data.missing import MISSING_LEVEL
from xordal.errors import counted
from xordal.formats.shown import shown
from xordal.formats.sums import parity_words, signed_sum
from xordal.types.rules import Rate, Rule

_MOST_RATES = 8


def rule_text(rule: Rule, names: Sequence[str], target: str = "") -> str:
    """Return a rule as the end of a sentence about the variables; names come as they are to be printed.

    Examples
    --------
    >>> from xordal.types.rules import AdditiveRule
    >>> even = AdditiveRule.of_codes((0, 1, 2), 2, (1, 1, 1), 0, 1000, 13, 0.5, -600.0)
    >>> parity = Rule("parity", 0.987, 0.5, even, marked=("odd", "odd", "odd"), low=0.98, high=0.99)
    >>> rule_text(parity, ["n1", "n3", "c"])
    '0 or 2 of the 3 columns have the value odd, in 98.7 % of rows (98.0 to 99.0; 50.0 % by chance)'
    >>> additive = AdditiveRule.of_codes((0, 1, 2), 5, (1, -1, 1), 3, 1000, 0, 0.2, -1600.0)
    >>> rule_text(Rule("sum", 1.0, 0.2, additive, is_exact=True), ["x", "y", "z"])
    'x - y + z ≡ 3 (mod 5), levels numbered from 0, in all rows (20.0 % by chance)'
    >>> rule_text(Rule("function", 0.93, 0.6, target=2, low=0.91, high=0.95), ["a", "b", "c"], target="c")
    'they tell c rightly, in 93.0 % of rows held out (91.0 to 95.0; 60.0 % by its commonest level)'
    >>> rates = (Rate(("L1", "Acme"), 31, 100, 0.23, 0.41), Rate(("L2", "Acme"), 5, 100, 0.02, 0.11))
    >>> rule_text(Rule("rates", 0.18, 0.18, level="yes", rates=rates), ["line", "part", "bad"], target="bad")
    'bad = yes in 31 % of L1/Acme (23 to 41), 5 % of L2/Acme (2 to 11)'
    """
    words = rule_words(rule, names, target)
    if rule.kind == "rates":
        return f"{words} in {_rates_text(rule.rates, [name for name in names if name != target])}"
    if rule.kind == "function":
        return f"{words}, {_how_often(rule, 'rows held out')} by its commonest level)"
    return f"{words}, {_how_often(rule, 'rows')} by chance)"


def rule_words(rule: Rule, names: Sequence[str], target: str = "") -> str:
    """Return what a rule says, without how often it holds."""
    if rule.kind == "rates":
        return f"{target} = {shown(rule.level)}"
    if rule.kind == "function":
        return f"they {function_words(rule, target)}"
    assert rule.additive is not None, "a parity or a sum"
    if rule.kind == "sum":
        signed = signed_sum(rule.additive.factors, names, rule.additive.remainder, rule.additive.modulus)
        return f"{signed}, levels numbered from 0"
    return parity_words(rule.additive.remainder, names, rule.marked, are_named=True)


def function_words(rule: Rule, target: str) -> str:
    """Return what columns do to one that is a function of them: they determine it if no row is an exception."""
    return f"determine {target}" if rule.is_exact else f"tell {target} rightly"


def _how_often(rule: Rule, rows: str) -> str:
    chance = f"{100 * rule.by_chance:.1f} %"
    if rule.is_exact:
        return f"in all rows ({chance}"
    if f"{100 * rule.holds:.1f}" == "100.0":
        return f"in over 99.9 % of {rows} ({chance}"
    return f"in {100 * rule.holds:.1f} % of {rows} ({100 * rule.low:.1f} to {100 * rule.high:.1f}; {chance}"


def _rates_text(rates: Sequence[Rate], names: Sequence[str]) -> str:
    """Return rates in words: all, or of many those that are surely the highest and the lowest.

    Where some levels are bare numbers, or all are of one column, the first come with the names of columns.
    Combinations with a missing value are only counted, where there are others: they tell least.
    """
    known = [rate for rate in rates if MISSING_LEVEL not in rate.levels] or list(rates)
    told, more = known, []
    if len(known) > _MOST_RATES:
        told = _surest(known, _MOST_RATES // 2)
        more = [counted(len(known) - _MOST_RATES, "other combination")]
    if n_missing := len(rates) - len(known):
        more.append(f"{counted(n_missing, 'combination')} with a missing value")
    rest = f"; not shown: {', '.join(more)}" if more else ""
    is_bare = any(as_number(level) is not None for rate in known for level in rate.levels)
    first = f"{'/'.join(names)} = " if is_bare or len(names) == 1 else ""
    words = [_rate_text(rate, "" if at else first) for at, rate in enumerate(told)]
    return f"{', '.join(words)}{rest}"


def _surest(rates: Sequence[Rate], n_each: int) -> list[Rate]:
    """Return so many rates that are surely high, and as many surely low ones, by the ends of their intervals.

    By the shares themselves these would be combinations of a row or two.
    """
    highest = sorted(rates, key=lambda rate: -rate.low)[:n_each]
    lowest = sorted([rate for rate in rates if rate not in highest], key=lambda rate: rate.high)[:n_each]
    return sorted([*highest, *lowest], key=lambda rate: -rate.share)


def _rate_text(rate: Rate, columns: str) -> str:
    levels = columns + "/".join(map(shown, rate.levels))
    return f"{100 * rate.share:.0f} % of {levels} ({_range_text(rate)})"


def _range_text(rate: Rate) -> str:
    """Return the interval of a rate; where both ends are all or nothing to a percent, the end that is not.

    Examples
    --------
    >>> _range_text(Rate(("a",), 31, 100, 0.23, 0.41)), _range_text(Rate(("a",), 4320, 4320, 0.99911, 1.0))
    ('23 to 41', 'over 99.9')
    >>> _range_text(Rate(("a",), 0, 1000, 0.0, 0.0038))
    'under 0.4'
    """
    low, high = f"{100 * rate.low:.0f}", f"{100 * rate.high:.0f}"
    if low == "100":
        return f"over {min(floor(1000 * rate.low) / 10, 99.9):.1f}"
    if high == "0":
        return f"under {max(ceil(1000 * rate.high) / 10, 0.1):.1f}"
    return f"{low} to {high}"
