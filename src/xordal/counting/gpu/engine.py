"""What a device does for a scan, and who can do it: CuPy on a GPU, NumPy as its mirror."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import Measure

LEVELS = 6
"""Levels of a variable that a device scans are fewer than this: up to four planes."""
CLASSES = 8
"""Classes of variables by the share of their rarest level."""
TILE_J, TILE_K, GROUP = 128, 64, 4
"""Slots j and k of a tile, and slots i that are multiplied with it at a time."""
PADDING = 32
"""Slots i come in multiples of this many, so that panels are full."""
STEP = 8
"""Words of rows that one product takes."""


MEASURES: tuple[Measure, ...] = ("total", "needed", "interaction")
"""By the numbers that ``screen.cu`` has for them."""


class ScreenJob(NamedTuple):
    """One call of the screen: every i of a run of variables with all later j and k.

    Arrays are the engine's own. ``place`` is the place of a variable among those scanned.
    """

    bits: Any  # (room_slots, words) uint32: planes j and k
    slots: Any  # (room_slots, 2) float32: weight and part of each slot
    kinds: Any  # (room_slots / planes,) uint8: levels of each variable, and 8 times its class
    i_bits: Any  # (n_i, words) uint32
    i_scalars: Any  # (n_i, 4) float32: weight / rows, part, limit or allowance, kind and place as bits
    i_rho: Any  # (n_i, room_slots) float32
    limits: (
        Any  # (LEVELS, LEVELS, LEVELS, CLASSES) float32: what chi must reach; (CLASSES,) where all are binary
    )
    planes_i: int
    planes: int
    n_slots: int  # those that are not padding
    i_first: int  # the place of the first i; -1 where i is the base of a scan
    n_rows: int
    tiles_j: tuple[int, int]  # the range of tiles of j that are looked at
    measure: int  # what binary columns are measured by before they are returned: its number in MEASURES
    bars: Any  # (LEVELS, LEVELS, LEVELS) float32: nats below which sets are not returned
    spare: float  # what rounding may take off the chi of binary columns, by (weight + 1)^2
    n_i: int  # slots i that are not padding, in whole groups


class FoursJob(NamedTuple):
    """One call of the screen of sets of four: every h of a range of binary columns with all later i, j and k.

    Arrays are the engine's own. A slot is a column here, and its number is its place.
    """

    bits: Any  # (room_slots, words) uint32
    slots: Any  # (room_slots, 2) float32: weight and part of each column
    kinds: Any  # (room_slots,) uint8: levels of each column, and 8 times its class
    scalars: Any  # (room_slots, 4) float32: weight / rows, part, limit, kind and place as bits
    rho: Any  # (room_slots, room_slots) float32: correlations
    limits: Any  # (CLASSES,) float32: what chi must reach
    n_slots: int  # those that are not padding
    h_first: int
    h_end: int
    n_rows: int
    measure: int  # by its number in MEASURES
    bar: float  # nats below which sets are not returned
    spare: float  # what rounding may take off chi, by (weight_h + 1)^2 (weight_i + 1)^2


class Engine(Protocol):
    """Holds the codes of a table's narrow columns and counts with them."""

    xp: Any
    """The module whose arrays it takes: NumPy or CuPy."""

    @property
    def takes_fours(self) -> bool:
        """Whether it can screen sets of four."""
        ...

    def load(self, codes: NDArray[np.int32], repeats: NDArray[np.int64] | None) -> Any:
        """Return codes, shape (columns, rows), as its own bytes; row r stands ``repeats[r]`` times."""
        ...

    def pack(self, codes: Any, variable: NDArray[np.int32], level: NDArray[np.int32]) -> Any:
        """Return the bits of slots, shape (slots, words): where a variable has a level; -1 is none."""
        ...

    def pairs(self, first: Any, second: Any) -> Any:
        """Return how many rows each of the first bit columns has in common with each of the second."""
        ...

    def screen(self, job: ScreenJob, room: int) -> tuple[Any, int]:
        """Return triples of places whose chi reaches the limit, at most ``room``, and how many there are."""
        ...

    def fours(self, job: FoursJob, room: int) -> tuple[Any, int]:
        """Return sets of four places whose chi reaches the limit, at most ``room``, and how many there are."""
        ...

    def tables(self, codes: Any, sets: Any, n_levels: int) -> Any:
        """Return the full table of each set, shape (sets, n_levels, ..., n_levels), int32."""
        ...

    def free_bytes(self) -> int:
        """Return about how much memory can still be taken."""
        ...

    def is_failure(self, error: BaseException) -> bool:
        """Whether an error means that the device cannot go on: no memory left, or the device is lost."""
        ...


def n_words(n_rows: int) -> int:
    """Return the 32-bit words of a bit column: whole steps of a product."""
    return max(1, -(-n_rows // (32 * STEP))) * STEP


def tile_of(block: int, room_slots: int) -> tuple[int, int]:
    """Return the first slots (j, k) of a block's tile: tiles with the last j, and so with most i, come first.

    With tj the number of a tile of j there are tiles of k from 2 tj on, since k comes after j.

    Examples
    --------
    >>> [tile_of(block, 256) for block in range(6)]
    [(128, 192), (128, 128), (0, 192), (0, 128), (0, 64), (0, 0)]
    """
    r = int((np.sqrt(1.0 + 4.0 * block) - 1.0) * 0.5)
    while r * (r + 1) > block:
        r -= 1
    while (r + 1) * (r + 2) <= block:
        r += 1
    tj = room_slots // TILE_J - 1 - r
    tk = room_slots // TILE_K - 1 - (block - r * (r + 1))
    return tj * TILE_J, tk * TILE_K


def threes_bytes(n_columns: int) -> int:
    """Return the memory that a screen of sets of four takes for each h: counts of h with all j and k."""
    room = -(-n_columns // TILE_J) * TILE_J
    return 4 * room * room


def blocks_of(job: ScreenJob) -> range:
    """Return the numbers of the blocks whose tiles a call looks at."""
    n_tj = int(job.bits.shape[0]) // TILE_J
    begin, end = (n_tj - tile for tile in reversed(job.tiles_j))
    return range(begin * (begin + 1), end * (end + 1))


def n_here(job: ScreenJob, j0: int) -> int:
    """Return how many slots i come before the last j of a tile, in whole groups."""
    last = (j0 + TILE_J) // job.planes - 1
    return min(job.n_i, max(last - job.i_first, 0) * job.planes_i + GROUP - 1) // GROUP * GROUP
