"""Files listed and read by the workers of a real cluster: the same table as one machine reads."""

from __future__ import annotations

import gzip
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.commands import call
from tests.contract.test_dask import kill_one_when_busy, started, workers_of
from xordal.counting.dask import reading
from xordal.counting.dask.backend import DaskBackend
from xordal.data.entering import table_from
from xordal.data.large import batches as large_batches
from xordal.data.large import read as large_read
from xordal.data.large.files import many_files
from xordal.data.read import read_table
from xordal.errors import DataError
from xordal.learning.learn import learn
from xordal.scanning import scan

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::xordal.errors.DataWarning"
    ),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with started() as client:
        yield client


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XORDAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large_read, "_SMALL", 0)


@pytest.fixture
def reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process opens no file of data; the workers are other processes."""

    def refuse(*given: Any) -> Any:
        raise AssertionError("the client reads a file itself")

    monkeypatch.setattr(large_batches.Files, "batches_of", refuse)
    monkeypatch.setattr(large_batches.Files, "stamp", refuse)


def some_rows(n_rows: int, seed: int) -> dict[str, list[Any]]:
    """Text, numbers and gaps; a parity that no pair shows."""
    draw = np.random.default_rng(seed)
    a, b = draw.integers(0, 2, (2, n_rows))
    text = np.array(["x", "y", "z", None], dtype=object)[draw.integers(0, 4, n_rows)]
    return {"a": a.tolist(), "b": b.tolist(), "c": (a ^ b).tolist(), "t": text.tolist()}


def a_lake(folder: Path, n_files: int = 4, n_rows: int = 3000) -> None:
    """Parquet files of several row groups in partitions; a level that only the last has."""
    for place in range(n_files):
        below = folder / f"year={2020 + place // 2}"
        below.mkdir(parents=True, exist_ok=True)
        rows = some_rows(n_rows, place)
        if place == n_files - 1:
            rows["t"][-1] = "late"
        parquet.write_table(pa.table(rows), below / f"{place}.parquet", row_group_size=700)


@pytest.mark.parametrize("missing", ["level", "drop"])
def test_workers_read_what_one_machine_reads(
    client: Any, tmp_path: Path, missing: Any, request: pytest.FixtureRequest
) -> None:
    a_lake(tmp_path / "lake")
    alone = learn(tmp_path / "lake", missing=missing, cache="off")
    request.getfixturevalue("reads_nothing")
    for _ in range(2):  # the second time from the cache
        found = learn(tmp_path / "lake", missing=missing, backend=DaskBackend(client))
        assert found.trace == alone.trace
        assert found.table.identity() == alone.table.identity()
    triples = scan(str(tmp_path / "lake" / "**" / "*.parquet"), missing=missing, backend=DaskBackend(client))
    assert triples.names(triples.sets[0].variables) == ("a", "b", "c")


def test_the_cache_is_shared_with_runs_without_a_cluster(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads_nothing: None
) -> None:
    a_lake(tmp_path / "lake")
    how: Any
    for how in ("time", "content"):
        learn(tmp_path / "lake", missing="level", cache=how, backend=DaskBackend(client))
    monkeypatch.undo()  # this process stamps, and still reads no row
    monkeypatch.setenv("XORDAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large_read, "gather", None)
    for how in ("time", "content"):
        assert table_from(tmp_path / "lake", missing="level", cache=how).n_rows == 12_000


def test_text_compressed_text_and_weights(client: Any, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "d").mkdir()
    for place in range(3):
        rows = some_rows(500, place)
        rows["n"] = np.random.default_rng(place).integers(0, 4, 500).tolist()
        lines = [
            ";".join(rows),
            *(";".join("" if v is None else str(v) for v in row) for row in zip(*rows.values(), strict=True)),
        ]
        (tmp_path / "d" / f"{place}.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    how: Any = {"weights": "n", "missing": "level"}
    alone = learn(tmp_path / "d", **how, cache="off")
    request.getfixturevalue("reads_nothing")
    found = learn(tmp_path / "d", **how, backend=DaskBackend(client))
    assert found.table.identity() == alone.table.identity()
    assert found.trace == alone.trace


def test_data_that_only_workers_see(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern, a folder and a file below the folder that the workers are in, and this process is not."""
    a_lake(tmp_path / "there" / "lake")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    before = Path.cwd()
    for source in ("lake", "lake/*/*.parquet", "lake/year=2020/0.parquet", ["lake/year=2021/2.parquet"]):
        with pytest.raises(DataError):
            learn(source, missing="level")
    client.run(os.chdir, str(tmp_path / "there"))
    try:
        found = {}
        for source in ("lake", "lake/*/*.parquet", "lake/year=2020/0.parquet", ["lake/year=2021/2.parquet"]):
            learned = learn(source, missing="level", backend=DaskBackend(client))
            found[str(source)] = learned.n_rows
            assert learned.variables == ("a", "b", "c", "t", "year")
        assert list(found.values()) == [12_000, 12_000, 3000, 3000]
        done = call(
            [
                "learn",
                "lake",
                "--backend",
                "dask",
                "--dask-scheduler",
                client.scheduler.address,
                "--missing",
                "level",
            ],
            cwd=tmp_path / "here",
        )
        assert done.returncode == 0, done.stderr
        assert b"12,000 rows" in done.stderr
        with pytest.raises(DataError, match=r"No file matches 'lakes/\*.parquet'"):
            learn("lakes/*.parquet", backend=DaskBackend(client))
        with pytest.raises(DataError, match="There is no file"):
            learn("none.csv", backend=DaskBackend(client))
    finally:
        client.run(os.chdir, str(before))


def test_files_that_workers_do_not_see_or_see_otherwise_are_read_here(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_lake(tmp_path / "lake")
    own = DaskBackend(client)
    assert isinstance(own.list_files(tmp_path / "lake", None), reading.FilesOnWorkers)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "_sizes", lambda files: [(1, 1) for _ in files])
        assert isinstance(own.list_files(tmp_path / "lake", None), large_batches.Files)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "1.csv").write_text("a,b\nx,y\n" * 100)
    assert isinstance(own.list_files(tmp_path / "text", None), reading.FilesOnWorkers)
    monkeypatch.setattr(reading, "LARGE", 400)
    assert isinstance(own.list_files(tmp_path / "text", None), large_batches.Files)
    assert isinstance(own.list_files(tmp_path / "lake", None), reading.FilesOnWorkers)
    (tmp_path / "small.csv").write_text("a,b\nx,y\n")
    assert own.list_files(tmp_path / "small.csv", None) is None
    assert own.list_files({"a": [1]}, None) is None
    assert own.list_files("-", None) is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda f: parquet.write_table(pa.table({"a": [1], "q": [1]}), f), "it lacks 'b', 'c', 't'"),
        (
            lambda f: f.write_bytes(f.read_bytes()[:400] + b"\xff" * 900 + f.read_bytes()[1300:]),
            "no complete Parquet",
        ),
        (lambda f: f.write_bytes(f.read_bytes()[:-9]), "no complete Parquet"),
        (
            lambda f: parquet.write_table(pa.table({**some_rows(9, 1), "c": ["no"] * 9}), f),
            "column 'c' holds text, but numbers in",
        ),
    ],
)
def test_errors_are_those_of_one_machine(client: Any, tmp_path: Path, change: Any, told: str) -> None:
    a_lake(tmp_path / "lake")
    change(tmp_path / "lake" / "year=2021" / "3.parquet")
    texts = []
    for backend in ("auto", DaskBackend(client)):
        with pytest.raises(DataError, match=rf"3\.parquet.*{told}") as raised:
            learn(tmp_path / "lake", missing="level", backend=backend)
        texts.append(str(raised.value))
    assert texts[0] == texts[1]
    assert not list((tmp_path / "cache").glob("*"))


def test_a_missing_value_is_told_with_its_file_and_row(client: Any, tmp_path: Path) -> None:
    """In the third of the row groups of its file."""
    (tmp_path / "lake").mkdir()
    for place in range(2):
        rows = some_rows(3000, place) | {"t": ["x", "y", "z"] * 1000}
        if place:
            rows["t"][1700] = None
        parquet.write_table(pa.table(rows), tmp_path / "lake" / f"{place}.parquet", row_group_size=700)
    with pytest.raises(DataError, match=r"1\.parquet, row 1,701, column 't'"):
        learn(tmp_path / "lake", missing="error", backend=DaskBackend(client))


def test_a_worker_is_killed_while_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is still read once."""
    monkeypatch.setattr(reading, "_ROWS_OF_A_PART", 20_000)
    (tmp_path / "lake").mkdir()
    for place in range(6):
        rows = some_rows(60_000, place)
        parquet.write_table(pa.table(rows), tmp_path / "lake" / f"{place}.parquet", row_group_size=20_000)
    expected = read_table(tmp_path / "lake", missing="level", cache="off").identity()
    with started() as client:
        client.wait_for_workers(3, timeout=60)
        killed: list[int] = []
        thread = kill_one_when_busy(client, "read_part", killed)
        while thread.is_alive():
            source = DaskBackend(client).list_files(tmp_path / "lake", None)
            assert read_table(source, missing="level", cache="off").identity() == expected
        assert killed, "no worker was killed while it read"
        client.wait_for_workers(2, timeout=60)
        assert killed[0] not in workers_of(client).values()


def test_no_more_is_under_way_than_workers_are_busy_with(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else all rows would wait in the memory of workers for a client that packs more slowly than they read."""
    monkeypatch.setattr(reading, "_ROWS_OF_A_PART", 100)
    (tmp_path / "lake").mkdir()
    parquet.write_table(pa.table(some_rows(8000, 1)), tmp_path / "lake" / "0.parquet", row_group_size=100)
    files = DaskBackend(client).list_files(tmp_path / "lake", None)
    assert files is not None
    taken = files.batches(["a", "t"])
    rows = next(taken).n_rows
    until = time.monotonic() + 60
    while time.monotonic() < until and any(client.processing().values()):
        time.sleep(0.1)
    assert 0 < sum(map(len, client.has_what().values())) <= reading._AHEAD * 3
    assert rows + sum(batch.n_rows for batch in taken) == 8000


def test_the_search_for_files_ends_with_the_scheduler(tmp_path: Path) -> None:
    a_lake(tmp_path / "lake")
    with started() as client:
        backend = DaskBackend(client)
        threading.Timer(0.5, lambda: client.cluster.close(timeout=10)).start()
        until = time.monotonic() + 60
        with pytest.raises(DataError, match=r"scheduler has gone|no workers"):
            while time.monotonic() < until:
                learn(tmp_path / "lake", missing="level", cache="off", backend=backend)


def test_ctrl_c_while_workers_read(tmp_path: Path) -> None:
    """On processes of this machine: nothing is left, and no traceback."""
    import subprocess
    import sys

    a_lake(tmp_path / "lake", 40, 30_000)
    command = [sys.executable, "-m", "xordal", "learn", "lake", "--missing", "level", "--backend", "dask"]
    run = subprocess.Popen(
        [*command, "--dask-workers", "2"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    cache = tmp_path / "cache"
    until = time.monotonic() + 60
    while time.monotonic() < until and not list(cache.glob(".*/numbers/*")):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert run.returncode == 130
    assert b"Traceback" not in told
    assert list(cache.iterdir()) == []


def test_the_files_of_a_list_are_those_of_one_machine(client: Any, tmp_path: Path) -> None:
    a_lake(tmp_path / "lake")
    paths = sorted((tmp_path / "lake").rglob("*.parquet"), reverse=True)
    found = DaskBackend(client).list_files(paths, None)
    assert found is not None
    assert found.files == many_files(paths)
