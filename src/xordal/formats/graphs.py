"""Graphs for programs that draw or analyse them: GraphML by networkx, and DOT for Graphviz.

Both hold the structure of a network, not its probabilities: links, or arcs where it is directed. Links of
hidden groups, which look independent as a pair, are marked as the figures of the paper mark them, dotted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO

from xordal.formats.left_out import rule_remarks
from xordal.formats.networkx import network_to_networkx
from xordal.formats.plain_words import printable
from xordal.model.directed import BayesianNetwork
from xordal.model.network import DecomposableMarkovNetwork


def write_graphml(network: DecomposableMarkovNetwork | BayesianNetwork) -> Iterator[str]:
    """Yield a network as GraphML: nodes are variables with their levels, edges are links or arcs."""
    import networkx as nx

    graph = nx.relabel_nodes(
        network_to_networkx(network), {name: printable(name) for name in network.variables}
    )
    for _, attributes in graph.nodes(data=True):
        # A list in JSON: with bare commas, a level that has one could not be told from two.
        texts = json.dumps(list(map(str, attributes["levels"])), ensure_ascii=False)
        attributes["levels"] = printable(texts)
    if remarks := rule_remarks(network):
        graph.graph["rules"] = printable(" | ".join(remarks))
    file = BytesIO()
    nx.write_graphml_xml(graph, file)
    yield file.getvalue().decode("utf-8") + "\n"


def write_dot(network: DecomposableMarkovNetwork | BayesianNetwork) -> Iterator[str]:
    """Yield a network in the DOT language of Graphviz."""
    graph = network_to_networkx(network)
    is_directed = graph.is_directed()
    yield f"{'digraph' if is_directed else 'graph'} network {{\n"
    yield from (f"  // Rule beside the links: {remark}\n" for remark in rule_remarks(network))
    for name in graph.nodes:
        yield f"  {_quoted(name)};\n"
    for one, other, attributes in graph.edges(data=True):
        style = " [style=dotted]" if attributes.get("colored") else ""
        style = " [style=dashed]" if attributes.get("identified") is False else style
        yield f"  {_quoted(one)} {'->' if is_directed else '--'} {_quoted(other)}{style};\n"
    yield "}\n"


def _quoted(name: str) -> str:
    """Return a name in quotes; a backslash, which would begin an escape of Graphviz's own, is escaped."""
    return '"' + printable(name, also="\\").replace('"', '\\"') + '"'
