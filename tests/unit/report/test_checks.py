"""Marks are computed; an item is as good as its worst comparison."""

from __future__ import annotations

import json

from xordal.report.paper.checks import Check, Grid, Item, Summary, compare, holds

EQUAL = Check("a", "1", "1", "equal")
SAMPLED = Check("b", "1", "1.1", "equal up to sampling")
DIFFERENT = Check("c", "1", "2", "different", "because")


def item(*checks: Check) -> Item:
    return Item("key", "Table 0", "A title", checks)


def test_a_reason_is_given_only_for_a_difference() -> None:
    assert compare("n", 1, 1, why="because") == Check("n", "1", "1", "equal")
    assert compare("n", 1, 2, why="because") == Check("n", "1", "2", "different", "because")
    assert holds("it is so", True, "seen", why="because") == Check("it is so", "holds", "seen", "equal")
    assert holds("it is so", False, "seen", why="because") == Check(
        "it is so", "holds", "does not hold", "different", "because"
    )
    assert holds("it is so", False, "seen", otherwise="broken").ours == "broken"


def test_an_item_carries_its_worst_mark() -> None:
    assert item(EQUAL).mark == "equal"
    assert item(SAMPLED, EQUAL).mark == "equal up to sampling"
    assert item(EQUAL, DIFFERENT, SAMPLED).mark == "different"


def test_a_summary_counts_and_lists_differences() -> None:
    first, second = item(EQUAL, EQUAL), item(SAMPLED, DIFFERENT)
    summary = Summary((first, second))
    assert summary.counts() == {"equal": 2, "equal up to sampling": 1, "different": 1}
    assert summary.differences() == ((second, DIFFERENT),)


def test_a_summary_is_plain_json() -> None:
    grid = Grid.of("Squares", "of|is#", [(2, 4)])
    summary = Summary((Item("key", "Table 0", "A title", (DIFFERENT,), grids=(grid,)),))
    told = json.loads(json.dumps(summary.to_json()))
    assert told["items"][0]["mark"] == "different"
    assert told["items"][0]["grids"][0]["rows"] == [["2", "4"]]
