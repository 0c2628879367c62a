"""Settings of all tests, where real data lie, and the browser that looks at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.examples import some

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# No deadline: timings belong to benchmarks/.
settings.register_profile("xordal", deadline=None, print_blob=True, max_examples=some(100))
settings.load_profile("xordal")

# Processes of pytest-xdist are told the width of a terminal they do not write to; commands would wrap at it.
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session", autouse=True)
def cache_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep packed tables of tests, and `xordal cache --clear` of examples, away from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XORDAL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real data sets; tests that need it are skipped where it is absent."""
    folder = os.environ.get("XORDAL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("XORDAL_DATA names no folder of real data sets")
    return Path(folder)


BROWSER_FLAGS = [
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
    """Start Debian's chromium, or the browser that CHROMIUM names, once for all tests.

    Without one the tests that need it are skipped, or fail where REQUIRE_BROWSER is 1.
    """
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if executable is None:
        told = "no browser: sudo apt-get install chromium, or set CHROMIUM to the path of one"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(told)
        pytest.skip(told)

    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=BROWSER_FLAGS)
        yield started
        started.close()
