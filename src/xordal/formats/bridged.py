"""What the bridges to other libraries take: any network, as a directed one."""

from __future__ import annotations

from typing import Any

from xordal.errors import SettingsError
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


def check_model(model: Any, method: str, wanted: str) -> None:
    """Refuse what is not a model of the other library."""
    if not hasattr(model, method):
        raise SettingsError(f"There must be {wanted}, not {type(model).__name__}.")
