"""The compiled steps on solutions against the plain ones."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from xordal.rules.candidate import UNKNOWN, Candidate, settles, voted
from xordal.rules.evidence import SETTLED, Judge
from xordal.rules.sparse import echelon

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
    levels = [[range(len(f)) for f in candidate.functions] for candidate, _ in drawn]

    def all_voted() -> list[Candidate]:
        return [
            voted(candidate, codes, blanks=of, only_unknown=only_unknown)
            for (candidate, codes), of in zip(drawn, blanks, strict=True)
        ]

    compiled = all_voted()
    for candidate, (_, codes), of in zip(compiled, drawn, levels, strict=True):
        if len(candidate.variables) > 1:
            judge = Judge(codes, of, None, 1)
            assert settles(candidate, codes, judge.blanks, SETTLED) == judge.settles(candidate)
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
