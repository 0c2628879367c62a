"""The learned distribution: a chordal graph with a table on every clique and separator.

The log probability of a row is one signed sum over the graph's signed sets: plus the cliques' tables, minus the
separators'. Entropy and free parameters are the same sum of other things. What users ask of a network are its
methods; each is answered by the module it names.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import JunctionTree, junction_tree
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.model.backoff import BackoffTable
from xordal.model.inference import Inference
from xordal.model.parameters import Conditional, Looked, Quotient, Table
from xordal.model.rule import NetworkRule
from xordal.model.rule_tree import Margins
from xordal.model.ruled import RuledInference, ruled_inference
from xordal.model.smoothing import Backoff, Smoothing
from xordal.types.choices import Absent, Unseen
from xordal.types.learned import Learned
from xordal.types.varsets import members

if TYPE_CHECKING:
    from xordal.model.compare import Comparison
    from xordal.model.directed import BayesianNetwork
    from xordal.model.explain import AnswerStory, LinkStory
    from xordal.model.predict import RowScores

Given = Mapping[str, Hashable]
"""Evidence: the level of each observed variable."""

Likely = Mapping[str, Mapping[Any, float]]
"""Soft evidence: how likely what was observed is under each level of a variable."""


@dataclass(frozen=True, eq=False, repr=False)
class DecomposableMarkovNetwork:
    """A decomposable Markov network over named categorical variables.

    Attributes
    ----------
    variables
        Names, in the order of the columns learned from.
    levels
        The levels of each variable, in their order.
    graph
        The chordal graph.
    factors
        The sign (+ for cliques, - for separators, times how often) and the table of each variable set.
    learned
        How the graph was learned, where that is known.
    rules
        Additive rules that are part of the distribution: each replaces the conditional of one of its columns
        (:mod:`xordal.model.rule`).

    Examples
    --------
    >>> from xordal.learning.fitting import fit_network
    >>> from xordal.learning.learn import learn
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> table = CategoricalTable.from_rows(["switch1", "switch2", "lamp"], rows)
    >>> network = fit_network(table, learn(table), smoothing=0)
    >>> network.query("lamp", given={"switch1": 1, "switch2": 0})
    {0: 0.0, 1: 1.0}
    >>> network.most_probable(given={"lamp": 1, "switch1": 0})
    {'switch1': 0, 'switch2': 1, 'lamp': 1}
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    graph: ChordalGraph
    factors: tuple[tuple[int, Table], ...]
    learned: Learned | None = None
    rules: tuple[NetworkRule, ...] = ()

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each variable."""
        return tuple(map(len, self.levels))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters; a rule has one, how often it is broken."""
        return free_parameters(signed_sets(self.graph), self.n_levels) + len(self.rules)

    @property
    def n_rows(self) -> int:
        """Number of rows the tables were counted from; 0 for a network that was given, as by a BIF file."""
        return self.factors[0][1].n_rows

    @property
    def is_counted(self) -> bool:
        """Whether the tables were counted from rows, and not given."""
        return self.n_rows > 0

    @property
    def smoothing(self) -> Smoothing:
        """Rows spread evenly over each table, 0 for tables as counted; or a :class:`~xordal.Backoff`."""
        return self.factors[0][1].smoothing

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The maximal cliques, by name."""
        return tuple(self.names(table.variables) for sign, table in self._clique_factors())

    def names(self, variables: int) -> tuple[str, ...]:
        """Return the names of a variable set."""
        return tuple(self.variables[v] for v in members(variables))

    def smoothed(self, smoothing: Smoothing) -> DecomposableMarkovNetwork:
        """Return the same network with tables of another smoothing, from the same counts."""
        if not self.is_counted:
            raise DataError(
                "This network was given with its probabilities, not counted from rows: it cannot be smoothed "
                "anew."
            )
        from xordal.model.estimation import CliqueCounts, estimate

        counts = CliqueCounts({table.variables: table.counted for table in self.clique_tables()})
        return estimate(
            self.graph,
            counts,
            self.variables,
            self.levels,
            smoothing=smoothing,
            learned=self.learned,
            rules=self.rules,
        )

    def without_rules(self) -> DecomposableMarkovNetwork:
        """Return the network of the graph and its tables alone."""
        return replace(self, rules=()) if self.rules else self

    def entropy(self) -> float:
        """Return the entropy of the network in nats: minus the mean log probability of its own rows."""
        if isinstance(self.inference, RuledInference):
            return self.inference.entropy()
        return fsum(sign * table.entropy() for sign, table in self.factors)

    @cached_property
    def inference(self) -> Inference:
        """The junction tree with its tables, which answers everything exactly."""
        if self.rules:
            return ruled_inference(self)
        return Inference(self.tree, self.conditionals, self.variables, self.n_levels)

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree of the graph."""
        return junction_tree(self.graph)

    @cached_property
    def tree_tables(self) -> tuple[tuple[Table, Table | None], ...]:
        """The table of each clique of the junction tree and that of its separator, None at a root."""
        table_of = {table.variables: table for _, table in self.factors}
        return tuple(
            (table_of[clique], table_of[separator] if separator else None)
            for clique, separator in zip(self.tree.cliques, self.tree.separators, strict=True)
        )

    @cached_property
    def conditionals(self) -> tuple[Conditional, ...]:
        """P(own variables | separator) of each clique of the junction tree."""
        table = self.factors[0][1]
        if isinstance(table, BackoffTable):
            return table.network.cliques
        return tuple(
            Quotient(cast("Looked", whole), cast("Looked | None", below)) for whole, below in self.tree_tables
        )

    def query_intervals(
        self,
        asked: str | Sequence[str],
        given: Given | None = None,
        likely: Likely | None = None,
        *,
        sure: float = 0.95,
    ) -> dict[Any, tuple[float, float]]:
        """Return, for each probability of :meth:`query`, a range that holds it with this probability.

        It tells how far the rows pin the tables of the cliques down (:mod:`xordal.model.intervals`); the links
        are taken as given.

        Raises
        ------
        DataError
            If the network was not counted from rows, holds an additive rule, or has a clique of too many cells.

        Examples
        --------
        >>> from xordal import learn
        >>> coin = {"coin": ["heads"] * 60 + ["tails"] * 40, "other": ["a", "b"] * 50}
        >>> low, high = learn(coin).network().query_intervals("coin")["heads"]
        >>> round(low, 3), round(high, 3)
        (0.502, 0.692)
        """
        from xordal.model.intervals import query_intervals

        return query_intervals(self, asked, given, likely, sure=sure)

    def query(
        self, asked: str | Sequence[str], given: Given | None = None, likely: Likely | None = None
    ) -> dict[Any, float]:
        """Return the distribution of one or more variables, given evidence.

        Parameters
        ----------
        asked
            The name of a variable, or several names.
        given
            The levels of observed variables.
        likely
            Soft evidence: for a variable, how likely what was observed is under each of its levels. Only the
            ratios matter.

        Returns
        -------
        dict
            The probability of each level; of each tuple of levels where a list of names is asked for.

        Raises
        ------
        ImpossibleEvidence
            If the evidence has probability zero.
        """
        from xordal.model.query import query

        return query(self, asked, given, likely)

    def marginals(
        self, given: Given | None = None, likely: Likely | None = None
    ) -> dict[str, dict[Hashable, float]]:
        """Return the distribution of every variable, given evidence."""
        from xordal.model.query import marginals

        return marginals(self, given, likely)

    def probability(self, given: Given, likely: Likely | None = None) -> float:
        """Return the probability of evidence; with soft evidence, the mean of its likelihood."""
        from xordal.model.query import log_probability

        return float(np.exp(log_probability(self, given, likely)))

    def log_probability(self, given: Given, likely: Likely | None = None) -> float:
        """Return the log probability of evidence in nats; -inf for what is impossible."""
        from xordal.model.query import log_probability

        return log_probability(self, given, likely)

    def most_probable(self, given: Given | None = None, likely: Likely | None = None) -> dict[str, Hashable]:
        """Return the most probable state of all variables, given evidence (MPE); of equals always the same."""
        from xordal.model.query import most_probable

        return most_probable(self, given, likely)

    def sample(
        self, n: int, *, seed: int | None = None, given: Given | None = None, likely: Likely | None = None
    ) -> CategoricalTable:
        """Return random rows, drawn down the junction tree; given evidence, from what it leaves."""
        from xordal.model.sampling import sample

        return sample(self, n, seed=seed, given=given, likely=likely)

    def log_likelihood(self, data: Any, *, unseen: Unseen = "error", absent: Absent = "error") -> float:
        """Return the log-likelihood of a table in nats: the sum of the log probabilities of its rows.

        Missing cells are summed out. :meth:`score_rows` has the rows one by one.
        """
        from xordal.model.predict import log_probabilities
        from xordal.model.rows import encoded

        rows = encoded(self, data, unseen=unseen, absent=absent)
        return rows.total(log_probabilities(self, rows))

    def score_rows(self, data: Any, *, unseen: Unseen = "error", absent: Absent = "error") -> RowScores:
        """Return the log probability of each row, how surprising it is, and the clique that is to blame.

        Parameters
        ----------
        data
            Anything :func:`xordal.read_table` takes. Missing cells are summed out; columns the network does not
            know are left alone.
        unseen
            A level the network never saw: ``"error"``, ``"impossible"`` (the row has -inf) or ``"missing"``.
        absent
            A column that is not there: ``"error"``, or ``"missing"``.
        """
        from xordal.model.predict import score_rows
        from xordal.model.rows import encoded

        return score_rows(self, encoded(self, data, unseen=unseen, absent=absent))

    def predict_proba(
        self, data: Any, target: str, *, unseen: Unseen = "error", absent: Absent = "error"
    ) -> NDArray[np.float64]:
        """Return the distribution of one column given the others, shape (rows, its levels), row by row.

        The target's own values, where there are any, are not looked at. ``levels_of(target)`` names the columns
        of the result. Parameters as in :meth:`score_rows`.
        """
        from xordal.model.predict import predict_proba

        return predict_proba(self, data, target, unseen=unseen, absent=absent)

    def predict_intervals(
        self,
        data: Any,
        target: str,
        *,
        sure: float = 0.95,
        unseen: Unseen = "error",
        absent: Absent = "error",
    ) -> NDArray[np.float64]:
        """Return the ranges of :meth:`predict_proba`, shape (rows, levels, 2); see :meth:`query_intervals`."""
        from xordal.model.intervals import predict_intervals

        return predict_intervals(self, data, target, sure, unseen=unseen, absent=absent)

    def predict(
        self, data: Any, target: str, *, unseen: Unseen = "error", absent: Absent = "error"
    ) -> list[Hashable]:
        """Return the most probable level of one column given the others, row by row; the first of equals."""
        chances = self.predict_proba(data, target, unseen=unseen, absent=absent)
        levels = self.levels_of(target)
        return [levels[code] for code in np.argmax(chances, axis=1)]

    def impute(self, data: Any, *, unseen: Unseen = "error", absent: Absent = "error") -> CategoricalTable:
        """Return the table with its missing cells filled in: each row by its most probable completion.

        Values that are there stay as they are. A number that is missing becomes the median of the table's
        numbers in the most probable bin.
        """
        from xordal.model.imputing import impute

        return impute(self, data, unseen=unseen, absent=absent)

    def levels_of(self, name: str) -> tuple[Hashable, ...]:
        """Return the levels of a variable."""
        from xordal.model.evidence import number_of

        return self.levels[number_of(self, name)]

    def why_link(self, one: str, other: str) -> LinkStory:
        """Return why two variables are linked, or what keeps them apart."""
        from xordal.model.explain import why_link

        return why_link(self, one, other)

    def why_answer(self, asked: str, given: Given, likely: Likely | None = None) -> AnswerStory:
        """Return which evidence moved the answer to a query, and by how much."""
        from xordal.model.explain import why_answer

        return why_answer(self, asked, given, likely)

    def compare(self, other: DecomposableMarkovNetwork) -> Comparison:
        """Return links missing and extra in the other network, and the Kullback-Leibler divergences."""
        from xordal.model.compare import compare

        return compare(self, other)

    def to_bayesian(self) -> BayesianNetwork:
        """Return a Bayesian network: directed, with only the arcs that are needed.

        Hidden groups become colliders: parents that tell nothing of one another, and together tell of the
        child. Arcs that may as well go another way are marked (:attr:`BayesianNetwork.unidentified`).
        :mod:`xordal.model.orientation` says how they are found.

        Examples
        --------
        >>> from xordal.learning.fitting import fit_network
        >>> from xordal.learning.learn import learn
        >>> chances = {(0, 0): 18, (0, 1): 12, (1, 0): 42, (1, 1): 28}
        >>> rows = [(a, b, a ^ b) for (a, b), n in chances.items() for _ in range(4 * n)]
        >>> table = CategoricalTable.from_rows(["switch1", "switch2", "lamp"], rows)
        >>> fit_network(table, learn(table)).to_bayesian().arcs
        (('switch1', 'lamp'), ('switch2', 'lamp'))
        """
        from xordal.model.orientation import directed

        return directed(self)

    def export(self, path: str | Path, to: str | None = None) -> None:
        """Write the network to a file for another program, whole or not at all.

        Parameters
        ----------
        path
            The file.
        to
            The format: ``bif``, ``xmlbif``, ``uai``, ``net``, ``graphml``, ``dot``, ``hif`` or ``json``; by the
            ending of the file's name if it is not given. Formats of directed networks hold the same joint
            distribution, with the links directed along a perfect order.

        Raises
        ------
        DataError
            If the file cannot be written, or its format cannot hold the network.
        """
        from xordal.formats.network_files import write_network

        write_network(self, path, to)

    def save(self, path: str | Path) -> None:
        """Write the network to a JSON file, whole or not at all."""
        from xordal.formats.network_files import write_network

        write_network(self, path, "json")

    @staticmethod
    def load(path: str | Path) -> DecomposableMarkovNetwork:
        """Read a network from a file; everything in it is checked, nothing is executed.

        Model files of xordal, and BIF, XMLBIF, UAI and Hugin NET files, which are told from one another by what
        is in them.
        """
        from xordal.formats.network_files import load

        return load(path)

    def __repr__(self) -> str:
        size = f"{counted(len(self.variables), 'variable')}, {counted(len(self.graph.links), 'link')}"
        size += f", {counted(len(self.rules), 'rule')}" if self.rules else ""
        rows = counted(self.n_rows, "row") if self.is_counted else "given"
        return f"<DecomposableMarkovNetwork: {size}, {rows}>"

    def _repr_html_(self) -> str:
        """Return the network as notebooks show it."""
        from xordal.report.fragment import network_html

        return network_html(self)

    def encode(self, columns: list[Column]) -> NDArray[np.int64]:
        """Return columns, given in the network's order, as codes of its levels.

        -1 is a missing value, -2 a level never seen.
        """
        from xordal.model.rows import codes_of

        return np.stack([codes_of(column, levels) for levels, column in zip(self.levels, columns, strict=True)])

    def log_prob(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the log probability in nats of rows of level codes, shape (variables, rows).

        A row with a level that was never seen, or in a cell that is impossible, has -inf. :meth:`score_rows`
        takes a table.
        """
        if not isinstance(codes, np.ndarray):
            raise DataError(
                f"log_prob takes an array of level codes, not an object of type {type(codes).__name__}. "
                "score_rows takes a table."
            )
        logs = self._log_prob_of_tables(codes)
        if self.rules:
            possible = np.isfinite(logs)
            for rule in self.rules:
                logs[possible] += self.log_weight(rule, codes[:, possible])
        return logs

    def log_weight(self, rule: NetworkRule, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return by how much one of the rules makes each row more probable, in nats.

        No column of the rule, and none that its last column is linked to before it, may be missing.
        """
        base = Margins(self).table(rule.scope)
        return rule.log_weights(codes, base, self.n_levels, rule.delta(self.smoothing))

    def _log_prob_of_tables(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        total = np.zeros(codes.shape[1])
        if isinstance(self.smoothing, Backoff):  # without the tables of whole cliques, which may be large
            for clique, conditional in zip(self.tree.cliques, self.conditionals, strict=True):
                total += conditional.log_prob_of(codes[list(members(clique))])
            return total
        possible = np.ones(codes.shape[1], dtype=np.bool_)
        for sign, table in self.factors:
            logs = table.log_prob(codes)
            finite = np.isfinite(logs)
            possible &= finite
            total += sign * np.where(finite, logs, 0.0)
        return np.where(possible, total, -np.inf)

    def _clique_factors(self) -> list[tuple[int, Table]]:
        """Return the tables of the cliques, in the order of their variables."""
        return sorted(
            ((sign, table) for sign, table in self.factors if sign > 0), key=lambda f: members(f[1].variables)
        )

    def clique_tables(self) -> list[Table]:
        """Return the tables of the maximal cliques, in the order of :attr:`cliques`."""
        return [table for _, table in self._clique_factors()]
