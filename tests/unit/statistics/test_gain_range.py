"""Ranges of gains: the formula by hand, and that they cover."""

from __future__ import annotations

from functools import reduce
from math import log, sqrt
from operator import or_

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import tables
from xordal import BIC, CategoricalTable, Significance, learn
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.formats.effects import smallest_effects
from xordal.formats.json import to_json
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.learning.ranges import gain_ranges
from xordal.pi.zoo import music_box
from xordal.statistics.criterion import Criterion
from xordal.statistics.gain_range import gain_range
from xordal.types.varsets import SignedSets, VarSet

PAIR: SignedSets = {VarSet(3): 1, VarSet(1): -1, VarSet(2): -1}


def test_by_hand() -> None:
    counts = np.array([[30, 10], [20, 40]])
    rows = [(x, y) for x in (0, 1) for y in (0, 1) for _ in range(counts[x, y])]
    (counted,) = NumpyCounter(CategoricalTable.from_rows("xy", rows)).counts([VarSet(3)])
    logs = [log(100 * counts[x, y] / (counts[x].sum() * counts[:, y].sum())) for x, y in rows]
    gain, variance = float(np.mean(logs)), float(np.var(logs)) * 100 / 96
    half, root = 1.959964 * sqrt(variance / (2 * gain)), sqrt(200 * gain)
    expected = [(root + side * half) ** 2 / 200 for side in (-1, 1)]
    assert gain_range(PAIR, counted, VarSet(3), 1) == pytest.approx(expected)


@pytest.mark.parametrize("agree", [0.5, 0.6, 0.8])
def test_ranges_cover(agree: float) -> None:
    generator = np.random.default_rng(16)
    true = log(2) + (agree * log(agree) + (1 - agree) * log(1 - agree))
    held = 0
    for _ in range(400):
        x = generator.integers(2, size=300)
        y = np.where(generator.random(300) < agree, x, 1 - x)
        (counted,) = NumpyCounter(CategoricalTable.from_columns({"x": x.tolist(), "y": y.tolist()})).counts(
            [VarSet(3)]
        )
        low, high = gain_range(PAIR, counted, VarSet(3), 1)
        held += low - 1e-12 <= true <= high
    assert 0.92 <= held / 400 <= 0.98


def test_steps_have_ranges_and_they_are_saved(tmp_path: object) -> None:
    learned = learn(music_box().joint.sample_table(2000, seed=1))
    assert len(learned.gain_ranges) == len(learned.trace)
    for entry, found in zip(learned.trace, learned.gain_ranges, strict=True):
        if entry.action == "add":
            assert found is not None
            assert found[0] < entry.gain < found[1] + entry.dof / 4000
    told = to_json(learned)
    trace = told["trace"]
    assert isinstance(trace, list)
    assert trace[0]["gain_range"] == list(learned.gain_ranges[0] or ())
    groups = told["submodels"]
    assert isinstance(groups, list)
    low, high = groups[0]["hidden_range"]
    assert low < groups[0]["hidden"] < high + 0.01


def test_the_smallest_effects_grow_with_the_columns_and_fall_with_the_rows() -> None:
    joint = music_box().joint
    few, many = (smallest_effects(learn(joint.sample_table(n, seed=1), max_variables=4)) for n in (500, 5000))
    assert list(few) == [2, 3, 4]
    assert few[2] < few[3] < few[4]
    for size, nats in few.items():
        assert many[size] == pytest.approx(nats / 10)
    assert smallest_effects(learn(joint)) == {}


@settings(max_examples=some(40), deadline=None)
@given(tables(min_variables=3, max_variables=6), st.sampled_from([BIC(0.2), Significance(0.5)]))
def test_each_step_has_the_range_of_what_it_changes_in_the_whole_graph(
    table: CategoricalTable, criterion: Criterion
) -> None:
    """The chain of a step against the cliques and separators of the graphs before and after it."""
    learned = learn(table, criterion=criterion, find_rules=False)
    graph, counter, expected = ChordalGraph.empty(table.n_variables), NumpyCounter(table), []
    for entry in learned.trace:
        after = graph.add(entry.links) if entry.action == "add" else graph.without(entry.links)
        old, new = signed_sets(graph), signed_sets(after)
        terms = {s: new.get(s, 0) - old.get(s, 0) for s in {*old, *new}}
        changed = {s: sign for s, sign in terms.items() if sign}
        held = VarSet(reduce(or_, changed))
        (counted,) = counter.counts([held])
        dof = free_parameters(changed, table.n_levels)
        expected.append(gain_range(changed, counted, held, dof) if entry.action == "add" else None)
        graph = after
    found = gain_ranges(learned.trace, table.n_levels, counter)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one is None and other is None) or one == pytest.approx(other, abs=1e-12)
