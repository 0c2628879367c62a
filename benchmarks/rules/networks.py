"""What rules cost in a network, and in learning one: ratios of the user's calls with and without, in one run.

``python -m benchmarks.rules.networks`` prints two tables. The first asks a network of thirteen digits, article
numbers (EAN-13), with its rule and without. The second learns networks of tables that obey rules or none, one
of them wide. Processor times are the best of some rounds; the two of a ratio take turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.rules.speed import binary_table
from xordal import CategoricalTable, DecomposableMarkovNetwork, learn
from xordal.learning.fitting import fit_network
from xordal.pi.zoo import music_box

NAMES = [f"d{place}" for place in range(1, 14)]


def articles(n_rows: int = 3000) -> CategoricalTable:
    """Return random article numbers."""
    digits = np.random.default_rng(1).integers(0, 10, (n_rows, 12))
    rows = np.column_stack([digits, -(digits @ ([1, 3] * 6)) % 10])
    return CategoricalTable.from_rows(NAMES, rows.tolist())


def noise(n_columns: int, n_levels: int, n_rows: int = 2000) -> CategoricalTable:
    """Return independent columns."""
    rows = np.random.default_rng(2).integers(0, n_levels, (n_rows, n_columns))
    return CategoricalTable.from_rows([f"x{v}" for v in range(n_columns)], rows.tolist())


def questions(table: CategoricalTable) -> dict[str, Callable[[DecomposableMarkovNetwork], Any]]:
    """Return what is asked of a network, by name."""
    row = dict(zip(NAMES, next(iter(table.rows())), strict=True))
    others, half = {n: v for n, v in row.items() if n != "d7"}, {n: row[n] for n in NAMES[:6]}
    some = CategoricalTable.from_rows(NAMES, list(table.rows())[:1000])
    return {
        "a digit, given the twelve others": lambda network: network.query("d7", given=others),
        "a digit, given six others": lambda network: network.query("d13", given=half),
        "a digit, given nothing": lambda network: network.query("d13"),
        "all digits, given six": lambda network: network.marginals(given=half),
        "the most probable number, given twelve": lambda network: network.most_probable(given=others),
        "the probability of a number": lambda network: network.probability(row),
        "predict a digit of 1,000 rows": lambda network: network.predict(some, "d7"),
        "score 1,000 rows": lambda network: network.score_rows(some),
        "1,000 random rows": lambda network: network.sample(1000, seed=1),
    }


def paired(one: Callable[[], Any], other: Callable[[], Any], seconds: float) -> tuple[float, float]:
    """Return the best times of two calls that take turns, after one call each."""
    one(), other()
    best, started = [np.inf, np.inf], process_time()
    while process_time() - started < seconds:
        for place, call in enumerate((one, other)):
            before = process_time()
            call()
            best[place] = min(best[place], process_time() - before)
    return best[0], best[1]


def told(name: str, without: float, with_rules: float) -> str:
    """Return a row of a table."""
    return f"| {name} | {1e3 * without:.2f} | {1e3 * with_rules:.2f} | {with_rules / without:.2f} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each line")
    seconds = parser.parse_args().seconds
    table = articles()
    network = fit_network(table, learn(table))
    base = network.without_rules()
    print("| a network of 13 digits | without its rule, ms | with it | ratio |\n|---|---|---|---|")
    for name, ask in questions(table).items():
        print(told(name, *paired(lambda ask=ask: ask(base), lambda ask=ask: ask(network), seconds)))  # type: ignore[misc]
    print("\n| learn | without rules, ms | with them | ratio |\n|---|---|---|---|")
    for name, source in (
        ("music box, 2,000 rows", music_box().joint.sample_table(2000, seed=1)),
        ("20 fair bits, 2,000 rows", noise(20, 2)),
        ("8 digits, 2,000 rows", noise(8, 10)),
        ("300 fair bits, 5,000 rows", noise(300, 2, 5000)),
        ("300 bits, 5,000 rows, 3 parities of 6", binary_table(300, 3, 6)),
        ("13 digits of article numbers, 3,000 rows", table),
    ):
        calls = [lambda source=source, find=find: learn(source, find_rules=find) for find in (False, True)]
        print(told(name, *paired(calls[0], calls[1], seconds)))


if __name__ == "__main__":
    main()
