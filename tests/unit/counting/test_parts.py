"""A scan for the best takes the sets of one long first in parts: the same sets, some of them earlier."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xordal
from tests.examples import some
from xordal import CategoricalTable
from xordal.counting import scanner
from xordal.counting.bit_scan import parts_of
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.oracle import Measure, ScanBlock, TableOracle
from xordal.counting.select import oracle_for
from xordal.types.varsets import EMPTY, varset


def _table(n_levels: list[int], n_rows: int, seed: int) -> CategoricalTable:
    generator = np.random.default_rng(seed)
    columns = {f"c{v}": generator.integers(0, r, n_rows).tolist() for v, r in enumerate(n_levels)}
    return xordal.read_table(columns, categorical=list(columns))


def _scanned(oracle: TableOracle, order: int, measure: Measure, top: int | None, base: int) -> list[ScanBlock]:
    found = oracle.scan(
        order, lambda levels: 0.0, measure=measure, top=top, base=varset([base]) if base >= 0 else EMPTY
    )
    return list(found)


@given(
    levels=st.lists(st.sampled_from([2, 2, 3, 4]), min_size=7, max_size=13) | st.just([2] * 18),
    wide=st.integers(0, 2),
    order=st.sampled_from([3, 4, 5]),
    base=st.sampled_from([-1, 0, 4]),
    measure=st.sampled_from(["total", "interaction"]),
    task=st.sampled_from([1, 1_000, 20_000]),
    threads=st.sampled_from([1, 2]),
    seed=st.integers(0, 99),
)
@settings(max_examples=some(60), deadline=None)
def test_parts_hold_the_same_sets_as_the_whole(
    levels: list[int], wide: int, order: int, base: int, measure: Measure, task: int, threads: int, seed: int
) -> None:
    table = _table([*levels, *[70] * wide], 300, seed)
    whole = _scanned(NumbaOracle(table, threads=threads), order, measure, 5, base)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_LONG", 1)
        patch.setattr(scanner, "_TASK", task)
        patch.setattr(scanner, "_BATCH", max(task // 1_000, 1))
        parts = _scanned(NumbaOracle(table, threads=threads), order, measure, 5, base)
    assert sum(block.n_scanned for block in parts) == sum(block.n_scanned for block in whole)
    assert [v for block in parts for v in block.firsts] == [v for block in whole for v in block.firsts]
    assert len(parts) > len(whole) or task > 1
    best = [_best_of(blocks, table, 5) for blocks in (whole, parts)]
    assert best[0].keys() == best[1].keys()
    for shape, values in best[0].items():
        assert best[1][shape] == pytest.approx(values, abs=2e-6)
    every = [tuple(chosen) for block in parts for chosen in block.sets.tolist()]
    assert not every or max(Counter(every).values()) == 1


def _best_of(blocks: list[ScanBlock], table: CategoricalTable, top: int) -> dict[tuple[int, ...], list[float]]:
    """Return the largest values of each combination of levels; sets that share nothing may be left out."""
    values: dict[tuple[int, ...], list[float]] = {}
    for block in blocks:
        for chosen, value in zip(block.sets.tolist(), block.shared.tolist(), strict=True):
            values.setdefault(tuple(sorted(table.n_levels[v] for v in chosen)), []).append(value)
    return {shape: sorted(of, reverse=True)[:top] for shape, of in values.items()}


@given(
    st.sets(st.integers(0, 30), min_size=1, max_size=12),
    st.integers(3, 5),
    st.integers(1, 60),
    st.integers(1, 3),
)
def test_parts_go_through_every_set_once(
    variables: set[int], order: int, most: int, largest_prefix: int
) -> None:
    first, *later = sorted(variables)
    largest_prefix = min(largest_prefix, order - 2)
    found = []
    for part in parts_of((first,), later, order, most, largest_prefix):
        mine = [
            (*part.prefix, v, *rest)
            for v in part.nexts
            for rest in combinations([u for u in later if u > v], order - len(part.prefix) - 1)
        ]
        assert len(mine) == part.n_sets > 0
        assert part.n_sets <= most or len(part.nexts) == 1
        found += mine
    assert found == [(first, *rest) for rest in combinations(later, order - 1)]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize(("order", "target"), [(3, None), (4, None), (4, "c1"), (5, "c1")])
def test_ctrl_c_within_the_sets_of_the_first_column_keeps_the_best(
    backend: str, order: int, target: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table([2, 3] * 12, 200, 3)
    monkeypatch.setattr(scanner, "_LONG", 1)
    monkeypatch.setattr(scanner, "_TASK", 10_000)
    monkeypatch.setattr("xordal.counting.plain._BATCH", 50)
    of_one_first = len(list(combinations(range(22), order - 1 - (target is not None))))

    def interrupt(progress: object) -> None:
        if getattr(progress, "n_scanned", 0) > 40:
            raise KeyboardInterrupt

    with pytest.raises(xordal.ScanInterrupted) as caught:
        xordal.scan(table, order=order, top=4, target=target, backend=backend, on_progress=interrupt)
    scanned = caught.value.scanned
    assert scanned.sets  # no more than those of the parts that were handed over
    assert 40 < scanned.n_scanned < of_one_first
    assert scanned.stopped_by == "interruption"


@pytest.mark.slow
def test_a_scan_in_parts_ranks_as_one_in_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    table = _table([2] * 9 + [3] * 4 + [5, 70], 500, 8)
    whole = [xordal.scan(table, order=m, target=t, top=12).sets for m, t in [(3, None), (4, "c2"), (4, None)]]
    monkeypatch.setattr(scanner, "_LONG", 1)
    monkeypatch.setattr(scanner, "_TASK", 3_000)
    parts = [xordal.scan(table, order=m, target=t, top=12).sets for m, t in [(3, None), (4, "c2"), (4, None)]]
    assert parts == whole


def test_only_scans_for_the_best_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to be taken up again later knows the firsts that are done, and no more."""
    monkeypatch.setattr(scanner, "_LONG", 1)
    monkeypatch.setattr(scanner, "_TASK", 1)
    for backend in ("numba", "numpy"):
        oracle = oracle_for(_table([2] * 12, 200, 1), backend=backend)
        assert all(block.firsts for block in oracle.scan(4, lambda levels: 0.0))
