"""Damaged files and damaged caches, many of them: a DataError or a table, never anything else.

A few hundred by default; ``make test-long`` tries thousands.
"""

from __future__ import annotations

import json
import random
import signal
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.examples import some
from xordal.data.large import read as large_read
from xordal.data.large import text_batches
from xordal.data.large.store import DESCRIPTION
from xordal.data.read import read_table
from xordal.errors import DataError, DataWarning

SOURCE = {
    "a": ["x", "y", "z", None] * 40,
    "b": [0, 1, 1, 5] * 40,
    "c": [0.5, 1.5] * 80,
    "d": [True, False] * 80,
}
QUICK, LONG = 60, 2500


@contextmanager
def no_longer_than(seconds: int) -> Iterator[None]:
    """Fail where something hangs."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def damaged(data: bytes, draw: random.Random) -> bytes:
    """Some bytes changed, cut out, doubled or cut off."""
    found = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(max(len(found), 1))
        length = draw.choice([1, 1, 2, 8, 64])
        how = draw.randrange(5)
        if how == 0:
            found[at : at + length] = bytes(draw.randrange(256) for _ in range(length))
        elif how == 1:
            del found[at : at + length]
        elif how == 2:
            found[at:at] = found[at : at + length]
        elif how == 3:
            del found[at:]
        elif found:
            found[min(at, len(found) - 1)] ^= 1 << draw.randrange(8)
    return bytes(found)


def read_or_refused(source: Any) -> None:
    with warnings.catch_warnings(), no_longer_than(20):
        warnings.simplefilter("ignore", DataWarning)
        try:
            table = read_table(source, missing="level")
        except DataError as error:
            assert str(error)
        else:
            assert all(
                int(codes.max()) < len(own) for codes, own in zip(table.codes, table.levels, strict=True)
            )


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XORDAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large_read, "_SMALL", 0)


each_number = pytest.mark.parametrize("number", [some(QUICK), pytest.param(LONG, marks=pytest.mark.long)])


@each_number
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_parquet_files(tmp_path: Path, number: int, compression: str) -> None:
    draw = random.Random(f"parquet {compression}")
    file = tmp_path / "t.parquet"
    parquet.write_table(pa.table(SOURCE), file, compression=compression, row_group_size=50)
    whole = file.read_bytes()
    for _ in range(number):
        file.write_bytes(damaged(whole, draw))
        read_or_refused([file])


@each_number
@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
def test_text_files(tmp_path: Path, number: int, streams: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(f"text {streams}")
    if streams:
        monkeypatch.setattr(text_batches, "MODERATE", 0)
    text = 'a,b,"c d"\n' + "".join(f'{n % 3},"x, {n % 4}",é{n % 2}\n' for n in range(60))
    for _ in range(number):
        file = tmp_path / draw.choice(["t.csv", "t.tsv"])
        file.write_bytes(damaged(text.encode(draw.choice(["utf-8", "utf-16", "latin-1"])), draw))
        read_or_refused([file])


@each_number
def test_caches(tmp_path: Path, number: int) -> None:
    """Any file of an entry, also its description with a checksum that is right."""
    draw = random.Random("cache")
    file = tmp_path / "t.parquet"
    parquet.write_table(pa.table(SOURCE), file)
    read_table([file], missing="level")
    (entry,) = (tmp_path / "cache").iterdir()
    whole = {path.name: path.read_bytes() for path in entry.iterdir()}
    expected = read_table([file], missing="level").identity()
    for _ in range(number):
        entry.mkdir(exist_ok=True)
        for name, data in whole.items():
            (entry / name).unlink(missing_ok=True)  # a file that is mapped keeps what it had
            (entry / name).write_bytes(data)
        name = draw.choice(sorted(whole))
        if name == DESCRIPTION and draw.random() < 0.5:
            data = _with_a_right_checksum(whole[name], draw)
        else:
            data = damaged(whole[name], draw)
        (entry / name).unlink()
        (entry / name).write_bytes(data)
        with no_longer_than(20):
            assert read_table([file], missing="level").identity() == expected


def _with_a_right_checksum(data: bytes, draw: random.Random) -> bytes:
    """A description in which one value is another, told by nobody but the one who reads it."""
    about = json.loads(json.loads(data)["table"])
    key = draw.choice(sorted(about))
    about[key] = draw.choice([None, -1, 0, 10**9, "x", [], {}, {"x": 1}, [["x"]], 1.5, True])
    text = json.dumps(about)
    return json.dumps({"sum": zlib.crc32(text.encode()), "table": text}).encode()
