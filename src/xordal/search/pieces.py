"""Where sets that may need fill-in come from.

The links within a variable set part it into pieces, no two of them linked. A set all of whose pieces are single
variables (:class:`Apart`) is found by the scan of all sets of its size. Pieces of two or more variables are few
and are found by looking around links; single variables are added to them by counting (:class:`Extended`). Both
leave out only sets that cannot be admitted: what a set gains on its own is at least what any two of its
variables that are not linked share given the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

from xordal.graph.chordal import ChordalGraph
from xordal.graph.nearby import linked_sets
from xordal.scanning.trees import tree_weights
from xordal.search.candidates import Candidate, within
from xordal.search.gain import gains
from xordal.search.parts import Catalogue, Kind, patterns
from xordal.search.problem import Problem
from xordal.search.streams import are_apart
from xordal.search.sweep import Grown, OnBlock, bar, free_shape, joined, least
from xordal.types import VarSet, members, varset

_BLOCK = 1000  # variable sets looked at between two words of progress


class Apart:
    """The sets of one size without a link that may be admitted and do not lie in different components."""

    def __init__(self, problem: Problem, order: int) -> None:
        self._problem = problem
        self._order = order
        self._waiting: NDArray[np.int32] | None = None
        self._components: tuple[VarSet, ...] = ()

    def fresh(self, catalogue: Catalogue, on_block: OnBlock) -> Iterator[VarSet]:
        """Yield those that have come up since the last call."""
        graph = catalogue.graph
        if self._waiting is None:
            self._waiting = self._scan(on_block)
        if not len(self._waiting) or graph.components == self._components:
            return
        self._components = graph.components
        is_free = are_apart(catalogue.labels[self._waiting])
        found, self._waiting = self._waiting[~is_free], self._waiting[is_free]
        for chosen in found.tolist():
            variables = varset(chosen)
            if not any(graph.neighbours[v] & variables for v in chosen):
                yield variables

    def _scan(self, on_block: OnBlock) -> NDArray[np.int32]:
        problem, order = self._problem, self._order
        pairs = self._shared_by_pairs() if order > 2 else None
        kept = [np.empty((0, order), np.int32)]
        for block in problem.scans.blocks(order, bar(problem, free_shape, 0.0)):
            sets = block.sets
            if pairs is not None:
                sets = sets[self._may_interact(sets, block.shared, pairs)]
            kept.append(sets)
            on_block(0)
        return np.concatenate(kept)

    def _shared_by_pairs(self) -> NDArray[np.float64]:
        return self._problem.scanner.extensions([VarSet(1 << v) for v in range(len(self._problem.n_levels))])

    def _may_interact(
        self, sets: NDArray[np.int32], shared: NDArray[np.float64], pairs: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which sets may share enough beyond their pairs."""
        beyond = least_beyond_pairs(sets, shared, pairs) + (self._order + 1) * self._problem.scanner.error
        bars = least(self._problem, free_shape, sets)
        return np.asarray((beyond >= bars) | (bars <= 0))  # where no gain is too small, less than none is not


def least_beyond_pairs(
    sets: NDArray[np.int32], shared: NDArray[np.float64], pairs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a bound on the least that two variables of each set share more given the rest than alone.

    What x and y share given the rest R is what all share, less what all but x share and less what x shares with
    R. The latter is no less than what x shares with any one of R, the former no less than what is shared along
    the links of any tree (Chow & Liu 1968). Of triples it is no bound but the number itself.
    """
    size = sets.shape[1]
    if size == 3:
        x, y, z = sets.T
        return np.asarray(shared - pairs[x, y] - pairs[x, z] - pairs[y, z])
    found = np.full(len(sets), np.inf)
    for x in range(size):
        others = [v for v in range(size) if v != x]
        left = shared - tree_weights(sets[:, others], pairs)
        with_x = pairs[sets[:, [x]], sets]
        for y in others:
            rest = with_x[:, [v for v in others if v != y]].max(axis=1)
            found = np.minimum(found, left - rest - with_x[:, y])
    return found


class Extended:
    """The sets of one kind of linked pieces and some single variables that may be admitted.

    Parameters
    ----------
    problem
        Who counts and who decides.
    kind
        Size and missing links of what the pieces of two or more variables make up together.
    n_more
        Number of single variables.
    """

    def __init__(self, problem: Problem, kind: Kind, n_more: int) -> None:
        self._problem = problem
        self._bases = _Bases(kind)
        self._n_more = n_more

    def fresh(self, catalogue: Catalogue, on_block: OnBlock) -> Iterator[VarSet]:
        """Yield those that have come up since the last call."""
        graph = catalogue.graph
        new = self._bases.fresh(graph, on_block)
        if not new or self._n_more == 0:
            yield from new
            return
        bases = [within(graph, base) for base in new]
        if self._n_more == 1:
            yield from self._with_one(graph, bases, on_block)
        else:
            for base in bases:
                yield from self._with_several(base, on_block)

    def _with_one(self, graph: ChordalGraph, bases: list[Candidate], on_block: OnBlock) -> Iterator[VarSet]:
        for start in range(0, len(bases), _BLOCK):
            block = bases[start : start + _BLOCK]
            on_block(len(block) * graph.n_vertices)
            found = joined(self._problem, block, [_around(graph, base.variables) for base in block])
            for place, v in zip(found.of.tolist(), found.chosen.tolist(), strict=True):
                yield VarSet(block[place].variables | 1 << v)

    def _with_several(self, base: Candidate, on_block: OnBlock) -> Iterator[VarSet]:
        problem = self._problem
        (own,) = gains([base.change], problem.oracle)
        needed = bar(problem, Grown.of(base, problem.n_levels).with_levels, own)
        for block in problem.scanner.scan(self._n_more, needed, base=base.variables):
            on_block(block.n_scanned)
            for chosen in block.sets.tolist():
                yield VarSet(base.variables | varset(chosen))


class _Bases:
    """What linked pieces of two or more variables make up together, of one kind, as it comes up."""

    def __init__(self, kind: Kind) -> None:
        self._patterns = [pattern for pattern in patterns(kind) if all(map(_may_hang_together, pattern))]
        self._pieces: dict[Kind, set[VarSet]] = {one: set() for pattern in self._patterns for one in pattern}
        self._graph: ChordalGraph | None = None

    def fresh(self, graph: ChordalGraph, on_block: OnBlock) -> list[VarSet]:
        """Return those that were not there at the last call; tell how many sets are looked at."""
        ends = varset(graph.ends_of_change(self._graph or ChordalGraph.empty(graph.n_vertices)))
        self._graph = graph
        new = {kind: self._look(graph, ends, kind, on_block) for kind in self._pieces}
        return sorted({base for pattern in self._patterns for base in self._unions(pattern, new, graph)})

    def _look(self, graph: ChordalGraph, ends: VarSet, kind: Kind, on_block: OnBlock) -> set[VarSet]:
        """Return the pieces of a kind that new links with these ends have brought up."""
        found: set[VarSet] = set()
        for n_looked, piece in enumerate(linked_sets(graph.neighbours, ends, *kind), start=1):
            found.add(piece)
            if n_looked % _BLOCK == 0:
                on_block(_BLOCK)
        known = self._pieces[kind]
        self._pieces[kind] = {piece for piece in known if not piece & ends} | found
        return found - known

    def _unions(
        self, pattern: tuple[Kind, ...], new: dict[Kind, set[VarSet]], graph: ChordalGraph
    ) -> Iterator[VarSet]:
        """Yield the unions of pieces with no link between them, at least one of them new."""

        def choose(place: int, chosen: int, near: int, has_new: bool) -> Iterator[VarSet]:
            if place == len(pattern):
                yield VarSet(chosen)
                return
            kind = pattern[place]
            is_last = place == len(pattern) - 1
            for piece in new[kind] if is_last and not has_new else self._pieces[kind]:
                if not piece & near:
                    around = near | _around(graph, piece)
                    yield from choose(place + 1, chosen | piece, around, has_new or piece in new[kind])

        if any(new[kind] for kind in pattern):
            yield from choose(0, 0, 0, has_new=False)


def _may_hang_together(kind: Kind) -> bool:
    """Whether links enough are left to hold a piece of this kind together."""
    size, n_missing = kind
    return comb(size, 2) - n_missing >= size - 1


def has_ways(graph: ChordalGraph) -> bool:
    """Whether two variables of one component are not linked: elsewhere no set needs fill-in."""
    both = zip(graph.neighbours, graph.components, strict=True)
    return any(mask and mask.bit_count() + 1 != component.bit_count() for mask, component in both)


def _around(graph: ChordalGraph, piece: VarSet) -> int:
    """Return a piece and its neighbours."""
    found = int(piece)
    for v in members(piece):
        found |= graph.neighbours[v]
    return found
