"""Write a table of any number of rows, block by block, as Parquet files.

    python -m benchmarks.large.generate FOLDER --rows 100000000

Twenty columns: a chain of dependent columns, three parities that no pair shows, and noise; two to eight levels
each, about 40 bits a row, so that 10^8 rows are half a gigabyte. Block b is drawn with the seed (seed, b), so
the first rows of a long table are a short table.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

BLOCK = 1 << 20
_PER_FILE = 10  # blocks of a file
_WORDS = np.array(["none", "faint", "low", "mild", "middle", "strong", "high", "full"])


def block(seed: int, number: int, n_rows: int) -> dict[str, NDArray[np.int8]]:
    """Return the codes of the columns of one block."""
    draw = np.random.default_rng([seed, number])

    def noise(levels: int) -> NDArray[np.int8]:
        return draw.integers(0, levels, n_rows, dtype=np.int8)

    def noisy(column: NDArray[np.int8], levels: int, share: float) -> NDArray[np.int8]:
        return np.where(draw.random(n_rows, dtype=np.float32) < share, noise(levels), column % levels)

    found: dict[str, NDArray[np.int8]] = {"chain1": noise(4)}
    for place in range(2, 7):
        found[f"chain{place}"] = noisy(found[f"chain{place - 1}"], 4, 0.6)
    for name in ("x", "y", "z"):
        one, other = noise(2), noise(2)
        found |= {f"{name}1": one, f"{name}2": other, f"{name}3": noisy(one ^ other, 2, 0.2)}
    for place in range(1, 6):
        found[f"noise{place}"] = noise(8)
    return found


def table(seed: int, number: int, n_rows: int) -> pa.Table:
    """Return one block as an Arrow table of text, as people write tables."""
    arrays = {
        name: pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(_WORDS)).cast(pa.string())
        for name, codes in block(seed, number, n_rows).items()
    }
    return pa.table(arrays)


def write(folder: Path, n_rows: int, seed: int = 23) -> float:
    """Write a table into a folder and return how long that took."""
    folder.mkdir(parents=True, exist_ok=True)
    began, writer = perf_counter(), None
    for number, start in enumerate(range(0, n_rows, BLOCK)):
        made = table(seed, number, min(BLOCK, n_rows - start))
        if number % _PER_FILE == 0:
            if writer is not None:
                writer.close()
            path = folder / f"part-{number // _PER_FILE:04}.parquet"
            writer = parquet.ParquetWriter(path, made.schema, compression="zstd")
        assert writer is not None
        writer.write_table(made)
    if writer is not None:
        writer.close()
    return perf_counter() - began


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--rows", type=int, default=100_000_000)
    asked.add_argument("--seed", type=int, default=23)
    given = asked.parse_args()
    seconds = write(given.folder, given.rows, given.seed)
    size = sum(file.stat().st_size for file in given.folder.iterdir()) / 1e9
    print(f"{given.rows:,} rows, {size:.2f} GB of Parquet, {seconds:.0f} s")
