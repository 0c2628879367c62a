"""Tables on the command line: real files, messy files, and every mistake with one clear answer."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.commands import call
from tests.examples import some

REAL = {
    "loglinear/reinis__gRbase.csv": (1841, 6, ["--weights", "Freq"]),
    "loglinear/Titanic__datasets.csv": (2201, 4, ["--weights", "Freq"]),
    "loglinear/UCBAdmissions__datasets.csv": (4526, 3, ["--weights", "Freq"]),
    "pmlb/mushroom.tsv": (8124, 23, []),
    "pmlb/house_votes_84.tsv": (435, 17, []),
    "pmlb/nursery.tsv": (12958, 9, []),
}


@dataclass(frozen=True)
class Done:
    """What one run of the command line left behind."""

    code: int
    out: str
    err: str


def run(*arguments: str, stdin: bytes = b"") -> Done:
    done = call(arguments, cwd=Path.cwd(), stdin=stdin)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def learned(*arguments: str) -> dict[str, object]:
    done = run("learn", *arguments, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_files_need_no_option_but_weights(real_data: Path, name: str) -> None:
    n_rows, n_columns, options = REAL[name]
    found = learned(str(real_data / name), *options)
    assert found["n_rows"] == n_rows
    assert len(found["variables"]) == n_columns  # type: ignore[arg-type]
    assert found["links"]


def test_counts_are_repeated_rows_on_real_data(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "loglinear/Titanic__datasets.csv"
    frame = pd.read_csv(path, dtype={"Freq": int})
    long = frame.loc[frame.index.repeat(frame["Freq"])].drop(columns="Freq")
    long.to_csv(tmp_path / "long.csv", index=False)
    long.to_csv(tmp_path / "long.tsv.gz", index=False, sep="\t")
    long.to_parquet(tmp_path / "long.parquet")
    light, times = learned(str(path), "--weights", "Freq"), {"seconds": 0, "phases": {}}
    for name in ("long.csv", "long.tsv.gz", "long.parquet"):
        heavy = learned(str(tmp_path / name))
        assert light | times == heavy | times


MESSY = "\ufeffid;sex;smokes;income\nA1;f;yes;10,5\nA2;m;no;?\nA3;f;yes;10,5\nA4;m;no;9\n"


def test_a_messy_file(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    path.write_text(MESSY)
    done = run("learn", str(path), "--missing", "drop", "--exclude", "id", "--delta-h", "0", "-q")
    assert (done.code, done.out) == (0, "sex - smokes\nsex - income\n"), done.err
    assert done.err == "Note: Dropped 1 of 4 rows, which had missing values.\n"


def test_standard_input(tmp_path: Path) -> None:
    done = run("learn", "-", "--delta-h", "0", "--json", stdin=gzip.compress(b"a|b\nx|1\ny|2\n"))
    assert json.loads(done.out)["links"] == [["a", "b"]]
    assert run("learn", str(tmp_path / "-")).code == 1


def test_identifiers_are_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,a,b\n" + "".join(f"person {n},{n % 2},{n % 2}\n" for n in range(40)))
    done = run("learn", str(path), "-q")
    assert done.out == "a - b\n"
    assert "Column 'who' looks like an identifier: 40 levels in 40 rows. It is left out; --columns" in done.err
    asked = run("learn", str(path), "--columns", "who,a", "-q")
    assert asked.out == ""  # who is who tells everything, and means nothing
    assert "It is left out" not in asked.err
    assert run("learn", str(path), "--categorical", "who", "-k", "1", "-q").err == ""


def test_continuous_columns_are_cut_or_refused_together(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("t,warm,u\n" + "".join(f"{n / 10},{n > 20},{n / 7}\n" for n in range(40)))
    assert "Note: Numbers cut into bins: 't', 'u'." in run("learn", str(path)).err
    done = run("learn", str(path), "--bins", "none")
    assert (done.code, done.out) == (1, "")
    assert "Column 't' looks continuous: 40 different numbers in 40 rows" in done.err
    assert "--bins 4 --bin-by quantile" in done.err
    assert "Column 'u' looks continuous" in done.err
    assert "t - warm" in run("learn", str(path), "--bins", "t=2,u=3", "--bin-by", "t=width", "-q").out
    for by in ("quantile", "width"):
        assert "t - warm" in run("learn", str(path), "--bins", "2", "--bin-by", by, "-q").out
    assert run("learn", str(path), "--categorical", "t,u", "-k", "1", "-q").code == 0


def test_rare_levels_and_many_levels(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("city,x\n" + "".join(f"town {n % 300},{n % 2}\n" for n in range(900)))
    done = run("learn", str(path), "-k", "1")
    assert done.code == 0
    assert "Note: Column 'city' has 300 levels, about 3.0 rows each" in done.err
    assert "--merge-rare" in done.err
    merged = run("learn", str(path), "-k", "1", "--merge-rare", "4")
    assert "Note: Column 'city' is constant" in merged.err


def test_a_constant_column_is_noted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n0,0,7\n1,1,7\n")
    done = run("learn", str(tmp_path / "t.csv"))
    assert done.code == 0
    assert "Note: Column 'c' is constant: it can have no links." in done.err
    assert run("learn", str(tmp_path / "t.csv"), "-q").err == ""


def test_names_that_contain_commas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"size, m",b,c\n0,0,1\n1,1,0\n')
    learn = ("learn", str(tmp_path / "t.csv"), "--delta-h", "0", "-q")
    assert run(*learn, "--columns", '"size, m",b').out == "size, m - b\n"
    assert run(*learn, "--columns", "b", "--columns", "c").out == "b - c\n"


def test_a_time_limit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,0\n1,1\n")
    done = run("learn", str(tmp_path / "t.csv"), "--time-limit", "0.000000001s")
    assert done.code == 0
    assert "The time limit of 0.000000001s was reached" in done.err
    assert "time_limit" in learned(str(tmp_path / "t.csv"), "--time-limit", "5m")


GOOD = b"sex,smokes,Freq\nf,yes,3\nm,no,4\nf,no,1\n"
MISTAKES: dict[str, tuple[bytes, list[str], int, str]] = {
    "empty file": (b"", [], 1, "the file is empty"),
    "blank lines only": (b"\n\n\n", [], 1, "the file is empty"),
    "header only": (b"a,b\n", [], 1, "a header but no rows"),
    "one column": (b"a\n1\n2\n", [], 1, "only one column, 'a'"),
    "one column left": (GOOD, ["--columns", "sex"], 1, "Only one column is left, 'sex'"),
    "no column left": (GOOD, ["--exclude", "sex,smokes,Freq"], 1, "No column is left"),
    "one row": (b"a,b\n1,2\n", [], 1, "only one row"),
    "ragged row": (b"a,b\n1,2\n1,2,3\n", [], 1, "line 3: 3 values, but the header names 2 columns"),
    "short row": (b"a,b\n1,2\n\n1\n", [], 1, "line 4: 1 value"),
    "wrong encoding": ("a,b\nx,Тула\n".encode("cp1251"), [], 1, "byte 6 is not UTF-8"),
    "wrong encoding given": (b"\xff\xfe\xff", ["--encoding", "utf-8"], 1, "byte 0 is not UTF-8"),
    "unknown encoding": (GOOD, ["--encoding", "utf-9"], 2, "no encoding 'utf-9'"),
    "no text encoding": (GOOD, ["--encoding", "hex"], 2, "no encoding 'hex'"),
    "delimiter": (GOOD, ["--delimiter", ";;"], 2, "delimiter must be one plain character"),
    "quotation without end": (b'a,b\n1,"2\n', [], 1, "not valid CSV"),
    "missing value": (b"a,b\n1,2\n1,\n", ["--missing", "error"], 1, "line 3, column 'b': the value is missing"),
    "missing token": (
        b"a,b\n1,2\nNA,2\n",
        ["--missing", "error"],
        1,
        "line 3, column 'a': the value is missing",
    ),
    "all missing": (b"a,b\n1,\n,2\n", ["--missing", "drop"], 1, "Every row has a missing value"),
    "negative weight": (
        b"a,b,n\n1,2,1\n1,2,-3\n",
        ["--weights", "n"],
        1,
        "line 3, column 'n': -3 is not a row weight",
    ),
    "NaN weight": (
        b"a,b,n\n1,2,1\n1,2,NaN\n",
        ["--weights", "n", "--missing", "error"],
        1,
        "line 3, column 'n': the weight is missing",
    ),
    "weights of text": (GOOD, ["--weights", "sex"], 1, "f is not a row weight"),
    "weights all zero": (b"a,b,n\n1,2,0\n", ["--weights", "n"], 1, "All row weights are zero"),
    "typo in --weights": (GOOD, ["--weights", "freq"], 1, "no column 'freq'; did you mean 'Freq'?"),
    "typo in --columns": (GOOD, ["--columns", "sex,smoke"], 1, "did you mean 'smokes'?"),
    "typo in --exclude": (GOOD, ["--exclude", "Sex"], 1, "did you mean 'sex'?"),
    "typo in --categorical": (GOOD, ["--categorical", "smoks"], 1, "did you mean 'smokes'?"),
    "one bin": (GOOD, ["--bins", "1"], 2, "--bins"),
    "unknown bins": (GOOD, ["--bin-by", "size"], 2, "--bin-by"),
    "unknown policy": (GOOD, ["--missing", "ignore"], 2, "--missing"),
    "time": (GOOD, ["--time-limit", "soon"], 2, "'soon' is no time"),
    "negative time": (GOOD, ["--time-limit", "-3s"], 2, "time_limit must be a positive number"),
    "limit and reference": (GOOD, ["--time-limit", "3s", "--engine", "reference"], 2, "no limits"),
    "NUL bytes": (b"a,b\n1,2\x00\n", [], 1, "line 2: there is a NUL byte"),
    "damaged gzip": (gzip.compress(GOOD)[:-5], [], 1, "damaged or cut short"),
    "Excel workbook": (b"PK\x03\x04 and so on", [], 1, "Excel workbook"),
    "damaged Parquet": (b"PAR1 and so on", [], 1, "no complete Parquet file"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_has_one_message(tmp_path: Path, mistake: str) -> None:
    content, options, code, told = MISTAKES[mistake]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    done = run("learn", str(path), *options)
    assert (done.code, done.out) == (code, ""), done
    assert told in " ".join(done.err.replace("│", " ").split())
    assert done.err.count("Error") == 1
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file(tmp_path: Path) -> None:
    for source, told in (
        (tmp_path, "no CSV or Parquet file in"),
        (tmp_path / "none.csv", "There is no file"),
        (Path("/proc/self/mem"), "cannot be read"),
        (tmp_path / "a\0b", "cannot be read"),
    ):
        done = run("learn", str(source))
        assert (done.code, done.out) == (1, "")
        assert told in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(GOOD)
    path.chmod(0)
    assert "may not read" in run("learn", str(path)).err


def test_permission_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    done = run("learn", str(tmp_path / "t.csv"))
    assert done.code == 1
    assert "you may not read this file" in done.err


def refused_or_learned(folder: Path, content: bytes, options: list[str]) -> None:
    path = folder / "t.csv"
    path.write_bytes(content)
    done = run("learn", str(path), "-k", "2", *options)
    assert done.code in (0, 1, 2)
    if done.code:
        assert done.out == ""
        assert done.err.count("Error") == 1


@settings(max_examples=some(150))
@example(b"\x1f\x8b\x08")
@example(b"PAR1PAR1")
@example(b"\xff\xfea")
@example(b"\xef\xbb\xbf")
@given(st.binary(max_size=300))
def test_random_bytes_give_no_traceback(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    refused_or_learned(tmp_path_factory.mktemp("bytes"), content, [])


cell = st.one_of(
    st.sampled_from(["yes", "no", "NA", "", "?", "1", "2", "1.5", "-1", "1e400", "nan", '"', '"x"', "é", " "]),
    st.text(max_size=5),
)
OPTIONS: list[list[str]] = [
    [],
    ["--missing", "level"],
    ["--missing", "drop", "--bins", "3"],
    ["--weights", "x0", "--no-header"],
    ["--no-header", "--bins", "2", "--bin-by", "width", "--missing", "level", "--merge-rare", "2"],
    ["--delimiter", ";", "--header"],
]


@settings(max_examples=some(200))
@given(
    st.lists(st.lists(cell, min_size=1, max_size=4), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(OPTIONS),
    st.sampled_from([bytes, gzip.compress]),
)
def test_random_csv_gives_no_traceback(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    delimiter: str,
    end: str,
    options: list[str],
    pack: Callable[[bytes], bytes],
) -> None:
    content = end.join(delimiter.join(row) for row in rows).encode(errors="replace")
    refused_or_learned(tmp_path_factory.mktemp("csv"), pack(content), options)
