"""Additive rules as JSON, written and read: in what commands print, and in model files."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from xordal.formats.checked import Node
from xordal.graph.chordal import ChordalGraph
from xordal.model.placing import is_placed
from xordal.model.rule import NetworkRule
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import VarSet, members, varset

_MOST = 2**53  # whole numbers beyond it are no floats
_LEAST_LOG = -1e300  # in place of minus infinity, which JSON does not know
_LARGEST = 10**9  # of a modulus, and of a value in a sum of whole numbers


def rule_to_json(
    rule: AdditiveRule, variables: Sequence[str], levels: Sequence[Sequence[Hashable]] | None
) -> dict[str, Any]:
    """Return one rule; functions have texts of levels as keys, or are values in order where these repeat."""
    functions: dict[str, Any] = {}
    for v, values in zip(rule.variables, rule.functions, strict=True):
        texts = [] if levels is None else [str(level) for level in levels[v]]
        is_told = len(set(texts)) == len(values)
        functions[variables[v]] = dict(zip(texts, values, strict=True)) if is_told else list(values)
    return {
        "variables": [variables[v] for v in rule.variables],
        "modulus": rule.modulus,
        "functions": functions,
        "constant": rule.constant,
        "holds": rule.holds,
        "n_rows": rule.n_rows,
        "n_broken": rule.n_broken,
        "n_blank": rule.n_blank,
        "by_chance": rule.by_chance,
        "p_value": rule.p_value,
        "log_p_value": max(rule.log_p_value, _LEAST_LOG),
        "name": rule.name,
    }


def rule_from_json(
    node: Node, variables: tuple[str, ...], levels: Sequence[Sequence[Hashable]]
) -> AdditiveRule:
    """Return a rule of a model file, checked."""
    places = _places(node["variables"], variables)
    if len(places) < 2:
        node["variables"].wrong("a rule has at least two variables")
    modulus = node["modulus"].integer(0, _LARGEST)
    if modulus == 1:
        node["modulus"].wrong("everything is the same modulo 1")
    n_rows = node["n_rows"].integer(1, _MOST)
    n_broken, n_blank = node["n_broken"].integer(0, n_rows), node.get("n_blank")
    name = node["name"].value
    if not isinstance(name, str):
        node["name"].wrong("there must be a text")
    return AdditiveRule(
        places,
        modulus,
        tuple(_values(node["functions"][variables[v]], levels[v], modulus) for v in places),
        node["constant"].integer(-_MOST, _MOST),
        n_rows,
        n_broken,
        node["by_chance"].share(),
        node["log_p_value"].log_share(),
        name,
        0
        if n_blank is None
        else n_blank.integer(0, n_rows - n_broken),  # files of earlier versions do not say it
    )


def _values(node: Node, levels: Sequence[Hashable], modulus: int) -> tuple[int | None, ...]:
    """Return the value of each level: a list in their order, or an object with their texts as keys."""
    if isinstance(node.value, dict):
        items = [node[str(level)] for level in levels]
        if len(node.value) != len(items):
            node.wrong("there must be one value for each level")
    else:
        items = node.items()
    if len(items) != len(levels):
        node.wrong(f"there must be a value for each of {len(levels)} levels, not {len(items)}")
    low, high = (0, modulus - 1) if modulus else (-_LARGEST, _LARGEST)
    return tuple(None if item.value is None else item.integer(low, high) for item in items)


def _places(node: Node, variables: tuple[str, ...]) -> tuple[int, ...]:
    for item, name in node.texts():
        if name not in variables:
            item.wrong(f"{name!r} is no variable of the network")
    found = tuple(variables.index(name) for _, name in node.texts())
    if list(found) != sorted(found):
        node.wrong("the variables must be in the order of the network's")
    return found


def network_rule_to_json(
    placed: NetworkRule, variables: Sequence[str], levels: Sequence[Sequence[Hashable]]
) -> dict[str, Any]:
    """Return a rule that is part of a network: what it says, where it ends and how often it is broken."""
    return {
        **rule_to_json(placed.rule, variables, levels),
        "last": variables[placed.last],
        "earlier": [variables[v] for v in members(placed.earlier)],
        "counted": {"asked": placed.n_asked, "broken": placed.n_broken},
    }


def network_rules_from_json(
    node: Node,
    variables: tuple[str, ...],
    levels: Sequence[Sequence[Hashable]],
    graph: ChordalGraph,
    n_rows: int,
) -> tuple[NetworkRule, ...]:
    """Return the rules of a network, checked: there must be an order of the columns in which each ends."""
    rules = tuple(_network_rule(item, variables, levels, n_rows) for item in node.items())
    if not is_placed(graph, rules):
        node.wrong("there is no order of the columns in which each rule ends where it says")
    return rules


def _network_rule(
    node: Node, variables: tuple[str, ...], levels: Sequence[Sequence[Hashable]], n_rows: int
) -> NetworkRule:
    rule = rule_from_json(node, variables, levels)
    last = node["last"].text()
    if last not in variables or variables.index(last) not in rule.variables:
        node["last"].wrong("a rule ends in one of its variables")
    earlier = varset(_places(node["earlier"], variables))
    n_asked = node["counted"]["asked"].integer(0, n_rows)
    found = NetworkRule(
        rule, variables.index(last), VarSet(earlier), n_asked, node["counted"]["broken"].integer(0, n_asked)
    )
    if earlier >> found.last & 1:
        node["earlier"].wrong("no variable comes before itself")
    if not found.carried:
        node["earlier"].wrong("a rule of one clique is in its table already")
    return found
