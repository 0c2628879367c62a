"""The rule of a hidden group in words."""

from __future__ import annotations

from collections.abc import Sequence

from xordal.formats.shown import shown
from xordal.types import Rule


def rule_text(rule: Rule, names: Sequence[str], target: str = "") -> str:
    """Return a rule as the end of a sentence about the variables; names come as they are to be printed.

    Examples
    --------
    >>> parity = Rule("parity", holds=0.987, by_chance=0.5, marked=("odd", "odd", "odd"))
    >>> rule_text(parity, ["n1", "n3", "c"])
    'an even number of them is odd, in 98.7 % of rows (50.0 % by chance)'
    >>> rule_text(Rule("sum", 1.0, 0.2, modulus=5, remainder=3, factors=(1, -1, 1)), ["x", "y", "z"])
    'x - y + z = 3 modulo 5 (levels numbered from 0), in 100.0 % of rows (20.0 % by chance)'
    >>> rule_text(Rule("function", 0.93, 0.6, target=2), ["a", "b", "c"], target="c")
    'they settle c, in 93.0 % of rows (60.0 % by chance)'
    """
    if rule.kind == "function":
        told = f"they settle {target}"
    elif rule.kind == "sum":
        terms = (
            f"{'-' if factor < 0 else '+'} {name}" for factor, name in zip(rule.factors, names, strict=True)
        )
        text = " ".join(terms).removeprefix("+ ")
        told = f"{text} = {rule.remainder} modulo {rule.modulus} (levels numbered from 0)"
    else:
        parity = "odd" if rule.remainder else "even"
        if len(set(rule.marked)) == 1:
            told = f"an {parity} number of them is {shown(rule.marked[0])}"
        else:
            each = ", ".join(f"{name} = {shown(level)}" for name, level in zip(names, rule.marked, strict=True))
            told = f"an {parity} number of these hold: {each}"
    return f"{told}, in {100 * rule.holds:.1f} % of rows ({100 * rule.by_chance:.1f} % by chance)"
