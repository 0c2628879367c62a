"""MultiLinkClassifier is a classifier of scikit-learn, and learns what several columns tell together."""

from __future__ import annotations

import warnings

import numpy as np
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
