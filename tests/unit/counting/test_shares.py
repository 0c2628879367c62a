"""A scan falls into groups, a group into one share per thread: nothing is lost, and nobody waits for long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from xordal.counting import scanner
from xordal.counting._jit import kernel
from xordal.counting._turns import first_turn, next_turn
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.rows import Rows
from xordal.counting.scanner import Scan
from xordal.counting.threads import in_threads
from xordal.data.table import CategoricalTable
from xordal.types.varsets import EMPTY


def random_table(n_levels: list[int], n_rows: int, seed: int = 0) -> CategoricalTable:
    generator = np.random.default_rng(seed)
    codes = np.stack([np.arange(n_rows) % r for r in n_levels]).astype(np.int32)
    for column in codes:
        generator.shuffle(column)
    names = tuple(f"v{v}" for v in range(len(n_levels)))
    return CategoricalTable(names, tuple(tuple(range(r)) for r in n_levels), codes)


def scan_of(n_variables: int, order: int) -> Scan:
    return Scan.of(Rows(random_table([2] * n_variables, 64)), order, lambda levels: 0.0, EMPTY)


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every group is worth being shared, and no group holds much."""
    monkeypatch.setattr(scanner, "_LEAST_TASK", 1)
    monkeypatch.setattr(scanner, "_MOST_SETS", 20)
    yield


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize(
    "n_levels", [[2] * 12, [2, 3] * 5, [2] * 6 + [40] * 3], ids=["binary", "mixed", "codes"]
)
@pytest.mark.parametrize("order", [2, 3, 4])
def test_blocks_are_the_same_for_any_number_of_threads(order: int, n_levels: list[int]) -> None:
    table = random_table(n_levels, 100)
    found = []
    for threads in (1, 2, 3, 5):
        blocks = list(NumbaOracle(table, threads=threads).scan(order, lambda levels: 0.001))
        found.append(
            [(b.firsts, b.sets.tolist(), b.shared.tolist(), b.n_scanned) for b in blocks],
        )
    assert len(found[0]) > 1
    assert sum(len(block[1]) for block in found[0]) > 20
    assert all(blocks == found[0] for blocks in found[1:])


@settings(max_examples=some(50))
@given(
    n_variables=st.integers(2, 40),
    order=st.integers(2, 4),
    threads=st.integers(1, 8),
    most=st.integers(1, 2000),
    data=st.data(),
)
def test_every_first_is_in_one_share(
    n_variables: int, order: int, threads: int, most: int, data: st.DataObject
) -> None:
    scan = scan_of(n_variables, order)
    firsts = sorted(data.draw(st.sets(st.integers(0, n_variables - 1))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_LEAST_TASK", 1)
        patch.setattr(scanner, "_MOST_SETS", most)
        groups = list(scanner._groups(scan, firsts, threads))
        shares = [scanner._shares(scan, group, threads) for group in groups]
    assert [v for group in groups for v in group] == firsts
    for group, parts in zip(groups, shares, strict=True):
        assert len(group) == 1 or sum(scan.field.n_sets[v] for v in group) <= most
        assert 1 <= len(parts) <= threads
        assert sorted(v for part in parts for v in part.own) == list(group)
        assert all(part.common == group and part.turn is parts[0].turn for part in parts)


@pytest.mark.parametrize(("order", "threads"), [(2, 2), (3, 2), (3, 4), (4, 3)])
def test_shares_cost_about_the_same(order: int, threads: int) -> None:
    scan = scan_of(200, order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_LEAST_TASK", 1)
        shares = scanner._shares(scan, scan.field.others, threads)
    sizes = [sum(scan.field.n_sets[v] for v in share.own) for share in shares]
    assert len(sizes) == threads
    assert max(sizes) <= 1.03 * min(sizes)


def test_small_groups_are_not_shared() -> None:
    scan = scan_of(10, 3)
    (share,) = scanner._shares(scan, scan.field.others, 4)
    assert share.own == share.common == scan.field.others


def test_threads_take_every_turn_once() -> None:
    turn = first_turn()
    taken = in_threads(4, lambda n: take_turns(turn, n), [1000] * 40)
    assert sorted(mine for some in taken for mine in some.tolist()) == list(range(40_000))


@kernel
def take_turns(turn: Any, n: int) -> Any:
    mine = np.empty(n, np.int64)
    for x in range(n):
        mine[x] = next_turn(turn)
    return mine


@given(st.integers(1, 6), st.sampled_from([3, 500, 2**31 - 1]), st.integers(0, 100), st.integers(0, 99))
def test_sets_are_put_in_order(size: int, most: int, n_sets: int, seed: int) -> None:
    sets = np.random.default_rng(seed).integers(0, most, size=(n_sets, size)).astype(np.int32)
    assert sets[scanner._lexicographic(sets)].tolist() == sorted(sets.tolist())
