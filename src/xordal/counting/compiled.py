"""When kernels of the search and of p-values pay: small problems are done before any are loaded.

Compiling is done once on a machine. It takes 3 to 20 seconds, which nothing can end halfway: so it is
announced, and not begun where less than a minute is left of a time limit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_COMPILING = 60.0  # seconds that must be left


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


class Kernels:
    """Whether kernels are used.

    Parameters
    ----------
    seconds_left
        Returns how many seconds are left until a time limit.
    notice
        Called with a line of text before kernels are compiled.
    """

    def __init__(
        self,
        seconds_left: Callable[[], float] = lambda: inf,
        notice: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._seconds_left, self._notice = seconds_left, notice

    def pay(self, worth: Worth, n_done: int, what: str, kernel: Callable[[], object]) -> bool:
        """Whether so much was done that kernels pay; ``kernel`` is asked for the one to be loaded."""
        are_loaded = "xordal.counting.cpu_numba" in sys.modules
        if not are_loaded and n_done < worth.loading:
            return False
        from xordal.counting._jit import is_compiled

        if is_compiled(kernel()):
            return True
        if n_done < worth.compiling or self._seconds_left() < _COMPILING:
            return False
        self._notice(f"compiling the kernels of {what} (once; up to 20 seconds)")
        return True


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
