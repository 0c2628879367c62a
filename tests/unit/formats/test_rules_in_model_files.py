"""Rules in model files: what is written comes back, and what is wrong is named."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.examples import some
from tests.oracle.test_ruled import ruled_networks
from xordal.data.table import CategoricalTable
from xordal.errors import ModelFileError
from xordal.formats.model_file import dumps, loads
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork


@settings(max_examples=some(60), deadline=None)
@given(ruled_networks())
def test_networks_with_rules_come_back(network: DecomposableMarkovNetwork) -> None:
    text = dumps(network)
    loaded = loads(text)
    assert loaded.rules == network.rules
    assert dumps(loaded) == text
    cells = np.indices(network.n_levels).reshape(len(network.n_levels), -1)
    assert (loaded.log_prob(cells) == network.log_prob(cells)).all()


@pytest.fixture(scope="module")
def text() -> str:
    digits = np.random.default_rng(1).integers(0, 5, (600, 5))
    rows = np.column_stack([digits, digits.sum(axis=1) % 5])
    table = CategoricalTable.from_rows("abcdef", rows.tolist())
    return dumps(fit_network(table, learn(table)))


def test_the_file_tells_rules_in_the_trace_and_in_the_network(text: str) -> None:
    content = json.loads(text)
    assert content["version"] == 3
    entry = content["trace"][-1]
    assert (entry["action"], entry["links"], entry["modulus"], entry["n_broken"]) == ("rule", [], 5, 0)
    assert entry["variables"] == list("abcdef")
    assert len(entry["functions"]["a"]) == 5
    assert [rule["variables"] for rule in content["rules"]] == [list("abcdef")]
    assert content["network_rules"][0]["counted"] == {"asked": 600, "broken": 0}
    loaded = loads(text)
    assert loaded.learned is not None
    assert loaded.learned.rules[0].modulus == 5
    assert dumps(loaded.smoothed(0)) == text.replace('"smoothing": 1.0', '"smoothing": 0.0')


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.99])
def test_a_cut_file_is_said_to_be_cut(text: str, share: float) -> None:
    with pytest.raises(ModelFileError, match=r"is cut short|not valid JSON"):
        loads(text[: int(share * len(text))], "net.json")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("last", "zz", "last a rule ends in one of its variables"),
        ("last", "a ", "last a rule ends in one of its variables"),
        ("modulus", 1, "everything is the same modulo 1"),
        ("modulus", -5, "there must be a whole number"),
        ("modulus", 3, r"functions\.a\.. there must be a whole number between 0 and 2"),
        ("functions", {}, "there must be 'a'"),
        ("functions", {"a": [0, 1]}, "a value for each of 5 levels, not 2"),
        ("functions", {"a": {"0": 1}}, "there must be '1'"),
        ("variables", ["a"], "at least two variables"),
        ("variables", ["b", "a"], "in the order of the network's"),
        ("variables", ["a", "q"], "'q' is no variable"),
        ("earlier", ["b"], "no order of the columns in which each rule ends"),
        ("earlier", list("abcde"), "one clique|before itself"),
        ("counted", {"asked": 601, "broken": 0}, "between 0 and 600"),
        ("counted", {"asked": 5, "broken": 6}, "between 0 and 5"),
        ("log_p_value", 1.0, "not above 0"),
        ("name", 3, "there must be a text"),
        ("constant", "0", "there must be a whole number"),
    ],
)
def test_what_is_wrong_with_a_rule_is_named(text: str, key: str, value: Any, told: str) -> None:
    content = json.loads(text)
    content["network_rules"][0][key] = value
    with pytest.raises(ModelFileError, match=told):
        loads(json.dumps(content))


def test_two_rules_cannot_end_in_one_column(text: str) -> None:
    content = json.loads(text)
    content["network_rules"] *= 2
    with pytest.raises(ModelFileError, match="no order of the columns"):
        loads(json.dumps(content))
