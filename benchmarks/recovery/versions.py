"""Another version of xordal, in a process of its own: it learns from the same samples as this one.

Nothing but the public names goes into this module, so that it runs with any version.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, cast

from benchmarks.recovery.study import table_of
from xordal import CategoricalTable, learn

Links = tuple[tuple[int, int], ...]


def links_of(table: CategoricalTable, settings: Mapping[str, int | None]) -> Links:
    """Return the links that a table gives."""
    return learn(table, find_groups=False, **settings).links  # type: ignore[arg-type]


class Version(AbstractContextManager["Version"]):
    """A process that learns with the version in a source folder."""

    def __init__(self, folder: Path) -> None:
        here = Path(__file__).parents[2]
        paths = [str(folder.resolve()), str(here)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.recovery.versions"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=here,
        )

    def links_of(self, table: CategoricalTable, settings: Mapping[str, int | None]) -> Links:
        """Return the links that a table gives."""
        asked, told = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)
        pickle.dump((list(table.codes), dict(settings)), asked)
        asked.flush()
        return cast(Links, pickle.load(told))

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.communicate()


def with_before(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Let a parser of a study take an earlier version."""
    parser.add_argument(
        "--before", type=Path, help="folder src/ of an earlier version, to learn the same samples"
    )
    return parser


def serve() -> None:
    """Answer each question on standard input: the links of a table of codes."""
    while True:
        try:
            codes, settings = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(links_of(table_of(codes), settings), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
