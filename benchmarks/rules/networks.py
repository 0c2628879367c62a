"""What rules cost in a network, and in learning one: ratios of the user's calls with and without, in one run.

``python -m benchmarks.rules.networks`` prints three tables. The first asks a network of thirteen digits,
article numbers (EAN-13), with its rule and without: random questions, of one to three digits given some others.
The rule's last column is always among them: without it the rule says nothing, and is left out. Tables that are
kept for later questions are filled by the first call, which is told by itself: a network as it is after
loading. The second has the other calls, the third learns networks of tables that obey rules or none, two
of them wide. Processor times are the best of some rounds; the two of a ratio take turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from benchmarks.rules.speed import binary_table
from xordal import CategoricalTable, DecomposableMarkovNetwork, learn
from xordal.learning.fitting import fit_network
from xordal.pi.zoo import music_box

NAMES = [f"d{place}" for place in range(1, 14)]
QUESTIONS = [(n_asked, n_given) for n_asked in (1, 2, 3) for n_given in (0, 1, 2, 3, 6, 10)] + [(1, 12)]
N_QUESTIONS, N_ROUNDS = 24, 20


def articles(n_rows: int = 3000) -> CategoricalTable:
    """Return random article numbers."""
    digits = np.random.default_rng(1).integers(0, 10, (n_rows, 12))
    rows = np.column_stack([digits, -(digits @ ([1, 3] * 6)) % 10])
    return CategoricalTable.from_rows(NAMES, rows.tolist())


def noise(n_columns: int, n_levels: int, n_rows: int = 2000) -> CategoricalTable:
    """Return independent columns."""
    rows = np.random.default_rng(2).integers(0, n_levels, (n_rows, n_columns))
    return CategoricalTable.from_rows([f"x{v}" for v in range(n_columns)], rows.tolist())


def other_calls(table: CategoricalTable) -> dict[str, Callable[[DecomposableMarkovNetwork], Any]]:
    """Return calls other than a query, by name."""
    row = dict(zip(NAMES, next(iter(table.rows())), strict=True))
    rest, half = {n: v for n, v in row.items() if n != "d7"}, {n: row[n] for n in NAMES[:6]}
    some = CategoricalTable.from_rows(NAMES, list(table.rows())[:1000])
    columns = enumerate(zip(*some.rows(), strict=True))
    holes = {NAMES[at]: [None if k % 13 == at else v for k, v in enumerate(own)] for at, own in columns}
    return {
        "all digits, given six": lambda network: network.marginals(given=half),
        "the most probable number, given twelve": lambda network: network.most_probable(given=rest),
        "the probability of a number": lambda network: network.probability(row),
        "predict a digit of 1,000 rows": lambda network: network.predict(some, "d7"),
        "score 1,000 rows": lambda network: network.score_rows(some),
        "fill in a digit in each of 1,000 rows": lambda network: network.impute(holes),
        "1,000 random rows": lambda network: network.sample(1000, seed=1),
    }


def asked(network: DecomposableMarkovNetwork, row: dict[str, Any], n_asked: int, n_given: int) -> str:
    """Return times and ratios over random questions of so many digits given others, as a row of a table."""
    base, (rule,) = network.without_rules(), network.rules
    last = NAMES[rule.last]
    generator = np.random.default_rng([n_asked, n_given])
    times, firsts = [], []
    for _ in range(N_QUESTIONS):
        others = generator.permutation([name for name in NAMES if name != last]).tolist()
        names = generator.permutation([last, *others[: n_asked + n_given - 1]]).tolist()
        what = {name: row[name] for name in names[n_asked:]}
        ask = partial(DecomposableMarkovNetwork.query, asked=names[:n_asked], given=what)
        for loaded in (replace(base), replace(network)):  # as after loading: nothing is kept yet
            firsts.append(seconds(partial(ask, loaded)))
        rounds = [[seconds(partial(ask, each)) for each in (base, network)] for _ in range(N_ROUNDS)]
        times.append(np.min(rounds, axis=0))
    best, first = 1e3 * np.array(times), 1e3 * np.median(np.reshape(firsts, (-1, 2)), axis=0)
    ratios = best[:, 1] / best[:, 0]
    without, with_rule = np.median(best, axis=0)
    return (
        f"| {n_asked} | {n_given} | {without:.2f} | {with_rule:.2f} | {np.median(ratios):.1f} "
        f"| {ratios.max():.1f} | {first[0]:.1f} | {first[1]:.1f} |"
    )


def seconds(call: Callable[[], Any]) -> float:
    """Return the processor time of a call."""
    before = process_time()
    call()
    return process_time() - before


def paired(one: Callable[[], Any], other: Callable[[], Any], limit: float) -> tuple[float, float]:
    """Return the best times of two calls that take turns, after one call each."""
    one(), other()
    best, started = [np.inf, np.inf], process_time()
    while process_time() - started < limit:
        for place, call in enumerate((one, other)):
            best[place] = min(best[place], seconds(call))
    return best[0], best[1]


def told(name: str, without: float, with_rules: float) -> str:
    """Return a row of a table."""
    return f"| {name} | {1e3 * without:.2f} | {1e3 * with_rules:.2f} | {with_rules / without:.2f} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each line")
    limit = parser.parse_args().seconds
    table = articles()
    network = fit_network(table, learn(table))
    base, row = network.without_rules(), dict(zip(NAMES, next(iter(table.rows())), strict=True))
    print(
        "| digits asked | given | without the rule, ms | with it, ms | ratio, median | ratio, largest "
        "| first call, ms, without | with it |\n|---|---|---|---|---|---|---|---|"
    )
    network.query(NAMES[0]), base.query(NAMES[0])
    for n_asked, n_given in QUESTIONS:
        print(asked(network, row, n_asked, n_given), flush=True)
    print("\n| a network of 13 digits | without its rule, ms | with it | ratio |\n|---|---|---|---|")
    for name, ask in other_calls(table).items():
        pair = paired(lambda ask=ask: ask(base), lambda ask=ask: ask(network), limit)  # type: ignore[misc]
        print(told(name, *pair), flush=True)
    print("\n| learn | without rules, ms | with them | ratio |\n|---|---|---|---|")
    for name, source in (
        ("music box, 2,000 rows", music_box().joint.sample_table(2000, seed=1)),
        ("20 fair bits, 2,000 rows", noise(20, 2)),
        ("8 digits, 2,000 rows", noise(8, 10)),
        ("300 fair bits, 5,000 rows", noise(300, 2, 5000)),
        ("300 bits, 5,000 rows, 3 parities of 6", binary_table(300, 3, 6)),
        ("1,000 bits, 5,000 rows, 20 parities of 6", binary_table(1000, 20, 6)),
        ("13 digits of article numbers, 3,000 rows", table),
    ):
        calls = [lambda source=source, find=find: learn(source, find_rules=find) for find in (False, True)]
        print(told(name, *paired(calls[0], calls[1], limit)), flush=True)


if __name__ == "__main__":
    main()
