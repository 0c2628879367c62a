"""Variable sets as kernels take them: flat arrays of their members."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.data.packed import PackedColumns
from xordal.types.varsets import VarSet, members

_WIDE = 1000  # variables from which the few members of a set are sooner found than its many bits looked through


class Batch(NamedTuple):
    """Variable sets as flat arrays: set s is ``members[ends[s] - lengths[s] : ends[s]]``."""

    members: NDArray[np.int64]
    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sizes: NDArray[np.float64]  # cells of the full tables; may exceed all integers

    @classmethod
    def of(cls, sets: Sequence[VarSet], n_levels: NDArray[np.int64]) -> Batch:
        """Return the sets as flat arrays."""
        found = _members(sets, len(n_levels))
        lengths = np.fromiter(map(int.bit_count, sets), dtype=np.int64, count=len(sets))
        ends = np.cumsum(lengths)
        # Of an empty run NumPy returns what comes next, so there is always something next.
        sizes = np.multiply.reduceat(np.append(n_levels[found].astype(np.float64), 1.0), ends - lengths)
        sizes[lengths == 0] = 1.0
        return cls(found, ends, lengths, sizes)

    def only(self, chosen: NDArray[np.int64]) -> Batch:
        """Return some of the sets."""
        lengths = self.lengths[chosen]
        ends = np.cumsum(lengths)
        index = np.arange(int(lengths.sum())) + np.repeat(self.ends[chosen] - ends, lengths)
        return Batch(self.members[index], ends, lengths, self.sizes[chosen])

    def fits(self, bits: PackedColumns | None, most_cells: int) -> NDArray[np.bool_]:
        """Return which sets are not empty, have small tables and lie in the bits."""
        if bits is None:
            return np.zeros(len(self.ends), dtype=bool)
        found = (self.sizes <= most_cells) & (self.lengths > 0)
        is_absent = bits.first[self.members + 1] == bits.first[self.members]
        if is_absent.any():
            absent = np.append(is_absent, False)
            found &= ~np.logical_or.reduceat(absent, self.ends - self.lengths)
        return np.asarray(found)


def _members(sets: Sequence[VarSet], n_variables: int) -> NDArray[np.int64]:
    """Return the members of sets, one set after the other."""
    if n_variables > _WIDE:
        return np.fromiter(chain.from_iterable(map(members, sets)), dtype=np.int64)
    n_bytes = -(-n_variables // 8)
    octets = np.frombuffer(b"".join([s.to_bytes(n_bytes, "little") for s in sets]), dtype=np.uint8)
    filled = np.flatnonzero(octets)
    bits = np.flatnonzero(np.unpackbits(octets[filled], bitorder="little"))
    return np.asarray(filled[bits >> 3] % max(n_bytes, 1) * 8 + (bits & 7))
