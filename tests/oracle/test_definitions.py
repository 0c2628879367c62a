"""Definitions 1-4 against an obvious implementation: by the letter, on exact fractions, over all partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from xordal.pi.definitions import (
    conditional_pi_submodels,
    is_embedded_pi,
    is_full_pi,
    is_partial_pi,
    pi_submodels,
    s1_prime,
)
from xordal.pi.independence import Independence
from xordal.pi.joint import Joint
from xordal.types.varsets import members, varset

Variables = tuple[int, ...]


class ByTheLetter:
    """Section 2 as it is written; every probability an exact fraction."""

    def __init__(self, joint: Joint) -> None:
        assert joint.fractions is not None
        self.states = joint.fractions
        self.marginal = cache(self._marginal)

    def _marginal(self, A: Variables) -> dict[tuple[str, ...], Fraction]:
        found: dict[tuple[str, ...], Fraction] = {}
        for state, p in self.states.items():
            part = tuple(state[v] for v in A)
            found[part] = found.get(part, Fraction(0)) + p
        return found

    def given_all_is_given_some(self, A: Variables, rest: Variables, C: Variables) -> bool:
        """P(A | rest) = P(A | C) wherever rest can occur; C is a subset of rest."""
        joint, condition = self.marginal(A + rest), self.marginal(rest)
        part, small = self.marginal(A + C), self.marginal(C)
        for a in self.marginal(A):
            for r, p in condition.items():
                c = tuple(value for v, value in zip(rest, r, strict=True) if v in C)
                if p and joint.get(a + r, Fraction(0)) / p != part.get(a + c, Fraction(0)) / small[c]:
                    return False
        return True

    def independent(self, A: Variables, B: Variables) -> bool:
        return self.given_all_is_given_some(A, B, ())

    def marginally_independent(self, A: Variables) -> bool:
        return all(self.independent((x,), without(A, (x,))) for x in A)

    def generally_dependent(self, N: Variables) -> bool:
        return not any(self.independent(A, without(N, A)) for A in proper_parts(N) if A)

    def collectively_dependent(self, N: Variables) -> bool:
        return not any(
            self.given_all_is_given_some(A, without(N, A), C)
            for A in proper_parts(N)
            if A
            for C in proper_parts(without(N, A))
        )

    def full(self, N: Variables) -> bool:
        parts = (self.marginally_independent(without(N, (x,))) for x in N)
        return len(N) >= 3 and all(parts) and self.collectively_dependent(N)

    def partitions_of_s1_prime(self, N: Variables) -> list[list[Variables]]:
        return [
            blocks
            for blocks in partitions(N)
            if len(blocks) >= 2
            and all(self.generally_dependent(block) for block in blocks)
            and self.pairwise_independent(blocks)
        ]

    def pairwise_independent(self, blocks: Sequence[Variables]) -> bool:
        return all(self.independent((x,), (y,)) for A, B in combinations(blocks, 2) for x, y in product(A, B))

    def partial(self, N: Variables) -> bool:
        return len(N) >= 3 and bool(self.partitions_of_s1_prime(N)) and self.collectively_dependent(N)

    def embedded(self, part: Variables, N: Variables) -> bool:
        if not self.generally_dependent(N) or not self.partial(part):
            return False
        finest = max(self.partitions_of_s1_prime(part), key=len)
        return any(
            all(any(set(block) <= set(A) for A in blocks) for block in finest)
            and len({next(i for i, A in enumerate(blocks) if block[0] in A) for block in finest}) == len(finest)
            for blocks in partitions(N)
            if len(blocks) == len(finest) and self.pairwise_independent(blocks)
        )

    def separated(self, x: int, y: int, given: Variables) -> bool:
        return self.given_all_is_given_some((x,), (y, *given), given)

    def conditional(self, part: Variables, context: Variables) -> bool:
        """PI given the context, held together with it, and PI neither alone nor with it."""
        whole = tuple(sorted(part + context))
        if self.partial(part) or self.partial(whole) or not self.collectively_dependent(whole):
            return False
        dependent = [pair for pair in combinations(part, 2) if not self.separated(*pair, context)]
        connected = {part[0]}
        for _ in part:
            connected |= {v for pair in dependent if connected & set(pair) for v in pair}
        if connected == set(part):
            return False
        return not any(self.separated(x, y, without(part, (x, y)) + context) for x, y in combinations(part, 2))


def without(N: Variables, A: Variables) -> Variables:
    return tuple(v for v in N if v not in A)


def proper_parts(N: Variables) -> Iterator[Variables]:
    return chain.from_iterable(combinations(N, size) for size in range(len(N)))


def partitions(N: Variables) -> Iterator[list[Variables]]:
    if not N:
        yield []
        return
    first, rest = N[0], N[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            for blocks in partitions(without(rest, others)):
                yield [(first, *others), *blocks]


@st.composite
def joints(draw: st.DrawFn, max_variables: int = 5) -> Joint:
    """Networks of coins, noisy copies, XORs, ANDs: independent in part, deterministic in part."""
    n = draw(st.integers(3, max_variables))
    coin = st.sampled_from([Fraction(1, 2), Fraction(1, 2), Fraction(1, 3)])
    noises = st.sampled_from([Fraction(0), Fraction(1, 4)])
    kinds: list[tuple[list[int], Callable[[Iterable[int]], int], Fraction]] = []
    for v in range(n):
        parents = draw(st.lists(st.integers(0, v - 1), unique=True, max_size=3)) if v else []
        rule: Callable[[Iterable[int]], int] = min if draw(st.integers(0, 3)) == 0 else sum
        kinds.append((parents, rule, draw(noises) if parents else draw(coin)))
    states = {}
    for values in product((0, 1), repeat=n):
        factors = []
        for v, (parents, rule, p) in enumerate(kinds):
            expected = rule(values[u] for u in parents) % 2 if parents else 0
            factors.append(p if values[v] != expected else 1 - p)
        states[values] = prod(factors, start=Fraction(1))
    order = draw(st.permutations(range(n)))
    renamed = {tuple(str(values[v]) for v in order): p for values, p in states.items()}
    return Joint.from_states([f"v{v}" for v in range(n)], renamed)


@settings(max_examples=some(200))
@given(joints(max_variables=4))
def test_dependence_is_that_of_the_text(joint: Joint) -> None:
    letter, judge = ByTheLetter(joint), Independence(joint.oracle())
    everything = tuple(range(len(joint.variables)))
    for size in range(2, len(everything) + 1):
        for A in combinations(everything, size):
            assert judge.are_marginally_independent(varset(A)) == letter.marginally_independent(A)
            assert judge.are_generally_dependent(varset(A)) == letter.generally_dependent(A)
            assert judge.are_collectively_dependent(varset(A)) == letter.collectively_dependent(A)


@settings(max_examples=some(150))
@given(joints())
def test_pi_models_are_those_of_the_definitions(joint: Joint) -> None:
    letter, judge = ByTheLetter(joint), Independence(joint.oracle())
    N = tuple(range(len(joint.variables)))
    listed = {s.variables: s for s in pi_submodels(judge, varset(N))}
    for size in range(3, len(N) + 1):
        for A in combinations(N, size):
            part = varset(A)
            is_full, is_partial = letter.full(A), letter.partial(A)
            assert is_full_pi(judge, part) == is_full
            assert is_partial_pi(judge, part) == is_partial
            if A == N:
                assert (part in listed) == is_partial
            elif letter.generally_dependent(N):
                assert is_embedded_pi(judge, part, varset(N)) == letter.embedded(A, N) == (part in listed)
            if part in listed:
                assert (listed[part].kind == "full") == is_full
                finest = max(letter.partitions_of_s1_prime(A), key=len)
                assert sorted(map(members, listed[part].partition)) == sorted(finest)


@settings(max_examples=some(100))
@given(joints())
def test_conditional_submodels_are_pi_models_given_each_context(joint: Joint) -> None:
    """By the letter: in every context that can occur, or pooled, pairs across blocks are independent."""
    judge = Independence(joint.oracle())
    N = joint.varset()
    listed = {(s.variables, s.context) for s in conditional_pi_submodels(judge, N, range(4, N.bit_count() + 1))}
    letter = ByTheLetter(joint)
    for size in range(4, N.bit_count() + 1):
        for whole in combinations(range(N.bit_count()), size):
            for n_context in range(1, size - 2):
                for context in combinations(whole, n_context):
                    part = without(whole, context)
                    expected = letter.conditional(part, context) and not any(
                        letter.conditional(part, smaller) or letter.partial(part)
                        for smaller in proper_parts(context)
                        if smaller
                    )
                    assert ((varset(part), varset(context)) in listed) == expected


@settings(max_examples=some(100))
@given(joints(max_variables=4))
def test_a_submodel_of_a_full_pi_set_has_single_blocks(joint: Joint) -> None:
    judge = Independence(joint.oracle())
    for submodel in pi_submodels(judge, joint.varset()):
        partition = s1_prime(judge, submodel.variables)
        assert partition == submodel.partition
        assert sum(block.bit_count() for block in submodel.partition) == submodel.variables.bit_count()
        assert submodel.total_correlation > 0
        if submodel.kind == "full":
            assert (
                len(submodel.colored_links())
                == submodel.variables.bit_count() * (submodel.variables.bit_count() - 1) // 2
            )
