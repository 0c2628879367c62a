"""Tables that look odd and are not, and files and options that are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.commands import run
from xordal import DataError, read_table


def test_weighted_rows_are_judged_as_repeated_rows(tmp_path: Path) -> None:
    """Thirty text levels, or fifteen decimals, are no identifiers when each stands for many rows."""
    for name, values in (("region", [f"r{v}" for v in range(30)]), ("dose", [f"{v}.5" for v in range(15)])):
        rows = [(value, "ab"[place % 2]) for place, value in enumerate(values)]
        weighted = "".join(f"{value},{party},20\n" for value, party in rows)
        repeated = "".join(f"{value},{party}\n" * 20 for value, party in rows)
        (tmp_path / "w.csv").write_text(f"{name},party,n\n{weighted}")
        (tmp_path / "r.csv").write_text(f"{name},party\n{repeated}")
        outputs = [
            run("learn", *more, "-q", cwd=tmp_path).stdout for more in (["w.csv", "--weights", "n"], ["r.csv"])
        ]
        assert outputs[0] == outputs[1] == f"{name} - party\n"


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        ("a,b\n" + "x" * 200_000 + ",1\ny,\n", ["--missing", "error"], "line 3, column 'b'"),
        ("a,b\n" + "x" * 200_000 + "\n", [], "line 2: 1 value"),
        ("a,b\n1,+2AA-\n", ["--encoding", "utf-7"], "line 2: half a character"),
        ("a,b\n1,2\n", ["--columns", "a\rb"], "separated by commas"),
        ("", [""], "is empty"),
        ("BZh,b\n0,0\n1,1\n", ["-q"], ""),
        ("PAR1,b\n0,0\n1,1\n", ["-q"], ""),
    ],
)
def test_odd_files_and_options_give_one_message(
    tmp_path: Path, content: str, options: list[str], told: str
) -> None:
    (tmp_path / "t.csv").write_text(content)
    source = [] if options == [""] else ["t.csv"]
    code = 0 if not told else 2 if "--columns" in options else 1
    assert told in run("learn", *source, *options, cwd=tmp_path, code=code).stderr


def test_a_closed_standard_input_is_told(tmp_path: Path) -> None:
    command = f"{sys.executable} -m xordal learn - <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "Standard input is closed" in done.stderr


def test_bytes_in_a_text_column_are_told(tmp_path: Path) -> None:
    broken = pa.array([b"\xff\xfe", b"ok"]).view(pa.string())
    with pytest.raises(DataError, match="no UTF-8 text"):
        read_table(pa.table({"a": broken, "b": [1, 2]}))
