"""Counting on a real cluster of processes: the same traces as on one machine, also when workers are killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.commands import call
from xordal.counting.dask import cluster as dask_cluster
from xordal.counting.dask import oracles, tasks
from xordal.counting.dask.backend import DaskBackend, connected
from xordal.counting.select import oracle_for
from xordal.data.large import read as large_read
from xordal.data.read import read_table
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError
from xordal.learning.learn import learn
from xordal.scanning import scan
from xordal.types.varsets import VarSet, varset

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


def a_table(n_rows: int, n_columns: int = 12, seed: int = 5) -> CategoricalTable:
    """Chains, parities that no pair shows, and noise, with two to five levels."""
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, 2 + v % 4, n_rows) for v in range(n_columns)]
    for v in range(1, n_columns, 4):
        columns[v] = np.where(draw.random(n_rows) < 0.7, columns[v - 1] % (2 + v % 4), columns[v])
    columns[3] = (columns[4] + columns[0]) % 2
    return CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})


@contextmanager
def started() -> Iterator[Any]:
    """Three worker processes on this machine."""
    with (
        distributed.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with started() as client:
        yield client


@pytest.fixture
def own_client() -> Iterator[Any]:
    """A cluster for a test that kills workers: Dask does not bring each of them back in time, or at all."""
    with started() as client:
        yield client


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of one block, so that a short table has many tasks."""
    monkeypatch.setattr(oracles, "_MOST_BLOCKS", 1)
    monkeypatch.setattr(oracles, "_HERE", 0)


def workers_of(client: Any) -> dict[str, int]:
    """The process of each worker, by its address."""
    return dict(client.run(os.getpid))


@pytest.mark.parametrize("split", ["rows", "sets"])
@pytest.mark.parametrize("how", [{}, {"max_variables": 4}], ids=["k = 3", "m = 4"])
def test_the_trace_is_that_of_one_machine(client: Any, small_blocks: None, split: Any, how: Any) -> None:
    table = a_table(700_000)  # three blocks
    expected = learn(table, backend="numba", **how)
    found = learn(table, backend=DaskBackend(client, split=split), **how)
    assert found.trace == expected.trace
    assert found.submodels == expected.submodels


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_the_number_of_workers_does_not_matter(n_workers: int) -> None:
    """A scan for the best few, in which many sets tie."""
    draw = np.random.default_rng(1)
    bits = draw.integers(0, 2, (10, 400))
    rows = np.concatenate([bits, bits[:6] ^ bits[4:10]])
    table = CategoricalTable.from_columns({f"b{v}": row.tolist() for v, row in enumerate(rows)})
    expected = scan(table, 3, 7, backend="numba")
    with connected(workers=n_workers) as backend:
        found = scan(table, 3, 7, backend=backend)
    assert found.sets == expected.sets


def test_a_weighted_table_and_another_inner_counter(client: Any) -> None:
    draw = np.random.default_rng(3)
    rows = [tuple(row) for row in draw.integers(0, 3, (60, 5)).tolist()]
    table = CategoricalTable.from_rows("abcde", rows, draw.integers(1, 9, 60).tolist())
    sets = [VarSet(mask) for mask in range(1, 32)]
    expected = oracle_for(table, backend="numpy").entropies(sets).tolist()
    for inner in ("blocks", "numpy", "numba"):
        backend = DaskBackend(client, split="rows", inner=inner)
        assert oracle_for(table, backend=backend).entropies(sets).tolist() == expected


def test_workers_are_known_while_the_client_hears_from_the_scheduler(client: Any) -> None:
    """Every two seconds it is told how many workers there are, and not which; here all the time."""
    cluster = dask_cluster.Cluster(client)
    expected, memory = cluster.workers(), cluster.memory()
    is_done = threading.Event()

    def hear() -> None:
        while not is_done.is_set():
            client.sync(client._update_scheduler_info)

    thread = threading.Thread(target=hear)
    thread.start()
    try:
        for _ in range(200):
            assert cluster.workers() == expected
            assert cluster.memory() == memory
    finally:
        is_done.set()
        thread.join()
    assert len(expected) == 3


def kill_one_when_busy(client: Any, what: str, killed: list[int]) -> threading.Thread:
    """Kill a worker, by the number of its process, as soon as it works on a task of that name."""
    pids = workers_of(client)

    def wait_and_kill() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and not killed:
            for address, keys in client.processing().items():
                if any(str(key).startswith(what) for key in keys) and address in pids:
                    os.kill(pids[address], signal.SIGKILL)
                    killed.append(pids[address])
                    return
            time.sleep(0.001)

    thread = threading.Thread(target=wait_and_kill)
    thread.start()
    return thread


@pytest.mark.parametrize(("split", "task"), [("rows", "count_range"), ("sets", "scan_range")])
def test_a_worker_is_killed_in_the_middle(own_client: Any, small_blocks: None, split: Any, task: str) -> None:
    """Nothing is lost and nothing counted twice: the trace is the same to the bit."""
    table = a_table(1_500_000)  # six blocks
    expected = learn(table, backend="numba").trace
    killed: list[int] = []
    own_client.wait_for_workers(3, timeout=60)
    thread = kill_one_when_busy(own_client, task, killed)
    found = learn(table, backend=DaskBackend(own_client, split=split)).trace
    thread.join()
    assert killed, "no worker was killed while it worked"
    assert found == expected
    own_client.wait_for_workers(2, timeout=60)
    assert killed[0] not in workers_of(own_client).values()


def test_a_task_that_dask_gives_up_is_asked_for_anew(own_client: Any, tmp_path: Path) -> None:
    """It kills its worker five times: once more than Dask allows."""
    counter = tmp_path / "deaths"
    counter.touch()
    found = list(dask_cluster.Cluster(own_client).answers([(deadly, str(counter), 5)]))
    assert found == ["done"]
    assert counter.stat().st_size == 5


def deadly(counter: str, deaths: int) -> str:
    """Kill the process that runs this, the first few times."""
    if Path(counter).stat().st_size < deaths:
        with Path(counter).open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_a_task_that_always_kills_is_refused(own_client: Any, tmp_path: Path) -> None:
    counter = tmp_path / "deaths"
    counter.touch()
    with pytest.raises(DataError, match="died again and again"):
        list(dask_cluster.Cluster(own_client).answers([(deadly, str(counter), 1000)]))


@pytest.mark.parametrize("split", ["rows", "sets"])
def test_a_scheduler_that_goes_away(small_blocks: None, split: Any) -> None:
    """As soon as the first tasks are under way, the cluster is closed."""
    table = a_table(700_000)
    with started() as client:
        backend = DaskBackend(client, split=split)

        def close_when_busy() -> None:
            until = time.monotonic() + 60
            while time.monotonic() < until and not any(client.processing().values()):
                time.sleep(0.001)
            client.cluster.close(timeout=10)

        thread = threading.Thread(target=close_when_busy)
        thread.start()
        with pytest.raises(DataError, match=r"scheduler has gone|no workers"):
            while True:
                learn(table, backend=backend, max_variables=4)
        thread.join()


def test_workers_that_do_not_see_the_folder_are_sent_the_table(own_client: Any) -> None:
    """Also workers that start later."""
    table = a_table(2000)
    cluster = dask_cluster.Cluster(own_client)
    place = cluster.share(table)
    cluster._send(place)
    hidden = replace(place, folder="/nowhere/" + Path(place.folder).name)
    sets = (varset([0, 1]), varset([2, 3, 4]))
    expected = [c.counts.tolist() for c in oracle_for(table, backend="numpy").counts(sets)]
    for _ in range(2):
        found = tasks.tables_in(cluster.sum([(tasks.count_range, hidden, 0, 1, sets, "blocks")]))
        assert [c.counts.tolist() for c in found] == expected
        for pid in workers_of(own_client).values():
            os.kill(pid, signal.SIGKILL)
        time.sleep(1)
        own_client.wait_for_workers(1, timeout=60)  # how many come back, and when, is up to Dask


def test_workers_never_count_data_that_have_changed(
    client: Any, small_blocks: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second table is packed into the folder of the first, which the workers have mapped and remember."""
    monkeypatch.setenv("XORDAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large_read, "_SMALL", 0)
    draw = np.random.default_rng(2)
    bits = draw.integers(0, 2, (6, 300_000))
    older = None
    for one in (0, 2):
        rows = [*bits[:5], bits[one] ^ bits[one + 1]]
        parquet.write_table(pa.table({f"v{v}": row for v, row in enumerate(rows)}), tmp_path / "t.parquet")
        table = read_table([tmp_path / "t.parquet"])
        expected = learn(table).trace
        assert expected[0].links == ((one, one + 1), (one, 5), (one + 1, 5))
        for split in ("rows", "sets"):
            assert learn(table, backend=DaskBackend(client, split=split)).trace == expected
        if older is not None:  # its folder holds another table by now
            found = learn(older[0], backend=DaskBackend(client, split="rows")).trace
            assert found == older[1]
        older = table, expected
    assert table.blocks is not None
    place = tasks.Place.of(table.blocks)
    other = replace(place, mark="another")
    with pytest.raises(DataError, match="made anew: its data have changed"):
        dask_cluster.Cluster(client).sum([(tasks.count_range, other, 0, 1, (varset([0]),), "blocks")])


def test_no_room_for_a_table_that_workers_are_to_map(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XORDAL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(DataError, match=r"cannot be written to .*XORDAL_CACHE"):
        learn(a_table(2000), backend=DaskBackend(client))


def test_the_command_line_on_processes_and_on_a_cluster(client: Any, tmp_path: Path) -> None:
    call(["generate", "music-box", "-n", "1000", "-o", "box.csv"], cwd=tmp_path)
    alone = call(["learn", "box.csv", "-q"], cwd=tmp_path)
    address = client.scheduler.address
    for more in (["--dask-workers", "2"], ["--dask-scheduler", address]):
        found = call(["learn", "box.csv", "-q", "--backend", "dask", *more], cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        assert found.stdout == alone.stdout


def test_wrong_usage(client: Any, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="DaskBackend needs a"):
        DaskBackend("tcp://127.0.0.1:8786")
    with pytest.raises(SettingsError, match="no Dask scheduler"), connected("tcp://127.0.0.1:1"):
        pass
    wrong: Any = "columns"
    with pytest.raises(SettingsError, match="split must be"):
        DaskBackend(client, split=wrong)
