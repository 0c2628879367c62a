"""The command line, as a user runs it; in processes where signals, terminals or pipes matter."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import xordal
from tests.commands import call, run, unwrapped
from xordal.cli.app import COMMANDS
from xordal.pi.zoo import CODES, FAMILIES

XORDAL = [sys.executable, "-m", "xordal"]


def test_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"xordal {xordal.__version__}\n"


def test_a_choice_that_is_none_is_told_in_plain_words(tmp_path: Path) -> None:
    told = run("learn", "box.csv", "--missing", "dropp", cwd=tmp_path, code=2).stderr
    assert (
        "Invalid value for '--missing': 'dropp' is not one of 'error', 'drop', 'level', 'auto'."
        in unwrapped(told)
    )


def test_advice_is_typed_as_the_reader_would(tmp_path: Path) -> None:
    rows = "".join(f"{'' if n % 3 else 'x'},{n % 2}\n" for n in range(99))
    (tmp_path / "t.csv").write_text("a,b\n" + rows)
    told = run("learn", "t.csv", "--missing", "error", cwd=tmp_path, code=1).stderr
    assert "--missing drop leaves such rows out" in told and "missing='" not in told
    with pytest.raises(xordal.DataError, match="missing='drop' leaves such rows out") as error:
        xordal.learn(tmp_path / "t.csv")
    assert "--" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["as_run", "printed"])
@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_generate_then_learn_the_music_box(tmp_path: Path, schedule: str, engine: str) -> None:
    run("generate", "music-box", "--exact", "-o", "box.csv", cwd=tmp_path)
    options = ["--delta-h", "0.004", "--schedule", schedule, "--engine", engine, "--json"]
    learned = json.loads(run("learn", "box.csv", "-k", "3", *options, cwd=tmp_path).stdout)
    assert learned["graphs_tested"] == {"as_run": 3583, "printed": 3538}[schedule]
    assert [entry["lookahead"] for entry in learned["trace"]] == [1, 1, 2, 2, 2, 1, 3]
    assert learned["trace"][6]["links"] == [["music_box", "dog"], ["music_box", "John"], ["dog", "John"]]
    assert learned["trace"][6]["gain"] == pytest.approx(0.69314718, abs=1e-8)
    assert len(learned["links"]) == 12
    assert learned["criterion"] == {"name": "EntropyDecrement", "delta_h": 0.004}
    assert learned["n_rows"] == 1000
    contract = (
        "variables links colored_links submodels cliques trace graphs_tested candidates_scored sets_scanned "
        "criterion n_rows seconds"
    )
    assert set(contract.split()) <= set(learned)
    assert len(learned["colored_links"]) == 10
    assert ["music_box", "dog", "John"] in [group["variables"] for group in learned["submodels"]]
    entry = {"action", "lookahead", "links", "gain", "gain_range", "dof", "graphs_tested"}
    assert all(set(step) == entry for step in learned["trace"])


def test_learn_prints_the_steps_and_what_single_links_miss(tmp_path: Path) -> None:
    run("generate", "table-1", "--exact", "-o", "t.csv", cwd=tmp_path)
    done = run("learn", "t.csv", "-k", "2", "--delta-h", "0.001", cwd=tmp_path)
    assert "t.csv: 100 rows, 4 columns" in done.stderr
    assert "0.01392325" in done.stdout
    assert "would have missed 5 of the 6 links" in done.stdout


def test_quiet_prints_the_links_alone(tmp_path: Path) -> None:
    run("generate", "table-1", "--exact", "-o", "t.csv", "-q", cwd=tmp_path)
    done = run("learn", "t.csv", "-k", "1", "--delta-h", "0.001", "-q", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("d - c\n", "")


def test_nothing_found_says_what_could_have_been(tmp_path: Path) -> None:
    (tmp_path / "flat.csv").write_text("a,b\n0,0\n0,1\n1,0\n1,1\n")
    text = unwrapped(run("learn", "flat.csv", cwd=tmp_path).stdout)
    assert "No links found: no set of up to 3 links is significant at alpha = 0.05." in text
    assert "larger hidden groups -m 4 or more." in text
    assert "groups -m 5 or more." in unwrapped(run("learn", "flat.csv", "-m", "4", cwd=tmp_path).stdout)
    assert "In 4 rows of 2 columns, two of two levels must share at least 0.5 nats (a fair" in text
    text = unwrapped(run("learn", "flat.csv", "--delta-h", "0.1", cwd=tmp_path).stdout)
    assert "no set of up to 3 links gains more than 0.1 nats, the smallest effect this run can show" in text
    text = unwrapped(run("learn", "flat.csv", "--bic", cwd=tmp_path).stdout)
    assert "no set of up to 3 links is accepted by the criterion" in text
    text = unwrapped(run("learn", "flat.csv", "--alpha", "1e-6", cwd=tmp_path).stdout)
    assert "not even two columns that say the same could be seen" in text
    assert run("learn", "flat.csv", "-q", cwd=tmp_path).stdout == ""


def test_generate_to_standard_output_is_seeded(tmp_path: Path) -> None:
    first, again, other = (
        run("generate", "music-box", "-n", "5", "--seed", seed, cwd=tmp_path).stdout for seed in "112"
    )
    assert first == again != other
    assert first.splitlines()[0] == "ball1,ball2,ball3,music_box,light1,light2,dog,John"
    assert len(first.splitlines()) == 6


def test_list_names_every_model(tmp_path: Path) -> None:
    listed = run("generate", "--list", cwd=tmp_path).stdout
    assert [line.split()[0] for line in listed.splitlines() if line[0] != " "] == [*FAMILIES, *CODES]


def test_generate_writes_the_truth(tmp_path: Path) -> None:
    done = run("generate", "music-box", "-n", "5", "-o", "box.csv", "--truth", "truth.json", cwd=tmp_path)
    assert done.stderr == "Wrote 5 rows at random, seed 0, to box.csv\nWrote the truth to truth.json\n"
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert list(truth) == ["variables", "links", "colored_links", "submodels"]
    assert (len(truth["links"]), len(truth["colored_links"]), len(truth["submodels"])) == (12, 10, 5)
    sets = {frozenset(submodel["variables"]) for submodel in truth["submodels"]}
    assert frozenset({"music_box", "dog", "John"}) in sets
    shown = run("generate", "music-box", "-n", "5", "-o", "box.csv", "--truth", "-", "-q", cwd=tmp_path)
    assert json.loads(shown.stdout) == truth


def test_a_truth_that_cannot_be_told_writes_nothing(tmp_path: Path) -> None:
    done = run(
        "generate", "parity", "-p", "variables=14", "-o", "p.csv", "--truth", "t.json", cwd=tmp_path, code=1
    )
    assert "cannot be checked" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
@pytest.mark.slow
def test_generate_to_standard_output_by_name(tmp_path: Path, name: str) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("a") as output:
        command = [*XORDAL, "generate", "table-1", "--exact", "-o", name]
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, cwd=tmp_path, check=True)
    assert done.stderr == b""
    assert log.read_text().startswith("before\nd,a,b,c\n")
    assert len(log.read_text().splitlines()) == 102
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_reader_that_stops_is_no_failure_worth_a_word(tmp_path: Path) -> None:
    command = f"{' '.join(XORDAL)} generate music-box -n 300000 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.startswith("ball1,")
    assert done.stderr == ""


def test_demo_tells_the_whole_story(tmp_path: Path) -> None:
    text = run("demo", cwd=tmp_path).stdout
    for told in ("3,583 graphs", "ball3 - music_box, light1 - dog", "0.69314718", "xordal learn box.csv"):
        assert told in text
    assert "500 rows drawn at random, seed 3" in run("demo", "-n", "500", "--seed", "3", cwd=tmp_path).stdout


@pytest.mark.slow
def test_reproduce_prints_writes_and_counts(tmp_path: Path) -> None:
    done = run("reproduce", "-o", "a/b", cwd=tmp_path)
    for told in ("Table 3: Summary of learning", "0.03897774", "[equal up to sampling]", "In all: 52 equal"):
        assert told in done.stdout
    assert done.stderr == "Wrote a/b/index.html\n"
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["index.html"]
    assert (tmp_path / "a" / "b" / "index.html").read_text().endswith("</html>\n")


@pytest.mark.slow
def test_reproduce_as_json(tmp_path: Path) -> None:
    told = json.loads(run("reproduce", "--json", cwd=tmp_path).stdout)
    assert told["counts"] == {"equal": 52, "equal up to sampling": 2, "different": 6}
    table_4 = next(item for item in told["items"] if item["key"] == "table-4")
    assert [row[0] for row in table_4["grids"][0]["rows"]] == [f"L{step}" for step in range(1, 8)]
    assert {check["mark"] for check in table_4["checks"]} == set(told["counts"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["learn", "nothing.csv"], 1, "There is no file 'nothing.csv'"),
        (["learn", "bad.csv", "--missing", "error"], 1, "line 3, column 'b': the value is missing"),
        (["learn", "good.csv", "-k", "2", "-m", "3"], 2, "give -k or -m, not both"),
        (["learn", "good.csv", "-k", "0"], 2, "-k"),
        (["learn", "good.csv", "--delta-h", "-1"], 2, "--delta-h"),
        (["learn", "good.csv", "--delta-h", "inf"], 2, "delta_h must be"),
        (["learn", "good.csv", "--alpha", "5"], 2, "alpha must be a probability between 0 and 1, not 5.0"),
        (["learn", "good.csv", "--alpha", "0.05", "--bic"], 2, "give --alpha or --bic, not both"),
        (["learn", "good.csv", "--schedule", "print"], 2, "--schedule"),
        (["learn", "good.csv", "-m", "2", "--engine", "reference"], 2, "only the paper's bound"),
        (["learn"], 2, "'DATA'"),
        (["lern", "good.csv"], 2, "lern"),
        (["generate", "musicbox"], 2, "did you mean 'music-box'?"),
        (["generate"], 2, "name a model"),
        (["generate", "table-1", "--exact", "-n", "5"], 2, "--exact writes"),
        (["generate", "table-1", "--exact", "--seed", "5"], 2, "--exact writes"),
        (["generate", "table-1", "-n", "0"], 2, "-n"),
        (["generate", "table-1", "-n", "999999999"], 2, "from 0 to 50,000,000"),
        (["generate", "table-1", "-o", ""], 2, "-o needs the name of a file"),
        (["generate", "table-1", "--truth", ""], 2, "--truth needs the name of a file"),
        (["generate", "table-1", "--truth", "-"], 2, "cannot go to one place"),
        (["generate", "table-1", "-o", "x.csv", "--truth", "./x.csv"], 2, "cannot go to one place"),
        (["generate", "table-1", "--list"], 2, "leave 'table-1' out"),
        (["generate", "parity", "-p", "variables=5", "-p", "variables=6"], 2, "'variables' is given more"),
        (["generate", "parity", "-p", "variables=20000"], 2, "at most 1,048,576 states"),
        (["generate", "full-pi", "-p", "seed=-1"], 2, "seed must be zero or positive"),
        (["generate", "table-1", "-o", "no/such/folder.csv"], 1, "Cannot write"),
        (["reproduce", "-o", "good.csv"], 1, "'good.csv' is a file; -o names a folder"),
        (["reproduce", "-o", "good.csv/paper"], 1, "Cannot make the folder 'good.csv/paper'"),
    ],
)
def test_mistakes_get_one_clear_message(tmp_path: Path, arguments: list[str], code: int, told: str) -> None:
    (tmp_path / "good.csv").write_text("a,b\n0,0\n1,1\n")
    (tmp_path / "bad.csv").write_text("a,b\n0,0\n1,\n")
    done = run(*arguments, cwd=tmp_path, code=code)
    assert told in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "good.csv"]


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    done = run("learn", ".", cwd=tmp_path, code=1)
    assert done.stderr == "Error: There is no CSV or Parquet file in '.' or below it. Check the folder.\n"


def test_names_are_data_and_never_markup(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("[bold]x[/bold],:smile:\n" + "0,0\n1,1\n" * 20)
    (tmp_path / "control.csv").write_text("a\x1b[31m,b\n" + "0,0\n1,1\n" * 20)
    assert "[bold]x[/bold] - :smile:" in run("learn", "names.csv", cwd=tmp_path).stdout
    done = run("learn", "control.csv", cwd=tmp_path)
    assert "\x1b" not in done.stdout
    assert r"a\x1b[31m - b" in done.stdout


@pytest.mark.parametrize("command", ["generate music-box -n 3", "learn good.csv", "demo", "--help"])
@pytest.mark.slow
def test_a_full_disk_is_told_in_one_line(tmp_path: Path, command: str) -> None:
    (tmp_path / "good.csv").write_text("a,b\n" + "0,0\n1,1\n" * 50)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*XORDAL, *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_terminal_that_cannot_show_a_name_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("größe,b\n" + "0,0\n1,1\n" * 50)
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*XORDAL, "learn", "names.csv"], capture_output=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0
    assert rb"gr\xf6\xdfe - b" in done.stdout


def test_weak_steps_are_warned_about(tmp_path: Path) -> None:
    run("generate", "table-1", "-n", "60", "-o", "t.csv", cwd=tmp_path)
    paper = ("--delta-h", "0.004")
    assert "times what chance gives" in run("learn", "t.csv", *paper, cwd=tmp_path).stderr
    assert "chance" not in run("learn", "t.csv", cwd=tmp_path).stderr
    run("generate", "music-box", "-n", "3000", "-o", "m.csv", cwd=tmp_path)
    assert "chance" not in run("learn", "m.csv", *paper, cwd=tmp_path).stderr


@pytest.mark.slow
def test_each_criterion_has_an_option(tmp_path: Path) -> None:
    run("generate", "music-box", "-n", "2000", "-o", "m.csv", cwd=tmp_path)
    for options, name in (
        ((), {"name": "Significance", "alpha": 0.05, "seed": 0}),
        (("--alpha", "0.01"), {"name": "Significance", "alpha": 0.01, "seed": 0}),
        (("--bic",), {"name": "BIC", "penalty": 1.0}),
        (("--ebic",), {"name": "EBIC", "gamma": 0.5}),
        (("--bdeu",), {"name": "BDeu", "ess": 1.0}),
        (("--engine", "reference", "-k", "1"), {"name": "EntropyDecrement", "delta_h": 0.004}),
    ):
        learned = json.loads(run("learn", "m.csv", *options, "--json", cwd=tmp_path).stdout)
        assert learned["criterion"] == name
        assert ("p_value" in learned["trace"][0]) == (name["name"] == "Significance")


@pytest.mark.slow
def test_bootstrap_tells_what_comes_back(tmp_path: Path) -> None:
    run("generate", "parity", "-p", "variables=3", "-n", "400", "-o", "p.csv", cwd=tmp_path)
    options = ("learn", "p.csv", "--bootstrap", "3", "--seed", "5")
    told = json.loads(run(*options, "--workers", "2", "--json", cwd=tmp_path).stdout)["bootstrap"]
    assert told == json.loads(run(*options, "--json", cwd=tmp_path).stdout)["bootstrap"]
    assert (told["samples"], told["seed"]) == (3, 5)
    assert {"variables": ["x1", "x2", "y"], "confidence": 1.0} in told["submodels"]
    text = run(*options, cwd=tmp_path).stdout
    assert "In 3 resamples of the rows these came back:\n  100%  x1 - x2\n" in text


def test_hidden_groups_are_told_in_words(tmp_path: Path) -> None:
    run("generate", "music-box", "-n", "2000", "-o", "m.csv", cwd=tmp_path)
    told = unwrapped(run("learn", "m.csv", cwd=tmp_path).stdout)
    assert "any 2 of them look independent: no pair shares more than 0.0017 nats (95 % sure)" in told
    rule = "music_box = silent, dog = quiet, John = content, in all rows (50.0 % by chance)"
    assert f"together: 0 or 2 of these 3 hold: {rule}" in told


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_there(tmp_path: Path, shell: str) -> None:
    environment = os.environ | {"_XORDAL_COMPLETE": f"source_{shell}"}
    program = "from xordal.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert "xordal" in done.stdout


@pytest.mark.slow
def test_interruption_prints_the_network_so_far(tmp_path: Path) -> None:
    """Ctrl-C in a long search: the trace so far, a word on it, exit code 130."""
    rows = [[(row >> bit) & 1 for bit in range(11)] for row in range(2**11)]
    lines = [",".join(f"b{bit}" for bit in range(40)), *(",".join(map(str, (row * 4)[:40])) for row in rows)]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    command = [*XORDAL, "learn", "long.csv", "-k", "6", "-o", "net.json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:  # the headings and three steps
            if line.startswith("   3  1"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Network: " in out
    assert "learned so far" in err
    assert "Traceback" not in err
    kept = json.loads(run("inspect", "net.json", "--json", cwd=tmp_path).stdout)
    assert kept["stopped_by"] == "interruption"
    assert len(kept["trace"]) >= 3


@pytest.mark.slow
def test_in_a_terminal_the_table_and_the_spinner_share_the_screen(tmp_path: Path) -> None:
    run("generate", "music-box", "--exact", "-o", "box.csv", cwd=tmp_path)
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*XORDAL, "learn", "box.csv"],
        stdout=slave,
        stderr=slave,
        cwd=tmp_path,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"},
    ) as process:
        os.close(slave)
        screen = b""
        while chunk := _read(master):
            screen += chunk
        assert process.wait() == 0
    os.close(master)
    assert screen.count(b"0.69314718") == 1
    assert b"music_box - dog, music_box - John, dog - John" in screen


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # the other end is closed
        return b""


def test_help_fits_a_terminal_and_its_examples_can_be_copied(tmp_path: Path) -> None:
    for name in (command.__name__ for command in COMMANDS):
        text = call([name, "--help"], cwd=tmp_path, environment={"COLUMNS": "80"}).stdout.decode()
        lines = text.splitlines()
        assert max(map(len, lines)) <= 80, name
        assert not [line for line in lines if re.search(r"[a-z]-$", line)], name  # no option in two lines
        assert not re.search(r"<[a-z]+>", text), name  # <path>: what only programs call it
        examples = text.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
        assert examples, name
        assert all(line.startswith(f"  xordal {name}") for line in examples), name
