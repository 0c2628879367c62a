"""Groups by size: listed at every number of rows, what follows is not, interactions are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.recovery.hidden_groups import additive, drawn, leaky_xor, planted
from xordal import CategoricalTable, Learned, learn
from xordal.formats.json import to_json
from xordal.formats.text import network_lines
from xordal.pi import by_size
from xordal.types.groups import Submodel


def listed(learned: Learned) -> list[tuple[str, ...]]:
    return [learned.names(group.variables) for group in learned.submodels or ()]


@pytest.mark.parametrize("n_rows", [1_000, 100_000, 10_000_000])
@pytest.mark.parametrize("share", [0.001, 0.025])
def test_a_leaky_group_does_not_disappear_when_rows_are_added(n_rows: int, share: float) -> None:
    learned = learn(drawn(planted(share), n_rows, seed=1))
    assert listed(learned) == [("x0", "x1", "x2")]
    (group,) = learned.submodels or ()
    assert group.share is not None and group.share.estimate == pytest.approx(1 - share, abs=0.02)
    if n_rows > 1_000:
        assert group.kind == "full"


def test_by_the_letter_it_does() -> None:
    table = drawn(planted(0.025), 100_000, seed=1)
    found = learn(table, hidden_by="letter")
    assert found.settings["hidden_by"] == "letter"
    assert all(group.kind != "full" for group in found.submodels or ())


@pytest.mark.parametrize("seed", range(5))
def test_no_group_where_effects_add_up(seed: int) -> None:
    assert listed(learn(drawn(additive((1.5, 1.0, 0.7), (2, 2, 2)), 20_000, seed))) == []


def test_sets_that_follow_are_counted_and_not_listed() -> None:
    """c = a xor b, e = c xor d: two groups; a, b, d and e, and all five, follow from them."""
    generator = np.random.default_rng(0)
    a, b, d = generator.integers(0, 2, (3, 4000))
    c = a ^ b ^ (generator.random(4000) < 0.03)
    e = c ^ d ^ (generator.random(4000) < 0.03)
    table = CategoricalTable.from_columns(
        {n: v.tolist() for n, v in zip("abcde", (a, b, c, d, e), strict=True)}
    )
    learned = learn(table, max_variables=5)
    assert sorted(listed(learned)) == [("a", "b", "c"), ("c", "d", "e")]


def test_an_interaction_that_turns_a_relation_round_is_told_apart() -> None:
    """Ill: 86 % of the treated without the gene and 10 % with it, and the other way round for the others."""
    shares = {(0, 0): 0.2, (1, 0): 0.86, (0, 1): 0.75, (1, 1): 0.10}
    generator = np.random.default_rng(0)
    gene = (generator.random(3000) < 0.25).astype(int)
    treated = (generator.random(3000) < 0.6).astype(int)
    chance = np.array([shares[t, g] for t, g in zip(treated, gene, strict=True)])
    ill = (generator.random(3000) < chance).astype(int)
    columns = {"treated": treated, "gene": gene, "ill": ill}
    learned = learn(CategoricalTable.from_columns({name: column.tolist() for name, column in columns.items()}))
    (group,) = learned.submodels or ()
    assert group.kind in ("interaction", "partial") and group.turned is not None
    assert group.share is not None and group.share.low > 0.05 and group.share.high < 1
    assert group.rule is not None and group.rule.kind == "rates"
    assert "ill = " in "\n".join(network_lines(learned))


def test_numbers_and_rank_are_of_the_hidden_part() -> None:
    """Two columns that say nearly the same beside a weak exclusive-or: the group is told by the weak part."""
    learned = learn(drawn(leaky_xor(0.45, 0.3), 50_000, seed=0))
    for group in learned.submodels or ():
        assert isinstance(group, Submodel) and group.hidden is not None
        assert group.size == group.hidden < 0.5 * group.total_correlation


def bits(columns: dict[str, np.ndarray]) -> CategoricalTable:
    return CategoricalTable.from_columns({name: column.tolist() for name, column in columns.items()})


def test_the_parts_of_a_skewed_parity_follow_from_it() -> None:
    """Levels of unequal chance: each four of the five depend on each other, and so do some triples."""
    generator = np.random.default_rng(1)
    drawn = (generator.random((4, 20_000)) < [[0.25], [0.3], [0.2], [0.35]]).astype(int)
    parity = drawn.sum(axis=0) % 2
    learned = learn(bits({f"x{v}": column for v, column in enumerate((*drawn, parity))}), max_variables=5)
    assert listed(learned) == [("x0", "x1", "x2", "x3", "x4")]
    assert learned.n_following > 5


def test_columns_with_a_common_cause_are_no_group() -> None:
    """Given c the others are independent; without it they seem to interact, and the pairs with c explain it."""
    generator = np.random.default_rng(2)
    c = generator.integers(0, 3, 20_000)
    chances = np.array([0.1, 0.45, 0.9])[c]
    columns = {name: (generator.random(20_000) < chances).astype(int) for name in "uvwxyz"}
    learned = learn(bits({**columns, "c": c}))
    assert listed(learned) == []


@pytest.mark.parametrize("n_columns", [pytest.param(9, marks=pytest.mark.slow), 15])
def test_a_fact_inside_a_rule_is_listed_beside_it(n_columns: int) -> None:
    """Skewed bits whose sum is even, three of which have only five of their eight combinations."""
    generator = np.random.default_rng(3)
    chances = np.linspace(0.1, 0.3, n_columns - 1)[:, None]
    drawn = (generator.random((n_columns - 1, 30_000)) < chances).astype(int)
    five = np.array([[0, 0, 1, 1, 1], [0, 1, 0, 1, 1], [0, 1, 1, 0, 1]])
    drawn[:3] = five[:, generator.integers(0, 5, 30_000)]
    columns = (*drawn, drawn.sum(axis=0) % 2)
    learned = learn(bits({f"x{v}": column for v, column in enumerate(columns)}))
    assert tuple(range(n_columns)) in [rule.variables for rule in learned.rules]
    assert listed(learned) == [("x0", "x1", "x2")]


def test_after_many_groups_weaker_sets_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_size, "MOST_LISTED", 1)
    generator = np.random.default_rng(4)
    a, b, d = generator.integers(0, 2, (3, 4000))
    c = a ^ b ^ (generator.random(4000) < 0.03)
    e = c ^ d ^ (generator.random(4000) < 0.2)
    learned = learn(bits(dict(zip("abcde", (a, b, c, d, e), strict=True))), max_variables=5)
    assert listed(learned) == [("a", "b", "c")]
    assert learned.n_unexamined > 0
    assert "not looked into" in "\n".join(network_lines(learned))
    assert to_json(learned)["sets_not_examined"] == learned.n_unexamined


def few_rows_of_a_law(seed: int, is_broken: bool = False) -> CategoricalTable:
    """Return three rows of each cell of a year, a month and a residue, and the weekday that these make."""
    generator = np.random.default_rng(seed)
    starts = generator.integers(0, 7, 4)
    year, month, day = (axis.ravel().repeat(3) for axis in np.indices((4, 6, 7)))
    weekday = (starts[year] + generator.integers(0, 7, 6)[month] + day) % 7
    if is_broken:
        weekday = generator.permutation(weekday)
    names = ("year", "month", "day", "weekday")
    return CategoricalTable.from_columns(
        {name: column.tolist() for name, column in zip(names, (year, month, day, weekday), strict=True)}
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_law_without_exception_is_told_with_three_rows_a_cell(seed: int) -> None:
    """A share would need five: the law of a table of days stood on no page."""
    first = (learn(few_rows_of_a_law(seed), max_variables=4).submodels or (None,))[0]
    assert first is not None and first.variables == 0b1111
    assert first.rule is not None and (first.rule.kind, first.rule.is_exact) == ("function", True)


@pytest.mark.parametrize("seed", range(10))
def test_shuffled_columns_obey_no_law_with_three_rows_a_cell(seed: int) -> None:
    assert listed(learn(few_rows_of_a_law(seed, is_broken=True), max_variables=4)) == []
