"""Elimination against brute force: every vector tried, in NumPy, compiled, and on packed words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from xordal.data.table import CategoricalTable
from xordal.rules.coding import Coding, coded_by_levels
from xordal.rules.elimination import Effort, _dense, _packed
from xordal.rules.quick import _solved_by_bits, _solved_by_words
from xordal.rules.sparse import echelon, sparse_basis


def coding_of(columns: np.ndarray) -> tuple[Coding, np.ndarray]:
    table = CategoricalTable.from_columns({str(k): c.tolist() for k, c in enumerate(columns)})
    coding = coded_by_levels(table)
    assert coding is not None
    return coding, table.codes


@settings(max_examples=some(30), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]))
def test_solutions_of_all_rows_are_those_of_brute_force(seed: int, p: int) -> None:
    generator = np.random.default_rng(seed)
    columns = generator.integers(0, 2, (5, 120))
    columns[4] = columns[:2].sum(axis=0) % 2 if seed % 2 else columns[4]
    coding, codes = coding_of(columns)
    rows = generator.permutation(120)
    every = coding.matrix(codes, rows, p).astype(np.int64)
    wanted = {v for v in product(range(p), repeat=coding.n_unknowns) if not (np.array(v) @ every % p).any()}
    for is_compiled in (False, True):
        basis, _ = _dense(coding, codes, rows, p, Effort(True, is_compiled), generator)
        spanned = {tuple(np.array(c, dtype=np.int64) @ basis % p) for c in product(range(p), repeat=len(basis))}
        assert spanned == wanted


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("p", [2, 3, 7, 11])
def test_compiled_and_plain_find_the_same(seed: int, p: int) -> None:
    generator = np.random.default_rng(seed)
    columns = generator.integers(0, 4, (4, 300))
    columns[3] = np.where(generator.random(300) < 0.05, columns[3], columns[:3].sum(axis=0) % min(p, 4))
    coding, codes = coding_of(columns)
    rows = generator.permutation(300)
    plain, compiled = (
        _dense(coding, codes, rows, p, Effort(False, is_compiled), np.random.default_rng(seed))
        for is_compiled in (False, True)
    )
    assert all(np.array_equal(a, b) for a, b in zip(plain, compiled, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_packed_words_solve_what_numbers_solve(seed: int) -> None:
    generator = np.random.default_rng(seed)
    columns = generator.integers(0, 2, (70, 400))
    for k in range(4):
        columns[60 + k] = columns[generator.choice(60, size=5, replace=False)].sum(axis=0) % 2
    coding, codes = coding_of(columns)
    rows = generator.permutation(400)
    dense, _ = _dense(coding, codes, rows, 2, Effort(True, False), generator)
    packed, _ = _packed(coding, codes, rows, len(rows), Effort(True, True), generator)
    assert len(dense) == 4 and np.array_equal(echelon(dense, 2), echelon(packed, 2))


@settings(max_examples=some(60), deadline=None)
@given(st.integers(1, 150), st.integers(1, 150), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_choices_of_rows_are_solved_alike_in_numbers_and_in_words(
    n_columns: int, n_rows: int, n_sums: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 2, (n_columns, n_rows)).astype(np.uint8)
    for place in generator.integers(0, n_columns, n_sums):
        bits[place] = bits[generator.integers(0, n_columns, 3)].sum(axis=0) % 2
    found = _solved_by_bits(bits)
    assert not (found @ bits % 2).any()
    assert np.array_equal(found, _solved_by_words(bits))


def test_packed_words_find_a_parity_that_some_rows_break() -> None:
    generator = np.random.default_rng(0)
    columns = generator.integers(0, 2, (200, 2000))
    columns[199] = columns[:9].sum(axis=0) % 2 ^ (generator.random(2000) < 0.01)
    coding, codes = coding_of(columns)
    _, found = _packed(coding, codes, generator.permutation(2000), 2000, Effort(False, True), generator)
    supports = [tuple(np.unique(coding.variable[v != 0])[1 if v[0] else 0 :].tolist()) for v in found]
    assert (*range(9), 199) in supports


@settings(max_examples=some(30), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]))
def test_a_sparse_basis_spans_the_same_with_no_more_columns(seed: int, p: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.integers(0, p, (3, 9)) * (generator.random((3, 9)) < 0.5)
    variable = np.array([-1, 0, 0, 1, 1, 2, 3, 4, 5])
    found = sparse_basis(vectors, variable, p, generator)
    assert np.array_equal(echelon(found, p), echelon(vectors, p))
