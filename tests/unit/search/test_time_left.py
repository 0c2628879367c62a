"""The time that scans still take: by the pace of the last seconds, and by what was measured for later ones."""

from __future__ import annotations

import numpy as np
import pytest

from xordal import Constraints, Limits, learn
from xordal.data.table import CategoricalTable
from xordal.search.driver import Progress
from xordal.search.time_left import TimeLeft


def test_an_even_pace_is_told_exactly() -> None:
    left = TimeLeft({2: 100, 3: 10_000})
    left.scanned(2, 100, 0.5)
    assert left.seconds is None
    left.scanned(3, 0, 1.0)
    for second in range(1, 50):
        left.scanned(3, 200, 1.0 + second)
        expected = None if second < 3 else pytest.approx((10_000 - 200 * second) / 200)
        assert left.seconds == expected
    left.scanned(3, 200, 51.0)
    assert left.seconds is None  # done: nothing is left to scan


def test_a_pace_that_changes_is_that_of_the_last_seconds() -> None:
    left = TimeLeft({3: 1_000_000})
    left.scanned(3, 0, 0.0)
    for second in range(1, 31):  # compiling: a hundred sets a second
        left.scanned(3, 100, float(second))
    for second in range(31, 51):
        left.scanned(3, 10_000, float(second))
    assert left.seconds == pytest.approx((1_000_000 - 3_000 - 200_000) / 10_000, rel=0.02)


def test_later_scans_take_what_was_measured_or_the_present_pace() -> None:
    for seconds, later in (({3: 1.0, 4: 600.0}, 600.0), ({}, 5_000 / 10)):
        left = TimeLeft({2: 10, 3: 100, 4: 5_000}, seconds)
        left.scanned(3, 0, 0.0)
        left.scanned(3, 40, 4.0)
        assert left.seconds == pytest.approx(6.0 + later)
        left.scanned(4, 0, 10.0)
        assert left.seconds is None
        left.scanned(4, 50, 20.0)
        assert left.seconds == pytest.approx(4_950 / 5)


@pytest.mark.parametrize("max_clique", [None, 3])
def test_a_search_counts_its_scans_down_to_nothing(
    monkeypatch: pytest.MonkeyPatch, max_clique: int | None
) -> None:
    """Whatever it scans was counted beforehand: at the end of all scans, nothing is left."""
    seen: list[dict[int, int]] = []

    class Spy(TimeLeft):
        def scanned(self, size: int, n_sets: int, now: float) -> None:
            super().scanned(size, n_sets, now)
            seen.append(dict(self._left))

    monkeypatch.setattr("xordal.learning.known.TimeLeft", Spy)
    rows = np.random.default_rng(0).integers(0, 2, (300, 9))
    rows[:, 2] = rows[:, 0] ^ rows[:, 1]
    table = CategoricalTable.from_rows([f"x{v}" for v in range(9)], rows.tolist())
    told: list[Progress] = []
    learned = learn(table, max_variables=4, limits=Limits(max_clique=max_clique), on_progress=told.append)
    assert learned.links
    assert set(seen[-1].values()) == {0}
    assert set(seen[0]) == ({2, 3, 4} if max_clique is None else {2, 3})
    assert told[-1].seconds_left is None


def test_constraints_do_not_change_what_is_left() -> None:
    rows = np.random.default_rng(1).integers(0, 2, (200, 6))
    table = CategoricalTable.from_rows([f"x{v}" for v in range(6)], rows.tolist())
    told: list[Progress] = []
    learn(table, constraints=Constraints(required=[("x0", "x1")]), on_progress=told.append)
    assert told[-1].seconds_left is None
