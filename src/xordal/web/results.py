"""What the page shows of a network, as plain values: the report's own summary, and its tables as HTML."""

from __future__ import annotations

from typing import Any

from xordal.formats.shown import shown
from xordal.graph.chordal import ChordalGraph
from xordal.model.estimation import CliqueCounts, estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.map import placed
from xordal.report.summary import ReportSummary, summarise
from xordal.types.trace import single_link_part
from xordal.types.varsets import Link
from xordal.web.words import shown_value


def result_of(network: DecomposableMarkovNetwork, title: str) -> dict[str, Any]:
    """Return all that the page needs to know of a network to show it; answers are asked for later."""
    summary = summarise(network, title)
    drawn = summary.map
    of_rules, final = _rule_lines(network), [link for link in drawn.links if link.is_final]
    places, size = drawn.places, drawn.size
    if of_rules:  # columns that a rule ties together stand together too
        places, size = placed(drawn.names, [*(link.ends for link in final), *of_rules])
    return {
        "title": summary.title,
        "lead": summary.lead,
        "notes": list(summary.notes),
        "groups_html": groups_html(summary),
        "groups": [{"heading": g.heading, "variables": list(g.variables)} for g in summary.groups or ()],
        "n_groups": None if summary.groups is None else len(summary.groups),
        "rules": [{"words": rule.words, "variables": list(rule.variables)} for rule in summary.rules],
        "n_rules": len(summary.rules),
        "is_complete": summary.is_complete,
        "missed": [] if summary.single is None else list(summary.single.missed),
        "single_links": [] if summary.single is None else [list(link) for link in summary.single.links],
        "steps": [
            {"links": [list(link) for link in step.links], "action": step.action, "words": step.words}
            for step in summary.steps
        ],
        **network_values(network),
        "links": [[*link.ends, link.kind] for link in final],
        "rule_lines": [[*ends, "rule"] for ends in of_rules],
        "places": [[round(x, 1), round(y, 1)] for x, y in places],
        "size": [round(side) for side in size],
    }


def _rule_lines(network: DecomposableMarkovNetwork) -> list[Link]:
    """Return a line from each column that a rule gives to those that it follows from, but where links are."""
    lines = {
        (min(v, each.last), max(v, each.last))
        for each in network.rules
        for v in each.rule.variables
        if v != each.last
    }
    return sorted(lines - set(network.graph.links))


def network_values(network: DecomposableMarkovNetwork) -> dict[str, Any]:
    """Return variables and levels as they are shown."""
    return {
        "variables": [
            {"name": shown(name), "levels": [shown_value(level) for level in levels]}
            for name, levels in zip(network.variables, network.levels, strict=True)
        ]
    }


def groups_html(summary: ReportSummary) -> str:
    """Return hidden groups and rules with their tables, by the report's own templates."""
    from xordal.report.html import page

    return page("live_groups.html", summary=summary)


def single_link_network(network: DecomposableMarkovNetwork) -> DecomposableMarkovNetwork | None:
    """Return the network that a search by single links would have learned, from the same counts.

    None where it is not known, or where pruning took out one of its links, so that the counts of its cliques
    are not in the file.
    """
    if network.learned is None or not network.is_counted:
        return None
    links = single_link_part(network.learned.trace)
    if not set(links) <= set(network.graph.links):
        return None
    counts = CliqueCounts({table.variables: table.counted for table in network.clique_tables()})
    graph = ChordalGraph.empty(len(network.variables)).add(links)
    return estimate(graph, counts, network.variables, network.levels, smoothing=network.smoothing)
