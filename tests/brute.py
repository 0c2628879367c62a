"""Inference by brute force: the whole joint of a small network as one array, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from math import log

import numpy as np
from numpy.typing import NDArray

from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.smoothing import Backoff

Array = NDArray[np.float64]
Row = tuple[dict[int, int], int]


def whole_joint(network: DecomposableMarkovNetwork) -> Array:
    """Return P(all variables), one axis each, cell by cell from the counts of cliques and separators."""
    if isinstance(network.smoothing, Backoff):
        return _with_backoff(network, network.smoothing.rows)
    joint = np.zeros(network.n_levels)
    for cell in product(*map(range, network.n_levels)):
        value = 1.0
        for sign, table in network.factors:
            inside = [v for v in range(len(cell)) if table.variables >> v & 1]
            counts = {
                tuple(row): count
                for row, count in zip(table.counted.cells.tolist(), table.counted.counts.tolist(), strict=True)
            }
            share = counts.get(tuple(cell[v] for v in inside), 0) + network.smoothing / table.n_cells
            share /= table.n_rows + network.smoothing
            if share == 0:
                value = 0.0
                break
            value *= share**sign
        joint[cell] = value
    return joint


def _with_backoff(network: DecomposableMarkovNetwork, borrowed: float) -> Array:
    """Return the same with back-off: one variable after the other, from contexts seen in its clique."""
    joint = np.zeros(network.n_levels)
    orders = list(_contexts(network))
    for cell in product(*map(range, network.n_levels)):
        value = 1.0
        for rows, v, context in orders:
            alone = sum(count for row, count in rows if row[v] == cell[v])
            chance = (alone + 1 / network.n_levels[v]) / (network.n_rows + 1)
            for size in range(1, len(context) + 1):
                seen = [(row, n) for row, n in rows if all(row[u] == cell[u] for u in context[:size])]
                both = sum(n for row, n in seen if row[v] == cell[v])
                chance = (both + borrowed * chance) / (sum(n for _, n in seen) + borrowed)
            value *= chance
        joint[cell] = value
    return joint


def _contexts(network: DecomposableMarkovNetwork) -> Iterator[tuple[list[Row], int, list[int]]]:
    """Yield the counted rows, a variable and its context, strongest first, of all variables in their order."""
    cells = {table.variables: table.counted for table in network.clique_tables()}
    for clique, separator in zip(network.tree.cliques, network.tree.separators, strict=True):
        inside = [v for v in range(len(network.variables)) if clique >> v & 1]
        counted = zip(cells[clique].cells.tolist(), cells[clique].counts.tolist(), strict=True)
        rows = [(dict(zip(inside, cell, strict=True)), count) for cell, count in counted]
        known = [v for v in inside if separator >> v & 1]
        for v in (v for v in inside if not separator >> v & 1):
            shared = {u: round(_shared(rows, u, v), 12) for u in known}
            yield rows, v, sorted(known, key=lambda u: (-shared[u], u))
            known.append(v)


def _shared(rows: list[Row], u: int, v: int) -> float:
    """Return the mutual information of two variables in nats."""
    n = sum(count for _, count in rows)
    pair, left, right = Counter[tuple[int, int]](), Counter[int](), Counter[int]()
    for row, count in rows:
        pair[row[u], row[v]] += count
        left[row[u]] += count
        right[row[v]] += count
    return sum(k / n * log(k * n / (left[a] * right[b])) for (a, b), k in pair.items())


def weighted(joint: Array, codes: Mapping[int, int], weights: Mapping[int, Array]) -> Array:
    """Return P(all variables, evidence)."""
    out = joint.copy()
    for v, code in codes.items():
        mask = np.zeros(joint.shape[v])
        mask[code] = 1.0
        out *= mask.reshape([-1 if u == v else 1 for u in range(joint.ndim)])
    for v, weight in weights.items():
        out *= weight.reshape([-1 if u == v else 1 for u in range(joint.ndim)])
    return out


def margin(joint: Array, asked: tuple[int, ...]) -> Array:
    """Return the sum over all other variables; asked ones in increasing order."""
    return np.asarray(joint.sum(axis=tuple(v for v in range(joint.ndim) if v not in asked)))
