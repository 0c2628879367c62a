"""The arcs of a Bayesian network, as JSON and in words: ``xordal direct``."""

from __future__ import annotations

from xordal.errors import counted
from xordal.formats.json import Json
from xordal.formats.shown import shown
from xordal.model.directed import BayesianNetwork


def arcs_to_json(network: BayesianNetwork) -> Json:
    """Return the variables and the arcs, each with whether its direction is identified."""
    return {
        "variables": list(network.variables),
        "arcs": [{"parent": u, "child": v, "identified": network.is_identified(u, v)} for u, v in network.arcs],
        "n_parameters": network.n_parameters,
    }


def arc_lines(network: BayesianNetwork) -> list[str]:
    r"""Return a line for each variable with parents, and how many arcs there are.

    Examples
    --------
    >>> import numpy as np
    >>> from xordal.model.directed import Family
    >>> rain, wet = Family(0, (), np.array([0.2, 0.8])), Family(1, (0,), np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> two = (("yes", "no"), ("yes", "no"))
    >>> print("\n".join(arc_lines(BayesianNetwork(("rain", "wet"), two, (rain, wet), frozenset({(0, 1)})))))
    rain (?) -> wet
    <BLANKLINE>
    1 arc, 3 parameters; 1 arc marked (?): another direction may fit as well
    """
    lines = []
    for family in network.families:
        if family.parents:
            child = network.variables[family.variable]
            parents = [_marked(network, parent, child) for parent in network.parents(child)]
            lines.append(f"{' + '.join(parents)} -> {shown(child)}")
    arcs, parameters = counted(len(network.arcs), "arc"), counted(network.n_parameters, "parameter")
    told = f"{arcs}, {parameters}"
    if n_unsure := len(network.unidentified or ()):
        other = "another direction" if n_unsure == 1 else "other directions"
        told += f"; {counted(n_unsure, 'arc')} marked (?): {other} may fit as well"
    return [*lines, *([""] if lines else []), told]


def _marked(network: BayesianNetwork, parent: str, child: str) -> str:
    return shown(parent) + (" (?)" if network.is_identified(parent, child) is False else "")
