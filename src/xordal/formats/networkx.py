"""Networks as networkx graphs whose nodes are column names, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError
from xordal.formats.bridged import check_model
from xordal.formats.draft import Draft
from xordal.formats.left_out import rule_remarks, warn_of_rules
from xordal.graph.chordal import perfect_order
from xordal.model.directed import BayesianNetwork, family_of
from xordal.model.exact import Factor, markov_network
from xordal.model.network import DecomposableMarkovNetwork
from xordal.types.learned import Learned
from xordal.types.varsets import members

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(network: Any) -> nx.Graph:
    """Return the graph of a network: of what :func:`xordal.learn` returns, a network, or a fitted estimator.

    Links carry the ``lookahead`` and the ``step`` of the trace that added them, where that is known; those that
    came in to keep the graph chordal carry ``fill_in=True`` too. A Bayesian network gives a ``DiGraph`` whose
    arcs say whether they are ``identified``, where that is known. Networks with probabilities bring them along:
    nodes have their ``levels``, and ``parents`` and ``chances``; an undirected graph has its ``factors``. From
    these :func:`from_networkx` makes the network again. Additive rules, which tables cannot hold, are in words
    in ``graph.graph["rules"]``.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn, to_networkx
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> graph = to_networkx(learn(CategoricalTable.from_rows(["a", "b", "c"], rows)))
    >>> graph.edges["a", "c"]
    {'lookahead': 3, 'step': 1}
    """
    network = getattr(network, "network_", network)
    if isinstance(network, Learned):
        return _learned_graph(network)
    if not isinstance(network, DecomposableMarkovNetwork | BayesianNetwork):
        raise DataError(
            f"A {type(network).__name__} has no graph. Give what learn() returns, a network or an estimator."
        )
    warn_of_rules(network)
    graph = network_to_networkx(network)
    if remarks := rule_remarks(network):
        graph.graph["rules"] = remarks
    if isinstance(network, BayesianNetwork):
        for family in network.families:
            node = graph.nodes[network.variables[family.variable]]
            node["parents"] = [network.variables[p] for p in family.parents]
            node["chances"] = family.chances.copy()
    else:
        graph.graph["factors"] = [
            ([network.variables[v] for v in factor.variables], factor.values) for factor in _factors(network)
        ]
    return graph


def from_networkx(graph: nx.Graph) -> DecomposableMarkovNetwork | BayesianNetwork:
    """Return the network of a graph with probabilities, as :func:`to_networkx` makes it.

    A ``DiGraph`` needs ``levels`` and ``chances`` on its nodes, shape (levels of the parents ..., levels); the
    parents are in the order of the node's ``parents``, or in that of the arcs. An undirected graph needs
    ``levels`` on its nodes and ``graph.graph["factors"]``: pairs of names and tables, whose product is the
    joint.

    Raises
    ------
    DataError
        If something is missing or does not fit together.
    SettingsError
        If it is no graph of networkx.
    """
    check_model(graph, "is_directed", "a graph of networkx")
    levels = {str(name): tuple(_attribute(graph, name, "levels")) for name in graph.nodes}
    if not graph.is_directed():
        if "factors" not in graph.graph:
            raise DataError("The graph holds no probabilities: graph.graph['factors'] is missing.")
        return _from_factors(levels, graph.graph["factors"])
    draft = Draft()
    for name, known in levels.items():
        draft.add_variable(name, [str(code) for code in range(len(known))], _wrong)
    for name in graph.nodes:
        parents = list(map(str, graph.nodes[name].get("parents", graph.predecessors(name))))
        if set(parents) != set(map(str, graph.predecessors(name))):
            raise DataError(f"The parents of {name!r} are not those its arcs come from.")
        chances = _numbers(_attribute(graph, name, "chances"), f"The chances of {name!r}")
        shape = draft.shape(str(name), parents, _wrong)
        if chances.shape != shape:
            raise DataError(f"The chances of {name!r} have the shape {chances.shape} instead of {shape}.")
        draft.add_family(str(name), parents, chances, _wrong)
    found = draft.network(_wrong)
    return BayesianNetwork(found.variables, tuple(levels.values()), found.families)


def network_to_networkx(network: DecomposableMarkovNetwork | BayesianNetwork) -> nx.Graph:
    """Return the graph of a network with its levels, and without its probabilities."""
    import networkx as nx

    graph = nx.DiGraph() if isinstance(network, BayesianNetwork) else nx.Graph()
    for name, levels in zip(network.variables, network.levels, strict=True):
        graph.add_node(name, levels=list(levels))
    if isinstance(network, BayesianNetwork):
        for arc, names in zip(network.numbered_arcs, network.arcs, strict=True):
            known = {} if network.unidentified is None else {"identified": arc not in network.unidentified}
            graph.add_edge(*names, **known)
        return graph
    learned = None if network.learned is None else _learned_graph(network.learned)
    colored = () if network.learned is None else network.learned.colored_links or ()
    for link in network.graph.links:
        names = network.variables[link[0]], network.variables[link[1]]
        marks = {"colored": True} if link in colored else {}
        graph.add_edge(*names, **({} if learned is None else learned.edges[names]), **marks)
    return graph


def _learned_graph(learned: Learned) -> nx.Graph:
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


def _factors(network: DecomposableMarkovNetwork) -> list[Factor]:
    """Return P(own variables | separator) of each clique, variable by variable: their product is the joint."""
    order = perfect_order(network.graph.neighbours)
    assert order is not None, "a ChordalGraph is chordal"
    earlier, factors = 0, []
    for v in order:
        family = family_of(network, v, members(network.graph.neighbours[v] & earlier))
        factors.append(Factor((*family.parents, v), family.chances))
        earlier |= 1 << v
    return factors


def _from_factors(levels: dict[str, tuple[Any, ...]], pairs: Any) -> DecomposableMarkovNetwork:
    number = {name: v for v, name in enumerate(levels)}
    factors = []
    for names, values in pairs:
        unknown = [name for name in names if str(name) not in number]
        if unknown:
            raise DataError(f"A factor has the variable {unknown[0]!r}, which is no node.")
        told = f"The factor of {list(names)}"
        factor = Factor(tuple(number[str(name)] for name in names), _numbers(values, told))
        shape = tuple(len(levels[str(name)]) for name in names)
        if factor.values.shape != shape or not np.isfinite(factor.values).all() or (factor.values < 0).any():
            raise DataError(f"{told} must hold numbers from 0 on, in the shape {shape}.")
        factors.append(factor)
    return markov_network(tuple(levels), tuple(levels.values()), factors)


def _attribute(graph: nx.Graph, name: Any, key: str) -> Any:
    if key not in graph.nodes[name]:
        raise DataError(f"The node {name!r} has no {key!r}.")
    return graph.nodes[name][key]


def _numbers(values: Any, told: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{told} must be numbers, in lists of equal length.") from None


def _wrong(why: str) -> Any:
    raise DataError(f"The graph is no network: {why}.")
