"""A real browser: Debian's chromium, or the one that CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser once; without one the tests are skipped, or fail where REQUIRE_BROWSER is 1."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if executable is None:
        told = "no browser: sudo apt-get install chromium, or set CHROMIUM to the path of one"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(told)
        pytest.skip(told)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield started
        started.close()
