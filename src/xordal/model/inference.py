"""Exact inference on the junction tree, in log space, for many rows of evidence at once.

The tree is rooted, so a network is the product over its cliques of P(own variables | separator to the parent).
Messages go up from the leaves: a clique multiplies its table with the evidence on its own variables and with
what its children say, and sums out all that is neither in its separator nor asked for. So the joint of any
variables is made along the tree, and the table over all variables never. Going down again gives the margins of
all variables (:meth:`Inference.posteriors`), and most probable or random states (:meth:`Inference.descend`).

Observed variables are cut out of the tables before anything is multiplied. A subtree without evidence and
without a variable asked for says nothing (its tables sum to one) and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError
from xordal.graph.junction_tree import JunctionTree
from xordal.model.cliques import CliqueTables
from xordal.model.observed import Block, Logs, Observed, Rows, patterns
from xordal.model.parameters import Conditional
from xordal.model.potential import Potential, aligned, product, summed_product
from xordal.types.varsets import VarSet, members, varset

MOST_CELLS = 2**24
"""Cells of the largest table made for one row of evidence: 128 MB."""

_BLOCK_CELLS = 2**22  # cells of all tables of all rows of a block together: 32 MB
_OWN_GROUP = 256  # rows from which on a pattern of observed variables is worth a pass of its own

Reduce = Callable[[Potential, Collection[int]], Potential]
Choose = Callable[[Logs, Rows], Rows]
"""Takes tables of log weights, one in each row, and the table of each state; returns a cell for each state."""


@dataclass(frozen=True, eq=False)
class Inference:
    """A junction tree with its tables.

    Attributes
    ----------
    tree
        The rooted cliques.
    tables
        P(own variables | separator) of each clique.
    names, n_levels
        Of all variables.
    """

    tree: JunctionTree
    tables: tuple[Conditional, ...]
    names: tuple[str, ...]
    n_levels: tuple[int, ...]

    def joint(self, evidence: Observed, asked: Collection[int]) -> Logs:
        """Return log P(asked variables, evidence), shape (rows, levels of the first one asked, ...).

        Axes are in increasing order of the variables asked for; asking for none gives the probability of the
        evidence. Rows are taken in blocks, so that memory is bounded.
        """
        target = varset(asked)
        out = np.empty((evidence.n_rows, *(self.n_levels[v] for v in members(target))))
        for rows, hard in self._blocks(evidence, target):
            _, messages = self._upward(Block(evidence, rows, hard), target)
            found = product(messages[root] for root in self._roots if root in messages)
            out[rows] = aligned(found, members(target))
        return out

    def posteriors(self, evidence: Observed, asked: Collection[int]) -> tuple[Logs, dict[int, Logs]]:
        """Return log P(evidence), shape (rows,), and log P(v | evidence), (rows, levels), of each one asked.

        Rows of impossible evidence, -inf, have posteriors of -inf.
        """
        total = np.empty(evidence.n_rows)
        found = {v: np.empty((evidence.n_rows, self.n_levels[v])) for v in asked}
        for rows, hard in self._blocks(evidence, VarSet(0)):
            block = Block(evidence, rows, hard)
            total[rows], beliefs = self._beliefs(block)
            for v in asked:
                found[v][rows] = self._posterior(v, block, beliefs)
        for logs in found.values():
            logs[total == -np.inf] = -np.inf
        return total, found

    def descend(self, evidence: Observed, choose: Choose, *, n_rows: int, best: bool) -> NDArray[np.int64]:
        """Return a state of all variables for each row, chosen clique by clique from the roots down.

        ``choose`` picks a cell for each state. With ``best`` the weights of a clique are
        maximised over what lies below it, else summed. One row of evidence serves ``n_rows`` states. Where the
        evidence is impossible the state means nothing.
        """
        repeated = evidence.codes if evidence.n_rows == n_rows else np.repeat(evidence.codes, n_rows, axis=1)
        states = np.where(np.array(self.n_levels)[:, None] == 1, 0, repeated)
        reduce: Reduce = Potential.max_to if best else Potential.sum_to
        for rows, hard in self._blocks(evidence, VarSet(0)):
            products, _ = self._upward(Block(evidence, rows, hard), VarSet(0), reduce, every=True)
            for part in [rows] if evidence.n_rows == n_rows else self._draws(n_rows, products):
                here = states[:, part]
                for clique, separator in enumerate(self.tree.separators):
                    _choose_cell(products[clique], members(separator), here, choose)
                states[:, part] = here
        return states

    @cached_property
    def cliques(self) -> CliqueTables:
        """The tables, ready to be cut."""
        return CliqueTables(self.tree, self.tables, self.n_levels)

    @cached_property
    def _roots(self) -> tuple[int, ...]:
        return tuple(clique for clique, parent in enumerate(self.tree.parents) if parent is None)

    @cached_property
    def _own(self) -> tuple[int, ...]:
        """The variables each clique is the first to hold: its members without those of its separator."""
        return tuple(c & ~s for c, s in zip(self.tree.cliques, self.tree.separators, strict=True))

    def _upward(
        self, block: Block, asked: VarSet, reduce: Reduce = Potential.sum_to, *, every: bool = False
    ) -> tuple[dict[int, Potential], dict[int, Potential]]:
        """Return what each clique knows from below itself, and its message to the parent.

        ``every`` asks for all cliques and for what they know; else those are left out that say nothing, and
        there are messages only.
        """
        below: dict[int, list[Potential]] = {}
        products: dict[int, Potential] = {}
        messages: dict[int, Potential] = {}
        for clique in reversed(range(len(self.tree.cliques))):
            own = self._own[clique]
            children = below.pop(clique, [])
            if not (every or children or own & (block.observed | asked)):
                continue
            doubts = [block.doubt(v, self.n_levels[v]) for v in members(own & block.soft)]
            parts = [self.cliques.cut(clique, block), *doubts, *children]
            keep = members(self.tree.separators[clique] | asked)
            if every:
                products[clique] = product(parts)
                messages[clique] = reduce(products[clique], keep)
            else:  # the messages are all that is asked for
                messages[clique] = summed_product(parts, keep)
            if (parent := self.tree.parents[clique]) is not None:
                below.setdefault(parent, []).append(messages[clique])
        return products, messages

    def _beliefs(self, block: Block) -> tuple[Logs, list[Potential]]:
        """Return log P(evidence) and, clique by clique, P(its free variables, evidence in its component)."""
        products, messages = self._upward(block, VarSet(0), Potential.sum_to, every=True)
        beliefs: list[Potential] = []
        for clique, parent in enumerate(self.tree.parents):
            belief = products[clique]
            if parent is not None:
                said = messages[clique]
                belief = product([belief, beliefs[parent].sum_to(said.variables).divided_by(said)])
            beliefs.append(belief)
        return product(messages[root] for root in self._roots).logs, beliefs

    def _posterior(self, v: int, block: Block, beliefs: list[Potential]) -> Logs:
        if block.hard >> v & 1 or self.n_levels[v] == 1:
            seen = np.zeros(len(block.rows), dtype=np.int64) if self.n_levels[v] == 1 else block.codes(v)
            return np.where(seen[:, None] == np.arange(self.n_levels[v]), 0.0, -np.inf)
        home = next(clique for clique, own in enumerate(self._own) if own >> v & 1)
        belief = beliefs[home].sum_to((v,))
        return belief.divided_by(belief.sum_to(())).logs

    def _blocks(self, evidence: Observed, asked: VarSet) -> Iterator[tuple[Rows, VarSet]]:
        """Yield the rows in blocks, each with the variables that are observed in all of its rows."""
        usable = (evidence.codes >= 0) & (np.array(self.n_levels) > 1)[:, None]
        usable[[*members(asked), *evidence.weights]] = False
        for rows in self._groups(usable, asked):
            hard = varset(np.flatnonzero(usable[:, rows].all(axis=1)).tolist())
            step = max(1, _BLOCK_CELLS // self._cells(hard, asked, refuse=True))
            for start in range(0, len(rows), step):
                yield rows[start : start + step], hard

    def _groups(self, usable: NDArray[np.bool_], asked: VarSet) -> list[Rows]:
        """Return rows with one pattern of observed variables together, and the rows of rare patterns too."""
        kinds, kind = patterns(usable)
        if kinds.shape[1] == 1:
            return [np.arange(len(kind))]
        each = np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1])
        rare = [rows for rows in each if len(rows) < _OWN_GROUP]
        if len(rare) < 2:
            return each
        together = np.sort(np.concatenate(rare))
        shared = varset(np.flatnonzero(usable[:, together].all(axis=1)).tolist())
        if self._cells(shared, asked, refuse=False) > _BLOCK_CELLS:
            return each  # too large without the values that only some of the rows have
        return [*(rows for rows in each if len(rows) >= _OWN_GROUP), together]

    def _cells(self, hard: VarSet, asked: VarSet, *, refuse: bool) -> int:
        """Return the cells of all tables of a pass, for one row; too many in one of them are refused."""
        carried: dict[int, int] = {}
        total = 0
        for clique in reversed(range(len(self.tree.cliques))):
            scope = (self.tree.cliques[clique] | carried.pop(clique, 0)) & ~hard
            cells = prod(self.n_levels[v] for v in members(scope))
            if cells > MOST_CELLS and refuse:
                raise self._too_large(clique, scope, cells)
            total += cells
            parent = -1 if (above := self.tree.parents[clique]) is None else above
            carried[parent] = carried.get(parent, 0) | scope & asked
        at_the_end = prod(self.n_levels[v] for v in members(asked))
        if at_the_end > MOST_CELLS and refuse:
            raise self._too_large(None, asked, at_the_end)
        return total + at_the_end

    def _too_large(self, clique: int | None, scope: int, cells: int) -> DataError:
        def named(variables: int) -> str:
            return "{" + ", ".join(self.names[v] for v in members(variables)) + "}"

        most = f"{cells:,} cells; the most are {MOST_CELLS:,}"
        if clique is not None and scope & ~self.tree.cliques[clique] == 0:
            return DataError(
                f"The clique {named(self.tree.cliques[clique])} has a table of {most}. Give evidence on more "
                "of its variables, or learn with smaller cliques (Limits(max_clique=...))."
            )
        return DataError(f"The joint of {named(scope)} has {most}. Ask for fewer variables at once.")

    def _draws(self, n_rows: int, products: Mapping[int, Potential]) -> Iterator[Rows]:
        largest = max(part.logs.size for part in products.values())
        step = max(1, _BLOCK_CELLS // largest)
        for start in range(0, n_rows, step):
            yield np.arange(start, min(start + step, n_rows))


def _choose_cell(
    above: Potential, separator: tuple[int, ...], states: NDArray[np.int64], choose: Choose
) -> None:
    """Set the free variables of a clique in every row, given those it shares with its parent."""
    known = [v for v in above.variables if v in separator]
    new = [v for v in above.variables if v not in separator]
    if not new:
        return
    logs = above.ordered([*known, *new])
    sizes, shape = logs.shape[1 : 1 + len(known)], logs.shape[1 + len(known) :]
    n_states, found = states.shape[1], tuple(states[v] for v in known)
    if len(logs) == 1 and prod(sizes) <= n_states:  # many states share a table
        tables = logs.reshape(prod(sizes), -1)
        own = np.ravel_multi_index(found, sizes) if found else np.zeros(n_states, dtype=np.int64)
    else:
        row = np.zeros(n_states, dtype=np.int64) if len(logs) == 1 else np.arange(n_states)
        tables, own = np.asarray(logs[(row, *found)]).reshape(n_states, -1), np.arange(n_states)
    for v, codes in zip(new, np.unravel_index(choose(tables, own), shape), strict=True):
        states[v] = codes
