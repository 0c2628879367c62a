"""Tables with a known network: hidden XOR triples among chains of ordinary links."""

from __future__ import annotations

import numpy as np

from xordal.data.table import CategoricalTable
from xordal.types.varsets import LinkSet

FLIPPED = 0.05  # share of rows in which a hidden rule does not hold
COPIED = 0.7  # share of rows in which a column of a chain repeats the one before


def planted(n_variables: int, n_rows: int, n_hidden: int, seed: int = 0) -> tuple[CategoricalTable, LinkSet]:
    """Return a table of fair bits and its true links, in an order of columns drawn at random.

    ``n_hidden`` triples are XORs with some flips; all other columns lie in chains of two to seven.
    """
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2, size=(n_variables, n_rows), dtype=np.int32)
    links: list[tuple[int, int]] = []
    for a in range(0, 3 * n_hidden, 3):
        codes[a + 2] = codes[a] ^ codes[a + 1] ^ (generator.random(n_rows) < FLIPPED)
        links += [(a, a + 1), (a, a + 2), (a + 1, a + 2)]
    v = 3 * n_hidden
    while v < n_variables:
        end = min(n_variables, v + int(generator.integers(2, 8)))
        for u in range(v + 1, end):
            codes[u] = np.where(generator.random(n_rows) < COPIED, codes[u - 1], codes[u])
            links.append((u - 1, u))
        v = end
    place = generator.permutation(n_variables)
    shuffled = np.empty_like(codes)
    shuffled[place] = codes
    moved = sorted((min(place[u], place[v]), max(place[u], place[v])) for u, v in links)
    names = tuple(f"v{v}" for v in range(n_variables))
    table = CategoricalTable(names, ((0, 1),) * n_variables, shuffled)
    return table, tuple((int(u), int(v)) for u, v in moved)
