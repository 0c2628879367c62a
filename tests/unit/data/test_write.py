"""Files out: whole or not at all."""

from __future__ import annotations

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
