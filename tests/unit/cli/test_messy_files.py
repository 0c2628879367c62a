"""The sixty messy files of benchmarks/messy.py, each read by one command."""

from pathlib import Path

import pytest

from benchmarks.messy import Case, cases, is_right
from tests.commands import call

CASES = cases()


def test_there_are_sixty_and_most_need_no_option() -> None:
    assert len(CASES) == 60
    assert sum(not case.options for case in CASES) >= 55


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_it_is_read_right(case: Case, tmp_path: Path) -> None:
    def run(arguments: list[str]) -> tuple[int, str, str]:
        done = call(arguments, cwd=tmp_path)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    assert is_right(case, tmp_path, run)[0]
