"""Levels of candidates, and how what is shown raises them."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from xordal.counting.cpu_numpy import NumpyCounter
from xordal.data.table import CategoricalTable
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change, free_parameters
from xordal.statistics.criterion import Evidence, Sample, Shape
from xordal.statistics.levels import Levels, joined
from xordal.statistics.significance import Significance
from xordal.statistics.weights import Weights
from xordal.types.choices import Control
from xordal.types.varsets import Link, VarSet, members, varset


def candidate(links: tuple[Link, ...], *, is_fixed: bool = False, fill_in: tuple[Link, ...] = ()) -> Evidence:
    ends = varset(v for link in links for v in link)
    return Evidence(ends, links, {}, 0.0, 1, 100, fill_in, (), is_fixed)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (((0, 1),), ()),  # a pair joins no linked columns
        (((0, 2), (1, 2)), (0, 1)),
        (((0, 1), (0, 2)), (1, 2)),
        (((0, 1), (0, 2), (1, 2)), ()),  # nobody is linked before
        (((0, 1), (0, 2), (0, 3)), (1, 2, 3)),
        (((1, 2), (1, 3), (2, 3)), ()),  # leaves of a star
        (((0, 2), (0, 3), (1, 2), (1, 3)), ()),  # two linked pairs
    ],
)
def test_one_column_joins_others_that_are_linked(links: tuple[Link, ...], expected: tuple[int, ...]) -> None:
    assert members(joined(candidate(links))) == expected


def test_what_comes_with_fill_in_joins_nobody() -> None:
    assert joined(candidate(((0, 2), (1, 2)), is_fixed=True)) == 0
    assert joined(candidate(((0, 2), (1, 2)), fill_in=((0, 2),))) == 0


def test_the_level_of_joining_is_ones_own_and_what_is_passed_on() -> None:
    weights, shape = Weights(20, 3, 4), Shape(3, 2, 1, 4)
    both = weights.log_weight(3, 2, 1), weights.log_passed_on(3, 1)
    raised = Levels(log(0.05), weights, passes_on=True)
    assert exp(raised.of_joining(shape)) == pytest.approx(0.05 * (exp(both[0]) + exp(both[1])))
    assert raised.highest_of(shape) == raised.of_joining(shape) > raised.own(shape)
    static = Levels(log(0.05), weights, passes_on=False)
    assert static.of_joining(shape) == static.highest_of(shape) == static.own(shape)
    assert static.at(0.0).own(shape) == pytest.approx(both[0])


def drawn(n_agree: int, n_rows: int = 400) -> CategoricalTable:
    """Return a, b that agree in so many rows besides, x that depends on both, and columns of noise."""
    generator = np.random.default_rng(3)
    a, b = np.tile([0, 0, 1, 1], n_rows // 4), np.tile([0, 1, 0, 1], n_rows // 4)
    b[:n_agree] = a[:n_agree]
    x = np.where(generator.random(n_rows) < 0.28, a ^ b, generator.integers(2, size=n_rows))
    noise = generator.integers(2, size=(7, n_rows))
    return CategoricalTable(tuple("abxefghijk"), ((0, 1),) * 10, np.stack([a, b, x, *noise]).astype(np.int32))


@pytest.mark.parametrize("control", ["fwer", "fdr"])
def test_a_column_joins_what_is_shown_at_a_higher_level(control: Control) -> None:
    verdicts = {}
    for n_agree in (0, 200):
        table = drawn(n_agree)
        counter = NumpyCounter(table)
        judge = Significance(0.05, control=control).on(Sample(table.n_levels, table.n_rows, counter, 3, 4))
        links = ((0, 2), (1, 2))
        terms = change(additions(ChordalGraph.empty(10).extended(((0, 1),)), links) or ())
        (gain,) = judge._law.gains([terms])  # type: ignore[attr-defined]
        found = Evidence(VarSet(7), links, terms, gain, free_parameters(terms, table.n_levels), table.n_rows)
        (verdicts[n_agree],) = judge.judge([found])
    own, passed_on = (Weights(10, 3, 4).log_weight(3, 2, 0), Weights(10, 3, 4).log_passed_on(3, 0))
    accepted = [verdict.is_accepted for verdict in verdicts.values()]
    if control == "fwer":
        log_ps = [verdict.log_p_value or 0.0 for verdict in verdicts.values()]
        assert all(log(0.05) + own < log_p <= log(0.05) + passed_on for log_p in log_ps)
        assert accepted == [False, True]
    else:
        assert accepted == [False, False]
