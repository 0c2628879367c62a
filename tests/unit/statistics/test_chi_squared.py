"""The log tail against arbitrary precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xordal.statistics.chi_squared import log_tail, log_tails, quantile

DOFS = [1, 2, 3, 4, 7, 10, 25.5, 100, 999, 10_000, 100_000]
G2S = [*np.logspace(-3, 6, 28).tolist(), 1e7]


def exactly(g2: float, dof: float) -> float:
    with mpmath.workdps(60):
        a, x = mpmath.mpf(dof) / 2, mpmath.mpf(g2) / 2
        if x < a:
            return float(mpmath.log1p(-mpmath.gammainc(a, 0, x, regularized=True)))
        return float(mpmath.log(mpmath.gammainc(a, x, mpmath.inf, regularized=True)))


@pytest.mark.parametrize("dof", DOFS)
def test_the_log_tail_is_right_to_ten_digits(dof: float) -> None:
    near = [dof + z * (2 * dof) ** 0.5 for z in (-3, -1, -0.1, 0, 0.1, 1, 3, 10, 30, 36, 40, 60)]
    g2s = [g2 for g2 in (*G2S, *near) if g2 > 0]
    expected = np.array([exactly(g2, dof) for g2 in g2s])
    np.testing.assert_allclose(log_tail(g2s, dof), expected, rtol=1e-10, atol=1e-307)


@given(st.floats(-1e6, -1e-3), st.floats(1, 1e5))
def test_the_quantile_inverts_the_tail(log_p: float, dof: float) -> None:
    assert log_tail(quantile(log_p, dof), dof) == pytest.approx(log_p, rel=1e-9, abs=1e-9)


@given(st.floats(0, 1e6), st.floats(0, 10), st.floats(1, 1e5))
def test_the_tail_never_grows_with_the_statistic(g2: float, more: float, dof: float) -> None:
    below, above = log_tail([g2, g2 + more], dof)
    assert above <= below + 1e-12 * abs(below)


def test_the_tail_of_nothing_is_whole() -> None:
    assert log_tail([0.0, -1e-9], 3).tolist() == [0, 0]


def test_shapes_broadcast() -> None:
    assert log_tail(np.ones((3, 1)), np.ones(4)).shape == (3, 4)
    assert log_tail(1.0, 2).item() == pytest.approx(-0.5)


@given(
    st.lists(
        st.tuples(st.floats(-10, 1e6) | st.floats(0, 50) | st.floats(1000, 3000), st.floats(1e-3, 1e4)),
        max_size=40,
    )
)
def test_values_do_not_depend_on_what_others_there_are(pairs: list[tuple[float, float]]) -> None:
    """To the bit, one at a time, some or many: ranks must not depend on who came in the same batch."""
    together = log_tails([g2 for g2, _ in pairs], [dof for _, dof in pairs])
    assert together == [log_tails([g2], [dof])[0] for g2, dof in pairs]
    assert together == [float(log_tail(g2, dof)) for g2, dof in pairs]
