"""The backend follows the size of the problem, and small ones never load the kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Any

import numpy as np
import pytest

from xordal import Limits, MultiLinkSearch, learn, scan
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CellCounts
from xordal.counting.plain import CountingOracle
from xordal.counting.select import BACKENDS, CountingJob, oracle_for, seconds_of_numpy
from xordal.counting.threads import in_threads, interruptible, n_threads
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError
from xordal.pi.zoo import music_box
from xordal.types.varsets import VarSet, members


def random_table(n_columns: int, n_rows: int) -> CategoricalTable:
    codes = np.random.default_rng(0).integers(0, 2, (n_columns, n_rows)).astype(np.int32)
    return CategoricalTable(tuple(f"v{v}" for v in range(n_columns)), ((0, 1),) * n_columns, codes)


def test_kernels_that_are_loaded_are_used_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    table, work = random_table(8, 2000), 0.1 / seconds_of_numpy(random_table(8, 2000), 1)
    assert isinstance(oracle_for(table, work=work), NumbaOracle)
    monkeypatch.delitem(sys.modules, "xordal.counting.cpu_numba")
    assert isinstance(oracle_for(table, work=work), CountingOracle)


def test_small_problems_are_counted_by_numpy() -> None:
    assert isinstance(oracle_for(random_table(8, 2000)), CountingOracle)
    assert isinstance(oracle_for(random_table(8, 2000), work=10**6, backend="numpy"), CountingOracle)


@pytest.mark.parametrize("backend", ["numba", "auto"])
def test_large_ones_by_kernels(backend: str) -> None:
    assert isinstance(oracle_for(random_table(8, 2000), work=10**6, backend=backend), NumbaOracle)


def test_more_sets_and_more_rows_are_more_work() -> None:
    small, long, wide = random_table(5, 100), random_table(5, 10_000), random_table(50, 100)
    assert seconds_of_numpy(small) < min(seconds_of_numpy(long), seconds_of_numpy(wide))
    assert seconds_of_numpy(small, 100) == pytest.approx(10 * seconds_of_numpy(small, 10))


class ByHand:
    """A backend of one's own: it counts the rows one by one, and keeps what it was told."""

    def __init__(self) -> None:
        self.jobs: list[CountingJob] = []

    def __call__(self, table: CategoricalTable, job: CountingJob) -> ByHand:
        self.jobs.append(job)
        self._rows = table.codes.T.tolist()
        return self

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        return [self._counted(members(variables)) for variables in sets]

    def _counted(self, variables: tuple[int, ...]) -> CellCounts:
        counted = sorted(Counter(tuple(row[v] for v in variables) for row in self._rows).items())
        cells = np.array([cell for cell, _ in counted], dtype=np.int64).reshape(len(counted), len(variables))
        return CellCounts(cells, np.array([count for _, count in counted], dtype=np.int64))


BOX = music_box().joint.sample_table(300, seed=3)


def test_a_backend_of_ones_own_learns_and_scans_the_same() -> None:
    """One that only counts is enough; it is told the threads and about how many sets will be counted."""
    own = ByHand()
    learned = learn(BOX, backend=own, limits=Limits(threads=2))
    assert learned.trace == learn(BOX).trace and learned.submodels == learn(BOX).submodels
    assert [(job.threads, (job.n_sets or 0) > 50) for job in own.jobs] == [(2, True)]
    assert scan(BOX, backend=own).sets == scan(BOX).sets
    fitted = MultiLinkSearch(backend=own).fit(BOX)
    assert fitted.trace_ == learned.trace and len(own.jobs) == 3


def test_a_backend_may_do_all_of_it_itself() -> None:
    asked: list[int] = []

    class Watched(NumbaOracle):
        def scan(self, order: int, *args: Any, **named: Any) -> Iterator[Any]:
            asked.append(order)
            return super().scan(order, *args, **named)

    assert learn(BOX, backend=lambda table, job: Watched(table)).trace == learn(BOX).trace
    assert {2, 3} <= set(asked)


@pytest.mark.parametrize("name", sorted(BACKENDS.keys() - {"gpu", "dask"}))  # they have suites of their own
def test_every_named_backend_learns_the_same(name: str) -> None:
    assert learn(BOX, backend=name).trace == learn(BOX, backend="numpy").trace
    assert scan(BOX, 2, backend=name).sets == scan(BOX, 2, backend="numpy").sets


def test_what_is_no_backend() -> None:
    wrong: Any
    for wrong in (7, None, NumpyCounter(BOX)):
        with pytest.raises(
            SettingsError, match=f"must be one of {', '.join(BACKENDS)}, or something to be called"
        ):
            learn(BOX, backend=wrong)
    with pytest.raises(SettingsError, match=r"one with a method counts\(sets\); .* returned a str"):
        wrong = lambda table, job: "counted"  # noqa: E731
        learn(BOX, backend=wrong)
    with pytest.raises(SettingsError, match="no rows to count"):
        learn(music_box().joint, backend="numpy")
    assert learn(music_box().joint, backend="auto").links


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(SettingsError, match=f"Unknown backend 'nunba'; the backends are {', '.join(BACKENDS)}"):
        oracle_for(random_table(2, 2), backend="nunba")


def test_threads() -> None:
    assert n_threads(3) == 3
    assert n_threads(None) >= 1
    with pytest.raises(SettingsError, match="at least 1, not 0"):
        n_threads(0)


@pytest.mark.parametrize("helps", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_answers_come_in_order_and_errors_come_through(threads: int, helps: bool) -> None:
    assert list(in_threads(threads, lambda x: x * x, range(50), helps=helps)) == [x * x for x in range(50)]
    answers = in_threads(threads, lambda x: 1 // x, [2, 1, 0, 1], helps=helps)
    assert [next(answers), next(answers)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(answers)


def test_who_asks_works_too_where_it_helps() -> None:
    """One other thread is held up by the first task; the second is done by the caller, or neither would end."""
    second_done, threads = Event(), []

    def run(x: int) -> bool:
        threads.append(current_thread())
        if current_thread() is main_thread():
            second_done.set()
        return second_done.wait(timeout=60)

    assert list(in_threads(2, run, range(2), helps=True)) == [True, True]
    assert main_thread() in threads


def test_threads_are_kept_and_do_not_come_along_into_a_fork() -> None:
    used = {thread for _ in range(5) for thread in in_threads(2, lambda x: current_thread(), range(20))}
    assert len(used) <= 2
    if hasattr(os, "fork"):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # that a process with threads forks is the point
            child = os.fork()
        if child == 0:
            status = 1
            try:
                status = int(list(in_threads(2, abs, range(5))) != list(range(5)))
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0


def test_ctrl_c_within_a_kernel_is_an_interruption() -> None:
    """Numba's dispatcher returns a result with the exception set, which Python reports as a SystemError."""
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    with pytest.raises(SystemError, match="another"), interruptible():
        raise SystemError("another one")


def test_few_answers_wait() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for x in range(100):
            taken.append(x)
            yield x

    answers = in_threads(2, abs, tasks())
    assert next(answers) == 0
    assert len(taken) <= 5
    assert list(answers) == list(range(1, 100))


PROGRAM = """
import numpy as np
from xordal.counting import select
from xordal.data.table import CategoricalTable
codes = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0]], dtype=np.int32)
table = CategoricalTable(("a", "b", "c"), ((0, 1),) * 3, codes)
notices = []
oracle = select.oracle_for(table, backend="numba", threads=1, notice=notices.append)
print(len(notices), [block.sets.tolist() for block in oracle.scan(2, lambda levels: 0.1)])
"""


ONE_KERNEL = "import numpy as np\nfrom xordal.search._masks import lowest\nprint(lowest(np.uint64(8)))"


@pytest.mark.slow
def test_kernels_are_announced_once_and_work_without_a_cache(tmp_path: Path) -> None:
    """A cache that cannot be written is no failure; one that can is used by the next process."""

    def run(folder: str, program: str = PROGRAM) -> str:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        assert done.stderr == ""
        return done.stdout.strip()

    none_found = "[[]]"
    assert run(str(tmp_path / "cache")) == f"1 {none_found}"
    assert run(str(tmp_path / "cache")) == f"0 {none_found}"
    (tmp_path / "file").write_text("not a folder")
    assert run(str(tmp_path / "file" / "cache"), ONE_KERNEL) == "3"


def test_kernels_are_compiled_where_no_folder_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    from xordal.counting import _jit

    compile_it = numba.njit

    def njit(function: Any, *, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_it(function, **options)

    def double(x: int) -> int:
        return 2 * x

    monkeypatch.setattr(numba, "njit", njit)
    kernel = _jit.kernel(double)
    assert _jit.is_compiled(kernel) == bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
    assert kernel(21) == 42
    assert _jit.is_compiled(kernel)


def test_tasks_under_way_are_told_to_give_up() -> None:
    """Ctrl-C must not wait for what a long task would still do."""
    given_up = Event()

    def run(x: int) -> bool:
        return x == 0 or given_up.wait(timeout=60)

    answers = in_threads(2, run, range(3), given_up.set)
    assert next(answers)
    answers.close()
    assert given_up.is_set()
