"""From scans to candidates in waiting: what may be accepted among the sets that only counting can tell apart.

Two kinds of candidate are too many to look at one by one. *Free* sets, whose variables all lie in different
components, gain their total correlation, whatever the graph looks like: one scan serves the whole search.
*Extensions* add single variables of other components to a base within the graph; they gain what completing the
base gains plus what they share with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cache
from math import comb, inf, prod
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import Bar, ScanBlock
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters
from xordal.search.candidates import Candidate, context
from xordal.search.gain import gains
from xordal.search.problem import Problem
from xordal.search.streams import Stream, are_apart
from xordal.statistics.criterion import Shape
from xordal.types import VarSet, members

FEW = 200
"""Rows, or pairs of base and variable, up to which Python is quicker than NumPy."""

_MOST_WAITING = 4_000_000  # free sets kept in waiting, 20 to 50 bytes each
_MOST_CODES = 1 << 20  # up to which codes are counted, not sorted
_BLOCK_CELLS = 1_000_000  # pairs of base and variable looked at in one go

T = TypeVar("T", bound=Hashable)
OnBlock = Callable[[int], None]
ShapeOf = Callable[[tuple[int, ...]], Shape]


class FreeSets:
    """The free sets of one order that may be accepted, best first.

    When more of them may be accepted than can be kept, the best are, and a rest that turns out to be needed
    is scanned for again.
    """

    def __init__(self, problem: Problem, order: int) -> None:
        self._problem = problem
        self._order = order
        self._is_scanned = False
        self._cut = inf  # what can have a higher rank has been in a stream

    @property
    def highest_left(self) -> float:
        """The highest rank of what was not kept; -inf when everything was."""
        return self._cut

    def scan(self, labels: NDArray[np.int64], on_block: OnBlock) -> Stream:
        """Return the best sets that no earlier stream held and that are free; labels number the components."""
        is_first, below, self._cut = not self._is_scanned, self._cut, -inf
        self._is_scanned = True
        sets: list[NDArray[np.int32]] = []
        uppers: list[NDArray[np.float64]] = []
        n_waiting = 0
        for block in self._problem.scans.blocks(self._order, self._bar()):
            free = are_apart(labels[block.sets])
            found = replace(block, sets=block.sets[free], shared=block.shared[free])
            upper = self._upper(found)
            may = (upper > -inf) & (is_first | (upper <= below))
            sets.append(found.sets[may])
            uppers.append(upper[may])
            n_waiting += int(may.sum())
            if n_waiting > 2 * _MOST_WAITING:
                sets, uppers = self._best(sets, uppers)
                n_waiting = len(uppers[0])
            on_block(block.n_scanned)
        if n_waiting > _MOST_WAITING:
            sets, uppers = self._best(sets, uppers)
        if not sets:
            return Stream(np.empty((0, self._order), np.int32), np.empty(0))
        return Stream(np.concatenate(sets), np.concatenate(uppers))

    def _best(
        self, sets: list[NDArray[np.int32]], uppers: list[NDArray[np.float64]]
    ) -> tuple[list[NDArray[np.int32]], list[NDArray[np.float64]]]:
        """Return the best of the sets, at most so many as can wait, unless more are equal."""
        every, upper = np.concatenate(sets), np.concatenate(uppers)
        cut = np.partition(upper, -_MOST_WAITING)[-_MOST_WAITING]
        kept = upper > cut
        if not kept.any():
            kept = upper >= cut
        self._cut = max(self._cut, float(upper[~kept].max(initial=-inf)))
        return [every[kept]], [upper[kept]]

    def _bar(self) -> Bar:
        return bar(self._problem, free_shape, 0.0)

    def _upper(self, block: ScanBlock) -> NDArray[np.float64]:
        return _highest(self._problem, block, free_shape, 0.0)


_NOTHING = Stream(np.empty((0, 1), np.int32), np.empty(0))


def extensions(
    problem: Problem, graph: ChordalGraph, bases: Sequence[Candidate], n_more: int, on_block: OnBlock
) -> list[Stream]:
    """Return the sets that add ``n_more`` variables of other components to one of the bases."""
    if n_more > 1:
        return [_several(problem, base, n_more, on_block) for base in bases]
    rows = max(1, _BLOCK_CELLS // graph.n_vertices)
    return [
        _one_more(problem, graph, bases[start : start + rows], on_block) for start in range(0, len(bases), rows)
    ]


def _one_more(problem: Problem, graph: ChordalGraph, bases: Sequence[Candidate], on_block: OnBlock) -> Stream:
    on_block(len(bases) * graph.n_vertices)
    everything, near = (1 << graph.n_vertices) - 1, [_components(graph, base.variables) for base in bases]
    if all(inside == everything for inside in near):
        return _NOTHING
    found = joined(problem, bases, near)
    if not len(found.of):
        return _NOTHING
    upper = np.full(len(found.of), -inf)
    for number in set(found.kind.tolist()):
        alike = found.kind == number
        upper[alike] = problem.judge.ceiling(found.shapes[number], found.gain[alike])
    may = upper > -inf
    sets = found.chosen[may].astype(np.int32).reshape(-1, 1)
    return Stream(sets, upper[may], [base.variables for base in bases], found.of[may])


class Joined(NamedTuple):
    """Bases and single variables whose union may be accepted."""

    of: NDArray[np.int64]  # place of the base
    chosen: NDArray[np.int64]  # variable
    gain: NDArray[np.float64]  # the most that completing the union may gain
    kind: NDArray[np.int64]  # number of its shape
    shapes: list[Shape]


def joined(problem: Problem, bases: Sequence[Candidate], near: Sequence[int]) -> Joined:
    """Return the unions of a base with a variable not near it that may be accepted."""
    own = gains([base.change for base in bases], problem.oracle)
    shared = problem.scanner.extensions([base.variables for base in bases])
    levels, level_of = numbered(problem.n_levels)
    grown, grown_of = numbered([Grown.of(base, problem.n_levels) for base in bases])
    shapes = [base.with_levels((r,)) for base in grown for r in levels]
    bars = [problem.least_gain(shape) for shape in shapes]
    error, first_kind = problem.scanner.error, grown_of * len(levels)
    if shared.size <= FEW:
        pairs = [
            (place, v)
            for place, row in enumerate(shared.tolist())
            for v, kind in enumerate((first_kind[place] + level_of).tolist())
            if own[place] + row[v] + error >= bars[kind] and not near[place] >> v & 1
        ]
        of, chosen = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    else:
        outside = np.ones(shared.shape, dtype=np.bool_)
        for place, inside in enumerate(near):
            outside[place, list(members(inside))] = False
        needed = np.array(bars)[first_kind[:, None] + level_of]
        of, chosen = np.nonzero((np.array(own)[:, None] + shared + error >= needed) & outside)
    gain = np.array(own)[of] + shared[of, chosen] + error
    return Joined(of, chosen, gain, first_kind[of] + level_of[chosen], shapes)


def _several(problem: Problem, base: Candidate, n_more: int, on_block: OnBlock) -> Stream:
    (own,) = gains([base.change], problem.oracle)
    shape_of = Grown.of(base, problem.n_levels).with_levels
    sets, uppers = [np.empty((0, n_more), np.int32)], [np.empty(0)]
    for block in problem.scanner.scan(n_more, bar(problem, shape_of, own), base=base.variables):
        sets.append(block.sets)
        uppers.append(_highest(problem, block, shape_of, own))
        on_block(block.n_scanned)
    every, upper = np.concatenate(sets), np.concatenate(uppers)
    may = upper > -inf
    return Stream(every[may], upper[may], [base.variables], np.zeros(int(may.sum()), np.int64))


def bar(problem: Problem, shape_of: ShapeOf, own: float) -> Bar:
    """Return what variables of some numbers of levels must share, when their base gains so much already."""
    return cache(lambda levels: problem.least_gain(shape_of(levels)) - own)


def least(problem: Problem, shape_of: ShapeOf, sets: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the gain that each set must have."""
    kinds, kind = _kinds_of(problem, sets)
    bars = np.array([problem.least_gain(shape_of(here)) for here in kinds])
    return np.asarray(bars[kind])


def _highest(problem: Problem, block: ScanBlock, shape_of: ShapeOf, own: float) -> NDArray[np.float64]:
    """Return the highest rank that each set of a block can have."""
    total = block.shared + problem.scanner.error + own
    highest = np.full(len(total), -inf)
    kinds, kind = _kinds_of(problem, block.sets)
    for number, here in enumerate(kinds):
        rows = kind == number
        highest[rows] = problem.judge.ceiling(shape_of(here), total[rows])
    return highest


def _kinds_of(problem: Problem, sets: NDArray[np.int32]) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """Return the numbers of levels that sets have, in increasing order, and which of these each one has."""
    n_sets, order = sets.shape
    if n_sets and min(problem.n_levels) == max(problem.n_levels):
        return [(problem.n_levels[0],) * order], np.zeros(n_sets, dtype=np.int64)
    return _kinds(np.sort(np.array(problem.n_levels)[sets], axis=1))


def _kinds(levels: NDArray[np.int64]) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """Return the distinct rows, and the number of each row among them."""
    if len(levels) <= FEW:
        return numbered([tuple(row) for row in levels.tolist()])
    codes = np.zeros(len(levels), dtype=np.int64)
    for place in range(levels.shape[1]):  # a place at a time the numbers stay small; whole rows sort slowly
        codes = codes * (int(levels[:, place].max()) + 1) + levels[:, place]
        codes = _dense(codes)
    first = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    first[codes] = np.arange(len(codes))
    return [tuple(row) for row in levels[first].tolist()], codes


def _dense(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers 0, 1, ... instead of codes, equal ones for equal codes."""
    if int(codes.max()) > _MOST_CODES:
        return np.unique(codes, return_inverse=True)[1].reshape(-1)
    is_used = np.bincount(codes) > 0
    return np.asarray((np.cumsum(is_used) - 1)[codes])


class Grown(NamedTuple):
    """What decides the shape of a base's extensions."""

    size: int
    n_missing: int
    n_context: int
    dof: int
    cells: int

    @classmethod
    def of(cls, base: Candidate, n_levels: tuple[int, ...]) -> Grown:
        """Return what decides it for a base."""
        return cls(
            base.variables.bit_count(),
            len(base.links),
            context(base).bit_count(),
            free_parameters(base.change, n_levels),
            prod(n_levels[v] for v in members(base.variables)),
        )

    def with_levels(self, levels: tuple[int, ...]) -> Shape:
        """Return the shape of an extension by variables with these numbers of levels."""
        more = len(levels)
        return Shape(
            self.size + more,
            self.n_missing + more * self.size + comb(more, 2),
            self.n_context,
            self.dof + _dof_of_sharing((self.cells, *levels)),
        )


def free_shape(levels: tuple[int, ...]) -> Shape:
    """Return the shape of a free set whose variables have these numbers of levels."""
    return Shape(len(levels), comb(len(levels), 2), 0, _dof_of_sharing(levels))


def _dof_of_sharing(levels: tuple[int, ...]) -> int:
    """Return the free parameters of a total correlation."""
    return prod(levels) - 1 - sum(r - 1 for r in levels)


def numbered(values: Sequence[T]) -> tuple[list[T], NDArray[np.int64]]:
    """Return the distinct values, and the number of each one among them."""
    number: dict[T, int] = {}
    numbers = [number.setdefault(value, len(number)) for value in values]
    return list(number), np.array(numbers, dtype=np.int64)


def _components(graph: ChordalGraph, variables: VarSet) -> int:
    """Return all that lies in a component with one of the variables."""
    inside = 0
    for v in members(variables):
        inside |= graph.components[v]
    return inside
