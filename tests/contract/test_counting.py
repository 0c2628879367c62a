"""What every counting backend must do: exact counts in one cell order, entropies equal to the bit."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.examples import some
from tests.strategies import tables
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.finalize import entropies_of_sorted, entropies_of_tables, entropy
from xordal.counting.gpu.mirror import Mirror
from xordal.counting.gpu.oracle import GpuOracle
from xordal.counting.oracle import CachedOracle, EntropyOracle, TableOracle
from xordal.counting.plain import CountingOracle
from xordal.counting.select import oracle_for
from xordal.data.table import CategoricalTable
from xordal.types.varsets import VarSet, members, varset

Backend = Callable[[CategoricalTable], TableOracle]


def numpy_backend(table: CategoricalTable) -> TableOracle:
    return CountingOracle(NumpyCounter(table), table.n_levels)


def mirrored(table: CategoricalTable) -> TableOracle:
    """The GPU backend with NumPy in the place of the device."""
    return GpuOracle(table, Mirror(), lambda table: NumbaOracle(table, threads=1))


BACKENDS: dict[str, Backend] = {
    "numpy": numpy_backend,
    "numba": lambda table: NumbaOracle(table, threads=1),
    "numba, three threads": lambda table: NumbaOracle(table, threads=3),
    "gpu, mirrored": mirrored,
    "blocks": lambda table: oracle_for(table, backend="blocks", threads=2),
}
if os.environ.get("XORDAL_TEST_GPU"):  # as `make test-gpu` sets it: then there must be one
    BACKENDS["gpu"] = lambda table: oracle_for(table, backend="gpu", threads=1)

each_backend = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)


def every_set(table: CategoricalTable) -> list[VarSet]:
    return [VarSet(mask) for mask in range(1 << table.n_variables)]


@each_backend
@given(table=tables())
def test_counts_are_those_of_a_dictionary(backend: Backend, table: CategoricalTable) -> None:
    sets = every_set(table)
    for variables, found in zip(sets, backend(table).counts(sets), strict=True):
        expected = Counter(tuple(row[v] for v in members(variables)) for row in table.rows())
        cells = [tuple(cell) for cell in found.cells.tolist()]
        assert dict(zip(cells, found.counts.tolist(), strict=True)) == expected
        assert cells == sorted(cells)
        assert found.counts.dtype == np.int64


@each_backend
@given(table=tables(), data=st.data())
def test_counts_of_row_blocks_add_up(backend: Backend, table: CategoricalTable, data: st.DataObject) -> None:
    if table.n_rows < 2:
        return
    cut = data.draw(st.integers(1, table.n_rows - 1))
    parts = [
        CategoricalTable(table.names, table.levels, codes)
        for codes in (table.codes[:, :cut], table.codes[:, cut:])
    ]
    sets = every_set(table)
    whole, first, second = (backend(part).counts(sets) for part in (table, *parts))
    for all_rows, one, two in zip(whole, first, second, strict=True):
        merged = one + two
        assert merged.cells.tolist() == all_rows.cells.tolist()
        assert merged.counts.tolist() == all_rows.counts.tolist()


@each_backend
@given(table=tables())
def test_entropies_are_right(backend: Backend, table: CategoricalTable) -> None:
    sets = every_set(table)
    for variables, h in zip(sets, backend(table).entropies(sets).tolist(), strict=True):
        cells = Counter(tuple(row[v] for v in members(variables)) for row in table.rows())
        expected = -sum(c / table.n_rows * log(c / table.n_rows) for c in cells.values())
        assert h == pytest.approx(expected, abs=1e-12)
        assert h >= 0


@each_backend
@given(
    table=tables(max_variables=6),
    order=st.integers(1, 4),
    at_least=st.sampled_from([0.0, 0.01, 0.3]),
    data=st.data(),
)
def test_a_scan_misses_nothing(
    backend: Backend, table: CategoricalTable, order: int, at_least: float, data: st.DataObject
) -> None:
    """Every set that reaches the bar comes, in order, with what it shares; sets of done firsts do not."""
    oracle = backend(table)
    base = varset(data.draw(st.sets(st.integers(0, table.n_variables - 1), max_size=2)))
    done = data.draw(st.sets(st.integers(0, table.n_variables - 1), max_size=2))
    asked: set[tuple[int, ...]] = set()

    def bar(levels: tuple[int, ...]) -> float:
        asked.add(levels)
        return at_least / len(levels)

    every = list(combinations([v for v in range(table.n_variables) if not base >> v & 1], order))
    expected = {c: shared_with(oracle, c, base) for c in every if c[0] not in done}
    blocks = list(oracle.scan(order, bar, base=base, done=done))
    found = [tuple(chosen) for block in blocks for chosen in block.sets.tolist()]
    assert found == sorted(set(found))
    assert set(found) <= set(expected)
    assert set(found) >= {c for c, shared in expected.items() if shared >= at_least / order}
    assert sum(block.n_scanned for block in blocks) == len(expected)
    for block in blocks:
        assert block.sets.shape == (len(block.shared), order)
        assert {chosen[0] for chosen in block.sets.tolist()} <= set(block.firsts)
        for chosen, shared in zip(block.sets.tolist(), block.shared.tolist(), strict=True):
            assert shared == pytest.approx(expected[tuple(chosen)], abs=1e-4)
    firsts = [first for block in blocks for first in block.firsts]
    assert firsts == sorted(set(firsts))
    assert set(firsts) >= {chosen[0] for chosen in expected}
    assert asked <= {tuple(sorted(table.n_levels[v] for v in c)) for c in every}


def shared_with(oracle: EntropyOracle, chosen: tuple[int, ...], base: VarSet) -> float:
    parts = [*([base] if base else []), *(varset([v]) for v in chosen)]
    *alone, together = oracle.entropies([*parts, VarSet(base | varset(chosen))]).tolist()
    return float(sum(alone) - together)


@each_backend
@given(table=tables(max_variables=6), data=st.data())
def test_extensions_are_mutual_information(
    backend: Backend, table: CategoricalTable, data: st.DataObject
) -> None:
    bases = [varset(b) for b in data.draw(st.lists(st.sets(st.integers(0, table.n_variables - 1)), max_size=4))]
    oracle = backend(table)
    found = oracle.extensions(bases)
    assert found.shape == (len(bases), table.n_variables)
    for base, row in zip(bases, found.tolist(), strict=True):
        for v, shared in enumerate(row):
            inside = base >> v & 1
            assert shared == (0 if inside else pytest.approx(shared_with(oracle, (v,), base), abs=2e-9))
            assert shared >= 0


@each_backend
def test_a_huge_table_costs_its_rows_only(backend: Backend) -> None:
    """Seventy variables have more cells than an integer can number; twelve of ten levels have 10^12."""
    generator = np.random.default_rng(7)
    bits = generator.integers(0, 2, size=(70, 50))
    wide = CategoricalTable.from_columns({f"b{v}": column.tolist() for v, column in enumerate(bits)})
    (found,) = backend(wide).counts([varset(range(70))])
    assert found.counts.sum() == 50
    assert [tuple(cell) for cell in found.cells.tolist()] == sorted(set(map(tuple, bits.T.tolist())))
    tens = generator.integers(0, 10, size=(12, 500))
    table = CategoricalTable.from_columns({f"t{v}": column.tolist() for v, column in enumerate(tens)})
    (found,) = backend(table).counts([varset(range(12))])
    assert found.counts.tolist() == [1] * 500
    flat = CategoricalTable.from_columns({f"c{v}": [0, 0, 0] for v in range(90)})
    (found,) = backend(flat).counts([varset(range(90))])
    assert (found.cells.tolist(), found.counts.tolist()) == ([[0] * 90], [3])
    assert backend(table).entropies([varset(range(12))]).tolist() == [entropy(np.ones(500, np.int64))]
    assert backend(table).extensions([varset(range(11))])[0, 11] == pytest.approx(
        backend(table).entropies([varset([11])])[0]
    )


@given(st.lists(st.integers(0, 1000), min_size=1), st.randoms(use_true_random=False))
def test_entropy_ignores_empty_cells_and_order_to_the_bit(counts: list[int], random: object) -> None:
    shuffled = [*counts, 0, 0]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert entropy(np.array(counts)) == entropy(np.array(shuffled))


@given(
    st.integers(1, 300).flatmap(
        lambda n: st.lists(st.lists(st.integers(1, 10**6), min_size=n, max_size=n), min_size=1, max_size=5)
    )
)
def test_entropies_of_many_tables_are_those_of_each_to_the_bit(tables: list[list[int]]) -> None:
    counts = np.sort(np.array(tables), axis=1)
    assert entropies_of_sorted(counts).tolist() == [entropy(row) for row in counts]


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 100]))
def test_tables_with_empty_cells_have_the_entropy_of_each_to_the_bit(
    n_cells: int, seed: int, most: int
) -> None:
    tables = np.random.default_rng(seed).integers(0, most + 1, size=(20, n_cells))
    tables[:, 0] += 1
    assert entropies_of_tables(tables).tolist() == [entropy(table) for table in tables]


def test_a_cached_oracle_asks_once() -> None:
    asked: list[VarSet] = []

    class Asked:
        def entropies(self, sets: list[VarSet]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
            asked.extend(sets)
            return np.array([float(s) for s in sets])

    oracle = CachedOracle(Asked())  # type: ignore[arg-type]
    a, b, c = VarSet(1), VarSet(2), VarSet(3)
    assert oracle.entropies([a, b, a]).tolist() == [1.0, 2.0, 1.0]
    assert oracle.entropies([b, c]).tolist() == [2.0, 3.0]
    assert asked == [a, b, c]


@given(table=tables(), data=st.data())
def test_what_was_asked_before_changes_no_answer(table: CategoricalTable, data: st.DataObject) -> None:
    """Sets of a size may be counted together, and tables kept; counts and entropies stay the same."""
    oracle, sets = numpy_backend(table), every_set(table)
    for variables in data.draw(st.lists(st.sampled_from(sets), max_size=10)):
        (fresh,) = numpy_backend(table).counts([variables])
        assert oracle.entropies([variables]).tolist() == [entropy(fresh.counts)]
        (found,) = oracle.counts([variables])
        assert found.cells.tolist() == fresh.cells.tolist()
        assert found.counts.tolist() == fresh.counts.tolist()


@settings(max_examples=some(40))
@given(
    n_levels=st.lists(st.integers(1, 40), min_size=2, max_size=6),
    n_distinct=st.integers(1, 60),
    n_rows=st.integers(1, 400),
    is_weighted=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_numpy_counts_sets_together_as_one_by_one(
    n_levels: list[int], n_distinct: int, n_rows: int, is_weighted: bool, seed: int
) -> None:
    """Small and large tables, few distinct rows and many, with weights and without: the same to the bit."""
    generator = np.random.default_rng(seed)
    some = np.stack([generator.integers(0, r, n_distinct) for r in n_levels]).astype(np.int32)
    codes = some[:, generator.integers(0, n_distinct, n_rows)]
    weights = generator.integers(1, 9, n_rows) if is_weighted else None
    names, levels = tuple("abcdef"[: len(n_levels)]), tuple(tuple(range(r)) for r in n_levels)
    counter = NumpyCounter(CategoricalTable(names, levels, codes, weights))
    sets = [VarSet(mask) for mask in generator.permutation(1 << len(n_levels)).tolist()]
    one_by_one = [entropy(counter.counts([s])[0].counts) for s in sets]
    assert counter.entropies(sets).tolist() == one_by_one
    repeated = np.repeat(codes, weights, axis=1) if weights is not None else codes
    for variables in sets:
        (found,) = counter.counts([variables])
        if variables:
            cells, counts = np.unique(repeated[list(members(variables))], axis=1, return_counts=True)
            assert found.cells.T.tolist() == cells.tolist()
            assert found.counts.tolist() == counts.tolist()
        else:
            assert found.counts.tolist() == [repeated.shape[1]]


def test_a_cache_with_a_bound_forgets_and_asks_again() -> None:
    asked: list[VarSet] = []

    class Fake:
        def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
            asked.extend(sets)
            return np.array([float(s) for s in sets])

    cached = CachedOracle(Fake(), most=3)
    assert cached.entropies([VarSet(1), VarSet(2), VarSet(1)]).tolist() == [1, 2, 1]
    assert cached.entropies([VarSet(2), VarSet(3)]).tolist() == [2, 3]
    assert asked == [1, 2, 3]
    assert cached.entropies([VarSet(4), VarSet(3)]).tolist() == [4, 3]
    assert asked == [1, 2, 3, 4, 3]
