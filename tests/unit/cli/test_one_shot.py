"""``xordal report``: from a table to a page in one go, and the page of a network."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.messy import workbook
from tests.commands import call, run

XOR = "".join(f"{a},{b},{a ^ b},{n % 3}\n" for n in range(30) for a in (0, 1) for b in (0, 1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lamps.csv").write_text("class,b,c,noise\n" + XOR)
    return tmp_path


def test_a_table_becomes_a_page(folder: Path) -> None:
    done = run("report", "lamps.csv", cwd=folder)
    assert done.stdout.splitlines()[0] == "Learned from 120 rows of 4 columns: 3 links, 1 hidden group"
    assert "class, b, c: 0 or 2 of the 3 columns have the value 1" in done.stdout
    assert "Wrote the report to lamps.html" in done.stderr
    page = (folder / "lamps.html").read_text(encoding="utf-8")
    assert "The strongest hidden group" in page
    assert "The first rows, as they came" in page
    assert "What xordal found in lamps" in page


def test_the_page_lies_here_and_not_beside_the_data(folder: Path) -> None:
    (folder / "here").mkdir()
    packed = gzip.compress((folder / "lamps.csv").read_bytes())
    (folder / "packed.csv.gz").write_bytes(packed)
    for source, page in (("../lamps.csv", "lamps.html"), ("../packed.csv.gz", "packed.html")):
        done = run("report", source, cwd=folder / "here")
        assert f"Wrote the report to {page}" in done.stderr
        assert (folder / "here" / page).exists()
    (folder / "packed.csv.gz").unlink()
    (folder / "parts").mkdir()
    (folder / "parts" / "lamps.csv").write_bytes((folder / "lamps.csv").read_bytes())
    run("report", "../parts/*.csv", cwd=folder / "here")
    assert sorted(path.name for path in (folder / "here").iterdir()) == [
        "lamps.html",
        "packed.html",
        "parts.html",
    ]
    assert not list(folder.glob("*.html"))


def test_a_page_that_somebody_else_made_is_kept(folder: Path) -> None:
    (folder / "lamps.html").write_text("<html>my codebook</html>")
    done = run("report", "lamps.csv", cwd=folder, code=1)
    assert "'lamps.html' is there already" in done.stderr
    assert "-o FILE" in done.stderr
    assert (folder / "lamps.html").read_text() == "<html>my codebook</html>"
    run("report", "lamps.csv", "-o", "lamps.html", cwd=folder)
    run("report", "lamps.csv", cwd=folder)  # ours may go
    assert (folder / "lamps.html").read_text().startswith("<!doctype html>")


def test_a_page_to_standard_output_is_nothing_but_the_page(folder: Path) -> None:
    done = run("report", "lamps.csv", "-o", "-", cwd=folder)
    assert done.stdout.startswith("<!doctype html>")
    assert "Learned from 120 rows" in done.stderr
    assert run("report", "lamps.csv", "-q", cwd=folder).stdout == ""


def test_a_network_is_known_by_what_it_holds(folder: Path) -> None:
    run("learn", "lamps.csv", "-q", "-o", "net.json", cwd=folder)
    run("export", "net.json", "-o", "net.bif", cwd=folder)
    for name in ("net.json", "net.bif"):
        done = run("report", name, "-o", "page.html", cwd=folder)
        assert done.stdout == ""
        assert "Learned from" not in done.stderr


def test_what_is_neither_is_refused_without_a_page(folder: Path) -> None:
    (folder / "no.csv").write_text("")
    for name in ("no.csv", "absent.csv"):
        done = run("report", name, "-o", "page.html", cwd=folder, code=1)
        assert "Error" in done.stderr
        assert not (folder / "page.html").exists()


def test_where_nothing_is_found_the_screen_says_what_could_have_been(folder: Path) -> None:
    rows = "".join(f"{n % 2},{n // 2 % 2},{n // 4 % 2}\n" for n in range(40))
    (folder / "plain.csv").write_text("a,b,c\n" + rows)
    told = " ".join(run("report", "plain.csv", cwd=folder).stdout.split())
    assert "no links, no hidden groups In 40 rows of 3 columns, two of two levels must share at least" in told


def test_bins_by_name_are_checked(folder: Path) -> None:
    for bins, told in (("noise=0", "at least 2 bins, not 0"), ("noise=none", "--categorical noise")):
        assert told in " ".join(run("learn", "lamps.csv", "--bins", bins, cwd=folder, code=2).stderr.split())


def test_columns_left_out_are_named(folder: Path) -> None:
    lines = (folder / "lamps.csv").read_text().splitlines()
    named = [f"{line},{'who' if n == 0 else f'p{n}'}" for n, line in enumerate(lines)]
    (folder / "people.csv").write_text("\n".join(named) + "\n")
    run("report", "people.csv", cwd=folder)
    assert "Not taken in: who." in (folder / "people.html").read_text(encoding="utf-8")


def test_what_was_said_of_the_file_is_said_once(folder: Path) -> None:
    """The page shows the table as it came, for which it is read again."""
    (folder / "titled.csv").write_text("Lamps of 2026\n" + (folder / "lamps.csv").read_text())
    done = run("report", "titled.csv", cwd=folder)
    assert done.stderr.count("above the header") == 1
    assert "DataWarning" not in done.stderr


def test_a_table_of_counts_is_counted(tmp_path: Path) -> None:
    """By itself where every combination stands once; else the column is named and taken as it is."""
    cells = [("f", "yes", 30), ("f", "no", 70), ("m", "yes", 60), ("m", "no", 0)]
    (tmp_path / "t.csv").write_text("sex,smokes,Freq\n" + "".join(f"{a},{b},{n}\n" for a, b, n in cells))
    done = run("learn", "t.csv", "--json", cwd=tmp_path)
    assert "Rows are counted by 'Freq'" in done.stderr
    asked = run("learn", "t.csv", "--json", "--weights", "Freq", cwd=tmp_path)
    by_itself, by_name = json.loads(done.stdout), json.loads(asked.stdout)
    assert by_itself["variables"] == by_name["variables"] == ["sex", "smokes"]
    assert by_itself["trace"] == by_name["trace"]
    for how in (["--categorical", "Freq"], ["--columns", "sex,smokes,Freq"]):
        kept = run("learn", "t.csv", "--json", *how, cwd=tmp_path)
        assert json.loads(kept.stdout)["variables"] == ["sex", "smokes", "Freq"]
    (tmp_path / "twice.csv").write_text((tmp_path / "t.csv").read_text() + "f,yes,5\n")
    twice = run("learn", "twice.csv", "--json", cwd=tmp_path)
    assert json.loads(twice.stdout)["variables"] == ["sex", "smokes", "Freq"]
    assert "--weights Freq" in twice.stderr


def test_rules_are_told_in_words(tmp_path: Path) -> None:
    run("generate", "parity", "-p", "variables=6", "-n", "400", "-o", "bits.csv", cwd=tmp_path)
    done = run("report", "bits.csv", cwd=tmp_path)
    assert "no links, no hidden groups, 1 rule" in done.stdout
    assert "parity: 0, 2, 4 or 6 of these 6 have the value 1" in done.stdout


def test_a_sum_says_what_its_functions_and_brackets_are(tmp_path: Path) -> None:
    """Rows of three marks, of which the outcome tells whether crosses are more than noughts."""
    marks = [(a, b, c) for a in "xo." for b in "xo." for c in "xo."]
    kept = [m for m in marks if 0 <= m.count("x") - m.count("o") <= 1]
    rows = "".join(f"{','.join(m)},{'yes' if m.count('x') > m.count('o') else 'no'}\n" for m in kept)
    (tmp_path / "marks.csv").write_text("a,b,c,more\n" + rows * 20)
    told = run("report", "marks.csv", cwd=tmp_path).stdout
    assert "f(a) + f(b) + f(c) - [more = yes] = 0" in told
    assert "    f is -1 where the value is o; 0 where it is .; 1 where it is x (in a, b, c)\n" in told
    assert "    [more = yes] is 1 where that holds, else 0\n" in told


def test_lines_end_where_their_text_ends_and_break_between_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    chain = ["first column", "second column", "third column", "fourth column"]
    rows = "".join(
        f"{n % 2},{n % 2 ^ (n % 7 == 0)},{n % 2 ^ (n % 5 == 0)},{n % 2 ^ (n % 3 == 0)}\n" for n in range(400)
    )
    (tmp_path / "chain.csv").write_text(",".join(chain) + "\n" + rows)
    for command in ("report", "learn"):
        lines = run(command, "chain.csv", cwd=tmp_path).stdout.splitlines()
        assert max(map(len, lines)) <= 40
        assert [line for line in lines if line != line.rstrip() or line.endswith(" -")] == []


def test_a_list_of_records_is_a_table(folder: Path) -> None:
    rows = [{"a": a, "b": b, "c": a ^ b} for a in (0, 1) for b in (0, 1)] * 30
    (folder / "rows.json").write_text(json.dumps(rows, indent=1))
    assert "a, b, c: 0 or 2" in run("report", "rows.json", cwd=folder).stdout
    (folder / "page.csv").write_text("<!doctype html><p>a,b")
    assert "page.csv is a web page" in run("report", "page.csv", cwd=folder, code=1).stderr


def test_links_are_told_in_rates_where_nothing_hides(tmp_path: Path) -> None:
    """40 of 100 smokers cough and 10 of 100 others; what does not depend on it is not told."""
    coughs = {"yes": 40, "no": 10}
    rows = "".join(f"{s},{'yes' if n < coughs[s] else 'no'},{n % 2}\n" for s in coughs for n in range(100))
    (tmp_path / "t.csv").write_text("smokes,coughs,noise\n" + rows)
    told = run("report", "t.csv", cwd=tmp_path).stdout.splitlines()
    assert told[1:] == [
        "  smokes - coughs",
        "  coughs = yes in 10 % of smokes = no (6 to 17), 40 % of yes (31 to 50)",
        "  Ranges in brackets are of 95 %.",
    ]
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "coughs = yes in 10 % of smokes = no (6 to 17), 40 % of yes (31 to 50)" in page
    assert "No hidden groups: pairs of columns explain what was found." in page


def test_a_rule_without_a_group_stands_first(tmp_path: Path) -> None:
    """Four bits and their parity: a rule of five columns, of which no set of three shows anything."""
    bits = [[n >> k & 1 for k in range(4)] for n in range(16)]
    rows = "".join(",".join(map(str, (*four, sum(four) % 2))) + "\n" for four in bits)
    (tmp_path / "bits.csv").write_text("a,b,c,d,even\n" + rows * 20)
    run("report", "bits.csv", "-q", cwd=tmp_path)
    page = (tmp_path / "bits.html").read_text(encoding="utf-8")
    opening = page[page.index('class="strongest"') :]
    assert opening.index("A rule that the rows obey") < opening.index("0, 2 or 4 of these 5 have the value 1")
    assert "pairs of columns explain what was found" not in page


def test_a_table_of_counts_is_noted_whatever_they_are_called(tmp_path: Path) -> None:
    cells = [(a, b, c) for a in "xy" for b in "xy" for c in "xyz"]
    rows = [",".join(cell) + f",{7 * n + 3}\n" for n, cell in enumerate(cells)]
    note = (
        "Each combination of the other columns stands in one row, as in a table of counts. If 'people' says how"
    )
    (tmp_path / "t.csv").write_text("a,b,c,people\n" + "".join(rows))
    assert note in run("report", "t.csv", cwd=tmp_path).stderr
    assert "--weights people" in run("learn", "t.csv", cwd=tmp_path).stderr
    for options in (["--weights", "people"], ["--exclude", "people"], ["--categorical", "people"]):
        assert note not in run("report", "t.csv", *options, cwd=tmp_path).stderr
    (tmp_path / "t.csv").write_text("a,b,c,people\n" + "".join([*rows, rows[0]]))  # a combination stands twice
    assert note not in run("report", "t.csv", cwd=tmp_path).stderr


@pytest.mark.slow
def test_tables_of_many_files_of_a_query_and_of_standard_input(folder: Path) -> None:
    (folder / "parts").mkdir()
    text = (folder / "lamps.csv").read_text()
    for name in ("a", "b"):
        (folder / "parts" / f"{name}.csv").write_text(text)
    found = "class, b, c: 0 or 2 of the 3 columns have the value 1"
    for source in ("parts", "parts/*.csv"):
        told = run("report", source, "-o", "parts.html", cwd=folder).stdout
        assert told.startswith("Learned from 240 rows") and found in told
        assert '<th scope="row">class</th>' in (folder / "parts.html").read_text(encoding="utf-8")
    asked = run("report", "lamps.csv", "--sql", "select class, b, c from data", "-o", "q.html", cwd=folder)
    assert asked.stdout.startswith("Learned from 120 rows of 3 columns")
    piped = call(["report", "-"], cwd=folder, stdin=text.encode())
    assert piped.stdout.startswith(b"<!doctype html>") and found.encode() in piped.stderr
    run("learn", "lamps.csv", "-q", "-o", "net.json", cwd=folder)
    network = call(["report", "-"], cwd=folder, stdin=(folder / "net.json").read_bytes())
    assert network.stdout.startswith(b"<!doctype html>") and b"Learned from" not in network.stderr


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_messy_workbook_says_what_hides_in_it_on_the_first_screen(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    n, day = 900, np.datetime64("2023-01-01")
    channel, tariff, region = random.integers(0, 2, n), random.integers(0, 2, n), random.integers(0, 3, n)
    churned = channel ^ tariff ^ (random.random(n) < 0.08)
    columns = {
        "Customer ID": [f"C-{10_000 + 7 * row}" for row in range(n)],
        "Signup": [str(day + int(late)) for late in random.integers(0, 700, n)],
        "Region": [["North", "South", "East"][level] for level in region],
        "Channel": [["web", "shop"][level] for level in channel],
        "Tariff": [["flat", "prepaid"][level] for level in tariff],
        "Churned": [["no", "yes"][level] for level in churned],
        "Age": [str(age) for age in random.integers(18, 85, n)],
        "Monthly bill": [f"${bill:,.2f}" for bill in 900 + 80 * region + 200 * random.random(n)],
        "Remark": [f"said {number}" for number in random.integers(0, 10**6, n)],
    }
    cells = {
        name: values if name == "Customer ID" else [v if random.random() > 0.08 else "" for v in values]
        for name, values in columns.items()
    }
    rows = [["Customers, exported on Monday"], [], list(cells), *map(list, zip(*cells.values(), strict=True))]
    (tmp_path / "messy.xlsx").write_bytes(workbook({"Notes": [["read me"]], "Data": rows}))
    done = run("report", "messy.xlsx", cwd=tmp_path)
    summary, group = done.stdout.splitlines()[:2]
    assert "1 hidden group" in summary
    assert group.strip().startswith("Channel, Tariff, Churned: Churned = ")
    page = (tmp_path / "messy.html").read_text(encoding="utf-8")
    strongest = page[page.index("The strongest hidden group") :]
    assert re.findall(r'<p class="who">([^<]*)</p>', strongest)[0] == "Channel | Tariff | Churned"


def test_what_pairs_show_is_told_beside_what_hides(tmp_path: Path) -> None:
    rows = [
        (a, b, a ^ b, s, s if n % 10 else 1 - s)
        for n in range(40)
        for a in (0, 1)
        for b in (0, 1)
        for s in (0, 1)
    ]
    text = "".join(
        f"{a},{b},{c},{'smoke' if s else 'none'},{'cough' if d else 'none'}\n" for a, b, c, s, d in rows
    )
    (tmp_path / "t.csv").write_text("a,b,c,smokes,coughs\n" + text)
    lines = run("report", "t.csv", cwd=tmp_path).stdout.splitlines()
    at = lines.index("  Pairs show:")
    assert lines[at + 1].startswith("    coughs = cough in 10 % of smokes = none (")
    # No link of the group, which no pair shows.
    assert lines[at + 2 :] == ["  Ranges in brackets are of 95 %."]
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    section = page[page.index('<section id="links"') :].partition("</section>")[0]
    assert "smokes - coughs" in section
    assert "a - b" not in section
