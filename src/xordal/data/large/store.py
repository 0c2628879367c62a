"""Packed columns on disk: a folder of three or four plain files, checked when it is opened.

* ``table.json``: names, numbers of rows and levels, what was read, what became of each value (a checksum), and
  size and checksum of the other files;
* ``levels.arrow``: the values of each column as they came, and how many rows have each;
* ``codes.bin``: level codes, column after column, in the smallest unsigned type that holds them all;
* ``bits.bin``: columns of at most 16 levels as bit planes, block after block of 2^18 rows. Within a block the
  planes lie one after the other, so that a block is one contiguous array: counting goes block by block, and
  what it needs of one block (32 kB a plane) stays in the processor's caches;
* ``weights.bin``: how often each row counts, where rows have weights (then there are no bits).

A damaged folder is told by its checksums before anything of it is used: codes that are no codes would make
compiled kernels write where they must not.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.packed import MOST_LEVELS, WORD, PackedColumns
from xordal.errors import DataError

FORMAT = 2
"""Raised whenever files of before can no longer be read; they are then made anew."""
BLOCK = 1 << 18
"""Rows of a block, but for the last."""
DESCRIPTION, CODES, BITS, WEIGHTS = "table.json", "codes.bin", "bits.bin", "weights.bin"
_MAY_STAY = 1 << 28  # bytes of bits that stay in memory between counts
_AT_ONCE = 1 << 22  # bytes read at a time for a checksum


class DamagedStore(DataError):
    """A folder of packed columns that is not whole; whoever keeps it makes it anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The rows of a table on disk, as blocks of bits and codes.

    Attributes
    ----------
    folder
        Where the files are.
    n_levels
        Number of levels of each column.
    n_rows
        Number of rows, weights not counted.
    codes
        Shape (columns, rows): level codes, mapped into memory.
    weights
        Shape (rows,), mapped into memory; None where every row counts once.
    planes
        The words of all planes of all blocks, mapped into memory.
    mark
        What :func:`mark_of` said of the folder; outside of the cache nothing.
    """

    folder: Path
    n_levels: tuple[int, ...]
    n_rows: int
    codes: NDArray[Any]
    weights: NDArray[np.int64] | None
    planes: NDArray[np.uint64]
    mark: str = ""

    @classmethod
    def open(cls, folder: Path, n_levels: tuple[int, ...], n_rows: int) -> Blocks:
        """Map the files of a folder into memory; it must have been checked before."""
        shape = (len(n_levels), n_rows)
        codes = _mapped(folder / CODES, code_type(n_levels), shape)
        is_weighted = (folder / WEIGHTS).exists()
        weights = _mapped(folder / WEIGHTS, np.dtype("<i8"), (n_rows,)) if is_weighted else None
        n_words = (folder / BITS).stat().st_size // 8
        planes = _mapped(folder / BITS, np.dtype("<u8"), (n_words,))
        return cls(folder, n_levels, n_rows, codes, weights, planes, mark_of(folder))

    def __len__(self) -> int:
        return (self.n_rows + BLOCK - 1) // BLOCK

    def rows(self, block: int) -> slice:
        """Return which rows a block holds."""
        return slice(block * BLOCK, min((block + 1) * BLOCK, self.n_rows))

    @property
    def first(self) -> NDArray[np.int64]:
        """Shape (columns + 1,): where the planes of each column begin; one that is not packed has none."""
        return first_planes(self.n_levels, is_weighted=self.weights is not None)

    def bits(self, block: int) -> PackedColumns:
        """Return the bit planes of a block, mapped into memory."""
        first, rows = self.first, self.rows(block)
        n_rows = rows.stop - rows.start
        shape = (int(first[-1]), -(-n_rows // WORD))
        start = int(first[-1]) * rows.start // WORD
        return PackedColumns(self.planes[start : start + shape[0] * shape[1]].reshape(shape), first, n_rows)

    def let_go(self, block: int) -> None:
        """Let go of the memory that the bits of a block have taken; the disk keeps them.

        Pages of a mapped file count as memory of the process until then. Of a small table they may stay.
        """
        at: Any = self.planes
        while isinstance(at, np.ndarray):
            at = at.base
        if isinstance(at, mmap.mmap) and self.planes.nbytes > _MAY_STAY:
            length = int(self.first[-1]) * BLOCK // 8  # whole pages: a plane of a block is 32 kB
            at.madvise(mmap.MADV_DONTNEED, block * length, min(length, len(at) - block * length))


def mark_of(folder: Path) -> str:
    """Return a checksum of the description of a folder, and so of all its files; empty where there is none."""
    about = folder / DESCRIPTION
    return sha256(about.read_bytes()).hexdigest()[:16] if about.exists() else ""


def code_type(n_levels: tuple[int, ...]) -> np.dtype[Any]:
    """Return the type of codes on disk: the smallest unsigned one, little-endian."""
    most = max(n_levels, default=1) - 1
    return np.dtype("u1") if most < 2**8 else np.dtype("<u2") if most < 2**16 else np.dtype("<i4")


def first_planes(n_levels: tuple[int, ...], *, is_weighted: bool) -> NDArray[np.int64]:
    """Return where the planes of each column begin among those of a block; rows with weights have none."""
    n_planes = [0 if is_weighted or r > MOST_LEVELS else r for r in n_levels]
    return np.concatenate([[0], np.cumsum(n_planes, dtype=np.int64)]).astype(np.int64)


def _mapped(path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a file as an array. Changes stay in memory: kernels are compiled for arrays one may write to."""
    if not np.prod(shape):
        return np.zeros(shape, kind)
    return np.asarray(np.memmap(path, kind, mode="c", shape=shape))


def write_description(folder: Path, description: dict[str, Any]) -> None:
    """Write down what the other files of a folder are, last of all, and see it safely on the disk."""
    files = {path.name: list(_sum_of(path)) for path in sorted(folder.iterdir())}
    text = json.dumps({"format": FORMAT, **description, "files": files})
    with (folder / DESCRIPTION).open("w", encoding="utf-8") as file:
        file.write(json.dumps({"sum": zlib.crc32(text.encode()), "table": text}))
        file.flush()
        os.fsync(file.fileno())


def read_description(folder: Path) -> dict[str, Any]:
    """Return the description of a folder; DamagedStore if it is not the one that was written."""
    try:
        outer = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        text = outer["table"]
        if zlib.crc32(text.encode()) != outer["sum"]:
            raise DamagedStore(f"{folder / DESCRIPTION} is damaged.")
        found: dict[str, Any] = json.loads(text)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedStore(f"{folder / DESCRIPTION} cannot be read ({error}).") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DamagedStore(f"{folder} is not of format {FORMAT}.")
    return found


def check_files(folder: Path, description: dict[str, Any]) -> None:
    """Refuse a folder whose files are not those that were written."""
    files = description.get("files")
    if not isinstance(files, dict) or not {CODES, BITS} <= files.keys():
        raise DamagedStore(f"{folder / DESCRIPTION} does not name the files of a table.")
    for name, written in files.items():
        try:
            found = list(_sum_of(folder / name))
        except OSError as error:
            raise DamagedStore(f"{folder / name} cannot be read ({error.strerror}).") from None
        if found != written:
            raise DamagedStore(f"{folder / name} is damaged.")


def check_sizes(folder: Path, n_levels: tuple[int, ...], n_rows: int) -> None:
    """Refuse a folder whose files are not as long as those of so many rows."""
    is_weighted = (folder / WEIGHTS).exists()
    n_planes, n_words = int(first_planes(n_levels, is_weighted=is_weighted)[-1]), -(-n_rows // WORD)
    needed = {CODES: len(n_levels) * n_rows * code_type(n_levels).itemsize, BITS: 8 * n_planes * n_words}
    for name, size in {**needed, **({WEIGHTS: 8 * n_rows} if is_weighted else {})}.items():
        try:
            is_as_long = (folder / name).stat().st_size == size
        except OSError as error:
            raise DamagedStore(f"{folder / name} cannot be read ({error.strerror}).") from None
        if not is_as_long or n_rows < 1:
            raise DamagedStore(f"{folder / name} is not that of {n_rows} rows.")


def _sum_of(path: Path) -> tuple[int, int]:
    """Return size and checksum of a file, read in pieces: mapped files count as memory of a process."""
    size = total = 0
    with path.open("rb", buffering=0) as file:
        while data := file.read(_AT_ONCE):
            size += len(data)
            total = zlib.crc32(data, total)
    return size, total
