"""Columns that say the same: copies, and codes for the same thing.

Country names and country codes are two columns and one piece of knowledge: each level of the one goes with one
level of the other, in all rows. Whatever depends on the one depends on the other, and no data can tell which is
meant. So one of them, the first, stands for all in the search, and the others are named as its copies.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.types.varsets import LinkSet


def copies(table: CategoricalTable) -> LinkSet:
    """Return the columns that are one-to-one recodings of an earlier one, each behind the first such column.

    Constant columns are left out, and so are columns in which every row has a level of its own: any two of
    those are recodings of each other, which says nothing.

    Examples
    --------
    >>> table = CategoricalTable.from_columns({"code": ["de", "fr", "de"], "n": [1, 1, 2], "name": [9, 8, 9]})
    >>> copies(table)
    ((0, 2),)
    """
    alike: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for v, codes in enumerate(table.codes):
        counts = np.bincount(codes, weights=table.weights)
        if len(counts) > 1 and counts.max() > 1:
            alike[tuple(np.sort(counts).tolist())].append(v)
    first: dict[bytes, int] = {}
    found = []
    for v in sorted(v for some in alike.values() if len(some) > 1 for v in some):
        original = first.setdefault(_without_names(table.codes[v]).tobytes(), v)
        if original != v:
            found.append((original, v))
    return tuple(sorted(found))


def _without_names(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return a column with its levels numbered in the order in which they first occur."""
    first = np.empty(int(codes.max()) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several rows assigned to a level the last stays
    number = np.empty_like(first)
    number[np.argsort(first)] = np.arange(len(first))
    return number[codes]
