r"""How sure an answer is: the range of its probability, from how many rows stand behind each table.

A network's tables are estimates. Under the prior that smooths them (:mod:`xordal.model.parameters`) the
probabilities of each table P(own | separator) have, for each state s of the separator, a Dirichlet law with
the mean theta of the table and the weight N_s, rows and prior rows in that state; laws of different tables and
states are independent (the hyper-Dirichlet law of Dawid & Lauritzen 1993). An answer q = P(x | e) is a
function of all of them. Its derivative by one probability is

    dq / d theta_c = q (P(c | e, x) - P(c | e)) / theta_c,

where P(c | e) is how probable the clique's cell is given the evidence. With D_c that difference, its variance
to first order is a sum over tables and states,

    Var q = q^2 sum over tables, s of ( sum over c of D_c^2 / theta_c - (sum over c of D_c)^2 ) / (N_s + 1).

The range is that of the beta law with this mean and variance: for a column by itself that is the exact law of
its probability. The links are taken as given; what the choice of links adds, resamples tell (``--bootstrap``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product as every
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from xordal.errors import DataError
from xordal.model.evidence import evidence_of, number_of
from xordal.model.observed import Observed
from xordal.model.predict import chances_of, refuse_impossible
from xordal.model.rows import RowCodes, encoded
from xordal.types.choices import Absent, Unseen
from xordal.types.varsets import VarSet, members

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork, Given, Likely

_MOST_CELLS = 100_000  # of a clique
_AT_ONCE = 1_000_000  # cells of a clique in all rows of a block together
Range = tuple[float, float]
Floats = NDArray[np.float64]


def query_intervals(
    network: DecomposableMarkovNetwork,
    asked: str | Sequence[str],
    given: Given | None = None,
    likely: Likely | None = None,
    *,
    sure: float = 0.95,
) -> dict[Any, Range]:
    """Answer :meth:`DecomposableMarkovNetwork.query_intervals`."""
    answer = network.query(asked, given, likely)
    numbers = [number_of(network, name) for name in ([asked] if isinstance(asked, str) else asked)]
    chances = np.array([list(answer.values())])
    (found,) = ranges(network, evidence_of(network, given, likely), numbers, chances, sure)
    return {key: (low, high) for key, (low, high) in zip(answer, found.tolist(), strict=True)}


def predict_intervals(
    network: DecomposableMarkovNetwork, data: Any, target: str, sure: float, *, unseen: Unseen, absent: Absent
) -> Floats:
    """Answer :meth:`DecomposableMarkovNetwork.predict_intervals`."""
    number_of(network, target)
    refuse_impossible(unseen)
    rows = encoded(network, data, unseen=unseen, absent=absent, ignore=[target], offered=["absent"])
    return ranges_of(network, rows, target, chances_of(network, rows, target), sure)


def ranges_of(
    network: DecomposableMarkovNetwork, rows: RowCodes, target: str, chances: Floats, sure: float = 0.95
) -> Floats:
    """Return the ranges of predictions, shape (rows, levels, 2); the same evidence is asked once."""
    v = number_of(network, target)
    codes = rows.codes.copy()
    codes[v] = -1
    _, first, which = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    return ranges(network, Observed(codes[:, first]), [v], chances[first], sure)[which.reshape(-1)]


def ranges(
    network: DecomposableMarkovNetwork, evidence: Observed, numbers: Sequence[int], chances: Floats, sure: float
) -> Floats:
    """Return the ranges of answers, shape (rows, cells, 2), from the answers themselves, shape (rows, cells).

    Cells are those of the variables asked for, in their order.
    """
    if not 0 < sure < 1:
        raise DataError(f"sure must be a probability between 0 and 1, not {sure!r}.")
    if (why := unable(network)) is not None:
        raise DataError(why)
    variances = np.zeros_like(chances)
    for clique, table, weights, own in _tables(network):
        n_rows = max(1, _AT_ONCE // table.size)
        for start in range(0, evidence.n_rows, n_rows):
            here = slice(start, start + n_rows)
            part = Observed(evidence.codes[:, here], evidence.weights)
            before = _belief(network, part, clique)
            for place, cell in enumerate(every(*(range(network.n_levels[v]) for v in numbers))):
                change = _belief(network, _with(part, numbers, cell), clique) - before
                variances[here, place] += _spread(change, table, weights, own)
    return _beta_ranges(chances, chances**2 * variances, sure)


def unable(network: DecomposableMarkovNetwork) -> str | None:
    """Return why a network's answers have no ranges; None if they have."""
    if not network.is_counted:
        return "This network was given with its probabilities, so that nothing is known of their rows."
    if network.rules:
        return "This network has an additive rule in it; ranges of answers are for networks of links alone."
    if any(table.n_cells > _MOST_CELLS for sign, table in network.factors if sign > 0):
        return f"This network has a clique of more than {_MOST_CELLS:,} cells; ranges would take too long."
    return None


def _tables(
    network: DecomposableMarkovNetwork,
) -> Iterator[tuple[VarSet, Floats, Floats, tuple[int, ...]]]:
    """Yield each clique, P(own | separator), the rows behind each state of the separator, and the own axes."""
    by_set = {table.variables: table for _, table in network.factors}
    tree = network.inference.tree
    for clique, separator in zip(tree.cliques, tree.separators, strict=True):
        whole = by_set[clique]
        joint = np.exp(whole.cut({}, network.n_levels))
        inside = members(clique)
        own = tuple(place for place, v in enumerate(inside) if not separator >> v & 1)
        of_separator = joint.sum(axis=own, keepdims=True)
        prior = whole.smoothing if isinstance(whole.smoothing, int | float) else 0.0
        table = np.divide(joint, of_separator, out=np.zeros_like(joint), where=of_separator > 0)
        yield clique, table, of_separator * (whole.n_rows + prior), own


def _belief(network: DecomposableMarkovNetwork, evidence: Observed, clique: VarSet) -> Floats:
    """Return P(cell of a clique | evidence), shape (rows, ...); of impossible evidence it means nothing."""
    logs = network.inference.joint(evidence, members(clique))
    axes = tuple(range(1, logs.ndim))
    highest = logs.max(axis=axes, keepdims=True)
    cells = np.exp(logs - np.where(np.isfinite(highest), highest, 0.0))
    return np.asarray(cells / np.maximum(cells.sum(axis=axes, keepdims=True), 1e-300))


def _with(evidence: Observed, numbers: Sequence[int], cell: Sequence[int]) -> Observed:
    """Return evidence with some variables in some state; what was asked and known stays known."""
    codes = evidence.codes.copy()
    codes[list(numbers)] = np.array(cell)[:, None]
    return Observed(codes, {v: logs for v, logs in evidence.weights.items() if v not in numbers})


def _spread(change: Floats, table: Floats, weights: Floats, own: tuple[int, ...]) -> Floats:
    """Return the part of Var q / q^2 that one table has, for each row."""
    axes = tuple(1 + axis for axis in own)
    squares = np.divide(
        change**2, table, out=np.zeros_like(change), where=np.broadcast_to(table, change.shape) > 0
    )
    inner = squares.sum(axis=axes, keepdims=True) - change.sum(axis=axes, keepdims=True) ** 2
    return np.asarray((np.maximum(inner, 0.0) / (weights + 1)).reshape(len(change), -1).sum(axis=1))


def _beta_ranges(chances: Floats, variances: Floats, sure: float) -> Floats:
    """Return the ranges of beta laws with these means and variances; what is certain stays so."""
    able = (variances > 0) & (chances > 0) & (chances < 1)
    q, spread = chances[able], variances[able]
    weight = np.maximum(q * (1 - q) / spread - 1, 1e-3)
    found = np.stack([chances, chances], axis=-1)
    for side, share in enumerate(((1 - sure) / 2, (1 + sure) / 2)):
        found[able, side] = betaincinv(weight * q, weight * (1 - q), share)
    return found
