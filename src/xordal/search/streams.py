"""Candidates in waiting: arrays of variable sets with the highest rank each can have.

A scan finds far more sets than a search will ever score. They wait as numbers, best first, and become
candidates only when none that is scored exactly can be shown to be better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from xordal.types import VarSet, members, varset


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

    def take(self, most: int, at_least: float, labels: NDArray[np.int64]) -> list[VarSet]:
        """Return the next sets that can reach a rank, of at most so many looked at.

        ``labels`` number the components of the variables. A set whose variables, or a variable and its base,
        have come to share a component is no longer what it was found as, and is left out.
        """
        end = min(len(self._upper), self._at + most)
        reach = int(np.searchsorted(-self._upper[self._at : end], -at_least, side="right"))
        rows = slice(self._at, self._at + reach)
        self._at = rows.stop
        stands = self._stands(rows, labels)
        return [mask for mask, good in zip(self._masks(rows), stands.tolist(), strict=True) if good]

    def _stands(self, rows: slice, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        stands = are_apart(labels[self._sets[rows]])
        if self._of is not None:
            for number in np.unique(self._of[rows]).tolist():
                inside = labels[list(members(self._bases[number]))]
                touches = np.isin(labels[self._sets[rows]], inside).any(axis=1)
                stands &= ~(touches & (self._of[rows] == number))
        return stands

    def _masks(self, rows: slice) -> Iterator[VarSet]:
        for place, chosen in enumerate(self._sets[rows].tolist(), start=rows.start):
            base = 0 if self._of is None else self._bases[int(self._of[place])]
            yield VarSet(base | varset(chosen))


def labels_of(
    components: Sequence[int], before: Sequence[int] = (), known: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return a number for each variable, equal for those of one component.

    ``known`` are the labels of ``before``, other components of the same variables: most of them may still hold.

    Examples
    --------
    >>> labels_of([0b011, 0b011, 0b100])
    array([0, 0, 2])
    """
    if known is None:
        return np.array([(mask & -mask).bit_length() - 1 for mask in components], dtype=np.int64)
    labels = known.copy()
    for v, (now, then) in enumerate(zip(components, before, strict=True)):
        if now is not then:
            labels[v] = (now & -now).bit_length() - 1
    return labels


def are_apart(labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each row whether no two of its labels are equal.

    Examples
    --------
    >>> are_apart(np.array([[0, 0, 2], [0, 1, 2]]))
    array([False,  True])
    """
    apart = np.ones(len(labels), dtype=np.bool_)
    for one, other in combinations(range(labels.shape[1]), 2):
        apart &= labels[:, one] != labels[:, other]
    return apart
