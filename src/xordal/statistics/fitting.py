"""The table of largest entropy among all that have given margins.

Think of a table of three columns of which only the tables of two are known. Many tables of three agree with
them; the one of largest entropy adds nothing of its own. How far the data are from it is what the three share
beyond any two (:mod:`xordal.statistics.interaction`, :mod:`xordal.statistics.hidden`).

Iterative proportional fitting (Deming & Stephan 1940) finds it: each margin in turn is put right, all tables of
a batch at once. It is quick unless the fitted table has zeros that the margins do not force. Then a cell
shrinks like one over the number of rounds, and the divergence was 8e-5 nats too high after a thousand. What is
not done after a few rounds is therefore finished by Newton's method on the logarithms of the cells, where such
a cell shrinks by a factor e in each step. Both stay within the log-linear model of the margins, so every
intermediate table bounds the divergence from above. A table of many levels has far fewer cells that its margins
allow than parameters by name, so the parameters are first reduced to those that differ on these cells. Only
models that are too large even so get a thousand rounds, and may stay about 1e-4 nats too high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.compiled import Kernels, Worth
from xordal.counting.threads import interruptible

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Axes = tuple[int, ...]

_PRECISION = 1e-9  # largest difference of a margin, as a share of the rows, at which fitting ends
# Rounds where Newton's method finishes a small model, a large one, and where nothing does.
_FEW_ROUNDS, _MANY_ROUNDS, _MOST_ROUNDS = 30, 200, 1000
_ASKED_EVERY = 5  # rounds after which it is asked whether a fit is done
_CALL = 800  # cells that NumPy does in the time that its calls take
# Cells, of which NumPy does some 60 million in a second. Compiling takes two seconds.
_WORTH_KERNELS = Worth(loading=20_000_000, compiling=150_000_000)
# Newton's steps, how often one is halved, and by how much the logarithm of a cell moves in one, at most.
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
    shape = tables.shape[1:]
    kept = all_but_one(len(shape)) if margins is None else tuple(margins)
    wanted = np.ascontiguousarray(tables, dtype=np.float64).reshape(len(tables), -1)
    views = _views(shape, kept)
    if len(wanted) == 1:
        # Cells above an empty cell of a margin stay empty; of a table of many levels that is most of them.
        allowed = np.logical_and.reduce([(view.margin(wanted[0]) > 0)[view.of_cell] for view in views])
        if 2 * np.count_nonzero(allowed) < len(allowed):
            fitted = np.zeros_like(wanted)
            few = tuple(_view(np.unique(view.of_cell[allowed], return_inverse=True)[1]) for view in views)
            n_parameters = min(model_parameters(shape, kept), int(np.count_nonzero(allowed)))
            fitted[:, allowed] = _fitted(
                wanted[:, allowed], few, n_parameters, (lambda: _independent(few)) if is_exact else None
            )
            return fitted.reshape(tables.shape)
    design = (lambda: _design(shape, terms_of(kept))) if is_exact else None
    return _fitted(wanted, views, model_parameters(shape, kept), design).reshape(tables.shape)


def _fitted(
    wanted: Floats, views: tuple[_View, ...], n_parameters: int, design: Callable[[], Floats] | None
) -> Floats:
    """Return fitted tables, each in one row; ``design`` makes Newton's matrix, None: rounds only."""
    able = wanted.shape[1] * n_parameters**2 <= _MOST_WORK
    few = _FEW_ROUNDS if n_parameters <= FEW_PARAMETERS or design is None else _MANY_ROUNDS
    fitted, left = _in_rounds(wanted, views, few if able or design is None else _MOST_ROUNDS)
    if len(left) and able and design is not None:
        columns = design()
        at_once = max(1, _MOST_NUMBERS // (columns.shape[1] ** 2 + 4 * columns.size))
        for start in range(0, len(left), at_once):
            chosen = left[start : start + at_once]
            fitted[chosen] = _finished(fitted[chosen], wanted[chosen], columns)
    return fitted


def fit_terms(table: Floats, terms: Sequence[Axes]) -> Floats | None:
    """Return the table of largest entropy with the same pairs and the same highest interactions of some terms.

    Unlike a margin, a term brings nothing of the smaller sets inside it along: a parity of five is one number
    beside the pairs. None where the model is too large for Newton's method.

    Examples
    --------
    >>> xor = np.array([[[25.0, 0], [0, 25]], [[0, 25], [25, 0]]])
    >>> bool(np.allclose(fit_terms(xor, [(0, 1, 2)]), xor, atol=1e-6))
    True
    """
    shape = table.shape
    pairs = tuple(combinations(range(table.ndim), 2))
    n_parameters = model_parameters(shape, pairs) + sum(
        prod(shape[axis] - 1 for axis in term) for term in terms
    )
    if table.size * n_parameters**2 > _MOST_WORK:
        return None
    design = np.hstack([_design(shape, terms_of(pairs)), *(_contrasts(shape, term) for term in terms)])
    # The interaction of columns of two levels is how many rows are odd: a margin, which rounds put right. Where
    # no row is odd they do so at once, and Newton's method in twenty steps.
    parities = [_view(_parity(shape, term)) for term in terms if all(shape[axis] == 2 for axis in term)]
    begun, _ = _in_rounds(table.reshape(1, -1), (*_views(shape, pairs), *parities), _FEW_ROUNDS)
    return _finished(begun, table.reshape(1, -1), design).reshape(shape)


def fit_sum(table: Floats, sums: Integers) -> Floats:
    """Return the table of largest entropy with the same pairs and the same rows for each value of a sum.

    ``sums`` has the shape of the table: the value that each cell has.

    Examples
    --------
    >>> parity = np.array([[[25.0, 0], [0, 25]], [[0, 25], [25, 0]]])
    >>> odd = np.indices((2, 2, 2)).sum(axis=0) % 2
    >>> bool(np.allclose(fit_sum(parity, odd), parity))
    True
    """
    pairs = tuple(combinations(range(table.ndim), 2))
    _, of_cell = np.unique(sums, return_inverse=True)
    views = (*_views(table.shape, pairs), _view(of_cell.reshape(-1)))
    return _in_rounds(table.reshape(1, -1), views, _MANY_ROUNDS)[0].reshape(table.shape)


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


class _View(NamedTuple):
    """One margin of a table with its cells in one row: which cell of the margin each of them lies in."""

    of_cell: Integers
    n_cells: int

    def margin(self, table: Floats) -> Floats:
        """Return the margin of a table."""
        return np.asarray(np.bincount(self.of_cell, weights=table), dtype=np.float64)

    def of(self, n_tables: int) -> _View:
        """Return the margins of so many tables, one behind the other, as one."""
        if n_tables == 1:
            return self
        numbers = (self.of_cell + self.n_cells * np.arange(n_tables)[:, None]).reshape(-1)
        return _View(numbers, n_tables * self.n_cells)


@lru_cache(maxsize=256)
def _views(shape: tuple[int, ...], margins: tuple[Axes, ...]) -> tuple[_View, ...]:
    codes = np.indices(shape).reshape(len(shape), -1)
    found = []
    for axes in margins:
        sizes = tuple(shape[axis] for axis in axes)
        found.append(_view(np.ravel_multi_index(tuple(codes[list(axes)]), sizes) if axes else codes[0] * 0))
    return tuple(found)


def _view(of_cell: Integers) -> _View:
    """Return the margin in which the cells of a table lie in the cells with these numbers, all from 0 on."""
    return _View(of_cell, int(of_cell.max()) + 1)


def _in_rounds(wanted: Floats, views: Sequence[_View], n_rounds: int) -> tuple[Floats, Integers]:
    """Return tables after some rounds of proportional fitting, and the numbers of those that are not done."""
    fitted = np.ones_like(wanted)
    bars = _PRECISION * np.maximum(wanted.sum(axis=1), 1e-300)
    if _WORK.needs_kernels():
        from xordal.statistics._fitting import fit_in_rounds

        is_left = np.ones(len(wanted), dtype=np.bool_)
        of_cells, n_cells = (
            np.array([view.of_cell for view in views]),
            np.array([view.n_cells for view in views]),
        )
        with interruptible():
            fit_in_rounds(wanted, of_cells, n_cells, n_rounds, _ASKED_EVERY, bars, fitted, is_left)
        return fitted, np.flatnonzero(is_left)
    here = [view.of(len(wanted)) for view in views]
    goals = [view.margin(wanted.reshape(-1)) for view in here]
    is_full = all(goal.all() for goal in goals)  # no cell of a margin is empty, and none can become so
    left, part = np.arange(len(wanted)), fitted.reshape(-1)
    for number in range(n_rounds):
        is_asked = number % _ASKED_EVERY == _ASKED_EVERY - 1
        off = np.zeros(len(left))
        for view, goal in zip(here, goals, strict=True):
            now = view.margin(part)
            if is_asked:
                np.maximum(off, np.abs(now - goal).reshape(len(left), -1).max(axis=1, initial=0.0), out=off)
            factor = goal / (now if is_full else np.where(now > 0, now, 1.0))  # cells of no rows stay so
            part *= factor.take(view.of_cell)
        if is_asked:
            is_left = off > bars[left]
            fitted[left] = part.reshape(len(left), -1)
            if not is_left.all():
                left = left[is_left]
                goals = [goal.reshape(len(is_left), -1)[is_left].reshape(-1) for goal in goals]
                here, part = [view.of(len(left)) for view in views], fitted[left].reshape(-1)
            if not len(left):
                break
    fitted[left] = part.reshape(len(left), wanted.shape[1])
    _WORK.n_done += (number + 1) * len(views) * (wanted.size + _CALL)
    return fitted, left


@lru_cache(maxsize=16)
def _design(levels: tuple[int, ...], terms: tuple[Axes, ...]) -> Floats:
    """Return the 0/1 matrix of a log-linear model, shape (cells, parameters); the first level is the base."""
    codes = np.indices(levels).reshape(len(levels), -1)
    columns = [
        np.all(codes[list(term)] == np.array(chosen, dtype=np.int64)[:, None] + 1, axis=0)
        for term in terms
        for chosen in np.ndindex(*(levels[axis] - 1 for axis in term))
    ]
    return np.array(columns, dtype=np.float64).T


@dataclass(slots=True)
class _Work:
    """The cells that NumPy has summed up and put right in this process."""

    n_done: int = 0
    kernels: Kernels = field(default_factory=Kernels)

    def needs_kernels(self) -> bool:
        """Whether kernels go on."""
        return self.kernels.pay(_WORTH_KERNELS, self.n_done, "fitted tables", _kernel)


_WORK = _Work()


def _kernel() -> object:
    from xordal.statistics._fitting import fit_in_rounds

    return fit_in_rounds


def _independent(views: Sequence[_View]) -> Floats:
    """Return orthonormal columns that span the log-linear model of some margins.

    On the few cells that the margins of a table of many levels allow, most parameters are zero or sums of
    others, and Newton's method would divide by what rounding leaves of them.
    """
    indicators = [np.equal.outer(view.of_cell, np.arange(view.n_cells)) for view in views]
    left, sizes, _ = np.linalg.svd(np.hstack(indicators).astype(np.float64), full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * sizes[0]])


def _parity(levels: tuple[int, ...], term: Axes) -> Integers:
    """Return for each cell of a table whether an odd number of some columns is at the second level."""
    codes = np.indices(levels).reshape(len(levels), -1)
    return np.asarray(codes[list(term)].sum(axis=0) % 2)


def _contrasts(levels: tuple[int, ...], term: Axes) -> Floats:
    """Return the columns of an interaction by itself: of each variable a level against the first, multiplied.

    Of two levels this is the sign of the parity. Columns of zeros and ones would depend on which level is the
    first.
    """
    codes = np.indices(levels).reshape(len(levels), -1)
    columns = np.ones((codes.shape[1], 1))
    for axis in term:
        own = np.equal.outer(codes[axis], np.arange(1, levels[axis])) - (codes[axis] == 0)[:, None].astype(
            float
        )
        columns = (columns[:, :, None] * own[:, None, :]).reshape(len(columns), -1)
    return columns


def _finished(fitted: Floats, wanted: Floats, design: Floats) -> Floats:
    """Return fitted tables made exact by Newton's method, each step halved until it is one downhill.

    Each table takes its own steps, multiplied by itself: it comes out the same to the bit beside any others.
    """
    bars = _PRECISION * np.maximum(wanted.sum(axis=1), 1e-300)
    found, left = fitted.copy(), np.arange(len(fitted))
    for _ in range(_MOST_STEPS):
        slope = _times(wanted[left] - found[left], design)
        is_left = np.abs(slope).max(axis=1) > bars[left]
        left, slope = left[is_left], slope[is_left]
        if not len(left):
            break
        found[left] = _step(found[left], wanted[left], slope, design)
    return found


def _times(rows: Floats, matrix: Floats) -> Floats:
    """Return each row times a matrix: one product of all would be rounded by how many rows there are."""
    return np.asarray((rows[:, None, :] @ matrix)[:, 0, :])


def _step(now: Floats, wanted: Floats, slope: Floats, design: Floats) -> Floats:
    curvature = (now[:, None, :] * design.T) @ design
    size = np.trace(curvature, axis1=1, axis2=2)
    # Parameters that no row speaks about would make the matrix singular.
    curvature += (1e-14 * size)[:, None, None] * np.eye(design.shape[1])
    change = _times(np.asarray(np.linalg.solve(curvature, slope[:, :, None])[:, :, 0], np.float64), design.T)
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
