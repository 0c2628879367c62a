"""Random rows of a network, drawn down the junction tree; given evidence, from what it leaves."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError
from xordal.model.evidence import evidence_of
from xordal.model.query import check_possible

if TYPE_CHECKING:
    from xordal.model.directed import BayesianNetwork
    from xordal.model.network import DecomposableMarkovNetwork, Given, Likely

MOST_ROWS = 50_000_000
"""Rows to draw at the most."""


def sample(
    network: DecomposableMarkovNetwork,
    n: int,
    *,
    seed: int | None = None,
    given: Given | None = None,
    likely: Likely | None = None,
) -> CategoricalTable:
    """Answer :meth:`DecomposableMarkovNetwork.sample`."""
    codes = sample_codes(network, n, seed=seed, given=given, likely=likely).astype(np.int32)
    return sampled_table(network, codes)


def sampled_table(
    network: DecomposableMarkovNetwork | BayesianNetwork, codes: NDArray[np.int32]
) -> CategoricalTable:
    """Return random rows as a table, without levels that were not drawn."""
    columns = zip(network.variables, network.levels, codes, strict=True)
    return CategoricalTable.complete([Column(*column).compact() for column in columns])


def check_draw(n: int, seed: int | None) -> None:
    """Refuse a number of rows, or a seed, that is none.

    Raises
    ------
    SettingsError
        If one of them is out of range, or no whole number.
    """
    if not isinstance(n, Integral) or not 1 <= n <= MOST_ROWS:
        raise SettingsError(f"Between 1 and {MOST_ROWS:,} rows can be drawn, not {n!r}.")
    if seed is not None and (not isinstance(seed, Integral) or seed < 0):
        raise SettingsError(f"The seed must be a whole number from 0 on, not {seed!r}.")


def sample_codes(
    network: DecomposableMarkovNetwork,
    n: int,
    *,
    seed: int | None = None,
    given: Given | None = None,
    likely: Likely | None = None,
) -> NDArray[np.int64]:
    """Return random rows as codes, shape (variables, rows)."""
    check_draw(n, seed)
    evidence = evidence_of(network, given, likely)
    check_possible(network, evidence, network.inference.joint(evidence, ())[0])
    generator = np.random.default_rng(None if seed is None else int(seed))
    return network.inference.descend(
        evidence, lambda logs, own: _draw(logs, own, generator), n_rows=int(n), best=False
    )


def _draw(
    logs: NDArray[np.float64], own: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return a random cell for each state, with the chances that its own row of logs is proportional to."""
    highest = logs.max(axis=1, keepdims=True)
    highest[highest == -np.inf] = 0.0  # a table that no state has: nothing is drawn from it
    reached = np.cumsum(np.exp(logs - highest), axis=1)
    total = reached[own, -1]
    # Strictly below the total, so that a cell without a chance at the end is never drawn.
    point = np.minimum(generator.random(len(own)) * total, np.nextafter(total, 0))
    low, high = np.zeros(len(own), dtype=np.int64), np.full(len(own), logs.shape[1] - 1)
    while (low < high).any():  # bisection for the first cell that reaches beyond the point
        middle = (low + high) // 2
        is_below = reached[own, middle] <= point
        low, high = np.where(is_below, middle + 1, low), np.where(is_below, high, middle)
    return low
