"""The tables P(own variables | separator) of a junction tree's cliques, cut at what is observed.

Small tables are kept whole and indexed. Of large ones only the cells that the evidence leaves are made, so that
a clique of more cells than any memory can be used where most of its variables are observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from xordal.graph.junction_tree import JunctionTree
from xordal.model.observed import Block, Logs
from xordal.model.parameters import Conditional
from xordal.model.potential import Potential
from xordal.types.varsets import members

_DENSE_CELLS = 2**18  # a clique's table of up to this many cells is kept whole; a larger one is looked up
_LOOKED_UP = 64  # free cells a row up to which it is looked up cell by cell


@dataclass(frozen=True, eq=False)
class CliqueTables:
    """The tables P(own | separator) of the cliques of a junction tree."""

    tree: JunctionTree
    tables: tuple[Conditional, ...]
    n_levels: tuple[int, ...]

    def cut(self, clique: int, block: Block) -> Potential:
        """Return the table P(own | separator) of a clique where the observed variables have their values."""
        inside = self._varying[clique]
        free = tuple(v for v in inside if not block.hard >> v & 1)
        hard = tuple(v for v in inside if block.hard >> v & 1)
        if self.tables[clique].n_cells <= _DENSE_CELLS:
            return Potential(free, self._by_index(clique, block, hard, free))
        if prod(self.n_levels[v] for v in free) <= _LOOKED_UP:
            return Potential(free, self._by_lookup(clique, block, free))
        return Potential(free, self._by_row(clique, block, hard))

    @cached_property
    def _varying(self) -> tuple[tuple[int, ...], ...]:
        """The variables of each clique that have more than one level; the others are always known."""
        return tuple(tuple(v for v in members(c) if self.n_levels[v] > 1) for c in self.tree.cliques)

    @cached_property
    def _dense(self) -> dict[int, Logs]:
        """The conditional tables made so far, by clique."""
        return {}

    def _by_index(self, clique: int, block: Block, hard: tuple[int, ...], free: tuple[int, ...]) -> Logs:
        if clique not in self._dense:
            self._dense[clique] = self._conditional(clique, {})
        inside = self._varying[clique]
        table = np.transpose(self._dense[clique], [inside.index(v) for v in (*hard, *free)])
        return np.asarray(table[tuple(block.codes(v) for v in hard)]) if hard else table[None]

    def _by_lookup(self, clique: int, block: Block, free: tuple[int, ...]) -> Logs:
        shape = tuple(self.n_levels[v] for v in free)
        n_free, n_rows = prod(shape), len(block.rows)
        grid = dict(zip(free, np.indices(shape).reshape(len(shape), n_free), strict=True))
        zeros = np.zeros(n_rows * n_free, dtype=np.int64)
        codes = dict.fromkeys(members(self.tree.cliques[clique]), zeros)  # of constants there is nothing else
        codes |= {v: np.tile(levels, n_rows) for v, levels in grid.items()}
        hard = members(self.tree.cliques[clique] & block.hard)
        codes |= {v: np.repeat(block.codes(v), n_free) for v in hard}
        chosen = np.stack([codes[v] for v in members(self.tree.cliques[clique])])
        return self.tables[clique].log_prob_of(chosen).reshape(n_rows, *shape)

    def _by_row(self, clique: int, block: Block, hard: tuple[int, ...]) -> Logs:
        if not hard:
            return self._conditional(clique, {})[None]
        rows = zip(*(block.codes(v).tolist() for v in hard), strict=True)
        return np.stack([self._conditional(clique, dict(zip(hard, row, strict=True))) for row in rows])

    def _conditional(self, clique: int, observed: Mapping[int, int]) -> Logs:
        """Return log P(own | separator) over the free variables of a clique, for one row of evidence."""
        free = [v for v in self._varying[clique] if v not in observed]
        observed = {v: observed.get(v, 0) for v in members(self.tree.cliques[clique]) if v not in free}
        return self.tables[clique].cut(observed, self.n_levels)
