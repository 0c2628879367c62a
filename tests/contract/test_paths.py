"""Every way of counting gives the same integers, and entropies equal to the bit."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.examples import some
from xordal.counting import rows
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import Bar, TableOracle
from xordal.counting.plain import CountingOracle
from xordal.data.packed import pack, unpack
from xordal.data.table import CategoricalTable
from xordal.types.varsets import VarSet, members, varset

LEVELS = [1, 2, 2, 3, 5, 16, 17, 300]


def table_of(codes: NDArray[np.int32], n_levels: list[int], weights: object = None) -> CategoricalTable:
    levels = tuple(tuple(range(r)) for r in n_levels)
    weighted = None if weights is None else np.array(weights, dtype=np.int64)
    return CategoricalTable(tuple(f"v{v}" for v in range(len(n_levels))), levels, codes, weighted)


@st.composite
def wide_tables(draw: st.DrawFn) -> CategoricalTable:
    """1 to 300 rows, 2 to 6 columns of 1 to 300 levels, some a function of others; some tables are weighted."""
    n_rows = draw(st.sampled_from([1, 2, 63, 64, 65, 127, 128, 200, 300]))
    n_levels = draw(st.lists(st.sampled_from(LEVELS), min_size=2, max_size=6))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.stack([generator.integers(0, r, n_rows) for r in n_levels]).astype(np.int32)
    if draw(st.booleans()):
        codes[-1] = codes[:-1].sum(axis=0) % n_levels[-1]
    weights = None
    if draw(st.booleans()):
        weights = generator.integers(1, draw(st.sampled_from([2, 9, 10**6])), n_rows)
    return table_of(codes, n_levels, weights)


def constant(bar: float) -> Bar:
    return lambda levels: bar


def plain(table: CategoricalTable) -> CountingOracle:
    return CountingOracle(NumpyCounter(table), table.n_levels)


def assert_same(one: TableOracle, two: TableOracle, sets: list[VarSet]) -> None:
    assert one.entropies(sets).tolist() == two.entropies(sets).tolist()
    for a, b in zip(one.counts(sets), two.counts(sets), strict=True):
        assert a.cells.tolist() == b.cells.tolist()
        assert a.counts.tolist() == b.counts.tolist()
        assert a.cells.dtype == b.cells.dtype == np.int64


@given(table=wide_tables(), threads=st.sampled_from([1, 2, 5]))
def test_all_paths_count_the_same(table: CategoricalTable, threads: int) -> None:
    sets = [VarSet(mask) for mask in range(1 << table.n_variables)]
    assert_same(NumbaOracle(table, threads=threads), plain(table), sets)


@settings(max_examples=some(50))
@given(table=wide_tables(), order=st.integers(2, 4), data=st.data())
def test_all_paths_scan_the_same(table: CategoricalTable, order: int, data: st.DataObject) -> None:
    base = varset(data.draw(st.sets(st.integers(0, table.n_variables - 1), max_size=2)))
    bar = data.draw(st.sampled_from([-1.0, 0.0, 0.05, 1.0]))
    wanted = {
        tuple(chosen): shared
        for block in plain(table).scan(order, lambda levels: bar * len(levels), base=base)
        for chosen, shared in zip(block.sets.tolist(), block.shared.tolist(), strict=True)
    }
    for threads in (1, 3):
        found = {
            tuple(chosen): shared
            for block in NumbaOracle(table, threads=threads).scan(order, lambda r: bar * len(r), base=base)
            for chosen, shared in zip(block.sets.tolist(), block.shared.tolist(), strict=True)
        }
        assert set(found) >= set(wanted)
        for chosen, shared in wanted.items():
            assert found[chosen] == pytest.approx(shared, abs=1e-8)


@given(table=wide_tables(), data=st.data())
def test_extensions_of_all_paths(table: CategoricalTable, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sets(st.integers(0, table.n_variables - 1), max_size=4), max_size=70))
    bases = [varset(base) for base in chosen]
    found = NumbaOracle(table, threads=2).extensions(bases)
    assert found == pytest.approx(plain(table).extensions(bases), abs=1e-8)


def test_few_distinct_rows_become_weighted() -> None:
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 2, (3, 20_000)).astype(np.int32)
    table = table_of(codes, [2, 2, 2])
    prepared = rows.Rows(table)
    assert prepared.codes.codes.shape == (3, 8)
    assert prepared.codes.weights.sum() == 20_000
    assert_same(NumbaOracle(table, threads=1), plain(table), [VarSet(mask) for mask in range(8)])
    many = rows.Rows(table_of(generator.integers(0, 9, (8, 5000)).astype(np.int32), [9] * 8))
    assert many.codes.codes.shape == (8, 5000)


@settings(max_examples=some(20))
@given(
    n_columns=st.integers(3, 20),
    n_rows=st.sampled_from([1, 64, 1000, 1025]),
    skew=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
def test_binary_triples(n_columns: int, n_rows: int, skew: float, seed: int) -> None:
    """Against all logarithms of all triples, with strong pairs, constants and planted parity."""
    generator = np.random.default_rng(seed)
    codes = (generator.random((n_columns, n_rows)) < generator.random((n_columns, 1)) * skew).astype(np.int32)
    codes[-1] = codes[0] ^ codes[1]
    table = table_of(codes, [2] * n_columns)
    for bar in (0.0, 3.0 / n_rows, 0.3):
        scans = [
            [(b.firsts, b.sets.tolist(), b.n_scanned) for b in oracle.scan(3, constant(bar))]
            for oracle in (NumbaOracle(table, threads=1), NumbaOracle(table, threads=2))
        ]
        found = {tuple(chosen) for _, sets, _ in scans[0] for chosen in sets}
        assert found == {tuple(chosen) for _, sets, _ in scans[1] for chosen in sets}
        exact = {tuple(c) for b in plain(table).scan(3, constant(bar)) for c in b.sets.tolist()}
        assert found >= exact


def test_a_bound_without_logarithms_is_one() -> None:
    """The divergence of a table from independence is at most log(1 + chi)."""
    generator = np.random.default_rng(1)
    for _ in range(200):
        shares = generator.dirichlet(np.full(12, generator.choice([0.05, 0.3, 3.0]))).reshape(2, 2, 3)
        alone = [shares.sum(axis=tuple({0, 1, 2} - {axis})) for axis in range(3)]
        product = np.einsum("i,j,k->ijk", *alone)
        there = shares > 0
        chi = (shares[there] ** 2 / product[there]).sum() - 1
        divergence = (shares[there] * np.log(shares[there] / product[there])).sum()
        assert divergence <= log(1 + chi) + 1e-12


@given(table=wide_tables())
def test_packed_columns_unpack(table: CategoricalTable) -> None:
    packed = pack(table.codes, table.n_levels)
    assert unpack(packed).tolist() == table.codes.tolist()
    assert packed.n_rows == table.codes.shape[1]
    repeats = np.arange(1, table.codes.shape[1] + 1)
    repeated = unpack(pack(table.codes, table.n_levels, None, repeats))
    assert repeated.tolist() == np.repeat(table.codes, repeats, axis=1).tolist()
    some = frozenset(v for v in range(table.n_variables) if v % 2)
    partly = unpack(pack(table.codes, table.n_levels, some))
    for v in range(table.n_variables):
        assert partly[v].tolist() == (table.codes[v].tolist() if v in some else [-1] * table.codes.shape[1])


def test_members_of_many_variables() -> None:
    """More variables than a machine word has bits."""
    generator = np.random.default_rng(5)
    codes = generator.integers(0, 2, (150, 40)).astype(np.int32)
    table = table_of(codes, [2] * 150)
    sets = [varset([0, 64, 149]), varset([63, 65]), varset([148]), VarSet(0), varset(range(150))]
    assert [len(members(s)) for s in sets] == [3, 2, 1, 0, 150]
    assert_same(NumbaOracle(table, threads=1), plain(table), sets)
