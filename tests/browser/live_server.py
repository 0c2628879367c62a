"""The live page as people start it: a process of its own, found by the address that it prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class Served:
    """A running ``xordal serve``."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "xordal", "serve", "--no-browser", "--folder", str(folder), *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        assert self.process.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", self.process.stderr.readline())
        assert found is not None
        self.address, self.port = found[0], int(found[1])
        self.origin = f"http://127.0.0.1:{self.port}"


class Client:
    """A browser of few words: it enters by the token and keeps the cookie."""

    def __init__(self, server: Served) -> None:
        self._server = server
        split = urlsplit(server.address)
        answer = self._asked("GET", f"{split.path}?{split.query}", None, {})
        assert answer[0] == 200
        self.cookie = str(answer[2]).split(";")[0]

    def _asked(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, Any]:
        connection = HTTPConnection("127.0.0.1", self._server.port, timeout=120)
        connection.request(method, path, body, {"origin": self._server.origin, **headers})
        answer = connection.getresponse()
        told = answer.status, answer.read(), answer.getheader("set-cookie")
        connection.close()
        return told

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Return the JSON that the server answers with."""
        headers = {"cookie": self.cookie, "x-file-name": "table.csv"}
        status, told, _ = self._asked(method, path, body, headers)
        assert status in (200, 201), told
        return json.loads(told)

    def refused(self, method: str, path: str, body: bytes | None = None) -> tuple[int, str]:
        """Return the status and the words of an answer that says no."""
        status, told, _ = self._asked(method, path, body, {"cookie": self.cookie})
        return status, json.loads(told)["error"]

    def upload(self, data: bytes) -> str:
        """Upload a table, wait until it was looked at, and return its run."""
        run = str(self.ask("POST", "/api/runs", data)["id"])
        self.wait(run, "looked")
        return run

    def wait(self, run: str, *statuses: str) -> Any:
        """Wait until a run is that far."""
        until = time.monotonic() + 180
        while (told := self.ask("GET", f"/api/runs/{run}"))["status"] not in statuses:
            assert time.monotonic() < until, told
            time.sleep(0.05)
        return told


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[Served]:
    """Start the server on any free port, and end it."""
    server = Served(folder, "--port", "0", *arguments)
    try:
        yield server
    finally:
        server.process.terminate()
        try:
            server.process.wait(20)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()
        assert server.process.stderr is not None
        server.process.stderr.close()
