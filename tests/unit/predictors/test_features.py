"""Hidden groups as features: found with the target, without leaks, and as other programs want them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from xordal import HiddenGroupFeatures, SettingsError

PAGE = Path(__file__).parents[3] / "docs" / "predictors.md"
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def parity(n_rows: int = 400, n_columns: int = 6, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    X = np.random.default_rng(seed).integers(0, 2, size=(n_rows, n_columns))
    return X, X[:, 0] ^ X[:, 2] ^ X[:, 5]


def real(folder: Path, name: str) -> tuple[Any, Any]:
    table = pd.read_csv(folder / "pmlb" / f"{name}.tsv", sep="\t")
    return table.drop(columns="target"), table["target"]


@pytest.mark.slow
def test_parity_of_five_of_ten_bits(real_data: Path) -> None:
    X, y = real(real_data, "parity5+5")
    boosting = GradientBoostingClassifier(random_state=0)
    assert cross_val_score(boosting, X, y, cv=FOLDS).mean() < 0.6
    pipeline = make_pipeline(HiddenGroupFeatures(max_variables=6, random_state=0), boosting)
    assert cross_val_score(pipeline, X, y, cv=FOLDS).mean() > 0.98


@pytest.mark.long
def test_epistasis_of_three_markers(real_data: Path) -> None:
    """The best possible is what a table of the three true markers, counted in all rows, gets right."""
    X, y = real(real_data, "GAMETES_Epistasis_3_Way_20atts_0.2H_EDM_1_1")
    best = pd.crosstab([X["P1"], X["P2"], X["P3"]], y).max(axis=1).sum() / len(y)
    boosting = GradientBoostingClassifier(random_state=0)
    assert cross_val_score(boosting, X, y, cv=FOLDS).mean() < 0.6
    few = GradientBoostingClassifier(n_estimators=20, random_state=0)
    pipeline = make_pipeline(HiddenGroupFeatures(max_variables=4, random_state=0), few)
    assert cross_val_score(pipeline, X, y, cv=FOLDS).mean() > best - 0.02


def test_the_lines_of_the_page(real_data: Path) -> None:
    """The five lines that docs/predictors.md shows, on parity5+5."""
    X, y = real(real_data, "parity5+5")
    code = re.search(r"```python\n(from sklearn.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    *lines, last = code[1].strip().splitlines()
    scope: dict[str, Any] = {
        "X_train": X[:800], "y_train": y[:800], "X_test": X[800:], "y_test": y[800:]
    }  # fmt: skip
    exec("\n".join(lines), scope)
    assert eval(last, scope) > 0.98


def test_noise_gives_no_groups_and_no_leak() -> None:
    generator = np.random.default_rng(1)
    X, y = generator.integers(0, 3, size=(300, 8)), generator.integers(0, 2, size=300)
    features = HiddenGroupFeatures(max_variables=3)
    assert features.fit(X, y).groups_ == []
    assert np.array_equal(features.transform(X), X)


def test_the_features_of_a_row_are_made_from_other_rows() -> None:
    """Without its own row, a cell's share of ones is lower for ones than for zeros."""
    X, y = parity()
    y = np.where(np.random.default_rng(3).random(len(y)) < 0.1, 1 - y, y)
    features = HiddenGroupFeatures(max_variables=4, passthrough=False, random_state=0)
    encoded = features.fit_transform(X, y)[:, 0]
    assert features.groups_ == [(0, 2, 5)]
    cell = X[:, 0] * 4 + X[:, 2] * 2 + X[:, 5]
    gaps = [
        encoded[(cell == one) & (y == 1)].mean() - encoded[(cell == one) & (y == 0)].mean() for one in range(8)
    ]
    assert max(gaps) < 0
    whole = features.transform(X)[:, 0]  # knows all rows, so all of a cell have one value
    assert all(np.ptp(whole[cell == one]) == 0 for one in range(8))


def test_names_and_lists_for_other_programs() -> None:
    X, y = parity()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    features = HiddenGroupFeatures(max_variables=4).fit(frame, y)
    assert features.to_ebm_interactions() == [("a", "c", "f")]
    assert features.to_xgboost_constraints() == [["a", "c", "f"], ["b"], ["d"], ["e"]]
    assert features.get_feature_names_out().tolist() == [*"abcdef", "P(1 | a, c, f)"]
    assert features.transform(frame).shape == (400, 7)


def test_words_floats_and_three_classes() -> None:
    generator = np.random.default_rng(2)
    a, b = generator.integers(0, 3, size=(2, 900))
    frame = pd.DataFrame(
        {"a": np.array(["x", "y", "z"])[a], "b": b + generator.normal(0, 0.01, 900), "c": a[::-1]}
    )
    features = HiddenGroupFeatures(max_variables=3, n_bins=3).fit(frame, np.array(["p", "q", "r"])[(a + b) % 3])
    assert features.groups_ == [("a", "b")]
    assert features.transform(frame).shape == (900, 6)


@pytest.mark.parametrize(
    "settings", [{"max_variables": 2}, {"alpha": 0}, {"max_groups": 0}, {"n_bins": 1}, {"max_variables": True}]
)
def test_settings_out_of_range(settings: dict[str, Any]) -> None:
    X, y = parity()
    with pytest.raises(SettingsError):
        HiddenGroupFeatures(**settings).fit(X, y)
