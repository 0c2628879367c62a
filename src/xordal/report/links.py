"""The strongest links for people: which two columns, how much they share, and how often levels go together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log

from xordal.counting.finalize import entropy
from xordal.counting.oracle import CellCounts
from xordal.errors import counted
from xordal.formats.rules import rule_text
from xordal.formats.shown import shown
from xordal.formats.text import link_text
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.rules import rates
from xordal.report.cliques import rows_in
from xordal.report.map import MapDrawing
from xordal.statistics.chance import expected_gain
from xordal.types.varsets import Link, members

_MOST = 5
_MOST_BETWEEN = 3  # columns that are named between two others


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """A link: its columns, what they share given the rest in nats, and a sentence on their rows, if any."""

    heading: str
    strength: float
    words: str


def strongest_links(
    network: DecomposableMarkovNetwork, drawn: MapDrawing, hidden: Collection[Link] = ()
) -> tuple[LinkSummary, ...]:
    """Return the strongest links of a network, but for hidden ones, the strongest first.

    Examples
    --------
    >>> from xordal import learn
    >>> from xordal.report.map import map_of
    >>> rows = {"smokes": ["no", "yes"] * 200, "coughs": ["no", "yes", "no", "no"] * 100}
    >>> network = learn(rows).network()
    >>> link, = strongest_links(network, map_of(network))
    >>> link.heading, link.words
    ('smokes - coughs', 'coughs = yes in 0 % of smokes = no (0 to 2), 50 % of yes (43 to 57)')
    """
    final = [link for link in drawn.links if link.is_final and link.ends not in hidden]
    ranked = sorted(final, key=lambda link: -link.strength)
    return tuple(
        LinkSummary(
            link_text(drawn.names[v] for v in link.ends),
            link.strength,
            _words(network, link.ends, link.strength),
        )
        for link in ranked[:_MOST]
    )


def _words(network: DecomposableMarkovNetwork, link: Link, strength: float) -> str:
    """Return how often one column has a level for each of the other; nothing where rows are not known.

    ``strength`` is what they share given the other columns of their clique. Where that is less than half of
    what they share as a pair, the sentence says so: read alone, rates that come by way of another column, such
    as admissions by sex over departments, tell the wrong story. A link of several cliques has no such columns.
    """
    if not network.is_counted:
        return ""
    u, v = sorted(link)
    holding = [table for table in network.clique_tables() if {u, v} <= set(members(table.variables))]
    if not holding:
        return ""
    inside = members(holding[0].variables)
    pair = rows_in(holding[0]).over([inside.index(u), inside.index(v)])
    found = rates(pair, (u, v), [network.levels[u], network.levels[v]])
    if found is None or found.target is None:
        return ""
    names = [shown(network.variables[each]) for each in (u, v)]
    told = rule_text(found, names, shown(network.variables[found.target]))
    between = [shown(network.variables[w]) for w in inside if w not in link] if len(holding) == 1 else []
    dof = (network.n_levels[u] - 1) * (network.n_levels[v] - 1)
    chance = expected_gain(dof, network.n_rows) if network.n_rows else 0.0
    return told + _by_way_of(between, _shared(pair) - chance, strength)


def _by_way_of(between: Sequence[str], alone: float, given: float) -> str:
    """Return what to say where most of what a pair shares comes by way of other columns.

    Examples
    --------
    >>> _by_way_of(["Dept"], 0.0103, 0.0024), _by_way_of([], 0.0103, 0.0024), _by_way_of(["Dept"], 0.01, 0.01)
    ('; most of this is by way of Dept: given it, 0.003 of 0.015 bits are left', '', '')
    """
    if not between or alone <= 2 * given:
        return ""
    others = len(between) - _MOST_BETWEEN
    told = ", ".join(between[:_MOST_BETWEEN]) + (f" and {counted(others, 'other')}" if others > 0 else "")
    given_them = "given it" if len(between) == 1 else "given these"
    left = f"{given / log(2):.3f} of {alone / log(2):.3f} bits are left"
    return f"; most of this is by way of {told}: {given_them}, {left}"


def _shared(pair: CellCounts) -> float:
    """Return what two columns share in their rows, in nats."""
    return entropy(pair.over([0]).counts) + entropy(pair.over([1]).counts) - entropy(pair.counts)
