"""The strongest links in words: rates of a pair, and how much of them comes by way of other columns."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from xordal import CategoricalTable, Constraints, learn
from xordal.report.links import strongest_links
from xordal.report.map import map_of
from xordal.report.summary import summarise

WEIGHTS = {  # men apply where most are admitted, women where few are; in either department they fare alike
    ("easy", "man", "yes"): 600,
    ("easy", "man", "no"): 300,
    ("easy", "woman", "yes"): 90,
    ("easy", "woman", "no"): 30,
    ("hard", "man", "yes"): 60,
    ("hard", "man", "no"): 300,
    ("hard", "woman", "yes"): 200,
    ("hard", "woman", "no"): 700,
}


def shared(counts: np.ndarray) -> float:
    """Return what rows and columns of two levels share beyond chance, in bits."""
    shares = counts / counts.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return float(((shares * np.log(shares / expected)).sum() - 1 / (2 * counts.sum())) / log(2))


def words_of(table: CategoricalTable) -> dict[frozenset[str], str]:
    names = table.names
    every = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    network = learn(table, constraints=Constraints(required=every)).network(smoothing=0)
    return {
        frozenset(link.heading.split(" - ")): link.words for link in strongest_links(network, map_of(network))
    }


def test_a_pair_that_owes_most_to_a_third_column_says_so() -> None:
    table = CategoricalTable.from_rows(["dept", "sex", "admitted"], list(WEIGHTS), list(WEIGHTS.values()))
    cells = np.array(list(WEIGHTS.values()), dtype=float).reshape(2, 2, 2)
    alone = shared(cells.sum(axis=0))
    given = sum(shared(each) * each.sum() for each in cells) / cells.sum()
    assert given < alone / 2
    words = words_of(table)
    assert words[frozenset({"sex", "admitted"})].endswith(
        f"; most of this is by way of dept: given it, {given:.3f} of {alone:.3f} bits are left"
    )
    assert "by way of" not in words[frozenset({"dept", "admitted"})]
    assert "by way of" not in words[frozenset({"dept", "sex"})]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_said_exactly_where_less_than_half_is_left(seed: int) -> None:
    cells = np.random.default_rng(seed).integers(20, 400, (2, 2, 2))
    rows = [(f"a{a}", f"b{b}", f"c{c}") for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    words = words_of(CategoricalTable.from_rows(["a", "b", "c"], rows, cells.ravel().tolist()))
    for axis, pair in enumerate(({"b", "c"}, {"a", "c"}, {"a", "b"})):
        each = np.moveaxis(cells, axis, 0)
        given = sum(shared(one) * one.sum() for one in each) / cells.sum()
        assert ("by way of" in words[frozenset(pair)]) == (2 * given < shared(each.sum(axis=0)))


def test_links_of_a_network_whose_groups_were_not_looked_for_are_all_told() -> None:
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    table = CategoricalTable.from_rows(["a", "b", "c"], rows)
    without = summarise(learn(table, find_groups=False).network())
    assert len(without.strongest_links) == 3
    assert summarise(learn(table).network()).strongest_links == ()  # all three are hidden in the group
