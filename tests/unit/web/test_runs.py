"""A run from upload to answers, as the page goes through it; the processes behind it are real ones."""

from __future__ import annotations

import asyncio
import bz2
import gzip
import json
import lzma
import sqlite3
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from starlette.testclient import TestClient

from benchmarks.messy import workbook
from tests.serving import OWN, Page, entered
from xordal.data.write import csv_text
from xordal.errors import SettingsError
from xordal.formats.network_files import FORMATS, load
from xordal.pi.zoo import music_box
from xordal.web import downloads
from xordal.web.app import Site, make_app
from xordal.web.gate import Keys
from xordal.web.runs import _ended
from xordal.web.store import A_DAY, Store

pytestmark = pytest.mark.slow  # each starts processes


def box_csv() -> bytes:
    table = music_box().joint.exact_table()
    rows = [[table.levels[v][code] for v, code in enumerate(row)] for row in table.rows()]
    return csv_text(table.names, rows).encode()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with entered(tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture(scope="module")
def box(page: Page) -> dict[str, Any]:
    """Return the music box, learned."""
    run = page.upload("box.csv", box_csv())["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {"max_links": 3})
    told: dict[str, Any] = page.wait(run, "done", "failed")
    assert told["status"] == "done", told
    return told


def zipped(data: bytes) -> bytes:
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        archive.writestr("large.csv", data)
    return whole.getvalue()


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


def streamed(page: Page, run: str, until: str) -> list[dict[str, Any]]:
    """Return the events of a run up to a status."""
    found = []
    with page.client.stream("POST", f"/api/runs/{run}/events", headers={"origin": OWN}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
                if found[-1].get("status") == until:
                    break
    return found


def test_the_music_box_is_learned_in_seven_steps(page: Page, box: dict[str, Any]) -> None:
    result = page.get(f"/api/runs/{box['id']}/result")
    assert [len(step["links"]) for step in result["steps"]] == [1, 1, 2, 2, 2, 1, 3]
    assert result["n_groups"] >= 3
    assert "music_box" in result["groups_html"] and len(result["missed"]) == 10


def test_answers_are_those_of_the_library(page: Page, box: dict[str, Any]) -> None:
    names = [variable["name"] for variable in page.get(f"/api/runs/{box['id']}/result")["variables"]]
    store = Store(Path(page.client.app.state.site.store._folder))  # type: ignore[attr-defined]
    folder = next(run for run in store if run.id == box["id"])
    network, single = load(folder.network), load(folder.single)
    given = {"dog": "barks", "music_box": "plays"}
    pairs = [[names.index(name), network.levels_of(name).index(level)] for name, level in given.items()]
    told = page.post(f"/api/runs/{box['id']}/ask", {"given": pairs})
    assert told["marginals"] == [list(row.values()) for row in network.marginals(given).values()]
    assert told["single"] == [list(row.values()) for row in single.marginals(given).values()]
    john = names.index("John")
    assert max(told["marginals"][john]) > 0.99 and max(told["single"][john]) < 0.51
    best = page.post(f"/api/runs/{box['id']}/ask", {"given": pairs, "want": "best"})["best"]
    assert [network.levels[v][code] for v, code in enumerate(best)] == [*network.most_probable(given).values()]
    why = page.post(f"/api/runs/{box['id']}/ask", {"given": pairs, "want": "why", "of": john})
    story = network.why_answer("John", given)
    assert why["after"] == list(story.after)
    assert [effect["share"] for effect in why["effects"]] == [list(e.share or ()) for e in story.effects]


@pytest.mark.parametrize(
    "question", [None, [], {"given": [[0, 9]]}, {"given": [[99, 0]]}, {"given": [["dog", 0]]}]
)
def test_a_question_that_is_none_is_refused(page: Page, box: dict[str, Any], question: object) -> None:
    assert "error" in page.post(f"/api/runs/{box['id']}/ask", question, code=400)


def test_every_format_can_be_taken_away(page: Page, box: dict[str, Any], tmp_path: Path) -> None:
    """What is taken away is the network: formats that hold one are read again and asked."""
    folder = next(run for run in page.client.app.state.site.store if run.id == box["id"])  # type: ignore[attr-defined]
    network, given = load(folder.network), {"dog": "barks", "music_box": "plays"}
    assert set(FORMATS) < set(downloads.ENDINGS)
    assert len(set(downloads.ENDINGS.values())) == len(downloads.ENDINGS)  # each file has a name of its own
    for what, ending in downloads.ENDINGS.items():
        answer = page.client.get(f"/api/runs/{box['id']}/download/{what}")
        assert answer.status_code == 200, (what, answer.text)
        assert answer.headers["content-disposition"] == f'attachment; filename="box{ending}"'
        (tmp_path / f"box{ending}").write_text(answer.text)
        assert what not in ("bif", "xmlbif") or ("network box {" in answer.text or "<NAME>box<" in answer.text)
        if what == "uai-names":  # beside the last UAI file
            assert "music_box" in answer.text
        elif what in ("graphml", "dot", "hif", "report") or what.startswith("uai"):
            assert what.startswith("uai") or "music_box" in answer.text
        else:
            again = load(tmp_path / f"box{ending}")
            assert again.query("John", given=given) == pytest.approx(network.query("John", given=given))


def test_a_sample_shows_its_steps_as_they_come(page: Page) -> None:
    run = page.post("/api/samples/music-box", code=201)["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {})
    events = streamed(page, run, "done")
    kinds = [event["event"] for event in events]
    assert kinds.count("step") == 7 and "places" in kinds
    assert [len(event["links"]) for event in events if event["event"] == "step"] == [1, 1, 2, 2, 2, 1, 3]


def test_what_looks_odd_is_told_with_what_becomes_of_it(page: Page) -> None:
    rows = "".join(f"person {n},{n / 7:.3f},{n % 3},same,{'' if n % 50 == 0 else 'y'}\n" for n in range(200))
    told = page.wait(page.upload("odd.csv", f"who,size,kind,same,gap\n{rows}".encode())["id"], "looked")
    columns = {column["name"]: column for column in told["overview"]["columns"]}
    kinds = {name: column["odd"] for name, column in columns.items()}
    assert kinds == {
        "who": "identifier",
        "size": "continuous",
        "kind": None,
        "same": "constant",
        "gap": "constant",
    }
    assert columns["gap"]["n_missing"] == 4 and told["overview"]["n_incomplete"] == 4
    assert [name for name, column in columns.items() if column["taken"]] == ["size", "kind"]
    assert told["overview"]["settings"]["bins"] == 4 and told["overview"]["gaps"] == [[[4], 4]]


def test_a_file_that_is_no_table_says_so_by_its_own_name(page: Page) -> None:
    told = page.wait(page.upload("letter.pdf", b"%PDF-1.7 nothing")["id"], "failed")
    assert "letter.pdf" in told["failed"] and "/upload" not in told["failed"]


def test_a_network_is_asked_at_once(page: Page, box: dict[str, Any]) -> None:
    bif = page.client.get(f"/api/runs/{box['id']}/download/bif").content
    told = page.wait(page.upload("box.bif", bif)["id"], "done", "failed")
    assert told["kind"] == "network"
    answer = page.post(f"/api/runs/{told['id']}/ask", {"given": []})
    assert len(answer["marginals"]) == 8 and answer["single"] is None
    model = page.client.get(f"/api/runs/{box['id']}/download/json").content
    told = page.wait(page.upload("box.json", model)["id"], "done", "failed")
    assert page.post(f"/api/runs/{told['id']}/ask", {"given": []})["single"] is not None


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize(
    ("what", "mend", "told"),
    [
        ("json", cut, "net is cut short"),
        ("json", lambda data: data.replace(b'"version": ', b'"version": 9', 1), "net is of version 9"),
        ("json", lambda data: data.replace(b'"dog"', b'"cat"', 1), "net: this network contradicts itself"),
        ("bif", cut, "net, line "),
        ("bif", lambda data: data.replace(b"0.5", b"0.9", 1), "instead of 1"),
        ("xmlbif", cut, "is no XML, or is cut short"),
        ("net", cut, "the file ends in the middle"),
        ("uai", cut, "the file ends before"),
        ("dot", bytes, "is DOT, which can be written and not read"),
        ("graphml", bytes, "is GraphML, which can be written and not read"),
        ("hif", bytes, "is HIF, which can be written and not read"),
    ],
)
def test_a_broken_network_is_told_as_one_and_not_as_a_table(
    page: Page, box: dict[str, Any], what: str, mend: Callable[[bytes], bytes], told: str
) -> None:
    whole = page.client.get(f"/api/runs/{box['id']}/download/{what}").content
    answer = page.wait(page.upload("net", mend(whole))["id"], "failed", "looked", "done")
    assert answer["status"] == "failed" and told in answer["failed"]
    assert "xordal learn" not in answer["failed"] and "/upload" not in answer["failed"]


@pytest.mark.parametrize(
    "header", ["<b>a</b>,b", "network {1},b", "class {of} 9,b", '"[a",b', "BAYES ,b", "graph {a},b"]
)
def test_a_table_that_begins_like_a_network_is_a_table(page: Page, header: str) -> None:
    rows = "0,1\n1,0\n" * 30
    told = page.wait(page.upload("t.csv", f"{header}\n{rows}".encode())["id"], "failed", "looked")
    assert told["status"] == "looked", told["failed"]
    assert told["overview"]["n_rows"] == 60


@pytest.mark.parametrize(
    "name", ["../../escape.csv", "%2e%2e%2fescape.csv", "/etc/escape.csv", "..\\escape.csv", "a\x00b"]
)
def test_the_name_of_an_upload_is_no_path(page: Page, name: str, tmp_path: Path) -> None:
    told = page.upload(name.replace("\x00", "%00"), b"a,b\n0,1\n1,0\n")
    assert told["label"] in ("escape.csv", "ab")
    folder = Path(page.client.app.state.site.store._folder)  # type: ignore[attr-defined]
    assert not list(folder.parent.rglob("*escape*"))
    assert (folder / told["id"] / "upload").read_bytes() == b"a,b\n0,1\n1,0\n"


def test_too_large_an_upload_is_refused_and_leaves_nothing(page: Page) -> None:
    folder = Path(page.client.app.state.site.store._folder)  # type: ignore[attr-defined]
    before = len(list(folder.iterdir()))
    assert "larger than 1 MB" in page.upload("big.csv", b"x" * (2**20 + 1), code=413)["error"]

    def pieces() -> Iterator[bytes]:  # without a length that could be looked at first
        for _ in range(40):
            yield b"y" * 2**16

    answer = page.client.post("/api/runs", content=pieces(), headers={"origin": OWN})
    assert answer.status_code == 413
    assert page.upload("none.csv", b"", code=400)
    assert len(list(folder.iterdir())) == before


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zipped, zstd], ids=lambda f: f.__name__
)
def test_what_unpacks_to_too_much_is_refused(page: Page, pack: Callable[[bytes], bytes]) -> None:
    """One megabyte may be uploaded here, and ten may come out of it."""
    rows = b"0,1\n1,0\n" * (2**20)
    told = page.wait(
        page.upload("large.csv.packed", pack(b"a,b\n" + rows + rows[: 2**21]))["id"], "looked", "failed"
    )
    assert told["status"] == "failed" and "unpacks to more than 10 MB" in told["failed"]
    assert "large.csv" in told["failed"]
    small = page.upload("small.csv.packed", pack(b"a,b\n" + rows[: 2**20]))["id"]
    assert page.wait(small, "looked", "failed")["overview"]["n_rows"] == 2**18
    folder = page.client.app.state.site.store._folder  # type: ignore[attr-defined]
    assert (folder / small / "upload").read_bytes().startswith(b"a,b\n0,1")
    assert not (folder / small / "upload.unpacked").exists()


def test_a_workbook_that_unpacks_to_too_much_is_refused(page: Page) -> None:
    book = BytesIO()
    with ZipFile(book, "w", ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (11 * 2**20))
    told = page.wait(page.upload("large.xlsx", book.getvalue())["id"], "looked", "failed")
    assert told["status"] == "failed" and "large.xlsx unpacks to more than 10 MB" in told["failed"]


def test_layers_beyond_those_that_are_unpacked_are_refused(page: Page) -> None:
    """What is left compressed would be unpacked later, in memory and without a bound."""
    packed = b"a,b\n" + b"0,1\n1,0\n" * (2**21)
    for _ in range(4):
        packed = gzip.compress(packed)
    told = page.wait(page.upload("deep.csv.gz", packed)["id"], "looked", "failed")
    assert told["status"] == "failed" and "compressed more than 3 times over" in told["failed"]


def test_a_table_that_begins_like_a_database_is_a_table(page: Page) -> None:
    rows = "".join(f"{a},{b},{a ^ b},0,1\n{a},{b},{a ^ b},1,0\n" for a in (0, 1) for b in (0, 1)) * 25
    run = page.upload("ducks.csv", f"a,b,c,d,DUCKS\n{rows}".encode())["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {})
    told = page.wait(run, "done", "failed")
    assert told["status"] == "done", told
    names = [variable["name"] for variable in page.get(f"/api/runs/{run}/result")["variables"]]
    assert names == ["a", "b", "c", "d", "DUCKS"]


@pytest.mark.parametrize("start", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a"])
def test_a_picture_is_told_as_one(page: Page, start: bytes) -> None:
    told = page.wait(page.upload("photo.png", start + bytes(range(256)))["id"], "looked", "failed")
    assert told["failed"] == "photo.png is a picture. Save the table as CSV, Excel or Parquet."


def test_the_page_advises_no_commands(page: Page) -> None:
    whole = BytesIO()
    with ZipFile(whole, "w") as archive:
        archive.writestr("one.csv", "a,b\n0,1\n")
        archive.writestr("two.csv", "c,d\n0,1\n")
    told = page.wait(page.upload("two.zip", whole.getvalue())["id"], "failed", "looked")
    assert told["failed"].endswith("one.csv, two.csv. Unpack the one that holds the table.")


def test_the_page_advises_no_options(page: Page) -> None:
    told = page.wait(page.upload("odd.csv", b"a,b\n" + bytes(range(128, 256)) * 3)["id"], "looked", "failed")
    assert told["failed"].endswith("is not UTF-8 text. Save the file as UTF-8.")


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_database_is_never_opened(page: Page, tmp_path: Path, kind: str) -> None:
    if kind == "duckdb":
        with duckdb.connect(str(tmp_path / "t")) as database:
            database.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS b")
    else:
        with closing(sqlite3.connect(tmp_path / "t")) as lite:
            lite.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS b")
            lite.commit()
    told = page.wait(page.upload("t.csv", (tmp_path / "t").read_bytes())["id"], "looked", "failed")
    assert told["status"] == "failed"
    assert "database" in told["failed"] and "--" not in told["failed"]


def test_half_a_pair_of_characters_is_answered(page: Page) -> None:
    """In settings, and as a name in a file: neither is UTF-8, and both come as plain JSON."""
    run = page.upload("small.csv", b"a,b\n0,1\n1,0\n")["id"]
    page.wait(run, "looked")
    for settings in (b'{"columns": ["\\ud800"]}', b'{"\\ud800": 1}', b'{"missing": "\\udfff"}'):
        answer = page.client.post(f"/api/runs/{run}/learn", content=settings, headers={"origin": OWN})
        assert answer.status_code in (200, 400), answer.text
        assert "content-security-policy" in answer.headers
    odd = b"".join(b'{"\\ud800": %d, "b": %d}\n' % (n % 2, n % 3) for n in range(60))
    run = page.upload("odd.jsonl", odd)["id"]
    page.wait(run, "looked", "failed")
    page.client.post(f"/api/runs/{run}/learn", json={}, headers={"origin": OWN})
    page.wait(run, "done", "failed")
    assert page.client.get("/api/start").status_code == 200


def test_a_name_that_nobody_can_read_is_refused(tmp_path: Path) -> None:
    with entered(tmp_path, 2**25) as page:
        rows = b"0,1\n1,0\n" * 8
        told = page.wait(page.upload("long.csv", b"x" * 17_000_000 + b",b\n" + rows)["id"], "looked", "failed")
        assert told["status"] == "failed" and "17,000,000 characters" in told["failed"]


def test_a_run_that_need_not_wait_any_more_keeps_its_settings(page: Page) -> None:
    run = page.upload("small.csv", b"a,b\n0,1\n1,0\n" * 20)["id"]
    page.wait(run, "looked")
    runs = page.client.app.state.runs  # type: ignore[attr-defined]
    turns, runs._turns = runs._turns, asyncio.Semaphore(0)
    page.post(f"/api/runs/{run}/learn", {"max_variables": 5, "merge_rare": 7})
    page.wait(run, "waiting")
    page.post(f"/api/runs/{run}/stop")
    told = page.wait(run, "looked")
    assert told["settings"] == {"max_variables": 5, "merge_rare": 7}
    runs._turns = turns
    page.post(f"/api/runs/{run}/learn", told["settings"])
    page.wait(run, "done")


def test_a_line_that_is_too_long_fails_the_run(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens while a process is followed, its run ends."""
    monkeypatch.setattr("xordal.web.runs._LONGEST_LINE", 64)
    for _ in range(3):  # processes that were ready before have the old bound
        run = page.upload("box.csv", box_csv())["id"]
        page.wait(run, "looked", "failed")
        page.client.post(f"/api/runs/{run}/learn", json={}, headers={"origin": OWN})
        told = page.wait(run, "done", "failed")
    assert told["status"] == "failed" and "mistake" in told["failed"]
    monkeypatch.undo()
    for _ in range(2):
        page.wait(page.upload("box.csv", box_csv())["id"], "looked", "failed")


def test_of_several_sheets_another_can_be_read(page: Page) -> None:
    first = [["a", "b"], *([str(n % 2), str(n % 3)] for n in range(24))]
    second = [["p", "q", "r"], *([str(n % 2), str(n % 3), "x"] for n in range(12))]
    run = page.upload("two.xlsx", workbook({"First": first, "Second": second, "Empty": [["nothing"]]}))["id"]
    told = page.wait(run, "looked", "failed")["overview"]
    assert told["sheets"] == ["First", "Second", "Empty"] and told["sheet"] == "First"
    assert [column["name"] for column in told["columns"]] == ["a", "b"]
    page.post(f"/api/runs/{run}/look", {"sheet": "Second"})
    told = page.wait(run, "looked", "failed")["overview"]
    assert told["sheet"] == "Second" and [column["name"] for column in told["columns"]] == ["p", "q", "r"]
    page.post(f"/api/runs/{run}/learn", {"columns": ["p", "q"]})
    assert page.wait(run, "done", "failed")["status"] == "done"
    again = page.post(f"/api/runs/{run}/again", code=201)["id"]  # the same sheet
    page.post(f"/api/runs/{again}/look", {"sheet": "Empty"})
    assert "Empty" in page.wait(again, "looked", "failed")["failed"]
    page.post(f"/api/runs/{again}/look", {})  # and back
    assert page.wait(again, "looked", "failed")["overview"]["sheet"] == "First"
    assert "error" in page.post(f"/api/runs/{run}/look", {"sheet": "First"}, code=400)  # it is learned


def test_a_dash_is_taken_as_missing_when_a_person_says_so(page: Page) -> None:
    rows = "".join(f"{n % 2},{n % 3 if n % 8 else '-'}\n" for n in range(80))
    run = page.upload("dash.csv", f"a,b\n{rows}".encode())["id"]
    told = page.wait(run, "looked")["overview"]
    assert told["n_incomplete"] == 0
    assert told["blanks"] == [{"word": "-", "n_cells": 10, "n_columns": 1, "is_far": False}]
    page.post(f"/api/runs/{run}/look", {"missing": ["-"]})
    told = page.wait(run, "looked")["overview"]
    assert told["n_incomplete"] == 10 and told["blanks"] == [] and told["columns"][1]["n_levels"] == 3
    page.post(f"/api/runs/{run}/learn", {"missing": "drop"})
    page.wait(run, "done")
    levels = page.get(f"/api/runs/{run}/result")["variables"][1]["levels"]
    assert levels == ["0", "1", "2"]


@pytest.mark.parametrize(
    "form",
    [
        None,
        [],
        {"sheet": 1},
        {"missing": "-"},
        {"missing": [1]},
        {"encoding": "rot13"},
        {"encoding": ["utf-8"]},
        {"path": "/etc/passwd"},
        {"missing": ["x" * 101]},
    ],
)
def test_a_form_that_is_none_is_refused(page: Page, form: object) -> None:
    run = page.upload("small.csv", b"a,b\n0,1\n1,0\n")["id"]
    page.wait(run, "looked")
    assert "error" in page.post(f"/api/runs/{run}/look", form, code=400)
    assert page.get(f"/api/runs/{run}")["status"] == "looked"


def test_what_was_guessed_is_told(page: Page) -> None:
    told = page.wait(page.upload("west.csv", "a,b\nMüller,1\nMaier,0\n".encode("cp1252"))["id"], "looked")
    (note,) = told["overview"]["notes"]
    assert note.startswith("west.csv: not UTF-8, so it is read as Windows-1252") and "--" not in note


def test_events_are_told_once_each_whoever_asks(page: Page, box: dict[str, Any]) -> None:
    """Asked again after the last that was heard there is nothing; after one of another server, everything."""
    path = f"/api/runs/{box['id']}/events?now"

    def heard(last: str) -> list[str]:
        answer = page.client.post(path, headers={"origin": OWN, "last-event-id": last})
        return [line[4:] for line in answer.text.splitlines() if line.startswith("id: ")]

    every = heard("")
    assert len(every) > 8 and len(set(every)) == len(every)
    assert heard(every[-1]) == []
    assert heard(every[2]) == every[3:]
    assert heard("0badcafe-9999") == heard("x") == heard("-") == every


def test_missing_values_break_no_rule(page: Page) -> None:
    rows = [(a, b, c, (a + b + c) % 2) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 40
    lines = [",".join(map(str, row)) for row in rows]
    for place in range(8, 14):  # six blanks in the last column, and one row that breaks the rule
        lines[place] = lines[place][:-1]
    lines[3] = f"{lines[3][:-1]}{1 - int(lines[3][-1])}"
    run = page.upload("blank.csv", ("a,b,c,d\n" + "\n".join(lines) + "\n").encode())["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {"missing": "level"})
    page.wait(run, "done")
    words = page.get(f"/api/runs/{run}/result")["groups_html"]
    assert "1 row breaks it, 6 have a missing value in it" in words


def test_the_counts_of_a_rule_are_those_counted_by_hand(page: Page) -> None:
    """Rows that break it, and rows with a missing value in it, of a table with both."""
    draw = np.random.default_rng(0)
    digits = draw.integers(0, 10, size=(4, 3000))
    digits[3] = (3 * digits[0] + digits[1] + 7 * digits[2]) % 10
    wrong = draw.random(3000) < 0.05
    digits[3, wrong] = draw.integers(0, 10, wrong.sum())
    cells = digits.astype(str).astype(object)
    cells[draw.random((4, 3000)) < 0.03] = ""
    n_blank = int((cells == "").any(axis=0).sum())
    whole = cells[:, ~(cells == "").any(axis=0)].astype(int)
    n_broken = int(((3 * whole[0] + whole[1] + 7 * whole[2] - whole[3]) % 10 != 0).sum())
    lines = "".join(",".join(row) + "\n" for row in cells.T)
    run = page.upload("digits.csv", f"a,b,c,check\n{lines}".encode())["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {"missing": "level", "max_links": 1})
    assert page.wait(run, "done", "failed")["status"] == "done"
    words = page.get(f"/api/runs/{run}/result")["groups_html"]
    assert f"{n_broken} rows break it, {n_blank} have a missing value in it" in words
    assert "(missing)" not in words  # it has no value in the rule
    again = page.post(f"/api/runs/{run}/again", code=201)["id"]
    page.post(f"/api/runs/{again}/learn", {"missing": "drop", "max_links": 1})
    assert page.wait(again, "done", "failed")["status"] == "done"
    result = page.get(f"/api/runs/{again}/result")
    assert result["notes"][0] == f"Dropped {n_blank} of 3,000 rows, which had missing values."


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    with Store(tmp_path).held():
        with (
            pytest.raises(SettingsError, match=r"Another xordal serve works in .*--folder"),
            Store(tmp_path).held(),
        ):
            pass
        with Store(tmp_path / "other").held():
            pass
    with Store(tmp_path).held():
        pass


def test_hostile_names_stay_data(page: Page) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    rows = "".join(f"{a},{b},{a ^ b}\n" for a in (0, 1) for b in (0, 1)) * 25
    run = page.upload(hostile, f'"{hostile}",b,c\n{rows}'.encode())["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {})
    page.wait(run, "done")
    result = page.get(f"/api/runs/{run}/result")
    assert result["n_groups"] == 1
    assert "<img" not in result["groups_html"] and "&lt;img" in result["groups_html"]
    report = page.client.get(f"/api/runs/{run}/download/report")
    assert "<img" not in report.text
    assert "<" not in report.headers["content-disposition"]


def test_settings_that_cannot_be_are_refused_before_anything_begins(page: Page) -> None:
    run = page.upload("small.csv", b"a,b\n0,1\n1,0\n")["id"]
    page.wait(run, "looked")
    assert "error" in page.post(f"/api/runs/{run}/learn", {"max_links": 99}, code=400)
    assert page.get(f"/api/runs/{run}")["status"] == "looked"


def test_required_and_forbidden_links_hold(page: Page) -> None:
    run = page.upload("box.csv", box_csv())["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {"required": [["ball1", "light1"]], "forbidden": [["dog", "John"]]})
    assert page.wait(run, "done", "failed")["status"] == "done"
    result = page.get(f"/api/runs/{run}/result")
    names = [variable["name"] for variable in result["variables"]]
    links = {frozenset((names[u], names[v])) for u, v, _ in result["links"]}
    assert {"ball1", "light1"} in links and {"dog", "John"} not in links


def test_closing_a_run_removes_everything_of_it(page: Page) -> None:
    run = page.upload("small.csv", b"a,b\n0,1\n1,0\n")["id"]
    folder = Path(page.client.app.state.site.store._folder) / run  # type: ignore[attr-defined]
    assert folder.is_dir()
    assert page.client.delete(f"/api/runs/{run}", headers={"origin": OWN}).status_code == 200
    assert not folder.exists()
    assert page.client.get(f"/api/runs/{run}").status_code == 404


def test_the_same_table_is_learned_again_with_other_settings(page: Page, box: dict[str, Any]) -> None:
    copy = page.post(f"/api/runs/{box['id']}/again", code=201)
    assert copy["status"] == "looked" and copy["id"] != box["id"]
    page.post(f"/api/runs/{copy['id']}/learn", {"max_links": 1})
    page.wait(copy["id"], "done")
    assert len(page.get(f"/api/runs/{copy['id']}/result")["links"]) == 2
    assert len(page.get(f"/api/runs/{box['id']}/result")["links"]) == 12  # nothing mixed


def test_what_is_a_day_old_goes(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    looked, learned, failed = store.new("a"), store.new("b"), store.new("c")
    learned.upload.write_text("a,b\n")
    learned.write("result", {})
    failed.write("settings", {})
    failed.write("failed", {"message": "no memory"})
    now = float(failed.read("about")["created"])
    assert store.remove_old(now + A_DAY / 2) == []
    assert store.remove_old(now + 1.1 * A_DAY) == [looked.id, failed.id]
    assert not looked.path.exists() and learned.path.exists() and not learned.upload.exists()
    assert (tmp_path / "runs").stat().st_mode & 0o777 == 0o700


def test_a_process_of_which_much_is_unread_ends_in_time() -> None:
    """More than two of the longest lines are left in the pipe: it stays until they are read."""

    async def ended(left: bytes) -> int | None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", f"print({left!r}, flush=True); input()", stdin=PIPE, stdout=PIPE, limit=64
        )
        assert process.stdout is not None
        await process.stdout.read(1)
        while len(process.stdout._buffer) < len(left):  # type: ignore[attr-defined]
            await asyncio.sleep(0.01)
        await asyncio.wait_for(_ended(process), 4)
        return process.returncode

    with ThreadPoolExecutor(1) as thread:  # in this one a browser of other tests may have left a loop running
        assert thread.submit(asyncio.run, ended(b"x" * 1000)).result() == -9


def test_the_file_that_the_server_was_started_with_comes_first(tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text("a,b\n0,1\n1,0\n")
    keys = Keys()
    site = Site(Store(tmp_path / "runs"), first=(tmp_path / "small.csv",))
    with TestClient(make_app(site, keys, [OWN]), base_url=OWN) as client:
        client.get("/", params={"token": keys.token})
        told = client.get("/api/start").json()
        assert told["first"] == told["runs"][0]["id"] and told["runs"][0]["label"] == "small.csv"


def test_columns_taken_as_they_are_keep_their_rare_values(page: Page) -> None:
    rows = "".join(f"{n % 2},{n % 3},town {n % 150}\n" for n in range(300))
    run = page.upload("towns.csv", f"a,b,town\n{rows}".encode())["id"]
    told = page.wait(run, "looked")["overview"]
    assert told["columns"][2]["odd"] == "many levels" and told["settings"]["merge_rare"] == 20
    merging = {"merge_rare": 20, "columns": ["a", "b", "town"]}
    page.post(f"/api/runs/{run}/learn", merging)
    page.wait(run, "done")
    found = page.get(f"/api/runs/{run}/result")
    assert found["variables"][2]["levels"] == ["(other)"]
    assert "Levels of fewer than 20 rows merged: 'town'." in found["notes"]
    again = page.post(f"/api/runs/{run}/again", code=201)["id"]
    page.post(f"/api/runs/{again}/learn", {**merging, "categorical": ["town"]})
    page.wait(again, "done")
    found = page.get(f"/api/runs/{again}/result")
    assert len(found["variables"][2]["levels"]) == 150 and not any("merged" in note for note in found["notes"])


def test_of_a_value_that_is_pages_long_the_beginning_is_shown(page: Page) -> None:
    run = page.upload("long.csv", b"a,b\n" + b"0," + b"x" * 500_000 + b"\n1,y\n" * 40)["id"]
    told = page.wait(run, "looked")
    assert len(json.dumps(told)) < 10_000
    page.post(f"/api/runs/{run}/learn", {"columns": ["a", "b"], "missing": "drop"})
    page.wait(run, "done")
    found = page.get(f"/api/runs/{run}/result")
    assert sorted(len(level) for level in found["variables"][1]["levels"]) == [1, 1001]


def packed_rows(name: str) -> bytes:
    """Return rows with a dash and with 99 in places of missing values, in a file whose values have types."""
    a, b = (
        [99 if n % 5 == 0 else n % 3 for n in range(60)],
        ["-" if n % 4 == 0 else "xy"[n % 2] for n in range(60)],
    )
    if name.endswith("jsonl"):
        return "\n".join(
            json.dumps({"a": one, "b": other, "c": 7}) for one, other in zip(a, b, strict=True)
        ).encode()
    made = BytesIO()
    parquet.write_table(pa.table({"a": a, "b": b, "c": [7] * 60}), made)
    return made.getvalue()


@pytest.mark.parametrize("name", ["typed.parquet", "typed.jsonl"])
def test_words_for_missing_values_hold_where_values_have_types(page: Page, name: str) -> None:
    run = page.upload(name, packed_rows(name))["id"]
    told = page.wait(run, "looked")["overview"]
    assert [(one["word"], one["n_cells"]) for one in told["blanks"]] == [("-", 15), ("99", 12)]
    page.post(f"/api/runs/{run}/look", {"missing": ["-", "99"]})
    told = page.wait(run, "looked")["overview"]
    assert [column["n_missing"] for column in told["columns"]] == [12, 15, 0] and told["blanks"] == []
    page.post(f"/api/runs/{run}/learn", {"columns": ["a", "b"], "missing": "drop"})
    page.wait(run, "done")
    found = page.get(f"/api/runs/{run}/result")
    assert [variable["levels"] for variable in found["variables"]] == [["0", "1", "2"], ["x", "y"]]


def test_a_parquet_file_of_too_many_cells_is_refused(page: Page) -> None:
    """Six million rows of one value are 10 kB there; as text they are more than the 10 MB that are taken."""
    for n_rows, status in ((6_000_000, "failed"), (2_000_000, "looked")):
        made = BytesIO()
        parquet.write_table(pa.table({"a": np.zeros(n_rows, np.int8), "b": np.zeros(n_rows, np.int8)}), made)
        assert len(made.getvalue()) < 2**20
        told = page.wait(page.upload("flat.parquet", made.getvalue())["id"], "looked", "failed")
        assert told["status"] == status
        if status == "failed":
            assert told["failed"].startswith(
                "flat.parquet holds 6,000,000 rows of 2 columns, which as text are"
            )


def test_a_server_that_ends_leaves_nothing_in_the_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a process is killed that was just getting ready."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for seconds in (0.0, 1.0):
        with entered(tmp_path / "runs") as found:
            assert len(list(place.iterdir())) == 1  # the process that gets ready
            time.sleep(seconds)
            found.get("/api/start")
        assert list(place.iterdir()) == []


def test_a_rule_of_the_network_is_drawn_from_the_column_that_it_gives(page: Page) -> None:
    digits = np.random.default_rng(8).integers(0, 10, size=(5, 4000))
    digits[3] = (digits[0] + 3 * digits[1] + digits[2]) % 10
    run = page.upload("digits.csv", csv_text("pqrst", digits.T.tolist()).encode())["id"]
    page.wait(run, "looked")
    page.post(f"/api/runs/{run}/learn", {"columns": list("pqrst")})
    page.wait(run, "done")
    found = page.get(f"/api/runs/{run}/result")
    assert found["links"] == [] and found["n_rules"] == 1
    ends = [set(line[:2]) for line in found["rule_lines"]]
    assert len(ends) == 3 and len(set.intersection(*ends)) == 1 and set.union(*ends) == {0, 1, 2, 3}
    assert {line[2] for line in found["rule_lines"]} == {"rule"}
