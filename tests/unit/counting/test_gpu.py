"""What a device's scan rests on, without a device: its basis, its bound, its tiles, its buffers, its failures.

The mirror of the kernel in NumPy stands in for it; `make test-gpu` runs the contract of all backends on a
real one.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from itertools import combinations, product
from math import inf
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.commands import call
from tests.examples import some
from xordal import scan
from xordal.counting import select
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.gpu import scan as device_scan
from xordal.counting.gpu.columns import PLANES, slots_of
from xordal.counting.gpu.engine import GROUP, TILE_J, TILE_K, FoursJob, blocks_of, n_here, tile_of
from xordal.counting.gpu.measuring import fitted, measured
from xordal.counting.gpu.mirror import Mirror
from xordal.counting.gpu.oracle import GpuOracle
from xordal.counting.gpu.screening import SHARES, Columns, limit_of
from xordal.counting.oracle import Measure, TableOracle
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError
from xordal.types.varsets import VarSet, varset

MEASURES: tuple[Measure, ...] = ("total", "needed", "interaction")


def table_of(n_levels: list[int], n_rows: int, seed: int, weights: bool = False) -> CategoricalTable:
    """Columns of skewed shares; the sixth is the sum of two others, with noise, where there are as many."""
    generator = np.random.default_rng(seed)
    codes = np.stack([generator.choice(r, n_rows, p=generator.dirichlet(np.full(r, 2.0))) for r in n_levels])
    if len(n_levels) > 5:
        codes[5] = np.where(generator.random(n_rows) < 0.9, (codes[1] + codes[2]) % n_levels[5], codes[5])
    codes = np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes])
    levels = tuple(tuple(range(r)) for r in (codes.max(axis=1) + 1).tolist())
    counts = generator.integers(1, 4, n_rows) if weights else None
    return CategoricalTable(tuple(f"v{v}" for v in range(len(codes))), levels, codes.astype(np.int32), counts)


def on_mirror(table: CategoricalTable, engine: Mirror | None = None) -> GpuOracle:
    return GpuOracle(table, engine or Mirror(), lambda table: NumbaOracle(table, threads=1))


def found_by(oracle: TableOracle, order: int, bar: float, **asked: object) -> dict[tuple[int, ...], float]:
    found: dict[tuple[int, ...], float] = {}
    for block in oracle.scan(order, lambda levels: bar, **asked):  # type: ignore[arg-type]
        found.update(zip(map(tuple, block.sets.tolist()), block.shared.tolist(), strict=True))
    return found


@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(lambda c: sum(n > 0 for n in c) > 1))
def test_planes_become_an_orthonormal_basis(counts: list[int]) -> None:
    levels = np.array([[*counts, *[0] * (5 - len(counts))]])
    planes = PLANES[sum(n > 0 for n in counts)]
    slots = slots_of(levels, planes, padding=planes)
    rows = np.repeat(np.arange(5), levels[0])
    x = (rows == slots.level[:, None]).astype(float)
    u = slots.weight[:, None] * (x + slots.part[:, None] * (np.cumsum(x, axis=0) - x))
    assert np.allclose(u.mean(axis=1), slots.kappa)
    there = slots.level >= 0
    assert there.sum() == sum(n > 0 for n in counts) - 1
    assert np.allclose(np.cov(u[there], bias=True), np.eye(int(there.sum())), atol=1e-9)
    assert (slots.part <= 0.5 + 1e-12).all()
    assert (slots.kappa**2 <= 2.5 + 1e-9).all()


@settings(max_examples=some(300))
@given(cells=st.lists(st.integers(0, 60), min_size=8, max_size=8).filter(lambda c: sum(c) > 0))
def test_no_measure_is_above_its_bound(cells: list[int]) -> None:
    """Of any three binary columns: chi reaches the limit that follows from each measure."""
    table = np.array(cells).reshape(1, 2, 2, 2)
    n = int(table.sum())
    shares = table[0] / n
    margins = [shares.sum(axis=tuple(b for b in range(3) if b != a)) for a in range(3)]
    expected = np.einsum("i,j,k->ijk", *margins)
    there = expected > 0
    chi = float((shares[there] ** 2 / expected[there]).sum() - 1)
    occurring = np.concatenate(margins)
    rarest = float(occurring[occurring > 0].min())
    values = [float(measured(np, table, what, n).values[0]) for what in MEASURES]
    values.append(float(fitted(np, table, n).values[0]))
    assert values[0] >= max(values[1:]) - 1e-9
    if (occurring > 0).all():
        for value, share in product(values, [share for share in SHARES if share <= rarest] + [rarest]):
            assert chi >= limit_of(value, share) - 1e-9


@pytest.mark.parametrize("room_slots", [128, 256, 640])
def test_tiles_hold_every_pair_once(room_slots: int) -> None:
    n_tj = room_slots // TILE_J
    seen = np.zeros((room_slots, room_slots), dtype=int)
    for block in range(n_tj * (n_tj + 1)):
        j0, k0 = tile_of(block, room_slots)
        seen[j0 : j0 + TILE_J, k0 : k0 + TILE_K] += 1
    assert (seen[np.triu_indices(room_slots)] == 1).all()
    assert seen.max() == 1


@pytest.mark.parametrize(
    ("n_levels", "begin", "end"), [([2] * 300, 100, 170), ([3] * 100, 0, 9), ([5] * 40, 20, 38)]
)
def test_every_triple_of_a_range_is_in_one_group(n_levels: list[int], begin: int, end: int) -> None:
    columns = Columns(Mirror(), np.zeros((len(n_levels), 4), np.uint8), np.array(n_levels))
    job, planes = columns.job(begin, end, lambda levels: 0.1), columns.slots.planes
    looked_at = {
        (begin + i, j)
        for block in blocks_of(job)
        for j0 in [tile_of(block, columns.room_slots)[0]]
        for i in range(n_here(job, j0) // planes)
        for j in range(j0 // planes, (j0 + TILE_J) // planes)
    }
    assert job.n_i % GROUP == 0
    assert {(i, j) for i in range(begin, end) for j in range(i + 1, len(n_levels))} <= looked_at


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("n_levels", "n_rows", "bar"),
    [
        ([2] * 140, 300, 0.035),
        ([3] * 40, 300, 0.1),
        ([2, 3, 4, 5] * 6, 500, 0.12),
        ([2, 2, 7, 3] * 4, 200, 0.1),
    ],
    ids=["binary", "ternary", "mixed", "wide"],
)
def test_a_scan_is_the_processors(n_levels: list[int], n_rows: int, bar: float, measure: Measure) -> None:
    """More than one tile, all numbers of planes, columns for the processor; repeated rows; with a base."""
    for order, base in ((3, VarSet(0)), (2, varset([1])), (2, varset([0, 1]))):
        table = table_of(n_levels, n_rows, seed=order, weights=order == 2)
        processor = NumbaOracle(table, threads=1)
        theirs = found_by(processor, order, bar, measure=measure, base=base)
        ours = found_by(on_mirror(table), order, bar, measure=measure, base=base)
        assert set(ours) == set(theirs)
        assert len(theirs) > 0 or measure != "total"
        for chosen, value in theirs.items():
            assert ours[chosen] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("n_columns", "n_rows", "bar"),
    [(18, 60, 0.08), (30, 300, 0.03), pytest.param(22, 5_000, 0.001, marks=pytest.mark.slow)],
)
def test_sets_of_four_are_the_processors(n_columns: int, n_rows: int, bar: float, measure: Measure) -> None:
    table = table_of([2] * n_columns, n_rows, seed=n_rows, weights=n_rows == 300)
    theirs = found_by(NumbaOracle(table, threads=1), 4, bar, measure=measure)
    ours = found_by(on_mirror(table), 4, bar, measure=measure)
    assert set(ours) == set(theirs)
    assert len(theirs) > 0 or measure != "total"
    for chosen, value in theirs.items():
        assert ours[chosen] == pytest.approx(value, abs=1e-6)


@pytest.mark.slow
def test_sets_of_four_in_more_than_one_tile() -> None:
    """Of two first columns, one in each tile of j; the others are done."""
    table, bar = table_of([2] * 135, 90, seed=11), 0.04
    done = [v for v in range(135) if v not in (3, 129)]
    ours, theirs = (
        {chosen: value for chosen, value in found_by(oracle, 4, bar, done=done).items() if value > bar}
        for oracle in (on_mirror(table), NumbaOracle(table, threads=1))
    )
    assert set(ours) == set(theirs)
    assert {chosen[0] for chosen in theirs} == {3, 129}


def test_a_device_is_asked_for_sets_of_four_where_all_columns_are_binary() -> None:
    class Asked(Mirror):
        n_fours = 0

        def fours(self, job: FoursJob, room: int) -> tuple[NDArray[np.int32], int]:
            Asked.n_fours += 1
            return super().fours(job, room)

    for n_levels, has_many in (([2] * 8, True), ([2] * 7 + [3], False)):
        before, table = Asked.n_fours, table_of(n_levels, 100, seed=12)
        ours = found_by(on_mirror(table, Asked()), 4, 0.05)
        assert ours == pytest.approx(found_by(NumbaOracle(table, threads=1), 4, 0.05), abs=1e-6)
        assert (Asked.n_fours > before) == has_many


@settings(max_examples=some(300))
@given(cells=st.lists(st.integers(0, 60), min_size=16, max_size=16).filter(lambda c: sum(c) > 0))
def test_no_measure_of_four_is_above_its_bound(cells: list[int]) -> None:
    table = np.array(cells).reshape(1, 2, 2, 2, 2)
    n = int(table.sum())
    shares = table[0] / n
    margins = [shares.sum(axis=tuple(b for b in range(4) if b != a)) for a in range(4)]
    occurring = np.concatenate(margins)
    if (occurring == 0).any():
        return
    chi = float((shares**2 / np.einsum("h,i,j,k->hijk", *margins)).sum() - 1)
    value = float(measured(np, table, "total", n).values[0])
    for share in [share for share in SHARES if share <= occurring.min()] + [float(occurring.min())]:
        assert chi >= limit_of(value, share, 4) - 1e-9


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("by", ["interaction", "total"])
@settings(max_examples=some(8), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_rows=st.sampled_from([1, 2, 3, 10, 60, 400]),
    most=st.integers(2, 6),
    has_target=st.booleans(),
)
def test_a_user_gets_the_same_ranks(
    order: Literal[3, 4], by: str, seed: int, n_rows: int, most: int, has_target: bool
) -> None:
    n_levels = np.random.default_rng(seed).integers(2, 3 if order == 4 else most + 1, 8).tolist()
    table = table_of(n_levels, n_rows, seed)
    target = "v0" if has_target and order == 3 else None
    ours, theirs = (
        scan(table, order=order, top=7, by=by, target=target, backend=lambda table, job, make=make: make(table))  # type: ignore[arg-type]
        for make in (on_mirror, lambda table: NumbaOracle(table, threads=1))
    )
    mine, others = ({one.variables: one for one in found.sets} for found in (ours, theirs))
    # Interactions are fitted many at a time, which may change the last bit: what ties with the last may differ.
    last = min(one.interaction if by == "interaction" else -inf for one in theirs.sets)
    tied = {
        v for v, one in {**mine, **others}.items() if by == "interaction" and one.interaction < last + 1e-12
    }
    assert set(mine) - tied == set(others) - tied
    assert len(mine) == len(others)
    for variables in set(mine) & set(others):
        assert mine[variables].total_correlation == others[variables].total_correlation  # to the bit
        assert mine[variables].interaction == pytest.approx(others[variables].interaction, abs=1e-12)
    assert ours.n_scanned == theirs.n_scanned


def test_buffers_grow_and_ranges_are_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sets reach the bar and nothing is lost: with a buffer of one set, and with no memory for many."""
    table = table_of([2] * 14, 100, seed=3)
    every = set(combinations(range(14), 3))
    monkeypatch.setattr(device_scan, "_FIRST_ROOM", 1)
    assert set(found_by(on_mirror(table), 3, -inf)) == every
    said: list[str] = []
    small = GpuOracle(table, Mirror(room=1200), lambda table: NumbaOracle(table, threads=1), said.append)
    assert set(found_by(small, 3, -inf)) == every
    assert said == ["the GPU cannot go on (TooMany); the processor does"]  # one variable alone begins too many


@pytest.mark.parametrize("n_screens", [0, 1, 3])
def test_where_the_device_fails_the_processor_goes_on(n_screens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_scan, "_WORK", 1.0)  # a range is one variable
    table = table_of([2] * 12, 200, seed=4)
    said: list[str] = []
    engine = Mirror(fails_after=n_screens)
    oracle = GpuOracle(table, engine, lambda table: NumbaOracle(table, threads=1), said.append)
    blocks = list(oracle.scan(3, lambda levels: 0.0))
    assert [first for block in blocks for first in block.firsts] == list(range(12))
    found = [tuple(chosen) for block in blocks for chosen in block.sets.tolist()]
    assert sorted(found) == sorted(found_by(NumbaOracle(table, threads=1), 3, 0.0))
    assert len(set(found)) == len(found)
    assert said == ["the GPU cannot go on (MemoryError); the processor does"]


def test_ctrl_c_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_scan, "_WORK", 1.0)
    blocks = on_mirror(table_of([2] * 10, 100, seed=5)).scan(3, lambda levels: 0.0)
    assert next(blocks).firsts == (0,)
    with pytest.raises(KeyboardInterrupt):
        blocks.throw(KeyboardInterrupt)  # type: ignore[attr-defined]


def tables_with(codes: NDArray[np.int32]) -> CategoricalTable:
    levels = tuple(tuple(range(r)) for r in (codes.max(axis=1) + 1).tolist())
    return CategoricalTable(tuple(f"v{v}" for v in range(len(codes))), levels, codes)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("bar", [-inf, 0.0, 0.01])
def test_constant_columns(measure: Measure, bar: float) -> None:
    codes = np.random.default_rng(6).integers(0, 2, (8, 90)).astype(np.int32)
    codes[2] = codes[5] = 0
    table = tables_with(codes)
    ours, theirs = (
        found_by(on_mirror(table), 3, bar, measure=measure),
        found_by(NumbaOracle(table, threads=1), 3, bar, measure=measure),
    )
    assert set(ours) == set(theirs)


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is there")
def test_without_cupy_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)  # as if it were not installed
    table = table_of([2] * 4, 20, seed=7)
    with pytest.raises(SettingsError, match=r'pip install "xordal\[gpu\]"'):
        select.oracle_for(table, backend="gpu")
    file = tmp_path / "t.csv"
    file.write_text("a,b,c\n" + "0,1,0\n1,1,0\n0,0,1\n" * 10)
    result = call(["scan", str(file), "--backend", "gpu"], cwd=tmp_path)
    assert result.returncode == 2
    assert 'python -m pip install "xordal[gpu]"' in result.stderr.decode()


def test_auto_takes_a_gpu_where_it_is_there_and_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of([2] * 4, 20, seed=8)
    monkeypatch.setattr(select, "_has_gpu", lambda: True)
    monkeypatch.setattr(select, "_gpu", lambda table, job: on_mirror(table))
    assert not isinstance(select.oracle_for(table), GpuOracle)
    assert isinstance(select.oracle_for(table, work=1e12), GpuOracle)
    monkeypatch.setattr(select, "_has_gpu", lambda: False)
    assert not isinstance(select.oracle_for(table, work=1e12), GpuOracle)
