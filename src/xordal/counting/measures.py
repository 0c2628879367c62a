"""What a scan measures of sets, from entropies: numbers where entropies suffice, otherwise a bound.

The variables of a set and its base, if there is one, are its *parts*. An interaction takes more than entropies
to compute. But it is a smallest divergence: among all distributions without an interaction of all parts, the
one that agrees with the data on every proper subset is closest to the data (Csiszar 1975). Two parts x and y
that are independent given the rest make such a distribution, and the divergence from that is I(x; y | rest). So
the smallest of these, over all pairs of parts, is a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import Measure

Entropies = Callable[[NDArray[np.int32], bool], NDArray[np.float64]]
"""From sets, shape (sets, size), and whether the base belongs to them, to their entropies in nats."""


def measured(
    measure: Measure, sets: NDArray[np.int32], has_base: bool, entropies: Entropies
) -> NDArray[np.float64]:
    """Return what is measured of each set; of an interaction a bound that is no smaller.

    Examples
    --------
    >>> def coins(sets, with_base):  # entropies of fair coins, the third the xor of the others
    ...     return np.log(2) * np.minimum(sets.shape[1], 2) * np.ones(len(sets))
    >>> xor = np.array([[0, 1, 2]], dtype=np.int32)
    >>> measured("needed", xor, False, coins).round(4).tolist()
    [0.6931]
    """
    n_parts = sets.shape[1] + has_base
    known: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def of(*parts: int) -> NDArray[np.float64]:
        if parts not in known:
            places = [part for part in parts if part < sets.shape[1]]
            known[parts] = entropies(sets[:, places], len(places) < len(parts))
        return known[parts]

    def without(*left_out: int) -> NDArray[np.float64]:
        return of(*(part for part in range(n_parts) if part not in left_out))

    if n_parts < 2:
        return np.zeros(len(sets))
    if measure == "total":
        return np.asarray(sum(of(part) for part in range(n_parts)) - without())
    if measure == "needed":
        adds = [of(part) + without(part) - without() for part in range(n_parts)]
    else:
        adds = [without(x) + without(y) - without(x, y) - without() for x, y in combinations(range(n_parts), 2)]
    return np.asarray(np.minimum.reduce(adds))
