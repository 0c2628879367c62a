"""Rows that hold no value: those that part a table go, rows whose values all happen to be missing stay."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.messy import workbook
from tests.examples import some
from xordal import DataError, DataWarning, learn, read_table
from xordal.data.blank_rows import by_chance

NAMES = "abcde"


def gappy(n_rows: int, share: float, seed: int) -> list[list[str]]:
    """Return rows of coins, each missing with the same probability on its own; the last is complete."""
    random = Random(seed)
    rows = [["" if random.random() < share else random.choice("xy") for _ in NAMES] for _ in range(n_rows - 1)]
    return [*rows, list("xyxyx")]


def text_of(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(",".join(row) for row in [NAMES, *rows]) + "\n"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_independent_gaps_are_not_linked_by_leaving_out_rows(tmp_path: Path, seed: int, ending: str) -> None:
    rows = gappy(1500, 0.6, seed)
    path = tmp_path / f"gaps.{ending}"
    cells = [list(NAMES), *rows]
    path.write_bytes(text_of(rows).encode() if ending == "csv" else workbook({"Data": cells}))
    with pytest.warns(DataWarning, match="come about by chance where so much is missing; kept"):
        learned = learn(path, missing="level")
    assert learned.n_rows == 1500
    assert learned.links == ()
    frame = {name: [row[v] or None for row in rows] for v, name in enumerate(NAMES)}
    assert learn(frame, missing="level").n_rows == 1500


@pytest.mark.parametrize("n_rows", [200, 200_000])  # Python's reader, and Arrow's
@pytest.mark.slow
def test_blank_lines_between_parts_of_a_table_are_left_out_with_a_note(tmp_path: Path, n_rows: int) -> None:
    rows = gappy(n_rows, 0.02, 1)
    lines = text_of(rows).splitlines()
    for place in (150, 100, 50):
        lines.insert(place, ",,,,")
    lines.insert(20, "")
    lines += [",,,,"] * 30  # below the table, as a sheet leaves them
    (tmp_path / "parts.csv").write_text("\n".join(lines))
    with pytest.warns(DataWarning, match="parts.csv: 3 rows hold no value; left out"):
        assert read_table(tmp_path / "parts.csv", missing="level").n_rows == n_rows


def test_rows_below_the_table_are_none_without_a_word(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    (tmp_path / "t.csv").write_text("a,b\nx,1\ny,2\n,\n,\n")
    assert read_table(tmp_path / "t.csv").n_rows == 2
    assert not recwarn.list


def test_the_line_of_a_gap_is_right_where_blank_rows_stay(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nx,1\n,\nx,\n,2\n,1\ny,\ny,2\n")
    with (
        pytest.warns(DataWarning, match="1 row holds no value"),
        pytest.raises(DataError, match="line 3, column 'a'"),
    ):
        read_table(tmp_path / "t.csv")


@settings(max_examples=some(100))
@given(st.integers(100, 10_000), st.lists(st.floats(0.05, 0.9), min_size=2, max_size=6))
def test_the_number_by_chance_is_that_of_independent_gaps(n_rows: int, shares: list[float]) -> None:
    n_blank = n_rows * prod(shares)
    n_filled = n_rows - n_blank
    expected = by_chance(n_filled, [n_rows * share - n_blank for share in shares], 10 * n_rows)
    assert expected == pytest.approx(n_blank, rel=0.01, abs=0.1)
