"""Networks that were given, not counted: tables of exact probabilities, and how they are made from factors.

A Bayesian network, or any product of tables over small sets of variables, becomes a decomposable network with
the same joint distribution in three steps. Variables that share a table are linked. Links are filled in until
the graph is chordal (:mod:`xordal.graph.min_fill`), so that each table lies in a clique. Then the cliques tell
each other what they know, up the junction tree and down again (Lauritzen & Spiegelhalter 1988), after which
each holds the margin of the joint on its own variables.

Rows never come in: such a network has ``n_rows`` 0 and no counts, so it cannot be smoothed anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.oracle import CellCounts
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph, linked
from xordal.graph.junction_tree import JunctionTree, junction_tree
from xordal.graph.min_fill import min_fill
from xordal.graph.signed_sets import signed_sets
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.potential import Potential, product
from xordal.types.varsets import VarSet, members, varset

MOST_CELLS = 2**24
"""Cells of the largest clique's table: 128 MB."""

MOST_VARIABLES = 20_000
"""Variables of a network whose graph is completed here."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A non-negative function of some variables; shape (levels of the first, levels of the second, ...)."""

    variables: tuple[int, ...]
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExactTable:
    """The distribution of a clique or a separator: a :class:`~xordal.model.parameters.Table`.

    Attributes
    ----------
    variables
        The variable set.
    chances
        Shape (levels of the first variable, ...), variables in increasing order; sums to one.
    """

    variables: VarSet
    chances: NDArray[np.float64]

    n_rows = 0
    smoothing = 0.0

    @property
    def n_cells(self) -> float:
        """Number of cells."""
        return float(self.chances.size)

    @property
    def counted(self) -> CellCounts:
        """There are no counts: an error."""
        raise DataError("This network was given, not counted from rows: there are no counts of its cells.")

    @cached_property
    def _logs(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.chances)

    def log_prob(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability of each row, from the codes of all columns, in nats."""
        return self.log_prob_of(codes[list(members(self.variables))])

    def log_prob_of(self, chosen: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability of rows of codes of this set's variables; -inf for levels never seen."""
        logs = self._logs[tuple(np.maximum(chosen, 0))]
        return np.where((chosen < 0).any(axis=0), -np.inf, logs)

    def cut(self, observed: Mapping[int, int], n_levels: Sequence[int]) -> NDArray[np.float64]:
        """Return the log probabilities of all cells in which some variables have given levels."""
        return np.asarray(self._logs[tuple(observed.get(v, slice(None)) for v in members(self.variables))])

    def over(self, variables: VarSet, n_levels: Sequence[int]) -> ExactTable:
        """Return the table of some of the variables: the margin of this one."""
        axes = tuple(axis for axis, v in enumerate(members(self.variables)) if not variables >> v & 1)
        return ExactTable(variables, self.chances.sum(axis=axes) if axes else self.chances)

    def entropy(self) -> float:
        """Return the entropy in nats."""
        return entropy(self.chances)

    def expected(self, n_rows: int) -> CellCounts:
        """Return how many of so many rows are expected in each cell that is possible, in whole rows."""
        cells = np.argwhere(self.chances > 0)
        return CellCounts(cells, np.rint(n_rows * self.chances[tuple(cells.T)]).astype(np.int64))


def markov_network(
    variables: tuple[str, ...], levels: tuple[tuple[Hashable, ...], ...], factors: Sequence[Factor]
) -> DecomposableMarkovNetwork:
    """Return the decomposable network whose joint is proportional to the product of some factors.

    Raises
    ------
    DataError
        If the product is zero everywhere, or a clique would have a table that is too large.
    """
    n_levels = tuple(map(len, levels))
    graph = _chordal(len(variables), factors)
    tree = junction_tree(graph)
    _check_size(tree, variables, n_levels)
    margins = _margins(tree, _assigned(tree, factors, n_levels))
    tables = []
    for part, sign in sorted(signed_sets(graph).items()):
        home = next(table for table in margins if not part & ~table.variables)
        tables.append((sign, home.over(part, n_levels)))
    return DecomposableMarkovNetwork(variables, levels, graph, tuple(tables))


def _chordal(n_variables: int, factors: Sequence[Factor]) -> ChordalGraph:
    """Return the graph in which variables that share a factor are linked, completed."""
    if n_variables > MOST_VARIABLES:
        raise DataError(
            f"A network of {n_variables:,} variables is too large; the most are {MOST_VARIABLES:,}."
        )
    links = {pair for factor in factors for pair in combinations(sorted(factor.variables), 2)}
    masks = linked([0] * n_variables, links)
    return ChordalGraph.of(linked(masks, min_fill(masks)))


def _check_size(tree: JunctionTree, variables: tuple[str, ...], n_levels: tuple[int, ...]) -> None:
    largest = max(tree.cliques, key=lambda clique: prod(n_levels[v] for v in members(clique)))
    cells = prod(n_levels[v] for v in members(largest))
    if cells > MOST_CELLS:
        some = ", ".join(variables[v] for v in members(largest)[:8])
        raise DataError(
            f"The clique of {largest.bit_count()} variables {{{some}, ...}} would have a table of {cells:.3g} "
            f"cells; the most are {MOST_CELLS:,}. This network can be converted, and not be asked."
        )


def _assigned(tree: JunctionTree, factors: Sequence[Factor], n_levels: tuple[int, ...]) -> list[Potential]:
    """Return, for each clique, the product of the factors that are multiplied into it, in log space."""
    shares: list[list[Potential]] = [[] for _ in tree.cliques]
    for factor in factors:
        wanted = varset(factor.variables)
        home = next(place for place, clique in enumerate(tree.cliques) if not wanted & ~clique)
        shares[home].append(_potential(factor))
    found = []
    for clique, parts in zip(tree.cliques, shares, strict=True):
        inside = members(clique)
        found.append(product([Potential(inside, np.zeros((1, *(n_levels[v] for v in inside)))), *parts]))
    return found


def _potential(factor: Factor) -> Potential:
    order = np.argsort(factor.variables)
    with np.errstate(divide="ignore"):
        logs = np.log(np.transpose(factor.values, order))
    return Potential(tuple(sorted(factor.variables)), logs[None])


def _margins(tree: JunctionTree, potentials: list[Potential]) -> list[ExactTable]:
    """Return the margin of the normalised product on each clique: messages up the tree, then down."""
    messages: dict[int, Potential] = {}
    for clique in reversed(range(len(tree.cliques))):
        messages[clique] = potentials[clique].sum_to(members(tree.separators[clique]))
        if (parent := tree.parents[clique]) is not None:
            potentials[parent] = product([potentials[parent], messages[clique]])
    margins: list[Potential] = []
    for clique, parent in enumerate(tree.parents):
        belief = potentials[clique].divided_by(messages[clique])
        if parent is not None:
            belief = product([belief, margins[parent].sum_to(members(tree.separators[clique]))])
        elif not np.isfinite(messages[clique].logs).all():
            raise DataError("The tables of this network leave nothing possible: their product is zero.")
        margins.append(belief)
    return [ExactTable(varset(belief.variables), np.asarray(np.exp(belief.logs[0]))) for belief in margins]
