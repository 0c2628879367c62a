"""Columns that say the same are found, and one of them stands for all."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings

from tests.examples import some
from tests.oracle.plain import copies_by_the_letter
from tests.strategies import tables
from xordal import BIC, CategoricalTable, Constraints, learn
from xordal.data.copies import copies
from xordal.formats.json import to_json
from xordal.formats.text import network_lines


@settings(max_examples=some(200))
@given(tables(max_variables=7))
def test_copies_are_those_of_the_definition(table: CategoricalTable) -> None:
    assert copies(table) == copies_by_the_letter(table)


def test_rows_that_count_several_times() -> None:
    table = CategoricalTable.from_columns({"a": [0, 1, 2], "b": [5, 4, 3]}, weights=[1, 2, 1])
    assert copies(table) == ((0, 1),)
    assert copies(CategoricalTable.from_columns({"a": [0, 1, 2], "b": [5, 4, 3]})) == ()


def parity_with_copies() -> CategoricalTable:
    a, b = np.random.default_rng(4).integers(2, size=(2, 400))
    names = np.array(["no", "yes"])
    columns = {"A": names[a], "a": a, "b": b, "c": a ^ b, "C": names[1 - (a ^ b)]}
    return CategoricalTable.from_columns({name: column.tolist() for name, column in columns.items()})


def test_the_first_stands_for_all() -> None:
    learned = learn(parity_with_copies(), max_variables=4)
    assert learned.copies == ((0, 1), (3, 4))
    assert set(learned.links) == {(0, 1), (0, 2), (0, 3), (2, 3), (3, 4)}
    assert learned.submodels is not None
    assert [learned.names(group.variables) for group in learned.submodels] == [("A", "b", "c")]
    assert json.loads(json.dumps(to_json(learned)))["copies"] == [["A", "a"], ["c", "C"]]
    assert "  a says the same as A in every row, and is linked with nothing else" in network_lines(learned)


def test_a_copy_may_be_required_and_a_score_takes_any() -> None:
    table = parity_with_copies()
    assert (1, 2) in learn(table, constraints=Constraints(required=[("a", "b")])).links
    assert learn(table, criterion=BIC()).copies == ((0, 1), (3, 4))
