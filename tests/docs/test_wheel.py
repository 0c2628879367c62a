"""The wheel: built, installed apart from the checkout, and used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import xordal

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_a_wheel_is_built_installed_and_used(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    built, site = tmp_path / "built", tmp_path / "site"
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", str(built), str(ROOT)], check=True, cwd=tmp_path)
    (wheel,) = built.glob("xordal-*.whl")
    assert wheel.name.startswith(f"xordal-{xordal.__version__}-py3-none-any")
    install = [*pip, "install", "-q", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True, cwd=tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert Path(run(sys.executable, "-c", "import xordal; print(xordal.__file__)").strip()).is_relative_to(site)
    assert run(str(site / "bin" / "xordal"), "--version") == f"xordal {xordal.__version__}\n"
    # What is no Python must be in it too: templates, scripts, tables of the demos.
    run(sys.executable, "-m", "xordal", "demo", "epistasis", "-o", "page.html")
    assert "The strongest hidden group" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (site / "xordal" / "py.typed").exists()
