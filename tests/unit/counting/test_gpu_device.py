"""What only a real GPU can show: `make test-gpu` runs these where there is one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.unit.counting.test_gpu import MEASURES, found_by, table_of
from xordal import ScanInterrupted, scan
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.gpu import scan as device_scan
from xordal.counting.oracle import Measure
from xordal.data.table import CategoricalTable

pytestmark = pytest.mark.skipif(not os.environ.get("XORDAL_TEST_GPU"), reason="XORDAL_TEST_GPU is not set")


def on_gpu(table: CategoricalTable, said: list[str] | None = None) -> Any:
    from xordal.counting.gpu.cupy_engine import CupyEngine
    from xordal.counting.gpu.oracle import GpuOracle

    notice = (lambda line: None) if said is None else said.append
    return GpuOracle(table, CupyEngine(), lambda table: NumbaOracle(table, threads=1), notice)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("shape", [(2, True), (3, True), (3, False), (2, False), (1, True), (1, False)])
@pytest.mark.parametrize(
    ("n_columns", "n_rows", "bar"), [(60, 300, 0.05), (140, 1_100, 0.02), (33, 9_000, 0.001)]
)
def test_every_shape_of_a_block_of_sets_of_four(
    shape: tuple[int, bool],
    n_columns: int,
    n_rows: int,
    bar: float,
    measure: Measure,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from xordal.counting.gpu import cupy_engine

    kept_or_streamed = (
        shape,
        (shape[0], not shape[1]),
    )  # what does not fit is streamed, or the other way round
    monkeypatch.setattr(cupy_engine, "_SHAPES_OF_FOURS", kept_or_streamed)
    table = table_of([2] * n_columns, n_rows, seed=n_rows)
    ours, theirs = (
        {chosen: value for chosen, value in found_by(oracle, 4, bar, measure=measure).items() if value > bar}
        for oracle in (on_gpu(table), NumbaOracle(table))
    )
    assert set(ours) == set(theirs)
    assert ours == pytest.approx(theirs, abs=1e-6)


@contextmanager
def memory_up_to(n_bytes: int) -> Iterator[None]:
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=n_bytes)
    try:
        yield
    finally:
        pool.set_limit(size=0)


@pytest.mark.parametrize(("order", "n_bytes"), [(3, 2_000_000), (4, 12_000_000)])
def test_without_memory_the_processor_goes_on(
    order: int, n_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room for the table, and not for measuring all that is found."""
    monkeypatch.setattr(device_scan, "_FIRST_ROOM", 1 << 10)
    monkeypatch.setattr(device_scan, "_WORK", 1e7)
    table = table_of([2] * 60, 500, seed=1)
    theirs = found_by(NumbaOracle(table), order, -1.0)
    said: list[str] = []
    with memory_up_to(n_bytes):
        ours = found_by(on_gpu(table, said), order, -1.0)
    assert set(ours) == set(theirs)
    assert len(said) == 1 and said[0].startswith("the GPU cannot")


LOST = """
import cupy
from tests.unit.counting.test_gpu import found_by, table_of
from tests.unit.counting.test_gpu_device import on_gpu
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.gpu import scan as device_scan
from xordal.counting.gpu.cupy_engine import CupyEngine

device_scan._WORK = 2e6
screen, n_calls = CupyEngine.screen, 0

def failing(engine, job, room):
    global n_calls
    n_calls += 1
    if n_calls == 3:  # an address that is none: from then on the device answers nothing but errors
        source = 'extern "C" __global__ void bad(int *p) { p[0] = 1; }'
        cupy.RawKernel(source, "bad")((1,), (1,), (cupy.uint64(64),))
    return screen(engine, job, room)

CupyEngine.screen = failing
table, said = table_of([2] * 60, 500, seed=1), []
ours, theirs = found_by(on_gpu(table, said), 3, 0.01), found_by(NumbaOracle(table), 3, 0.01)
assert set(ours) == set(theirs), (len(ours), len(theirs))
assert len(said) == 1 and said[0].startswith("the GPU cannot go on"), said
print("went on")
"""


def test_where_the_device_is_lost_the_processor_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, timeout=300, check=False
    )
    assert "went on" in done.stdout, done.stderr[-2_000:]


def test_ctrl_c_keeps_what_was_found() -> None:
    generator = np.random.default_rng(2)
    codes = generator.integers(0, 2, (3_000, 8_000)).astype(np.int32)
    codes[-1] = codes[0] ^ codes[1]
    table = CategoricalTable(tuple(f"v{v}" for v in range(3_000)), ((0, 1),) * 3_000, codes)
    scan(table, order=3, top=5, backend="gpu")  # kernels are compiled now

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def on_progress(progress: Any) -> None:  # the rest of the scan is to come
        if 0 < progress.n_scanned < progress.n_sets:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(ScanInterrupted) as caught:
            scan(table, order=3, top=5, backend="gpu", on_progress=on_progress)
    finally:
        signal.signal(signal.SIGINT, before)
    found = caught.value.scanned
    assert 0 < found.n_scanned < found.n_sets
    assert found.names(found.sets[0].variables) == ("v0", "v1", "v2999")
