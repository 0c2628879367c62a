"""Checkpoints: the same trace whenever a run is cut off, and clear words for a file that does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.oracle.test_engines import planted, woven
from tests.strategies import tables
from xordal import (
    BIC,
    CategoricalTable,
    Checkpoint,
    Constraints,
    DataError,
    EntropyDecrement,
    Limits,
    SettingsError,
    Significance,
    learn,
)
from xordal.pi.zoo import music_box

BOX = music_box().joint.exact_table()


def cut_off(path: Path, at: int) -> None:
    path.write_bytes(path.read_bytes()[:at])


@settings(max_examples=some(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(max_variables=6), st.integers(1, 6), st.floats(0, 1))
def test_a_run_cut_off_anywhere_ends_with_the_same_trace(
    tmp_path: Path, table: CategoricalTable, k: int, share: float
) -> None:
    """Whatever part of the file is on the disk, to the byte."""
    path = Path(mkdtemp(dir=tmp_path)) / "run.jsonl"
    whole = learn(table, max_links=k, checkpoint=Checkpoint(path))
    assert whole.trace == learn(table, max_links=k).trace
    size = path.stat().st_size
    cut_off(path, int(share * size))
    resumed = learn(table, max_links=k, checkpoint=Checkpoint(path, resume=True))
    assert resumed.trace == whole.trace
    assert resumed.run.graphs_tested == whole.run.graphs_tested
    assert path.stat().st_size == size


def test_what_was_scanned_is_not_scanned_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = learn(BOX, checkpoint=Checkpoint(path))
    again = learn(BOX, checkpoint=Checkpoint(path, resume=True))
    assert again.trace == whole.trace
    assert again.run.candidates_scored < whole.run.candidates_scored


def test_required_links_and_limits_resume(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    rules = Constraints(required=[("ball1", "dog")])
    whole = learn(BOX, constraints=rules, checkpoint=Checkpoint(path))
    for at in (path.stat().st_size // 3, path.stat().st_size // 2):
        cut_off(path, at)
        resumed = learn(
            BOX, constraints=rules, limits=Limits(time_limit=600), checkpoint=Checkpoint(path, resume=True)
        )
        assert resumed.trace == whole.trace
    path.unlink()
    stopped = learn(BOX, limits=Limits(time_limit=1e-9), checkpoint=Checkpoint(path))
    assert stopped.run.stopped_by == "time limit"
    stopped = learn(BOX, limits=Limits(memory_limit=1000), checkpoint=Checkpoint(path, resume=True))
    assert stopped.run.stopped_by == "memory limit"
    assert learn(BOX, checkpoint=Checkpoint(path, resume=True)).trace == learn(BOX).trace


@pytest.mark.slow
@pytest.mark.parametrize("fill_in", [False, True])
def test_links_taken_out_and_filled_in_resume(tmp_path: Path, fill_in: bool) -> None:
    """Cut off after each line, removals and fill-ins among them."""
    path = tmp_path / "run.jsonl"
    table = woven(11, 2000, seed=2) if fill_in else planted(9, 400, seed=4)
    whole = learn(table, criterion=BIC(), fill_in=fill_in, checkpoint=Checkpoint(path))
    assert any(entry.fill_in if fill_in else entry.action == "remove" for entry in whole.trace)
    lines = path.read_bytes().splitlines(keepends=True)
    for n_lines in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:n_lines]))
        resumed = learn(table, criterion=BIC(), fill_in=fill_in, checkpoint=Checkpoint(path, resume=True))
        assert resumed.trace == whole.trace


def mixed(seed: int, n_variables: int = 9) -> CategoricalTable:
    """Return a table whose search ends with sequences of moves."""
    generator = np.random.default_rng(seed)
    table = planted(n_variables, 200, seed=seed)
    codes = np.where(generator.random(table.codes.shape) < 0.15, 1 - table.codes, table.codes)
    return CategoricalTable(table.names, table.levels, codes.astype(table.codes.dtype))


@pytest.mark.slow
def test_sequences_resume(tmp_path: Path) -> None:
    """Cut off after each line and within each: a sequence is on the disk as a whole, or not at all."""
    path = tmp_path / "run.jsonl"
    lengths: set[int] = set()
    for columns, seed in ((9, 0), (10, 0)):
        table, criterion = mixed(seed, columns), BIC(0.3)
        whole = learn(table, criterion=criterion, fill_in=False, checkpoint=Checkpoint(path))
        assert whole.trace == learn(table, criterion=criterion, fill_in=False).trace
        lengths |= {entry.sequence for entry in whole.trace}
        lines = path.read_bytes().splitlines(keepends=True)
        first = max(place for place, line in enumerate(lines) if b'"sequence": 0' in line)
        for n_lines in range(first, len(lines) + 1):
            for torn in {b"", lines[n_lines][:-9] if n_lines < len(lines) else b""}:
                path.write_bytes(b"".join(lines[:n_lines]) + torn)
                resumed = learn(
                    table, criterion=criterion, fill_in=False, checkpoint=Checkpoint(path, resume=True)
                )
                assert resumed.trace == whole.trace
                assert resumed.run.graphs_tested == whole.run.graphs_tested
        path.unlink()
    assert {0, 1, 2, 3} <= lengths


def test_a_sequence_that_lacks_a_move_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    table = mixed(0)
    learn(table, criterion=BIC(0.3), checkpoint=Checkpoint(path))
    lines = path.read_bytes().splitlines()
    place = next(place for place, line in enumerate(lines) if b'{"sequence": [' in line)
    moves = json.loads(lines[place])["sequence"]
    path.write_bytes(b"\n".join([*lines[:place], json.dumps({"sequence": moves[:-1]}).encode(), b""]))
    with pytest.raises(DataError, match="does not fit"):
        learn(table, criterion=BIC(0.3), checkpoint=Checkpoint(path, resume=True))


def test_a_checkpoint_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    learn(BOX, checkpoint=Checkpoint(path))
    before = path.read_bytes()
    with pytest.raises(SettingsError, match="exists"):
        learn(BOX, checkpoint=Checkpoint(path))
    assert path.read_bytes() == before


SHORTER = CategoricalTable(BOX.names, BOX.levels, BOX.codes[:, :-1])
RENAMED = CategoricalTable(("ball0", *BOX.names[1:]), BOX.levels, BOX.codes)
SHUFFLED = CategoricalTable(BOX.names, BOX.levels, BOX.codes[:, ::-1])


@pytest.mark.parametrize(
    ("table", "changed", "complaint"),
    [
        (SHORTER, {}, "number of rows was 1000 and is 999"),
        (RENAMED, {}, "columns number 1 was 'ball1' and is 'ball0'"),
        (SHUFFLED, {}, "fingerprint of the values"),
        (BOX, {"max_links": 2}, "max_links was 3 and is 2"),
        (BOX, {"max_variables": 3}, "max_variables was None and is 3"),
        (BOX, {"schedule": "as_run"}, "schedule was 'printed' and is 'as_run'"),
        (BOX, {"criterion": EntropyDecrement(0.1)}, "delta_h"),
        (BOX, {"constraints": Constraints(forbidden=[("dog", "John")])}, "forbidden was None and is"),
        (BOX, {"limits": Limits(max_clique=4)}, "max_clique was None and is 4"),
    ],
)
def test_other_data_or_settings_are_refused(
    tmp_path: Path, table: CategoricalTable, changed: dict[str, object], complaint: str
) -> None:
    path = tmp_path / "run.jsonl"
    learn(BOX, criterion=EntropyDecrement(0.004), checkpoint=Checkpoint(path))
    before = path.read_bytes()
    settings = {"criterion": EntropyDecrement(0.004), **changed}
    with pytest.raises(SettingsError, match="of another run") as error:
        learn(table, checkpoint=Checkpoint(path, resume=True), **settings)  # type: ignore[arg-type]
    assert complaint in str(error.value)
    assert path.read_bytes() == before


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    """Shuffles decide on the largest sparse tables, so a run that goes on must shuffle as it began."""
    path = tmp_path / "run.jsonl"
    learn(BOX, criterion=Significance(seed=1), checkpoint=Checkpoint(path))
    with pytest.raises(SettingsError, match=r"'seed': 1} and is .*'seed': 2}"):
        learn(BOX, criterion=Significance(seed=2), checkpoint=Checkpoint(path, resume=True))


def damaged(lines: list[bytes], number: int, **change: object) -> bytes:
    """Return the file with something changed in its first entry line after a number."""
    place = next(p for p in range(number, len(lines)) if b'"entry"' in lines[p])
    line = json.loads(lines[place])
    line["entry"].update(change)
    lines[place] = json.dumps(line).encode() + b"\n"
    return b"".join(lines)


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (lambda lines: b"not ours\n", "is no checkpoint"),
        (lambda lines: b"not ours", "is no checkpoint"),
        (lambda lines: b"[1]\n", "is no checkpoint"),
        (lambda lines: lines[0].replace(b'"version": 1', b'"version": 99'), "version 99"),
        (lambda lines: b"".join([lines[0], b"{}\n", *lines[1:]]), "Line 2 .* is damaged"),
        (lambda lines: b"".join([lines[0], b"\x00\xff\n", *lines[1:]]), "Line 2 .* is damaged"),
        (lambda lines: damaged(lines, 1, links=[[3, 1]]), "is damaged"),
        (lambda lines: damaged(lines, 1, gain="nan"), "is damaged"),
        (lambda lines: damaged(lines, 1, action="flip"), "is damaged"),
        (lambda lines: damaged(lines, 1, sequence=-1), "is damaged"),
        (lambda lines: damaged(lines, 1, sequence=99), "does not fit"),
        (lambda lines: damaged(lines, 1, links=[[0, 99]]), "does not fit"),
        (lambda lines: damaged(lines, 1, graphs_tested=7), "does not fit"),
        (lambda lines: damaged(lines, 1, lookahead=17), "does not fit"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, edit: object, complaint: str) -> None:
    path = tmp_path / "run.jsonl"
    learn(BOX, checkpoint=Checkpoint(path))
    path.write_bytes(edit(path.read_bytes().splitlines(keepends=True)))  # type: ignore[operator]
    before = path.read_bytes()
    with pytest.raises(DataError, match=complaint):
        learn(BOX, checkpoint=Checkpoint(path, resume=True))
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be used"):
        learn(BOX, checkpoint=Checkpoint(tmp_path / "no" / "run.jsonl"))
    with pytest.raises(DataError, match="cannot be used"):
        learn(BOX, checkpoint=Checkpoint(tmp_path, resume=True))
    with pytest.raises(SettingsError, match=r"xordal\.Checkpoint"):
        learn(BOX, checkpoint="run.jsonl")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="no checkpoint"):
        learn(BOX, checkpoint=Checkpoint(tmp_path / "r"), engine="reference", criterion=EntropyDecrement())
    with pytest.raises(SettingsError, match="exact joint"):
        learn(music_box().joint, checkpoint=Checkpoint(tmp_path / "r"))


def test_two_runs_cannot_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    seen: list[str] = []

    def again(entry: object) -> None:
        with pytest.raises(SettingsError, match="Another run"):
            learn(BOX, checkpoint=Checkpoint(path, resume=True))
        seen.append("refused")

    learn(BOX, checkpoint=Checkpoint(path), on_entry=again)
    assert seen
