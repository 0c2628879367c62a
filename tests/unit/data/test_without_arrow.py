"""Arrow is an extra: what plain text, arrays and frames become does not depend on it, and what does says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.messy import workbook

WITHOUT = "import sys; sys.modules['pyarrow'] = None"

READ = """
import datetime, json, warnings
import numpy as np
import xordal
warnings.simplefilter("ignore")
def told(source, **how):
    table = xordal.read_table(source, missing="level", **how)
    return [table.names, [list(map(str, own)) for own in table.levels], np.asarray(table.codes).tolist()]
"""

SOURCES = """
import pandas as pd, polars as pl
day = datetime.date(2026, 1, 2)
mixed = {"a": [1, 2.5, None, 1], "b": ["x", None, "y", "x"], "c": [True, False, True, True]}
mixed["d"] = [day, day, day, None]
rows = np.array([[0, 1], [1, 1], [0, 0]])
wide = np.array([[0.5, np.nan], [1.0, 2.0]])
declared = pd.Categorical(["low", "high", "low"], ["low", "mid", "high"], ordered=True)
enum = pl.Series(["low", "high", "low"], dtype=pl.Enum(["low", "mid", "high"]))
sources = [
    mixed, rows, wide, rows.tolist(), pd.DataFrame(mixed), pd.DataFrame({"a": declared, "b": [1, 2, 1]}),
    pd.DataFrame({"a": pd.array([1, None, 2], dtype="Int64"), "b": ["x", "y", "x"]}),
    pl.DataFrame(mixed, strict=False), pl.DataFrame({"a": enum, "b": [1, 2, 1]}),
]
print(json.dumps([told(source) for source in sources]))
"""


def run(program: str, without: bool) -> Any:
    script = f"{WITHOUT if without else ''}\n{READ}\n{program}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_tables_in_memory_are_the_same_without_arrow() -> None:
    with_arrow, plain = run(SOURCES, without=False), run(SOURCES, without=True)
    for place, (one, other) in enumerate(zip(with_arrow, plain, strict=True)):
        assert one == other, place


@pytest.mark.slow
def test_text_larger_than_what_arrow_is_asked_for_is_the_same_without_it(tmp_path: Path) -> None:
    lines = [f'{n % 7},"v, {n % 3}",{"" if n % 11 == 0 else n % 5}' for n in range(120_000)]
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(lines) + "\n")
    assert (tmp_path / "t.csv").stat().st_size > 1 << 20
    program = f"print(json.dumps(told({str(tmp_path / 't.csv')!r})))"
    assert run(program, without=False) == run(program, without=True)


@pytest.mark.slow
def test_many_text_files_are_the_same_without_arrow(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("a,b\n" + "x,1\ny,2\n" * 50)
    program = f"print(json.dumps(told({str(tmp_path / '*.csv')!r}, cache='off')))"
    assert run(program, without=False) == run(program, without=True)


def command(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    program = f"{WITHOUT}; from xordal.cli.app import console; sys.argv[1:] = {arguments!r}; console()"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_report_of_a_messy_text_file_needs_no_arrow(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = command(["report", "docs/tables/parts.csv", "-o", str(page)])
    assert done.returncode == 0, done.stderr
    assert "line, supplier, defect" in done.stdout
    assert page.stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.csv.zst", "t.xlsx"])
def test_what_needs_arrow_names_the_extra(tmp_path: Path, name: str) -> None:
    starts = {"t.parquet": b"PAR1", "t.feather": b"ARROW1\0\0", "t.csv.zst": b"\x28\xb5\x2f\xfd"}
    if name == "t.xlsx":
        (tmp_path / name).write_bytes(workbook({"Data": [["a", "b"], ["x", "y"], ["y", "x"]]}))
    else:
        (tmp_path / name).write_bytes(starts[name] + b"\0" * 20)
    done = command(["learn", str(tmp_path / name)])
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    extra = "xordal[excel]" if name == "t.xlsx" else "xordal[arrow]"
    assert extra in done.stderr.replace("\n", "")


@pytest.mark.slow
def test_writing_parquet_without_arrow_names_the_extra(tmp_path: Path) -> None:
    done = command(["generate", "music-box", "-n", "10", "-o", str(tmp_path / "t.parquet")])
    assert done.returncode == 1
    assert "xordal[arrow]" in done.stderr
