"""Which of sixty number formats are found: the numbers of docs/benchmarks/rules.md.

``python -m benchmarks.rules.identifiers`` prints the table; ``-o FILE`` writes the page. It needs python-stdnum
(extra ``bench``).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.rules.formats import FORMATS, Format
from xordal.data.table import CategoricalTable
from xordal.rules.finding import FoundRules, find_rules

N_ROWS = 5_000
NOISE = 0.01
GOALS = {0.0: 0.9, NOISE: 0.8}


def table_of(number_format: Format, noise: float, seed: int) -> CategoricalTable:
    """Return numbers as one column for each character, one character changed in a share of the rows."""
    generator = np.random.default_rng(seed)
    rows = np.array([list(text) for text in number_format.numbers(N_ROWS, generator)])
    for row in np.flatnonzero(generator.random(N_ROWS) < noise):
        place = generator.integers(rows.shape[1])
        others = [c for c in np.unique(rows[:, place]) if c != rows[row, place]]
        rows[row, place] = generator.choice(others) if others else rows[row, place]
    columns = {f"c{place + 1}": rows[:, place].tolist() for place in range(rows.shape[1])}
    return CategoricalTable.from_columns(columns)


def verdict(found: FoundRules, number_format: Format) -> str:
    """Return "found", or what was found instead.

    The right modulus, and the columns of the rule: all whose weight is not a multiple of it. A column
    of weight 0 is known from the numbers themselves: changing it alone never breaks a number.
    """
    wanted = support_of(number_format)
    for rule in found:
        if rule.modulus == number_format.modulus and set(rule.variables) == wanted:
            return "found"
    return "; ".join(f"mod {rule.modulus} of {len(rule.variables)} columns" for rule in found) or "nothing"


def support_of(number_format: Format) -> set[int]:
    """Return the characters that matter: those whose change makes most of some right numbers wrong."""
    from importlib import import_module

    library = import_module(f"stdnum.{number_format.module}")
    generator = np.random.default_rng(99)
    numbers = number_format.numbers(60, generator)
    width = len(numbers[0])
    n_check = width - number_format.length
    is_front = number_format.how == "front"
    wrong = np.zeros(width)
    for number in numbers:
        for place in range(width):
            other = generator.choice([c for c in number_format.alphabet if c != number[place]])
            changed = number[:place] + other + number[place + 1 :]
            body = changed[n_check:] if is_front else changed[: number_format.length]
            wrong[place] += number_format._completed(library, body) != changed
    return set(np.flatnonzero(wrong > 0.3 * len(numbers)).tolist())


def page(seed: int) -> str:
    """Measure all formats and return the page."""
    lines, n_found = [], dict.fromkeys(GOALS, 0)
    for place, number_format in enumerate(FORMATS):
        told = []
        for noise in GOALS:
            found = find_rules(table_of(number_format, noise, seed=seed + place))
            told.append(verdict(found, number_format))
            n_found[noise] += told[-1] == "found"
        line = f"| {number_format.module} | {number_format.modulus} | {' | '.join(told)} |"
        print(line, flush=True)
        lines.append(line)
    shares = [f"{n_found[noise]} of {len(FORMATS)} (goal {goal:.0%})" for noise, goal in GOALS.items()]
    head = [
        "| format | modulus | random right numbers | one character changed in 1 % of the rows |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *lines, f"| **found** | | {shares[0]} | {shares[1]} |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    text = page(given.seed)
    print(text.splitlines()[-1])
    if given.output:
        given.output.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
