"""Columns as bits: one plane of 64-bit words per variable and level, bit b of word t being row 64 t + b.

Counting rows with given levels is then AND and population count. Bits beyond the last row are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WORD = 64
MOST_LEVELS = 16
"""Columns with more levels are not packed: a plane for each level takes more room than codes."""
_AT_ONCE = 1 << 20  # codes packed in one call of NumPy: of shorter calls threads wait for each other


@dataclass(frozen=True, slots=True, eq=False)
class PackedColumns:
    """The bit planes of some variables.

    Attributes
    ----------
    planes
        Shape (planes, words): the planes of variable v are ``planes[first[v] : first[v + 1]]``, by level.
    first
        Shape (variables + 1,): where the planes of each variable begin; one that is not packed has none.
    n_rows
        Number of rows.
    """

    planes: NDArray[np.uint64]
    first: NDArray[np.int64]
    n_rows: int

    def of(self, v: int) -> NDArray[np.uint64]:
        """Return the planes of one variable, shape (levels, words)."""
        return self.planes[self.first[v] : self.first[v + 1]]


def pack(
    codes: NDArray[np.int32],
    n_levels: Sequence[int],
    only: Collection[int] | None = None,
    weights: NDArray[np.int64] | None = None,
    at_once: Callable[[Callable[[NDArray[np.int64]], None], Iterable[NDArray[np.int64]]], Iterable[None]] = map,
) -> PackedColumns:
    """Return the bit planes of all variables, or only of some.

    Parameters
    ----------
    codes
        Shape (variables, rows): level codes.
    n_levels
        Number of levels of each variable.
    only
        The variables to pack; all where None.
    weights
        How often each row is repeated; once where None.
    at_once
        Calls a function for each of some things, as ``map`` does one by one; threads may share them out.

    Examples
    --------
    >>> packed = pack(np.array([[0, 1, 1], [2, 0, 2]]), [2, 3])
    >>> packed.planes.tolist()
    [[1], [6], [2], [0], [5]]
    >>> unpack(packed).tolist()
    [[0, 1, 1], [2, 0, 2]]
    """
    n_rows = codes.shape[1] if weights is None else int(weights.sum())
    planes = np.array(n_levels, dtype=np.int64)
    if only is not None:
        planes[[v for v in range(len(n_levels)) if v not in only]] = 0
    first = np.concatenate([[0], np.cumsum(planes)])
    octets = np.zeros((int(first[-1]), -(-n_rows // WORD) * 8), dtype=np.uint8)
    at, all_rows = first[:-1], np.packbits(np.ones(n_rows, bool), bitorder="little")

    def fill(some: NDArray[np.int64]) -> None:
        """Pack columns of equally many levels."""
        levels, columns = int(planes[some[0]]), codes[_as_slice(some)]
        if weights is not None:
            columns = np.repeat(columns, weights, axis=1)
        rest = np.broadcast_to(all_rows, (len(some), len(all_rows)))  # the last level has what is left
        for level in range(levels - 1):
            bits = np.packbits(columns == level, axis=1, bitorder="little")
            octets[at[some] + level, : len(all_rows)] = bits
            rest = rest ^ bits
        octets[at[some] + levels - 1, : len(all_rows)] = rest

    most = max(1, _AT_ONCE // max(n_rows, 1))
    alike = [np.flatnonzero(planes == levels) for levels in np.unique(planes[planes > 0]).tolist()]
    for _ in at_once(
        fill, (some[start : start + most] for some in alike for start in range(0, len(some), most))
    ):
        pass
    return PackedColumns(octets.view("<u8").astype(np.uint64, copy=False), first, n_rows)


def _as_slice(places: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return increasing places, as a slice where they are a run: what lies there is then not copied."""
    is_run = places[-1] - places[0] + 1 == len(places)
    return slice(int(places[0]), int(places[-1]) + 1) if is_run else places


def unpack(packed: PackedColumns) -> NDArray[np.int32]:
    """Return the level codes of packed columns, shape (variables, rows); -1 where a variable is not packed."""
    n_variables = len(packed.first) - 1
    codes = np.full((n_variables, packed.n_rows), -1, dtype=np.int32)
    for v in range(n_variables):
        octets = packed.of(v).astype("<u8").view(np.uint8)
        for level, bits in enumerate(np.unpackbits(octets, axis=1, bitorder="little", count=packed.n_rows)):
            codes[v, bits == 1] = level
    return codes
