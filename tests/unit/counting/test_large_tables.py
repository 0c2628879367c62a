"""Tables of many cells, from rows and from each other, against NumPy's counts of the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from xordal import CategoricalTable
from xordal.counting import _tables, large_tables
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.finalize import entropy
from xordal.counting.large_tables import LargeTables
from xordal.counting.rows import Codes
from xordal.types.varsets import VarSet, varset

LEVELS = (2, 3, 40, 5, 2, 60, 7)


def drawn(n_rows: int, is_weighted: bool) -> CategoricalTable:
    generator = np.random.default_rng(n_rows)
    codes = np.array([generator.integers(r, size=n_rows) // generator.integers(1, 3) for r in LEVELS])
    columns = {f"x{v}": column.tolist() for v, column in enumerate(codes)}
    weights = generator.integers(1, 9, n_rows).tolist() if is_weighted else None
    return CategoricalTable.from_columns(columns, weights=weights)


def large(table: CategoricalTable, threads: int = 1) -> LargeTables:
    weights = np.empty(0, np.int64) if table.weights is None else table.weights.astype(np.int64)
    codes = Codes(np.require(table.codes, np.int32, ["C"]), np.array(table.n_levels), weights)
    return LargeTables(codes, threads, lambda: None)


def some_sets(n: int) -> list[VarSet]:
    """Sets of all sizes in any order, the whole, pairs of which one holds the other, and one twice."""
    generator = np.random.default_rng(n)
    drawn = [varset(np.flatnonzero(generator.random(len(LEVELS)) < 0.5).tolist()) for _ in range(n)]
    return [s for s in [*drawn, VarSet((1 << len(LEVELS)) - 1), drawn[0]] if s]


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("n_rows", "threads"), [(30, 1), (3000, 1), (3000, 3)])
def test_tables_are_those_of_rows(n_rows: int, threads: int, is_weighted: bool) -> None:
    table = drawn(n_rows, is_weighted)
    tables, plain = large(table, threads), NumpyCounter(table)
    for n in (40, 60):  # the second time many are kept
        sets = some_sets(n)
        for found, wanted in zip(tables.counts(sets), plain.counts(sets), strict=True):
            assert found.cells.tolist() == wanted.cells.tolist()
            assert found.counts.tolist() == wanted.counts.tolist()
        for counts, known in zip(tables.sorted_counts(sets), plain.entropies(sets), strict=True):
            assert entropy(counts) == known


def test_a_set_within_a_counted_one_sees_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn(3000, is_weighted=False)
    tables = large(table)
    asked: list[tuple[int, ...]] = []
    of_rows = _tables.count_rows

    def count_rows(*given: object) -> object:
        asked.append(tuple(given[-1]))  # type: ignore[arg-type]
        return of_rows(*given)

    monkeypatch.setattr(_tables, "count_rows", count_rows)
    x, y, s = varset([0]), varset([3]), varset([1, 4])
    sets = [VarSet(s), VarSet(x | s), VarSet(y | s), VarSet(x | y | s)]
    found = tables.counts(sets)
    assert asked == [(0, 1, 3, 4)]
    wanted = NumpyCounter(table).counts(sets)
    assert [one.counts.tolist() for one in found] == [one.counts.tolist() for one in wanted]


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_tables, "_MOST_KEPT", 100)
    table = drawn(500, is_weighted=False)
    tables, plain = large(table), NumpyCounter(table)
    for n in range(5, 25):
        sets = some_sets(n)
        both = zip(tables.counts(sets), plain.counts(sets), strict=True)
        assert all(one.counts.tolist() == other.counts.tolist() for one, other in both)
        assert tables._n_kept <= 100 + 500
