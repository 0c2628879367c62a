"""Two networks side by side: the links of one that the other lacks, and how far apart their distributions are.

The Kullback-Leibler divergence D(P || Q) is minus the entropy of P minus the mean of log Q under P; the latter
is Q's signed sum with P's probabilities, each table at a time, so nothing larger than a clique of either is
summed over, unless a clique of Q lies far apart in P.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum, inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError
from xordal.model.observed import Observed
from xordal.model.rule import NetworkRule
from xordal.model.rule_tree import Margins
from xordal.model.ruled import probe
from xordal.types.varsets import members, varset

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork

LinkNames = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two networks side by side.

    Attributes
    ----------
    shared, missing, extra
        Links of both; of the first only, so missing in the second; of the second only. By name.
    only_first, only_second
        Variables that only one of them has.
    divergence, divergence_back
        D(first || second) and D(second || first) in nats: how much is lost per row by using one where the other
        is true. Infinite where one calls impossible what can happen in the other. None where it is not
        defined or too large to compute.
    reason
        Why a divergence is None, or infinite for a level that only one of them knows.
    """

    shared: tuple[LinkNames, ...]
    missing: tuple[LinkNames, ...]
    extra: tuple[LinkNames, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    divergence: float | None
    divergence_back: float | None
    reason: str | None = None


def compare(first: DecomposableMarkovNetwork, second: DecomposableMarkovNetwork) -> Comparison:
    """Answer :meth:`DecomposableMarkovNetwork.compare`."""
    one, two = _links(first), _links(second)
    only_first = tuple(name for name in first.variables if name not in second.variables)
    only_second = tuple(name for name in second.variables if name not in first.variables)
    there = back = reason = None
    if only_first or only_second:
        reason = "the networks have different variables"
    else:
        try:
            there, back = divergence(first, second), divergence(second, first)
            reason = _other_levels(first, second)
        except DataError as error:
            reason = str(error)
    return Comparison(
        tuple(one[key] for key in one if key in two),
        tuple(one[key] for key in one if key not in two),
        tuple(two[key] for key in two if key not in one),
        only_first,
        only_second,
        there,
        back,
        reason,
    )


def divergence(of: DecomposableMarkovNetwork, by: DecomposableMarkovNetwork) -> float:
    """Return D(of || by) in nats, of networks over the same variables in any order.

    A level that only one of them knows has probability zero in the other.
    """
    number = {name: v for v, name in enumerate(of.variables)}
    nothing = Observed(np.full((len(of.variables), 1), -1, dtype=np.int64))
    terms = [-of.entropy()]
    for sign, table in by.factors:
        inside = members(table.variables)
        ours = sorted(number[by.variables[v]] for v in inside)
        chances = np.exp(of.inference.joint(nothing, ours)[0])
        order = [ours.index(number[by.variables[v]]) for v in inside]
        logs = _in_levels_of(table.cut({}, by.n_levels), by, of, inside)
        chances = np.transpose(chances, order)
        happens = chances > 0
        if (logs[happens] == -np.inf).any():
            return inf
        terms.append(-sign * float((chances[happens] * logs[happens]).sum()))
    for rule in by.rules:
        chances, logs = _of_rule(of, by, rule)
        happens = chances > 0
        if (logs[happens] == -np.inf).any():
            return inf
        terms.append(-float((chances[happens] * logs[happens]).sum()))
    return max(fsum(terms), 0.0)


def _of_rule(
    of: DecomposableMarkovNetwork, by: DecomposableMarkovNetwork, rule: NetworkRule
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how one network distributes what another one's rule depends on, and the rule's weights."""
    number = {name: v for v, name in enumerate(of.variables)}
    scope = members(rule.scope)
    ours = _translated(rule, of, by)
    chances, carrier = probe(of, ours)
    base = Margins(by).table(rule.scope)
    _, logs = rule.weight_table(carrier, base, by.n_levels, rule.delta(by.smoothing))
    logs = _in_levels_of(logs, by, of, scope)
    order = sorted(range(len(scope)), key=lambda axis: number[by.variables[scope[axis]]])
    return chances, np.transpose(logs, [*order, len(scope)])


def _translated(rule: NetworkRule, of: DecomposableMarkovNetwork, by: DecomposableMarkovNetwork) -> NetworkRule:
    """Return a rule in the numbers and levels of another network; a level it does not know has no value."""
    number = {name: v for v, name in enumerate(of.variables)}
    functions = {}
    for v, values in zip(rule.rule.variables, rule.rule.functions, strict=True):
        known = dict(zip(by.levels[v], values, strict=True))
        place = number[by.variables[v]]
        functions[place] = tuple(known.get(level) for level in of.levels[place])
    variables = tuple(sorted(functions))
    told = replace(rule.rule, variables=variables, functions=tuple(functions[v] for v in variables))
    earlier = varset(number[by.variables[v]] for v in members(rule.earlier))
    return replace(rule, rule=told, last=number[by.variables[rule.last]], earlier=earlier)


def _in_levels_of(
    logs: NDArray[np.float64],
    by: DecomposableMarkovNetwork,
    of: DecomposableMarkovNetwork,
    inside: tuple[int, ...],
) -> NDArray[np.float64]:
    """Return a table with its cells in the order of the other network's levels; -inf for levels it lacks."""
    for axis, v in enumerate(inside):
        known = {level: code for code, level in enumerate(by.levels[v])}
        places = [known.get(level, -1) for level in of.levels[of.variables.index(by.variables[v])]]
        missing = np.full([*logs.shape[:axis], 1, *logs.shape[axis + 1 :]], -np.inf)
        logs = np.take(np.concatenate([logs, missing], axis=axis), places, axis=axis)
    return logs


def _other_levels(first: DecomposableMarkovNetwork, second: DecomposableMarkovNetwork) -> str | None:
    """Return the first level that only one of the networks knows, in words."""
    for name in first.variables:
        one, two = first.levels_of(name), second.levels_of(name)
        known, unknown = set(one), set(two)
        for level in (*one, *two):
            if (level in known) != (level in unknown):
                which = "first" if level in known else "second"
                return f"{name}={level} ({type(level).__name__}) is a level of the {which} network only"
    return None


def _links(network: DecomposableMarkovNetwork) -> dict[frozenset[str], LinkNames]:
    named = [(network.variables[u], network.variables[v]) for u, v in network.graph.links]
    return {frozenset(pair): pair for pair in named}
