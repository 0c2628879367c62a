"""A network on the command line: query, predict, score, sample, inspect, compare."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.commands import run
from tests.unit.cli.test_cli import XORDAL

GIVEN = ["--given", "dog=barks", "--given", "music_box=plays"]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the music box, its network and that of a single-link search."""
    folder = tmp_path_factory.mktemp("box")
    run("generate", "music-box", "--exact", "-o", "box.csv", "-q", cwd=folder)
    run("learn", "box.csv", "-q", "-o", "net.json", cwd=folder)
    run("learn", "box.csv", "-q", "--schedule", "single", "--smoothing", "0", "-o", "single.json", cwd=folder)
    return folder


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_learn_writes_a_model_beside_what_it_prints(box: Path) -> None:
    plain = run("learn", "box.csv", cwd=box).stdout
    both = run("learn", "box.csv", "-o", "other.json", cwd=box)
    assert [line for line in both.stdout.splitlines() if " s" not in line] == [
        line for line in plain.splitlines() if " s" not in line
    ]
    assert "Wrote the network to other.json" in both.stderr
    printed = json.loads(run("learn", "box.csv", "--json", "-o", "third.json", cwd=box).stdout)
    written = json.loads((box / "third.json").read_text())
    assert {key: written[key] for key in printed} == printed


def test_a_search_out_of_time_writes_its_network(box: Path) -> None:
    done = run("learn", "box.csv", "--time-limit", "0.000001", "-o", "early.json", cwd=box)
    assert "time limit" in done.stderr
    assert json.loads(run("inspect", "early.json", "--json", cwd=box).stdout)["stopped_by"] == "time limit"
    assert "The search was ended by a time limit" in run("inspect", "early.json", cwd=box).stdout


def test_query_with_bars_and_as_json(box: Path) -> None:
    shown = run("query", "net.json", "John", *GIVEN, "--smoothing", "0", cwd=box).stdout
    assert shown.splitlines()[0] == "John, given dog=barks, music_box=plays:"
    assert shown.splitlines()[1].split() == ["complains", "1.0000", "█" * 40]
    assert shown.splitlines()[2].split() == ["content", "0.0000"]
    told = json.loads(run("query", "net.json", "John", *GIVEN, "--smoothing", "0", "--json", cwd=box).stdout)
    assert told["answer"] == [
        {"level": "complains", "probability": 1.0},
        {"level": "content", "probability": 0.0},
    ]
    coin = json.loads(run("query", "single.json", "John", *GIVEN, "--json", cwd=box).stdout)
    assert [row["probability"] for row in coin["answer"]] == pytest.approx([0.5, 0.5])


def test_query_of_several_of_all_and_of_the_best(box: Path) -> None:
    joint = json.loads(run("query", "net.json", "John", "dog", "--json", "--smoothing", "0", cwd=box).stdout)
    first = joint["answer"][0]
    assert (first["levels"], round(first["probability"], 6)) == (
        ["complains", "barks"],
        0.25,
    )
    every = json.loads(run("query", "net.json", "--given", "dog=barks", "--json", cwd=box).stdout)["marginals"]
    assert len(every) == 8
    assert "light2" in run("query", "net.json", "--given", "dog=barks", cwd=box).stdout
    best = json.loads(run("query", "net.json", "--mpe", "--given", "John=content", "--json", cwd=box).stdout)
    assert best["most_probable"]["John"] == "content"
    assert "content  (given)" in run("query", "net.json", "--mpe", "--given", "John=content", cwd=box).stdout


def test_query_with_doubt_and_explained(box: Path) -> None:
    command = ["query", "net.json", "dog", "--smoothing", "0", "--json", "--likely"]
    for doubt in ("dog=barks:3,quiet:1", "dog=barks:3,*:1", "dog=quiet:.25,barks:.75"):
        told = json.loads(run(*command, doubt, cwd=box).stdout)
        assert told["answer"][0]["probability"] == pytest.approx(0.75)
    shown = run("query", "net.json", "John", *GIVEN, "--explain", "--smoothing", "0", cwd=box).stdout
    assert "What moved John=complains from 0.5000 to 1.0000:" in shown
    assert ["dog=barks", "0.5000", "0.5000", "+0.2500"] in [line.split() for line in shown.splitlines()]
    story = json.loads(run("query", "net.json", "John", *GIVEN, "--explain", "--json", cwd=box).stdout)[
        "explanation"
    ]
    assert [item["column"] for item in story["evidence"]] == ["music_box", "dog"]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["query", "net.json", "Jhn"], 1, "did you mean 'John'?"),
        (["query", "net.json", "John", "--given", "dgo=barks"], 1, "did you mean 'dog'?"),
        (["query", "net.json", "John", "--given", "dog=bark"], 1, "did you mean 'barks'?"),
        (["query", "net.json", "John", "--given", "dog"], 2, "--given wants dog=barks"),
        (["query", "net.json", "John", "--likely", "dog=barks"], 2, "--likely wants"),
        (["query", "net.json", "John", "--likely", "dog=barks:3"], 1, "says nothing of quiet"),
        (["query", "net.json", "John", "--explain"], 2, "--explain"),
        (["query", "net.json", "--mpe", "dog"], 2, "--mpe"),
        (["query", "nothing.json", "John"], 1, "There is no file 'nothing.json'"),
        (["query", "box.csv", "John"], 1, "box.csv is no network: it is no model file"),
        (
            ["query", "net.json", "ball1", *GIVEN, "--given", "John=content", "--smoothing", "0"],
            1,
            "Impossible evidence",
        ),
        (["predict", "net.json", "box.csv"], 2, "--target"),
        (["predict", "net.json", "box.csv", "-t", "Jon"], 1, "did you mean 'John'?"),
        (["predict", "net.json", "box.csv", "--impute", "--proba"], 2, "--impute"),
        (["predict", "net.json", "box.csv", "-t", "John", "-o", "none/out.csv"], 1, "no directory 'none'"),
        (["predict", "net.json", "net.json", "-t", "John"], 1, "net.json"),
        (["sample", "net.json", "-n", "60000000"], 2, "50,000,000"),
        (["inspect", "net.json", "dog"], 2, "two columns"),
        (["compare", "-", "-"], 2, "standard input"),
        (["predict", "-", "-", "-t", "John"], 2, "standard input holds one file"),
        (
            ["predict", "net.json", "box.csv", "-t", "John", "--json", "--keep", "dog"],
            2,
            "leave out --proba and",
        ),
        (["score", "-", "-"], 2, "standard input holds one file"),
        (["score", "net.json", "box.csv", "--json", "-o", "-"], 2, "name a file for the CSV"),
        (
            ["score", "net.json", "capital.csv"],
            1,
            "no column 'dog', which the network has; did you mean 'Dog'? Ren",
        ),
        (["learn", "box.csv", "-o", "-"], 2, "a file of its own"),
        (["learn", "box.csv", "-o", "none/net.json"], 1, "no directory 'none'"),
    ],
)
def test_mistakes(box: Path, arguments: list[str], code: int, told: str) -> None:
    (box / "capital.csv").write_text((box / "box.csv").read_text().replace("dog", "Dog", 1))
    done = run(*arguments, cwd=box, code=code)
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""


def test_predict_writes_levels_probabilities_and_what_is_kept(box: Path) -> None:
    done = run("predict", "net.json", "box.csv", "-t", "John", "-o", "out.csv", cwd=box)
    assert "1,000 of 1,000 rows with a known John are predicted right (100.0 %)" in done.stderr
    truth = table((box / "box.csv").read_text())
    found = table((box / "out.csv").read_text())
    assert [row["John"] for row in found] == [row["John"] for row in truth]
    assert all(float(row["probability"]) > 0.99 for row in found)
    rows = table(
        run("predict", "net.json", "box.csv", "-t", "John", "--proba", "--keep", "dog", cwd=box).stdout
    )
    assert list(rows[0]) == ["dog", "John=complains", "John=content"]
    told = json.loads(run("predict", "net.json", "box.csv", "-t", "John", "--json", cwd=box).stdout)
    assert told["accuracy"] == 1.0
    assert len(told["predictions"]) == 1000


def test_impute_fills_in_and_copies_the_rest(box: Path) -> None:
    (box / "holes.csv").write_text(
        "id,John,dog,music_box,ball1,ball2,ball3,light1,light2\n"
        "7,,barks,plays,white,black,black,on,on\n"
        '"8,5",content,NA,plays,white,black,black,on,off\n'
    )
    done = run("predict", "net.json", "holes.csv", "--impute", cwd=box)
    assert done.stdout.splitlines() == [
        "id,John,dog,music_box,ball1,ball2,ball3,light1,light2",
        "7,complains,barks,plays,white,black,black,on,on",
        '"8,5",content,quiet,plays,white,black,black,on,off',
    ]
    assert "Filled in 2 of 16 cells." in done.stderr


def test_cells_of_columns_without_links_are_told_when_filled_in(tmp_path: Path) -> None:
    rows = [f"{k % 2},{k % 2},{'xyz'[k // 2 % 3]}" for k in range(120)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,alone", *rows]) + "\n")
    run("learn", "t.csv", "-q", "-o", "net.json", cwd=tmp_path)
    (tmp_path / "holes.csv").write_text("a,b,alone\n,1,\n0,0,\n")
    done = run("predict", "net.json", "holes.csv", "--impute", cwd=tmp_path)
    assert "Filled in 3 of 6 cells. 2 of these are in columns without links" in done.stderr


def test_forgotten_options_and_pages_are_named(box: Path) -> None:
    asked = run("query", "net.json", "John", "dog=barks", cwd=box, code=2)
    assert "--given dog=barks" in " ".join(asked.stderr.split())
    (box / "page.html").write_text("<!doctype html><html><body></body></html>")
    assert "page.html is a web page, no network" in run("query", "page.html", cwd=box, code=1).stderr


def test_score_names_odd_rows_unseen_levels_and_absent_columns(box: Path) -> None:
    lines = (box / "box.csv").read_text().splitlines()
    odd = (
        lines[1].replace("content", "complains")
        if "content" in lines[1]
        else lines[1].replace("complains", "content")
    )
    (box / "odd.csv").write_text("\n".join([*lines[:4], odd]) + "\n")
    told = json.loads(run("score", "net.json", "odd.csv", "--json", "--top", "1", cwd=box).stdout)
    assert told["most_surprising"][0]["row"] == 4
    assert told["most_surprising"][0]["clique"] == ["music_box", "dog", "John"]
    assert "music_box=" in run("score", "net.json", "odd.csv", cwd=box).stdout
    assert "1 row is impossible" in run("score", "net.json", "odd.csv", "--smoothing", "0", cwd=box).stdout
    (box / "new.csv").write_text("\n".join([*lines[:3], "blue," + lines[1].partition(",")[2]]) + "\n")
    done = run("score", "net.json", "new.csv", cwd=box, code=1)
    assert "new.csv, line 4, column 'ball1': the network never saw the level 'blue'" in done.stderr
    told = json.loads(run("score", "net.json", "new.csv", "--unseen", "impossible", "--json", cwd=box).stdout)
    assert (told["impossible_rows"], told["rows"][2]) == (1, None)
    ignored = json.loads(run("score", "net.json", "new.csv", "--unseen", "missing", "--json", cwd=box).stdout)
    assert ignored["impossible_rows"] == 0
    (box / "few.csv").write_text("dog,John\nbarks,content\n")
    assert "no column 'ball1'" in run("score", "net.json", "few.csv", cwd=box, code=1).stderr
    few = json.loads(run("score", "net.json", "few.csv", "--absent", "missing", "--json", cwd=box).stdout)
    assert few["rows"] == pytest.approx([-1.386294], abs=1e-3)
    run("score", "net.json", "odd.csv", "-o", "scores.csv", cwd=box)
    rows = table((box / "scores.csv").read_text())
    assert list(rows[0]) == ["row", "log_likelihood", "surprise", "clique", "clique_surprise"]
    assert len(rows) == 4


def test_samples_can_be_learned_from_again(box: Path) -> None:
    run("sample", "net.json", "-n", "2000", "--seed", "3", "-o", "drawn.csv", cwd=box)
    assert len(run("learn", "drawn.csv", "-q", cwd=box).stdout.splitlines()) == 12
    again = run("sample", "net.json", "-n", "2000", "--seed", "3", cwd=box).stdout
    assert again == (box / "drawn.csv").read_text()
    given = table(run("sample", "net.json", "-n", "50", "--given", "dog=quiet", cwd=box).stdout)
    assert {row["dog"] for row in given} == {"quiet"}


def test_inspect_shows_all_and_explains_a_link(box: Path) -> None:
    shown = run("inspect", "net.json", cwd=box).stdout
    for part in (
        "8 variables, counted from 1,000 rows",
        "0.69314718",
        "{ music_box, dog, John }",
        "Hidden groups",
    ):
        assert part in shown
    story = run("inspect", "net.json", "John", "dog", cwd=box).stdout
    for part in (
        "Step 7 learned it, looking 3 links ahead.",
        "Both are in the hidden group music_box | dog | John",
    ):
        assert part in story
    assert json.loads(run("inspect", "net.json", "John", "ball1", "--json", cwd=box).stdout)["separator"] == [
        "music_box"
    ]


def test_compare(box: Path) -> None:
    shown = run("compare", "net.json", "single.json", "--smoothing", "0", cwd=box).stdout
    assert "10 links in net.json only" in shown
    assert "1.9899  if net.json is true and single.json is used" in shown
    assert "infinite  if single.json is true" in shown
    told = json.loads(run("compare", "net.json", "single.json", "--smoothing", "0", "--json", cwd=box).stdout)
    assert (told["divergence_back"], told["is_infinite"]) == (None, [False, True])


def test_a_network_learned_from_typed_data_is_asked_in_text(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"n": [1, 2] * 50, "yes": [True, False] * 50}), tmp_path / "t.parquet")
    run("learn", "t.parquet", "-q", "-o", "net.json", cwd=tmp_path)
    told = json.loads(run("query", "net.json", "yes", "--given", "n=1", "--json", cwd=tmp_path).stdout)
    assert told["answer"][1]["level"] is True
    assert told["answer"][1]["probability"] > 0.99
    (tmp_path / "t.csv").write_text("n,yes\n1,True\n2,False\n1.0,\n")
    assert [r["yes"] for r in table(run("predict", "net.json", "t.csv", "-t", "yes", cwd=tmp_path).stdout)] == [
        "True",
        "False",
        "True",
    ]


def test_one_column_is_enough_to_predict_another(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "x,u\ny,v\n" * 10)
    run("learn", "t.csv", "-q", "-o", "net.json", cwd=tmp_path)
    (tmp_path / "one.csv").write_text("a\ny\nx\n")
    done = run("predict", "net.json", "one.csv", "-t", "b", cwd=tmp_path)
    assert [row["b"] for row in table(done.stdout)] == ["v", "u"]
    assert done.stderr == ""


def test_names_that_look_like_syntax(tmp_path: Path) -> None:
    rows = '"a=b",c\n' + '"x:1",[red]\n"y,2",\x1b[31m\n' * 10
    (tmp_path / "odd.csv").write_text(rows)
    run("learn", "odd.csv", "-q", "-o", "net.json", cwd=tmp_path)
    shown = run("query", "net.json", "c", "--given", "a=b=x:1", cwd=tmp_path).stdout
    assert "[red]" in shown
    assert r"\x1b[31m" in shown
    assert "\x1b" not in shown
    doubt = json.loads(
        run("query", "net.json", "a=b", "--likely", 'a=b=x:1:3,"y,2:1"', "--json", cwd=tmp_path).stdout
    )
    assert doubt["answer"][0]["probability"] == pytest.approx(0.75)


@pytest.mark.slow
def test_bars_in_a_terminal_and_where_there_are_no_blocks(box: Path) -> None:
    plain = subprocess.run(
        [*XORDAL, "query", "net.json", "light2"],
        cwd=box,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "off  0.6998" in plain.stdout
    assert "####" in plain.stdout
    main, other = pty.openpty()
    environment = os.environ | {"COLUMNS": "40", "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        [*XORDAL, "query", "net.json", "light2"], cwd=box, env=environment, stdout=other
    ) as shown:
        os.close(other)
        text = b""
        try:
            while piece := os.read(main, 4096):
                text += piece
        except OSError:  # the end of a terminal
            pass
        os.close(main)
    assert shown.returncode == 0
    lines = text.decode().splitlines()
    assert any("█" in line for line in lines)
    assert max(map(len, lines)) <= 40


def test_accuracy_is_beside_the_commonest_level_of_the_same_rows(box: Path) -> None:
    lines = (box / "box.csv").read_text().splitlines()
    (box / "one.csv").write_text("\n".join([lines[0], *(line for line in lines if "complains" in line)]))
    done = run("predict", "net.json", "one.csv", "-t", "John", cwd=box)
    assert "(100.0 %); its commonest level has 100.0 %" in done.stderr


def test_inspect_with_another_smoothing(box: Path) -> None:
    told = json.loads(run("inspect", "net.json", "dog", "John", "--smoothing", "0", "--json", cwd=box).stdout)
    assert told["given_rest"] == pytest.approx(0.6931471805599453)


def test_no_command_overwrites_what_it_reads(tmp_path: Path) -> None:
    run("generate", "music-box", "-n", "300", "-o", "b.csv", cwd=tmp_path)
    run("learn", "b.csv", "-o", "net.json", cwd=tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in ("b.csv", "net.json")}
    for command in (
        "learn b.csv -o b.csv",
        "report net.json -o ./net.json",
        "predict net.json b.csv --target John -o b.csv",
        "score net.json b.csv -o net.json",
        "sample net.json -o net.json",
    ):
        done = run(*command.split(), cwd=tmp_path, code=2)
        assert "which is read from" in " ".join(done.stderr.replace("│", " ").split()), done.stderr
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_numbers_of_evidence_may_be_written_as_in_the_table(tmp_path: Path) -> None:
    rows = "".join(f"{n / 8:.2f};{n % 2};{n % 3}\n".replace(".", ",") for n in range(240))
    (tmp_path / "t.csv").write_text("height cm;b;c\n" + rows)
    run("learn", "t.csv", "-q", "-o", "net.json", cwd=tmp_path)
    for text in ("1,75", "1.75", "$1.75"):
        told = run("query", "net.json", "height cm", "--given", f"height cm={text}", cwd=tmp_path).stdout
        assert "height cm=<= 7.38:" in told
    assert (
        "has no level 'tall'"
        in run("query", "net.json", "b", "--given", "height cm=tall", cwd=tmp_path, code=1).stderr
    )
