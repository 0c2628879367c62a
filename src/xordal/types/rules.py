"""Rules that rows obey: the one that a hidden group follows, and sums of any number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Literal

RuleKind = Literal["parity", "sum", "function", "rates"]


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a level occurs in one combination of levels of other variables, with its 95 % interval."""

    levels: tuple[str, ...]
    n_hits: int
    n_rows: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of the rows with this combination that have the level."""
        return self.n_hits / self.n_rows


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that the variables of a submodel follow, and how often.

    Attributes
    ----------
    kind
        ``"parity"`` and ``"sum"``: what ``additive`` says, modulo 2 or more. ``"function"``: ``target`` follows
        from the others. ``"rates"``: no rule, but how often ``target`` has its ``level`` in each combination of
        the others, ``rates``.
    holds
        The share of rows in which it holds; for a function, of rows that were left out when it was read off
        the others; for rates, the share of all rows that have the level.
    by_chance
        The share in which it would hold, were some one variable independent of the others; for a function,
        that of the target's commonest level.
    low, high
        The 95 % interval of ``holds``.
    log_p_value
        Natural logarithm of the chance to see it hold this often, or more, times the rules that were in
        question; an upper bound.
    is_exact
        Whether no row is an exception.
    additive
        A parity or a sum, with levels numbered from 0 in their order.
    marked
        Of a parity: the level of each variable that is counted.
    """

    kind: RuleKind
    holds: float
    by_chance: float
    additive: AdditiveRule | None = None
    marked: tuple[str, ...] = ()
    target: int | None = None
    low: float = 0.0
    high: float = 1.0
    log_p_value: float = 0.0
    is_exact: bool = False
    level: str = ""
    rates: tuple[Rate, ...] = ()


@dataclass(frozen=True, slots=True)
class AdditiveRule:
    """A sum of functions of some columns that is the same in almost all rows, modulo a number.

    ``constant`` plus the value that ``functions`` gives to the level of each of the ``variables`` is 0 modulo
    ``modulus``. Modulus 0 means that the sum itself is 0: congruence modulo 0 is equality.

    Attributes
    ----------
    variables
        The columns of the rule, in increasing order.
    modulus
        2 or more, or 0 for an equation of whole numbers.
    functions
        For each of the variables the value of each of its levels, in the order of the levels. None where a
        level is too rare to tell; a row with such a level counts as one in which the rule does not hold.
    constant
        What is added to the values.
    n_rows
        Number of rows.
    n_broken
        Rows in which the sum is not 0, or cannot be told.
    by_chance
        The share of rows in which the rule would hold, were some part of its columns independent of the rest
        of them; the largest such share.
    log_p_value
        Natural logarithm of the chance to see a rule hold this often, for any of the rules there are: the
        binomial tail at ``by_chance``, times the number of rules that were in question.
    name
        What is known of it: a scheme such as ``"ISBN-10"``, or what kind of relation it is.
    n_blank
        Rows that have a missing value in one of the columns: they neither obey nor break it.

    Examples
    --------
    >>> rule = AdditiveRule((0, 1, 2), 2, ((0, 1), (0, 1), (0, 1)), 0, 1000, 10, 0.5, -500.0, "parity")
    >>> rule.holds, rule.p_value < 0.05
    (0.99, True)
    """

    variables: tuple[int, ...]
    modulus: int
    functions: tuple[tuple[int | None, ...], ...]
    constant: int
    n_rows: int
    n_broken: int
    by_chance: float
    log_p_value: float
    name: str = ""
    n_blank: int = 0

    @classmethod
    def of_codes(
        cls, variables: Sequence[int], modulus: int, factors: Sequence[int], remainder: int, n_rows: int,
        n_broken: int, by_chance: float, log_p_value: float,
    ) -> AdditiveRule:  # fmt: skip
        """Return a sum of columns times factors, each of ``modulus`` levels that are numbered from 0.

        Examples
        --------
        >>> rule = AdditiveRule.of_codes((0, 1), 3, (1, -1), 2, 9, n_broken=0, by_chance=0.3, log_p_value=-9.0)
        >>> rule.functions, rule.factors, rule.remainder, rule.sum_of((1, 2))
        (((0, 1, 2), (0, 2, 1)), (1, -1), 2, 0)
        """
        functions = tuple(tuple(factor * code % modulus for code in range(modulus)) for factor in factors)
        name = "parity" if modulus == 2 else ""
        return cls(
            tuple(variables), modulus, functions, -remainder % modulus, n_rows, n_broken, by_chance,
            log_p_value, name,
        )  # fmt: skip

    @property
    def factors(self) -> tuple[int, ...]:
        """What the second level of each variable adds beyond the first, the smallest in size."""
        steps = [(of[1] or 0) - (of[0] or 0) for of in self.functions]
        return tuple(step - self.modulus if 2 * step > self.modulus else step for step in steps)

    @property
    def remainder(self) -> int:
        """What the values add up to without the constant, modulo a number."""
        return -self.constant % self.modulus if self.modulus else -self.constant

    def sum_of(self, codes: Sequence[int]) -> int | None:
        """Return the sum for level codes of its variables, 0 where the rule holds; None where it is open."""
        values = [of[code] for of, code in zip(self.functions, codes, strict=True)]
        if None in values:
            return None
        total = self.constant + sum(value or 0 for value in values)
        return total % self.modulus if self.modulus else total

    @property
    def holds(self) -> float:
        """The share of rows in which the rule holds, of those that miss no value in its columns."""
        n_told = self.n_rows - self.n_blank
        return 1 - self.n_broken / n_told if n_told else 0.0

    @property
    def p_value(self) -> float:
        """The p-value, corrected for the number of rules there are; 0.0 where it underflows."""
        return exp(min(self.log_p_value, 0.0))
