"""Networks from counts: a table for every clique and separator of a graph, smoothed as the user chooses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from xordal.counting.oracle import CellCounter, CellCounts
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import junction_tree
from xordal.graph.signed_sets import signed_sets
from xordal.model.backoff import BackoffNetwork
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.parameters import Table, probability_table
from xordal.model.rule import NetworkRule
from xordal.model.smoothing import Backoff, Smoothing, checked
from xordal.types.learned import Learned
from xordal.types.varsets import VarSet, members


def estimate(
    graph: ChordalGraph,
    counter: CellCounter,
    variables: tuple[str, ...],
    levels: tuple[tuple[Hashable, ...], ...],
    *,
    smoothing: Smoothing = 1.0,
    learned: Learned | None = None,
    rules: tuple[NetworkRule, ...] = (),
) -> DecomposableMarkovNetwork:
    """Return the network of a graph with tables estimated from counts.

    ``smoothing`` is a number of rows spread evenly over each table, or a :class:`~xordal.Backoff`.
    """
    smoothing = checked(smoothing)
    terms = sorted(signed_sets(graph).items())
    parts = [part for part, _ in terms]
    counts = dict(zip(parts, counter.counts(parts), strict=True))
    n_levels = tuple(map(len, levels))
    tables: list[Table]
    if isinstance(smoothing, Backoff):
        whole = BackoffNetwork.of(junction_tree(graph), counts, variables, n_levels, smoothing)
        tables = [whole.table(part, counts[part]) for part in parts]
    else:
        tables = [probability_table(part, counts[part], n_levels, smoothing) for part in parts]
    factors = tuple((sign, table) for (_, sign), table in zip(terms, tables, strict=True))
    return DecomposableMarkovNetwork(variables, levels, graph, factors, learned, rules)


@dataclass(frozen=True, slots=True, eq=False)
class CliqueCounts:
    """A :class:`~xordal.counting.oracle.CellCounter` that knows the counts of a graph's cliques only."""

    cliques: Mapping[VarSet, CellCounts]

    def counts(self, sets: Sequence[VarSet]) -> list[CellCounts]:
        """Return the counts of cliques and of sets inside them."""
        return [self._count(wanted) for wanted in sets]

    def _count(self, wanted: VarSet) -> CellCounts:
        if wanted in self.cliques:
            return self.cliques[wanted]
        clique = next(clique for clique in self.cliques if wanted & ~clique == 0)
        inside = members(clique)
        return self.cliques[clique].over([inside.index(v) for v in members(wanted)])
