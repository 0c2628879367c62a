"""Which rules say more than the links: how often a rule would hold in the network that is learned without it.

How often a sum is constant by chance is first asked of the rule's columns alone (rules/evidence.py): some of
them independent of the rest. The network knows more, as it has columns in between. An example: a and b each
mostly repeat the hidden sum of two bits of their own, and c follows from a and b together by a table of its
own; no part of a sum of all five is independent of the rest, and yet nothing but links makes it constant.

So a rule is asked of the network of the links, and of the rules before it in the list, each in its place
(model/placing.py). The probability that it holds there, exact by running sums, is its share by chance where
that is larger, and it must pass again: beyond chance at the same level, and settling half of what chance leaves
open. What does not pass follows from links, or from links and other rules, and is not told. A rule whose
columns are in one clique is told all the same: the clique's table holds it, and no other link does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xordal.counting.select import oracle_for
from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.placing import Placing
from xordal.model.ruled import chance_of
from xordal.rules.evidence import Evidence, log_tail
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import varset


def beyond_links(
    table: CategoricalTable, graph: ChordalGraph, rules: Sequence[AdditiveRule], alpha: float
) -> tuple[AdditiveRule, ...]:
    """Return the rules that the network of a graph does not imply, each with its share by chance there.

    ``rules`` are those of the table, the surest first; ``alpha`` is the level at which they were found.
    """
    cliques = maximal_cliques(graph)
    is_inside = [any(not varset(rule.variables) & ~clique for clique in cliques) for rule in rules]
    if all(is_inside):
        return tuple(rules)
    counter = oracle_for(table, work=len(cliques))
    network = estimate(graph, counter, table.names, table.levels, smoothing=0)
    placing = Placing(table, graph, counter)
    told = []
    for rule, inside in zip(rules, is_inside, strict=True):
        found = rule if inside else _against(network, rule, alpha)
        if found is None:
            continue
        told.append(found)
        if not inside and not placing.add(found):
            known = placing.found()
            network = estimate(known.graph, counter, table.names, table.levels, smoothing=0, rules=known.rules)
    return tuple(told)


def _against(network: DecomposableMarkovNetwork, rule: AdditiveRule, alpha: float) -> AdditiveRule | None:
    """Return a rule as a network shows it, or None where it follows from what the network holds."""
    try:
        by_chance = chance_of(network, rule)
    except DataError:
        return rule  # its running sums are too large for this network: what its columns say is all there is
    if by_chance <= rule.by_chance:
        return rule
    n_rows = rule.n_rows - rule.n_blank
    n_obeyed = n_rows - rule.n_broken
    log_rules = rule.log_p_value - log_tail(n_obeyed, n_rows, rule.by_chance)
    log_p = min(log_tail(n_obeyed, n_rows, by_chance) + log_rules, 0.0)
    if not Evidence(n_rows, rule.n_broken, by_chance, log_p).is_rule(alpha):
        return None
    return replace(rule, by_chance=by_chance, log_p_value=log_p)
