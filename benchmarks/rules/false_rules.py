"""How often rules are found that are none: the numbers of docs/benchmarks/rules.md.

Tables of mixed kinds are drawn: independent columns, chains, columns that share a hidden cause, and with
them what real tables hold: a column that is a function of another, totals, dates, one-hot columns, each
also with errors, and columns that follow from two others and are no sum of them. The only rule modulo a number
in them is that of the day of the week, modulo 7. A rule is false if it is modulo anything else, or if it does
not hold in fresh rows of the same kind: if there it gains less than half of what it was told to gain on chance.

``python -m benchmarks.rules.false_rules --tables 1000`` prints the table; ``-o FILE`` writes it. With
``--learn`` the rules are those of networks that are learned, at a twentieth of the level.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.formats.additive import evidence_text, rule_words
from xordal.formats.additive import told as told_rules
from xordal.learning.learn import learn
from xordal.rules.finding import FoundRules, find_rules
from xordal.types.rules import AdditiveRule

Columns = dict[str, NDArray[np.int64]]
SEED = 20_000
WEEKDAY = "weekday"


def noise(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return independent columns of different numbers of levels, even and skewed."""
    found = {}
    for place in range(structure.integers(2, 9)):
        levels = int(structure.choice([2, 2, 3, 4, 6, 10, 12]))
        shares = structure.dirichlet(np.full(levels, structure.choice([0.5, 2.0, 50.0])))
        found[f"noise{place}"] = generator.choice(levels, size=n, p=shares)
    return found


def chain(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return columns each of which depends on the one before."""
    levels, length = int(structure.integers(2, 6)), int(structure.integers(3, 7))
    found = {"chain0": generator.integers(levels, size=n)}
    for place in range(1, length):
        table = structure.dirichlet(np.full(levels, 0.4), size=levels)
        before = found[f"chain{place - 1}"]
        chances = table[before].cumsum(axis=1)
        found[f"chain{place}"] = (generator.random(n)[:, None] > chances).sum(axis=1).clip(0, levels - 1)
    return found


def hidden_cause(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return binary columns that share a hidden cause."""
    cause = generator.normal(size=n)
    pulls = structure.uniform(0.3, 2.5, size=structure.integers(3, 9))
    return {
        f"item{k}": (pull * cause + generator.normal(size=n) > 0).astype(np.int64)
        for k, pull in enumerate(pulls)
    }


def function(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return a column and a function of it, perhaps with errors."""
    levels, classes = int(structure.integers(4, 25)), int(structure.integers(2, 6))
    of = structure.integers(classes, size=levels)
    city = generator.integers(levels, size=n)
    wrong = generator.random(n) < structure.choice([0.0, 0.0, 0.02, 0.1])
    return {"city": city, "country": np.where(wrong, generator.integers(classes, size=n), of[city])}


def function_of_two(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return two columns and what is no sum of them: the larger, the mean, a comparison, any table."""
    levels = int(structure.integers(3, 13))
    one, two = generator.integers(levels, size=(2, n))
    table = structure.integers(structure.integers(2, 6), size=(levels, levels))
    of = [
        np.maximum(one, two), (one + two) // 2, (one < two) * 1, ((one == 0) | (two == 0)) * 1, table[one, two],
    ][structure.integers(5)]  # fmt: skip
    wrong = generator.random(n) < structure.choice([0.0, 0.0, 0.02])
    return {"one": one, "two": two, "of both": np.where(wrong, generator.permutation(of), of)}


def total(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return numbers and their total, perhaps with errors."""
    parts = {
        f"part{k}": generator.integers(structure.integers(3, 9), size=n)
        for k in range(structure.integers(2, 4))
    }
    wrong = generator.random(n) < structure.choice([0.0, 0.0, 0.02])
    return {**parts, "total": sum(parts.values()) + wrong * generator.integers(1, 3, size=n)}


def dates(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return the parts of random dates of some years."""
    first, years = date(int(structure.integers(1990, 2020)), 1, 1), int(structure.integers(1, 6))
    days = [first + timedelta(days=int(day)) for day in generator.integers(365 * years, size=n)]
    return {
        "year": np.array([day.year for day in days]),
        "month": np.array([day.month for day in days]),
        "day": np.array([day.day for day in days]),
        WEEKDAY: np.array([day.weekday() for day in days]),
        "quarter": np.array([(day.month - 1) // 3 for day in days]),
    }


def one_hot(generator: np.random.Generator, structure: np.random.Generator, n: int) -> Columns:
    """Return indicators of the levels of a column that is not among them, perhaps with errors."""
    levels = int(structure.integers(3, 8))
    chosen = generator.choice(levels, size=n, p=structure.dirichlet(np.full(levels, 3.0)))
    wrong = structure.choice([0.0, 0.0, 0.01])
    return {f"is{k}": (chosen == k) ^ (generator.random(n) < wrong) for k in range(levels)}


KINDS = (noise, chain, hidden_cause, function, total, dates, one_hot, function_of_two)


def drawn(seed: int, sample: int) -> CategoricalTable:
    """Return a table: its kinds and their parameters follow from the seed, its rows from the sample too."""
    structure = np.random.default_rng(seed)
    kinds = [
        noise,
        *structure.choice(np.array(KINDS[1:], dtype=object), size=structure.integers(1, 4), replace=False),
    ]
    n = int(structure.choice([200, 500, 1000, 3000])) if sample == 0 else 3000
    columns: Columns = {}
    for place, kind in enumerate(kinds):
        own = np.random.default_rng([seed, place])
        columns |= kind(np.random.default_rng([seed, place, sample]), own, n)
    return CategoricalTable.from_columns({name: values.tolist() for name, values in columns.items()})


def holds_in(fresh: CategoricalTable, found: FoundRules, rule: AdditiveRule) -> float:
    """Return the share of fresh rows that obey a rule; a level that was not seen breaks it."""
    sums = np.full(fresh.n_rows, rule.constant, dtype=np.float64)
    for v, values in zip(rule.variables, rule.functions, strict=True):
        of = {
            level: np.nan if value is None else value
            for level, value in zip(found.levels[v], values, strict=True)
        }
        own = np.array([of.get(level, np.nan) for level in fresh.levels[v]], dtype=np.float64)
        sums += own[fresh.codes[v]]
    zero = (sums % rule.modulus if rule.modulus else sums) == 0
    return float(zero.mean())


def sentence(found: FoundRules, rule: AdditiveRule) -> str:
    """Return a rule in words, to be looked at."""
    return f"{rule_words(found, rule)}; {evidence_text(rule)}"


def learned_rules(table: CategoricalTable) -> FoundRules:
    """Return the rules of a network that is learned with the default settings."""
    return told_rules(learn(table))


def false_rules(seed: int, find: Callable[[CategoricalTable], FoundRules] = find_rules) -> list[str]:
    """Return what is false of the rules found in one table."""
    found = find(drawn(seed, 0))
    fresh = drawn(seed, 1)
    told = []
    for rule in found:
        names = found.names(rule)
        gain = rule.holds - rule.by_chance
        if rule.modulus and not (rule.modulus == 7 and WEEKDAY in names):
            told.append(f"modulo {rule.modulus}: {sentence(found, rule)}")
        elif holds_in(fresh, found, rule) - rule.by_chance < gain / 2:
            told.append(f"does not hold again: {sentence(found, rule)}")
    return told


def interval(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    p, z = k / n, 1.96
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def page(n_tables: int, seed: int = SEED, *, by_learning: bool = False) -> str:
    """Measure and return the page."""
    n_false, kinds = 0, Counter[str]()
    for k in range(n_tables):
        try:
            told = false_rules(seed + k, learned_rules if by_learning else find_rules)
        except DataError:
            told = []  # too short for its unknowns: nothing is claimed
        n_false += bool(told)
        kinds.update({each.split(":")[0] for each in told})
        if told or k % 50 == 49:
            print(seed + k, told, f"{n_false} of {k + 1}", flush=True)
    low, high = interval(n_false, n_tables)
    lines = [
        f"{n_false} of {n_tables} tables with a false rule: {n_false / n_tables:.1%} "
        f"(95 % interval {low:.1%} to {high:.1%}); at most 5 % are promised. "
        f"Seeds {seed} to {seed + n_tables - 1}.",
        "",
        *(f"- {kind}: {count} tables" for kind, count in kinds.most_common()),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--learn", action="store_true", help="the rules of learn() instead of find_rules()")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    text = page(given.tables, given.seed, by_learning=given.learn)
    print(text)
    if given.output:
        given.output.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
