"""Bridges to pgmpy: a Bayesian network as its ``DiscreteBayesianNetwork``, and back."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from xordal.errors import DataError, SettingsError
from xordal.formats.bridged import AnyNetwork, check_model, directed, with_texts
from xordal.formats.draft import Draft
from xordal.formats.plain_words import no_escape, original
from xordal.model.directed import BayesianNetwork


def to_pgmpy(network: AnyNetwork) -> Any:
    """Return a network as pgmpy's ``DiscreteBayesianNetwork``, with the same joint distribution.

    Names and levels are kept, but for what looks like an escape (``_x0041_``); a
    decomposable network is directed along a perfect order.

    Raises
    ------
    SettingsError
        If pgmpy is not installed.
    """
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise SettingsError("This needs pgmpy: pip install pgmpy.") from None
    found = with_texts(directed(network), no_escape)
    model = DiscreteBayesianNetwork()
    model.add_nodes_from(found.variables)
    model.add_edges_from(found.arcs)
    for family in found.families:
        inside = (family.variable, *family.parents)
        chances = np.moveaxis(family.shares, -1, 0)
        model.add_cpds(
            TabularCPD(
                found.variables[family.variable],
                chances.shape[0],
                chances.reshape(chances.shape[0], -1),
                evidence=[found.variables[p] for p in family.parents],
                evidence_card=[len(found.levels[p]) for p in family.parents],
                state_names={found.variables[v]: list(found.levels[v]) for v in inside},
            )
        )
    return model


def from_pgmpy(model: Any) -> BayesianNetwork:
    """Return pgmpy's ``DiscreteBayesianNetwork`` as a network; escapes in names and levels are undone.

    Raises
    ------
    DataError
        If a variable has no table, or the model is not sensible.
    """
    if type(model).__name__ == "DiscreteMarkovNetwork":
        raise SettingsError(
            "There must be pgmpy's DiscreteBayesianNetwork, not DiscreteMarkovNetwork. Write it with pgmpy's "
            "UAIWriter, and read the file with xordal.read_network: such a network has no arcs to keep."
        )
    check_model(model, "get_cpds", "pgmpy's DiscreteBayesianNetwork")
    tables = {str(table.variable): table for table in model.get_cpds()}
    draft = Draft()
    for name in map(str, model.nodes()):
        if name not in tables:
            raise DataError(f"The variable {name!r} of the pgmpy model has no table (CPD).")
        draft.add_variable(name, [str(code) for code in range(int(tables[name].variable_card))], _wrong)
    for name, table in tables.items():
        parents = [str(parent) for parent in table.variables[1:]]
        draft.shape(name, parents, _wrong)
        for parent in table.variables[1:]:
            if list(table.state_names[parent]) != list(tables[str(parent)].state_names[parent]):
                _wrong(f"the table of {name!r} has other levels of {str(parent)!r}, or in another order")
        draft.add_family(name, parents, np.moveaxis(np.asarray(table.values, dtype=np.float64), 0, -1), _wrong)
    found = draft.network(_wrong)
    levels = tuple(tuple(tables[name].state_names[tables[name].variable]) for name in found.variables)
    return with_texts(BayesianNetwork(found.variables, levels, found.families), original)


def _wrong(why: str) -> NoReturn:
    raise DataError(f"This is no sensible pgmpy model: {why}.")
