"""Answers in words: tiny probabilities, wide letters, levels that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xordal import CategoricalTable, DataError, DecomposableMarkovNetwork
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.formats.answers import Question, answer_lines, answer_to_json
from xordal.formats.bars import bar_lines
from xordal.formats.shown import width_of
from xordal.formats.stories import comparison_lines
from xordal.graph.chordal import ChordalGraph
from xordal.model.estimation import estimate


def chain(length: int) -> DecomposableMarkovNetwork:
    """A chain in which each variable is nearly always the one before it."""
    generator = np.random.default_rng(0)
    codes = [generator.integers(0, 2, size=200)]
    for _ in range(length - 1):
        codes.append(np.where(generator.random(200) < 0.02, 1 - codes[-1], codes[-1]))
    table = CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(codes)})
    graph = ChordalGraph.empty(length).add([(v, v + 1) for v in range(length - 1)])
    return estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=1e-3)


def of(columns: dict[str, list[Any]]) -> DecomposableMarkovNetwork:
    table = CategoricalTable.from_columns(columns)
    return estimate(ChordalGraph.empty(len(columns)), NumpyCounter(table), table.names, table.levels)


def test_evidence_too_improbable_for_a_float_is_told_and_answered_from() -> None:
    network = chain(400)
    given = {f"v{v}": v % 2 for v in range(399)}  # no two neighbours alike: each less than 5 in 100
    log10 = network.log_probability(given) / np.log(10)
    assert log10 < -400
    lines = answer_lines(network, Question((), given, {}, mpe=True), width=80, blocks=True)
    assert lines[-1] == f"Its probability is {network.query('v399', given)[0]:.4g} given the evidence."
    lines = answer_lines(network, Question(("v399",), given, {}), width=80, blocks=True)
    assert lines[-1] == f"In the network the evidence has probability 1e{log10:.0f}."
    answer: Any = answer_to_json(network, Question(("v399",), given, {}))["answer"]
    expected = list(network.query("v399", {"v398": 0}).values())
    assert [row["probability"] for row in answer] == pytest.approx(expected)


def test_bars_of_wide_letters_begin_in_one_column() -> None:
    lines = bar_lines([("京", 0.3), ("大阪府", 0.3), ("e\u0301", 0.2), ("x", 0.2)], 60)
    assert len({width_of(line.partition("0.")[0]) for line in lines}) == 1
    assert all(width_of(line) <= 40 for line in bar_lines([("大阪府" * 30, 0.5), ("x", 0.5)], 40))


def test_the_nearest_of_very_many_levels_is_suggested() -> None:
    network = of({"city": [f"city {number}" for number in range(50)] * 2})
    with pytest.raises(DataError, match="did you mean 'city 49'"):
        network.score_rows({"city": ["CITY 49"]})
    with pytest.raises(DataError, match=r"known are: city 0, .*city 19 and 38 others\. Mend it"):
        network.score_rows({"city": ["#"]})


def test_divergence_of_networks_with_other_levels_says_which() -> None:
    one, other = of({"x": ["1", "2"] * 5, "y": ["a", "b"] * 5}), of({"x": [1, 2] * 5, "y": ["a", "b"] * 5})
    found = one.compare(other)
    assert found.divergence == found.divergence_back == np.inf
    assert found.reason == "x=1 (str) is a level of the first network only"
    assert any(found.reason in line for line in comparison_lines(found, "a.json", "b.json"))
    assert one.compare(one).reason is None
