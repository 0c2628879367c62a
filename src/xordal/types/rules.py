"""Rules that rows obey: the one that a hidden group follows, and sums of any number of columns."""

from __future__ import annotations

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
        ``"parity"``: the number of variables at their ``marked`` level is ``remainder`` modulo 2.
        ``"sum"``: with levels numbered from 0 in their order, the sum of the variables times their ``factors``
        is ``remainder`` modulo ``modulus``. ``"function"``: ``target`` follows from the others. ``"rates"``: no
        rule, but how often ``target`` has its ``level`` in each combination of the others, ``rates``.
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
    """

    kind: RuleKind
    holds: float
    by_chance: float
    modulus: int = 2
    remainder: int = 0
    factors: tuple[int, ...] = ()
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
        level is too rare to tell; a row with such a level counts as one that breaks the rule.
    constant
        What is added to the values.
    n_rows
        Number of rows.
    n_broken
        Rows in which the sum is not 0.
    by_chance
        The share of rows in which the rule would hold, were some part of its columns independent of the rest
        of them; the largest such share.
    log_p_value
        Natural logarithm of the chance to see a rule hold this often, for any of the rules there are: the
        binomial tail at ``by_chance``, times the number of rules that were in question.
    name
        What is known of it: a scheme such as ``"ISBN-10"``, or what kind of relation it is.

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

    @property
    def holds(self) -> float:
        """The share of rows in which the rule holds."""
        return 1 - self.n_broken / self.n_rows

    @property
    def p_value(self) -> float:
        """The p-value, corrected for the number of rules there are; 0.0 where it underflows."""
        return exp(min(self.log_p_value, 0.0))
