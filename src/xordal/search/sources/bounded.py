"""Variable sets that wait to be scored, best first.

A scan finds far more sets than a search will ever score. They wait as rows of an array with the highest rank
each can have, and become candidates only when no scored candidate is certainly better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, compress
from math import inf

import numpy as np
from numpy.typing import NDArray

from xordal.types.varsets import VarSet, members, varset


class BoundedSets:
    """Variable sets in the order of the highest rank they can have.

    Parameters
    ----------
    sets
        Shape (sets, size): variables.
    upper
        Shape (sets,): highest possible ranks.
    bases, of
        Variable sets to unite with, and which one of them each row belongs to; none by default.
    are_apart
        Whether a set is of interest only while its variables (its base counting as one) lie in different
        components. Once two of them are connected, completing it is another question, which sources that look
        around links answer; :meth:`take` then leaves it out.
    cut, more
        The highest rank of sets that were not kept for want of memory, and how to get at the best of them.

    Examples
    --------
    >>> found = BoundedSets(np.array([[0, 1], [1, 2]]), np.array([3.0, 5.0]))
    >>> found.upper, [members(s) for s in found.take(10, at_least=4.0, labels=np.arange(3))]
    (5.0, [(1, 2)])
    """

    def __init__(
        self,
        sets: NDArray[np.int32],
        upper: NDArray[np.float64],
        bases: Sequence[VarSet] = (),
        of: NDArray[np.int64] | None = None,
        *,
        are_apart: bool = False,
        cut: float = -inf,
        more: Callable[[NDArray[np.int64]], BoundedSets] | None = None,
    ) -> None:
        best_first = np.argsort(-upper, kind="stable")
        self._sets, self._uppers = sets[best_first], upper[best_first]
        self._bases, self._of = bases, None if of is None else of[best_first]
        self._are_apart, self._cut, self._more = are_apart, cut, more
        self._n_taken = 0

    @classmethod
    def each(cls, sets: Sequence[VarSet], upper: Sequence[float] | None = None) -> BoundedSets:
        """Return sets of any sizes, by default without a bound on their rank."""
        bounds = np.full(len(sets), inf) if upper is None else np.array(upper)
        return cls(np.empty((len(sets), 0), np.int32), bounds, sets, np.arange(len(sets)))

    @property
    def upper(self) -> float:
        """The highest rank that what is left can have; -inf when nothing is left."""
        return float(self._uppers[self._n_taken]) if self._n_taken < len(self._uppers) else self._cut

    def take(self, most: int, at_least: float, labels: NDArray[np.int64]) -> list[VarSet]:
        """Return the next sets that can reach a rank, of at most so many looked at.

        ``labels`` number the components of the variables.
        """
        if self._n_taken == len(self._uppers) and self._cut > -inf and self._more is not None:
            vars(self).update(vars(self._more(labels)))
        end = min(len(self._uppers), self._n_taken + most)
        n_able = int(np.searchsorted(-self._uppers[self._n_taken : end], -at_least, side="right"))
        rows = slice(self._n_taken, self._n_taken + n_able)
        self._n_taken = rows.stop
        if not self._are_apart:
            return list(self._masks(rows))
        return list(compress(self._masks(rows), self._still_apart(rows, labels).tolist()))

    def all(self) -> list[VarSet]:
        """Return all sets."""
        return list(self._masks(slice(0, len(self._uppers))))

    def _still_apart(self, rows: slice, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        of_sets = labels[self._sets[rows]]
        stand = are_apart(of_sets)
        if self._of is not None:
            for number in np.unique(self._of[rows]).tolist():
                inside = labels[list(members(self._bases[number]))]
                stand &= ~(np.isin(of_sets, inside).any(axis=1) & (self._of[rows] == number))
        return stand

    def _masks(self, rows: slice) -> Iterator[VarSet]:
        for row, chosen in enumerate(self._sets[rows].tolist(), start=rows.start):
            base = 0 if self._of is None else self._bases[int(self._of[row])]
            yield VarSet(base | varset(chosen))


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
