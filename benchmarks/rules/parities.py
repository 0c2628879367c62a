"""How noisy a parity of 4, 5 or 6 among many binary columns may be: runs of the user's call, not the formula.

``python -m benchmarks.rules.parities --columns 1000 --runs 10`` plants a parity of each order among fair bits,
5,000 rows, each broken by the share of rows up to which docs/rules.md says that 19 of 20 are found, and looks
for them with ``largest_parity=6``. It prints a line after each run and a table at the end. The seconds are
processor time of one search each with ``largest_parity`` 4, 5 and 6.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np

from benchmarks.rules.false_rules import interval
from xordal.data.table import CategoricalTable
from xordal.rules.finding import find_rules
from xordal.rules.meeting import plan

ORDERS = (4, 5, 6)
N_ROWS = 5_000
MOST = 0.23  # a rule must settle half of what chance leaves open: beyond this share too few samples show that


def reach(order: int, n_columns: int) -> float | None:
    """Return the share of broken rows that the docs promise, in whole percents; None where it is not sought."""
    how = plan(order, n_columns)
    return None if how is None else min(MOST, int(100 * how.reach()) / 100)


def planted(n_columns: int, seed: int) -> tuple[CategoricalTable, dict[int, tuple[int, ...]]]:
    """Return fair bits with a parity of each order, and the columns of each; no two share a column."""
    generator = np.random.default_rng([seed, n_columns])
    codes = generator.integers(0, 2, (n_columns, N_ROWS)).astype(np.int32)
    free = generator.permutation(n_columns).tolist()
    sets = {}
    for order in ORDERS:
        noise = reach(order, n_columns)
        if noise is None:
            continue
        columns, free = sorted(free[:order]), free[order:]
        others = np.bitwise_xor.reduce(codes[columns[:-1]])
        codes[columns[-1]] = others ^ (generator.random(N_ROWS) < noise)
        sets[order] = tuple(columns)
    names = tuple(f"b{k}" for k in range(n_columns))
    return CategoricalTable(names, (("0", "1"),) * n_columns, codes), sets


def seconds(table: CategoricalTable, largest: int) -> float:
    """Return the processor time of a search."""
    started = process_time()
    find_rules(table, largest_parity=largest)
    return process_time() - started


def main() -> None:
    """Print a line for each run, and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    find_rules(planted(100, 0)[0], largest_parity=6)  # loads the compiled code
    hits: dict[int, int] = {}
    for run in range(given.runs):
        table, sets = planted(given.columns, given.seed + run)
        found = {rule.variables for rule in find_rules(table, seed=run, largest_parity=6)}
        for order, columns in sets.items():
            hits[order] = hits.get(order, 0) + (columns in found)
        n_others = len(found - set(sets.values()))
        print(f"run {run + 1}: found {hits}, {n_others} others", flush=True)
    print(
        "| columns | order | rows that break it | found | 95 % interval | seconds |\n|---|---|---|---|---|---|"
    )
    table, sets = planted(given.columns, given.seed)
    for order in sets:
        low, high = interval(hits[order], given.runs)
        share = f"{reach(order, given.columns):.0%} | {hits[order]} of {given.runs} | {low:.0%} to {high:.0%}"
        print(f"| {given.columns:,} | {order} | {share} | {seconds(table, order):.1f} |", flush=True)


if __name__ == "__main__":
    main()
