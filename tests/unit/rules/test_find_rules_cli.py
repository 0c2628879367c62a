"""``xordal rules`` on a file that holds nothing but identifiers."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from xordal.cli.app import app, main


def test_one_column_of_codes_is_split_and_told(tmp_path: Path) -> None:
    codes = [f"{n:03d}{sum(map(int, f'{n:03d}')) % 10}" for n in range(1000)]
    file = tmp_path / "codes.csv"
    file.write_text("code\n" + "\n".join(codes) + "\n", encoding="utf-8")
    told = CliRunner().invoke(app, ["rules", str(file), "--split", "code", "--moduli", "10"])
    assert told.exit_code == 0, told.output
    assert "(mod 10)" in told.output
    assert "100.0 % of rows" in told.output


def test_broken_rows_are_those_mistyped_each_with_a_change_that_repairs_it(tmp_path: Path) -> None:
    books, truth, wrong = (str(tmp_path / name) for name in ("books.csv", "truth.json", "wrong.csv"))
    run = CliRunner().invoke
    drawn = run(app, ["generate", "isbn-10", "-p", "errors=1/50", "-n", "800", "-o", books, "--truth", truth])
    assert drawn.exit_code == 0, drawn.output
    told = run(app, ["rules", books, "--split", "isbn", "--moduli", "11", "--broken", wrong])
    assert told.exit_code == 0 and "ISBN-10" in told.output, told.output
    errors = json.loads(Path(truth).read_text(encoding="utf-8"))["errors"]
    with Path(wrong).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [int(line["row"]) for line in lines] == [error["row"] for error in errors] and len(lines) > 5
    for line in lines:
        assert line["breaks"] == "1" and line[line["change"]] == line["from"] and int(line["repairs"]) > 1
        digits = [line[f"isbn{k}"] for k in range(1, 11)]
        digits[int(line["change"].removeprefix("isbn")) - 1] = line["to"]
        assert sum((10 - k) * (10 if d == "X" else int(d)) for k, d in enumerate(digits)) % 11 == 0


def test_broken_rows_have_their_numbers_in_the_file(tmp_path: Path) -> None:
    """Rows with a missing value or a code of another width are left out, and count."""
    codes = [f"{a}{b}{(a + b) % 5}" for a in range(5) for b in range(5)] * 8
    lines = [f"{code},{number % 2}" for number, code in enumerate(codes)]
    lines[3], lines[50], lines[120] = ",1", "1234,0", "114,0"
    file, wrong = tmp_path / "codes.csv", tmp_path / "wrong.csv"
    file.write_text("code,shop\n" + "\n".join(lines) + "\n", encoding="utf-8")
    told = CliRunner().invoke(app, ["rules", str(file), "--split", "code", "--broken", str(wrong)])
    assert told.exit_code == 0, told.output
    assert "Dropped 1 of 200 rows" in told.output and "1 row left out, where" in told.output
    with wrong.open(encoding="utf-8", newline="") as broken:
        assert [line["row"] for line in csv.DictReader(broken)] == ["121"]


def test_codes_as_people_type_them_are_split(tmp_path: Path) -> None:
    """With hyphens, spaces and small letters, and some of another length: still the same characters."""
    generator = np.random.default_rng(4)
    digits = generator.integers(0, 10, (1500, 9))
    check = -(digits @ np.arange(10, 1, -1)) % 11
    codes = [
        "".join(map(str, own)) + ("X" if c == 10 else str(c)) for own, c in zip(digits, check, strict=True)
    ]
    codes[700] = codes[700][:4] + str((int(codes[700][4]) + 1) % 10) + codes[700][5:]
    typed = [
        (f"{c[:1]}-{c[1:5]}-{c[5:9]}-{c[9]}", f"{c[:3]} {c[3:]}", c.lower(), f"978{c}")[n % 4]
        for n, c in enumerate(codes)
    ]
    file, wrong = tmp_path / "typed.csv", tmp_path / "wrong.csv"
    file.write_text("book,shop\n" + "".join(f"{c},{n % 3}\n" for n, c in enumerate(typed)), encoding="utf-8")
    told = CliRunner().invoke(app, ["rules", str(file), "--split", "book", "--broken", str(wrong)])
    assert told.exit_code == 0 and "ISBN-10: 10·book1" in told.output, told.output
    assert "375 rows left out, where 'book' has another width" in told.output
    with wrong.open(encoding="utf-8", newline="") as broken:
        assert [line["row"] for line in csv.DictReader(broken)] == ["701"]


def test_rows_of_a_database_are_numbered_as_they_were_taken(tmp_path: Path) -> None:
    file, wrong = tmp_path / "sums.db", tmp_path / "wrong.csv"
    with sqlite3.connect(file) as base:
        base.execute("create table sums (a text, b text, c text)")
        rows = [(str(a), str(b), str((a + b) % 5)) for a in range(5) for b in range(5)] * 8
        base.executemany("insert into sums values (?, ?, ?)", rows)
    base.close()
    told = CliRunner().invoke(app, ["rules", str(file), "--broken", str(wrong)])
    assert told.exit_code == 0, told.output
    assert "are numbered as they were taken" in " ".join(told.output.split())


def test_broken_into_the_data_itself_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "sums.csv"
    text = "a,b,c\n" + "".join(f"{a},{b},{(a + b) % 5}\n" for a in range(5) for b in range(5)) * 8
    file.write_text(text, encoding="utf-8")
    told = CliRunner().invoke(app, ["rules", str(file), "--broken", str(file)])
    assert told.exit_code != 0 and file.read_text(encoding="utf-8") == text


def test_split_columns_are_written_for_other_commands(tmp_path: Path) -> None:
    file, split = tmp_path / "codes.csv", tmp_path / "split.csv"
    file.write_text("code,shop\n" + "".join(f"{n:03d},{n % 2}\n" for n in range(1000)), encoding="utf-8")
    run = CliRunner().invoke
    done = run(app, ["rules", str(file), "--split", "code", "--split-to", str(split), "--moduli", "2"])
    assert done.exit_code == 0, done.output
    lines = split.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "code1,code2,code3,shop" and lines[124] == "1,2,3,1" and len(lines) == 1001
    refused = run(app, ["rules", str(file), "--split-to", str(split)])
    assert refused.exit_code != 0 and "--split COL" in refused.output


DIGITS = "".join(f"{a},{b},{(a + b) % 5}\n" for a in range(5) for b in range(5))


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("a,b,c\n" + DIGITS[:30], [], "The table is too short|common enough"),
        ("a\n" + "1\n2\n" * 20, [], "at least two columns that vary.*--split"),
        ("a,b\n" + "".join(f"v{k},w{k}\n" for k in range(10_000)), [], "common enough.*--merge-rare"),
        ("a,b,c\n" + DIGITS * 8, ["--moduli", "1031"], "factor 1031 above 1021"),
        ("a,b,c\n" + DIGITS * 8, ["--moduli", "4"], "divisible by 4"),
        ("a,b,c\n" + DIGITS * 8, ["--moduli", "two"], "whole numbers with commas"),
        ("a,b,c\n" + DIGITS * 8, ["--split", "a"], "'a' cannot be split"),
        ("a,b,c\n" + DIGITS * 8, ["--split", "d"], "no column 'd'"),
    ],
)
def test_what_cannot_be_done_is_answered_in_a_sentence(
    text: str, options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(["rules", str(file), *options])
    assert end.value.code not in (0, None)
    printed = capsys.readouterr()
    assert re.search(told, " ".join(printed.err.split())) and not printed.out
    assert "Traceback" not in printed.err


def test_a_column_of_ten_thousand_levels_is_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "data.csv"
    rows = (f"v{k},{k % 2},{k // 2 % 2},{(k + k // 2) % 2}\n" for k in range(10_000))
    file.write_text("id,a,b,c\n" + "".join(rows), encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(["rules", str(file), "--moduli", "2"])
    printed = capsys.readouterr()
    assert end.value.code in (0, None)
    assert "too many levels to have a value each: 'id'" in " ".join(printed.err.split())
    assert "parity" in printed.out
