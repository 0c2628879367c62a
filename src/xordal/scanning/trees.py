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
