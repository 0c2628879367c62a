"""Rules that are known beforehand: circuits, checksums and article numbers, by the user's calls.

``python -m benchmarks.rules.known`` prints a table. c499 is read from the folder ``XORDAL_DATA``; its lines are
left out where that is not set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from xordal import learn
from xordal.data.read import read_table
from xordal.data.table import CategoricalTable
from xordal.learning.fitting import fit_network
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.zoo import crc, ean_13
from xordal.pi.zoo.codes import checksum
from xordal.rules.finding import find_rules
from xordal.types.varsets import members

N_ROWS = 2_000


def circuit(noise: float) -> tuple[CategoricalTable, set[tuple[int, ...]]]:
    """Return 2,000 rows of c499, one value flipped in a share of them, and the columns of its ten gates."""
    folder = Path(os.environ["XORDAL_DATA"]) / "circuits"
    table = read_table(folder / "c499_parity_tree_sim20k.csv")
    gates = json.loads((folder / "c499_parity_tree_truth.json").read_text(encoding="utf-8"))["xor"]
    number = {name: v for v, name in enumerate(table.names)}
    generator = np.random.default_rng(1)
    codes = table.codes[:, :N_ROWS].copy()
    wrong = np.flatnonzero(generator.random(N_ROWS) < noise)
    codes[generator.integers(table.n_variables, size=len(wrong)), wrong] ^= 1
    wanted = {tuple(sorted(number[name] for name in (out, *gate))) for out, gate in gates.items()}
    return CategoricalTable(table.names, table.levels, np.ascontiguousarray(codes, dtype=np.int32)), wanted


def told_by(table: CategoricalTable, max_links: int) -> set[tuple[int, ...]]:
    """Return the columns of the rules and of the parities of hidden groups that learning tells."""
    learned = learn(table, max_links=max_links)
    groups = {members(g.variables) for g in learned.submodels or () if g.rule is not None and g.rule.additive}
    return groups | {rule.variables for rule in learned.rules}


def of_c499() -> Iterator[tuple[str, str]]:
    """Yield what is found of the gates of c499."""
    for noise in (0.0, 0.02):
        table, wanted = circuit(noise)
        found = {rule.variables for rule in find_rules(table)}
        yield (
            f"c499, {noise:.0%} of rows with a wrong value, `find_rules`",
            f"{len(found & wanted)} of {len(wanted)} gates",
        )
        for k in (1, 2, 3):
            hits = len(told_by(table, k) & wanted)
            yield (
                f"c499, {noise:.0%} of rows with a wrong value, `learn`, k = {k}",
                f"{hits} of {len(wanted)} gates",
            )


def of_crc() -> tuple[str, str]:
    """Return what is found of CRC-8 of 64-bit frames: the space of its relations."""
    model = crc(bits=64)
    rows, _ = model.draw(N_ROWS, 1)
    found = find_rules(CategoricalTable.from_rows(model.variables, rows))
    vectors = np.zeros((len(found), 72), dtype=np.int64)
    for vector, rule in zip(vectors, found, strict=True):
        vector[list(rule.variables)] = 1
    wanted = np.hstack([checksum(np.eye(64, dtype=np.int64), (8, 2, 1, 0)), np.eye(8, dtype=np.int64)])
    both = [rank(vectors), rank(wanted), rank(np.vstack([vectors, wanted]))]
    return "CRC-8 of 64-bit frames", f"dimensions of found, true and both together: {both}"


def rank(vectors: np.ndarray) -> int:
    """Return the rank modulo 2."""
    rows, found = [int("".join(map(str, row)), 2) for row in vectors.tolist()], 0
    while rows:
        pivot = max(rows)
        rows.remove(pivot)
        if pivot:
            found += 1
            rows = [row ^ pivot if row.bit_length() == pivot.bit_length() else row for row in rows]
    return found


def of_article_numbers() -> Iterator[tuple[str, str]]:
    """Yield how a network of article numbers, 1 % of them mistyped, fills in and draws digits."""
    model = ean_13(errors=Fraction(1, 100), split=1)
    rows, errors = model.draw(5_000, 1)
    table = CategoricalTable.from_rows(model.variables, rows)
    network = fit_network(table, learn(table))
    wrong = {error.row for error in errors}
    right = [row for number, row in enumerate(rows) if number not in wrong]
    yield "EAN-13, each digit of each right number missing in turn", filled_in(network, right)
    (rule,) = network.rules
    drawn = network.sample(100_000, seed=1)
    codes = np.stack([
        np.array([levels.index(level) for level in own])[column]
        for levels, own, column in zip(network.levels, drawn.levels, drawn.codes, strict=True)
    ])  # fmt: skip
    obeyed = 1 - rule.breaks(codes).mean()
    yield "EAN-13, rows that obey the rule", f"{rule.rule.holds:.2%} of the data, {obeyed:.2%} of 100,000 drawn"


def filled_in(network: DecomposableMarkovNetwork, rows: list[tuple[str, ...]]) -> str:
    """Return in how many cells the missing digit is right; the last row keeps it, so that a column has some."""
    columns = {name: [row[at] for row in rows] for at, name in enumerate(network.variables)}
    hits = 0
    for name in network.variables:
        given = {**columns, name: [None] * (len(rows) - 1) + [columns[name][-1]]}
        filled = network.impute(given)
        at = network.variables.index(name)
        told = np.array(filled.levels[at], dtype=object)[filled.codes[at]]
        hits += int((told == np.array(columns[name], dtype=object))[:-1].sum())
    return f"{hits:,} of {(len(rows) - 1) * len(network.variables):,} right"


def main() -> None:
    """Print the table."""
    print("| table | found |\n|---|---|")
    if os.environ.get("XORDAL_DATA"):
        for line in of_c499():
            print(f"| {line[0]} | {line[1]} |", flush=True)
    for line in (of_crc(), *of_article_numbers()):
        print(f"| {line[0]} | {line[1]} |", flush=True)


if __name__ == "__main__":
    main()
