"""Back-off: a clique's table shrunk towards smaller margins of the same counts.

The network is the product over its cliques of P(own variables | separator), and that the product over the own
variables, one after the other, of P(variable | context): the context is the separator and the own variables
before. The context's variables are ranked by what each shares with the variable, strongest first, and

    P_0(x)           = (count of x + 1 / levels) / (n + 1)
    P_i(x | context) = (count of x with context + b P_(i-1)(x | context but its i-th)) / (count of context + b)

where the context of step i holds the i strongest variables: Dirichlet back-off, as for sequences of words
(MacKay & Peto 1995). Every P_i sums to one over x, so the product is a distribution with the graph's
independences, and cliques agree on separators because each is conditioned on its own.

Only occupied cells are kept, and a row is looked up in them. Unlike evenly smoothed ones, tables of whole
cliques have no short form: those are made in full, when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.oracle import CellCounts
from xordal.errors import DataError
from xordal.graph.junction_tree import JunctionTree
from xordal.model.parameters import Beginnings
from xordal.model.smoothing import Backoff
from xordal.types.varsets import VarSet, members

MOST_CELLS = 2**24
"""Cells of the largest table of a whole clique: 128 MB."""

_BASE_ROWS = 1.0  # spread evenly over the levels of a single variable, whatever b: margins need little help

Logs = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BackoffClique:
    """P(own variables | separator) of one clique: a :class:`~xordal.model.parameters.Conditional`.

    Attributes
    ----------
    variables
        The clique.
    counted
        Its occupied cells and their counts.
    n_cells
        Number of cells, occupied or not.
    n_levels
        Of all variables of the network.
    chains
        For each own variable, by their places in the clique: itself, and its context, strongest first.
    rows
        The rows that each context borrows, b.
    """

    variables: VarSet
    counted: CellCounts
    n_cells: float
    n_levels: tuple[int, ...]
    chains: tuple[tuple[int, tuple[int, ...]], ...]
    rows: float

    @classmethod
    def of(
        cls, clique: VarSet, separator: VarSet, counted: CellCounts, n_levels: tuple[int, ...], how: Backoff
    ) -> BackoffClique:
        """Return the back-off of a clique from its counts."""
        inside = members(clique)
        known = [place for place, v in enumerate(inside) if separator >> v & 1]
        chains = []
        for place in (place for place, v in enumerate(inside) if not separator >> v & 1):
            chains.append((place, _strongest_first(counted, place, known)))
            known.append(place)
        n_cells = prod(float(n_levels[v]) for v in inside)
        return cls(clique, counted, n_cells, n_levels, tuple(chains), how.rows)

    def log_prob_of(self, chosen: NDArray[np.integer]) -> Logs:
        """Return log P(own | separator) of rows of codes of the clique's variables, shape (variables, rows)."""
        return np.asarray(self.log_probs_of(chosen, [self.rows])[0])

    def log_probs_of(self, chosen: NDArray[np.integer], borrowed: Sequence[float]) -> Logs:
        """Return the same for several numbers of borrowed rows, shape (numbers, rows), in one look-up."""
        logs = np.zeros((len(borrowed), chosen.shape[1]))
        inside = members(self.variables)
        for place, context in self.chains:
            seen = self._seen(chosen, place, context)
            of_value, of_all = next(seen)
            base = (of_value + _BASE_ROWS / self.n_levels[inside[place]]) / (of_all + _BASE_ROWS)
            chances = [base] * len(borrowed)
            for of_both, of_context in seen:
                chances = [(of_both + b * p) / (of_context + b) for b, p in zip(borrowed, chances, strict=True)]
            logs += np.log(np.stack(chances))
        logs[:, (chosen < 0).any(axis=0)] = -np.inf
        return logs

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> Logs:
        """Return log P(own | separator) of all cells in which some variables have given levels.

        One axis for each of the other variables, in increasing order; memory is that of those cells.
        """
        inside = members(self.variables)
        shape = [n_levels[v] for v in inside if v not in observed]
        grid = iter(np.indices(shape).reshape(len(shape), prod(shape)))
        chosen = [np.full(prod(shape), observed[v]) if v in observed else next(grid) for v in inside]
        return self.log_prob_of(np.stack(chosen)).reshape(shape)

    def _seen(
        self, chosen: NDArray[np.integer], place: int, context: tuple[int, ...]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Yield how often each row's value was seen with its context, and the context; the empty one first."""
        cells, counts = self.counted.cells, self.counted.counts
        start = Beginnings.none(len(cells), chosen.shape[1])
        for step in range(len(context) + 1):
            if step:
                start = start.longer(cells[:, context[step - 1]], chosen[context[step - 1]])
            both = start.longer(cells[:, place], chosen[place])
            yield _counts_of(both, counts), _counts_of(start, counts)


@dataclass(frozen=True, eq=False)
class BackoffNetwork:
    """All cliques of a network with back-off, and the tables of whole cliques.

    Attributes
    ----------
    tree
        The junction tree.
    cliques
        P(own | separator) of each of its cliques.
    names
        Of all variables.
    """

    tree: JunctionTree
    cliques: tuple[BackoffClique, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        tree: JunctionTree,
        counts: Mapping[VarSet, CellCounts],
        names: tuple[str, ...],
        n_levels: tuple[int, ...],
        how: Backoff,
    ) -> BackoffNetwork:
        """Return the back-off of a junction tree from the counts of its cliques."""
        parts = zip(tree.cliques, tree.separators, strict=True)
        return cls(tree, tuple(BackoffClique.of(c, s, counts[c], n_levels, how) for c, s in parts), names)

    def table(self, variables: VarSet, counted: CellCounts) -> BackoffTable:
        """Return the table of a set within a clique, whose counts these are."""
        n_cells = prod(float(self.cliques[0].n_levels[v]) for v in members(variables))
        return BackoffTable(variables, counted, n_cells, int(counted.counts.sum()), self)

    def margin(self, variables: VarSet) -> NDArray[np.float64]:
        """Return P(variables) of a set within a clique, one axis for each variable in increasing order."""
        home = next(place for place, clique in enumerate(self.tree.cliques) if not variables & ~clique)
        return _summed(self._joints[home], self.tree.cliques[home], variables)

    @cached_property
    def _joints(self) -> list[NDArray[np.float64]]:
        """P of each clique: that of its separator, from its parent, times P(own | separator)."""
        self._check_size()
        joints: list[NDArray[np.float64]] = []
        parts = zip(self.cliques, self.tree.separators, self.tree.parents, strict=True)
        for clique, separator, parent in parts:
            chances = np.exp(clique.cut({}, clique.n_levels))
            if parent is not None:
                shared = _summed(joints[parent], self.tree.cliques[parent], separator)
                axes = [n if separator >> v & 1 else 1 for v, n in self._axes(clique)]
                chances = chances * shared.reshape(axes)
            joints.append(chances)
        return joints

    def _axes(self, clique: BackoffClique) -> list[tuple[int, int]]:
        return [(v, clique.n_levels[v]) for v in members(clique.variables)]

    def _check_size(self) -> None:
        largest = max(self.cliques, key=lambda clique: clique.n_cells)
        if largest.n_cells > MOST_CELLS:
            named = ", ".join(self.names[v] for v in members(largest.variables))
            raise DataError(
                f"The clique {{{named}}} has {largest.n_cells:,.0f} cells; with back-off the most are "
                f"{MOST_CELLS:,}, since its table is made in full here. Choose an even smoothing (a number of "
                "rows), or learn with smaller cliques (Limits(max_clique=...))."
            )


@dataclass(frozen=True, slots=True, eq=False)
class BackoffTable:
    """The distribution of a clique or of a part of one: a :class:`~xordal.model.parameters.Table`."""

    variables: VarSet
    counted: CellCounts
    n_cells: float
    n_rows: int
    network: BackoffNetwork

    @property
    def smoothing(self) -> Backoff:
        """The rows that each context borrows."""
        return Backoff(self.network.cliques[0].rows)

    def log_prob(self, codes: NDArray[np.integer]) -> Logs:
        """Return the log probability of each row of all columns, in nats; -inf for levels never seen."""
        chosen = codes[list(members(self.variables))]
        with np.errstate(divide="ignore"):
            logs = np.log(self.network.margin(self.variables)[tuple(np.maximum(chosen, 0))])
        return np.where((chosen < 0).any(axis=0), -np.inf, logs)

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> Logs:
        """Return the log probabilities of all cells in which some variables have given levels."""
        where = tuple(observed.get(v, slice(None)) for v in members(self.variables))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.network.margin(self.variables)[where]))

    def over(self, variables: VarSet, n_levels: Sequence[int]) -> BackoffTable:
        """Return the table of some of the variables: the margin of this one."""
        inside = members(self.variables)
        return self.network.table(variables, self.counted.over([inside.index(v) for v in members(variables)]))

    def entropy(self) -> float:
        """Return the entropy in nats."""
        return entropy(self.network.margin(self.variables))


def _strongest_first(counted: CellCounts, place: int, others: Sequence[int]) -> tuple[int, ...]:
    """Return the places of a context by what each shares with the variable; of equals the first column."""
    own = entropy(counted.over([place]).counts)

    def shared(other: int) -> float:
        pair = entropy(counted.over([place, other]).counts)
        return own + entropy(counted.over([other]).counts) - pair

    return tuple(sorted(others, key=lambda other: (-round(shared(other), 12), other)))


def _counts_of(start: Beginnings, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how often each row's beginning was seen; number -1, the last, is for those that never were."""
    return np.append(np.bincount(start.cells, weights=counts), 0.0)[start.rows]


def _summed(joint: NDArray[np.float64], clique: VarSet, variables: VarSet) -> NDArray[np.float64]:
    axes = tuple(axis for axis, v in enumerate(members(clique)) if not variables >> v & 1)
    return np.asarray(joint.sum(axis=axes)) if axes else joint
