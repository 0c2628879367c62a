"""``xordal rules`` on a file that holds nothing but identifiers."""

from __future__ import annotations

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
