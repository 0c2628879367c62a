"""What can be said of a candidate before its rows are counted, and the bars that follow from it.

The *shape* of a candidate is how many variables it completes, how many links it adds, how many variables it is
conditioned on and how many degrees of freedom it has: all that a criterion needs to say which gain is too small
to be accepted (:meth:`Shapes.least_gain`) and which rank a gain can have at most (:meth:`Shapes.highest`).
Scans discard by these bars, so they may be too low, never too high.

This is the only module of the search that makes shapes. Sets are many and shapes few: those of a scan are told
apart by the numbers of levels of their variables alone, so bars are worked out once per combination of levels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, lru_cache, partial
from itertools import combinations
from math import comb, inf, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import Bar
from xordal.graph.chordal import ChordalGraph
from xordal.graph.pieces import pieces
from xordal.graph.signed_sets import free_parameters
from xordal.search.candidate import Candidate, within
from xordal.statistics.criterion import Judge, Shape
from xordal.statistics.needed import largest_part, largest_part_of_free
from xordal.statistics.oddness import is_tested
from xordal.types.varsets import LinkSet, VarSet, members

ShapeOf = Callable[[tuple[int, ...]], Shape]
"""From the numbers of levels of the single variables of a set to its shape."""

Floats = NDArray[np.float64]


class Levels(NamedTuple):
    """The combinations of numbers of levels that some sets have, and which of them each set has."""

    combinations: list[tuple[int, ...]]
    of_set: NDArray[np.int64]


class Shapes:
    """The shapes of one search and what its judge says of them.

    Parameters
    ----------
    judge
        Who ranks and accepts.
    n_levels
        Number of levels of each variable.
    """

    def __init__(self, judge: Judge, n_levels: tuple[int, ...]) -> None:
        self._judge = judge
        self._n_levels = n_levels
        self._distinct = sorted(set(n_levels))
        number = {levels: place for place, levels in enumerate(self._distinct)}
        self._number = np.array([number[levels] for levels in n_levels], dtype=np.int64)
        self._extension = cache(lambda base, cells: cache(partial(_extended, base, cells)))  # bases are many
        self.least_gain = cache(judge.least_gain)
        """The gain, in nats, up to which no candidate of a shape is accepted."""

    def of(self, candidate: Candidate) -> Shape:
        """Return the shape of a candidate."""
        return _shape_of(candidate, self._n_levels)

    def alone(self, variables: VarSet, links: LinkSet) -> Shape:
        """Return the shape of a set that misses some links, if there were nothing else in the graph.

        Numbers of levels and how the links lie are all that matters, so few are worked out.
        """
        inside = members(variables)
        place = {v: number for number, v in enumerate(inside)}
        return _shape_alone(
            tuple([self._n_levels[v] for v in inside]), tuple([(place[u], place[v]) for u, v in links])
        )

    def of_sizes(self, n_variables: int, n_links: int, n_context: int, dof: int) -> Shape:
        """Return the shape of a candidate of these sizes that is tested as a whole."""
        return Shape(n_variables, n_links, n_context, dof)

    def extended(self, base: Candidate) -> ShapeOf:
        """Return the shape of a base that is completed together with single variables, from their levels."""
        cells = prod([self._n_levels[v] for v in members(base.variables)])
        return self._extension(self.of(base), cells)

    @cached_property
    def of_each(self) -> Levels:
        """The numbers of levels of the single variables."""
        return self.levels(np.arange(len(self._n_levels), dtype=np.int32)[:, None])

    def bar(self, shape_of: ShapeOf, own: float = 0.0) -> Bar:
        """Return what variables of some numbers of levels must share, where ``own`` is gained already."""
        return cache(lambda levels: self.least_gain(shape_of(levels)) - own)

    def levels(self, sets: NDArray[np.int32]) -> Levels:
        """Return the combinations of levels, each in increasing order, that sets of one size have."""
        n_sets, size = sets.shape
        n_distinct = len(self._distinct)
        if n_distinct == 1:
            return Levels([(self._distinct[0],) * size], np.zeros(n_sets, dtype=np.int64))
        numbers = np.sort(self._number[sets], axis=1)
        powers = n_distinct ** np.arange(size)[::-1]  # one integer sorts ten times as fast as a row
        codes, of_set = np.unique(numbers @ powers, return_inverse=True)
        rows = codes[:, None] // powers % n_distinct
        return Levels([tuple(self._distinct[at] for at in row) for row in rows.tolist()], of_set.reshape(-1))

    def least_gains(self, shape_of: ShapeOf, levels: Levels) -> Floats:
        """Return the gain that each set must have."""
        return np.array([self.least_gain(shape_of(here)) for here in levels.combinations])[levels.of_set]

    def highest(self, shape_of: ShapeOf, levels: Levels, gains: Floats) -> Floats:
        """Return the highest rank that each set can have at its gain; -inf where it cannot be accepted."""
        ranks = np.full(len(gains), -inf)
        for number, here in enumerate(levels.combinations):
            alike = levels.of_set == number
            ranks[alike] = self._judge.ceiling(shape_of(here), gains[alike])
        return ranks


@lru_cache(maxsize=1 << 12)
def _shape_alone(levels: tuple[int, ...], links: LinkSet) -> Shape:
    pairs = combinations(range(len(levels)), 2)
    graph = ChordalGraph.empty(len(levels)).extended(tuple(pair for pair in pairs if pair not in links))
    return _shape_of(within(graph, VarSet((1 << len(levels)) - 1)), levels)


def _shape_of(candidate: Candidate, n_levels: tuple[int, ...]) -> Shape:
    variables, links, n_context = candidate.variables, candidate.links, candidate.n_context
    dof = free_parameters(candidate.change, n_levels)
    part_dof = None if n_context or candidate.is_fixed else largest_part(variables, links, n_levels)
    levels = [n_levels[v] for v in members(variables)]
    is_odd = not n_context and is_tested(levels) and len(pieces(variables, links)) > 1
    return Shape(variables.bit_count(), len(links), n_context, dof, part_dof, is_odd)


def free_shape(levels: tuple[int, ...]) -> Shape:
    """Return the shape of a set of variables from different components, from their numbers of levels."""
    m = len(levels)
    is_odd = is_tested(levels)
    return Shape(m, comb(m, 2), 0, _dof_of_sharing(levels), largest_part_of_free(levels), is_odd)


def _dof_of_sharing(levels: tuple[int, ...]) -> int:
    """Return the free parameters of a total correlation."""
    return prod(levels) - 1 - sum(levels) + len(levels)


def _extended(base: Shape, cells: int, levels: tuple[int, ...]) -> Shape:
    """Return the shape of a base of so many cells with variables of these numbers of levels."""
    size, n_links, n_context, dof, *_ = base
    n_more = len(levels)
    n_links += n_more * size + comb(n_more, 2)
    # The single variables are pieces, each with all others as the rest of the set; the base may be several.
    part_dof = (
        largest_part_of_free((cells, *levels)) if not base.n_links else _largest_of_singles(cells, levels)
    )
    is_odd = not n_context and cells == 2**size and is_tested((2,) * size + levels)
    more = dof + _dof_of_sharing((cells, *levels))
    return Shape(size + n_more, n_links, n_context, more, part_dof, is_odd)


def _largest_of_singles(cells: int, levels: tuple[int, ...]) -> int:
    """Return the degrees of freedom of the largest part that joins one of the single variables to the rest."""
    cells *= prod(levels)
    return max([(r - 1) * (cells // r - 1) for r in levels])
