"""What every scanner must do: return all sets that reach a bar, or the best so many; never too few.

Brute force is written by the letter: every set's full table, entropies by summing over it, interactions by
fitting margins for a long time.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import inf
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.contract.test_counting import BACKENDS, Backend
from tests.examples import some
from xordal.counting.oracle import Measure, ScanBlock, TableOracle
from xordal.data.table import CategoricalTable
from xordal.types.varsets import VarSet, members, varset

MEASURES: tuple[Measure, ...] = ("total", "needed", "interaction")
UNFITTED = 2e-4  # nats by which fitting may be off where the fit lies at the border: it nears it like 1/rounds
each_backend = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
each_measure = pytest.mark.parametrize("measure", MEASURES)

Table = NDArray[np.float64]


@st.composite
def tied_tables(draw: st.DrawFn) -> CategoricalTable:
    """3 to 6 columns of 1 to 6 levels; copies and sums make ties; some are constant, some rows weighted."""
    n_rows = draw(st.sampled_from([5, 40, 130]))
    n_columns = draw(st.integers(3, 6))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.zeros((n_columns, n_rows), dtype=np.int32)
    for v in range(n_columns):
        kind = draw(st.sampled_from(["random", "random", "few", "copy", "sum", "constant"]))
        r = draw(st.integers(2, 6)) if kind != "few" else 2
        codes[v] = generator.integers(0, r, n_rows)
        if kind == "copy" and v:
            codes[v] = codes[int(generator.integers(v))]
        if kind == "sum" and v > 1:
            codes[v] = (codes[0] + codes[1]) % r
        if kind == "constant":
            codes[v] = 0
    n_levels = codes.max(axis=1) + 1
    weights = generator.integers(1, 4, n_rows) if draw(st.booleans()) else None
    names = tuple(f"v{v}" for v in range(n_columns))
    return CategoricalTable(names, tuple(tuple(range(r)) for r in n_levels.tolist()), codes, weights)


def joint_of(table: CategoricalTable, parts: list[list[int]]) -> Table:
    """Return the table of shares with one axis for each part: a variable, or several as one."""
    rows = np.array(table.rows())
    columns = [np.unique(rows[:, part], axis=0, return_inverse=True)[1].reshape(-1) for part in parts]
    counts = np.zeros([int(column.max()) + 1 for column in columns])
    np.add.at(counts, tuple(columns), 1)
    return counts / len(rows)


def entropy_of(shares: Table) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())


def brute_measure(measure: Measure, joint: Table) -> float:
    """Return a measure by its definition."""
    axes = range(joint.ndim)
    alone = [entropy_of(joint.sum(axis=tuple(b for b in axes if b != a))) for a in axes]
    if measure == "total":
        return sum(alone) - entropy_of(joint)
    if measure == "needed":
        return min(alone[a] + entropy_of(joint.sum(axis=a)) - entropy_of(joint) for a in axes)
    if joint.ndim == 1:
        return 0.0
    fitted = np.ones_like(joint)
    for _ in range(1000):
        before = fitted.copy()
        for axis in axes:
            now, wanted = fitted.sum(axis=axis, keepdims=True), joint.sum(axis=axis, keepdims=True)
            fitted *= np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
        if np.abs(fitted - before).max() < 1e-13:
            break
    there = joint > 0
    return float((joint[there] * np.log(joint[there] / fitted[there])).sum())


class Case(NamedTuple):
    """Every set of one size and what brute force measures of it."""

    values: dict[tuple[int, ...], float]
    levels: dict[tuple[int, ...], tuple[int, ...]]
    slack: float  # by how much that may be off


def brute(table: CategoricalTable, order: int, measure: Measure, base: VarSet) -> Case:
    others = [v for v in range(table.n_variables) if not base >> v & 1]
    own = [list(members(base))] if base else []
    sets = list(combinations(others, order))
    values = {c: brute_measure(measure, joint_of(table, [*own, *([v] for v in c)])) for c in sets}
    levels = {c: tuple(sorted(table.n_levels[v] for v in c)) for c in sets}
    return Case(values, levels, UNFITTED if measure == "interaction" else 1e-11)


def returned(blocks: list[ScanBlock]) -> dict[tuple[int, ...], float]:
    found: dict[tuple[int, ...], float] = {}
    for block in blocks:
        assert {chosen[0] for chosen in block.sets.tolist()} <= set(block.firsts)
        for chosen, shared in zip(block.sets.tolist(), block.shared.tolist(), strict=True):
            assert tuple(chosen) not in found
            found[tuple(chosen)] = shared
    return found


def assert_blocks(blocks: list[ScanBlock], case: Case, done: set[int]) -> None:
    firsts = [first for block in blocks for first in block.firsts]
    assert firsts == sorted(set(firsts))
    assert not set(firsts) & done
    assert sum(block.n_scanned for block in blocks) == sum(c[0] not in done for c in case.values)


def assert_values(
    found: dict[tuple[int, ...], float], oracle: TableOracle, case: Case, measure: Measure
) -> None:
    """What is said of a set is never below what it is; only of an interaction may it be above."""
    for chosen, shared in found.items():
        value = case.values[chosen]
        assert shared >= value - oracle.error - case.slack
        if measure != "interaction":
            assert shared <= value + oracle.error


@each_measure
@each_backend
@settings(max_examples=some(25), deadline=None)
@given(
    table=tied_tables(), order=st.integers(1, 4), bar=st.sampled_from([-inf, 0.0, 0.02, 0.3]), data=st.data()
)
def test_all_sets_that_reach_a_bar_come(
    backend: Backend, measure: Measure, table: CategoricalTable, order: int, bar: float, data: st.DataObject
) -> None:
    base = varset(data.draw(st.sets(st.integers(0, table.n_variables - 1), max_size=2)))
    done = data.draw(st.sets(st.integers(0, table.n_variables - 1), max_size=2))
    oracle, case = backend(table), brute(table, order, measure, base)

    def at_least(levels: tuple[int, ...]) -> float:
        assert levels == tuple(sorted(levels))
        return bar / len(set(levels))

    blocks = list(oracle.scan(order, at_least, measure=measure, base=base, done=done))
    found = returned(blocks)
    assert_blocks(blocks, case, done)
    assert_values(found, oracle, case, measure)
    wanted = {c for c, value in case.values.items() if value - case.slack >= at_least(case.levels[c])}
    assert set(found) >= {c for c in wanted if c[0] not in done}
    if measure != "interaction":
        assert all(value >= at_least(case.levels[c]) - 1e-6 for c, value in found.items())


@each_measure
@each_backend
@settings(max_examples=some(25), deadline=None)
@given(table=tied_tables(), order=st.integers(2, 4), top=st.integers(1, 6), data=st.data())
def test_the_best_so_many_come(
    backend: Backend, measure: Measure, table: CategoricalTable, order: int, top: int, data: st.DataObject
) -> None:
    """A set may be missing only if so many others of the same levels are above it; those that tie are not."""
    base = varset(data.draw(st.sets(st.integers(0, table.n_variables - 1), max_size=1)))
    done = data.draw(st.sets(st.integers(0, table.n_variables - 1), max_size=1))
    oracle, case = backend(table), brute(table, order, measure, base)
    blocks = list(oracle.scan(order, lambda levels: -inf, measure=measure, top=top, base=base, done=done))
    found = returned(blocks)
    assert_blocks(blocks, case, done)
    assert_values(found, oracle, case, measure)
    for chosen, value in case.values.items():
        alike = [c for c in case.values if case.levels[c] == case.levels[chosen] and c[0] not in done]
        n_above = sum(case.values[c] > value + oracle.error - 2 * case.slack for c in alike)
        assert chosen in found or chosen[0] in done or n_above >= top


@each_backend
def test_what_is_done_is_not_among_the_best(backend: Backend) -> None:
    """The best pair of all begins with a first that is done; another one is the best of the rest."""
    first, last = [0, 0, 0, 1, 1], [1, 1, 0, 0, 0]
    columns = [[0, 1, 0, 1, 1], [0, 1, 0, 0, 0], first, first, [1, 1, 1, 0, 1], last]
    table = CategoricalTable(tuple("abcdef"), ((0, 1),) * 6, np.array(columns, dtype=np.int32))
    found = returned(list(backend(table).scan(2, lambda levels: -inf, top=1, done={2})))
    assert (3, 5) in found


@each_measure
@pytest.mark.parametrize("n_levels", [[2] * 22, [3] * 18, [2, 3, 4] * 6], ids=["binary", "ternary", "mixed"])
@pytest.mark.parametrize(
    ("order", "has_base"),
    [(2, False), (2, True), (3, False), (3, True), pytest.param(4, False, marks=pytest.mark.slow)],
)
def test_many_columns(measure: Measure, n_levels: list[int], order: int, has_base: bool) -> None:
    """Blocks of eight columns and more, planted sums, one thread and three: the same best sets, few of them."""
    generator = np.random.default_rng(11)
    codes = np.stack([generator.integers(0, r, 300) for r in n_levels]).astype(np.int32)
    codes[9] = (codes[1] + codes[4]) % n_levels[9]
    codes[17] = (codes[2] + codes[3] + codes[5]) % n_levels[17]
    levels = tuple(tuple(range(r)) for r in n_levels)
    table = CategoricalTable(tuple(f"v{v}" for v in range(len(n_levels))), levels, codes)
    base = varset([4]) if has_base else VarSet(0)
    scans = {name: backend(table) for name, backend in BACKENDS.items()}
    every = returned(list(scans["numpy"].scan(order, lambda levels: -inf, measure=measure, base=base)))
    for name in [name for name in BACKENDS if name != "numpy"]:
        oracle = scans[name]
        above = returned(list(oracle.scan(order, lambda levels: 0.03, measure=measure, base=base)))
        best = returned(list(oracle.scan(order, lambda levels: -inf, measure=measure, top=3, base=base)))
        if measure != "interaction":
            assert set(above) >= {c for c, value in every.items() if value >= 0.03}
        assert all(every[c] >= value - 1e-6 for c, value in {**above, **best}.items())
        if name != "blocks":  # which asks for every entropy, as the plain one does
            assert len(best) < len(every) / 2  # it leaves out what it may
        by_levels: dict[tuple[int, ...], list[float]] = {}
        for chosen, value in (above if measure == "interaction" else every).items():
            by_levels.setdefault(tuple(sorted(n_levels[v] for v in chosen)), []).append(value)
        for chosen, value in above.items():
            alike = sorted(by_levels[tuple(sorted(n_levels[v] for v in chosen))], reverse=True)
            assert chosen in best or value < alike[2] - 1e-7


def at_any(value: float, levels: tuple[int, ...]) -> float:
    """A bar just below a value, whatever the levels."""
    return value - UNFITTED


@pytest.mark.parametrize("n_levels", [2, 3], ids=["binary", "ternary"])
@pytest.mark.parametrize("n_base", [1, 2, 3])
@pytest.mark.slow
def test_no_skew_hides_a_set(n_levels: int, n_base: int) -> None:
    """Columns from even to nearly constant, given a target that is skewed too: the bounds of screens hold.

    The bar is just below one of the values, so that a bound that is too low by any amount would leave it out.
    """
    generator = np.random.default_rng([n_levels, n_base])
    for n_rows in (30, 200, 900):
        columns = [generator.integers(0, n_base, n_rows) ** 2 % n_base]
        for rare in np.geomspace(0.5, 1 / n_rows, 17):
            shares = np.full(n_levels, rare / (n_levels - 1))
            shares[0] = 1 - rare
            columns.append(generator.choice(n_levels, n_rows, p=shares))
        for v in (3, 8, 14):  # some that depend on each other and on the target
            sums = (columns[v - 1] + columns[0]) % n_levels
            columns[v] = np.where(generator.random(n_rows) < 0.5, sums, columns[v])
        codes = np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in columns])
        levels = tuple(tuple(range(column.max() + 1)) for column in codes)
        table = CategoricalTable(tuple(f"v{v}" for v in range(18)), levels, codes.astype(np.int32))
        case = brute(table, 2, "interaction", varset([0]))
        for backend in BACKENDS.values():
            for value in np.quantile(list(case.values.values()), [0.3, 0.6, 0.9, 0.97]).tolist():
                scan = backend(table).scan(2, partial(at_any, value), measure="interaction", base=varset([0]))
                assert set(returned(list(scan))) >= {c for c, own in case.values.items() if own >= value}
