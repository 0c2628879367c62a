"""Exact inference in a network with rules, by the junction tree of its columns and running sums (rule_tree.py).

Running sums are functions of the columns, so that summing over them, maximising over them and drawing them
leaves the answers exact. Three things keep the cost near that of a network without rules. A question about
columns of which none is a rule's last one, nor depends on such, is answered without rules: they change nothing
before it. One row is answered from the cliques that the question touches, with what lies between them summed
once and for all (routes.py). Where many rows have the same columns observed, what these add up to is one known
number for each row, and the rule's running sums go over the other columns only: such a *folded* tree is made
for the pattern, and kept. For a single row that would cost more than it saves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import fsum, log
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xordal.model.inference import Choose, Inference
from xordal.model.observed import Logs, Observed, Rows, patterns
from xordal.model.parameters import Conditional, Quotient
from xordal.model.placing import following
from xordal.model.potential import Potential, product
from xordal.model.routes import Routes
from xordal.model.rule import NetworkRule
from xordal.model.rule_tree import MOST_CELLS, Frame, Margins, conditionals, frame_of
from xordal.model.sums import UNKNOWN, Carrier, added, sums_of, values_of
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import EMPTY, VarSet, members, varset

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork

_WORTH_FOLDING = (
    48  # rows of one pattern from which on a tree of their own is made: it takes some ten milliseconds
)
_MOST_FOLDED = 64  # trees that are kept


def ruled_inference(network: DecomposableMarkovNetwork) -> RuledInference:
    """Return the inference of a network with rules.

    Raises
    ------
    DataError
        If a clique of the rules would be too large.
    """
    frame = _frame(network, EMPTY)
    return RuledInference(frame.tree, conditionals(network, frame), frame.names, frame.n_levels, network, frame)


def probe(network: DecomposableMarkovNetwork, rule: NetworkRule) -> tuple[NDArray[np.float64], Carrier]:
    """Return the distribution of a rule's scope and of the sum of its other columns, and what the sums are.

    The rule need not be one of the network's: its sums are variables of the junction tree, without its weights.
    The axes are the scope in increasing order, and the sum.
    """
    frame = frame_of(network.graph, (*network.rules, rule), network.variables, network.n_levels)
    frame = replace(frame, n_weighted=len(network.rules))
    tables = conditionals(network, frame)
    tree = RuledInference(frame.tree, tables, frame.names, frame.n_levels, network, frame)
    nothing = Observed(np.full((len(network.variables), 1), -1, dtype=np.int64))
    wanted = (*members(rule.scope), frame.ends[-1].variable)
    chances = np.exp(tree.joint(nothing, wanted)[0])
    back = np.argsort(np.argsort(wanted))
    return np.transpose(chances, back), frame.ends[-1]


def chance_of(network: DecomposableMarkovNetwork, rule: AdditiveRule) -> float:
    """Return the probability that a rule holds in a network which need not know it, where its sum is known.

    Raises
    ------
    DataError
        If a clique of running sums would be too large.
    """
    last = rule.variables[-1]
    chances, carrier = probe(network, NetworkRule(rule, last, EMPTY, 0, 0))
    totals = added(values_of(rule, last)[:, None], carrier.sums, rule.modulus)
    known = float(chances[totals != UNKNOWN].sum())
    return float(chances[totals == 0].sum()) / known if known else 1.0


def _frame(network: DecomposableMarkovNetwork, folded: VarSet) -> Frame:
    return frame_of(network.graph, network.rules, network.variables, network.n_levels, folded)


@dataclass(frozen=True, eq=False)
class RuledInference(Inference):
    """A junction tree of columns and running sums; evidence and answers are of the columns alone.

    Attributes
    ----------
    network, frame
        What it was made from.
    folded
        The columns that are part of known sums.
    """

    network: DecomposableMarkovNetwork
    frame: Frame
    folded: VarSet = EMPTY
    _trees: dict[VarSet, RuledInference] = field(default_factory=dict)

    def joint(self, evidence: Observed, asked: Collection[int]) -> Logs:
        """Return log P(asked variables, evidence), as :meth:`Inference.joint` does."""
        target = varset(asked)
        if not self._matter(evidence, target):
            return self._base.joint(evidence, asked)
        if evidence.n_rows == 1 and (found := self._routes.joint(evidence, asked)) is not None:
            return found
        out = np.empty((evidence.n_rows, *(self.n_levels[v] for v in members(target))))
        for rows, tree in self._patterns(evidence, target, evidence.n_rows):
            part = _rows_of(evidence, rows)
            out[rows] = Inference.joint(tree, tree._with_sums(part), asked) + tree._shift
        return out

    def posteriors(self, evidence: Observed, asked: Collection[int]) -> tuple[Logs, dict[int, Logs]]:
        """Return log P(evidence) and posteriors, as :meth:`Inference.posteriors` does."""
        if not self._matter(evidence, varset(asked)):
            return self._base.posteriors(evidence, asked)
        total = np.empty(evidence.n_rows)
        found = {v: np.empty((evidence.n_rows, self.n_levels[v])) for v in asked}
        for rows, tree in self._patterns(evidence, EMPTY, evidence.n_rows):
            some, parts = Inference.posteriors(tree, tree._with_sums(_rows_of(evidence, rows)), asked)
            total[rows] = some + tree._shift
            for v, logs in parts.items():
                found[v][rows] = logs
        return total, found

    def descend(self, evidence: Observed, choose: Choose, *, n_rows: int, best: bool) -> NDArray[np.int64]:
        """Return a state of all columns for each row, as :meth:`Inference.descend` does."""
        out = np.empty((len(self.network.variables), n_rows), dtype=np.int64)
        for rows, tree in self._patterns(evidence, EMPTY, n_rows):
            part = tree._with_sums(_rows_of(evidence, rows))
            drawn = n_rows if evidence.n_rows == 1 else len(rows)
            states = Inference.descend(tree, part, choose, n_rows=drawn, best=best)[: len(out)]
            out[:, rows if drawn == len(rows) else slice(None)] = states
        return out

    def _patterns(
        self, evidence: Observed, asked: VarSet, n_states: int
    ) -> Iterator[tuple[Rows, RuledInference]]:
        """Yield rows in which the same columns of rules are observed, and the tree for them."""
        carried = [v for v in members(self._carried & ~asked) if v not in evidence.weights]
        if n_states < _WORTH_FOLDING or not carried:
            yield np.arange(evidence.n_rows), self
            return
        kinds, kind = patterns(evidence.codes[carried] >= 0)
        few: list[Rows] = []
        for number, pattern in enumerate(kinds.T):
            rows = np.flatnonzero(kind == number)
            folded = varset(v for v, is_seen in zip(carried, pattern, strict=True) if is_seen)
            if not folded or (len(rows) < _WORTH_FOLDING and evidence.n_rows > 1):
                few.append(rows)
            else:
                yield rows, self._tree_of(folded)
        if few:
            yield np.sort(np.concatenate(few)), self

    def _tree_of(self, folded: VarSet) -> RuledInference:
        if folded not in self._trees:
            if len(self._trees) >= _MOST_FOLDED:
                self._trees.clear()
            frame = _frame(self.network, folded)
            tables = conditionals(self.network, frame)
            self._trees[folded] = RuledInference(
                frame.tree, tables, frame.names, frame.n_levels, self.network, frame, folded
            )
        return self._trees[folded]

    @cached_property
    def _carried(self) -> VarSet:
        return varset(v for rule in self.frame.rules for v in rule.carried)

    @cached_property
    def _shift(self) -> float:
        """What makes up for the distribution that was given to the known sums."""
        return fsum(log(len(start.sums)) for start in self.frame.starts if start is not None)

    def _matter(self, evidence: Observed, asked: VarSet) -> bool:
        """Whether rules change the answer: something asked for or observed follows a rule's last column."""
        seen = np.flatnonzero((evidence.codes >= 0).any(axis=1)).tolist()
        return bool((varset(seen) | varset(evidence.weights) | asked) & self._following)

    @cached_property
    def _following(self) -> int:
        """The last columns of rules and what may depend on them, and all running sums."""
        sums = varset(range(len(self.network.variables), len(self.n_levels)))
        return reduce(or_, following(self.network.graph, self.network.rules), sums)

    @cached_property
    def _base(self) -> Inference:
        return self.network.without_rules().inference

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self.tree, self.tables, self.n_levels)

    @cached_property
    def _margins(self) -> dict[int, Potential]:
        """The distributions of the cliques; those of tables that are never made are left out."""
        margins: dict[int, Potential] = {}
        for clique, (table, parent) in enumerate(zip(self.tables, self.tree.parents, strict=True)):
            if table.n_cells > MOST_CELLS:
                continue
            parts = [self._own_table(clique)]
            if parent is not None:
                parts.append(self._shared(margins.get(parent), members(self.tree.separators[clique]), table))
            margins[clique] = product(parts)
        return margins

    def _own_table(self, clique: int) -> Potential:
        return Potential(members(self.tree.cliques[clique]), self.tables[clique].cut({}, self.n_levels)[None])

    def _shared(self, above: Potential | None, shared: tuple[int, ...], table: Conditional) -> Potential:
        if above is not None:
            return above.sum_to(shared)
        assert isinstance(table, Quotient), "below a table that was never made lie tables as they were counted"
        assert table.separator is not None
        return Potential(shared, table.separator.cut({}, self.n_levels)[None])

    def entropy(self) -> float:
        """Return the entropy of the columns in nats.

        The sums add nothing, being functions of them. A clique is charged for its own variables given those it
        shares with its parent.
        """
        terms = []
        for clique, table in enumerate(self.tables):
            if clique not in self._margins:
                assert isinstance(table, Quotient), "only tables as they were counted are this large"
                terms.append(table.whole.entropy() - (table.separator.entropy() if table.separator else 0.0))
                continue
            chances = np.exp(self._margins[clique].logs)
            terms.append(-float((chances * np.where(chances > 0, self._own_table(clique).logs, 0.0)).sum()))
        return fsum(terms)

    def mean_log_weight(self, number: int) -> float:
        """Return by how much a rule makes rows of the network more probable on average, in nats."""
        rule, end = self.frame.rules[number], self.frame.ends[number]
        base = Margins(self.network).table(rule.scope)
        delta = rule.delta(self.network.smoothing)
        variables, logs = rule.weight_table(end, base, self.network.n_levels, delta)
        nothing = Observed(np.full((len(self.network.variables), 1), -1, dtype=np.int64))
        chances = np.exp(self.joint(nothing, variables)[0])
        logs = np.transpose(logs, np.argsort(variables))
        return float((chances * np.where(chances > 0, logs, 0.0)).sum())

    def _with_sums(self, evidence: Observed) -> Observed:
        """Return evidence with rows for the running sums, of which the known ones are observed."""
        n_columns = len(self.network.variables)
        codes = np.full((len(self.n_levels), evidence.n_rows), -1, dtype=np.int64)
        codes[:n_columns] = evidence.codes
        for rule, start in zip(self.frame.rules, self.frame.starts, strict=True):
            if start is not None:
                known = [v for v in rule.carried if self.folded >> v & 1]
                codes[start.variable] = np.searchsorted(start.sums, sums_of(rule.rule, evidence.codes, known))
        return Observed(codes, evidence.weights)


def _rows_of(evidence: Observed, rows: Rows) -> Observed:
    return evidence if len(rows) == evidence.n_rows else Observed(evidence.codes[:, rows], evidence.weights)
