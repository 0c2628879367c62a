"""What a screen says of a cell is never less than what the cell adds."""

from __future__ import annotations

from math import log

from hypothesis import given
from hypothesis import strategies as st

from xordal.counting._screens import term


@given(st.integers(0, 10**6), st.floats(1e-3, 1e6), st.integers(1, 10**7))
def test_the_bound_of_a_cell_is_no_less_than_what_it_adds(count: int, expected: float, n_rows: int) -> None:
    exact = (count * log(count / expected) if count else 0.0) - count + expected
    bound = term(1 / (n_rows * expected), count - expected, float(n_rows)) * n_rows
    assert bound >= exact * (1 - 1e-9) - 1e-9 * max(count, expected)


def test_it_is_close_where_a_cell_lacks_or_has_little() -> None:
    for count in (80, 120):
        exact = count * log(count / 100) - count + 100
        assert exact <= 1000 * term(1 / (1000 * 100), count - 100.0, 1000.0) <= 1.02 * exact
