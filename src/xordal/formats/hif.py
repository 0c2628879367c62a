"""HIF, the hypergraph interchange format: hidden groups as hyperedges.

A pair cannot show a hidden group, and so no graph can: it is an edge between three or more. Each group is an
edge with its kind, what its variables share in nats, how much of it is hidden from pairs (in nats and as a
share), and, where there are any, its rule in words and its p-value; each incidence says which block of the
group a variable is in. An additive rule of the network is an edge of the kind "additive rule". Variables that
are in no group and no rule are nodes without an edge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.formats.left_out import rule_remarks, rules_of
from xordal.formats.rules import rule_text
from xordal.model.directed import BayesianNetwork
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.colored import color
from xordal.pi.independence import Independence
from xordal.types.groups import NamedSubmodel, Submodel, named_submodel
from xordal.types.varsets import VarSet

_TOLERANCE = 1e-9  # nats: tables of a file are rounded, so independence there is not exact to the last bit
_MOST_SETS = 500  # subsets of one clique looked at, as when a network is learned


def write_hif(network: DecomposableMarkovNetwork | BayesianNetwork) -> Iterator[str]:
    """Yield the hidden groups of a network as HIF.

    They are those that were found when the network was learned; for a network that was given, the groups that
    its tables hold exactly.
    """
    markov = network.to_markov() if isinstance(network, BayesianNetwork) else network
    groups = [named_submodel(group, markov.variables) for group in hidden_groups(markov)]
    content = {
        "network-type": "undirected",
        "metadata": {"name": "hidden groups", "software": "xordal", "groups": _origin(markov)},
        "nodes": [
            {"node": name, "attrs": {"levels": [str(level) for level in levels]}}
            for name, levels in zip(markov.variables, markov.levels, strict=True)
        ],
        "edges": [
            {"edge": number, "attrs": _attributes(group, markov.variables)}
            for number, group in enumerate(groups)
        ]
        + [
            {"edge": len(groups) + place, "attrs": {"kind": "additive rule", "rule": remark}}
            for place, remark in enumerate(rule_remarks(network))
        ],
        "incidences": [
            {"edge": number, "node": name, "attrs": {"block": block}}
            for number, group in enumerate(groups)
            for block, names in enumerate(group.partition)
            for name in names
        ]
        + [
            {"edge": len(groups) + place, "node": markov.variables[v]}
            for place, rule in enumerate(rules_of(network))
            for v in rule.variables
        ],
    }
    parts = ",\n".join(f"{json.dumps(key)}: {_lines(value)}" for key, value in content.items())
    yield f"{{\n{parts}\n}}\n"


def _origin(network: DecomposableMarkovNetwork) -> str:
    """Return where the groups come from, since a file of tables alone may have none where its rows had some."""
    if network.learned is not None and network.learned.submodels is not None:
        return "found when the network was learned"
    return f"held by the tables, whose parts are independent to {_TOLERANCE:g} nats; no rows are known"


def hidden_groups(network: DecomposableMarkovNetwork) -> Sequence[Submodel]:
    """Return the hidden groups found when a network was learned, or those its tables hold."""
    if network.learned is not None and network.learned.submodels is not None:
        return network.learned.submodels
    judge = Independence(_CliqueEntropies(network), _TOLERANCE)
    return color(judge, network.graph, _MOST_SETS, asks_s5=False).submodels


class _CliqueEntropies:
    """An :class:`~xordal.counting.oracle.EntropyOracle` of the sets inside a network's cliques."""

    def __init__(self, network: DecomposableMarkovNetwork) -> None:
        self._tables, self._n_levels = network.clique_tables(), network.n_levels
        self._known: dict[VarSet, float] = {VarSet(0): 0.0}

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        for wanted in sets:
            if wanted not in self._known:
                home = next(table for table in self._tables if not wanted & ~table.variables)
                self._known[wanted] = home.over(wanted, self._n_levels).entropy()
        return np.array([self._known[wanted] for wanted in sets], dtype=np.float64)


def _lines(value: object) -> str:
    """Return JSON text, the items of a list on lines of their own."""
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n]"
    return json.dumps(value)


def _attributes(group: NamedSubmodel, names: Sequence[str]) -> dict[str, object]:
    told: dict[str, object] = {"kind": group.kind, "total_correlation": group.total_correlation}
    if group.context:
        told["context"] = list(group.context)
    if group.hidden is not None:
        told["hidden"] = group.hidden
    if group.share is not None:
        told["share"] = group.share.estimate
    if group.rule is not None:
        target = "" if group.rule.target is None else names[group.rule.target]
        told["rule"] = rule_text(group.rule, group.variables, target)
    if group.log_p_value is not None:
        told |= {"p_value": group.p_value, "log_p_value": group.log_p_value}
    return told
