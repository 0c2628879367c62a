"""What columns look like: every kind of odd column has a word for people."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import numpy as np

import xordal
from xordal.data.column import from_values, nested
from xordal.data.dialect import TextFormat
from xordal.data.read import columns_from
from xordal.data.suspects import Kind
from xordal.report.overview import overview_of
from xordal.web.overview import _ODD, overview

PAGE = Path(xordal.__file__).parent / "web" / "static" / "look.js"
PARTS = Path(__file__).parents[3] / "docs" / "tables" / "parts.csv"


def test_every_kind_has_its_words_here_and_in_the_page() -> None:
    assert set(_ODD) == set(get_args(Kind))
    line = re.search(r"const KINDS = \{(.*?)\};", PAGE.read_text(encoding="utf-8"))
    assert line is not None
    assert all(kind in line[1] for kind in get_args(Kind))


def test_a_table_as_people_have_it() -> None:
    found = overview(columns_from(PARTS, TextFormat())[0])
    taken = [column["name"] for column in found["columns"] if column["taken"]]
    assert taken == ["line", "supplier", "shift", "oven_temp", "pressure", "defect"]
    assert found["settings"]["bins"] == 4
    spread = {column["name"]: column["spread"] for column in found["columns"] if column["spread"]}
    assert spread == {"oven_temp": ["172.9", "181", "190.7"], "pressure": ["1057", "1250", "1426"]}
    assert found["n_incomplete"] == sum(n_rows for _, n_rows in found["gaps"])


def test_rows_are_counted_by_the_columns_that_they_miss() -> None:
    draw = np.random.default_rng(0)
    blank = draw.random((12, 300)) < np.linspace(0, 0.3, 12)[:, None]
    columns = [
        from_values(f"x{v}", [None if gone else n % 3 for n, gone in enumerate(row)])
        for v, row in enumerate(blank)
    ]
    gaps = overview(columns)["gaps"]
    for taken in ({0}, {1, 5}, {2, 3, 11}, set(range(12))):
        told = sum(n_rows for missing, n_rows in gaps if taken & set(missing))
        assert told == int(blank[sorted(taken)].any(axis=0).sum())
    many = [from_values(f"x{v}", [None if n >> v & 1 else 0 for n in range(2048)]) for v in range(11)]
    assert overview(many)["gaps"] is None  # 2,047 sets of columns: the page then tells of all columns


def test_words_that_may_stand_for_a_missing_value_are_counted() -> None:
    columns = [from_values("a", ["x", "-", "-", "y"]), from_values("b", ["-", "Unknown", "p", "q"])]
    found = overview([*columns, from_values("c", [1, 2, 1, 2])])["blanks"]
    assert found == [
        {"word": "-", "n_cells": 3, "n_columns": 2, "is_far": False},
        {"word": "Unknown", "n_cells": 1, "n_columns": 1, "is_far": False},
    ]


def told_codes(**columns: list[object]) -> list[tuple[str, int]]:
    """Return the numbers that may stand for a missing value, and in how many cells."""
    found = overview([from_values(name, values) for name, values in columns.items()])["blanks"]
    return [(one["word"], one["n_cells"]) for one in found if one["is_far"]]


def test_numbers_that_may_stand_for_a_missing_one_lie_far_off_the_others() -> None:
    ages = list(range(18, 99))
    assert told_codes(age=[*ages, 999, 999]) == [("999", 2)]
    assert told_codes(age=[*map(str, ages), "999", "-", "999"]) == [("999", 2)]
    assert told_codes(weight=[61.5, 80.25, 999.0, 999.0, 70.0]) == [("999", 2)]
    assert told_codes(answer=[1, 2, 2, 1, 8, 8, 9, 9, 9]) == [("8", 2), ("9", 3)]
    assert told_codes(age=[*ages, 99, 99]) == []  # a number among others
    assert told_codes(age=[*ages, 999]) == []  # once: maybe a slip
    assert told_codes(grade=[1, 2, 99, 99], age=[*ages, 99, 99]) == []  # in one of the two a number
    assert told_codes(code=[0, 9, 9, 0], word=["a", "99", "99", "b"]) == []  # two values; and no numbers
    assert told_codes(scale=[*range(11), 7, 8, 9]) == []


def test_counts_of_rows_are_used_as_such() -> None:
    columns = [from_values("a", ["x", "y"]), from_values("Freq", [3, 4])]
    assert overview(columns)["settings"]["weights"] == "Freq"


def test_a_column_of_lists_is_told_and_misses_nothing() -> None:
    columns = [nested("tags", 3, "lists"), from_values("a", ["x", "y", "x"]), from_values("b", [1, 2, 2])]
    found = overview(columns)
    tags = found["columns"][0]
    assert (tags["odd"], tags["taken"], tags["n_missing"], found["n_incomplete"]) == ("nested", False, 0, 0)
    assert found["gaps"] == []
    table = overview_of(columns)
    assert (table.rows[0], table.missing["tags"]) == (("(lists)", "x", "1"), 0)
