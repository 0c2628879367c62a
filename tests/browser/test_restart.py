"""The server is killed and started again: finished work is there, a search that was under way goes on."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from tests.browser.live_server import Client, Served, served
from xordal.data.write import csv_text

pytestmark = pytest.mark.slow


def table() -> bytes:
    """Return a table that takes some seconds: 150 columns in pairs, and exclusive-ors among them."""
    draw = np.random.default_rng(5)
    bits = draw.integers(0, 3, size=(150, 3000))
    for v in range(0, 150, 3):
        bits[v + 1] = np.where(draw.random(3000) < 0.4, bits[v], bits[v + 1])
    return csv_text([f"x{v}" for v in range(150)], bits.T.tolist()).encode()


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT], ids=["kill", "Ctrl-C"])
def test_ended_in_the_middle_and_started_again(tmp_path: Path, ended_by: signal.Signals) -> None:
    with served(tmp_path) as server:
        client = Client(server)
        small = client.upload(b"a,b,c\n" + b"0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 25)
        client.ask("POST", f"/api/runs/{small}/learn", b"{}")
        client.wait(small, "done")
        finished = client.ask("GET", f"/api/runs/{small}/result")
        large = client.upload(table())
        client.ask("POST", f"/api/runs/{large}/learn", b"{}")
        checkpoint = tmp_path / large / "checkpoint"
        until = time.monotonic() + 180
        while not checkpoint.exists() or checkpoint.read_bytes().count(b'"entry"') < 3:
            assert time.monotonic() < until
            time.sleep(0.02)
        if ended_by == signal.SIGINT:
            os.killpg(server.process.pid, ended_by)  # as a terminal does, to all that run in it
        else:
            server.process.kill()
        server.process.wait(timeout=30)
    before = checkpoint.read_bytes().count(b'"entry"')
    assert not (tmp_path / large / "result.json").exists()
    with served(tmp_path) as server:
        client = Client(server)
        assert client.ask("GET", f"/api/runs/{small}/result") == finished
        assert client.wait(large, "done", "failed")["status"] == "done"
        assert len(client.ask("GET", f"/api/runs/{large}/result")["steps"]) >= max(before, 40)
        assert not checkpoint.exists()


def test_a_process_that_dies_is_told_of(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        client = Client(server)
        run, workers = learning(server, client, tmp_path)
        os.kill(workers[0], signal.SIGKILL)
        told = client.wait(run, "failed", "done")
        assert told["status"] == "failed" and "memory" in told["failed"]
        client.ask("POST", f"/api/runs/{run}/learn", b'{"max_links": 1}')  # and can be tried again
        assert client.wait(run, "failed", "done")["status"] == "done"


def learning(server: Served, client: Client, folder: Path) -> tuple[str, list[int]]:
    """Begin to learn; return the run and the processes that work on it."""
    run = client.upload(table())
    client.ask("POST", f"/api/runs/{run}/learn", b"{}")
    workers: list[int] = []
    while not workers:
        assert client.wait(run, "learning", "done")["status"] == "learning"
        workers = workers_of(server, folder / run)
    return run, workers


def workers_of(server: Served, folder: Path) -> list[int]:
    """Return the children of the server that hold a file of the run open."""
    found = []
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for child in children:
        try:
            opened = [str(link.readlink()) for link in Path(f"/proc/{child}/fd").iterdir()]
        except OSError:
            continue
        if any(name.startswith(str(folder)) for name in opened):
            found.append(int(child))
    return found


def limit_files(process: int, most: int) -> None:
    """Let a process write no file beyond so many bytes: to it, the disk is full from then on."""
    resource.prlimit(process, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def test_a_full_disk_is_told_of_and_leaves_nothing_behind(tmp_path: Path) -> None:
    rows = b"a,b,c\n" + b"0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 25
    with served(tmp_path) as server:
        client = Client(server)
        there = client.upload(rows)
        for most in (100_000, 0):  # the upload does not fit; not even the label of a run does
            limit_files(server.process.pid, most)
            for path in ("/api/runs", "/api/samples/check-digit"):
                status, told = client.refused("POST", path, rows * 2000)
                assert status == 507 and "The disk is full" in told
        status, told = client.refused("POST", f"/api/runs/{there}/again")
        assert status == 507
        assert [path.name for path in tmp_path.iterdir()] == [there]
        limit_files(server.process.pid, resource.RLIM_INFINITY)
        client.ask("POST", f"/api/runs/{there}/learn", b"{}")
        assert client.wait(there, "done", "failed")["status"] == "done"


def test_a_disk_that_fills_while_a_run_learns(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        client = Client(server)
        run, workers = learning(server, client, tmp_path)
        for process in (server.process.pid, *workers):
            limit_files(process, 0)
        told = client.wait(run, "failed", "done")
        assert told["status"] == "failed" and "The disk is full" in told["failed"]
        limit_files(server.process.pid, resource.RLIM_INFINITY)
        client.ask("POST", f"/api/runs/{run}/learn", b'{"max_links": 1}')  # and can be tried again
        assert client.wait(run, "failed", "done")["status"] == "done"


def test_a_run_whose_folder_was_taken_away_is_not_here(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        client = Client(server)
        run = client.upload(b"a,b\n0,1\n1,0\n")
        shutil.rmtree(tmp_path / run)
        for method, path in (("POST", "learn"), ("POST", "again"), ("GET", "result"), ("POST", "ask")):
            status, told = client.refused(method, f"/api/runs/{run}/{path}", b"{}")
            assert status == 404 and "may have been removed" in told
        client.ask("DELETE", f"/api/runs/{run}")
        assert client.ask("GET", "/api/start")["runs"] == []
