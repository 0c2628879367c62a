"""Files out: whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from xordal import DataError
from xordal.data import write


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write.write_text(path, "old")
    write.write_text(path, "new")
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.csv"
    write.write_text(path, "old")

    def fails(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(DataError, match="No space left on device"):
        write.write_text(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    write.write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write.write_text("/dev/null", "anything")
    assert Path("/dev/null").is_char_device()


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Cannot write"):
        write.write_text(tmp_path / "no" / "such" / "out.csv", "text")
    with pytest.raises(DataError, match="Is a directory"):
        write.write_text(tmp_path, "text")


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_an_existing_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(mode)
    write.write_text(path, "new")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (mode, "new")


def test_the_disk_has_the_file_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    done: list[object] = []
    sync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        done.append(os.fstat(descriptor).st_size)
        sync(descriptor)

    def replaced(self: Path, target: Path) -> Path:
        done.append("renamed")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write.write_text(path, "new")
    assert done == [3, "renamed"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_goes_on_where_it_is(tmp_path: Path, name: str) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    code = f"from xordal.data.write import write_text; write_text({name!r}, 'text\\n')"
    inode = log.stat().st_ino
    with log.open("a") as output:
        subprocess.run([sys.executable, "-c", code], stdout=output, check=True)
    assert log.read_text() == "before\ntext\n"
    assert log.stat().st_ino == inode
    assert [p.name for p in tmp_path.iterdir()] == ["log"]


def test_a_failure_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def pieces() -> Iterator[str]:
        yield "half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write.write_pieces(path, pieces())
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_a_long_table_comes_in_pieces() -> None:
    rows = [(n, "a,b") for n in range(120_000)]
    pieces = list(write.csv_pieces(["n", "x"], iter(rows)))
    assert len(pieces) == 4
    assert "".join(pieces) == "n,x\n" + "".join(f'{n},"a,b"\n' for n in range(120_000))
