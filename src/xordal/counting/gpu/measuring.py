"""What is measured of sets, from their full tables, in double precision; on the device or on the host.

The tables are whole numbers, shape (sets, levels, ..., levels), an axis for each part of a set, as many levels
to each as the largest has. ``xp`` is NumPy or CuPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from xordal.counting.oracle import Measure

_MOST_ROUNDS = 200  # of fitting, after which what is known is a bound
_LOOK = 4  # rounds between two looks at how far the fit is
_PRECISION = 1e-9  # largest difference of a margin, as a share of the rows, at which fitting ends


class Measured(NamedTuple):
    """What was measured of sets, and whether that is the measure itself and no bound above it."""

    values: Any  # (sets,) float64 nats
    are_known: Any  # (sets,) bool


def measured(xp: Any, tables: Any, measure: Measure, n_rows: int) -> Measured:
    """Return what is measured of each set; of an interaction a bound, to be made a number by :func:`fitted`.

    Examples
    --------
    >>> import numpy as np
    >>> xor = np.array([[[[5, 0], [0, 5]], [[0, 5], [5, 0]]]])
    >>> [round(float(measured(np, xor, what, 20).values[0]), 4) for what in ("total", "needed", "interaction")]
    [0.6931, 0.6931, 0.6931]
    """
    n_parts = tables.ndim - 1
    known: dict[tuple[int, ...], Any] = {}

    def of(*parts: int) -> Any:
        if parts not in known:
            known[parts] = _entropies(xp, tables, parts, n_rows)
        return known[parts]

    def without(*left_out: int) -> Any:
        return of(*(part for part in range(n_parts) if part not in left_out))

    if measure == "total":
        values = sum(of(part) for part in range(n_parts)) - without()
    elif measure == "needed":
        values = _least(xp, [of(part) + without(part) - without() for part in range(n_parts)])
    else:
        pairs = combinations(range(n_parts), 2)
        values = _least(xp, [without(x) + without(y) - without(x, y) - without() for x, y in pairs])
    return Measured(values, xp.full(len(tables), measure != "interaction"))


def fitted(xp: Any, tables: Any, n_rows: int) -> Measured:
    """Return the interaction of each set, by fitting all margins of all parts but one in turn.

    The divergence from what is fitted so far only falls, so it is a bound above the interaction at any time.
    """
    counts = tables.astype(xp.float64)
    axes = range(1, counts.ndim)
    wanted = [counts.sum(axis=axis, keepdims=True) for axis in axes]
    fit = xp.ones_like(counts)
    off = xp.zeros(len(counts))
    for rounds in range(_MOST_ROUNDS):
        off = xp.zeros(len(counts))
        for axis, margin in zip(axes, wanted, strict=True):
            now = fit.sum(axis=axis, keepdims=True)
            off = xp.maximum(off, xp.abs(now - margin).max(axis=tuple(axes)))
            fit *= xp.where(now > 0, margin / xp.where(now > 0, now, 1.0), 0.0)
        if rounds % _LOOK == _LOOK - 1 and bool((off <= _PRECISION * n_rows).all()):
            break
    ratio = xp.where(counts > 0, counts / xp.where(counts > 0, fit, 1.0), 1.0)
    values = (counts * xp.log(ratio)).sum(axis=tuple(axes)) / n_rows
    return Measured(xp.maximum(values, 0.0), off <= _PRECISION * n_rows)


def _entropies(xp: Any, tables: Any, parts: Sequence[int], n_rows: int) -> Any:
    """Return the entropy of some parts of each set, in nats."""
    others = tuple(part + 1 for part in range(tables.ndim - 1) if part not in parts)
    counts = (tables.sum(axis=others) if others else tables).astype(xp.float64)
    shares = counts / n_rows
    terms = shares * xp.log(xp.where(counts > 0, shares, 1.0))
    return -terms.sum(axis=tuple(range(1, terms.ndim)))


def _least(xp: Any, values: Sequence[Any]) -> Any:
    least = values[0]
    for other in values[1:]:
        least = xp.minimum(least, other)
    return least
