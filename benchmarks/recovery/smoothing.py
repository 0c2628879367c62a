"""Smoothing: which prior for clique tables predicts unseen rows best.

The graphs are those of BIC with k = 1, without fill-in and local search, at three penalties, learned from the
training rows of four binary tables; the larger the cliques, the more smoothing matters. Each kind has one
number, its rows, chosen on the validation
rows. *Even*: so many rows spread evenly over the cells of each table, (count + a/c) / (n + a). *Margins*: the
same rows spread as if all columns were independent, (count + a times the product of single margins) / (n + a).
*Back-off*: each context borrows so many rows from the next smaller one (`Backoff`). Given is the mean log
probability of a test row in nats, with the rows chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.recovery.density import NAMES, Task, folder
from benchmarks.recovery.study import markdown, publish
from xordal import BIC, Backoff, DecomposableMarkovNetwork, learn
from xordal.learning.fitting import fit_network
from xordal.types.varsets import members, varset

PENALTIES = (1.0, 0.25, 0.06)
STRENGTHS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

Logs = NDArray[np.float64]
Codes = NDArray[np.int32]


def even(network: DecomposableMarkovNetwork, codes: Codes, rows: float) -> Logs:
    """Return log probabilities with rows spread evenly."""
    return network.smoothed(rows).log_prob(codes)


def margins(network: DecomposableMarkovNetwork, codes: Codes, rows: float) -> Logs:
    """Return log probabilities with rows spread as if columns were independent."""
    total, n = np.zeros(codes.shape[1]), network.n_rows
    alone = {}
    for _, table in network.factors:
        for v in members(table.variables):
            if v not in alone:
                alone[v] = np.exp(table.over(varset([v]), network.n_levels).log_prob(codes))
    for sign, table in network.smoothed(0).factors:
        apart = np.prod([alone[v] for v in members(table.variables)], axis=0)
        total += sign * np.log((n * np.exp(table.log_prob(codes)) + rows * apart) / (n + rows))
    return total


def back_off(network: DecomposableMarkovNetwork, codes: Codes, rows: float) -> Logs:
    """Return log probabilities with rows borrowed from smaller contexts."""
    return network.smoothed(Backoff(rows)).log_prob(codes)


KINDS: dict[str, Callable[[DecomposableMarkovNetwork, Codes, float], Logs]] = {
    "even": even,
    "margins": margins,
    "back-off": back_off,
}


def rows_of(task: Task) -> Iterator[tuple[object, ...]]:
    """Yield one line for each penalty."""
    train = task.train.distinct()
    for penalty in PENALTIES:
        learned = learn(
            train,
            max_links=1,
            criterion=BIC(penalty),
            fill_in=False,
            local_search=False,
            find_groups=False,
        )
        network = fit_network(train, learned)
        cells = []
        for kind in KINDS.values():
            means = {rows: float(kind(network, task.valid.codes, rows).mean()) for rows in STRENGTHS}
            best = max(STRENGTHS, key=means.__getitem__)
            cells.append(f"{kind(network, task.test.codes, best).mean():.4f} ({best:g})")
        yield task.name, f"{penalty:g}", max(map(len, learned.cliques)), *cells


def study(only: str) -> str:
    """Return the table of all tasks."""
    rows = []
    for name in NAMES:
        if only in name:
            for row in rows_of(Task.read(folder(), name)):
                print(*row, flush=True)
                rows.append(row)
    return markdown(("table", "penalty", "largest clique", *(f"{kind} (rows)" for kind in KINDS)), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Which smoothing predicts unseen rows best")
    parser.add_argument("--only", default="", help="only tables whose name holds this")
    parser.add_argument("-o", "--output", type=Path, help="write the page here as well")
    chosen = parser.parse_args()
    publish(__doc__, study(chosen.only), chosen.output, "nothing in it is random.")
