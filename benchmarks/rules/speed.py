"""How long find_rules() takes: wall and processor time of the user's call, the best of some rounds.

``python -m benchmarks.rules.speed`` prints a table; compiled code is loaded before anything is timed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np

from xordal.data.table import CategoricalTable
from xordal.rules.finding import FoundRules, find_rules


def binary_table(n_columns: int, n_rules: int, order: int, noise: float = 0.0) -> CategoricalTable:
    """Return fair bits, 5,000 rows, of which the last are parities of some of the others."""
    generator = np.random.default_rng(n_columns + n_rules)
    codes = generator.integers(0, 2, (n_columns, 5000)).astype(np.int32)
    first = n_columns - n_rules
    for k in range(n_rules):
        chosen = generator.choice(first, size=order - 1, replace=False)
        codes[first + k] = codes[chosen].sum(axis=0) % 2 ^ (generator.random(5000) < noise)
    return CategoricalTable(tuple(f"b{k}" for k in range(n_columns)), (("0", "1"),) * n_columns, codes)


def book_numbers() -> CategoricalTable:
    """Return 3,000 random book numbers (ISBN-10), one column for each digit."""
    digits = np.random.default_rng(1).integers(0, 10, (9, 3000))
    check = -(np.arange(10, 1, -1)[:, None] * digits).sum(axis=0) % 11
    rows = np.vstack([digits, check])
    return CategoricalTable.from_columns(
        {f"d{k}": [str(v) if v < 10 else "X" for v in c] for k, c in enumerate(rows)}
    )


Task = tuple[str, Callable[[], CategoricalTable], Callable[[CategoricalTable], FoundRules], int, float]
TASKS: tuple[Task, ...] = (
    ("ten digit columns x 3,000 rows, all moduli", book_numbers, find_rules, 1, 0.2),
    (
        "1,000 binary columns x 5,000 rows, 20 rules, exact",
        lambda: binary_table(1000, 20, 6),
        lambda table: find_rules(table, exact=True),
        20,
        0.15,
    ),
    (
        "4,096 binary columns x 5,000 rows, 20 rules, exact",
        lambda: binary_table(4096, 20, 6),
        lambda table: find_rules(table, exact=True),
        20,
        1.5,
    ),
    (
        "a parity of 10 among 1,000 binary columns, 0.5 % of rows break it",
        lambda: binary_table(1000, 1, 10, 0.005),
        find_rules,
        1,
        10,
    ),
    (
        "a parity of 4 among 1,000 binary columns, 10 % of rows break it",
        lambda: binary_table(1000, 1, 4, 0.1),
        find_rules,
        1,
        5,
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print("| table | rules found | wall, s | processor, s | goal, s |\n|---|---|---|---|---|")
    for name, make, call, n_rules, goal in TASKS:
        table = make()
        call(table)
        times = []
        for _ in range(rounds):
            wall, processor = perf_counter(), process_time()
            found = call(table)
            times.append((perf_counter() - wall, process_time() - processor))
        wall, processor = (min(column) for column in zip(*times, strict=True))
        print(f"| {name} | {len(found)} of {n_rules} | {wall:.3f} | {processor:.3f} | {goal} |", flush=True)


if __name__ == "__main__":
    main()
