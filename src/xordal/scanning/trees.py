"""What pairs explain of a set: the links of its best tree (Chow & Liu 1968)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def tree_weights(sets: NDArray[np.int32], pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each set what is shared along the links of its best tree, by what each pair shares.

    No set shares less in all. Prim's algorithm, for all sets at once.

    Examples
    --------
    >>> pairs = np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    >>> tree_weights(np.array([[0, 1, 2], [0, 2, 1]], dtype=np.int32), pairs)
    array([5., 5.])
    """
    every = np.arange(len(sets))
    reach = pairs[sets[:, :1], sets]
    reach[:, 0] = -np.inf
    total = np.zeros(len(sets))
    for _ in range(sets.shape[1] - 1):
        place = reach.argmax(axis=1)
        total += reach[every, place]
        chosen = sets[every, place]
        reach = np.where(reach == -np.inf, -np.inf, np.maximum(reach, pairs[chosen[:, None], sets]))
        reach[every, place] = -np.inf
    return total


def least_beyond_pairs(
    sets: NDArray[np.int32], shared: NDArray[np.float64], pairs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a bound on the least that two variables of each set share more given the rest than alone.

    What x and y share given the rest R is what all share, less what all but x share and less what x shares with
    R. The latter is no less than what x shares with any one of R, the former no less than what is shared along
    the links of any tree (Chow & Liu 1968). Of triples it is no bound but the number itself.
    """
    size = sets.shape[1]
    if size == 3:
        x, y, z = sets.T
        return np.asarray(shared - pairs[x, y] - pairs[x, z] - pairs[y, z])
    found = np.full(len(sets), np.inf)
    for x in range(size):
        others = [v for v in range(size) if v != x]
        left = shared - tree_weights(sets[:, others], pairs)
        with_x = pairs[sets[:, [x]], sets]
        for y in others:
            rest = with_x[:, [v for v in others if v != y]].max(axis=1)
            found = np.minimum(found, left - rest - with_x[:, y])
    return found
