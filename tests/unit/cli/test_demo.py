"""The gallery: every demo finds what its story tells, and writes its report."""

from __future__ import annotations

from pathlib import Path

import pytest

from xordal.cli.app import main
from xordal.demos import gallery
from xordal.demos.books import book_numbers, characters_of, n_filled_in
from xordal.demos.gallery import DEMOS, Demo
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.rules.repair import broken_rows

STORIES = [demo for demo in DEMOS.values() if demo not in (gallery.MUSIC_BOX, gallery.BOOK_NUMBERS)]


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as end:
        main(["demo", *arguments])
    return int(end.value.code or 0)


@pytest.mark.parametrize("demo", STORIES, ids=lambda demo: demo.name)
def test_the_group_of_each_story_is_found_and_hidden_from_single_links(demo: Demo) -> None:
    table = demo.table()
    learned = learn(table, max_variables=demo.max_variables)
    strongest = max(learned.submodels or (), key=lambda group: group.size)
    assert set(learned.names(strongest.variables)) == set(demo.group)
    assert strongest.rule is not None
    single = learn(table, schedule="single")
    inside = {table.names.index(name) for name in demo.group}
    wanted = len(inside) * (len(inside) - 1) // 2
    assert sum(set(link) <= inside for link in learned.links) == wanted
    assert sum(set(link) <= inside for link in single.links) < wanted


def test_rules_of_the_stories() -> None:
    rules = {}
    for demo in STORIES:
        learned = learn(demo.table(), max_variables=demo.max_variables)
        rules[demo.name] = max(learned.submodels or (), key=lambda group: group.size).rule
    assert rules["check-digit"] is not None
    assert (rules["check-digit"].kind, rules["check-digit"].holds) == ("parity", 1.0)
    assert rules["calendar"] is not None
    assert rules["calendar"].additive is not None
    assert (rules["calendar"].additive.modulus, rules["calendar"].holds) == (7, 1.0)
    assert rules["epistasis"] is not None
    assert rules["epistasis"].kind == "rates" and len(rules["epistasis"].rates) == 8  # of 9 pairs of genotypes


@pytest.mark.parametrize("name", list(DEMOS))
def test_a_demo_writes_its_report(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.html"
    assert run([name, "-o", str(file)]) == 0
    printed = capsys.readouterr()
    assert DEMOS[name].title in printed.out
    assert ("Rules:" if name == "book-numbers" else "Hidden groups") in printed.out
    assert "Wrote the report" in printed.err
    page = file.read_text(encoding="utf-8")
    assert f"<h1>{DEMOS[name].title}</h1>" in page
    assert ("None beside" in page) == (name == "book-numbers")


def test_book_numbers_lead_to_the_typing_errors_and_to_what_cannot_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed, right = book_numbers()
    table = characters_of(typed)
    learned = learn(table)
    assert [(rule.name, rule.modulus) for rule in learned.rules] == [("ISBN-10", 11)]
    assert {each.row for each in broken_rows(table, learned.rules)} == set(right)
    whole = [number for row, number in enumerate(typed) if row not in right][:200]
    assert n_filled_in(fit_network(table, learned), whole) == 200
    assert n_filled_in(fit_network(table, learned).without_rules(), whole) < 60
    assert run(["book-numbers"]) == 0
    printed = capsys.readouterr().out
    assert "are exactly those" in printed and "fills in 1,000 of them" in printed


def test_the_list_names_every_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--list"]) == 0
    printed = capsys.readouterr().out
    for demo in DEMOS.values():
        assert demo.name in printed
        assert demo.source in printed


def test_data_are_small_and_their_licences_named() -> None:
    folder = Path(gallery.__file__).parent / "data"
    notes = (folder / "README.md").read_text(encoding="utf-8")
    files = list(folder.glob("*.gz"))
    assert {file.name for file in files} == {f"{demo.name}.csv.gz" for demo in STORIES}
    for file in files:
        assert file.name in notes
        assert file.stat().st_size < 200_000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["calender"], "did you mean 'calendar'"),
        (["calendar", "-n", "5"], "music box"),
        (["calendar", "-o", ""], "name"),
    ],
)
def test_wrong_usage_is_one_error(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert told in " ".join(capsys.readouterr().err.split())
