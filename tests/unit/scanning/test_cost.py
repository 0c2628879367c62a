"""How long scans will take, measured on few of their sets, by a scanner and a clock that are known."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import comb, inf
from typing import Any

import numpy as np
import pytest

from xordal.counting.oracle import Bar, ScanBlock
from xordal.scanning import cost

BEGINNING = 0.004  # seconds before the first set of a scan
LOADING = 2.0  # seconds once for each size
EACH = {2: 1e-8, 3: 2e-8, 4: 3e-7, 5: 1e-6}  # seconds a set, where it can reach the bar and runs are long
RUN = 30  # columns in which the cost of a run of sets is as much as that of its sets


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class KnownScanner:
    """Takes a tenth of the time where no set can reach the bar, as compiled scanners do."""

    def __init__(self, n_variables: int, clock: Clock) -> None:
        self.n_variables, self.clock = n_variables, clock
        self.orders: list[int] = []

    def scan(self, order: int, at_least: Bar, *, done: Collection[int] = (), **how: Any) -> Iterator[ScanBlock]:
        n_sets = comb(self.n_variables - len(done), order)
        each = EACH[order] * (1 + RUN / (self.n_variables - len(done)))
        each *= 0.1 if at_least((2,) * order) == inf else 1.0
        self.clock.now += BEGINNING + n_sets * each + LOADING * (order not in self.orders)
        self.orders.append(order)
        yield ScanBlock((), np.empty((0, order), np.int32), np.empty(0), n_sets)


@pytest.mark.parametrize("n_variables", [60, 120, 400])
@pytest.mark.parametrize("largest", [3, 4, 5])
def test_the_estimate_is_near_what_the_scan_takes(
    monkeypatch: pytest.MonkeyPatch, n_variables: int, largest: int
) -> None:
    clock = Clock()
    monkeypatch.setattr(cost, "perf_counter", clock)
    monkeypatch.setattr(cost, "_MOST_SECONDS", inf)
    scanner = KnownScanner(n_variables, clock)
    sets = {m: comb(n_variables, m) for m in range(2, largest + 1)}
    told = cost.seconds_of(scanner, n_variables, sets, lambda levels: 0.01)  # type: ignore[arg-type]
    assert list(told) == list(sets)
    truth = sum(n_sets * EACH[m] for m, n_sets in sets.items()) * (1 + RUN / n_variables)
    assert truth / 2 - 0.1 < sum(told.values()) < 2 * truth + 0.1


def test_the_largest_sets_are_measured_and_measuring_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(cost, "perf_counter", clock)
    scanner = KnownScanner(200, clock)
    sets = {m: comb(200, m) for m in range(2, 6)}
    told = cost.seconds_of(scanner, 200, sets, lambda levels: 0.01)  # type: ignore[arg-type]
    assert set(scanner.orders) == {5}  # loading alone took longer than all of it may take
    assert told[5] == pytest.approx(sets[5] * EACH[5] * (1 + RUN / 200), rel=0.3)
    assert told[4] / sets[4] == pytest.approx(told[5] / sets[5])
