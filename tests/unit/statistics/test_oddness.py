"""Odd cells: the law of their statistic by enumeration, and what cannot change a bit."""

from __future__ import annotations

from itertools import product
from math import comb, log

import numpy as np
import pytest
from numpy.typing import NDArray

from xordal import CategoricalTable, Significance, learn
from xordal.statistics.oddness import _ordered, log_p_values, tail

Floats = NDArray[np.float64]


def by_enumeration(rows: Floats, odd: Floats) -> float:
    """Return P(T > t) + P(T = t) / 2 from all ways to spread the odd rows over the cells, twice."""
    one = [part[0] for part in _ordered(rows[None], odd[None])]
    n_rows, n_odd, contrast = one[0].astype(int).tolist(), int(one[1].sum()), one[2]
    reached, above, every = float(contrast @ one[1]), 0.0, 0.0
    for chosen in product(*(range(n + 1) for n in n_rows[:-1])):
        last = n_odd - sum(chosen)
        if 0 <= last <= n_rows[-1]:
            ways = comb(n_rows[-1], last)
            for n, k in zip(n_rows, chosen, strict=False):
                ways *= comb(n, k)
            t = float(contrast @ np.array([*chosen, last]))
            every += ways
            above += ways * (1.0 if t > reached + 1e-9 else 0.5 if t > reached - 1e-9 else 0.0)
    return min(0.0, log(above / every) + log(2))


def drawn(seed: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    rows = generator.integers(4, 16, size=4).astype(float)
    shares = np.where([1, 0, 0, 1], generator.uniform(0.5, 1), generator.uniform(0, 0.5))
    return rows, generator.binomial(rows.astype(int), shares).astype(float)


def test_the_tail_is_that_of_all_ways_to_spread_odd_rows() -> None:
    """Few rows lie on few values of T: single tails are off by a factor of up to 3, on average by little."""
    pairs = [drawn(seed) for seed in range(200)]
    able = [(rows, odd) for rows, odd in pairs if 0 < odd.sum() < rows.sum()]
    off = np.array([tail(rows[None], odd[None])[0] - by_enumeration(rows, odd) for rows, odd in able])
    assert len(off) > 150
    assert np.abs(off).max() < log(3.5)
    assert abs(np.median(off)) < 0.15
    assert abs(np.mean(off)) < 0.15


def test_many_rows_far_out() -> None:
    """Of two cells T is hypergeometric, far beyond what a sum of probabilities could hold."""
    n = 2000
    (found,) = tail(np.array([[n, n]], dtype=float), np.array([[1300, 700]], dtype=float))
    logs = np.array(
        [_log_comb(n, k) + _log_comb(n, n - k) - _log_comb(2 * n, n) for k in range(1300, n + 1)], dtype=float
    )
    expected = float(logs[0] + np.log(np.exp(logs - logs[0]).sum() - 0.5) + log(2))
    assert expected < -180
    assert found == pytest.approx(expected, abs=0.15)


def _log_comb(n: int, k: int) -> float:
    return log(comb(n, k))


def test_all_odd_rows_where_they_can_be() -> None:
    (found,) = tail(np.array([[8.0, 8.0]]), np.array([[8.0, 0.0]]))
    assert found == pytest.approx(-log(comb(16, 8)))
    (nothing,) = tail(np.array([[8.0, 8.0]]), np.array([[4.0, 4.0]]))
    assert nothing == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_names_of_levels_do_not_change_a_bit(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.multinomial(40, generator.dirichlet(np.ones(16))).reshape(1, 2, 2, 2, 2).astype(float)
    turned = table
    for axis in np.flatnonzero(generator.integers(2, size=4)).tolist():
        turned = np.flip(turned, axis=1 + axis)
    its_pieces = [[0, 2], [1], [3]]
    assert log_p_values(table, its_pieces)[0] == log_p_values(turned, its_pieces)[0]


@pytest.mark.parametrize("n_rows", [40, 300])
@pytest.mark.parametrize("share", [0.5, 0.15])
def test_a_piece_that_is_apart_is_calibrated_whatever_the_others_share(n_rows: int, share: float) -> None:
    generator = np.random.default_rng(16)
    n_tables = 4000
    x = generator.random((n_tables, n_rows)) < share
    y = np.where(generator.random(x.shape) < 0.8, x, generator.random(x.shape) < share)
    z = generator.random(x.shape) < share
    cells = 4 * x + 2 * y + z
    tables = np.array([np.bincount(row, minlength=8) for row in cells]).reshape(-1, 2, 2, 2).astype(float)
    found = log_p_values(tables, [[2]])  # of z alone: with the others it is smaller still
    for level in (0.05, 0.01):
        share_below = np.mean(found <= log(level))
        assert share_below <= level + 3 * (level / n_tables) ** 0.5
        assert share_below >= level / 4


def test_two_pieces_of_two() -> None:
    """{a, b} and {c, d} linked, the parity of all four: what neither a nor a b shows."""
    generator = np.random.default_rng(1)
    a, c, noise = generator.integers(2, size=(3, 300))
    b = np.where(generator.random(300) < 0.3, noise, a)
    d = np.where(generator.random(300) < 0.2, generator.integers(2, size=300), a ^ b ^ c)
    table = np.zeros((1, 2, 2, 2, 2))
    np.add.at(table[0], (a, b, c, d), 1)
    assert log_p_values(table, [[0, 1], [2, 3]])[0] < -10


def test_fewer_rows_find_an_exclusive_or() -> None:
    """The pieces of this set have no p-value that would do, the odd cells have."""
    generator = np.random.default_rng(4)
    n_found = 0
    for _ in range(40):
        columns = generator.integers(2, size=(12, 80))
        columns[2] = np.where(generator.random(80) < 0.2, 1, 0) ^ columns[0] ^ columns[1]
        table = CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})
        learned = learn(table, criterion=Significance(0.05), find_rules=False, find_groups=False)
        n_found += learned.links == ((0, 1), (0, 2), (1, 2))
    assert n_found >= 30  # by the parts alone 25


@pytest.mark.parametrize("seed", range(20))
def test_cells_of_no_rows_change_nothing(seed: int) -> None:
    """They once held up the tilting of the others: p-values were 1 where all other cells had many rows."""
    rows, odd = drawn(seed)
    rows, odd = rows * 10 ** (seed % 4), odd * 10 ** (seed % 4)
    (alone,) = tail(rows[None], odd[None])
    (beside,) = tail(np.pad(rows, (0, 12))[None], np.pad(odd, (0, 12))[None])
    assert beside == pytest.approx(alone, rel=1e-9, abs=1e-9)
    assert alone < 0
