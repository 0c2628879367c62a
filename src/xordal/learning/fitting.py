"""A learned graph and a table make a network: the tables of its cliques, and its rules in their places."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from xordal.counting.select import oracle_for
from xordal.data.table import CategoricalTable
from xordal.graph.chordal import ChordalGraph
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.placing import placed
from xordal.model.rule import NetworkRule
from xordal.model.smoothing import Smoothing
from xordal.types.learned import Learned
from xordal.types.rules import AdditiveRule

Levels = tuple[tuple[Hashable, ...], ...]


def fit_network(
    table: CategoricalTable, learned: Learned, *, smoothing: Smoothing = 1.0
) -> DecomposableMarkovNetwork:
    """Return the network of a learned graph, its clique tables estimated from a table.

    Rules that were learned become part of it, each in the place of one column's table; those that a clique's
    table says already, and those that inference could not hold, do not (:mod:`xordal.model.placing`).
    ``smoothing`` is a number of rows spread evenly over each table (0: as counted), or a
    :class:`~xordal.Backoff`.
    """
    table = table.in_whole_rows()
    if learned.rules and learned.levels is not None and learned.levels != table.levels:
        learned = _by_levels(learned, learned.levels, table.levels)
    graph = ChordalGraph.empty(table.n_variables).add(learned.links)
    rules: tuple[NetworkRule, ...] = ()
    counter = oracle_for(table, work=len(learned.cliques))
    if learned.rules:
        found = placed(table, graph, counter, learned.rules)
        graph, rules = found.graph, found.rules
    # A network is its tables; it does not hold on to the rows.
    learned = replace(learned, table=None)
    return estimate(
        graph, counter, table.names, table.levels, smoothing=smoothing, learned=learned, rules=rules
    )


def _by_levels(learned: Learned, known: Levels, wanted: Levels) -> Learned:
    """Return what was learned with its rules told for other levels; those it never met have no value."""

    def told(rule: AdditiveRule) -> AdditiveRule:
        functions = []
        for v, values in zip(rule.variables, rule.functions, strict=True):
            value_of = dict(zip(known[v], values, strict=True))
            functions.append(tuple(value_of.get(level) for level in wanted[v]))
        return replace(rule, functions=tuple(functions))

    trace = tuple(e if e.rule is None else replace(e, rule=told(e.rule)) for e in learned.trace)
    return replace(learned, run=replace(learned.run, trace=trace), levels=wanted)
