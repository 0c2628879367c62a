"""The device by CuPy: its run-time compiler builds the sources beside this module at first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.counting.gpu.engine import (
    GROUP,
    LEVELS,
    PADDING,
    STEP,
    TILE_J,
    TILE_K,
    FoursJob,
    ScreenJob,
    blocks_of,
    n_words,
)
from xordal.errors import SettingsError

INSTALL = 'python -m pip install "xordal[gpu]"  (for CUDA 12; for CUDA 13: python -m pip install cupy-cuda13x)'
_OLDEST = 80  # compute capability 8.0, Ampere: the first with AND and popcount as a product
# Words of shared memory, as in screen.cu: of a chunk of rows, of a slot's chunk, of a tile's, and what is
# known of a slot i and of the slots of a tile, queues included.
_CHUNK = 32
_ROW = _CHUNK + 4
_TILE = (TILE_J + TILE_K) * _ROW
_OF_I = TILE_J + TILE_K + 4
_SLOTS = 2 * (TILE_J + TILE_K) + 32 + 8 * 65 * 4  # and what is sought, and the queues of eight warps
_STAGES = 4
_PANEL = 8  # slots i of a panel of sets of four
# Slots h of a block of sets of four, and whether its rows stay in shared memory: the first there is room for.
# While rows stay, two h are quicker than three, which need more registers than there are (0.096 and 0.115 s for
# 1,000 columns x 1,024 rows on an H200); where rows are streamed, three are (0.46 and 0.55 s for 10,000 rows).
_SHAPES_OF_FOURS = ((2, True), (3, False), (2, False), (1, True), (1, False))
_BLOCKS_A_CORE = 16  # blocks for each multiprocessor, so that all end at about the same time
_WIDE = 1 << 22  # rows from which counts are not kept as the bits of a float
_LOADED = 1 << 28  # codes sent at a time


def why_not() -> str | None:
    """Return why there is no GPU to use, and what to do; None where there is one."""
    try:
        import cupy
    except ImportError:
        return f"The GPU backend needs CuPy, which is not installed: {INSTALL}"
    try:
        capability = int(cupy.cuda.Device().compute_capability)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return (
            f"There is no NVIDIA GPU that CuPy can use here: {error}. Leave --backend gpu out, or choose numba."
        )
    if capability < _OLDEST:
        return (
            f"The GPU backend needs compute capability 8.0 or newer (Ampere, 2020); this GPU has "
            f"{capability / 10}. Leave --backend gpu out, or choose numba."
        )
    return None


class CupyEngine:
    """An :class:`~xordal.counting.gpu.engine.Engine` on the current CUDA device.

    Raises
    ------
    SettingsError
        If there is none; the message says what to do.
    """

    xp: Any

    def __init__(self, notice: Callable[[str], None] = lambda line: None) -> None:
        if (reason := why_not()) is not None:
            raise SettingsError(reason)
        import cupy

        self.xp = cupy
        self._notice = notice
        attributes = cupy.cuda.Device().attributes
        self._shared = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self._n_cores = int(attributes["MultiProcessorCount"])

    def load(self, codes: NDArray[np.int32], repeats: NDArray[np.int64] | None) -> Any:
        """Return codes as bytes on the device, rows repeated; they are sent as they are."""
        xp, (n_columns, n_rows) = self.xp, codes.shape
        found = xp.empty((n_columns, n_rows), xp.uint8)
        step = max(1, _LOADED // max(n_rows * codes.itemsize, 1))
        for at in range(0, n_columns, step):
            found[at : at + step] = xp.asarray(np.ascontiguousarray(codes[at : at + step]))
        if repeats is None:
            return found
        rows = xp.asarray(np.repeat(np.arange(n_rows), repeats))
        return xp.ascontiguousarray(found[:, rows])

    def pack(self, codes: Any, variable: NDArray[np.int32], level: NDArray[np.int32]) -> Any:
        """Return the bits of slots."""
        xp, words = self.xp, n_words(codes.shape[1])
        bits = xp.empty((len(level), words), xp.uint32)
        arguments = (
            codes, xp.asarray(variable), xp.asarray(level), np.int64(codes.shape[1]), np.int32(words), bits,
        )  # fmt: skip
        _kernel("prepare.cu", "pack")((len(level),), (256,), arguments)
        return bits

    def pairs(self, first: Any, second: Any) -> Any:
        """Return the rows that columns have in common; the first come in multiples of four."""
        n_first, words = first.shape
        counts = self.xp.empty((n_first, len(second)), self.xp.int32)
        blocks = min(-(-len(second) // 8), 1024)
        arguments = first, second, np.int32(words), np.int32(len(second)), counts
        for at in range(0, n_first, 1 << 16):  # of which a grid has so many
            some = first[at : at + (1 << 16)], *arguments[1:4], counts[at : at + (1 << 16)]
            _kernel("prepare.cu", "pairs")((blocks, len(some[0]) // 4), (256,), some)
        return counts

    def tables(self, codes: Any, sets: Any, n_levels: int) -> Any:
        """Return the full table of each set."""
        n_sets, order = sets.shape
        n_cells = n_levels**order
        counts = self.xp.empty((n_sets, *(n_levels,) * order), self.xp.int32)
        if n_sets:
            warps = max(1, min(8, 32768 // (4 * n_cells)))
            blocks = min(-(-n_sets // warps), 64 * self._n_cores)
            arguments = (
                codes, self.xp.ascontiguousarray(sets), np.int64(n_sets), np.int32(order), np.int32(n_levels),
                np.int32(n_cells), np.int64(codes.shape[1]), counts,
            )  # fmt: skip
            _kernel("prepare.cu", "tables")((blocks,), (32 * warps,), arguments, shared_mem=4 * n_cells * warps)
        return counts

    def screen(self, job: ScreenJob, room: int) -> tuple[Any, int]:
        """Return the triples that reach the limit."""
        xp = self.xp
        room_slots, words = job.bits.shape
        n_i, blocks = job.n_i, blocks_of(job)
        sets, n_found = xp.empty((room, 3), xp.int32), xp.zeros(1, xp.uint64)
        if not len(blocks):
            return sets[:0], 0
        panel, stages, shared = self._shape(words)
        wanted = -(-_BLOCKS_A_CORE * self._n_cores // len(blocks))
        splits = min(wanted, -(-n_i // (panel or GROUP)))
        defines = (
            ("PI", job.planes_i), ("PJ", job.planes), ("STREAM", int(panel == 0)),
            ("WIDE", int(job.n_rows >= _WIDE)),
        )  # fmt: skip
        kernel = _kernel("screen.cu", "screen", defines, self._notice)
        kernel.max_dynamic_shared_size_bytes = shared
        kernel(
            (len(blocks), max(splits, 1)), (256,),
            (
                job.bits, job.slots, job.kinds, job.i_bits, job.i_scalars, job.i_rho, job.limits, job.bars,
                np.int32(job.n_slots), np.int32(room_slots), np.int32(words), np.int32(n_i),
                np.int32(job.i_first),
                np.int32(panel), np.int32(stages), np.int64(blocks[0]), np.float32(job.n_rows),
                np.int32(job.measure),
                np.float32(job.spare), sets, n_found, np.uint64(room),
            ),
            shared_mem=shared,
        )  # fmt: skip
        n = int(n_found[0])
        return sets[: min(n, room)], n

    def fours(self, job: FoursJob, room: int) -> tuple[Any, int]:
        """Return the sets of four that reach the limit."""
        xp = self.xp
        room_slots, words = job.bits.shape
        sets, n_found = xp.empty((room, 4), xp.int32), xp.zeros(1, xp.uint64)
        shape = self._shape_of_fours(words)
        assert shape is not None, "the engine takes sets of four"
        per_block, panel, stages, shared = shape
        n_h, n_tiles = job.h_end - job.h_first, room_slots // TILE_J * (room_slots // TILE_J + 1)
        groups = -(-n_h // per_block)
        # Zeros, since a kernel reads counts of triples that are none, and must not meet infinity there.
        threes = xp.zeros((groups * per_block, room_slots, room_slots), xp.float32)
        defines = (("PJ", 1), ("WIDE", 0), ("HS", per_block), ("STREAM", int(panel == 0)))
        for name, blocks, arguments, bytes_needed in (
            ("threes", -(-n_h // 4), (
                job.bits, np.int32(room_slots), np.int32(words), np.int32(job.h_first), np.int32(n_h), threes,
            ), 4 * (_TILE + GROUP * _ROW)),
            ("fours", groups, (
                job.bits, job.slots, job.kinds, job.scalars, job.rho, threes, job.limits, np.float32(job.bar),
                np.int32(job.n_slots), np.int32(room_slots), np.int32(words), np.int32(job.h_first),
                np.int32(job.h_end), np.int32(panel), np.int32(stages), np.float32(job.n_rows),
                np.int32(job.measure), np.float32(job.spare), sets, n_found, np.uint64(room),
            ), shared),
        ):  # fmt: skip
            kernel = _kernel("fours.cu", name, defines, self._notice)
            kernel.max_dynamic_shared_size_bytes = bytes_needed
            kernel((n_tiles, blocks), (256,), arguments, shared_mem=bytes_needed)
        n = int(n_found[0])
        return sets[: min(n, room)], n

    @cached_property
    def takes_fours(self) -> bool:
        """Whether a block has the shared memory that a screen of sets of four needs."""
        return self._shape_of_fours(STEP * 32) is not None

    def _shape_of_fours(self, words: int) -> tuple[int, int, int, int] | None:
        """Return the h of a block, then what :meth:`_shape` does; None where there is no room."""
        n_chunks = -(-words // _CHUNK)
        for n_h, is_resident in _SHAPES_OF_FOURS:
            of_i = (TILE_J + TILE_K) * (1 + n_h) + 8
            fixed = _SLOTS + n_h * (TILE_J + TILE_K + 4) + (1 + n_h) * TILE_J * TILE_K
            if is_resident:
                panel_words = n_chunks * _ROW + of_i
                resident = fixed + n_chunks * (_TILE + n_h * _ROW) + 2 * _PANEL * panel_words
                if 4 * resident <= self._shared:
                    return n_h, _PANEL, 0, 4 * resident
            else:
                stage = _TILE + (1 + n_h) * _ROW + of_i
                stages = min(_STAGES, (self._shared // 4 - fixed) // stage)
                if stages > 1:
                    return n_h, 0, stages, 4 * (fixed + stages * stage)
        return None

    def _shape(self, words: int) -> tuple[int, int, int]:
        """Return the i of a panel, 0 where rows are streamed, the stages of streaming and the shared memory."""
        n_chunks = -(-words // _CHUNK)
        for panel in (PADDING, PADDING // 2, PADDING // 4):
            of_panel = panel * (n_chunks * _ROW + _OF_I)
            if (needed := 4 * (_SLOTS + n_chunks * _TILE + 2 * of_panel)) <= self._shared:
                return panel, 0, needed
        stage = _TILE + GROUP * (_ROW + _OF_I)
        stages = min(_STAGES, (self._shared // 4 - _SLOTS) // stage)
        return 0, stages, 4 * (_SLOTS + stages * stage)

    def free_bytes(self) -> int:
        """Return the memory of the device that is free, or that CuPy holds and does not use."""
        free, _ = self.xp.cuda.runtime.memGetInfo()
        return int(free) + int(self.xp.get_default_memory_pool().free_bytes())

    def is_failure(self, error: BaseException) -> bool:
        """Whether there is no memory left, or the device is lost."""
        cuda = self.xp.cuda
        kinds = cuda.memory.OutOfMemoryError, cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError
        return isinstance(error, kinds)


@cache
def _kernel(
    file: str,
    name: str,
    defines: tuple[tuple[str, int], ...] = (),
    notice: Callable[[str], None] = lambda line: None,
) -> Any:
    """Return a kernel, compiled for this device at first use; CuPy keeps what it compiled on disk."""
    import cupy

    options = ["--std=c++17", *(f"-D{key}={value}" for key, value in defines)]
    if defines:
        assert LEVELS == 6  # as in tile.cuh
        notice("loading the GPU kernel (compiled once, some seconds)")
    return cupy.RawKernel(source(file), name, options=tuple(options))


def source(file: str) -> str:
    """Return the CUDA source of kernels; that of a screen begins with what all screens share."""
    shared = () if file == "prepare.cu" else ("tile.cuh", "queue.cuh")
    folder = Path(__file__).parent
    return "\n".join((folder / part).read_text(encoding="utf-8") for part in (*shared, file))
