"""What the bridges to other libraries take: any network, as a directed one.

pgmpy and pyAgrum read our files too, and then hold escaped names. So names and levels that come from them are
taken as from files, escapes undone, and what only looks like an escape is escaped on the way to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xordal.errors import DataError, SettingsError
from xordal.formats.left_out import warn_of_rules
from xordal.model.directed import BayesianNetwork, along_a_perfect_order
from xordal.model.network import DecomposableMarkovNetwork
from xordal.types.learned import Learned

AnyNetwork = DecomposableMarkovNetwork | BayesianNetwork | Learned


def directed(network: AnyNetwork) -> BayesianNetwork:
    """Return a network as a directed one, along a perfect order; warn of rules that its tables do not hold."""
    if isinstance(network, Learned):
        network = network.network()
    if not isinstance(network, DecomposableMarkovNetwork | BayesianNetwork):
        raise SettingsError(
            f"There must be a network, not {type(network).__name__}: one that was learned (learn(data)), or "
            "read_network(path)."
        )
    warn_of_rules(network)
    return along_a_perfect_order(network) if isinstance(network, DecomposableMarkovNetwork) else network


def with_texts(network: BayesianNetwork, change: Callable[[str], str]) -> BayesianNetwork:
    """Return a network with its names, and the levels that are text, changed one by one.

    Raises
    ------
    DataError
        If two names, or two levels of a variable, become the same.
    """
    names = tuple(map(change, network.variables))
    levels = tuple(
        tuple(change(level) if isinstance(level, str) else level for level in each) for each in network.levels
    )
    for what, texts in (("variables", names), *zip(map("levels of {!r}".format, names), levels, strict=True)):
        if len(set(texts)) < len(texts):
            raise DataError(f"Two {what} differ only in how they are escaped. Rename one of them.")
    return replace(network, variables=names, levels=levels)


def check_model(model: Any, method: str, wanted: str) -> None:
    """Refuse what is not a model of the other library."""
    if not hasattr(model, method):
        raise SettingsError(f"There must be {wanted}, not {type(model).__name__}.")
