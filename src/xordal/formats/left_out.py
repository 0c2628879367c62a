"""Additive rules of a network in words, for formats that cannot hold them.

A table of probabilities has a cell for each combination of levels; a check digit of thirteen columns would need
10**13 of them. So files of other programs get the tables without the rules, and the rules in words where the
format has a place for words: a comment, a property, an attribute.
"""

from __future__ import annotations

import warnings

from xordal.errors import DataWarning, counted
from xordal.formats.additive import evidence_text, rule_words
from xordal.model.directed import BayesianNetwork
from xordal.model.network import DecomposableMarkovNetwork
from xordal.rules.finding import FoundRules
from xordal.types.rules import AdditiveRule


def rules_of(network: DecomposableMarkovNetwork | BayesianNetwork) -> tuple[AdditiveRule, ...]:
    """Return the rules that the tables of a network do not hold."""
    if isinstance(network, BayesianNetwork):
        return network.left_out
    return tuple(each.rule for each in network.rules)


def rule_remarks(network: DecomposableMarkovNetwork | BayesianNetwork) -> list[str]:
    """Return a line for each rule that the tables of a network do not hold: what it says, and how often."""
    rules = rules_of(network)
    found = FoundRules(network.variables, network.levels, rules, 0, (), (), 0.0)
    # One line each, whatever a rule or a column is called: a comment ends where its line does.
    return [" ".join(f"{rule_words(found, rule)}; {evidence_text(rule)}".split()) for rule in rules]


def left_out_lines(network: DecomposableMarkovNetwork | BayesianNetwork) -> list[str]:
    """Return what tables leave out of a network, a line for each rule; nothing where it has none."""
    remarks = rule_remarks(network)
    if not remarks:
        return []
    what = counted(len(remarks), "rule")
    first = f"There is no place for {what} of the network in its tables, which are written without:"
    return [first, *(f"  {remark}" for remark in remarks)]


def warn_of_rules(network: DecomposableMarkovNetwork | BayesianNetwork) -> None:
    """Warn of the rules of a network that its tables do not hold."""
    if lines := left_out_lines(network):
        warnings.warn("\n".join(lines), DataWarning, stacklevel=3)
