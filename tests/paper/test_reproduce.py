"""The whole paper reproduced: every mark as expected, and marks that would notice if it were not so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xordal.report.paper import Item, Mark, Summary, printed, reproduce
from xordal.report.paper.executions import figure_3
from xordal.report.paper.models import table_1
from xordal.report.paper.runs import Studies
from xordal.report.paper.sampling import sample_music_box
from xordal.report.paper.specification import figure_5
from xordal.report.paper.tables import table_3

EXPECTED: dict[str, Mark] = {
    "table-1": "equal",
    "figure-1": "equal",
    "sections-2-3": "equal",
    "algorithm-ml": "different",
    "figure-2": "equal",
    "section-4": "different",
    "table-2": "equal",
    "figure-3": "equal",
    "figure-4": "equal",
    "section-5": "different",
    "table-3": "equal",
    "figure-5": "equal up to sampling",
    "figure-6": "equal",
    "figure-7": "equal",
    "table-4": "different",
    "section-6": "different",
}
DIFFERENT = {
    ("algorithm-ml", "Graphs tested in Table 3", "6, 21, 24, 25"),
    ("algorithm-ml", "Graphs tested in Table 4, and in all", "28, 55, 406, 682, 913, 1,123, 2,282, 3,538"),
    (
        "section-4",
        "The theorem for a PI model without embedded submodels: ML with i = 1 returns an I-map",
        "exclusive or of two fair bits: 0 embedded submodels; ML(1) loses 0.6931 nats of dependence",
    ),
    (
        "section-5",
        "Among the children of a pass, those that learned nothing are no more than those that learned",
        "music box, as printed: 2 of the passes with children break this",
    ),
    ("table-4", "Entropy decrement of L7", "0.6931"),
    ("section-6", "Embedded PI submodels, by the letter of Definitions 2 and 3", "19"),
}


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reproduce()


@pytest.fixture(scope="module")
def studies() -> Studies:
    return Studies.of_the_paper()


def find(summary: Summary, key: str) -> Item:
    return next(item for item in summary.items if item.key == key)


@pytest.mark.slow
def test_every_mark(summary: Summary) -> None:
    assert {item.key: item.mark for item in summary.items} == EXPECTED
    assert summary.counts() == {"equal": 52, "equal up to sampling": 2, "different": 6}


@pytest.mark.slow
def test_what_differs_and_that_each_says_why(summary: Summary) -> None:
    assert {(item.key, check.what, check.ours) for item, check in summary.differences()} == DIFFERENT
    assert all(check.why for _, check in summary.differences())


@pytest.mark.parametrize(("key", "n_rows"), [("table-3", 4), ("table-4", 7)])
def test_all_rows_of_tables_3_and_4_are_equal(summary: Summary, key: str, n_rows: int) -> None:
    item = find(summary, key)
    for what in ("Lookahead i of each row", "Learned link sets", "Graphs tested"):
        check = next(check for check in item.checks if check.what == what)
        assert (check.mark, check.paper) == ("equal", check.ours)
    (grid,) = item.grids
    assert len(grid.rows) == n_rows
    paper, ours = (grid.headings.index(f"graphs tested: {whose}") for whose in ("paper", "ours"))
    assert all(row[paper] == row[ours] for row in grid.rows)


def test_every_figure_is_drawn(summary: Summary) -> None:
    drawn = {item.key: len(item.drawings) for item in summary.items if item.drawings}
    assert drawn == {f"figure-{n}": count for n, count in zip(range(1, 8), (1, 3, 3, 3, 1, 1, 7), strict=True)}
    links = find(summary, "figure-6").drawings[0].links  # type: ignore[union-attr]
    assert [link.is_colored for link in links].count(True) == 10
    assert [set(link.ends) for link in links if not link.is_colored] == [
        {"ball3", "music_box"},
        {"light1", "dog"},
    ]


def test_a_wrong_number_in_the_paper_would_be_seen(studies: Studies, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = list(studies.table_1.steps)
    steps[3] = replace(steps[3], decrement="0.0390")
    altered = replace(studies, table_1=replace(studies.table_1, steps=tuple(steps)))
    (check,) = [check for check in table_3(altered).checks if check.mark == "different"]
    assert check.what == "Entropy decrements, cut to four digits"

    monkeypatch.setitem(printed.TABLE_1, "0000", "0.03")
    assert table_1(studies).checks[0].ours == "15 of 16"
    monkeypatch.setitem(printed.URNS, "ball2", "40")
    assert figure_5(studies).mark == "different"
    monkeypatch.setattr(printed, "FIGURE_3_PASSES", ((1, 4), (3, 2), (1, 3)))
    assert figure_3(studies).mark == "different"


def test_sampling_is_seeded_and_its_ranges_hold_the_exact_decrements(studies: Studies) -> None:
    first, again, other = (sample_music_box(studies.music_box, 2000, 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    exact = [entry.gain for entry in studies.music_box.as_run.learned.trace]
    assert all(low < gain < high for gain, (low, high) in zip(exact, first.ranges, strict=True))
    assert first.one_case_off[1] < 0.6897
    assert first.ranges[-1][0] > 0.693
