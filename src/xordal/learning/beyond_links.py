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

from collections.abc import Iterator, Sequence
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
from xordal.types.varsets import VarSet, members, varset


def beyond_links(
    table: CategoricalTable, graph: ChordalGraph, rules: Sequence[AdditiveRule], alpha: float
) -> tuple[AdditiveRule, ...]:
    """Return the rules that the network of a graph does not imply, each with its share by chance there.

    ``rules`` are those of the table, the surest first; ``alpha`` is the level at which they were found.
    """
    told: dict[int, AdditiveRule] = {}
    for columns, numbers in _apart(table, graph, rules):
        own = {v: place for place, v in enumerate(columns)}
        part = CategoricalTable(
            tuple(table.names[v] for v in columns),
            tuple(table.levels[v] for v in columns),
            table.codes[columns],
            table.weights,
        )
        there = [replace(rules[k], variables=tuple(own[v] for v in rules[k].variables)) for k in numbers]
        found = _beyond(part, graph.induced(columns), there, alpha)
        told |= {
            k: replace(rule, variables=rules[k].variables)
            for k, rule in zip(numbers, found, strict=True)
            if rule is not None
        }
    return tuple(told[k] for k in sorted(told))


def _apart(
    table: CategoricalTable, graph: ChordalGraph, rules: Sequence[AdditiveRule]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield columns that links and rules hold together, with the numbers of their rules.

    Columns of different parts are independent in the network, so that each part is a network of its own. In a
    wide table of few links these are much smaller.
    """
    if table.blocks is not None:  # larger than memory: its columns are not copied
        yield list(range(table.n_variables)), list(range(len(rules)))
        return
    parts: list[tuple[int, list[int]]] = []
    for k, rule in enumerate(rules):
        mask, numbers = int(graph.components_of(varset(rule.variables))), [k]
        for part in [part for part in parts if part[0] & mask]:
            parts.remove(part)
            mask, numbers = mask | part[0], part[1] + numbers
        parts.append((mask, numbers))
    for mask, numbers in parts:
        yield list(members(VarSet(mask))), sorted(numbers)


def _beyond(
    table: CategoricalTable, graph: ChordalGraph, rules: Sequence[AdditiveRule], alpha: float
) -> list[AdditiveRule | None]:
    """Return the rules of some columns as their network shows them, None for those that it implies."""
    cliques = maximal_cliques(graph)
    is_inside = [any(not varset(rule.variables) & ~clique for clique in cliques) for rule in rules]
    if all(is_inside):
        return list(rules)
    counter = oracle_for(table, work=len(cliques))
    network = estimate(graph, counter, table.names, table.levels, smoothing=0)
    placing = Placing(table, graph, counter)
    told: list[AdditiveRule | None] = []
    for rule, inside in zip(rules, is_inside, strict=True):
        found = rule if inside else _against(network, rule, alpha)
        told.append(found)
        if found is not None and not inside and not placing.add(found):
            known = placing.found()
            network = estimate(known.graph, counter, table.names, table.levels, smoothing=0, rules=known.rules)
    return told


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
