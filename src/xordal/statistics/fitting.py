"""The table of largest entropy among all that have given margins.

Think of a table of three columns of which only the tables of two are known. Many tables of three agree with
them; the one of largest entropy adds nothing of its own. How far the data are from it is what the three share
beyond any two (:mod:`xordal.statistics.interaction`, :mod:`xordal.statistics.hidden`).

Iterative proportional fitting (Deming & Stephan 1940) finds it: each margin in turn is put right, all tables of
a batch at once. It is quick unless the fitted table has zeros that the margins do not force. Then a cell
shrinks like one over the number of rounds, and the divergence was 8e-5 nats too high after a thousand. What is
not done after a few rounds is therefore finished by Newton's method on the logarithms of the cells, where such
a cell shrinks by a factor e in each step. Both stay within the log-linear model of the margins, so every
intermediate table bounds the divergence from above. Models too large for Newton's method get a thousand rounds,
and may stay up to about 1e-4 nats too high.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Axes = tuple[int, ...]

_PRECISION = 1e-9  # largest difference of a margin, as a share of the rows, at which fitting ends
_FEW_ROUNDS, _MANY_ROUNDS, _MOST_ROUNDS = 30, 200, 1000
_MOST_STEPS, _MOST_HALVES, _LONGEST_STEP = 60, 30, 50.0
FEW_PARAMETERS = 64  # up to which a step of Newton's method costs no more than a few rounds of fitting
_MOST_WORK = 2 * 10**7  # multiplications of a step of Newton's method: cells times the square of the parameters
_MOST_NUMBERS = 4_000_000  # held at a time by Newton's method


def all_but_one(n_axes: int) -> tuple[Axes, ...]:
    """Return the margins over all variables but one, as places of the variables."""
    return tuple(combinations(range(n_axes), n_axes - 1))


def fit_margins(tables: Floats, margins: Sequence[Axes] | None = None, *, is_exact: bool = True) -> Floats:
    """Return, for each table of a batch, the one of largest entropy with the same margins.

    Parameters
    ----------
    tables
        Shape (tables, levels of the first variable, levels of the second, ...): counts or probabilities.
    margins
        The sets of variables, by their places from 0 on, whose tables are kept; all but one by default.
    is_exact
        Whether to finish what a few rounds do not; without, the divergence may be a little too high.

    Examples
    --------
    >>> xor = np.array([[[[25.0, 0], [0, 25]], [[0, 25], [25, 0]]]])
    >>> fit_margins(xor).reshape(-1)
    array([12.5, 12.5, 12.5, 12.5, 12.5, 12.5, 12.5, 12.5])
    >>> fit_margins(xor[0], margins=[(0,), (1,)]).shape
    (2, 2, 2)
    """
    kept = all_but_one(tables.ndim - 1) if margins is None else tuple(margins)
    fitted = np.ones_like(tables)
    n_rows = np.maximum(tables.reshape(len(tables), -1).sum(axis=1), 1e-300)
    goals = [_margin(tables, axes) for axes in kept]
    left = np.arange(len(tables))
    n_parameters = model_parameters(tables.shape[1:], kept)
    able = tables[:1].size * n_parameters**2 <= _MOST_WORK
    few = _FEW_ROUNDS if n_parameters <= FEW_PARAMETERS or not is_exact else _MANY_ROUNDS
    for _ in range(few if able or not is_exact else _MOST_ROUNDS):
        part, off = fitted[left], np.zeros(len(left))
        for axes, goal in zip(kept, goals, strict=True):
            off = np.maximum(off, _put_right(part, goal[left], axes))
        fitted[left] = part
        left = left[off > _PRECISION * n_rows[left]]
        if not len(left):
            return fitted
    if able and is_exact:
        design = _design(tables.shape[1:], kept)
        at_once = max(1, _MOST_NUMBERS // (n_parameters * n_parameters + 4 * design.size))
        for start in range(0, len(left), at_once):
            chosen = left[start : start + at_once]
            fitted[chosen] = _finished(fitted[chosen], tables[chosen], design)
    return fitted


def model_parameters(levels: Sequence[int], margins: Sequence[Axes]) -> int:
    """Return the number of parameters of the log-linear model of some margins, the constant among them.

    Examples
    --------
    >>> model_parameters((2, 3, 4), [(0, 1), (1, 2)])
    15
    """
    return sum(prod(levels[axis] - 1 for axis in term) for term in terms_of(tuple(margins)))


@lru_cache(maxsize=256)
def terms_of(margins: tuple[Axes, ...]) -> tuple[Axes, ...]:
    """Return all sets of variables inside some margin, the empty one first."""
    found = {term for axes in margins for size in range(len(axes) + 1) for term in combinations(axes, size)}
    return tuple(sorted(found, key=lambda term: (len(term), term)))


def _margin(tables: Floats, axes: Axes) -> Floats:
    others = tuple(axis + 1 for axis in range(tables.ndim - 1) if axis not in axes)
    return np.asarray(tables.sum(axis=others, keepdims=True))


def _put_right(fitted: Floats, goal: Floats, axes: Axes) -> Floats:
    """Give tables one margin, in place; return how far the worst cell of it was off, table by table."""
    now = _margin(fitted, axes)
    off = np.abs(now - goal).reshape(len(fitted), -1).max(axis=1, initial=0.0)
    fitted *= np.divide(goal, now, out=np.zeros_like(goal), where=now > 0)
    return np.asarray(off)


@lru_cache(maxsize=16)
def _design(levels: tuple[int, ...], margins: tuple[Axes, ...]) -> Floats:
    """Return the 0/1 matrix of the log-linear model, shape (cells, parameters); the first level is the base."""
    codes = np.indices(levels).reshape(len(levels), -1)
    columns = [
        np.all(codes[list(term)] == np.array(chosen, dtype=np.int64)[:, None] + 1, axis=0)
        for term in terms_of(margins)
        for chosen in np.ndindex(*(levels[axis] - 1 for axis in term))
    ]
    return np.array(columns, dtype=np.float64).T


def _finished(fitted: Floats, tables: Floats, design: Floats) -> Floats:
    """Return fitted tables made exact by Newton's method, each step halved until it is one downhill."""
    shape = fitted.shape
    wanted, now = tables.reshape(len(tables), -1), fitted.reshape(len(fitted), -1)
    n_rows = np.maximum(wanted.sum(axis=1), 1e-300)
    for _ in range(_MOST_STEPS):
        slope = (wanted - now) @ design
        if np.all(np.abs(slope).max(axis=1) <= _PRECISION * n_rows):
            break
        now = _step(now, wanted, slope, design)
    return now.reshape(shape)


def _step(now: Floats, wanted: Floats, slope: Floats, design: Floats) -> Floats:
    curvature = np.einsum("bi,ik,il->bkl", now, design, design, optimize=True)
    size = np.einsum("bkk->b", curvature)
    # Parameters that no row speaks about would make the matrix singular.
    curvature += (1e-14 * size)[:, None, None] * np.eye(design.shape[1])
    change = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0] @ design.T
    before, best = _height(now, wanted), now.copy()
    length, left = 1.0, np.arange(len(now))
    for _ in range(_MOST_HALVES):
        tried = now[left] * np.exp(np.clip(length * change[left], -_LONGEST_STEP, _LONGEST_STEP))
        is_down = _height(tried, wanted[left]) <= before[left]
        best[left[is_down]] = tried[is_down]
        left, length = left[~is_down], length / 2
        if not len(left):
            break
    return best


def _height(fitted: Floats, wanted: Floats) -> Floats:
    """Return what fitting makes as low as it can: the expected rows less the log-likelihood."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(wanted > 0, wanted * np.log(fitted), 0.0)
    return np.asarray((fitted - logs).sum(axis=1))
