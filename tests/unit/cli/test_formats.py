"""``xordal export``, ``convert`` and ``direct``, and other commands on files of other programs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from tests.bayesian import random_network
from xordal import BayesianNetwork, read_network
from xordal.cli.app import main
from xordal.formats.network_files import write_network


def run(*arguments: str) -> int:
    """Run the command line and return its exit code."""
    try:
        main(list(arguments))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@pytest.fixture
def bif(tmp_path: Path) -> Path:
    write_network(random_network([2, 3, 2, 2, 3], 4), tmp_path / "net.bif")
    return tmp_path / "net.bif"


@pytest.fixture
def box(tmp_path: Path) -> Path:
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 30
    (tmp_path / "box.csv").write_text("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    return tmp_path / "box.csv"


@pytest.fixture
def learned(box: Path, tmp_path: Path) -> Path:
    assert run("learn", str(box), "-q", "-o", str(tmp_path / "learned.json")) == 0
    return tmp_path / "learned.json"


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "uai", "net", "json"])
def test_every_command_takes_every_readable_format(
    ending: str, bif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / f"other.{ending}"
    assert run("convert", str(bif), str(other)) == 0
    assert run("query", str(other), "v1", "--given", "v0=l0") == 0
    assert run("sample", str(other), "-n", "20", "--seed", "1", "-o", str(tmp_path / "rows.csv")) == 0
    assert run("score", str(other), str(tmp_path / "rows.csv")) == 0
    assert run("predict", str(other), str(tmp_path / "rows.csv"), "-t", "v1") == 0
    assert run("inspect", str(other)) == 0
    assert run("report", str(other), "-o", str(tmp_path / "page.html")) == 0
    assert run("direct", str(other)) == 0
    capsys.readouterr()
    assert run("compare", str(bif), str(other), "--json") == 0
    assert json.loads(capsys.readouterr().out)["divergence"] == pytest.approx(0, abs=1e-12)
    assert "expected of 10,000 rows" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "to", ["bif", "xmlbif", "uai", "uai-pgmpy", "uai-pyagrum", "net", "graphml", "dot", "hif"]
)
def test_export_to_standard_output(to: str, bif: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", str(bif), "--to", to) == 0
    assert len(capsys.readouterr().out) > 40


@pytest.mark.parametrize(
    ("to", "told"), [("bif", "network {} {{"), ("xmlbif", "<NAME>{}</NAME>"), ("net", 'name = "{}"')]
)
def test_a_network_is_called_as_its_file(
    to: str, told: str, bif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("convert", str(bif), str(tmp_path / f"my dog.{to}")) == 0
    assert told.format("my_dog") in (tmp_path / f"my dog.{to}").read_text()
    assert run("export", str(bif), "--to", to) == 0
    assert told.format(bif.stem) in capsys.readouterr().out


def test_a_hypergraph_of_tables_says_what_it_lacks(
    bif: Path, learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables do not tell chance from dependence: groups of a network without rows are the exact ones."""
    assert run("convert", str(bif), str(tmp_path / "groups.hif")) == 0
    assert "no rows are known of this network" in capsys.readouterr().err
    assert "no rows are known" in json.loads((tmp_path / "groups.hif").read_text())["metadata"]["groups"]
    assert run("export", str(bif), "--to", "hif") == 0
    assert "no rows are known of this network" in capsys.readouterr().err
    assert run("export", str(learned), "-o", str(tmp_path / "found.hif")) == 0
    assert "no rows" not in capsys.readouterr().err


def test_uai_files_come_with_their_names(bif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", str(bif), "--to", "uai", "-o", str(tmp_path / "net.uai")) == 0
    assert "its names" in capsys.readouterr().err
    assert json.loads((tmp_path / "net.uai.names").read_text())["variables"] == ["v0", "v1", "v2", "v3", "v4"]


def test_mistakes_are_told_and_leave_nothing_behind(
    bif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    assert run("export", str(bif)) == 2
    assert run("export", str(bif), "--to", "biff", "-o", str(tmp_path / "x")) == 2
    assert "did you mean 'bif'" in capsys.readouterr().err
    assert run("convert", str(bif), str(tmp_path / "x.foo")) == 2
    assert run("convert", str(bif), str(bif)) == 2
    assert run("direct", str(bif), "-o", "-") == 2
    assert run("query", str(bif), "v1", "--smoothing", "1") == 1
    assert "given" in capsys.readouterr().err
    (tmp_path / "cut.bif").write_text(bif.read_text()[:200])
    assert run("convert", str(tmp_path / "cut.bif"), str(tmp_path / "x.net")) == 1
    assert "cut.bif, line" in capsys.readouterr().err
    (tmp_path / "cut.bif").unlink()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("to", ["bif", "uai"])
def test_files_compressed_with_gzip_are_networks(
    to: str, bif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / f"plain.{to}"
    assert run("convert", str(bif), str(plain)) == 0
    packed = tmp_path / f"plain.{to}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert run("compare", str(packed), str(bif), "--json") == 0
    assert json.loads(capsys.readouterr().out)["divergence"] == pytest.approx(0, abs=1e-12)
    assert run("report", str(packed), "-o", str(tmp_path / "page.html")) == 0  # a network, and no table
    packed.write_bytes(packed.read_bytes()[:-20])
    assert run("convert", str(packed), str(tmp_path / "x.net")) == 1
    assert "damaged or cut short" in capsys.readouterr().err


def test_lost_marks_are_told(learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marked, unmarked = tmp_path / "bn.json", tmp_path / "bn.bif"
    assert run("direct", str(learned), "-o", str(marked)) == 0
    assert run("direct", str(marked)) == 0
    assert " marks" not in capsys.readouterr().err
    assert run("convert", str(marked), str(unmarked)) == 0
    assert "no marks" in capsys.readouterr().err
    assert run("direct", str(unmarked)) == 0
    assert "without marks" in capsys.readouterr().err


def test_direct_prints_and_writes_arcs(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("direct", str(learned), "--json", "-o", str(tmp_path / "bn.json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert {arc["identified"] for arc in told["arcs"]} <= {True, False}
    written = json.loads((tmp_path / "bn.json").read_text())
    assert written["format"] == "xordal bayesian network"
    unsure = [[arc["parent"], arc["child"]] for arc in told["arcs"] if not arc["identified"]]
    assert sorted(written["unidentified"]) == sorted(unsure)
    assert run("direct", str(learned), "--to", "bif", "-o", str(tmp_path / "bn")) == 0
    assert (tmp_path / "bn").read_text().startswith("network")
    capsys.readouterr()
    assert run("direct", str(learned), "-o", str(tmp_path / "bn.hif")) == 2
    assert "no arcs" in capsys.readouterr().err
    assert run("direct", str(learned), "-o", str(tmp_path / "bn.xyz")) == 2
    assert "--to" in capsys.readouterr().err


def test_a_directed_network_stays_as_it_is(
    bif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = tmp_path / "again" / bif.name  # a network is called as its file is
    same.parent.mkdir()
    assert run("direct", str(bif), "-o", str(same)) == 0
    assert "directed already" in capsys.readouterr().err
    assert same.read_text() == bif.read_text()
    assert run("inspect", str(bif)) == 0
    assert "v3 + v1 -> v4" in capsys.readouterr().out.replace("\n", " ")
    assert run("inspect", str(bif), "--json") == 0
    assert json.loads(capsys.readouterr().out)["arcs"][0]["identified"] is None


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "uai", "net"])
def test_learn_writes_the_format_of_the_ending(ending: str, box: Path, tmp_path: Path) -> None:
    assert run("learn", str(box), "-q", "-o", str(tmp_path / f"net.{ending}")) == 0
    found = read_network(tmp_path / f"net.{ending}")
    assert isinstance(found, BayesianNetwork)
    assert found.variables == ("a", "b", "c")


def test_learn_writes_a_model_file_where_the_ending_says_nothing(box: Path, tmp_path: Path) -> None:
    for name in ("net", "net.json", "net.v2"):
        assert run("learn", str(box), "-q", "-o", str(tmp_path / name)) == 0
        assert json.loads((tmp_path / name).read_text())["format"] == "xordal network"


@pytest.mark.parametrize("ending", ["parquet", "csv", "XLSX", "html", "json.gz", "png"])
def test_a_network_is_not_written_to_what_is_called_a_table_or_a_page(
    ending: str, box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    other = tmp_path / f"other.{ending}"
    assert run("learn", str(box), "-q", "-o", str(other)) == 2
    assert f"No network is written as {other.suffix.lower()}." in " ".join(capsys.readouterr().err.split())
    assert sorted(tmp_path.iterdir()) == before


def test_names_beside_uai_files_are_not_lost(
    bif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tmp_path / "x.uai.names"
    names.write_text(bif.read_text())
    assert run("convert", str(names), str(tmp_path / "x.uai")) == 2
    assert "OUT would overwrite" in " ".join(capsys.readouterr().err.split())
    assert names.read_text() == bif.read_text()
    names.unlink()
    assert run("export", str(bif), "--to", "uai") == 0
    assert "names of variables" in capsys.readouterr().err


def test_a_table_in_place_of_a_network(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["query", str(box), "a"], ["inspect", str(box)], ["convert", str(box), f"{box}.bif"]):
        assert run(*command) == 1
        assert "looks like a table" in " ".join(capsys.readouterr().err.split())
    for name, content in (("t.parquet", b"PAR1\x15\xff"), ("t.xls", b"\xd0\xcf\x11\xe0\xa1")):
        (box.parent / name).write_bytes(content)
        assert run("query", str(box.parent / name), "a") == 1
        assert "looks like a table" in " ".join(capsys.readouterr().err.split())
    spaced = box.parent / "my box.csv"
    spaced.write_bytes(box.read_bytes())
    assert run("direct", str(spaced)) == 1
    assert f"xordal learn '{spaced}' -o" in " ".join(capsys.readouterr().err.split())


def test_tables_are_written_as_their_ending_says(
    learned: Path, box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of one seed are the same in every format; in Parquet levels keep their type."""
    for ending in ("csv", "tsv", "parquet", "txt"):
        assert run("sample", str(learned), "-n", "7", "-o", str(tmp_path / f"rows.{ending}")) == 0
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert pd.read_csv(tmp_path / "rows.tsv", sep="\t").equals(rows)
    assert pd.read_csv(tmp_path / "rows.txt").equals(rows)
    assert pd.read_parquet(tmp_path / "rows.parquet").astype(int).equals(rows.astype(int))
    target = ("predict", str(learned), str(tmp_path / "rows.parquet"), "-t", "c")
    assert run(*target, "-o", str(tmp_path / "told.parquet")) == 0
    assert pd.read_parquet(tmp_path / "told.parquet")["probability"].between(0.5, 1).all()
    assert run("score", str(learned), str(box), "-o", str(tmp_path / "scores.parquet")) == 0
    assert len(pd.read_parquet(tmp_path / "scores.parquet")) == 120
    assert run("generate", "music-box", "-n", "9", "-o", str(tmp_path / "box.parquet")) == 0
    assert len(pd.read_parquet(tmp_path / "box.parquet")) == 9
    before = sorted(tmp_path.iterdir())
    capsys.readouterr()
    for ending in ("csv.gz", "xlsx", "json", "bif"):
        assert run("sample", str(learned), "-n", "7", "-o", str(tmp_path / f"x.{ending}")) == 2
        assert run(*target, "-o", str(tmp_path / f"x.{ending}")) == 2
        assert run("generate", "music-box", "-o", str(tmp_path / f"x.{ending}")) == 2
        assert "end in .csv, .tsv or .parquet" in " ".join(capsys.readouterr().err.split())
    assert run(*target, "--json", "-o", str(tmp_path / "told.json")) == 0
    (tmp_path / "told.json").unlink()
    assert sorted(tmp_path.iterdir()) == before
