"""Many clients at once: the server keeps answering, nothing is lost or mixed, and its memory returns."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pytest

from tests.browser.live_server import Client, Served, served
from xordal.data.write import csv_text

pytestmark = pytest.mark.long

N_CLIENTS, N_RUNS = 20, 5
MEGABYTE = 2**20


def table(number: int) -> bytes:
    """Return a table that names its number: 60 columns, of which so many pairs depend on each other."""
    draw = np.random.default_rng(number)
    bits = draw.integers(0, 3, size=(60, 2000))
    for pair in range(5 + number):
        bits[2 * pair + 1] = np.where(draw.random(2000) < 0.5, bits[2 * pair], bits[2 * pair + 1])
    return csv_text([f"t{number}_{v}" for v in range(60)], bits.T.tolist()).encode()


def memory_of(process: int) -> float:
    """Return the resident memory of a process, in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def raw(server: Served, client: Client, path: str, headers: dict[str, str]) -> HTTPConnection:
    """Open a request whose answer, or whose body, is left to the caller."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest("POST", path)
    for name, value in {"origin": server.origin, "cookie": client.cookie, **headers}.items():
        connection.putheader(name, value)
    return connection


def watched(server: Served, client: Client, run: str) -> list[list[list[int]]]:
    """Follow the stream of a run to its end and return the links of its steps."""
    connection = raw(server, client, f"/api/runs/{run}/events", {"content-length": "0"})
    connection.endheaders()
    answer, steps = connection.getresponse(), []
    while line := answer.readline():
        event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
        if event.get("event") == "step":
            steps.append(event["links"])
        if event.get("status") in ("done", "failed"):
            break
    connection.close()
    return steps


def test_twenty_clients_and_five_runs(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        client = Client(server)
        warm = client.upload(table(0))
        client.ask("POST", f"/api/runs/{warm}/learn", b'{"max_links": 1}')
        client.wait(warm, "done")
        client.ask("POST", f"/api/runs/{warm}/ask", b'{"given": []}')
        before = memory_of(server.process.pid)
        runs = [client.upload(table(number)) for number in range(N_RUNS)]
        for run in runs:
            client.ask("POST", f"/api/runs/{run}/learn", b"{}")

        def one(number: int) -> tuple[int, list[list[list[int]]]]:
            for given in ("[]", "[[0, 1]]", "[[0, 1], [2, 0]]"):  # answered while all cores are busy
                client.ask("POST", f"/api/runs/{warm}/ask", f'{{"given": {given}}}'.encode())
                client.ask("GET", "/api/start")
            return number, watched(server, client, runs[number % N_RUNS])

        with ThreadPoolExecutor(N_CLIENTS + 4) as pool:
            told = list(pool.map(one, range(N_CLIENTS)))
        for number, steps in told:
            run = runs[number % N_RUNS]
            assert client.wait(run, "done", "failed")["status"] == "done"
            result = client.ask("GET", f"/api/runs/{run}/result")
            assert result["variables"][0]["name"] == f"t{number % N_RUNS}_0"
            assert [step["links"] for step in result["steps"]] == steps  # every client saw all of it
        for run in [*runs, warm]:
            client.ask("DELETE", f"/api/runs/{run}")
        assert memory_of(server.process.pid) < before + 60
        assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_or_breaks_off(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        client = Client(server)
        before = memory_of(server.process.pid)

        def zeros(n: int) -> Iterator[bytes]:
            for _ in range(n):
                yield bytes(MEGABYTE)

        for headers in ({"content-length": str(200 * MEGABYTE)}, {"transfer-encoding": "chunked"}):
            connection = raw(server, client, "/api/runs", headers)
            connection.endheaders(zeros(200), encode_chunked="transfer-encoding" in headers)
            answer = connection.getresponse()
            assert answer.status == 413 and b"larger than 100 MB" in answer.read()
            connection.close()
        for _ in range(20):  # uploads that break off, and streams that nobody reads any more
            connection = raw(server, client, "/api/runs", {"content-length": str(50 * MEGABYTE)})
            connection.endheaders(zeros(1))
            connection.close()
        run = client.upload(b"a,b,c\n" + b"0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 25)
        for _ in range(20):
            connection = raw(server, client, f"/api/runs/{run}/events", {"content-length": "0"})
            connection.endheaders()
            connection.getresponse().readline()
            connection.close()
        client.ask("POST", f"/api/runs/{run}/learn", b"{}")
        assert client.wait(run, "done", "failed")["status"] == "done"
        until = time.monotonic() + 10
        while len(list(tmp_path.iterdir())) > 1 and time.monotonic() < until:
            time.sleep(0.1)
        assert [path.name for path in tmp_path.iterdir()] == [run]
        assert memory_of(server.process.pid) < before + 60
