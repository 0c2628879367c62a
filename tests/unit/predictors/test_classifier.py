"""MultiLinkClassifier is a classifier of scikit-learn, and learns what several columns tell together."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from xordal import MultiLinkClassifier, SettingsError


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_it_passes_the_checks_of_scikit_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(MultiLinkClassifier())
    assert len(results) > 40


def test_an_exclusive_or_of_words() -> None:
    rows = np.array([(a, b) for a in ("u", "v") for b in ("s", "t")] * 30, dtype=object)
    y = np.where((rows[:, 0] == "u") == (rows[:, 1] == "s"), "same", "other")
    model = MultiLinkClassifier().fit(rows, y)
    assert model.score(rows, y) == 1.0
    assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1.0)
    unseen = model.predict_proba(np.array([("w", "s")], dtype=object))  # nothing is known of the first column
    assert unseen[0] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_floats_are_binned() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1000, 3))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    model = MultiLinkClassifier().fit(X[:800], y[:800])
    assert model.score(X[800:], y[800:]) > 0.95
    with pytest.raises(SettingsError, match="n_bins"):
        MultiLinkClassifier(n_bins=1).fit(X, y)


def test_an_impossible_row_has_the_common_chances() -> None:
    X = np.array([(0, 0), (1, 1)] * 50)
    y = np.array([0, 1] * 50)
    model = MultiLinkClassifier(smoothing=0).fit(X, y)
    assert model.predict_proba(np.array([(0, 1)]))[0] == pytest.approx([0.5, 0.5])


def test_the_network_speaks_in_the_words_of_the_table() -> None:
    generator = np.random.default_rng(5)
    age, is_member = generator.integers(18, 90, 600), generator.random(600) < 0.5
    frame = pd.DataFrame({"age": age, "member": np.where(is_member, "yes", "no"), "height": age / 7})
    y = pd.Series(np.where((age > 50) ^ is_member, "buys", "leaves"), name="outcome")
    network = MultiLinkClassifier().fit(frame[["age", "member"]], y).network_
    assert network.variables == ("age", "member", "outcome")
    assert network.levels_of("member") == ("no", "yes")
    assert network.levels_of("outcome") == ("buys", "leaves")
    assert len(network.levels_of("age")) == 4  # 72 whole numbers are cut
    assert network.query("outcome", given={"age": network.levels_of("age")[-1], "member": "no"})["buys"] > 0.9
    beside_floats = MultiLinkClassifier().fit(frame.assign(age=age % 12), y).network_
    assert beside_floats.levels_of("age") == tuple(range(12))  # a column of floats beside it changes nothing


def test_the_name_of_the_target_is_free() -> None:
    X = pd.DataFrame({"target": [0, 1] * 50})
    assert MultiLinkClassifier().fit(X, [0, 1] * 50).network_.variables == ("target", "target_")
