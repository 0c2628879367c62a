"""Questions about dependence, answered from entropies with a stated tolerance (section 2).

Two sets are independent given a third when their conditional mutual information is at most the tolerance. For
an exact joint that is rounding, 1e-12 nats; for data it is a threshold below which a dependence does not count.
"""

from __future__ import annotations

from itertools import combinations
from math import fsum

from xordal.counting.oracle import EntropyOracle
from xordal.types import EMPTY, VarSet, members, varset

EXACT = 1e-12
"""Tolerance for exact joints, in nats: computed informations of independent sets are below 1e-13."""


class Independence:
    """Decides dependence between sets of variables from any source of entropies.

    Parameters
    ----------
    oracle
        An exact joint's or a table's entropies; every question asks for a few, so it should remember them.
    tolerance
        Largest mutual information, in nats, that still counts as independence.

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

    def __init__(self, oracle: EntropyOracle, tolerance: float = EXACT) -> None:
        self._oracle = oracle
        self.tolerance = tolerance

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

    def is_independent(self, a: int, b: int, given: int = EMPTY) -> bool:
        """Whether a and b are independent given a third set, up to the tolerance."""
        return self.information(a, b, given) <= self.tolerance

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
        return not any(
            self.is_independent(1 << x, 1 << y, variables & ~(1 << x | 1 << y) | given)
            for x, y in combinations(members(variables), 2)
        )

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
