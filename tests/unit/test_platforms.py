"""What would have to hold on macOS and Windows, as far as Linux can tell: nothing is used that they lack."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import xordal

ROOT = Path(xordal.__file__).parent
TABLE = "a,b,c\n" + "0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 20

# A process in which what Windows lacks is not there: modules of POSIX, permissions of open files, signals.
WITHOUT_POSIX = """
import os, signal, sys
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
for name in ("fchmod", "fork", "getuid", "sysconf", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGALRM", "SIGKILL", "SIGHUP", "SIGPIPE", "pthread_kill"):
    delattr(signal, name)
from xordal.cli.app import main
main(sys.argv[1:])
"""


def on_another_system(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_POSIX, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_learning_asks_nothing_of_posix(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    for _ in range(2):  # the second time the file is there already
        done = on_another_system(
            tmp_path, "learn", "t.csv", "-o", "net.json", "--checkpoint", "run.jsonl", "--time-limit", "60"
        )
        assert done.returncode == 0, done.stderr
        (tmp_path / "run.jsonl").unlink()
    for arguments in (["report", "t.csv"], ["query", "net.json", "c", "--given", "a=1"], ["scan", "t.csv"]):
        done = on_another_system(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr


def test_a_memory_limit_is_refused_where_nobody_can_tell(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    done = on_another_system(tmp_path, "learn", "t.csv", "--memory-limit", "8G")
    assert "leave the limit out" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["fcntl", "resource", "termios", "pwd", "grp"])
def test_modules_of_posix_are_imported_where_they_may_be_missing(module: str) -> None:
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        guarded = {node for block in ast.walk(tree) if isinstance(block, ast.Try) for node in ast.walk(block)}
        for node in ast.walk(tree):
            names = [n.name for n in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert module not in names or node in guarded, f"{path} imports {module} without a way out"
