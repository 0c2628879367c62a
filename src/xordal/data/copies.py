"""Columns that say the same: copies, and codes for the same thing.

Country names and country codes are two columns and one piece of knowledge: each level of the one goes with one
level of the other, in all rows. Whatever depends on the one depends on the other, and no data can tell which is
meant. So one of them, the first, stands for all in the search, and the others are named as its copies.
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.types.varsets import LinkSet

_AT_ONCE = 1 << 20  # rows looked at together
_LOOKED_AT = 256  # rows, about, that tell nearly all columns apart which have levels of equal frequency


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
    by_counts: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for v in range(table.n_variables):
        counts = level_counts(table, v)
        if len(counts) > 1 and counts.max() > 1:
            by_counts[tuple(np.sort(counts).tolist())].append(v)
    n_levels, every = table.n_levels, max(1, table.codes.shape[1] // _LOOKED_AT)
    alike: defaultdict[bytes, list[int]] = defaultdict(list)
    for v in (v for some in by_counts.values() if len(some) > 1 for v in some):
        alike[_without_names(table.codes[v, ::every], n_levels[v])].append(v)
    first: dict[bytes, int] = {}
    found = []
    for v in sorted(v for some in alike.values() if len(some) > 1 for v in some):
        original = first.setdefault(_without_names(table.codes[v], n_levels[v]), v)
        if original != v:
            found.append((original, v))
    return tuple(sorted(found))


def level_counts(table: CategoricalTable, v: int) -> NDArray[np.int64]:
    """Return how many rows have each level of a column, some rows at a time: there may be very many."""
    counts = np.zeros(len(table.levels[v]), dtype=np.int64)
    for start in range(0, table.codes.shape[1], _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        weights = None if table.weights is None else table.weights[rows]
        counts += np.bincount(table.codes[v, rows], weights=weights, minlength=len(counts)).astype(np.int64)
    return counts


def _without_names(codes: NDArray[np.int32], n_levels: int) -> bytes:
    """Return a digest of a column with its levels numbered in the order in which they first occur."""
    number = np.full(n_levels, -1, dtype=np.int64)
    digest, known = sha256(), 0
    for start in range(0, len(codes), _AT_ONCE):
        some = codes[start : start + _AT_ONCE]
        first = np.full(n_levels, len(some), dtype=np.int64)
        first[some[::-1]] = np.arange(len(some))[::-1]  # of several rows assigned to a level the last stays
        new = [level for level in np.argsort(first).tolist() if number[level] < 0 and first[level] < len(some)]
        number[new] = np.arange(known, known + len(new))
        known += len(new)
        digest.update(number[some].tobytes())
    return digest.digest()
