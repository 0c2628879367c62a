"""Chance and p-values of rules against what counting by brute force says."""

from __future__ import annotations

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xordal.data.table import CategoricalTable
from xordal.rules.candidate import Candidate, weight_of
from xordal.rules.evidence import Judge, log_tail
from xordal.rules.finding import find_rules
from xordal.rules.relations import in_whole_numbers


@given(st.integers(1, 40), st.data())
def test_the_binomial_tail_is_the_sum_of_its_terms(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    q = data.draw(st.floats(0.01, 0.99))
    tail = sum(comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(k, n + 1))
    if k > n * q:
        assert exp(log_tail(k, n, q)) == pytest.approx(tail, rel=1e-9)
    else:
        assert log_tail(k, n, q) == 0.0  # no evidence


def test_the_tail_does_not_underflow() -> None:
    assert log_tail(100_000, 100_000, 0.1) == pytest.approx(100_000 * log(0.1))


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=4), st.integers(0, 4))
def test_chance_of_independent_columns_is_a_sum_over_cells(values: list[list[int]], constant: int) -> None:
    rows = np.array(list(product(range(3), repeat=len(values)))).T.astype(
        np.int32
    )  # independent by construction
    candidate = Candidate(5, tuple(range(len(values))), tuple(np.array(v) for v in values), constant)
    judge = Judge(rows, [("a", "b", "c")] * len(values), None, 1)
    by_hand = np.mean(
        [(constant + sum(v[c] for v, c in zip(values, row, strict=True))) % 5 == 0 for row in rows.T]
    )
    assert judge.evidence(candidate).by_chance == pytest.approx(by_hand)


def test_a_level_that_most_rows_have_makes_no_rule() -> None:
    generator = np.random.default_rng(0)
    rows = (generator.random((3, 2000)) < 0.02).astype(np.int32)
    candidate = Candidate(3, (0, 1, 2), (np.array([0, 1]),) * 3, 0)
    evidence = Judge(rows, [(0, 1)] * 3, None, 1).evidence(candidate)
    assert evidence.n_broken < 200 and not evidence.is_rule(0.05)


def test_two_pairs_that_go_together_make_no_rule_of_four() -> None:
    generator = np.random.default_rng(0)
    a, c = generator.integers(0, 5, (2, 2000))
    b = np.where(generator.random(2000) < 0.02, 0, a)
    rows = np.stack([a, b, c, c]).astype(np.int32)
    functions = (np.arange(5), -np.arange(5) % 5) * 2
    judge = Judge(rows, [tuple(range(5))] * 4, None, 1)
    assert not judge.evidence(Candidate(5, (0, 1, 2, 3), functions, 0)).is_rule(0.05)


@given(st.integers(0, 9), st.integers(0, 9))
def test_weights_are_read_off_values(weight: int, shift: int) -> None:
    values = (np.arange(10) * weight + shift) % 10
    assert weight_of(tuple("0123456789"), values, 10) == weight


@given(
    st.lists(st.integers(-5, 5), min_size=2, max_size=6).filter(any), st.integers(1, 1020), st.integers(0, 1020)
)
def test_whole_numbers_are_read_off_a_multiple(numbers: list[int], factor: int, constant: int) -> None:
    """The constant is left to the rows, and may be anything."""
    found = in_whole_numbers(np.array([constant, *(number * factor for number in numbers)]) % 1021)
    assert found is not None and found[0] == 0
    one, other = found[1:], np.array(numbers)
    assert np.array_equal(np.outer(one, other), np.outer(other, one))  # proportional


@pytest.mark.parametrize("seed", range(4))
def test_one_or_the_other_is_no_sum_however_rarely_both_are(seed: int) -> None:
    generator = np.random.default_rng(seed)
    one, other = generator.random((2, 2000)) < 0.15
    odd = (one ^ other) ^ (generator.random(2000) < 0.004)
    for third, names in ((one | other, []), (odd, ["parity"])):
        columns = {"one": one, "other": other, "third": third}
        table = CategoricalTable.from_columns({name: values.tolist() for name, values in columns.items()})
        assert [rule.name for rule in find_rules(table).rules] == names
