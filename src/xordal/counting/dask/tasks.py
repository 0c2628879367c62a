"""What runs on workers: counting a range of blocks, adding up, scanning sets that begin with some variables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.counting.blocks import BlockCounter
from xordal.counting.oracle import CellCounter, CellCounts, Measure, ScanBlock, TableOracle
from xordal.counting.select import CountingJob, backend_of, oracle_for
from xordal.data.large.store import CODES, Blocks
from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.types.varsets import VarSet


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker finds a table: small enough to be part of every task.

    The cache keeps a table that is packed anew in the folder of the one before, and workers outlive both. By
    the ``mark`` of its files they never take one for the other.
    """

    folder: str
    n_levels: tuple[int, ...]
    n_rows: int
    mark: str

    @classmethod
    def of(cls, blocks: Blocks) -> Place:
        """Return the place of a table that this process has opened."""
        return cls(str(blocks.folder.absolute()), blocks.n_levels, blocks.n_rows, blocks.mark)

    @property
    def name(self) -> str:
        """What the folder is called on a worker that was sent the table."""
        return f"xordal-{Path(self.folder).name.strip('.')}{self.mark}"


def sees(folder: str) -> bool:
    """Whether this machine sees the packed table in a folder."""
    return (Path(folder) / CODES).exists()


@lru_cache(maxsize=2)
def blocks_at(place: Place) -> Blocks:
    """Return the blocks of a table; a worker keeps the last two mapped."""
    folder = Path(place.folder)
    if not sees(place.folder):
        from distributed import get_worker

        folder = Path(get_worker().local_directory) / place.name
    with suppress(ValueError):  # files of another size
        blocks = Blocks.open(folder, place.n_levels, place.n_rows)
        if blocks.mark == place.mark:
            return blocks
    raise DataError(f"The packed table in {place.folder!r} was made anew: its data have changed. Start again.")


def _table(place: Place) -> CategoricalTable:
    """Return a table without names: nobody asks for them who counts."""
    blocks = blocks_at(place)
    levels = tuple(tuple(range(r)) for r in place.n_levels)
    return CategoricalTable(tuple(map(str, range(len(levels)))), levels, blocks.codes, blocks.weights, blocks)


@lru_cache(maxsize=1)
def _whole(place: Place) -> TableOracle:
    """Return what scans a table that fits; a worker keeps the last."""
    return oracle_for(_table(place), backend="numba", threads=1)


Flat = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Counts of many sets as four arrays, which travel faster than thousands of small ones: cells one after the
other, counts, and for each set how many cells and how many variables it has."""


def flat(tables: Sequence[CellCounts]) -> Flat:
    """Return tables as four arrays."""
    cells = [table.cells.reshape(-1) for table in tables]
    counts = [table.counts for table in tables]
    return (
        np.concatenate([np.empty(0, np.int64), *cells]),
        np.concatenate([np.empty(0, np.int64), *counts]),
        np.array([len(table.counts) for table in tables], dtype=np.int64),
        np.array([table.cells.shape[1] for table in tables], dtype=np.int64),
    )


def tables_in(found: Flat) -> list[CellCounts]:
    """Return the tables of four arrays."""
    cells, counts, lengths, widths = found
    ends = np.cumsum(lengths)
    cell_ends = np.cumsum(lengths * widths)
    return [
        CellCounts(cells[stop - n * w : stop].reshape(n, w), counts[end - n : end])
        for stop, end, n, w in zip(
            cell_ends.tolist(), ends.tolist(), lengths.tolist(), widths.tolist(), strict=True
        )
    ]


def count_range(place: Place, start: int, stop: int, sets: Sequence[VarSet], inner: Any) -> Flat:
    """Count variable sets in a range of blocks."""
    return flat(_counter(place, start, stop, inner).counts(sets))


@lru_cache(maxsize=8)
def _counter(place: Place, start: int, stop: int, inner: Any) -> CellCounter:
    if inner == "blocks":
        return BlockCounter(blocks_at(place), range(start, stop), threads=1)
    whole, blocks = _table(place), blocks_at(place)
    rows = slice(blocks.rows(start).start, blocks.rows(stop - 1).stop)
    weights = None if whole.weights is None else whole.weights[rows]
    part = CategoricalTable(whole.names, whole.levels, whole.codes[:, rows], weights)
    return backend_of(inner)(part, CountingJob(threads=1))


def add_up(parts: Sequence[Flat]) -> Flat:
    """Return the sum of some counts."""
    first, *others = [tables_in(part) for part in parts]
    for other in others:
        first = [one + more for one, more in zip(first, other, strict=True)]
    return flat(first)


@dataclass(frozen=True, slots=True)
class Asked:
    """A scan as it travels: bars as a table, since functions do not."""

    order: int
    bars: dict[tuple[int, ...], float]
    measure: Measure
    top: int | None
    base: VarSet

    def bar(self, levels: tuple[int, ...]) -> float:
        """Return the bar of a set by the levels of its variables."""
        return self.bars[tuple(sorted(levels))]


def scan_range(place: Place, asked: Asked, firsts: frozenset[int]) -> list[ScanBlock]:
    """Scan the sets that begin with some variables."""
    done = [v for v in range(len(place.n_levels)) if v not in firsts]
    how: dict[str, Any] = {"measure": asked.measure, "top": asked.top, "base": asked.base, "done": done}
    return list(_whole(place).scan(asked.order, asked.bar, **how))


def entropies_of(place: Place, sets: Sequence[VarSet]) -> NDArray[np.float64]:
    """Return the entropies of some sets."""
    return _whole(place).entropies(sets)


def extensions_of(place: Place, bases: Sequence[VarSet]) -> NDArray[np.float64]:
    """Return what every variable shares with some bases."""
    return _whole(place).extensions(bases)


def error_of(place: Place) -> float:
    """Return by how many nats what a scan says may be off."""
    return _whole(place).error
