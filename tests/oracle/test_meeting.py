"""Noisy parities that meet in the middle, and how often a sum is zero by chance, against brute force."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.examples import some
from xordal.data.table import CategoricalTable
from xordal.rules.finding import find_rules
from xordal.rules.meeting import FEWEST, noisy_parities, plan
from xordal.rules.sparse import echelon
from xordal.rules.sums import Sums


def planted(n: int, order: int, noise: float, seed: int) -> tuple[NDArray[np.uint8], tuple[int, ...]]:
    """Return bits among which a parity of some columns is broken by a share of 1,500 rows."""
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 2, (n, 1500), dtype=np.uint8)
    columns = generator.choice(n, size=order, replace=False)
    odd = generator.integers(0, 2)
    bits[columns[0]] = np.bitwise_xor.reduce(bits[columns[1:]]) ^ (generator.random(1500) < noise) ^ odd
    return bits, tuple(sorted(columns.tolist()))


def by_brute_force(bits: NDArray[np.uint8], order: int) -> set[tuple[int, ...]]:
    """Return the sets of an order whose parity is the same in four of five rows."""
    found = set()
    for columns in combinations(range(len(bits)), order):
        odd = np.bitwise_xor.reduce(bits[list(columns)]).mean()
        if max(odd, 1 - odd) >= 0.8:
            found.add(columns)
    return found


@settings(max_examples=some(15), deadline=None)
@given(st.integers(FEWEST, 30), st.sampled_from([3, 4]), st.floats(0, 0.15), st.integers(0, 10**6))
def test_parities_of_three_and_four_are_those_of_brute_force(
    n: int, order: int, noise: float, seed: int
) -> None:
    bits, wanted = planted(n, order, noise, seed)
    found = noisy_parities(bits, 4, np.random.default_rng(seed))
    assert set(found) == by_brute_force(bits, 3) | by_brute_force(bits, 4) == {wanted}


@pytest.mark.parametrize(("order", "noise"), [(5, 0.15), (6, 0.1)])
@pytest.mark.parametrize("seed", range(4))
def test_parities_of_five_and_six(order: int, noise: float, seed: int) -> None:
    bits, wanted = planted(40, order, noise, seed)
    assert noisy_parities(bits, order, np.random.default_rng(seed)) == [wanted]
    assert noisy_parities(bits, 4, np.random.default_rng(seed)) == []


@pytest.mark.parametrize("order", [4, 5, 6])
def test_a_reach_is_the_noise_at_which_one_in_twenty_is_missed(order: int) -> None:
    how = plan(order, 500)
    assert how is not None
    met = how.chance * (1 - how.reach()) ** (how.n_bits + 1)
    assert (1 - met) ** how.n_draws == pytest.approx(0.05)


def test_skewed_and_doubled_columns_hide_no_parity_and_make_none() -> None:
    bits, wanted = planted(60, 4, 0.1, 0)
    generator = np.random.default_rng(1)
    skewed = (generator.random((40, 1500)) < 0.1).astype(np.uint8)
    others = [c for c in range(60) if c not in wanted]
    doubled = bits[others[:10]] ^ (generator.random((10, 1500)) < 0.02)
    assert noisy_parities(np.vstack([bits, skewed, doubled]), 4, generator) == [wanted]


def test_find_rules_tells_a_noisy_parity_once_and_one_that_a_quarter_breaks_not() -> None:
    for noise, n_rules in ((0.12, 1), (0.3, 0)):
        bits, wanted = planted(100, 4, noise, 3)
        table = CategoricalTable.from_columns({f"b{k}": c.tolist() for k, c in enumerate(bits)})
        found = find_rules(table, moduli=[2])
        assert [rule.variables for rule in found] == [wanted] * n_rules


@given(
    st.sampled_from([0, 2, 5, 11]), st.integers(2, 4), st.integers(1, 40), st.integers(-3, 3),
    st.booleans(), st.integers(1, 50), st.integers(0, 10**6),
)  # fmt: skip
def test_agreement_of_parts_is_counted_over_pairs_of_rows(
    modulus: int, m: int, n: int, constant: int, weighted: bool, n_groups: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    terms = generator.integers(0, modulus or 6, (m, n))
    weights = generator.integers(1, 4, n).astype(np.float64) if weighted else None
    sums = Sums(terms, constant, modulus, weights)
    each = np.ones(n) if weights is None else weights
    part = tuple(range(int(generator.integers(1, m))))
    one, other = terms[list(part)].sum(axis=0), terms[len(part) :].sum(axis=0) + constant
    total = one[:, None] + other
    is_zero = (total % modulus if modulus else total) == 0
    by_hand = (is_zero * np.outer(each, each)).sum() / each.sum() ** 2
    assert sums.agreement(part) == pytest.approx(by_hand)
    group = generator.integers(0, n_groups, n)
    again = np.arange(n).repeat(each.astype(np.int64))  # rows as often as they count
    rest = terms.sum(axis=0) - terms[0] + constant
    total = terms[0][again][:, None] + rest[again]
    is_zero = (total % modulus if modulus else total) == 0
    alone = sums.agreement((0,))
    within = 0.0
    for row, of in enumerate(group[again]):
        others = (group[again] == of) & (np.arange(len(again)) != row)
        within += is_zero[row, others].mean() if others.any() else alone
    assert sums.agreement_within(group, 0) == pytest.approx(within / len(again))
    with patch("xordal.rules.sums._MOST_CELLS", 0):
        assert sums.agreement_within(group, 0) == pytest.approx(within / len(again))


@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 10**6))
def test_echelon_of_bits_spans_the_same(n: int, width: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.integers(0, 2, (n, width))
    order = generator.permutation(width)
    basis = echelon(vectors, 2, order)

    def spanned(of: NDArray[np.int64]) -> set[tuple[int, ...]]:
        signs = (
            np.array(np.meshgrid(*[[0, 1]] * len(of))).reshape(len(of), -1).T if len(of) else np.zeros((1, 0))
        )
        return {tuple(row) for row in (signs.astype(np.int64) @ of.reshape(len(of), width) % 2).tolist()}

    assert spanned(basis) == spanned(vectors) and len(spanned(basis)) == 2 ** len(basis)
    leading = [next(u for u in order if row[u]) for row in basis]
    assert all(basis[:, u].sum() == 1 for u in leading)
