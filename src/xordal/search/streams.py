"""Candidates in waiting: arrays of variable sets with the highest rank each can have.

A scan finds far more sets than a search will ever score. They wait as numbers, best first, and become
candidates only when none that is scored exactly can be shown to be better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.types import VarSet, varset


class Stream:
    """Variable sets in the order of the highest rank they can have.

    Parameters
    ----------
    sets
        Shape (sets, order): variables.
    upper
        Shape (sets,): highest possible ranks.
    bases, of
        Variable sets to unite with, and which one of them each row belongs to; none by default.
    """

    def __init__(
        self,
        sets: NDArray[np.int32],
        upper: NDArray[np.float64],
        bases: Sequence[VarSet] = (),
        of: NDArray[np.int64] | None = None,
    ) -> None:
        best_first = np.argsort(-upper, kind="stable")
        self._sets = sets[best_first]
        self._upper = upper[best_first]
        self._bases = bases
        self._of = None if of is None else of[best_first]
        self._at = 0

    @property
    def highest(self) -> float:
        """The highest rank that what is left can have; -inf when nothing is left."""
        return float(self._upper[self._at]) if self._at < len(self._upper) else -np.inf

    def take(self, most: int, at_least: float) -> list[VarSet]:
        """Return the next sets that can reach a rank, at most so many."""
        end = min(len(self._upper), self._at + most)
        reach = int(np.searchsorted(-self._upper[self._at : end], -at_least, side="right"))
        rows = slice(self._at, self._at + reach)
        self._at = rows.stop
        return list(self._masks(rows))

    def _masks(self, rows: slice) -> Iterator[VarSet]:
        for place, chosen in enumerate(self._sets[rows].tolist(), start=rows.start):
            base = 0 if self._of is None else self._bases[int(self._of[place])]
            yield VarSet(base | varset(chosen))
