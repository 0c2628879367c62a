"""The machine's limit for scans of binary columns: our own C, compiled when it is measured."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SOURCE = Path(__file__).with_name("limit.c")
FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")


@cache
def library(flags: tuple[str, ...] = FLAGS) -> Any:
    """Compile the source and load it; None where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="xordal-limit-"))
    target = folder / "limit.so"
    subprocess.run([compiler, *flags, str(SOURCE), "-o", str(target), "-lm"], check=True)
    asked = os.environ.get("OMP_WAIT_POLICY")
    os.environ["OMP_WAIT_POLICY"] = asked or "passive"  # its idle threads would spin on the cores of ours
    loaded = ctypes.CDLL(str(target))
    if asked is None:
        del os.environ["OMP_WAIT_POLICY"]
    shutil.rmtree(folder)  # it stays loaded
    for name in ("scan_triples", "scan_given", "scan_fours"):
        getattr(loaded, name).restype = ctypes.c_long
    return loaded


def interleave(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return binary columns, shape (columns, rows), as words [block, t, lane]; ones are the rarer value."""
    n_rows = bits.shape[1]
    return _interleaved(bits ^ (2 * bits.sum(axis=1, keepdims=True) > n_rows).astype(np.uint8))


def _interleaved(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    n_columns, n_rows = bits.shape
    octets = np.zeros((-(-n_columns // 8) * 8, -(-n_rows // 64) * 8), dtype=np.uint8)
    octets[:n_columns, : -(-n_rows // 8)] = np.packbits(bits, axis=1, bitorder="little")
    words = octets.view(np.uint64).reshape(-1, 8, octets.shape[1] // 8)
    return np.ascontiguousarray(words.transpose(0, 2, 1))


@cache
def _logs(n_rows: int) -> NDArray[np.float64]:
    """Return c log c for all counts: kept from one call to the next, as we keep them."""
    counts = np.arange(n_rows + 1, dtype=np.float64)
    counts[1:] *= np.log(counts[1:])
    return counts


def scan_triples(
    words: NDArray[np.uint64], shape: tuple[int, int], bar: float, *, threads: int, screen: bool = True
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the triples of columns whose total correlation reaches the bar, in nats; shape: columns, rows."""
    room, logs = 1 << 16, _logs(shape[1])
    while True:
        sets, shared = np.empty((room, 3), np.int32), np.empty(room)
        found = library().scan_triples(
            ctypes.c_void_p(words.ctypes.data), *map(ctypes.c_int, shape[:1]), ctypes.c_long(shape[1]),
            ctypes.c_void_p(logs.ctypes.data), ctypes.c_double(bar), threads, int(screen),
            ctypes.c_void_p(sets.ctypes.data),
            ctypes.c_void_p(shared.ctypes.data), ctypes.c_long(room),
        )  # fmt: skip
        if found <= room:
            return sets[:found], shared[:found]
        room = found


def scan_fours(
    words: NDArray[np.uint64], shape: tuple[int, int], bar: float, *, threads: int, room: int = 1 << 20
) -> NDArray[np.int32]:
    """Return the sets of four columns whose total correlation reaches the bar; shape: columns, rows."""
    sets, logs = np.empty((room, 4), np.int32), _logs(shape[1])
    found = library().scan_fours(
        ctypes.c_void_p(words.ctypes.data), ctypes.c_int(shape[0]), ctypes.c_long(shape[1]),
        ctypes.c_void_p(logs.ctypes.data), ctypes.c_double(bar), threads,
        ctypes.c_void_p(sets.ctypes.data), ctypes.c_long(room),
    )  # fmt: skip
    return sets[: min(found, room)]


class Given:
    """Columns of two or three values, rows parted by the levels of a target, as the limit takes them."""

    def __init__(self, codes: NDArray[np.uint8], target: NDArray[np.int32]) -> None:
        levels, self.n_values = int(target.max()) + 1, int(codes.max()) + 1
        if self.n_values == 2:  # ones are the rarer value
            planes = [codes ^ (2 * codes.sum(axis=1, keepdims=True) > codes.shape[1]).astype(np.uint8)]
        else:
            planes = [(codes == value).astype(np.uint8) for value in range(self.n_values - 1)]
        words = [
            np.stack([_interleaved(plane[:, target == level]) for plane in planes]) for level in range(levels)
        ]
        self.n_columns, self.n_rows, self.levels = len(codes), codes.shape[1], levels
        self.words = np.concatenate([one.reshape(-1) for one in words])
        self.start = np.cumsum([0, *(one.size for one in words[:-1])]).astype(np.int64)
        self.width = np.array([one.shape[2] for one in words], dtype=np.int32)
        self.rows = np.array([(target == level).sum() for level in range(levels)], dtype=np.int64)
        self.ones = np.zeros((levels, 2, words[0].shape[1] * 8), dtype=np.int32)
        for level, number in product(range(levels), range(len(planes))):
            self.ones[level, number, : len(codes)] = planes[number][:, target == level].sum(axis=1)

    def best(self, top: int, *, threads: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the pairs of columns with the largest interactions with the target, and these, in nats."""
        sets, values, logs = np.empty((top, 2), np.int32), np.empty(top), _logs(self.n_rows)
        arrays = (self.start, self.width, self.ones, self.rows, logs)
        found = library().scan_given(
            ctypes.c_void_p(self.words.ctypes.data), self.n_columns, self.n_values, self.levels,
            *(ctypes.c_void_p(array.ctypes.data) for array in arrays), top, threads,
            ctypes.c_void_p(sets.ctypes.data), ctypes.c_void_p(values.ctypes.data),
        )  # fmt: skip
        return sets[:found], values[:found]
