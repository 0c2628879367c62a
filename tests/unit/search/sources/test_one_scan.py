"""How often all sets of a size are scanned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.planted import planted
from xordal import learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import Bar, ScanBlock
from xordal.counting.plain import CountingOracle
from xordal.counting.select import CountingJob
from xordal.data.table import CategoricalTable
from xordal.search.sources import scanned


def test_what_a_scan_found_and_did_not_keep_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Free sets and those that need fill-in come from one scan of all triples, however much it finds."""
    table, links = planted(30, 400, 3)
    n_scans: Counter[int] = Counter()

    class Counting(CountingOracle):
        def scan(self, order: int, at_least: Bar, **asked: Any) -> Iterator[ScanBlock]:
            n_scans[order] += not asked.get("done")
            return super().scan(order, at_least, **asked)

    def backend(table: CategoricalTable, job: CountingJob) -> CountingOracle:
        return Counting(NumpyCounter(table), table.n_levels)

    expected = learn(table, backend="numpy")
    monkeypatch.setattr(scanned, "_MOST_KEPT", 0)
    found = learn(table, backend=backend, find_groups=False, find_rules=False)
    assert found.trace == expected.trace
    assert set(found.links) == set(links)
    assert n_scans[3] == 1
