"""Rules that are there are found, with their modulus and columns; what is none is not told."""

from __future__ import annotations

import os
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from xordal.data.split import split_column
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError
from xordal.rules.finding import FoundRules, find_rules, primes_of
from xordal.rules.repair import broken_rows

DATA = os.environ.get("XORDAL_DATA")


def table_of(columns: NDArray[np.int64]) -> CategoricalTable:
    return CategoricalTable.from_columns({f"c{k}": column.tolist() for k, column in enumerate(columns)})


def told(found: FoundRules) -> set[tuple[int, tuple[int, ...]]]:
    return {(rule.modulus, rule.variables) for rule in found}


def isbn(n: int, seed: int) -> list[str]:
    digits = np.random.default_rng(seed).integers(0, 10, (n, 9))
    checks = -(digits * np.arange(10, 1, -1)).sum(axis=1) % 11
    return ["".join(map(str, row)) + "0123456789X"[check] for row, check in zip(digits, checks, strict=True)]


def test_isbn_is_found_named_and_its_x_counts_ten() -> None:
    table, left_out = split_column(
        CategoricalTable.from_columns({"isbn": isbn(600, 0), "shop": ["a", "b"] * 300}), "isbn"
    )
    found = find_rules(table, moduli=[2, 11])
    assert left_out == 0 and told(found) == {(11, tuple(range(10)))}
    rule = found.rules[0]
    assert rule.name == "ISBN-10" and rule.n_broken == 0 and 0.08 < rule.by_chance < 0.13
    assert dict(zip(table.levels[9], rule.functions[9], strict=True))["X"] == 10
    assert [values[1] for values in rule.functions] == list(range(10, 0, -1))


def test_a_typing_error_breaks_the_rule_and_can_be_repaired() -> None:
    digits = np.random.default_rng(1).integers(0, 10, (12, 500))
    check = -(digits * np.array([1, 3] * 6)[:, None]).sum(axis=0) % 10
    columns = np.vstack([digits, check])
    columns[4, 17] = (columns[4, 17] + 1) % 10
    table = table_of(columns)
    found = find_rules(table)
    assert told(found) == {(10, tuple(range(13)))} and found.rules[0].name == "EAN-13"
    (row,) = broken_rows(table, found.rules)
    assert row.row == 17 and row.rules == (0,) and row.n_repairs == 13  # each digit has one that fits
    assert row.column is not None
    columns[row.column, 17] = row.repaired
    assert (columns[:12] * np.array([1, 3] * 6)[:, None] + 0).sum(axis=0)[17] % 10 == -columns[12, 17] % 10


def test_a_folded_remainder_is_found_as_a_rule_that_some_rows_break() -> None:
    digits = np.random.default_rng(2).integers(0, 10, (8, 3000))
    check = (digits * np.arange(8, 0, -1)[:, None]).sum(axis=0) % 11 % 10
    found = find_rules(table_of(np.vstack([digits, check])))
    assert told(found) == {(11, tuple(range(9)))}
    assert 0.89 < found.rules[0].holds < 0.93


def test_luhn_has_functions_that_are_no_weights() -> None:
    digits = np.random.default_rng(3).integers(0, 10, (7, 1500))
    doubled = np.where(digits > 4, 2 * digits - 9, 2 * digits)
    check = -np.where(np.arange(7)[:, None] % 2 == 0, doubled, digits).sum(axis=0) % 10
    found = find_rules(table_of(np.vstack([digits, check])), moduli=[10])
    assert told(found) == {(10, tuple(range(8)))} and found.rules[0].name == "Luhn"


@pytest.mark.parametrize(
    ("prefix", "length", "name"), [("978", 13, "EAN/UPC"), ("4", 13, "EAN/UPC"), ("4", 16, "Luhn")]
)
def test_schemes_have_their_names_where_all_codes_begin_alike(prefix: str, length: int, name: str) -> None:
    """What all codes begin with adds a constant: UPC-A is not the name of EAN-13 without its first digit."""
    digits = np.random.default_rng(5).integers(0, 10, (length - 1, 1500))
    digits[: len(prefix)] = np.array([int(digit) for digit in prefix])[:, None]
    heavy = (np.arange(length - 1)[::-1, None] % 2) == 0
    doubled = np.where(digits > 4, 2 * digits - 9, 2 * digits)
    check = -np.where(heavy, doubled if name == "Luhn" else 3 * digits, digits).sum(axis=0) % 10
    found = find_rules(table_of(np.vstack([digits, check])[len(prefix) :]), moduli=[10])
    assert told(found) == {(10, tuple(range(length - len(prefix))))} and found.rules[0].name == name


def test_a_check_letter_gets_its_table() -> None:
    digits = np.random.default_rng(4).integers(0, 10, (8, 2000))
    number = (digits * 10 ** np.arange(7, -1, -1)[:, None]).sum(axis=0)
    letters = np.array(list("TRWAGMYFPDXBNJZSQVHLCKE"))[number % 23]
    columns = {f"c{k}": column.tolist() for k, column in enumerate(digits)} | {"letter": letters.tolist()}
    found = find_rules(CategoricalTable.from_columns(columns), moduli=[23])
    assert told(found) == {(23, tuple(range(9)))}
    assert len(set(found.rules[0].functions[8])) == 23


def test_a_sum_of_small_numbers_is_told_once() -> None:
    """The sum itself is 7 in most rows; that and the sum modulo other primes follow from the rule modulo 7."""
    a, b, c = np.random.default_rng(5).integers(0, 7, (3, 1500))
    assert told(find_rules(table_of(np.vstack([a, b, c, (a + b + c) % 7])))) == {(7, (0, 1, 2, 3))}


def test_overlapping_parities_are_told_with_few_columns() -> None:
    bits = np.random.default_rng(6).integers(0, 2, (12, 800))
    gates = np.stack([bits[0] ^ bits[1], bits[1] ^ bits[2] ^ bits[3], bits[3] ^ bits[0]])
    found = told(find_rules(table_of(np.vstack([bits, gates]))))
    assert {(2, (0, 1, 12)), (2, (0, 3, 14))} < found and len(found) == 3
    assert found & {
        (2, (1, 2, 3, 13)),
        (2, (2, 12, 13, 14)),
    }  # both have four columns; one follows from the other


def test_totals_functions_and_one_hot_columns_are_told_as_what_they_are() -> None:
    generator = np.random.default_rng(7)
    a, b, city = generator.integers(0, 6, (3, 900))
    chosen = generator.integers(0, 4, 900)
    columns = np.vstack([a, b, a + b, city, city // 2, *(chosen == k for k in range(4))])
    found = find_rules(table_of(columns))
    names = {(rule.name, rule.variables) for rule in found}
    assert names == {("total", (0, 1, 2)), ("function", (3, 4)), ("exactly one", (5, 6, 7, 8))}
    assert all(rule.modulus == 0 and rule.n_broken == 0 for rule in found)


@pytest.mark.parametrize("seed", range(6))
def test_noise_and_chains_obey_no_rule(seed: int) -> None:
    generator = np.random.default_rng(seed)
    columns = list(generator.integers(0, 5, (4, 700)))
    for _ in range(3):
        columns.append(np.where(generator.random(700) < 0.7, columns[-1], generator.integers(0, 5, 700)))
    assert not told(find_rules(table_of(np.stack(columns))))


def test_row_order_and_level_names_change_nothing() -> None:
    digits = np.random.default_rng(8).integers(0, 5, (4, 600))
    columns = np.vstack([digits, (digits * [[1], [2], [3], [4]]).sum(axis=0) % 5])
    before = told(find_rules(table_of(columns), moduli=[5]))
    words = np.array(["ash", "birch", "cedar", "elm", "fir"])[columns[:, ::-1]]
    after = told(
        find_rules(CategoricalTable.from_columns({str(k): w.tolist() for k, w in enumerate(words)}), moduli=[5])
    )
    assert before == after == {(5, (0, 1, 2, 3, 4))}


def test_weights_count_as_repeated_rows() -> None:
    rows = [(a, b, (a + b) % 3) for a in range(3) for b in range(3)]
    weighted = CategoricalTable.from_rows("abc", rows, weights=[20] * 9)
    repeated = CategoricalTable.from_rows("abc", rows * 20)
    (one,), (other,) = find_rules(repeated).rules, find_rules(repeated.distinct()).rules
    assert weighted.n_rows == repeated.n_rows
    assert (
        (one.variables, one.n_rows, one.n_broken)
        == (other.variables, other.n_rows, other.n_broken)
        == ((0, 1, 2), 180, 0)
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": [1, 2] * 50}, "at least two columns that vary"),
        ({"a": [1, 2] * 50, "b": [1] * 100}, "at least two columns that vary"),
        ({"a": [1, 2, 3], "b": [1, 2, 2]}, "common enough|too short"),
        ({"id": list(range(10_000)), "b": [f"x{k}" for k in range(10_000)]}, "common enough"),
    ],
)
@pytest.mark.filterwarnings("ignore::xordal.DataWarning")
def test_tables_in_which_no_rule_can_be_told(table: dict[str, list[int]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        find_rules(table)


def test_a_table_with_fewer_rows_than_unknowns_says_how_many_it_needs() -> None:
    columns = np.random.default_rng(0).integers(0, 2, (60, 40))
    with pytest.raises(DataError, match=r"too short.* 61 unknowns and there are 40 rows"):
        find_rules(table_of(columns))


@pytest.mark.parametrize(
    ("moduli", "message"),
    [
        ([1], "at least 2"),
        ([2.5], "whole number"),
        ([], "at least one"),
        ([1031], "the factor 1031 above 1021, the largest prime"),
        ([9], "divisible by 9.*try 3"),
        ([10**15 + 37], "factors above 1021"),
    ],
)
def test_moduli_that_cannot_be_tried(moduli: list[int], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        primes_of(moduli)


@pytest.mark.skipif(DATA is None, reason="XORDAL_DATA names no folder of data")
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_ten_gates_of_c499(noise: float) -> None:
    from xordal.data.read import read_table

    table = read_table(Path(DATA or "") / "circuits" / "c499_parity_tree_sim20k.csv")
    codes = table.codes[:, :2000].copy()
    generator = np.random.default_rng(0)
    for row in np.flatnonzero(generator.random(2000) < noise):
        codes[generator.integers(len(codes)), row] ^= 1
    found = find_rules(CategoricalTable(table.names, table.levels, codes))
    assert sorted(len(rule.variables) for rule in found) == [3] * 10
    assert {rule.modulus for rule in found} == {2}


def test_the_relations_of_a_crc_are_those_of_its_polynomial() -> None:
    """CRC-8, polynomial x^8 + x^2 + x + 1: each of the eight check bits is a parity of message bits."""
    generator = np.random.default_rng(0)
    message = generator.integers(0, 2, (64, 1500))
    rows = np.vstack([message, crc_8(message)])
    found = find_rules(table_of(rows), moduli=[2], exact=True)
    unit = np.eye(64, dtype=np.int64)
    wanted = np.hstack([crc_8(unit), np.eye(8, dtype=np.int64)])  # row k: the message bits in check bit k
    ours = np.array([[v in rule.variables for v in range(72)] for rule in found], dtype=np.int64)
    from xordal.rules.sparse import echelon

    assert len(ours) == 8 and np.array_equal(echelon(ours, 2), echelon(wanted, 2))


def crc_8(message: NDArray[np.int64]) -> NDArray[np.int64]:
    register = np.zeros((8, message.shape[1]), dtype=np.int64)
    for bit in message:
        out = register[0] ^ bit
        register = np.vstack([register[1:], np.zeros_like(out)[None]])
        register[[7, 6, 5]] ^= out
    return register


@pytest.mark.slow
def test_what_follows_from_totals_is_not_told_beside_them() -> None:
    """Sums of functions of columns that totals connect hold in most rows; they are no rules of their own."""
    generator = np.random.default_rng(42)
    a, b, c, d = generator.integers(0, 8, (4, 1500))
    clean = table_of(np.vstack([a, b, a + b, c, d, c + d, a + b + c + d]))
    assert told(find_rules(clean)) == {(0, (0, 1, 2)), (0, (3, 4, 5)), (0, (2, 5, 6))}
    wrong = (generator.random(1500) < 0.02) * generator.integers(1, 3, 1500)
    found = find_rules(table_of(np.vstack([a, b, a + b + wrong, c, d, c + d, a + b + c + d])))
    assert len(found) == 3 and {rule.modulus for rule in found} == {0}
    assert {rule.n_broken for rule in found} == {0, int((wrong > 0).sum())}


def test_two_groups_of_one_hot_columns_are_told_although_parts_of_them_often_hold() -> None:
    generator = np.random.default_rng(1)
    k, a = generator.integers(0, 5, 1500), generator.integers(0, 8, 1500) % 3
    columns = np.vstack([*(k == i for i in range(5)), *(a == i for i in range(3))])
    found = find_rules(table_of(columns))
    assert {(rule.name, rule.variables) for rule in found} == {
        ("exactly one", (0, 1, 2, 3, 4)), ("exactly one", (5, 6, 7))
    }  # fmt: skip


@pytest.mark.parametrize("modulus", [6, 10, 15])
def test_a_sum_modulo_two_primes_is_told_once(modulus: int) -> None:
    a, b = np.random.default_rng(5).integers(0, modulus, (2, 1500))
    assert told(find_rules(table_of(np.vstack([a, b, (a + b) % modulus])))) == {(modulus, (0, 1, 2))}


def test_a_check_column_that_is_there_twice_is_one_rule_and_one_pair() -> None:
    a, b, c = np.random.default_rng(6).integers(0, 8, (3, 1500))
    check = (a + 2 * b + 3 * c) % 7
    columns = {"a": a, "b": b, "c": c, "check": check, "letter": np.array(list("ABCDEFG"))[check]}
    found = find_rules(CategoricalTable.from_columns({k: v.tolist() for k, v in columns.items()}))
    assert [(rule.modulus, rule.name) for rule in found] == [(7, ""), (0, "same")]


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("n_years", [6, 7, 12, 30])  # years as many as days of the week, months or days
def test_a_calendar_is_told_by_its_name(names: bool, n_years: int) -> None:
    drawn = np.random.default_rng(7).integers(0, 365 * n_years, 2500)
    days = [date(2014, 1, 1) + timedelta(days=int(k)) for k in drawn]
    columns: dict[str, list[int] | list[str]] = {
        "year": [day.year for day in days],
        "month": [day.strftime("%b") for day in days] if names else [day.month for day in days],
        "day": [day.day for day in days],
        "weekday": [day.strftime("%A") for day in days] if names else [day.weekday() for day in days],
    }
    table = CategoricalTable.from_columns(columns)
    (rule,) = find_rules(table, moduli=[7])
    assert rule.name == "calendar" and rule.variables == (0, 1, 2, 3) and rule.holds > 0.9


def test_rare_levels_make_no_rule() -> None:
    """Sums that hold in most rows because most rows have the commonest levels."""
    generator = np.random.default_rng(8)
    rare = [generator.choice(5, size=2000, p=[0.94, 0.02, 0.02, 0.01, 0.01]) for _ in range(6)]
    bits = (generator.random((8, 2000)) < 0.03).astype(np.int64)
    assert not told(find_rules(table_of(np.stack(rare)))) and not told(find_rules(table_of(bits)))


@pytest.mark.parametrize("n_rows", [6_000, 50_000])
def test_a_table_in_order_is_judged_as_a_shuffled_one(n_rows: int) -> None:
    """Columns that count up again and again look constant in every second row."""
    k = np.arange(n_rows)
    table = {"a": k % 2, "b": k // 2 % 2, "c": (k + k // 2) % 2}
    found = find_rules({name: column.tolist() for name, column in table.items()}, moduli=[2])
    assert [(rule.name, rule.n_broken) for rule in found] == [("parity", 0)]
    by_chance = found.rules[0].by_chance
    assert by_chance == pytest.approx(0.5, abs=0.02)


def test_a_level_that_only_errors_reach_does_not_turn_a_total_into_a_rule() -> None:
    """Given a value of its own, 11 makes a sum modulo 3 and 5 that fewer rows break than the total."""
    generator = np.random.default_rng(910202)
    one, two = generator.integers(0, 7, 3000), generator.integers(0, 5, 3000)
    wrong = generator.random(3000) < 0.02
    total = one + two + wrong * generator.integers(1, 3, 3000)
    found = find_rules({"one": one.tolist(), "two": two.tolist(), "total": total.tolist()})
    assert [(rule.modulus, rule.name) for rule in found] == [(0, "total")]
    assert found.rules[0].n_broken == wrong.sum()


def test_exactly_one_of_seven_is_not_told_of_six_of_them_again() -> None:
    generator = np.random.default_rng(4)
    chosen = generator.choice(7, size=3000, p=[0.15] * 6 + [0.1])
    found = find_rules({f"is{k}": (chosen == k).tolist() for k in range(7)})
    assert [(rule.name, len(rule.variables), rule.n_broken) for rule in found] == [("exactly one", 7, 0)]


@pytest.mark.parametrize("share_wrong", [0.0, 0.02])
def test_a_column_of_two_levels_does_not_hide_half_of_a_rule(share_wrong: float) -> None:
    """The tens of a month are 0 or 1: what a rule modulo 2 says of them is all there is to say."""
    generator = np.random.default_rng(5)
    month, serial = generator.integers(1, 13, 2500), generator.integers(0, 10, (4, 2500))
    digits = np.stack([month // 10, month % 10, *serial])
    check = np.array([7, 1, 3, 7, 1, 3]) @ digits % 10
    columns = np.stack([*digits, check])
    wrong = generator.random(2500) < share_wrong
    columns[3, wrong] = generator.integers(0, 10, wrong.sum())
    names = ["m1", "m2", "s1", "s2", "s3", "s4", "check"]
    found = find_rules({name: column.tolist() for name, column in zip(names, columns, strict=True)})
    assert [(rule.modulus, rule.variables) for rule in found] == [(10, tuple(range(7)))]
    assert found.rules[0].n_broken == int((np.array([7, 1, 3, 7, 1, 3, -1]) @ columns % 10 != 0).sum())


@pytest.mark.parametrize(("n_rows", "largest"), [(300, 40_000), (1_000, 900_000_000), (6_000, 900_000)])
def test_a_total_of_numbers_of_many_levels_is_found(n_rows: int, largest: int) -> None:
    """Hardly a number occurs twice, and a row says nothing of itself."""
    one, two = np.random.default_rng(5).integers(0, largest // 2, (2, n_rows))
    table = CategoricalTable.from_columns(
        {"one": one.tolist(), "two": two.tolist(), "all": (one + two).tolist()}
    )
    (rule,) = find_rules(table)
    assert (rule.name, rule.variables, rule.n_broken) == ("total", (0, 1, 2), 0) and rule.by_chance < 0.1


@pytest.mark.parametrize("share_wrong", [0.0, 0.05])
def test_shares_add_up_to_a_hundred(share_wrong: float) -> None:
    generator = np.random.default_rng(11)
    one, two = generator.integers(0, [[60], [40]], (2, 2000))
    rest = 100 - one - two + (generator.random(2000) < share_wrong) * generator.integers(1, 9, 2000)
    found = find_rules(table_of(np.stack([one, two, rest])))
    assert [rule.name for rule in found] == ["total"] and repr(found).startswith("1. c0 + c1 + c2 = 100\n")


def test_a_total_of_amounts_with_decimals_is_told_in_their_unit() -> None:
    generator = np.random.default_rng(9)
    price, n = generator.integers(1, 9_999, 800), generator.integers(0, 4, 800)
    tax = generator.choice([50, 120, 245, 30, 1990], 800)
    table = {
        "price": (price / 100).tolist(), "tax": (tax / 100).tolist(), "n": n.tolist(),
        "total": ((price + tax + 5 * n + 99) / 100).tolist(),
    }  # fmt: skip
    found = find_rules(CategoricalTable.from_columns(table))
    assert len(found) == 1 and found.rules[0].n_broken == 0
    assert repr(found).startswith("1. price + tax + 0.05·n - total = -0.99\n   in 100.0 % of rows (")
    assert " adds " not in repr(found)


def test_a_digit_that_was_mistyped_does_not_make_the_others_hundredths() -> None:
    digits = np.random.default_rng(10).integers(0, 10, (5, 1500))
    columns = {f"d{k}": column.tolist() for k, column in enumerate(digits)}
    columns["check"] = (-(digits * np.array([3, 1, 3, 1, 3])[:, None]).sum(axis=0) % 10).tolist()
    columns["d1"][7] = 2.5
    assert (10, (0, 1, 2, 3, 4, 5)) in told(find_rules(CategoricalTable.from_columns(columns)))


def test_exactly_one_is_told_with_the_levels_of_which_one_holds() -> None:
    generator = np.random.default_rng(6)
    drawn = generator.integers(0, 5, 1000)
    one, two = drawn == 0, drawn == 1
    table = CategoricalTable.from_columns(
        {"one": one.tolist(), "two": two.tolist(), "any": (one | two).tolist()}
    )
    found = find_rules(table)
    assert "exactly one of these holds: one = True, two = True, any = False" in repr(found)


@pytest.mark.parametrize("name", ["larger", "mean", "distance", "table", "either"])
def test_other_functions_of_two_columns_are_no_sums(name: str) -> None:
    """Some sums come near: the mean, rounded down, is one modulo 3 in three of four rows.

    That the larger of two is 9 where one of them is would be a sum but for one row in a hundred, in which both
    are: no error, and no sum.
    """
    generator = np.random.default_rng(7)
    a, b = generator.integers(0, 10, (2, 4000))
    if name == "either":
        a, b = (generator.random((2, 4000)) < 0.2).astype(np.int64)
    of = {
        "larger": np.maximum(a, b), "mean": (a + b) // 2, "distance": abs(a - b),
        "table": generator.integers(0, 5, (10, 10))[a, b], "either": a | b,
    }[name]  # fmt: skip
    found = find_rules(table_of(np.stack([a, b, of])))
    wanted = {"distance": [(2, 0.0)]}.get(name, [])
    assert [(rule.modulus, round(1 - rule.holds, 2)) for rule in found] == wanted


@pytest.mark.parametrize("seed", range(2))
def test_a_calendar_with_leap_years_is_found_beside_other_columns(seed: int) -> None:
    """With an unknown for each day, hardly a choice of rows is free of the twentieth that leap years break."""
    generator = np.random.default_rng(seed)
    days = [date(2019, 1, 1) + timedelta(days=int(k)) for k in generator.integers(0, 2190, 4000)]
    columns: dict[str, list[int] | list[str]] = {
        "year": [day.year for day in days],
        "month": [day.month for day in days],
        "day": [day.day for day in days],
        "weekday": [day.strftime("%a") for day in days],
    }
    columns |= {f"d{k}": generator.integers(0, 10, 4000).tolist() for k in range(6)}
    (rule,) = find_rules(CategoricalTable.from_columns(columns))
    assert rule.name == "calendar" and rule.holds > 0.93
