"""Additive rules, once the graph is learned: those that no link and no hidden group tells join the trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log

from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError
from xordal.graph.chordal import ChordalGraph
from xordal.learning.beyond_links import beyond_links
from xordal.pi.following import without_parts_of
from xordal.pi.joint import Joint
from xordal.rules.beside import rules_beside
from xordal.search.plan import Plan
from xordal.statistics.weights import RULES
from xordal.types.learned import Learned
from xordal.types.rules import AdditiveRule
from xordal.types.trace import TraceEntry
from xordal.types.varsets import varset


def seeks_rules(chosen: bool | None, source: CategoricalTable | Joint, plan: Plan, *, is_default: bool) -> bool:
    """Whether rules are looked for: as chosen, else where the paper is not followed."""
    if chosen is not None and not isinstance(chosen, bool):
        raise SettingsError(f"find_rules must be True, False or None, not {chosen!r}.")
    if isinstance(source, Joint):
        if chosen:
            raise SettingsError("Rules are looked for in rows; learn from a table, or leave find_rules out.")
        return False
    if source.design is not None:  # how surprising a sum is, is known for plain rows
        source.plain("The search for rules") if chosen else None
        return False
    return is_default and not plan.is_paper if chosen is None else chosen


def with_rules(
    table: CategoricalTable,
    graph: ChordalGraph,
    learned: Learned,
    plan: Plan,
    on_entry: Callable[[TraceEntry], None],
    check: Callable[[], None] = lambda: None,
) -> Learned:
    """Add to the trace the rules that neither links nor a hidden group tell; groups that follow from rules go.

    ``check`` is called several times a second and may end the search for rules by raising.
    """
    groups = learned.submodels or ()
    found = rules_beside(table, plan.alpha, groups, check=check)
    if found:
        found = beyond_links(table, graph, found, RULES * plan.alpha)
    told = {group.variables for group in groups if group.rule is not None and group.rule.additive is not None}
    entries = [
        rule_entry(rule, learned.run.graphs_tested) for rule in found if varset(rule.variables) not in told
    ]
    for entry in entries:
        on_entry(entry)
    learned = replace(learned, run=replace(learned.run, trace=(*learned.trace, *entries)))
    if learned.submodels is None or learned.settings.get("hidden_by") == "letter":
        return learned
    kept = without_parts_of([varset(rule.variables) for rule in found], groups)
    n_following = learned.n_following + len(groups) - len(kept)
    return replace(learned, submodels=tuple(kept), n_following=n_following)


def rule_entry(rule: AdditiveRule, graphs_tested: int) -> TraceEntry:
    """Return the entry of a trace for an additive rule.

    Its gain is how far the share of rows that obey it is from chance: what knowing the rule tells of a row.
    """
    holds, chance = rule.holds, min(max(rule.by_chance, 1e-300), 1 - 1e-15)
    gain = (holds * log(holds / chance) if holds else 0.0) + (
        (1 - holds) * log((1 - holds) / (1 - chance)) if holds < 1 else 0.0
    )
    return TraceEntry(
        "rule", 0, (), gain, 1, graphs_tested, log_p_value=max(rule.log_p_value, -1e300), rule=rule
    )
