"""Questions about dependence, answered from entropies (section 2).

Two sets are independent given a third when their conditional mutual information is at most the tolerance, which
for an exact joint is rounding, 1e-12 nats. For data somebody else decides what information shows a dependence
(:mod:`xordal.pi.discover`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import comb, fsum
from typing import NamedTuple

from xordal.counting.oracle import EntropyOracle
from xordal.counting.total_correlation import total_correlations
from xordal.types.varsets import EMPTY, Link, VarSet, members, varset

_AT_ONCE = 256  # sets asked about together; whoever decides may end the search between questions

EXACT = 1e-12
"""Tolerance for exact joints, in nats: computed informations of independent sets are below 1e-13."""


class Question(NamedTuple):
    """Whether ``information``, that of a and b given a third set, shows that they depend on each other."""

    a: VarSet
    b: VarSet
    given: VarSet
    information: float


Decide = Callable[[Sequence[Question], int | None], list[bool]]
"""Answers questions about data; the number says how many are asked within a set known to be dependent."""


class Independence:
    """Decides dependence between sets of variables from any source of entropies.

    Parameters
    ----------
    oracle
        An exact joint's or a table's entropies; every question asks for a few, so it should remember them.
    tolerance
        Largest mutual information, in nats, that always counts as independence.
    decide
        Says of more information whether it shows a dependence; by default all does.

    Examples
    --------
    >>> from xordal.pi.zoo import table_1
    >>> joint = table_1().joint
    >>> judge = Independence(joint.oracle())
    >>> judge.is_independent(joint.varset("a"), joint.varset("b"))
    True
    >>> judge.is_independent(joint.varset("a"), joint.varset("b"), given=joint.varset("c"))
    False
    """

    def __init__(self, oracle: EntropyOracle, tolerance: float = EXACT, decide: Decide | None = None) -> None:
        self._oracle = oracle
        self.tolerance = tolerance
        self._decide = decide
        self._decided: dict[tuple[int, int, int], bool] = {}
        self._collective: dict[tuple[int, int], bool] = {}

    def information(self, a: int, b: int, given: int = EMPTY) -> float:
        """Return the mutual information I(a; b | given) in nats."""
        return self._informations([(a, b, given)])[0]

    def _informations(self, asked: Sequence[tuple[int, int, int]]) -> list[float]:
        sets = [VarSet(s) for a, b, given in asked for s in (a | given, b | given, a | b | given, given)]
        found = self._oracle.entropies(sets).tolist()
        return [
            fsum([first, second, -joint, -context])
            for first, second, joint, context in zip(*(found[place::4] for place in range(4)), strict=True)
        ]

    def total_correlation(self, variables: int, given: int = EMPTY) -> float:
        """Return what the variables share in all, sum of H(v | given) minus H(variables | given), in nats."""
        return total_correlations(self._oracle, [variables], given)[0]

    def is_independent(self, a: int, b: int, given: int = EMPTY) -> bool:
        """Whether a and b are independent given a third set, as far as the source shows."""
        if (known := self._decided.get((a, b, given))) is not None:
            return not known
        return not self._are_dependent([(a, b, given)], None)[0]

    def decide_pairs(self, links: Iterable[Link]) -> None:
        """Decide some pairs in one go, so that later questions about them cost nothing."""
        if self._decide is None:
            return
        asked = [(1 << x, 1 << y, EMPTY) for x, y in sorted(links)]
        for (a, b, given), depends in zip(asked, self._are_dependent(asked, None), strict=True):
            self._decided[a, b, given] = self._decided[b, a, given] = depends

    def are_marginally_independent(self, variables: int) -> bool:
        r"""Whether each variable X of the set A is independent of A \ {X}."""
        return all(self.is_independent(1 << x, variables & ~(1 << x)) for x in members(variables))

    def are_generally_dependent(self, variables: int) -> bool:
        r"""Whether no proper subset A of N has P(A | N \ A) = P(A)."""
        first, *rest = members(variables)
        for size in range(len(rest)):
            for others in combinations(rest, size):
                part = varset((first, *others))
                if self.is_independent(part, variables & ~part):
                    return False
        return True

    def are_collectively_dependent(self, variables: int, given: int = EMPTY) -> bool:
        r"""Whether no proper subset A of N has P(A | N \ A) = P(A | C) for a proper subset C of N \ A.

        It is enough to ask it of pairs given all the rest: if A is independent of B given C, weak union makes
        each x of A independent of each y of B given everything else, which is the case A = {x}.
        """
        self.decide_collectively([variables], given)
        return self._collective[variables, given]

    def decide_collectively(self, sets: Iterable[int], given: int = EMPTY) -> None:
        """Decide which of some sets are collectively dependent, so that asking about them costs nothing later.

        Sets of one size are asked about together, since a hundred p-values take little longer than one: about
        the first pair of each, then about the second of those that are still open, and so on.
        """
        by_size: dict[int, list[int]] = {}
        for variables in dict.fromkeys(sets):
            if (variables, given) not in self._collective:
                by_size.setdefault(variables.bit_count(), []).append(variables)
        for size, alike in by_size.items():
            for start in range(0, len(alike), _AT_ONCE):
                still_open = alike[start : start + _AT_ONCE]
                self._collective.update(dict.fromkeys([(s, given) for s in still_open], True))
                for pair in combinations(range(size), 2):
                    still_open = self._still_open(still_open, given, pair)

    def _still_open(self, sets: Sequence[int], given: int, pair: tuple[int, int]) -> list[int]:
        """Return the sets in which the variables at two places depend on each other given all the rest."""
        asked = []
        for variables in sets:
            chosen = members(variables)
            x, y = (1 << chosen[place] for place in pair)
            asked.append((x, y, variables & ~(x | y) | given))
        n_tests = comb(sets[0].bit_count(), 2) if sets else 0
        answers = self._are_dependent(asked, n_tests)
        for variables, depends in zip(sets, answers, strict=True):
            if not depends:
                self._collective[variables, given] = False
        return [variables for variables, depends in zip(sets, answers, strict=True) if depends]

    def _are_dependent(self, asked: Sequence[tuple[int, int, int]], n_tests: int | None) -> list[bool]:
        """Return whether a and b depend on each other given a third set, for some of these."""
        if not asked:
            return []
        informations = self._informations(asked)
        answers = [information > self.tolerance for information in informations]
        if self._decide is not None and any(answers):
            able = [
                Question(VarSet(a), VarSet(b), VarSet(given), information)
                for (a, b, given), information in zip(asked, informations, strict=True)
                if information > self.tolerance
            ]
            decided = iter(self._decide(able, n_tests))
            answers = [is_able and next(decided) for is_able in answers]
        return answers

    def components(self, variables: int, given: int = EMPTY) -> tuple[VarSet, ...]:
        """Return the connected components of pairwise dependence: the finest partition of S1'."""
        left, found = int(variables), []
        while left:
            block = frontier = left & -left
            while frontier:
                spread = 0
                for x in members(frontier):
                    for y in members(left & ~block & ~spread):
                        if not self.is_independent(1 << x, 1 << y, given):
                            spread |= 1 << y
                frontier = spread
                block |= spread
            found.append(VarSet(block))
            left &= ~block
        return tuple(found)
