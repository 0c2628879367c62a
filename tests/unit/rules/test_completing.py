"""Codes that begin alike: errors in their first characters are found by the scheme that the whole code has."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from xordal.cli.app import app
from xordal.data.split import split_rows
from xordal.data.table import CategoricalTable
from xordal.rules.completing import completed
from xordal.rules.finding import find_rules
from xordal.rules.repair import broken_rows


def is_ean(code: str) -> bool:
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(code))) % 10 == 0


def is_luhn(code: str) -> bool:
    doubled = [int(d) * (1 + place % 2) for place, d in enumerate(reversed(code))]
    return sum(n - 9 * (n > 9) for n in doubled) % 10 == 0


def is_isbn(code: str) -> bool:
    return sum((10 if d == "X" else int(d)) * (10 - k) for k, d in enumerate(code)) % 11 == 0


CHECKS = {
    "EAN-13": (is_ean, 13, "4006381"),
    "EAN-8": (is_ean, 8, "40"),
    "Luhn": (is_luhn, 16, "453201"),
    "ISBN-10": (is_isbn, 10, "3161"),
}


def codes_of(name: str, n: int, seed: int, n_wrong: int) -> list[str]:
    """Return right codes of one prefix, in some of which one digit was changed to another."""
    is_right, width, prefix = CHECKS[name]
    generator = np.random.default_rng(seed)
    codes = []
    for number in range(n):
        body = prefix + "".join(map(str, generator.integers(0, 10, width - 1 - len(prefix))))
        code = next(
            body + d for d in ("0123456789X" if name == "ISBN-10" else "0123456789") if is_right(body + d)
        )
        if number % (n // n_wrong) == 0:
            place = int(generator.integers(0, width - 1))
            other = (int(code[place]) + int(generator.integers(1, 10))) % 10
            code = f"{code[:place]}{other}{code[place + 1 :]}"
        codes.append(code)
    return codes


@pytest.mark.parametrize("name", list(CHECKS))
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_codes_that_break_the_checksum_are_found_and_no_others(name: str, seed: int) -> None:
    codes = codes_of(name, 1200, seed, 40)
    split = split_rows(CategoricalTable.from_columns({"code": codes}), "code")
    found = find_rules(split.table, moduli=[10, 11])
    whole = completed(split.table, found.rules, split.places)
    assert [rule.name for rule in whole.rules] == [name] and whole.added and not whole.unchecked
    wrong = [row for row, code in enumerate(codes) if not CHECKS[name][0](code)]
    assert [each.row for each in broken_rows(split.table, whole.rules)] == wrong
    assert whole.rules[0].n_broken == len(wrong) > found.rules[0].n_broken


def test_a_code_of_no_known_scheme_is_left_as_it_is_and_its_rare_rows_are_told() -> None:
    """Fifteen characters with the weights of EAN at their end: what the first ones add is not known."""
    codes = ["47" + code for code in codes_of("EAN-13", 1200, 5, 40)]
    codes[7], codes[9] = "5" + codes[7][1:], codes[9][:1] + "8" + codes[9][2:]
    split = split_rows(CategoricalTable.from_columns({"code": codes}), "code")
    found = find_rules(split.table, moduli=[10])
    whole = completed(split.table, found.rules, split.places)
    assert whole.rules == found.rules and not whole.added
    prefix = "474006381"
    assert whole.differ.tolist() == [row for row, code in enumerate(codes) if not code.startswith(prefix)]


def test_a_scheme_whose_sum_is_not_that_of_the_codes_is_none() -> None:
    """Thirteen digits with the weights of EAN, all of whose sums are 1 more: these are no EAN-13."""
    codes = [code[:12] + str((int(code[12]) + 1) % 10) for code in codes_of("EAN-13", 1200, 6, 40)]
    split = split_rows(CategoricalTable.from_columns({"code": codes}), "code")
    found = find_rules(split.table, moduli=[10])
    whole = completed(split.table, found.rules, split.places)
    assert len(found) == 1 and whole.rules == found.rules and len(whole.differ) > 5


def test_the_command_writes_wrong_codes_as_they_stand_and_tells_what_it_took_from_the_scheme(
    tmp_path: Path,
) -> None:
    codes = codes_of("EAN-13", 1200, 7, 40)
    file, wrong = tmp_path / "codes.csv", tmp_path / "wrong.csv"
    typed = [f"{code[:3]}-{code[3:]}" for code in codes]
    cut = {5: "12345678901", 6: "1234567890"}
    lines = [cut.get(row, code) for row, code in enumerate(typed)]
    file.write_text("ean\n" + "\n".join(lines) + "\n", encoding="utf-8")
    told = CliRunner().invoke(
        app, ["rules", str(file), "--split", "ean", "--moduli", "10", "--broken", str(wrong)]
    )
    assert told.exit_code == 0, told.output
    printed = " ".join(told.output.split())
    assert "1. EAN-13: " in printed and "Rule 1 takes it from the scheme of the whole code, EAN-13." in printed
    assert "2 codes are shorter and may have lost leading zeros" in printed
    with wrong.open(encoding="utf-8", newline="") as broken:
        rows = {int(line["row"]): line["ean"] for line in csv.DictReader(broken)}
    expected = {n + 1: typed[n] for n, code in enumerate(codes) if not is_ean(code) and n not in cut}
    assert rows == expected


def test_counts_of_rows_are_noted_and_help_says_what_becomes_of_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    lines = [f"{a},{b},{(a + b) % 5},{37 * a + 11 * b + 3}" for a in range(5) for b in range(5)] * 4
    file.write_text("a,b,c,Freq\n" + "\n".join(lines) + "\n", encoding="utf-8")
    run = CliRunner().invoke
    printed = " ".join(run(app, ["rules", str(file)]).output.split())
    assert "'Freq' looks like counts of rows. To count each row that often: --weights Freq" in printed
    again = " ".join(run(app, ["rules", str(file), "--weights", "Freq"]).output.split())
    assert "looks like counts" not in again
    assert "drop, however many rows that costs" in " ".join(run(app, ["rules", "--help"]).output.split())
