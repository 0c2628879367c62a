"""The strongest links for people: which two columns, how much they share, and how often levels go together."""

from __future__ import annotations

from dataclasses import dataclass

from xordal.formats.rules import rule_text
from xordal.formats.shown import shown
from xordal.formats.text import link_text
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.rules import rates
from xordal.report.cliques import rows_in
from xordal.report.map import MapDrawing
from xordal.types.varsets import Link, members

_MOST = 5


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """A link: its columns, what they share given the rest in nats, and a sentence on their rows, if any."""

    heading: str
    strength: float
    words: str


def strongest_links(network: DecomposableMarkovNetwork, drawn: MapDrawing) -> tuple[LinkSummary, ...]:
    """Return the strongest links of a network, the strongest first.

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
    ranked = sorted((link for link in drawn.links if link.is_final), key=lambda link: -link.strength)
    return tuple(
        LinkSummary(link_text(drawn.names[v] for v in link.ends), link.strength, _words(network, link.ends))
        for link in ranked[:_MOST]
    )


def _words(network: DecomposableMarkovNetwork, link: Link) -> str:
    """Return how often one column has a level for each of the other; nothing where rows are not known."""
    if not network.is_counted:
        return ""
    u, v = sorted(link)
    for table in network.clique_tables():
        inside = members(table.variables)
        if u in inside and v in inside:
            pair = rows_in(table).over([inside.index(u), inside.index(v)])
            found = rates(pair, (u, v), [network.levels[u], network.levels[v]])
            if found is None or found.target is None:
                return ""
            names = [shown(network.variables[each]) for each in (u, v)]
            return rule_text(found, names, shown(network.variables[found.target]))
    return ""
