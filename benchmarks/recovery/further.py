"""Asking further: which links that a look at single links finds are lost by a look at sets of five.

Rows are drawn from random decomposable networks of ten columns with two levels: each new column is joined to
one or two columns that are linked already, at random, and its table is drawn at random, so that some links are
weak. A link counts as lost when `-k 1` learns it and `-m 5` does not. A larger set may explain what a link
stood for, so a few are lost whatever the weights.

The second table is what the weights cost and gain: rows for a power of 90 % by the nominal noncentral law,
beside the same level shared evenly among all kinds of sets, that is, numbers of links and of endpoints.
Parities have 20 % noise; the link is between columns that agree in 60 % of rows. The last column is of columns
that join others which are shown by themselves, and have a share of the level of these.
"""

from __future__ import annotations

from functools import partial
from math import comb, exp, log

import numpy as np
from scipy.optimize import brentq
from scipy.stats import ncx2

from benchmarks.recovery.study import arguments, markdown, publish, repeat, share_text, table_of
from xordal import CategoricalTable, learn
from xordal.statistics.chi_squared import quantile_of
from xordal.statistics.weights import Weights

N_COLUMNS = 10
ROWS = (300, 1000, 3000)
ALPHA, WANTED = 0.05, 0.9
PRICES = [  # columns; k and m; endpoints and links of the set; share of broken rows; degrees of freedom
    ("a link, among 20, k=3", 20, (3, 4), (2, 1), 0.4, 1),
    ("XOR of 3, among 20, k=3", 20, (3, 4), (3, 3), 0.2, 3),
    ("a column that joins a linked pair, among 20, k=3", 20, (3, 4), (3, 2), 0.2, 3),
    ("parity of 4, among 12, m=4", 12, (6, 4), (4, 6), 0.2, 7),
    ("a column that joins a linked triple, among 12, m=4", 12, (6, 4), (4, 3), 0.2, 7),
    ("parity of 5, among 12, m=5", 12, (10, 5), (5, 10), 0.2, 15),
]


def random_network(n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Draw rows of a random network, each column behind one or two linked ones."""
    columns = [generator.integers(2, size=n_rows)]
    cliques = [(0,)]
    for v in range(1, N_COLUMNS):
        clique = cliques[generator.integers(len(cliques))]
        parents = tuple(generator.permutation(clique)[: generator.integers(1, 3)].tolist())
        cell = sum(columns[p] << place for place, p in enumerate(parents))
        columns.append((generator.random(n_rows) < generator.beta(1, 1, size=4)[cell]).astype(np.int64))
        cliques.append((*parents, v))
    return table_of(columns)


def lost(n_rows: int, seed: int) -> tuple[int, int, int]:
    """Return how many links `-k 1` learns, how many of them `-m 5` loses, and how many that learns."""
    table = random_network(n_rows, np.random.default_rng([seed, 16]))
    near = set(learn(table, max_links=1, find_groups=False).links)
    far = set(learn(table, max_variables=5, find_groups=False).links)
    return len(near), len(near - far), len(far)


def rows_needed(level: float, dof: int, noise: float) -> float:
    """Return the rows at which a parity that is broken in a share of rows has the wanted power."""
    bar = quantile_of(log(level), dof)
    shared = log(2) + noise * log(noise) + (1 - noise) * log(1 - noise)
    return float(brentq(lambda n: ncx2.sf(bar, dof, 2 * n * shared) - WANTED, 1, 1e5))


def prices() -> str:
    """Return the table of what the weights cost and gain beside even ones, and where others are shown."""
    rows = []
    for name, n_columns, (max_links, max_variables), (m, i), noise, dof in PRICES:
        weights = Weights(n_columns, max_links, max_variables)
        n_kinds = sum(min(max_links, comb(size, 2)) - (size - 1) + 1 for size in range(2, max_variables + 1))
        now = exp(weights.log_weight(m, i, 0))
        even = now / weights.share(m, i) / n_kinds
        needed = [rows_needed(ALPHA * weight, dof, noise) for weight in (even, now)]
        ratios = [f"{needed[1] / needed[0]:.2f}", ""]
        if 1 < i == m - 1:
            raised = now + exp(weights.log_passed_on(m, 0))
            ratios[1] = f"{rows_needed(ALPHA * raised, dof, noise) / needed[0]:.2f}"
        rows.append((name, *(f"{n:.0f}" for n in needed), *ratios))
    return markdown(("set", "rows, even weights", "rows", "ratio", "ratio, others shown"), rows)


def study(runs: int, workers: int, only: str = "") -> str:
    """Return the table of all numbers of rows."""
    rows = []
    for n_rows in ROWS:
        if only in str(n_rows):
            found = np.array(repeat(partial(lost, n_rows), range(runs), workers)).sum(axis=0).tolist()
            rows.append((n_rows, runs, found[0], found[2], share_text(found[1], found[0])))
            print(*rows[-1], flush=True)
    return markdown(
        ("rows", "networks", "links of -k 1", "links of -m 5", "lost by -m 5 (95 % interval)"), rows
    )


if __name__ == "__main__":
    chosen = arguments("Links that a search for larger sets loses", runs=20)
    lost_links = study(chosen.runs, chosen.workers, chosen.only)
    publish(__doc__, f"{lost_links}\n{prices()}", chosen.output)
