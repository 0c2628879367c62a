"""Columns as bits: one plane of 64-bit words per variable and level, bit b of word t being row 64 t + b.

Counting rows with given levels is then AND and population count. Bits beyond the last row are zero.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WORD = 64
MOST_LEVELS = 16
"""Columns with more levels are not packed: a plane for each level takes more room than codes."""
_AT_ONCE = 1 << 16  # codes packed in one call of NumPy: they fit a processor's cache, and calls are few enough


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

    Examples
    --------
    >>> packed = pack(np.array([[0, 1, 1], [2, 0, 2]]), [2, 3])
    >>> packed.planes.tolist()
    [[1], [6], [2], [0], [5]]
    >>> unpack(packed).tolist()
    [[0, 1, 1], [2, 0, 2]]
    """
    n_rows = codes.shape[1] if weights is None else int(weights.sum())
    chosen = range(len(n_levels)) if only is None else only
    n_planes = [n_levels[v] if v in chosen else 0 for v in range(len(n_levels))]
    first = np.concatenate([[0], np.cumsum(n_planes, dtype=np.int64)]).astype(np.int64)
    octets = np.zeros((int(first[-1]), -(-n_rows // WORD) * 8), dtype=np.uint8)
    planes, at = np.array(n_planes), first[:-1]
    for levels in np.unique(planes[planes > 0]).tolist():
        alike = np.flatnonzero(planes == levels)
        n_columns = max(1, _AT_ONCE // max(n_rows, 1))
        for start in range(0, len(alike), n_columns):
            some = alike[start : start + n_columns]
            columns = codes[some] if weights is None else np.repeat(codes[some], weights, axis=1)
            for level in range(levels):
                bits = np.packbits(columns == level, axis=1, bitorder="little")
                octets[at[some] + level, : bits.shape[1]] = bits
    return PackedColumns(octets.view("<u8").astype(np.uint64, copy=False), first, n_rows)


def unpack(packed: PackedColumns) -> NDArray[np.int32]:
    """Return the level codes of packed columns, shape (variables, rows); -1 where a variable is not packed."""
    n_variables = len(packed.first) - 1
    codes = np.full((n_variables, packed.n_rows), -1, dtype=np.int32)
    for v in range(n_variables):
        octets = packed.of(v).astype("<u8").view(np.uint8)
        for level, bits in enumerate(np.unpackbits(octets, axis=1, bitorder="little", count=packed.n_rows)):
            codes[v, bits == 1] = level
    return codes
