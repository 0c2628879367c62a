"""How many random examples a test draws: all of them, or a tenth where ``make test-fast`` asks for fewer."""

from __future__ import annotations

import os

IS_FAST = os.environ.get("XORDAL_TEST_FAST") == "1"


def some(n: int) -> int:
    """Return how many of so many examples to draw."""
    return max(n // 10, 3) if IS_FAST else n
