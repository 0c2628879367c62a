"""Variable sets made of a base that links hold together and of single variables elsewhere.

Completing such a set gains what completing the base gains plus what the base and the variables share. The base
is found around links (:mod:`xordal.search.sources.around`), when it comes up or its gain changes; what each
variable shares with it is one row of counting, what several variables share with it is a scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, inf

import numpy as np

from xordal.search.candidate import Candidate, gains
from xordal.search.shapes import ShapeOf
from xordal.search.sources.around import BY_COMPONENT, Around, Kind
from xordal.search.sources.bounded import BoundedSets
from xordal.search.state import Change
from xordal.types.varsets import EMPTY, VarSet, members

_BLOCK_CELLS = 1_000_000  # pairs of base and variable looked at in one go, 8 bytes each several times over


class Extended:
    """Bases of one kind with some single variables that are apart from them.

    Parameters
    ----------
    bases
        The source of bases.
    n_more
        Number of single variables.
    """

    def __init__(self, bases: Around, n_more: int) -> None:
        self._bases, self._n_more = bases, n_more
        self._problem, self._state, self._tell = bases.held.problem, bases.held.state, bases.held.tell
        self._are_apart = bases.holding is BY_COMPONENT

    def fresh(self, change: Change) -> Iterator[BoundedSets]:
        """Yield the extensions of bases that have come up or gain something else now."""
        graph, (*_, completed, reach) = change.after, self._bases.holding
        everything = VarSet((1 << graph.n_vertices) - 1)
        # A link that has gone may have been between two of the single variables of any base.
        again = everything if change.removed and self._n_more > 1 else EMPTY
        sets = [s for s in self._bases.sets(change, again) if reach(graph, s) != everything]
        bases = [base for s in sets if (base := completed(self._problem, self._state, s)) is not None]
        if self._n_more > 1:
            yield from map(self._with_several, bases)
            return
        n_rows = max(1, _BLOCK_CELLS // graph.n_vertices)
        for start in range(0, len(bases), n_rows):
            block = bases[start : start + n_rows]
            self._tell(len(block) * graph.n_vertices)
            yield self._with_one(block, [reach(graph, base.variables) for base in block])

    def _with_one(self, bases: Sequence[Candidate], near: Sequence[int]) -> BoundedSets:
        """Return the unions of a base with a variable that is not near it."""
        problem, shapes = self._problem, self._problem.shapes
        own = np.array(gains([base.change for base in bases], problem.oracle))
        with problem.watch.phases.of("scanning"):
            gained = own[:, None] + problem.scanner.extensions([base.variables for base in bases])
        gained += problem.scanner.error
        for row, inside in enumerate(near):
            gained[row, list(members(inside))] = -inf
        uppers = np.full(gained.shape, -inf)
        alike: dict[ShapeOf, list[int]] = {}  # few shapes, many bases: bars and ranks are worked out by shape
        for row, base in enumerate(bases):
            alike.setdefault(shapes.extended(base), []).append(row)
        for shape_of, rows in alike.items():
            some = gained[rows]
            at, v = np.nonzero(some >= shapes.least_gains(shape_of, shapes.of_each))
            levels = shapes.of_each._replace(of_set=shapes.of_each.of_set[v])
            uppers[np.array(rows)[at], v] = shapes.highest(shape_of, levels, some[at, v])
        of, chosen = np.nonzero(uppers > -inf)
        found = chosen.astype(np.int32)[:, None], uppers[of, chosen]
        return BoundedSets(*found, [base.variables for base in bases], of, are_apart=self._are_apart)

    def _with_several(self, base: Candidate) -> BoundedSets:
        """Return the unions of a base with several variables, found by a scan."""
        problem, shapes = self._problem, self._problem.shapes
        (own,) = gains([base.change], problem.oracle)
        shape_of = shapes.extended(base)
        sets, uppers = [np.empty((0, self._n_more), np.int32)], [np.empty(0)]
        for block in problem.scanner.scan(self._n_more, shapes.bar(shape_of, own), base=base.variables):
            gained = block.shared + problem.scanner.error + own
            upper = shapes.highest(shape_of, shapes.levels(block.sets), gained)
            sets.append(block.sets[upper > -inf])
            uppers.append(upper[upper > -inf])
            self._tell(block.n_scanned)
        every, upper = np.concatenate(sets), np.concatenate(uppers)
        of = np.zeros(len(upper), np.int64)
        return BoundedSets(every, upper, [base.variables], of, are_apart=self._are_apart)


def extended_kinds(i: int, largest: int) -> Iterator[tuple[int, Kind]]:
    """Yield numbers of single variables, and kinds of what they are added to, that miss i links together.

    Examples
    --------
    >>> list(extended_kinds(2, largest=3))  # three variables that miss two links; a link and a variable
    [(0, (3, 2)), (1, (2, 0))]
    """
    for n_more in range(largest - 1):
        for size in range(2, largest - n_more + 1):
            n_missing = i - n_more * size - comb(n_more, 2)
            if 0 <= n_missing <= comb(size, 2):
                yield n_more, (size, n_missing)
