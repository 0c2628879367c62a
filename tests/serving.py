"""The live page for tests: the application behind its gate, asked as the page asks it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from xordal.web.app import Site, make_app
from xordal.web.gate import Keys
from xordal.web.store import Store

HOST = "127.0.0.1:8765"
OWN = f"http://{HOST}"


def application(folder: Path, keys: Keys | None = None, most_bytes: int = 2**20) -> Starlette:
    """Return the application with its runs in a folder."""
    return make_app(Site(Store(folder), most_bytes), keys or Keys(), [OWN])


class Page:
    """What a browser with the page open can do."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: object = None, code: int = 200) -> Any:
        answer = self.client.post(path, json=body, headers={"origin": OWN})
        assert answer.status_code == code, answer.text
        return answer.json()

    def upload(self, name: str, data: bytes, code: int = 201) -> Any:
        headers = {"origin": OWN, "x-file-name": name}
        answer = self.client.post("/api/runs", content=data, headers=headers)
        assert answer.status_code == code, answer.text
        return answer.json()

    def wait(self, run: str, *statuses: str, seconds: float = 180.0) -> Any:
        """Wait until a run is that far; fail where it is not in some minutes."""
        until = time.monotonic() + seconds
        while (told := self.get(f"/api/runs/{run}"))["status"] not in statuses:
            assert time.monotonic() < until, told
            time.sleep(0.05)
        return told


@contextmanager
def entered(folder: Path, most_bytes: int = 2**20) -> Iterator[Page]:
    """Start the application and enter it by its token, as a browser does."""
    keys = Keys()
    with TestClient(application(folder, keys, most_bytes), base_url=OWN) as client:
        assert client.get("/", params={"token": keys.token}).status_code == 200
        yield Page(client)
