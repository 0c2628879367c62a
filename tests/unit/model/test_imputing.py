"""Imputed tables: numbers stay numbers, what is there stays as it was written, and every gap gets a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import run
from tests.examples import some
from xordal import learn, read_table
from xordal.data.discretise import middle_of
from xordal.data.missing import MISSING_LEVEL
from xordal.learning.fitting import fit_network


def ages(n: int = 400) -> pd.DataFrame:
    """Ages that decide whether somebody is retired; every tenth is missing."""
    numbers = np.random.default_rng(0).integers(18, 90, n).astype(float)
    frame = pd.DataFrame({"age": numbers, "retired": np.where(numbers > 65, "yes", "no")})
    frame.loc[::10, "age"] = np.nan
    return frame


@pytest.mark.parametrize("missing", ["drop", "level"])
def test_a_gap_among_numbers_becomes_the_median_of_its_bin(missing: Any) -> None:
    frame = ages()
    network = learn(frame, missing=missing, bins={"age": 2}).network()
    filled = network.impute(frame).to_pandas()
    assert filled["age"].dtype == np.float64
    there = frame["age"].notna()
    assert filled.loc[there, "age"].tolist() == frame.loc[there, "age"].tolist()
    (upper,) = [middle_of(level) for level in network.levels[0] if str(level).startswith("> ")]
    known = frame.loc[there & (frame["age"] > upper), "age"]
    middle = known.quantile(interpolation="lower")
    assert set(filled.loc[~there & (frame["retired"] == "yes"), "age"]) == {middle}


@pytest.mark.parametrize("missing", ["drop", "level"])
def test_files_keep_their_way_to_write_numbers(tmp_path: Path, missing: str) -> None:
    rows = [f'{n},"${1000 + 10 * n:,}.50",{"high" if n >= 100 else "low"}' for n in range(200)]
    rows[3], rows[150] = "3,,low", "150,,high"
    (tmp_path / "t.csv").write_text("\n".join(["who,paid,kind", *rows]) + "\n")
    how = ("--exclude", "who", "--bins", "paid=2", "--missing", missing)
    run("learn", "t.csv", "-o", "net.json", "-q", *how, cwd=tmp_path)
    done = run("predict", "net.json", "t.csv", "--impute", "-o", "full.csv", cwd=tmp_path)
    assert "Filled in 2 of 400 cells" in done.stderr
    full = pd.read_csv(tmp_path / "full.csv")
    assert full["who"].tolist() == list(range(200))
    assert full["paid"][3] in set(full["paid"][:100].drop(3))
    assert full["paid"][150] in set(full["paid"][100:].drop(150))
    assert full["paid"][4] == "$1,040.50"


def test_bins_without_a_number_in_the_table_have_a_middle() -> None:
    network = learn(ages(), missing="drop", bins={"age": 3}).network()
    bound = middle_of(network.levels[0][-1])
    filled = network.impute(pd.DataFrame({"age": [np.nan], "retired": ["yes"]}))
    assert filled.levels[0] == (bound,)
    text = network.impute({"age": ["20", None], "retired": ["no", "yes"]})
    assert text.levels[0][text.codes[0, 1]] == f"{bound:g}"


@settings(max_examples=some(40))
@given(st.data())
def test_a_level_of_missing_values_is_no_answer(data: st.DataObject) -> None:
    """The best state without it, by brute force over all states."""
    value = st.sampled_from(["x", "y", None])
    rows = data.draw(st.lists(st.tuples(value, value, value), min_size=8, max_size=30))
    rows += [("x", "x", "x"), ("y", "y", "y")]
    columns = {name: [row[v] for row in rows] for v, name in enumerate("abc")}
    table = read_table(columns, missing="level")
    network = fit_network(table, learn(table))
    filled = network.impute(columns)
    states = list(np.ndindex(*(2, 2, 2)))
    for number, row in enumerate(rows):
        got = tuple(levels[codes[number]] for levels, codes in zip(filled.levels, filled.codes, strict=True))
        assert MISSING_LEVEL not in got
        assert all(cell in (None, value) for cell, value in zip(row, got, strict=True))
        chances = [
            network.probability(dict(zip("abc", state, strict=True)))
            for state in (tuple("xy"[code] for code in one) for one in states)
            if all(cell in (None, value) for cell, value in zip(row, state, strict=True))
        ]
        best = network.probability(dict(zip("abc", got, strict=True)))
        assert best == pytest.approx(max(chances), rel=1e-9)
