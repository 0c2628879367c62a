"""Questions to a network: distributions given evidence, its probability, the most probable state.

Evidence of probability zero is an error that names the smallest part of it that cannot occur together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product as every
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError, ImpossibleEvidence
from xordal.model.evidence import evidence_of, number_of
from xordal.model.observed import Observed
from xordal.types.varsets import members, varset

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork, Given, Likely


def query(
    network: DecomposableMarkovNetwork,
    asked: str | Sequence[str],
    given: Given | None = None,
    likely: Likely | None = None,
) -> dict[Any, float]:
    """Answer :meth:`DecomposableMarkovNetwork.query`."""
    names = [asked] if isinstance(asked, str) else list(asked)
    numbers = [number_of(network, name) for name in names]
    if not numbers:
        raise DataError("Ask for at least one variable.")
    if len(set(numbers)) < len(numbers):
        raise DataError(f"Each variable can be asked for once; {', '.join(names)} repeats one.")
    evidence = evidence_of(network, given, likely)
    logs = network.inference.joint(evidence, numbers)[0]
    check_possible(network, evidence, logs.max())
    increasing = members(varset(numbers))
    chances = np.transpose(
        normalised(logs.reshape(1, -1)).reshape(logs.shape), [increasing.index(v) for v in numbers]
    )
    if isinstance(asked, str):
        return dict(zip(network.levels[numbers[0]], chances.tolist(), strict=True))
    cells = every(*(network.levels[v] for v in numbers))
    return dict(zip(cells, chances.reshape(-1).tolist(), strict=True))


def marginals(
    network: DecomposableMarkovNetwork, given: Given | None = None, likely: Likely | None = None
) -> dict[str, dict[Hashable, float]]:
    """Answer :meth:`DecomposableMarkovNetwork.marginals`."""
    evidence = evidence_of(network, given, likely)
    total, found = network.inference.posteriors(evidence, range(len(network.variables)))
    check_possible(network, evidence, total[0])
    return {
        name: dict(zip(network.levels[v], np.exp(found[v][0]).tolist(), strict=True))
        for v, name in enumerate(network.variables)
    }


def log_probability(
    network: DecomposableMarkovNetwork, given: Given | None = None, likely: Likely | None = None
) -> float:
    """Answer :meth:`DecomposableMarkovNetwork.log_probability`."""
    return float(network.inference.joint(evidence_of(network, given, likely), ())[0])


def most_probable(
    network: DecomposableMarkovNetwork, given: Given | None = None, likely: Likely | None = None
) -> dict[str, Hashable]:
    """Answer :meth:`DecomposableMarkovNetwork.most_probable`."""
    evidence = evidence_of(network, given, likely)
    check_possible(network, evidence, network.inference.joint(evidence, ())[0])
    codes = best_states(network, evidence)[:, 0]
    return {
        name: levels[code] for name, levels, code in zip(network.variables, network.levels, codes, strict=True)
    }


def best_states(network: DecomposableMarkovNetwork, evidence: Observed) -> NDArray[np.int64]:
    """Return the most probable state of all variables for each row of evidence, as codes."""
    return network.inference.descend(
        evidence, lambda logs, own: np.argmax(logs, axis=1)[own], n_rows=evidence.n_rows, best=True
    )


def normalised(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities that logs are proportional to, row by row."""
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def check_possible(
    network: DecomposableMarkovNetwork, evidence: Observed, log_probability: float, where: str = ""
) -> None:
    """Refuse evidence of probability zero, naming the smallest part of it that is impossible together."""
    if log_probability > -np.inf:
        return
    items = conflict(network, evidence)
    has = "has" if len(items) == 1 else "have together"
    raise ImpossibleEvidence(
        f"{where}Impossible evidence: {', '.join(items)} {has} probability zero in this network. "
        f"{_cure(network)}"
    )


def conflict(network: DecomposableMarkovNetwork, evidence: Observed) -> list[str]:
    """Return a part of impossible evidence that is impossible, and possible without any one of its items."""
    codes, weights = evidence.codes.copy(), dict(evidence.weights)
    for v in [*np.flatnonzero(codes[:, 0] >= 0).tolist(), *evidence.weights]:
        fewer, lighter = codes.copy(), {u: logs for u, logs in weights.items() if u != v}
        fewer[v] = -1
        if network.inference.joint(Observed(fewer, lighter), ())[0] == -np.inf:
            codes, weights = fewer, lighter
    hard = [
        f"{network.variables[v]}={network.levels[v][codes[v, 0]]}" for v in np.flatnonzero(codes[:, 0] >= 0)
    ]
    return [*hard, *(f"what is likely of {network.variables[v]}" for v in weights)]


def _cure(network: DecomposableMarkovNetwork) -> str:
    if network.smoothing == 0.0 and network.is_counted:
        return (
            "Its tables are not smoothed, so what never occurred is impossible; a smoothing above 0 "
            "(--smoothing 1, in Python network.smoothed(1)) makes it unlikely instead."
        )
    return "Leave some of it out."
