"""A learned network as a networkx graph whose nodes are column names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xordal.types import Learned

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(learned: Learned) -> nx.Graph:
    """Return the graph; each link carries the ``lookahead`` and the ``step`` of the trace that added it.

    Links that came in to keep the graph chordal carry ``fill_in=True`` too.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn, to_networkx
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> graph = to_networkx(learn(CategoricalTable.from_rows(["a", "b", "c"], rows)))
    >>> graph.edges["a", "c"]
    {'lookahead': 3, 'step': 1}
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(learned.variables)
    for step, entry in enumerate(learned.trace, start=1):
        for link in entry.links:
            if entry.action == "add":
                filled = {"fill_in": True} if link in entry.fill_in else {}
                graph.add_edge(*learned.names(link), lookahead=entry.lookahead, step=step, **filled)
            else:
                graph.remove_edge(*learned.names(link))
    return graph
