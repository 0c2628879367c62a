"""``xordal rules`` on a file that holds nothing but identifiers."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from typer.testing import CliRunner

from xordal.cli.app import app


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


def test_broken_into_the_data_itself_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "sums.csv"
    text = "a,b,c\n" + "".join(f"{a},{b},{(a + b) % 5}\n" for a in range(5) for b in range(5)) * 8
    file.write_text(text, encoding="utf-8")
    told = CliRunner().invoke(app, ["rules", str(file), "--broken", str(file)])
    assert told.exit_code != 0 and file.read_text(encoding="utf-8") == text
