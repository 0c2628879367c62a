"""When the kernels of the search pay: plain Python is done with small problems before kernels are loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Worth(NamedTuple):
    """How much is done in plain Python before kernels are used.

    Attributes
    ----------
    loading
        Before they are loaded, where this process has loaded no others: that takes about half a second.
    compiling
        Before they are compiled, which is done once on a machine and takes some seconds.
    """

    loading: int
    compiling: int

    def is_reached(self, n_done: int, kernel: Callable[[], object]) -> bool:
        """Whether so much was done that kernels pay; ``kernel`` is asked for the one to be loaded."""
        are_loaded = "xordal.counting.cpu_numba" in sys.modules
        if not are_loaded and n_done < self.loading:
            return False
        from xordal.counting._jit import is_compiled

        return n_done >= self.compiling or is_compiled(kernel())


def words_of(masks: Sequence[int]) -> NDArray[np.uint64]:
    """Return masks of vertices as rows of words, 64 vertices to a word.

    Examples
    --------
    >>> words_of([0b101, 1 << 70]).shape  # two words: there may be a vertex 70
    (2, 2)
    """
    n_words = max(1, (max(len(masks), max(masks, default=0).bit_length()) + 63) // 64)
    packed = b"".join(int(mask).to_bytes(8 * n_words, "little") for mask in masks)
    return np.frombuffer(packed, dtype="<u8").reshape(-1, n_words).astype(np.uint64)
