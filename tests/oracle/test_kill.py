"""A checkpointed run that is killed at random moments, again and again, ends with the same trace."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.test_engines import planted
from xordal import CategoricalTable
from xordal.data.write import csv_text

LEARN = [sys.executable, "-m", "xordal", "learn", "t.csv", "--json"]
PAPER = ["-k", "4", "--delta-h", "0.02"]


def finished(process: subprocess.Popen[str], within: float | None) -> str | None:
    """Return what a run printed; None if it was killed."""
    try:
        out, _ = process.communicate(timeout=within)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        if process.returncode == -signal.SIGKILL:
            return None  # and not a run that ended by itself between the two lines above
    assert process.returncode == 0
    return out


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*LEARN, *more], cwd=folder, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize(
    "n_kills", [pytest.param(6, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.long)]
)
def test_killed_again_and_again(tmp_path: Path, n_kills: int) -> None:
    kill(tmp_path, planted(16, 400, seed=1), PAPER, n_kills)


@pytest.mark.slow
def test_killed_during_a_local_search(tmp_path: Path) -> None:
    whole = kill(tmp_path, planted(20, 300, seed=1), ["--bic"], 8)
    assert {entry.get("sequence", 0) for entry in whole["trace"]} >= {0, 1, 3}


def kill(tmp_path: Path, table: CategoricalTable, options: list[str], n_wanted: int) -> dict[str, Any]:
    """Kill a run so many times and compare; return what it prints when it is left alone."""
    (tmp_path / "t.csv").write_text(csv_text(table.names, table.rows()))
    began = time.monotonic()
    whole: dict[str, Any] = json.loads(finished(start(tmp_path, *options), None) or "")
    duration = time.monotonic() - began
    moments = random.Random(11)
    run = tmp_path / "run.jsonl"
    n_kills = n_ended = 0
    options = [*options, "--checkpoint", "run.jsonl", "--resume"]
    while n_kills < n_wanted:
        out = finished(start(tmp_path, *options), moments.uniform(0.1, 1.0) * duration)
        if out is None:
            n_kills += 1
        else:
            n_ended += 1
            assert json.loads(out)["trace"] == whole["trace"]
            run.unlink()
    out = finished(start(tmp_path, *options), None)
    assert json.loads(out or "")["trace"] == whole["trace"]
    return whole


@pytest.mark.slow
def test_sigterm_prints_the_network_so_far(tmp_path: Path) -> None:
    table = planted(40, 300, seed=2)
    (tmp_path / "t.csv").write_text(csv_text(table.names, table.rows()))
    process = start(tmp_path, *PAPER, "--checkpoint", "run.jsonl")
    while not (tmp_path / "run.jsonl").exists() or b'"entry"' not in (tmp_path / "run.jsonl").read_bytes():
        time.sleep(0.02)
        assert process.poll() is None
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err
    learned = json.loads(out)
    assert learned["stopped_by"] == "interruption"
    assert learned["trace"]
    assert "--checkpoint run.jsonl --resume" in err
