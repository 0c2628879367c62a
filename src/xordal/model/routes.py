"""Questions about one row, from the few cliques of a junction tree that they touch.

A rule of thirteen columns is a chain of twelve cliques: each holds a column and the running sums before and
after it. Asked for the last digit given the first, a pass up the tree would multiply all twelve. Two things are
the same for every question, and are kept from the first one that needs them:

- the distribution of a clique, so that nothing above the highest clique that is touched has to be summed;
- the *shortcut* through cliques of which nothing is asked or observed: P(what the clique below them shares with
  them | what they share with the clique above), everything between summed out. Along a chain of running sums
  that is the distribution of a later sum given the one now: the columns between are convolved, once.

So a question costs a step for each clique it touches, one for each clique in which their ways up the tree meet,
and one for each gap between those.

What is asked has to be carried along to where the answer is put together. Three digits carried through a chain
of ten observed ones would make each of those steps a hundred times as large. So the answer is put together in
the middle, in the lowest clique with more than half of what is asked in it or below it: messages go up to it
from below, and down to it from the highest clique that is touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np

from xordal.graph.junction_tree import JunctionTree, first_cliques
from xordal.model.observed import Logs, Observed
from xordal.model.parameters import Conditional
from xordal.model.potential import Potential, aligned, product, summed_product
from xordal.types.varsets import VarSet, members, varset

_MOST_CELLS = 1 << 16  # of a table that is kept
_MOST_IN_A_STEP = (
    1 << 20
)  # cells that a step goes through, in a millisecond; more are left to a pass up the tree
_WORTH_TWO_STEPS = 1 << 12  # cells of a product from which on its factors are summed first: 10 against 30 us
_MOST_KEPT = 1 << 22  # cells of all tables that are kept: 32 MB

Waiting = list[tuple[int, Potential | None]]
"""What a clique will hear: cliques below it, each with its message; there may be cliques between."""


@dataclass(frozen=True, eq=False)
class Routes:
    """A junction tree, and what it has been asked so far that other questions can use.

    Attributes
    ----------
    tree
        The rooted cliques.
    tables
        P(own variables | separator) of each clique.
    n_levels
        Of all variables.
    """

    tree: JunctionTree
    tables: tuple[Conditional, ...]
    n_levels: tuple[int, ...]
    _kept: dict[tuple[str, int, int], Potential | None] = field(default_factory=dict)
    _room: list[int] = field(default_factory=lambda: [_MOST_KEPT])

    def joint(self, evidence: Observed, asked: Collection[int]) -> Logs | None:
        """Return log P(asked variables, evidence) of one row, as ``Inference.joint`` does.

        None where that takes a large table: then a pass up the tree is the better way.
        """
        target = varset(asked)
        seen = {v: int(evidence.codes[v, 0]) for v in np.flatnonzero(evidence.codes[:, 0] >= 0).tolist()}
        doubts: dict[int, list[Potential]] = {}
        for v in {
            *evidence.weights,
            *(v for v in seen if target >> v & 1),
        }:  # both stay variables of the tables
            doubts.setdefault(self._home[v], []).append(self._doubt(v, seen.pop(v, None), evidence))
        seen = {v: code for v, code in seen.items() if self.n_levels[v] > 1}
        waiting: dict[int, Waiting] = {self._home[v]: [] for v in (*seen, *evidence.weights, *members(target))}
        touched = set(waiting)
        meetings = self._meetings(target)
        waiting.update({meeting: waiting.get(meeting, []) for meeting in meetings})
        above = {clique for meeting in meetings for clique in self._way_up(meeting)}

        def summed(clique: int, is_top: bool, keep: int, *more: Potential | None) -> Potential | None:
            table = self._margin(clique) if is_top else self._table(clique)
            said = (self._heard(clique, *each, seen, target) for each in waiting.pop(clique))
            return self._summed([table, *more, *said, *doubts.get(clique, ())], seen, VarSet(keep | target))

        parts: list[Potential | None] = []
        while below := waiting.keys() - above:
            clique = max(below)  # parents precede their children, so that all of these have been heard
            is_top = not any(self._root[other] == self._root[clique] for other in waiting if other != clique)
            if is_top:
                parts.append(summed(clique, True, 0))
                continue
            parent = self.tree.parents[clique]
            assert parent is not None, "a root is the highest of all cliques in its tree"
            if clique not in touched and len(waiting[clique]) == 1:
                said = waiting.pop(clique)
            else:
                said = [(clique, summed(clique, False, self.tree.separators[clique]))]
            waiting.setdefault(parent, []).extend(said)
        for meeting in meetings:
            message: tuple[Potential | None, ...] = ()
            way = sorted(clique for clique in waiting if self._root[clique] == self._root[meeting])
            for clique, after in pairwise(way):
                below_it = self._child(after, clique)
                message = (summed(clique, not message, self.tree.separators[below_it], *message),)
                if below_it != after:
                    keep = VarSet(self.tree.separators[after] | target)
                    message = (self._summed([self._shortcut(after, below_it), *message], seen, keep),)
            parts.append(summed(meeting, not message, 0, *message))
        known = [part for part in parts if part is not None]
        return aligned(product(known), members(target)) if len(known) == len(parts) else None

    def _meetings(self, target: VarSet) -> list[int]:
        """Return, of each tree, the lowest clique with more than half of what is asked there in or below it."""
        homes = [self._home[v] for v in members(target)]
        in_tree = Counter(self._root[home] for home in homes)
        held = Counter(clique for home in homes for clique in self._way_up(home))
        lowest = {self._root[c]: c for c in sorted(held) if 2 * held[c] > in_tree[self._root[c]]}
        return list(lowest.values())

    def _way_up(self, clique: int) -> Iterator[int]:
        """Yield a clique and those above it."""
        above: int | None = clique
        while above is not None:
            yield above
            above = self.tree.parents[above]

    @cached_property
    def _home(self) -> dict[int, int]:
        return first_cliques(self.tree)

    @cached_property
    def _root(self) -> list[int]:
        """The root above each clique."""
        roots: list[int] = []
        for clique, parent in enumerate(self.tree.parents):
            roots.append(clique if parent is None else roots[parent])
        return roots

    def _doubt(self, v: int, code: int | None, evidence: Observed) -> Potential:
        logs = evidence.weights.get(v, np.zeros(self.n_levels[v]))
        return Potential(
            (v,), logs[None] if code is None else np.where(np.arange(len(logs)) == code, logs, -np.inf)[None]
        )

    def _heard(
        self, clique: int, lower: int, message: Potential | None, seen: Mapping[int, int], target: VarSet
    ) -> Potential | None:
        """Return a message as it arrives at a clique further up."""
        last = lower
        while (parent := self.tree.parents[last]) != clique:
            assert parent is not None
            last = parent
        if last == lower:
            return message
        keep = VarSet(self.tree.separators[last] | target)
        return self._summed([self._shortcut(lower, last), message], seen, keep)

    def _shortcut(self, lower: int, last: int) -> Potential | None:
        """Return P(separator of a clique | separator of one above it): from its parent on to that one."""
        key = ("shortcut", lower, last)
        if key not in self._kept:
            ends = VarSet(self.tree.separators[lower] | self.tree.separators[last])
            parts = [self._table(last)]
            below = self._child(lower, last)
            if below != lower:
                parts.append(self._shortcut(lower, below))
            self._keep(key, self._summed(parts, {}, ends))
        return self._kept[key]

    def _child(self, lower: int, upper: int) -> int:
        """Return the child of a clique on the way down to another."""
        while (parent := self.tree.parents[lower]) != upper:
            assert parent is not None
            lower = parent
        return lower

    def _table(self, clique: int) -> Potential | None:
        key = ("table", clique, clique)
        if key not in self._kept:
            is_small = self.tables[clique].n_cells <= _MOST_CELLS
            logs = self.tables[clique].cut({}, self.n_levels)[None] if is_small else None
            self._keep(key, None if logs is None else Potential(members(self.tree.cliques[clique]), logs))
        return self._kept[key]

    def _margin(self, clique: int) -> Potential | None:
        """Return the distribution of a clique: its table times that of what it shares with its parent."""
        key = ("margin", clique, clique)
        if key not in self._kept:
            table, parent = self._table(clique), self.tree.parents[clique]
            if table is not None and parent is not None:
                above = self._margin(parent)
                shared = members(self.tree.separators[clique])
                table = None if above is None else product([table, above.sum_to(shared)])
            self._keep(key, table)
        return self._kept[key]

    def _keep(self, key: tuple[str, int, int], table: Potential | None) -> None:
        size = 0 if table is None else table.logs.size
        self._kept[key] = table if size <= self._room[0] else None
        self._room[0] -= size if size <= self._room[0] else 0

    def _summed(
        self, parts: Collection[Potential | None], seen: Mapping[int, int], keep: VarSet
    ) -> Potential | None:
        """Return a product where some variables have given levels, summed to others; None if it is large."""
        cut = [_cut(part, seen) for part in parts if part is not None]
        if len(cut) < len(parts):
            return None
        if self._n_cells(cut) > _WORTH_TWO_STEPS:  # what only one of them holds is summed out of it first
            held = Counter(v for part in cut for v in part.variables)
            cut = [part.sum_to([v for v in part.variables if held[v] > 1 or keep >> v & 1]) for part in cut]
        return summed_product(cut, members(keep)) if self._n_cells(cut) <= _MOST_IN_A_STEP else None

    def _n_cells(self, parts: Collection[Potential]) -> int:
        return prod(self.n_levels[v] for v in {v for part in parts for v in part.variables})


def _cut(table: Potential, seen: Mapping[int, int]) -> Potential:
    """Return a table where some of its variables have given levels."""
    if not any(v in seen for v in table.variables):
        return table
    free = tuple(v for v in table.variables if v not in seen)
    return Potential(free, table.logs[(slice(None), *(seen.get(v, slice(None)) for v in table.variables))])
