"""Ctrl-C within the call of a kernel."""

from __future__ import annotations

import pytest

from xordal.counting.threads import interruptible


@pytest.mark.parametrize("times", [1, 3])
def test_an_interruption_is_one_however_often_it_was_wrapped(times: int) -> None:
    """As Numba wraps it: once while a kernel runs, several times while one is loaded from disk."""
    error: BaseException = KeyboardInterrupt()
    for _ in range(times):
        outer = SystemError("returned a result with an exception set")
        outer.__cause__ = error
        error = outer
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise error


def test_other_errors_of_the_system_stay_what_they_are() -> None:
    with pytest.raises(SystemError, match="something else"), interruptible():
        raise SystemError("something else") from ValueError()
