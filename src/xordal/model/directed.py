"""Bayesian networks: each variable with its parents and the table of its probabilities given them.

xordal learns undirected networks; most other programs want directed ones. A :class:`BayesianNetwork` is what is
read from their files and written to them. It keeps its tables as they were given, digit by digit, so that a
file can be written back as it was. For all questions it becomes a
:class:`~xordal.model.network.DecomposableMarkovNetwork` with the same joint distribution
(:func:`xordal.model.exact.markov_network`): variables that share a family are linked (the graph is
*moralised*), and links are filled in until the graph is chordal.

The other way, :func:`along_a_perfect_order` directs every link of a decomposable network without changing its
distribution: in a perfect order the earlier neighbours of a variable are a clique, so P(variable | earlier
neighbours) can be read from one clique's table. Which directions the data speak for is another question; that
is :mod:`xordal.model.orientation`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted
from xordal.graph.chordal import perfect_order
from xordal.model.sensible import check_network
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import members

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork

Arc = tuple[int, int]
"""A parent and its child."""

MOST_CELLS = 2**24
"""Cells of the largest table: 128 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A variable, its parents and its probabilities given them.

    Attributes
    ----------
    variable
        The child.
    parents
        Its parents, in the order of the table's axes.
    chances
        Shape (levels of the first parent, ..., levels of the variable); each row sums to about one.
    """

    variable: int
    parents: tuple[int, ...]
    chances: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probabilities with rows that sum to one: files round them."""
        return np.asarray(self.chances / self.chances.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False, repr=False)
class BayesianNetwork:
    """A Bayesian network over named categorical variables.

    Attributes
    ----------
    variables
        Names.
    levels
        The levels of each variable, in their order.
    families
        The family of each variable, in the order of the variables.
    unidentified
        Arcs that other networks may do without and fit as well (:meth:`is_identified`): turned round, or not
        there. None where nothing is known about it, as in networks read from files.
    left_out
        Additive rules of the network that this one was made from: its tables do not hold them.

    Examples
    --------
    >>> rain = Family(0, (), np.array([0.2, 0.8]))
    >>> wet = Family(1, (0,), np.array([[0.9, 0.1], [0.05, 0.95]]))
    >>> network = BayesianNetwork(("rain", "wet"), (("yes", "no"), ("yes", "no")), (rain, wet))
    >>> network.arcs
    (('rain', 'wet'),)
    >>> round(network.to_markov().query("rain", given={"wet": "yes"})["yes"], 4)
    0.8182
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    families: tuple[Family, ...]
    unidentified: frozenset[Arc] | None = None
    left_out: tuple[AdditiveRule, ...] = ()

    def __post_init__(self) -> None:
        check_network(self.variables, self.levels, self.families)
        _ = self.order  # refuses a cycle

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each variable."""
        return tuple(map(len, self.levels))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return sum(f.chances.size // f.chances.shape[-1] * (f.chances.shape[-1] - 1) for f in self.families)

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Each parent and child, by name, in the order of the children."""
        return tuple((self.variables[u], self.variables[v]) for u, v in self.numbered_arcs)

    @property
    def numbered_arcs(self) -> tuple[Arc, ...]:
        """Each parent and child, in the order of the children."""
        return tuple((parent, family.variable) for family in self.families for parent in family.parents)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of the axes of :meth:`table`."""
        return tuple(self.variables[v] for v in self._family(name).parents)

    def table(self, name: str) -> NDArray[np.float64]:
        """Return P(variable | parents), shape (levels of the first parent, ..., levels of the variable)."""
        return self._family(name).chances.copy()

    def is_identified(self, parent: str, child: str) -> bool | None:
        """Whether every network that fits as well has this arc too; None where nothing is known about it.

        A network of the component that holds the arc fits as well if its families lie inside the same cliques,
        it has no more parameters than the best by BIC, and its score is at most log(rows) / 2 below that of
        this network there. Markov equivalent networks do. False also where that could not be proven.
        """
        if (parent, child) not in self.arcs:
            raise DataError(f"There is no arc {parent} -> {child} in this network.")
        if self.unidentified is None:
            return None
        return (self.variables.index(parent), self.variables.index(child)) not in self.unidentified

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The variables, parents before children."""
        order = topological_order([family.parents for family in self.families])
        if order is None:
            raise DataError("The arcs of this network form a cycle; a Bayesian network has none.")
        return order

    def to_markov(self) -> DecomposableMarkovNetwork:
        """Return the decomposable network with the same joint distribution, which answers all questions.

        Raises
        ------
        DataError
            If a clique of it would have a table that is too large.
        """
        from xordal.model.exact import Factor, markov_network

        factors = [Factor((*family.parents, family.variable), family.shares) for family in self.families]
        advice = "This network can be converted, and not be asked."
        return markov_network(self.variables, self.levels, factors, if_too_large=advice)

    def to_bayesian(self) -> BayesianNetwork:
        """Return the network itself: what every network can be asked for."""
        return self

    def log_prob(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability in nats of rows of level codes, shape (variables, rows)."""
        total = np.zeros(codes.shape[1])
        with np.errstate(divide="ignore"):
            for family in self.families:
                total += np.log(family.shares[tuple(codes[[*family.parents, family.variable]])])
        return total

    def sample_codes(self, n_rows: int, seed: int | None = None) -> NDArray[np.int32]:
        """Return random rows as codes, shape (variables, rows), drawn from parents to children."""
        from xordal.model.sampling import check_draw

        check_draw(n_rows, seed)
        generator = np.random.default_rng(None if seed is None else int(seed))
        codes = np.zeros((len(self.variables), int(n_rows)), dtype=np.int32)
        for v in self.order:
            family = self.families[v]
            up_to = np.cumsum(family.chances, axis=-1)[tuple(codes[list(family.parents)])]
            draws = generator.random(int(n_rows))[:, None] * up_to[..., -1:]
            codes[v] = (draws >= up_to.reshape(-1, up_to.shape[-1])).sum(axis=1)
        return codes

    def sample(self, n: int, *, seed: int | None = None) -> CategoricalTable:
        """Return random rows; given evidence, ask :meth:`to_markov`."""
        from xordal.model.sampling import sampled_table

        return sampled_table(self, self.sample_codes(n, seed))

    def export(self, path: str | Path, to: str | None = None) -> None:
        """Write the network to a file of another program; see :meth:`DecomposableMarkovNetwork.export`."""
        from xordal.formats.network_files import write_network

        write_network(self, path, to)

    def save(self, path: str | Path) -> None:
        """Write the network to a JSON file, whole or not at all; ``xordal.read_network`` reads it."""
        self.export(path, "json")

    def __repr__(self) -> str:
        arcs = counted(len(self.numbered_arcs), "arc")
        return f"<BayesianNetwork: {counted(len(self.variables), 'variable')}, {arcs}>"

    def _family(self, name: str) -> Family:
        if name not in self.variables:
            raise DataError(f"There is no variable {name!r} in this network.")
        return self.families[self.variables.index(name)]


def topological_order(parents: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Return the variables generation by generation, each in increasing order; None if there is a cycle.

    A generation is all whose parents are in earlier ones.

    Examples
    --------
    >>> topological_order([(2,), (), (1,)])
    (1, 2, 0)
    >>> topological_order([(1,), (0,)]) is None
    True
    """
    waiting = [len(set(above)) for above in parents]
    children: list[list[int]] = [[] for _ in parents]
    for v, above in enumerate(parents):
        for u in set(above):
            children[u].append(v)
    generation = [v for v, left in enumerate(waiting) if left == 0]
    order: list[int] = []
    while generation:
        order += generation
        following = []
        for child in (child for v in generation for child in children[v]):
            waiting[child] -= 1
            if waiting[child] == 0:
                following.append(child)
        generation = sorted(following)
    return tuple(order) if len(order) == len(parents) else None


def along_a_perfect_order(network: DecomposableMarkovNetwork) -> BayesianNetwork:
    """Return the network with every link directed along a perfect order, and the same joint distribution.

    Where the earlier neighbours have a combination of levels of probability zero, any row of the child's table
    gives the same joint; it is even then.

    Raises
    ------
    DataError
        If a clique has too many cells for its table to be written down.
    """
    order = perfect_order(network.graph.neighbours)
    assert order is not None, "a ChordalGraph is chordal"
    earlier, families = 0, {}
    for v in order:
        families[v] = family_of(network, v, members(network.graph.neighbours[v] & earlier))
        earlier |= 1 << v
    ordered = tuple(families[v] for v in range(len(network.variables)))
    rules = tuple(each.rule for each in network.rules)
    return BayesianNetwork(network.variables, network.levels, ordered, left_out=rules)


def family_of(network: DecomposableMarkovNetwork, v: int, parents: tuple[int, ...]) -> Family:
    """Return P(v | parents) of a network, where they lie in one clique."""
    inside = tuple(sorted((*parents, v)))
    wanted = sum(1 << u for u in inside)
    cells = prod(network.n_levels[u] for u in inside)
    if cells > MOST_CELLS:
        named = ", ".join(network.variables[u] for u in inside)
        raise DataError(
            f"The table of {{{named}}} has {cells:,} cells; the most that can be written down are "
            f"{MOST_CELLS:,}. Learn with smaller cliques (Limits(max_clique=...))."
        )
    home = min((t for _, t in network.factors if not wanted & ~t.variables), key=lambda t: t.n_cells)
    joint = np.exp(home.over(type(home.variables)(wanted), network.n_levels).cut({}, network.n_levels))
    joint = np.moveaxis(joint, inside.index(v), -1)
    total = joint.sum(axis=-1, keepdims=True)
    even = np.full_like(joint, 1 / joint.shape[-1])
    return Family(v, parents, np.divide(joint, total, out=even, where=total > 0))
