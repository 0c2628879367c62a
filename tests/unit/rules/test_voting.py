"""The compiled steps on solutions against the plain ones."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules import _dense, plain
from xordal.rules.candidate import UNKNOWN, Candidate, voted
from xordal.rules.coding import coded_by_levels, coded_by_numbers
from xordal.rules.elimination import Effort, _distinct, solutions
from xordal.rules.evidence import Judge
from xordal.rules.seeking import _Seeker
from xordal.rules.sparse import echelon
from xordal.rules.sums import Sums

PRIMES = st.sampled_from([2, 3, 5, 11])


def _drawn(seed: int, p: int) -> tuple[Candidate, NDArray[np.int32]]:
    """Return a candidate of which some levels have no value, and rows of which most obey it."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(2, 6, size=int(generator.integers(2, 5)))
    codes = np.stack([generator.integers(size, size=300) for size in sizes]).astype(np.int32)
    functions = [generator.integers(p, size=size) for size in sizes]
    codes[-1] = np.where(
        generator.random(300) < 0.8, sum(f[c] for f, c in zip(functions, codes, strict=True)) % 2, codes[-1]
    )
    for f in functions:
        f[0] = 0
        f[generator.random(len(f)) < 0.2] = UNKNOWN
    return Candidate(p, tuple(range(len(sizes))), tuple(functions), int(generator.integers(p))), codes


def _plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numba", raising=False)


@pytest.mark.parametrize("p", [2, 3, 5, 11])
@pytest.mark.parametrize("only_unknown", [False, True])
def test_votes_are_the_same_compiled_and_plain(
    p: int, only_unknown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba  # noqa: F401 - what is loaded is used

    drawn = [_drawn(seed, p) for seed in range(40)]
    blanks = [(-1, 1, -1, -1, -1) if seed % 2 else (-1,) * 5 for seed in range(40)]

    def all_voted() -> list[Candidate]:
        return [
            voted(candidate, codes, blanks=of, only_unknown=only_unknown)
            for (candidate, codes), of in zip(drawn, blanks, strict=True)
        ]

    compiled = all_voted()
    with monkeypatch.context() as patched:
        _plainly(patched)
        plain = all_voted()
    for one, other in zip(compiled, plain, strict=True):
        assert (one.modulus, one.variables, one.constant) == (other.modulus, other.variables, other.constant)
        assert [f.tolist() for f in one.functions] == [f.tolist() for f in other.functions]


@given(PRIMES, st.integers(0, 2**32 - 1))
def test_echelon_forms_are_the_same_compiled_and_plain(p: int, seed: int) -> None:
    import numba  # noqa: F401 - what is loaded is used

    generator = np.random.default_rng(seed)
    vectors = generator.integers(p, size=(int(generator.integers(1, 7)), int(generator.integers(1, 9))))
    order = generator.permutation(vectors.shape[1])
    compiled = echelon(vectors, p, order)
    with pytest.MonkeyPatch.context() as patched:
        _plainly(patched)
        assert np.array_equal(compiled, echelon(vectors, p, order))


@given(st.sampled_from([0, 2, 7]), st.integers(0, 2**32 - 1))
def test_the_rows_that_obey_a_rule_are_the_same_compiled_and_plain(p: int, seed: int) -> None:
    import numba  # noqa: F401 - what is loaded is used

    candidate, codes = _drawn(seed, p or 3)
    candidate = replace(candidate, modulus=p)
    compiled = candidate.is_obeyed(codes)
    with pytest.MonkeyPatch.context() as patched:
        _plainly(patched)
        assert np.array_equal(compiled, candidate.is_obeyed(codes))


@given(PRIMES, st.integers(0, 2**32 - 1))
def test_vectors_are_told_once_compiled_and_plain(p: int, seed: int) -> None:
    import numba  # noqa: F401 - what is loaded is used

    generator = np.random.default_rng(seed)
    vectors = generator.integers(p, size=(int(generator.integers(1, 40)), int(generator.integers(1, 5))))
    compiled = _distinct(vectors, p)
    assert len({tuple(vector) for vector in compiled.tolist()}) == len(compiled)
    with pytest.MonkeyPatch.context() as patched:
        _plainly(patched)
        assert np.array_equal(compiled, _distinct(vectors, p))


@given(PRIMES, st.booleans(), st.integers(0, 2**32 - 1))
def test_agreement_within_levels_is_the_same_compiled_and_plain(p: int, is_weighted: bool, seed: int) -> None:
    import numba  # noqa: F401 - what is loaded is used

    candidate, codes = _drawn(seed, p)
    columns = codes.astype(np.int64)
    terms, known = candidate.terms(columns)
    weights = np.random.default_rng(seed).integers(1, 4, known.sum()).astype(float) if is_weighted else None
    sums = Sums(terms[:, known], candidate.constant, p, weights)
    compiled = list(sums.agreements_within_each(columns[:, known]))
    with pytest.MonkeyPatch.context() as patched:
        _plainly(patched)
        assert compiled == list(sums.agreements_within_each(columns[:, known]))


@given(PRIMES, st.integers(0, 2**32 - 1))
def test_a_system_has_full_rank_where_elimination_leaves_nothing(p: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = int(generator.integers(1, 8))
    system = generator.integers(p, size=(size, size + int(generator.integers(3))))
    if generator.random() < 0.5:
        system[-1] = generator.integers(p, size=size - 1) @ system[:-1] % p
    left = system.astype(np.float32)
    both = np.concatenate([left, np.eye(size, dtype=np.float32)], axis=1)
    own = plain.reduce_system(both, system.shape[1], p, np.arange(system.shape[1]))
    assert _dense.has_full_rank(left, p, plain.inverses(p)) == (own != plain.NO_ROW).all()


@pytest.mark.parametrize("p", [2, 3, 11])
@pytest.mark.parametrize("is_by_numbers", [False, True])
def test_screened_solutions_are_the_same_compiled_and_plain(p: int, is_by_numbers: bool) -> None:
    n_told = 0
    for seed in range(12):
        generator = np.random.default_rng([seed, p])
        digits = generator.integers(max(p, 3), size=(5, 600))
        digits[2] = np.where(generator.random(600) < 0.7, digits[1], digits[2])
        digits[4] = (digits[:4].sum(axis=0) + (generator.random(600) < 0.1)) % p
        cells = [[str(digit) for digit in column] for column in digits]
        if seed % 2:
            cells[3] = [
                "(missing)" if u < 0.1 else cell for u, cell in zip(digits[0] / 20, cells[3], strict=True)
            ]
        table = CategoricalTable.from_columns({f"x{k}": column for k, column in enumerate(cells)})
        coding = coded_by_numbers(table) if is_by_numbers else coded_by_levels(table)
        assert coding is not None
        vectors = generator.integers(p, size=(60, coding.n_unknowns))
        vectors[generator.random(vectors.shape) < 0.6] = 0
        rows, effort = generator.permutation(600), Effort(exact=False, is_compiled=True)
        of_all, of_most = solutions(coding, table.codes, rows, p, effort, generator)
        vectors = np.concatenate([of_all, of_most, vectors])
        told = []
        for is_compiled in (True, False):
            judge = Judge(table.codes, table.levels, None, 1)
            seeker = _Seeker(table, Effort(exact=False, is_compiled=is_compiled), judge, 0.05, generator)
            told.append(seeker._screened(coding, vectors, p, rows))
        compiled, plainly = told
        assert [share for share, _ in compiled] == [share for share, _ in plainly]
        assert [vector.tolist() for _, vector in compiled] == [vector.tolist() for _, vector in plainly]
        n_told += len(compiled)
    assert n_told
