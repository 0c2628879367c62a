"""``xordal`` commands run within the tests' own process: the same program, without a new interpreter for each.

What only a process shows (signals, terminals, pipes that close, what is imported, the installed script) is
tested with processes: in test_cli.py, test_using.py, test_imports.py, test_kill.py and test_docs.py (pipes).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from xordal.cli.app import main


def call(
    arguments: Sequence[str], *, cwd: Path, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> CompletedProcess[bytes]:
    """Run a command and return its exit code and what it printed, as a process of its own would have."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with ExitStack() as stack:
        stack.enter_context(chdir(cwd))
        stack.enter_context(patch.object(sys, "stdin", TextIOWrapper(BytesIO(stdin), encoding="utf-8")))
        stack.enter_context(patch.dict(os.environ, environment or {}))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        code = _ended(arguments)
    printed, told = (stream.buffer for stream in (out, err))
    assert isinstance(printed, BytesIO) and isinstance(told, BytesIO)
    return CompletedProcess(["xordal", *arguments], code, printed.getvalue(), told.getvalue())


def _ended(arguments: Sequence[str]) -> int:
    try:
        main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def run(*arguments: str, cwd: Path, code: int = 0) -> CompletedProcess[str]:
    """Run a command that is to end with this code."""
    done = call(arguments, cwd=cwd)
    stdout, stderr = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == code, stderr
    return CompletedProcess(done.args, done.returncode, stdout, stderr)


def unwrapped(text: str) -> str:
    """Undo the wrapping of long lines."""
    return " ".join(text.split())
