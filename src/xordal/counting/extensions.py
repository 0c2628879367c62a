"""What every variable shares with each of many bases, all variables at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting import _kernels
from xordal.counting.rows import Rows
from xordal.counting.threads import in_threads
from xordal.data.packed import MOST_LEVELS
from xordal.types.varsets import VarSet, members

_BATCH = 32  # bases whose cells are multiplied with all columns at once
_MOST_CELLS = 64  # of a base counted in bits


def extensions(
    rows: Rows, bases: Sequence[VarSet], threads: int, check: Callable[[], None] | None = None
) -> NDArray[np.float64]:
    """Return the mutual information of each base with each variable, shape (bases, variables), in nats.

    The error is at most three times ``rows.margin``; variables of the base itself have 0.
    """
    shared = np.zeros((len(bases), len(rows.n_levels)))
    small = [place for place, base in enumerate(bases) if base and _is_small(rows, base)]
    large = sorted({place for place, base in enumerate(bases) if base} - set(small))
    parts = [small[at : at + _BATCH] for at in range(0, len(small), _BATCH)]
    parts += [[place] for place in large]

    def extend(part: Sequence[int]) -> NDArray[np.float64]:
        chosen = [bases[place] for place in part]
        return _by_bits(rows, chosen) if _is_small(rows, chosen[0]) else _by_codes(rows, chosen[0])

    for part, found in zip(parts, in_threads(threads, extend, parts, helps=True, check=check), strict=True):
        shared[part] = found
    for place, base in enumerate(bases):
        shared[place, list(members(base))] = 0.0
    return np.maximum(shared, 0.0, out=shared)


def _is_small(rows: Rows, base: VarSet) -> bool:
    """Whether the cells of a base are few enough to be multiplied in bits."""
    levels = [rows.n_levels[v] for v in members(base)]
    return rows.bits is not None and max(levels) <= MOST_LEVELS and prod(levels) <= _MOST_CELLS


def _by_bits(rows: Rows, bases: Sequence[VarSet]) -> NDArray[np.float64]:
    assert rows.bits is not None
    layout, root = rows.layout_of()
    chosen = [members(base) for base in bases]
    flat = np.array(list(chain.from_iterable(chosen)), dtype=np.int64)
    batch = flat, np.cumsum([len(variables) for variables in chosen])
    planes, first, n_levels = rows.bits.planes, rows.bits.first, rows.codes.n_levels
    sums, of_bases = _kernels.extend_bits(
        planes, first, n_levels, root.words, root.ones[0], layout, batch, rows.logs
    )
    of_bases = -rows.shared(0.0, of_bases)
    shared = rows.shared(of_bases[:, None] + rows.alone, sums)
    others = np.flatnonzero(layout.block_of < 0).tolist()
    for place, base in enumerate(bases if others else ()):
        shared[place, others] = _by_codes(rows, base, others)
    return shared


def _by_codes(rows: Rows, base: VarSet, variables: Sequence[int] | None = None) -> NDArray[np.float64]:
    chosen = list(range(len(rows.n_levels))) if variables is None else list(variables)
    ids, n_ids = rows.codes.ids(base)
    of_base = -rows.shared(0.0, rows.log_sums(ids, n_ids, np.empty((1, 0), np.int64)))
    return rows.shared(of_base + rows.alone[chosen], rows.log_sums(ids, n_ids, [[v] for v in chosen]))
