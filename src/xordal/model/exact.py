"""Networks that were given, not counted: tables of exact probabilities, and how they are made from factors.

A Bayesian network, or any product of tables over small sets of variables, becomes a decomposable network with
the same joint distribution in three steps. Variables that share a table are linked. Links are filled in until
the graph is chordal (:mod:`xordal.graph.min_fill`), so that each table lies in a clique. Then the cliques tell
each other what they know, up the junction tree and down again (Lauritzen & Spiegelhalter 1988), after which
each holds the margin of the joint on its own variables. How large the tables would be is known, and limited,
before any of them is made.

Rows never come in: such a network has ``n_rows`` 0 and no counts, so it cannot be smoothed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.oracle import CellCounts
from xordal.errors import DataError, about
from xordal.graph.chordal import ChordalGraph, linked
from xordal.graph.junction_tree import JunctionTree, first_cliques, junction_tree
from xordal.graph.min_fill import min_fill
from xordal.graph.signed_sets import signed_sets
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.potential import Potential, product
from xordal.types.varsets import VarSet, members, varset

MOST_CELLS = 2**24
"""Cells of the largest clique's table: 128 MB."""

MOST_IN_ALL = 2**25
"""Cells of the tables of all cliques together: 256 MB, and about 1 GB while they are made."""

_FAR_TOO_MANY = 2**40
"""Cells of a clique at which completing the graph is given up.

Filled-in links that are taken out again make cliques smaller, so that a clique may be too large while the graph
is completed and not be so afterwards; but not by this much. Up to here the work is at most some thousand steps
for each variable, since a clique has at most 40 variables of two levels and more.
"""

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
    variables: tuple[str, ...],
    levels: tuple[tuple[Hashable, ...], ...],
    factors: Sequence[Factor],
    *,
    if_too_large: str = "A network without directions can then be neither asked nor converted.",
) -> DecomposableMarkovNetwork:
    """Return the decomposable network whose joint is proportional to the product of some factors.

    ``if_too_large`` is added to the error about a network whose tables would be too large.

    Raises
    ------
    DataError
        If the product is zero everywhere, or a clique would have a table that is too large.
    """
    size = _Size(variables, tuple(map(len, levels)), if_too_large)
    size.check_number()
    factors = [_varying(factor) for factor in factors]
    graph = _chordal(len(variables), factors, size.check_widest)
    tree = junction_tree(graph)
    size.check(tree)
    first = first_cliques(tree)
    margins = _margins(tree, _assigned(tree, first, factors, size.n_levels))
    tables = []
    for part, sign in sorted(signed_sets(graph).items()):
        home = margins[max(first[v] for v in members(part))]
        tables.append((sign, home.over(part, size.n_levels)))
    return DecomposableMarkovNetwork(variables, levels, graph, tuple(tables))


def _varying(factor: Factor) -> Factor:
    """Return a factor without its variables of one level: nothing depends on them, and no clique needs them.

    A clique of such variables would have any number of axes and one cell. One stays where there is no other.
    """
    kept = tuple(axis for axis, n in enumerate(factor.values.shape) if n > 1) or (0,)
    if not factor.variables or len(kept) == len(factor.variables):
        return factor
    shape = tuple(factor.values.shape[axis] for axis in kept)
    return Factor(tuple(factor.variables[axis] for axis in kept), factor.values.reshape(shape))


class _Size:
    """How large the tables of a junction tree may be, looked at before any is made."""

    def __init__(self, variables: tuple[str, ...], n_levels: tuple[int, ...], advice: str) -> None:
        self.n_levels = n_levels
        self._variables, self._advice = variables, advice

    def check_number(self) -> None:
        """Refuse more variables than a graph is completed with."""
        if (n := len(self._variables)) > MOST_VARIABLES:
            raise DataError(
                f"A network of {n:,} variables is too large; the most are {MOST_VARIABLES:,}. {self._advice}"
            )

    def check_widest(self, clique: int) -> None:
        """Refuse a clique that no taking out of filled-in links will make small enough."""
        if self._cells(clique) > _FAR_TOO_MANY:
            self._refuse_clique(clique)

    def check(self, tree: JunctionTree) -> None:
        """Refuse a clique whose table is too large, and cliques whose tables are too large together."""
        cells = [self._cells(clique) for clique in tree.cliques]
        if max(cells) > MOST_CELLS:
            self._refuse_clique(tree.cliques[cells.index(max(cells))])
        if sum(cells) > MOST_IN_ALL:
            raise DataError(
                f"The tables of the {len(cells):,} cliques of this network would have {sum(cells):,} cells "
                f"together; the most are {MOST_IN_ALL:,}. {self._advice}"
            )

    def _cells(self, clique: int) -> int:
        return prod(self.n_levels[v] for v in members(clique))

    def _refuse_clique(self, clique: int) -> NoReturn:
        some = ", ".join(self._variables[v] for v in members(clique)[:8])
        raise DataError(
            f"The clique of {clique.bit_count()} variables {{{some}, ...}} would have a table of "
            f"{about(self._cells(clique))} cells; the most are {MOST_CELLS:,}. {self._advice}"
        )


def _chordal(n_variables: int, factors: Sequence[Factor], look: Callable[[int], None]) -> ChordalGraph:
    """Return the graph in which variables that share a factor are linked, completed."""
    links = {pair for factor in factors for pair in combinations(sorted(factor.variables), 2)}
    masks = linked([0] * n_variables, links)
    return ChordalGraph.of(linked(masks, min_fill(masks, look)))


def _assigned(
    tree: JunctionTree, first: Mapping[int, int], factors: Sequence[Factor], n_levels: tuple[int, ...]
) -> list[Potential]:
    """Return, for each clique, the product of the factors that are multiplied into it, in log space."""
    shares: list[list[Potential]] = [[] for _ in tree.cliques]
    for factor in factors:
        shares[max((first[v] for v in factor.variables), default=0)].append(_potential(factor))
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
