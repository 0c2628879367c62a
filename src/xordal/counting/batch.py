"""Variable sets as kernels take them: flat arrays of their members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.data.packed import PackedColumns
from xordal.types.varsets import VarSet


class Batch(NamedTuple):
    """Variable sets as flat arrays: set s is ``members[ends[s - 1] : ends[s]]``."""

    members: NDArray[np.int64]
    ends: NDArray[np.int64]
    sizes: NDArray[np.float64]  # cells of the full tables; may exceed all integers

    @classmethod
    def of(cls, sets: Sequence[VarSet], n_levels: NDArray[np.int64]) -> Batch:
        """Return the sets as flat arrays."""
        n_bytes = -(-len(n_levels) // 8)
        octets = np.frombuffer(b"".join(s.to_bytes(n_bytes, "little") for s in sets), dtype=np.uint8)
        where, byte = np.nonzero(octets.reshape(len(sets), n_bytes))
        bits = np.unpackbits(
            octets.reshape(len(sets), n_bytes)[where, byte][:, None], axis=1, bitorder="little"
        )
        place, bit = np.nonzero(bits)
        found = byte[place] * 8 + bit
        lengths = np.bincount(where[place], minlength=len(sets))
        ends = np.cumsum(lengths)
        return cls(found, ends, _products(n_levels[found].astype(np.float64), ends))

    def only(self, chosen: NDArray[np.int64]) -> Batch:
        """Return some of the sets."""
        begins = np.concatenate([[0], self.ends[:-1]])
        lengths = (self.ends - begins)[chosen]
        ends = np.cumsum(lengths)
        index = np.arange(int(lengths.sum())) + np.repeat(begins[chosen] - (ends - lengths), lengths)
        return Batch(self.members[index], ends, self.sizes[chosen])

    def fits(self, bits: PackedColumns | None, most_cells: int) -> NDArray[np.bool_]:
        """Return which sets are not empty, have small tables and lie in the bits."""
        if bits is None:
            return np.zeros(len(self.ends), dtype=bool)
        absent = np.concatenate([[0], np.cumsum(np.diff(bits.first)[self.members] == 0)])
        begins = np.concatenate([[0], self.ends[:-1]]) if len(self.ends) else self.ends
        there = absent[self.ends] == absent[begins]
        return np.asarray(there & (self.sizes <= most_cells) & (self.ends > begins))


def _products(values: NDArray[np.float64], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the product of each run of values; 1 of an empty run."""
    found = np.ones(len(ends))
    lengths = np.diff(ends, prepend=0)
    for longer in range(int(lengths.max(initial=0))):
        there = lengths > longer
        found[there] *= values[ends[there] - longer - 1]
    return found
