"""Settings of all tests, and where real data lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("xordal", deadline=None, print_blob=True)  # timings belong to benchmarks/
settings.load_profile("xordal")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real data sets; tests that need it are skipped where it is absent."""
    folder = os.environ.get("XORDAL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("XORDAL_DATA names no folder of real data sets")
    return Path(folder)
