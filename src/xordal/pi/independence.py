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
from xordal.types import EMPTY, Link, VarSet, members, varset

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
        sets = [VarSet(s) for s in (a | given, b | given, a | b | given, given)]
        first, second, joint, context = self._oracle.entropies(sets).tolist()
        return fsum([first, second, -joint, -context])

    def total_correlation(self, variables: int, given: int = EMPTY) -> float:
        """Return what the variables share in all, sum of H(v | given) minus H(variables | given), in nats."""
        single = [VarSet(1 << v | given) for v in members(variables)]
        *parts, joint, context = self._oracle.entropies(
            [*single, VarSet(variables | given), VarSet(given)]
        ).tolist()
        return fsum([*parts, -joint, *[-context] * (len(parts) - 1)])

    def is_independent(self, a: int, b: int, given: int = EMPTY, *, n_tests: int | None = None) -> bool:
        """Whether a and b are independent given a third set, as far as the source shows.

        ``n_tests`` says that it is one of so many questions about a set that is known to be dependent.
        """
        if (known := self._decided.get((a, b, given))) is not None and n_tests is None:
            return not known
        shared = self.information(a, b, given)
        if shared <= self.tolerance or self._decide is None:
            return shared <= self.tolerance
        (depends,) = self._decide([Question(VarSet(a), VarSet(b), VarSet(given), shared)], n_tests)
        return not depends

    def decide_pairs(self, links: Iterable[Link]) -> None:
        """Decide some pairs in one go, so that later questions about them cost nothing."""
        if self._decide is None:
            return
        pairs = [(VarSet(1 << x), VarSet(1 << y)) for x, y in sorted(links)]
        single = list(dict.fromkeys(v for pair in pairs for v in pair))
        alone = dict(zip(single, self._oracle.entropies(single).tolist(), strict=True))
        together = self._oracle.entropies([VarSet(a | b) for a, b in pairs]).tolist()
        asked = [
            Question(a, b, EMPTY, fsum([alone[a], alone[b], -joint]))
            for (a, b), joint in zip(pairs, together, strict=True)
        ]
        for question, depends in zip(asked, self._decide(asked, None), strict=True):
            is_dependent = depends and question.information > self.tolerance
            self._decided[question.a, question.b, EMPTY] = is_dependent
            self._decided[question.b, question.a, EMPTY] = is_dependent

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
        known = self._collective.get((variables, given))
        if known is None:
            n_pairs = comb(variables.bit_count(), 2)
            known = not any(
                self.is_independent(1 << x, 1 << y, variables & ~(1 << x | 1 << y) | given, n_tests=n_pairs)
                for x, y in combinations(members(variables), 2)
            )
            self._collective[variables, given] = known
        return known

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
