"""Variable sets that the links of the graph hold together, kept up to date as the graph changes.

A variable set falls into *parts*. There are two ways to cut it up, one for each way to complete it.

* As it is (:data:`BY_COMPONENT`): one part per component it meets. Completing the set is legal exactly when
  completing each part is. A part of two or more variables hangs together by steps of at most two links
  (:mod:`xordal.graph.nearby`).
* With fill-in (:data:`BY_LINKS`): one part per connected piece of the graph inside the set. What matters there
  is what the variables share by themselves, and links inside the set are the only thing that changes that.

Either way parts of two or more variables are few and are found by looking around links; :class:`HeldSets` keeps
those of one *kind*, a size and a number of missing links. A set of several such parts is a union of them, which
:class:`Around` puts together (from lookahead 4 on). Single variables beside them are a matter of counting
(:mod:`xordal.search.sources.extended`).

Example: on the path 0 - 1 - 2 with 3 beside it, {0, 2, 3} has by components the parts {0, 2} and {3}, by links
three single variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from math import comb, inf
from typing import NamedTuple

import numpy as np

from xordal.counting.compiled import Worth
from xordal.counting.threads import interruptible
from xordal.graph.chordal import ChordalGraph
from xordal.graph.nearby import linked_sets, sets_around
from xordal.search.candidate import Candidate, within
from xordal.search.completing.legality import legal
from xordal.search.problem import Problem
from xordal.search.sources import Tell
from xordal.search.sources.bounded import BoundedSets
from xordal.search.state import Change, GraphState
from xordal.types.varsets import EMPTY, VarSet, members, varset

_BLOCK = 1000  # variable sets looked at between two words of progress
_WORTH_KERNELS = Worth(loading=50_000, compiling=200_000)  # sets, some twelve microseconds each in Python

Kind = tuple[int, int]
"""Size of a variable set and number of its missing links."""


class Holding(NamedTuple):
    """A way to cut variable sets into parts.

    Attributes
    ----------
    sets_near
        Yields the sets of one kind that hang together and meet some vertices.
    disturbed
        The vertices around which a change can have altered parts.
    value
        What tells a part from itself in another graph; None if it cannot be completed.
    completed
        A variable set as a candidate, from which its extensions are worked out; None if it cannot be one.
    reach
        All vertices that no other part of the same set may have.
    """

    sets_near: Callable[[tuple[int, ...], int, int, int], Iterable[VarSet]]
    disturbed: Callable[[Change], VarSet]
    value: Callable[[Problem, GraphState, VarSet], object]
    completed: Callable[[Problem, GraphState, VarSet], Candidate | None]
    reach: Callable[[ChordalGraph, VarSet], VarSet]


BY_COMPONENT = Holding(
    sets_around, lambda change: change.disturbed, legal, legal, lambda graph, part: graph.components_of(part)
)
BY_LINKS = Holding(
    linked_sets,
    lambda change: change.ends,
    lambda problem, state, part: state.graph.missing_links(part),
    lambda problem, state, part: within(state.graph, part),
    lambda graph, part: graph.around(part),
)


class HeldSets:
    """The parts of one kind that can be completed, cliques among them where no link is missing.

    ``log`` grows by each part as it comes up or its gain changes, for everybody to follow who uses them;
    ``current`` has those that there are now.
    """

    def __init__(
        self, problem: Problem, state: GraphState, tell: Callable[[int], None], holding: Holding, kind: Kind
    ) -> None:
        self.current: dict[VarSet, object] = {}
        self.log: list[VarSet] = []
        self._near: dict[int, set[VarSet]] = {}  # the parts that have a variable, or had
        self._problem, self._state, self._tell = problem, state, tell
        self._holding, self._kind = holding, kind
        self._position = self._n_looked_at = 0
        self._has_kernels = False

    def update(self) -> None:
        """Look again at what has been disturbed since the last time."""
        state = self._state
        if self._position == state.position:
            return
        change, self._position = state.since(self._position), state.position
        around = self._holding.disturbed(change)
        lost = varset(v for link in change.removed for v in link)
        near = {s for v in members(around) for s in self._near.get(v, ())}
        before = {s: self.current.pop(s) for s in near if s in self.current}
        for s, value in self._by_kernels(around) if self._are_kernels_used() else self._plainly(around):
            self.current[s] = value
            if s not in before:
                for v in members(s):
                    self._near.setdefault(v, set()).add(s)
            # What has lost a link to a neighbour has new sets to be part of, though it is the same itself.
            if before.get(s) != value or s & lost:
                self.log.append(s)

    def _plainly(self, around: VarSet) -> Iterator[tuple[VarSet, object]]:
        """Yield the sets that hold one of some vertices and can be completed, each with its value."""
        state, n_looked = self._state, 0
        for s in self._holding.sets_near(state.graph.neighbours, around, *self._kind):
            n_looked += 1
            if n_looked % _BLOCK == 0:
                self._tell(_BLOCK)
            value = self._holding.value(self._problem, state, s)
            if value is not None:
                yield s, value
        self._n_looked_at += n_looked
        self._tell(n_looked % _BLOCK)

    def _are_kernels_used(self) -> bool:
        """Whether kernels list the sets: where completing is all that counts, and enough was looked at."""
        if not self._has_kernels:
            may = self._holding is BY_COMPONENT and self._problem.allowed.max_clique == inf
            self._has_kernels = may and self._problem.kernels.pay(
                _WORTH_KERNELS, self._n_looked_at, "sets around links", _kernel
            )
        return self._has_kernels

    def _by_kernels(self, around: VarSet) -> Iterator[tuple[VarSet, object]]:
        """Yield the same sets; the value of each is its chain."""
        from xordal.search.sources._held import list_legal

        masks, anchors = self._state.words, np.array(members(around), dtype=np.int64)
        n_words, n_missing = masks.shape[1], self._kind[1]
        size, width, next_anchor = _BLOCK, n_words + n_missing * (n_words + 1), 0
        while next_anchor < len(anchors):
            out = np.empty((size, width), np.uint64)
            with interruptible():
                n_found, n_looked, next_anchor = list_legal(masks, anchors, next_anchor, self._kind, out)
            self._tell(n_looked)
            size *= 1 if n_found else 4  # room for the sets of one anchor
            rows = out[:n_found].tobytes()
            for at in range(0, len(rows), 8 * width):
                s = VarSet(int.from_bytes(rows[at : at + 8 * n_words], "little"))
                if self._problem.allowed.may_complete(s):
                    yield s, rows[at + 8 * n_words : at + 8 * width]


class Held:
    """The held sets of a search, and what all its sources have in common.

    Those of one holding and kind are found once for all who use them: single links look at the same pairs as
    extensions of three links do.
    """

    def __init__(self, problem: Problem, state: GraphState, tell: Tell) -> None:
        self.problem, self.state, self.tell = problem, state, tell
        self.of = cache(partial(HeldSets, problem, state, tell))


class Around:
    """The variable sets of one kind that are made of parts of two or more variables."""

    def __init__(self, held: Held, holding: Holding, kind: Kind) -> None:
        self.held, self.holding = held, holding
        self._patterns = list(patterns(*kind))
        self._parts = {one: held.of(holding, one) for pattern in self._patterns for one in pattern}
        self._n_seen = dict.fromkeys(self._parts, 0)

    def fresh(self, change: Change) -> Iterator[BoundedSets]:
        """Yield the sets that have come up or gain something else now."""
        found = self.sets(change)
        if found:
            yield BoundedSets.each(found)

    def sets(self, change: Change, again: VarSet = EMPTY) -> list[VarSet]:
        """Return them; those that meet ``again`` even if they are as before."""
        again = VarSet(again | change.split)  # what was connected with it is apart from it now, for unions too
        new: dict[Kind, dict[VarSet, None]] = {}
        for kind, parts in self._parts.items():
            parts.update()
            new[kind] = dict.fromkeys(s for s in parts.log[self._n_seen[kind] :] if s in parts.current)
            new[kind].update(dict.fromkeys(s for s in parts.current if s & again) if again else {})
            self._n_seen[kind] = len(parts.log)
        return list(dict.fromkeys(s for pattern in self._patterns for s in self._unions(pattern, new)))

    def _unions(self, pattern: tuple[Kind, ...], new: dict[Kind, dict[VarSet, None]]) -> Iterator[VarSet]:
        """Yield the unions of parts that are apart from each other, at least one of them new."""
        graph, reach = self.held.state.graph, self.holding.reach

        def choose(left: tuple[Kind, ...], chosen: int, taken: int, has_new: bool) -> Iterator[VarSet]:
            if not left:
                yield VarSet(chosen)
                return
            kind, *others = left
            for part in self._parts[kind].current if others or has_new else new[kind]:
                if not part & taken:
                    further = taken | reach(graph, part) if others else taken
                    yield from choose(tuple(others), chosen | part, further, has_new or part in new[kind])

        return choose(pattern, 0, 0, False) if any(new[kind] for kind in pattern) else iter(())


@cache
def patterns(size: int, n_missing: int, least: Kind = (2, 0)) -> tuple[tuple[Kind, ...], ...]:
    """Return the kinds, in increasing order, that parts of two or more variables can have in a set of a kind.

    Examples
    --------
    >>> patterns(4, 4)  # two links without a link between them, or one part that misses four
    (((2, 0), (2, 0)), ((4, 4),))
    """
    if size == 0:
        return ((),) if n_missing == 0 else ()
    return tuple(
        ((first, missing), *rest)
        for first in range(2, size + 1)
        for missing in range(min(comb(first, 2), n_missing - first * (size - first)) + 1)
        if (first, missing) >= least
        for rest in patterns(size - first, n_missing - first * (size - first) - missing, (first, missing))
    )


def _kernel() -> object:
    from xordal.search.sources._held import list_legal

    return list_legal
