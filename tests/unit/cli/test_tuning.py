"""``xordal tune``, as a user runs it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer

from tests.commands import run
from xordal import DecomposableMarkovNetwork
from xordal.cli import output, tune
from xordal.pi.zoo import music_box
from xordal.tuning.paths import TuningProgress


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune")
    run("generate", "music-box", "-n", "400", "--seed", "1", "-o", "box.csv", cwd=folder)
    run("generate", "music-box", "-n", "200", "--seed", "2", "-o", "more.csv", cwd=folder)
    return folder


def test_it_tells_what_was_tried_and_keeps_it(box: Path) -> None:
    done = run("tune", "box.csv", "--valid", "more.csv", "-o", "net.json", cwd=box)
    heading, columns, *lines = done.stdout.splitlines()
    assert heading.startswith("Judged by 200 rows of more.csv, ")
    assert columns.split()[:3] == ["k", "penalty", "smoothing"]
    (chosen,) = (line for line in lines if line.startswith(" * "))
    k, penalty, smoothing = chosen.split()[1:4]
    assert f"Chosen (*): -k {k}, penalty {penalty}, smoothing {smoothing}" in done.stdout
    assert "Network: 12 links" in done.stdout and "Wrote the network to net.json" in done.stderr
    told = json.loads((box / "net.json").read_text())
    assert told["tuned"]["held_out"] == {"rows": 200}
    assert told["tuned"]["chosen"]["max_links"] == told["max_links"] == int(k)
    network = DecomposableMarkovNetwork.load(box / "net.json")
    mean = network.log_likelihood(box / "more.csv") / 200
    assert mean == pytest.approx(told["tuned"]["chosen"]["log_likelihood"], abs=1e-9)
    shown = run("inspect", "net.json", cwd=box).stdout
    assert "criterion=BIC(penalty=" in shown and "tried" not in shown


@pytest.mark.slow
def test_what_is_given_is_fixed_and_workers_change_nothing(box: Path) -> None:
    options = ("tune", "box.csv", "--folds", "3", "-k", "2", "--smoothing", "backoff:5", "--json")
    told = json.loads(run(*options, "--seed", "7", cwd=box).stdout)
    assert told["tuned"]["held_out"] == {"rows": 400, "folds": 3, "seed": 7}
    assert {(one["max_links"], one["smoothing"]) for one in told["tuned"]["tried"]} == {(2, "backoff:5")}
    again = json.loads(run(*options, "--seed", "7", "--workers", "2", cwd=box).stdout)
    assert again["tuned"] == told["tuned"] and again["links"] == told["links"]
    quiet = run("tune", "box.csv", "-k", "1", "--smoothing", "1", "-q", cwd=box)
    assert quiet.stderr == "" and all(" - " in line for line in quiet.stdout.splitlines())


def test_numbers_are_judged_in_the_bins_learned_from(tmp_path: Path) -> None:
    for name, first in (("train.csv", 0), ("valid.csv", 1)):
        rows = [f"{number / 7},{'low' if number < 350 else 'high'}" for number in range(first, 700, 2)]
        (tmp_path / name).write_text("\n".join(["x,y", *rows]))
    told = run("tune", "train.csv", "--valid", "valid.csv", "--bins", "4", "-o", "n.json", cwd=tmp_path)
    assert "x - y" in told.stdout or "{ x, y }" in told.stdout
    assert DecomposableMarkovNetwork.load(tmp_path / "n.json").n_levels == (4, 2)


@pytest.mark.parametrize(
    ("options", "told", "code"),
    [
        (["--bic"], "No such option: --bic", 2),
        (["-m", "4"], "No such option: -m", 2),
        (["--bootstrap", "5"], "No such option: --bootstrap", 2),
        (["--checkpoint", "c.json"], "No such option: --checkpoint", 2),
        (["--backend", "gpt"], "Unknown backend 'gpt'; the backends are auto, numpy, numba", 2),
        (["--valid", "more.csv", "--folds", "3"], "give --valid or --folds, not both", 2),
        (["--folds", "1"], "--folds", 2),
        (["--folds", "300"], "400 rows are too few for 300 folds", 2),
        (["--smoothing", "backoff:0"], "'backoff:0' is no smoothing: write", 2),
        (["--smoothing", "1e10"], "no data would count", 2),
        (["--time-limit", "0.00001"], "A limit ended the tuning before one setting was tried", 2),
        (["--valid", "none.csv"], "none.csv", 1),
        (["--valid", "other.csv"], "ball1", 1),
        (["--valid", "more.csv", "-o", "more.csv"], "would overwrite", 2),
    ],
)
def test_what_does_not_go_together(box: Path, options: list[str], told: str, code: int) -> None:
    (box / "other.csv").write_text("a,b\n0,0\n1,1\n")
    message = run("tune", "box.csv", *options, cwd=box, code=code).stderr
    assert told in " ".join(message.replace("│", " ").split())


def untimed(text: str) -> str:
    return re.sub(r"[\d.]+ s\b", "TIME", text)


def test_the_former_command_is_understood(box: Path) -> None:
    options = ("box.csv", "--valid", "more.csv", "-k", "2", "--smoothing", "1", "--backend", "numpy")
    now, before = run("tune", *options, cwd=box), run("learn", *options[:1], "--tune", *options[1:], cwd=box)
    assert untimed(before.stdout) == untimed(now.stdout)
    assert "now a command of its own, xordal tune" in before.stderr and "xordal tune" not in now.stderr
    refused = run("learn", "box.csv", "--tune", "--alpha", "0.1", cwd=box, code=2).stderr
    assert "No such option: --alpha" in refused
    assert "--tune" not in run("learn", "--help", cwd=box).stdout


def test_ctrl_c_prints_the_best_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def stopping_at(n: int) -> Iterator[Callable[[TuningProgress], None]]:
        def tell(at: TuningProgress) -> None:
            if at.n_done == n:
                raise KeyboardInterrupt

        yield tell

    table = music_box().joint.sample_table(400, seed=1)
    for n_searches, file in ((3, "net.json"), (1, "none.json")):
        monkeypatch.setattr(tune, "_progress", lambda quiet, n=n_searches: stopping_at(n))
        with pytest.raises(typer.Exit) as end:
            tune._run(table, None, {"folds": 2, "links": (1,)}, output.NetworkOptions(to=str(tmp_path / file)))
        assert end.value.exit_code == 130
    told = capsys.readouterr()
    assert "Network: " in told.out and "Interrupted: these are the best settings so far." in told.err
    assert "Interrupted before one setting was tried." in told.err
    assert (tmp_path / "net.json").exists() and not (tmp_path / "none.json").exists()
