"""A missing value that is a level has no value in a rule."""

from __future__ import annotations

import numpy as np
import pytest

from xordal.data.read import read_table
from xordal.formats.additive import rule_lines
from xordal.formats.predictions import score_lines
from xordal.learning.learn import learn
from xordal.model.rows import encoded
from xordal.rules.finding import find_rules
from xordal.rules.repair import broken_rows


def with_gaps(share: float, seed: int = 0) -> tuple[dict[str, list[int | None]], int, int]:
    """Return digits with a check digit, some wrong or missing; how many rows break the sum, how many miss."""
    generator = np.random.default_rng(seed)
    digits = generator.integers(0, 10, (2000, 5))
    rows = np.column_stack([digits, digits @ [1, 3, 1, 3, 1] % 10])
    wrong = generator.random(2000) < 0.05
    rows[wrong, 2] = generator.integers(0, 10, wrong.sum())
    gaps = np.asarray(generator.random(rows.shape) < share)
    broken = (rows @ [1, 3, 1, 3, 1, 9] % 10 != 0) & ~gaps.any(axis=1)
    columns = {
        f"d{place}": [None if gap else int(value) for value, gap in zip(column, gap_of, strict=True)]
        for place, (column, gap_of) in enumerate(zip(rows.T, gaps.T, strict=True))
    }
    return columns, int(broken.sum()), int(gaps.any(axis=1).sum())


@pytest.mark.parametrize("share", [0.01, 0.1, 0.2])
def test_a_row_that_misses_a_value_neither_obeys_nor_breaks_a_rule(share: float) -> None:
    columns, n_broken, n_blank = with_gaps(share)
    table = read_table(columns, missing="level", categorical=list(columns))
    (rule,) = find_rules(table).rules
    assert (rule.modulus, rule.n_broken, rule.n_blank) == (10, n_broken, n_blank)
    assert rule.holds == 1 - n_broken / (2000 - n_blank)
    assert all(values[-1] is None for values in rule.functions)
    found = list(broken_rows(table, [rule]))
    assert len(found) == n_broken and all(row.repaired != "(missing)" for row in found)
    network = learn(table).network()
    (placed,) = network.rules
    assert (placed.n_asked, placed.n_broken) == (2000 - n_blank, n_broken)
    scores = network.score_rows(table)
    assert int(scores.breaks.sum()) == n_broken
    assert scores.n_told == (2000 - n_blank,)
    told = score_lines(network, encoded(network, table), scores, top=5)
    is_open = f"; in {n_blank:,} a value is missing or too rare to tell"
    assert f"  broken by {n_broken} rows of {2000 - n_blank:,}{is_open}" in told
    for name, column in columns.items():  # what is missing is as probable as it is in the rows
        assert network.marginals()[name]["(missing)"] == pytest.approx(column.count(None) / 2000, abs=0.002)


def test_rules_are_told_without_the_level_that_is_missing() -> None:
    generator = np.random.default_rng(1)
    bits = generator.integers(0, 2, (1000, 4))
    rows = np.column_stack([bits, bits.sum(axis=1) % 2]).astype(object)
    rows[generator.random(rows.shape) < 0.02] = None
    found = find_rules({f"b{place}": column.tolist() for place, column in enumerate(rows.T)}, missing="level")
    assert [rule.name for rule in found] == ["parity"]
    assert rule_lines(found)[0] == "1. parity: 0, 2 or 4 of these 5 have the value 1: b0, b1, b2, b3, b4"
    assert not any("missing)" in line for line in rule_lines(found))


def test_a_mark_that_is_there_or_not_has_values() -> None:
    bits = np.random.default_rng(2).integers(0, 2, (500, 3))
    rows = np.column_stack([bits, bits.sum(axis=1) % 2])
    marks = {f"b{place}": ["x" if bit else None for bit in column] for place, column in enumerate(rows.T)}
    (rule,) = find_rules(marks, missing="level").rules
    assert (len(rule.variables), rule.n_broken, rule.n_blank) == (4, 0, 0)


def test_a_column_that_is_mostly_missing_hides_no_rule_of_others() -> None:
    columns, n_broken, n_blank = with_gaps(0.02, seed=3)
    generator = np.random.default_rng(3)
    for place in range(4):
        gone = generator.random(2000) < 0.9
        columns[f"e{place}"] = [
            None if gap else int(v) for gap, v in zip(gone, generator.integers(0, 5, 2000), strict=True)
        ]
    (rule,) = find_rules(columns, missing="level").rules
    assert (rule.n_broken, rule.n_blank, len(rule.variables)) == (n_broken, n_blank, 6)


def test_a_function_of_a_column_is_found_where_values_are_missing() -> None:
    generator = np.random.default_rng(4)
    one = generator.integers(0, 6, 1000)
    gaps = generator.random((2, 1000)) < 0.1
    data = {
        "one": [None if gap else str(v) for v, gap in zip(one, gaps[0], strict=True)],
        "two": [None if gap else "abc"[v // 2] for v, gap in zip(one, gaps[1], strict=True)],
    }
    found = find_rules(data, missing="level")
    (rule,) = found.rules
    assert (rule.name, rule.n_broken, rule.n_blank) == ("function", 0, int(gaps.any(axis=0).sum()))
    assert rule_lines(found)[0] == "1. two is a function of one"
