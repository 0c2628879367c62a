"""The device in NumPy: the same tiles, groups and single-precision screen, for tests without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.counting.gpu.engine import (
    GROUP,
    MEASURES,
    TILE_J,
    TILE_K,
    FoursJob,
    ScreenJob,
    blocks_of,
    n_here,
    n_words,
    tile_of,
)
from xordal.counting.gpu.measuring import measured
from xordal.counting.gpu.mirror_of_fours import fours_of

_SPLITS = 2  # blocks that share the i of a tile


class Mirror:
    """An :class:`~xordal.counting.gpu.engine.Engine` on the processor.

    Parameters
    ----------
    room
        Bytes it says to have free.
    fails_after
        Number of screens after which it runs out of memory, as a device may; None for never.
    """

    xp: Any = np
    takes_fours = True

    def __init__(self, room: int = 1 << 30, fails_after: int | None = None) -> None:
        self._room, self._left = room, fails_after

    def load(self, codes: NDArray[np.int32], repeats: NDArray[np.int64] | None) -> Any:
        """Return codes as bytes, rows repeated."""
        own = codes.astype(np.uint8)
        return own if repeats is None else np.repeat(own, repeats, axis=1)

    def pack(self, codes: Any, variable: NDArray[np.int32], level: NDArray[np.int32]) -> Any:
        """Return the bits of slots."""
        rows = np.zeros((len(level), n_words(codes.shape[1]) * 32), np.uint8)
        rows[:, : codes.shape[1]] = codes[variable] == level[:, None]
        return np.packbits(rows, axis=1, bitorder="little").view(np.uint32)

    def pairs(self, first: Any, second: Any) -> Any:
        """Return the rows that columns have in common."""
        return (_ones(first) @ _ones(second).T).astype(np.int32)

    def tables(self, codes: Any, sets: Any, n_levels: int) -> Any:
        """Return the full table of each set."""
        order = sets.shape[1]
        found = np.zeros((len(sets), n_levels**order), np.int32)
        for number, chosen in enumerate(sets):
            cell = np.zeros(codes.shape[1], np.int64)
            for v in chosen:
                cell = cell * n_levels + codes[v]
            found[number] = np.bincount(cell, minlength=n_levels**order)
        return found.reshape(len(sets), *(n_levels,) * order)

    def screen(self, job: ScreenJob, room: int) -> tuple[Any, int]:
        """Return the triples that reach the limit, tile by tile as the blocks of the device have them."""
        self._may_fail()
        found = [np.empty((0, 3), np.int32)]
        room_slots = job.bits.shape[0]
        for block in blocks_of(job):
            j0, k0 = tile_of(block, room_slots)
            tile = _Tile(job, j0, k0)
            groups = range(n_here(job, j0) // GROUP)
            for split in range(_SPLITS):
                found += [tile.reaching(group * GROUP) for group in groups[split::_SPLITS]]
        sets = np.concatenate(found)
        return sets[:room], len(sets)

    def fours(self, job: FoursJob, room: int) -> tuple[Any, int]:
        """Return the sets of four that reach the limit."""
        self._may_fail()
        sets = fours_of(job, _ones(job.bits))
        return sets[:room], len(sets)

    def _may_fail(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise MemoryError

    def free_bytes(self) -> int:
        """Return what it was told."""
        return self._room

    def is_failure(self, error: BaseException) -> bool:
        """Whether there is no memory left."""
        return isinstance(error, MemoryError)


class _Tile:
    """What a block keeps: the planes of its j and k, and their correlations."""

    def __init__(self, job: ScreenJob, j0: int, k0: int) -> None:
        self.job, self.j0, self.k0 = job, j0, k0
        self.j, self.k = slice(j0, j0 + TILE_J), slice(k0, k0 + TILE_K)
        self.of_j, self.of_k = _ones(job.bits[self.j]), _ones(job.bits[self.k])
        both = self._in_basis((self.of_j @ self.of_k.T)[None])[0] / np.float32(job.n_rows)
        mean_j, mean_k = (job.slots[at].prod(axis=1) for at in (self.j, self.k))
        self.rho = both - mean_j[:, None] * mean_k
        self.mean_j, self.mean_k = mean_j, mean_k
        self.level_j = _levels(job.bits[self.j], job.planes, job.n_rows)
        self.level_k = _levels(job.bits[self.k], job.planes, job.n_rows)

    def reaching(self, at: int) -> NDArray[np.int32]:
        """Return the triples of a group of slots i that reach the limit."""
        job, planes_i, planes = self.job, self.job.planes_i, self.job.planes
        rows = slice(at, at + GROUP)
        scalars = job.i_scalars[rows]
        weight, part = scalars[:, 0], scalars[:, 1]
        kappa = (weight * np.float32(job.n_rows) * part)[:, None, None]
        of_i = _ones(job.i_bits[rows])
        counts = ((of_i[:, None] * self.of_j) @ self.of_k.T).astype(np.float32)
        u = _along(self._in_basis(counts), weight, part, planes_i, 0)
        rho_ij, rho_ik = job.i_rho[rows, self.j, None], job.i_rho[rows, None, self.k]
        s = u - kappa * self.rho - self.mean_j[:, None] * rho_ik
        s = s - self.mean_k * (rho_ij + kappa * self.mean_j[:, None])
        n_i, n_j, n_k = GROUP // planes_i, TILE_J // planes, TILE_K // planes
        by_variable = (n_i, planes_i, n_j, planes, n_k, planes)
        chi = (s * s).reshape(by_variable).sum(axis=(1, 3, 5))
        chi += (rho_ij * rho_ij).reshape(n_i, planes_i, n_j, planes, 1).sum(axis=(1, 3))
        chi += (rho_ik * rho_ik).reshape(n_i, planes_i, 1, n_k, planes).sum(axis=(1, 4))
        chi += (self.rho * self.rho).reshape(n_j, planes, n_k, planes).sum(axis=(1, 3))
        return self._places(chi, scalars[::planes_i], at)

    def _places(self, chi: NDArray[np.float32], scalars: NDArray[np.float32], first: int) -> NDArray[np.int32]:
        job, planes = self.job, self.job.planes
        packed = scalars[:, 3].copy().view(np.int32)
        i = (packed << 8) >> 8
        j = (self.j0 // planes + np.arange(TILE_J // planes))[:, None]
        k = self.k0 // planes + np.arange(TILE_K // planes)
        kind, of_j, of_k = (packed >> 24) & 127, job.kinds[j[:, 0]], job.kinds[k]
        if job.planes_i == planes == 1:
            lowest = np.minimum(
                job.limits[of_j >> 3].reshape(-1, 4).min(axis=1).repeat(4)[:, None], job.limits[of_k >> 3].min()
            )  # at most that of a thread of the device
            weight = scalars[:, 0] * np.float32(job.n_rows)
            limit = np.minimum(scalars[:, 2, None, None], lowest)
            limit = limit - (np.float32(job.spare) * (weight + 1) ** 2)[:, None, None]
        else:
            classes = np.minimum((kind >> 3)[:, None, None], np.minimum((of_j >> 3)[:, None], of_k >> 3))
            kinds = (kind & 7)[:, None, None], (of_j & 7)[:, None], of_k & 7
            limit = job.limits[(*kinds, classes)] - scalars[:, 2, None, None]
        is_set = (j > i[:, None, None]) & (k > j) & (k * planes < job.n_slots)
        at = np.argwhere((chi >= limit) & is_set)
        found = np.stack([i[at[:, 0]], j[at[:, 1], 0], k[at[:, 2]]], axis=1).astype(np.int32)
        return found[self._second_look(at, first)]

    def _second_look(self, at: NDArray[np.int64], first: int) -> NDArray[np.bool_]:
        """Return which sets have enough of what is measured of them; here in double precision."""
        job = self.job
        if not len(at):
            return np.zeros(0, dtype=bool)
        of_i = _levels(job.i_bits[first : first + GROUP], job.planes_i, job.n_rows)
        shape = (job.planes_i + 1, job.planes + 1, job.planes + 1)
        cells = np.ravel_multi_index((of_i[at[:, 0]], self.level_j[at[:, 1]], self.level_k[at[:, 2]]), shape)
        n_cells = int(np.prod(shape))
        every = (cells + n_cells * np.arange(len(at))[:, None]).reshape(-1)
        tables = np.bincount(every, minlength=n_cells * len(at)).reshape(-1, *shape)
        measure = MEASURES[job.measure] if shape == (2, 2, 2) else "total"
        packed = job.i_scalars[first : first + GROUP : job.planes_i, 3].copy().view(np.int32)
        kinds = job.kinds & 7
        bars = job.bars[
            (packed >> 24 & 7)[at[:, 0]],
            kinds[self.j0 // job.planes + at[:, 1]],
            kinds[self.k0 // job.planes + at[:, 2]],
        ]
        return np.asarray(measured(np, tables, measure, job.n_rows).values >= bars)

    def _in_basis(self, counts: NDArray[np.float32]) -> NDArray[np.float32]:
        job = self.job
        of_k, of_j = job.slots[self.k], job.slots[self.j]
        along_k = _along(counts, of_k[:, 0], of_k[:, 1], job.planes, 2)
        return _along(along_k, of_j[:, 0], of_j[:, 1], job.planes, 1)


def _along(
    counts: NDArray[np.float32], weight: NDArray[np.float32], part: NDArray[np.float32], planes: int, axis: int
) -> NDArray[np.float32]:
    """Return counts by planes as sums of u along one of three axes."""
    shape = [1, 1, 1]
    shape[axis] = len(weight)
    split = (*counts.shape[:axis], len(weight) // planes, planes, *counts.shape[axis + 1 :])
    by_plane = counts.reshape(split)
    before = (np.cumsum(by_plane, axis=axis + 1, dtype=np.float32) - by_plane).reshape(counts.shape)
    return np.asarray(weight.reshape(shape) * (counts + part.reshape(shape) * before), dtype=np.float32)


def _levels(bits: NDArray[np.uint32], planes: int, n_rows: int) -> NDArray[np.int64]:
    """Return which of its planes each row of each variable is in, or the number of planes."""
    ones = _ones(bits)[:, :n_rows].reshape(-1, planes, n_rows)
    return np.asarray(np.where(ones.any(axis=1), ones.argmax(axis=1), planes))


def _ones(bits: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Return bit columns as zeros and ones, shape (columns, rows): their products are exact below 2^24 rows."""
    octets = np.ascontiguousarray(bits).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little").astype(np.float32)
