"""A table on disk gives what the same rows in memory give, to the end: links, groups, rules, network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import parquet

from tests.examples import some
from xordal.data.read import read_table
from xordal.data.table import CategoricalTable
from xordal.learning.learn import learn
from xordal.model import placing
from xordal.rules import beside

Columns = dict[str, NDArray[np.int64]]


def a_sum(draw: np.random.Generator, modulus: int, n_rows: int) -> Columns:
    """Five columns of which the last is a sum of the others, beside two that have no part in it."""
    found = {f"p{place}": draw.integers(0, modulus, n_rows) for place in range(4)}
    factors = draw.integers(1, modulus, 4) if modulus > 2 else np.ones(4, int)
    found["p4"] = factors @ np.stack(list(found.values())) % modulus
    return {**found, "q": draw.integers(0, 2, n_rows), "many": draw.integers(0, 300, n_rows)}


def both(folder: Path, columns: Columns, **how: Any) -> tuple[CategoricalTable, CategoricalTable]:
    """The table of a file as it is packed on disk, and as it is in memory."""
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    packed = read_table([folder / "t.parquet"], cache="off", **how)
    assert packed.blocks is not None
    assert packed.codes.dtype.kind == "u"
    return packed, read_table(folder / "t.parquet", **how)


@pytest.mark.slow
@settings(max_examples=some(12))
@given(seed=st.integers(0, 10**6), modulus=st.sampled_from([2, 3, 5]), many=st.booleans())
def test_rules_of_a_table_on_disk(
    tmp_path_factory: pytest.TempPathFactory, seed: int, modulus: int, many: bool
) -> None:
    """With codes of one byte and of two; 300 levels take two."""
    columns = a_sum(np.random.default_rng(seed), modulus, 1500)
    how = {"categorical": ["many"]} if many else {"exclude": ["many"]}
    packed, in_memory = both(tmp_path_factory.mktemp("rules"), columns, **how)
    found, expected = learn(packed), learn(in_memory)
    assert found.trace == expected.trace
    assert found.submodels == expected.submodels
    assert [rule.variables for rule in expected.rules] == [(0, 1, 2, 3, 4)]
    mine, other = found.network(), expected.network()
    assert mine.rules == other.rules
    assert mine.log_prob(in_memory.codes).tolist() == other.log_prob(in_memory.codes).tolist()
    assert mine.log_prob(packed.codes).tolist() == other.log_prob(in_memory.codes).tolist()


@pytest.mark.slow
def test_rules_of_more_rows_than_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are found in some rows and told of all of them: the few exceptions are mostly in the others."""
    columns = a_sum(np.random.default_rng(7), 3, 60_000)
    wrong = np.arange(0, 60_000, 7_500)
    columns["p4"][wrong] = (columns["p4"][wrong] + 1) % 3
    packed, in_memory = both(tmp_path, columns, exclude=["many"])
    (expected,) = learn(in_memory).rules
    assert (expected.n_rows, expected.n_broken) == (60_000, 8)
    monkeypatch.setattr(beside, "MOST_ROWS", 3000)
    monkeypatch.setattr(placing, "MOST_ROWS_COMPARED", 3000)
    lasts = []
    for table in (packed, in_memory):
        learned = learn(table)
        (found,) = learned.rules
        assert found.log_p_value == pytest.approx(expected.log_p_value, rel=0.02)
        assert replace(found, log_p_value=0.0, by_chance=0.0) == replace(
            expected, log_p_value=0.0, by_chance=0.0
        )
        (ends,) = learned.network().rules
        assert (ends.n_asked, ends.n_broken) == (60_000, 8)
        lasts.append(ends.last)
    assert len(set(lasts)) == 1


def test_missing_values_in_rows_that_are_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns: dict[str, Any] = {**a_sum(np.random.default_rng(8), 2, 30_000)}
    columns["p1"] = [None if row % 10 == 3 else int(bit) for row, bit in enumerate(columns["p1"])]
    packed, _ = both(tmp_path, columns, exclude=["many"], missing="level")
    monkeypatch.setattr(beside, "MOST_ROWS", 5000)
    (rule,) = learn(packed).rules
    assert (rule.n_rows, rule.n_blank, rule.n_broken) == (30_000, 3000, 0)


def test_columns_that_count_up_again_and_again_are_not_constant_in_some_rows() -> None:
    row = np.arange(64_000)
    codes = np.stack([row % 2, row // 2 % 2, row // 4 % 3]).astype(np.int32)
    table = CategoricalTable(("a", "b", "c"), ((0, 1), (0, 1), (0, 1, 2)), codes)
    some_rows = table.some(8000)
    assert some_rows.codes.shape == (3, 8000)
    for column, size in zip(some_rows.codes, (2, 2, 3), strict=True):
        assert np.bincount(column, minlength=size).min() > 8000 / size - 300
    assert table.some(64_000) is table
