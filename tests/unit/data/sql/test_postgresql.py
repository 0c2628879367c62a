"""A real PostgreSQL, started by the test on a socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import call
from xordal.data.large import batches
from xordal.data.read import read_table
from xordal.data.sql import query
from xordal.errors import DataError
from xordal.learning.learn import learn
from xordal.pi.zoo import music_box

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.long

BOX = music_box().joint.sample_table(3000, seed=4)
ROWS = [tuple(levels[c] for levels, c in zip(BOX.levels, row, strict=True)) for row in BOX.codes.T.tolist()]


def server_programs() -> Path | None:
    """Where initdb and pg_ctl are: on the path, or where Debian puts them."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    every = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return every[-1].parent if every else None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL: sudo apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="xordal-pg", dir="/tmp"))  # a socket's path must be short
    user: Any = None
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = next((name for name in ("postgres", "nobody") if _is_user(name)), None)
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        subprocess.run(command, user=user, cwd=folder, check=True, capture_output=True, timeout=120)

    data = str(folder / "data")
    run(str(programs / "initdb"), "-D", data, "-U", "ann", "-A", "trust", "-N", "--locale", "C", "-E", "UTF8")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    run(str(programs / "pg_ctl"), "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
    try:
        address = f"postgresql://ann:s3cret@/postgres?host={folder}"
        with psycopg.connect(address, autocommit=True) as database:
            columns = ", ".join(f"{query.quoted(name)} text" for name in BOX.names)
            database.execute(f"CREATE TABLE box ({columns})")
            with database.cursor().copy("COPY box FROM STDIN") as copy:
                for row in ROWS:
                    copy.write_row(row)
        yield address
    finally:
        run(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@pytest.mark.parametrize("counts", [True, False], ids=["counted there", "row by row"])
def test_the_trace_is_that_of_the_same_rows(server: str, counts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not counts:
        monkeypatch.setattr(query, "MOST_GROUPS", 0)
        monkeypatch.setattr(query, "ROWS", 700)
    table = read_table(server, sql="SELECT * FROM box")
    assert table.n_rows == 3000
    assert (table.weights is not None) == counts
    assert table.levels == BOX.levels
    assert learn(table).trace == learn(BOX).trace


def test_the_command_line_prints_no_password(server: str, tmp_path: Path) -> None:
    done = call(["learn", server, "--sql", "SELECT * FROM box"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"s3cret" not in done.stdout + done.stderr
    wrong = call(["learn", server, "--sql", "SELECT nothing FROM box"], cwd=tmp_path)
    assert wrong.returncode == 1
    assert b"s3cret" not in wrong.stderr
    assert b"Traceback" not in wrong.stderr
    assert b"nothing" in wrong.stderr


def test_nothing_is_written(server: str) -> None:
    with pytest.raises(DataError):
        read_table(server, sql="DELETE FROM box RETURNING *")
    assert read_table(server, sql="SELECT * FROM box").n_rows == 3000


def test_a_connection_that_is_ended_in_the_middle(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server ends it, as it does when it is shut down, after the first rows were sent."""
    monkeypatch.setattr(query, "MOST_GROUPS", 0)
    monkeypatch.setattr(query, "ROWS", 100)
    values_batch = batches.values_batch
    ended: list[Any] = []

    def end_and_go_on(*given: Any) -> Any:
        if not ended:
            with psycopg.connect(server, autocommit=True) as other:
                fetching = "pid <> pg_backend_pid() AND query LIKE '%FETCH%'"
                mine = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {fetching}"
                ended.extend(other.execute(mine).fetchall())
        return values_batch(*given)

    monkeypatch.setattr(query, "values_batch", end_and_go_on)
    with pytest.raises(DataError, match="the database says"):
        read_table(server, sql="SELECT * FROM box")
    assert ended == [(True,)]
