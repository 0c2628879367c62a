"""A reader that goes away is no error, and costs no file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each starts a process

TABLE = "a,b,c\n" + "0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 30


def piped(command: list[str], cwd: Path) -> tuple[int, str]:
    """Run a command whose reader has gone before it begins to write."""
    program = [sys.executable, "-m", "xordal", *command]
    with subprocess.Popen(program, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = process.stderr.read().decode()
        return process.wait(), told


@pytest.mark.parametrize("more", [[], ["--json"], ["-q"]])
def test_the_network_is_written_though_nobody_reads(tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    code, told = piped(["learn", "t.csv", "-o", "net.json", *more], tmp_path)
    assert code == 0, told
    assert '"c"' in (tmp_path / "net.json").read_text()
    assert "Error" not in told


@pytest.mark.parametrize(
    "command", [["learn", "t.csv"], ["scan", "t.csv"], ["generate", "music-box", "-n", "9"]]
)
def test_without_a_file_the_command_ends_quietly(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    code, told = piped(command, tmp_path)
    assert code == 0
    assert "Error" not in told
    assert "Traceback" not in told


@pytest.mark.skipif(os.name != "posix", reason="closes a stream as a shell of POSIX does")
@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_stream_that_was_closed_from_the_start(tmp_path: Path, closed: str) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    told = subprocess.run(
        ["sh", "-c", f'exec "$0" -m xordal learn t.csv -o net.json {closed}', sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "Traceback" not in told.stderr
    assert '"c"' in (tmp_path / "net.json").read_text()
