"""What goes wrong with large tables: a clear error or the right result, and never a cache that is not whole."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.commands import call
from xordal.data import discretise, steps
from xordal.data.entering import table_from
from xordal.data.large import cache, gather, pack, store, surveys
from xordal.data.large import read as large_read
from xordal.data.large.files import DataFile
from xordal.data.large.store import CODES, DESCRIPTION, read_description
from xordal.data.read import read_table
from xordal.errors import DataError, DataWarning
from xordal.learning.learn import learn

DATA = {"a": ["x", "y", "x", "z"] * 50, "b": [0, 1, 1, 0] * 50}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own that keeps small tables too."""
    monkeypatch.setenv("XORDAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large_read, "_SMALL", 0)
    yield tmp_path / "cache"


def written(folder: Path, name: str = "t.parquet", data: Any = None) -> list[Path]:
    folder.mkdir(exist_ok=True)
    parquet.write_table(pa.table(data or DATA), folder / name)
    return [folder / name]


def packed_anew(source: Any, monkeypatch: pytest.MonkeyPatch, read: Any = read_table) -> tuple[Any, bool]:
    """Read, and say whether the files were read rather than the cache."""
    was_read: list[int] = []
    inner = gather.gather

    def noticed(*given: Any) -> Any:
        was_read.append(1)
        return inner(*given)

    with monkeypatch.context() as patch:
        patch.setattr(large_read, "gather", noticed)
        table = read(source)
    return table, bool(was_read)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if not _is_whole(path)] if folder.exists() else []


def _is_whole(entry: Path) -> bool:
    return bool(read_description(entry)["n_rows"])


def test_the_second_time_comes_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = written(tmp_path / "d")
    (first, was_read), (second, is_read) = (packed_anew(files, monkeypatch) for _ in range(2))
    assert (was_read, is_read) == (True, False)
    assert first.identity() == second.identity()


def test_a_stale_cache_is_made_anew_and_the_old_one_goes(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = written(tmp_path / "d")
    packed_anew(files, monkeypatch)
    written(tmp_path / "d", data={**DATA, "b": [1, 0, 1, 0] * 50})
    table, was_read = packed_anew(files, monkeypatch)
    assert was_read
    assert table.codes[1, :4].tolist() == [1, 0, 1, 0]
    assert len(list(kept.iterdir())) == 1


def test_a_change_that_keeps_size_and_time_shows_in_the_footer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = written(tmp_path / "d")
    packed_anew([file], monkeypatch)
    about = file.stat()
    data = bytearray(file.read_bytes())
    data[-20] ^= 1  # in the footer's own description of the program that wrote it
    file.write_bytes(data)
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    (stamp,) = cache.stamp_of([DataFile(file)], "time")
    assert stamp[1:3] == [about.st_size, about.st_mtime_ns]
    try:
        _, was_read = packed_anew([file], monkeypatch)
    except DataError:
        was_read = True  # the damaged footer was read
    assert was_read


def test_by_content_copies_share_one_table(tmp_path: Path, kept: Path) -> None:
    (one,) = written(tmp_path / "d")
    other = tmp_path / "copy.parquet"
    other.write_bytes(one.read_bytes())
    assert read_table([one], cache="content").identity() == read_table([other], cache="content").identity()
    assert len(list(kept.iterdir())) == 1
    assert read_table([one], cache="off").n_rows == 200
    assert len(list(kept.iterdir())) == 1


@pytest.mark.parametrize("damage", ["codes", "cut", "description", "gone", "levels"])
def test_a_damaged_cache_is_made_anew(
    tmp_path: Path, kept: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = written(tmp_path / "d")
    expected = packed_anew(files, monkeypatch)[0].identity()
    (entry,) = kept.iterdir()
    target = entry / {"description": DESCRIPTION, "levels": "levels.arrow"}.get(damage, CODES)
    data = bytearray(target.read_bytes())
    if damage == "gone":
        target.unlink()
    elif damage == "cut":
        target.write_bytes(data[:-1])
    else:
        data[len(data) // 2] ^= 0xFF
        target.write_bytes(data)
    found, was_read = packed_anew(files, monkeypatch)
    assert was_read
    assert found.identity() == expected
    assert leftovers(kept) == []


@pytest.mark.slow
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, kept: Path) -> None:
    """A limit on the size of files, set by the system, is what a full disk looks like to a program."""
    written(tmp_path / "d", data={"a": ["x", "y"] * 30_000, "b": [0, 1] * 30_000})
    program = f"""
        import resource
        from xordal.cli.app import main
        from xordal.data.large import read
        read._SMALL = 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        main(["learn", {str(tmp_path / "d")!r}])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"cannot be written to" in done.stderr
    assert b"Traceback" not in done.stderr
    assert list(kept.iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 20_000
    assert read_table(tmp_path / "d").n_rows == 60_000


@pytest.mark.parametrize(
    ("module", "write"),
    [(large_read, "write_columns"), (large_read, "write_description"), (surveys, "write_surveys")],
)
def test_an_error_at_any_moment_of_writing(
    tmp_path: Path, kept: Path, module: Any, write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = written(tmp_path / "d")

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, write, full)
        with pytest.raises(DataError, match="No space left on device"):
            read_table(files)
    assert list(kept.iterdir()) == []
    assert read_table(files).n_rows == 200


def test_a_killed_run_is_swept_up(tmp_path: Path, kept: Path) -> None:
    kept.mkdir()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = kept / f".{os.uname().nodename}.{gone.pid}.0123abcd.part"
    left.mkdir()
    read_table(written(tmp_path / "d"))
    assert not left.exists()


def test_a_run_at_work_is_not_cleared(tmp_path: Path, kept: Path) -> None:
    kept.mkdir()
    left = kept / f".{os.uname().nodename}.{os.getpid()}.0123abcd.part"
    left.mkdir()
    call(["cache", "--clear"], cwd=tmp_path)
    read_table(written(tmp_path / "d"))
    assert left.exists()


def test_an_entry_that_is_replaced_while_it_is_opened(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run packs newer data into the same place, after this one has checked what was there."""
    files = written(tmp_path / "d")
    read_table(files)
    older = shutil.copytree(tmp_path / "d", tmp_path / "older")
    opened = large_read._opened
    newer = {**DATA, "b": [1, 0, 0, 1] * 50}

    def replace(*given: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(large_read, "_opened", opened)
            before = files[0].stat()
            written(tmp_path / "d", data=newer)
            read_table(files)
            (older / "t.parquet").replace(files[0])
            os.utime(files[0], ns=(before.st_atime_ns, before.st_mtime_ns))
        monkeypatch.setattr(large_read, "_opened", opened)
        return opened(*given)

    monkeypatch.setattr(large_read, "_opened", replace)
    table = read_table(files)
    assert table.codes[1, :4].tolist() == [0, 1, 1, 0]
    assert len(list(kept.iterdir())) == 1


@pytest.mark.parametrize("order", [1, -1])
def test_commands_that_leave_out_other_columns_of_the_same_files(
    tmp_path: Path, kept: Path, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An identifier stays in read_table and is left out for learning: each opens columns of its own."""
    commands: list[Any] = [read_table, table_from]
    data = {"id": [f"k{n}" for n in range(200)], **DATA}
    files = written(tmp_path / "d", data=data)
    for _ in range(2):
        for read in commands[::order]:
            with pytest.warns(DataWarning, match="id"):
                table = read(files, bins="auto")
            assert table.names == (("id", "a", "b") if read is read_table else ("a", "b"))
            for column, levels, codes in zip(table.names, table.levels, table.codes, strict=True):
                assert [levels[code] for code in codes] == data[column]
            assert leftovers(kept) == []
    with pytest.warns(DataWarning, match="id"):
        assert not packed_anew(files, monkeypatch, partial(read, bins="auto"))[1]


def test_a_version_that_cuts_bins_otherwise_packs_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are as many levels as before, and other values in each."""
    files = written(tmp_path / "d", data={"x": [n / 7 for n in range(200)], "b": DATA["b"]})
    read_table(files, bins=2)
    inner = discretise.binned

    def otherwise(column: Any, bins: Any, weights: Any) -> Any:
        made = inner(column, bins, weights)
        codes = (np.arange(len(column.codes)) >= 150).astype(np.int32)
        return replace(made, codes=codes)

    monkeypatch.setattr(steps, "binned", otherwise)
    assert read_table(files, bins=2).codes[0].tolist() == [0] * 150 + [1] * 50


def test_a_cache_of_another_format_is_made_anew(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = written(tmp_path / "d")
    monkeypatch.setattr(store, "FORMAT", store.FORMAT - 1)
    expected = read_table(files).identity()
    monkeypatch.undo()
    monkeypatch.setenv("XORDAL_CACHE", str(kept))
    monkeypatch.setattr(large_read, "_SMALL", 0)
    found, was_read = packed_anew(files, monkeypatch)
    assert was_read
    assert found.identity() == expected
    assert not packed_anew(files, monkeypatch)[1]


def test_the_same_file_by_another_path_is_packed_once(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "d")
    monkeypatch.chdir(tmp_path)
    assert packed_anew(["d/t.parquet"], monkeypatch)[1]
    assert not packed_anew([tmp_path / "d" / "t.parquet"], monkeypatch)[1]


def test_a_folder_for_temporary_files_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = read_table(written(tmp_path / "d")[0])
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    for use in (lambda: learn(table, backend="blocks"), lambda: read_table(tmp_path / "d", cache="off")):
        with pytest.raises(DataError, match=r"cannot be written to .*TMPDIR"):
            use()


def test_two_runs_on_one_cache_at_once(tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both read at the same time and both are right; one entry stays, and it is whole."""
    files = written(tmp_path / "d")
    together = threading.Barrier(4)
    inner = pack.write_columns
    found: list[object] = []

    def at_once(*given: Any) -> None:
        together.wait(30)
        inner(*given)

    monkeypatch.setattr(large_read, "write_columns", at_once)
    threads = [threading.Thread(target=lambda: found.append(read_table(files).identity())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    expected = read_table(files[0]).identity()
    assert found == [expected] * 4
    assert len(list(kept.iterdir())) == 1
    assert leftovers(kept) == []


def test_data_that_change_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = written(tmp_path / "d")
    inner = gather.gather

    def change(*given: Any) -> Any:
        gathered = inner(*given)
        time.sleep(0.01)
        written(tmp_path / "d", data={**DATA, "b": [1] * 200})
        return gathered

    monkeypatch.setattr(large_read, "gather", change)
    with pytest.raises(DataError, match="changed while they were read"):
        read_table(files)


def test_a_level_that_only_the_last_file_has(tmp_path: Path) -> None:
    written(tmp_path / "d", "1.parquet")
    written(tmp_path / "d", "2.parquet", {"a": ["A", "x"], "b": [1, 0]})
    table = read_table(tmp_path / "d")
    assert table.levels[0] == ("A", "x", "y", "z")
    assert table.codes[0, [0, 1, 200, 201]].tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"a": ["x"], "c": [1]}, "it lacks 'b'"),
        ({"a": ["x"], "b": [1], "c": [1]}, "it has besides 'c'"),
        ({"a": [1], "b": [1]}, "column 'a' holds numbers, but text in"),
        ({"a": ["x"], "b": [True]}, "column 'b' holds truth values, but numbers in"),
        ({"a": ["x"], "b": [[1]]}, "holds list"),
    ],
)
def test_a_file_whose_schema_differs(tmp_path: Path, kept: Path, second: Any, told: str) -> None:
    written(tmp_path / "d", "1.parquet")
    written(tmp_path / "d", "2.parquet", second)
    with pytest.raises(DataError, match=f"2.parquet.*{told}"):
        read_table(tmp_path / "d")
    assert not kept.exists() or list(kept.iterdir()) == []


def test_types_that_go_together(tmp_path: Path) -> None:
    written(tmp_path / "d", "1.parquet", {"a": pa.array(["x", "y"]), "b": pa.array([0, 1], pa.int8())})
    written(
        tmp_path / "d",
        "2.parquet",
        {"b": pa.array([1, None], pa.int64()), "a": pa.array(["y", "x"], pa.large_string())},
    )
    table = read_table(tmp_path / "d", missing="level")
    assert table.levels == (("x", "y"), (0, 1, "(missing)"))
    assert table.codes.tolist() == [[0, 1, 1, 0], [0, 1, 1, 2]]


def test_an_unreadable_block(tmp_path: Path, kept: Path) -> None:
    """The pages of a column in the middle of the second file are overwritten."""
    written(tmp_path / "d", "1.parquet")
    (file,) = written(
        tmp_path / "d", "2.parquet", {"a": [f"v{n % 90}" for n in range(3000)], "b": [0, 1] * 1500}
    )
    data = bytearray(file.read_bytes())
    data[4:400] = b"\xff" * 396
    file.write_bytes(data)
    done = call(["learn", str(tmp_path / "d")], cwd=tmp_path)
    assert done.returncode == 1
    assert b"2.parquet" in done.stderr
    assert b"no complete Parquet file" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not kept.exists() or list(kept.iterdir()) == []


def test_formats_are_not_mixed_and_nothing_is_found(tmp_path: Path) -> None:
    written(tmp_path / "d", "1.parquet")
    (tmp_path / "d" / "2.csv").write_text("a,b\nx,0\n")
    with pytest.raises(DataError, match="files of one format"):
        read_table(tmp_path / "d")
    with pytest.raises(DataError, match="No file matches"):
        read_table(str(tmp_path / "*.nothing"))


def test_a_folder_below_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows would be missing without a word. What is hidden is no data, and need not be listed."""
    written(tmp_path / "d", "1.parquet")
    (tmp_path / "d" / "closed").mkdir()
    (tmp_path / "d" / "_temporary").mkdir()
    scandir = os.scandir

    def refused(path: Any) -> Any:
        if not isinstance(path, int) and Path(path).name in ("closed", "_temporary"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(DataError, match=r"closed: cannot be read \(Permission denied\)"):
        read_table(tmp_path / "d")
    monkeypatch.setattr(os, "scandir", scandir)
    (tmp_path / "d" / "closed").rmdir()
    monkeypatch.setattr(os, "scandir", refused)
    assert read_table(tmp_path / "d").n_rows == 200


def test_too_many_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "MOST_VALUES", 50)
    files = written(tmp_path / "d", data={"id": list(range(100)), "b": [0, 1] * 50})
    with pytest.raises(DataError, match=r"column 'id' has more than 50 different values.*--exclude id"):
        read_table(files)
    assert read_table(files, exclude=["id"]).n_rows == 100


def test_a_missing_value_is_told_with_its_file_and_row(tmp_path: Path) -> None:
    written(tmp_path / "d", "1.parquet")
    written(tmp_path / "d", "2.parquet", {"a": ["x", None, None], "b": [1, 0, None]})
    with pytest.raises(DataError, match=r"2.parquet, row 2, column 'a': the value is missing.*the first of 3"):
        read_table(tmp_path / "d")


def test_the_cache_is_listed_and_cleared(tmp_path: Path, kept: Path) -> None:
    read_table(written(tmp_path / "d"))
    listed = call(["cache"], cwd=tmp_path).stdout.decode()
    assert "1 table" in listed
    assert "200 rows, 2 columns" in listed
    (kept / "notes.txt").write_text("mine")
    assert b"Removed" in call(["cache", "--clear"], cwd=tmp_path).stdout
    assert [path.name for path in kept.iterdir()] == ["notes.txt"]
