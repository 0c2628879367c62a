"""Hidden groups as features: found with the target, without leaks, and as other programs want them."""

from __future__ import annotations

import re
import warnings
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
)

from xordal import DataError, DataWarning, HiddenGroupFeatures, MultiLinkClassifier, SettingsError

PAGE = Path(__file__).parents[3] / "docs" / "predictors.md"
GAMETES = "GAMETES_Epistasis_3_Way_20atts_0.2H_EDM_1_1"
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def parity(n_rows: int = 400, n_columns: int = 6, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    X = np.random.default_rng(seed).integers(0, 2, size=(n_rows, n_columns))
    return X, X[:, 0] ^ X[:, 2] ^ X[:, 5]


def real(folder: Path, name: str) -> tuple[Any, Any]:
    table = pd.read_csv(folder / "pmlb" / f"{name}.tsv", sep="\t")
    return table.drop(columns="target"), table["target"]


def lines_of_the_page(**settings: str) -> Any:
    """The model of the five lines that docs/predictors.md shows, with another setting if one is given."""
    code = re.search(r"```python\n(from sklearn.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    lines = [line for line in code[1].splitlines() if line]
    assert len(lines) == 5
    text = "\n".join(lines[:4])
    for name, value in settings.items():
        text, n_changes = re.subn(rf"{name}=\w+", f"{name}={value}", text)
        assert n_changes == 1
    scope: dict[str, Any] = {}
    exec(text, scope)
    assert lines[4] == "model.fit(X_train, y_train).score(X_test, y_test)"
    return scope["model"]


@pytest.mark.slow
def test_parity_of_five_of_ten_bits(real_data: Path) -> None:
    X, y = real(real_data, "parity5+5")
    boosting = GradientBoostingClassifier(random_state=0)
    assert cross_val_score(boosting, X, y, cv=FOLDS).mean() < 0.6
    assert cross_val_score(lines_of_the_page(), X, y, cv=FOLDS).mean() > 0.98


@pytest.mark.slow
def test_epistasis_of_three_markers(real_data: Path) -> None:
    """The best possible is what a table of the three true markers, counted in all rows, gets right."""
    X, y = real(real_data, GAMETES)
    best = pd.crosstab([X["P1"], X["P2"], X["P3"]], y).max(axis=1).sum() / len(y)
    boosting = GradientBoostingClassifier(random_state=0)
    assert cross_val_score(boosting, X, y, cv=FOLDS).mean() < 0.6
    model, rates = lines_of_the_page(max_variables="4"), []
    for seed in range(5):
        model.set_params(hiddengroupfeatures__random_state=seed, gradientboostingclassifier__random_state=seed)
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        rates.append(cross_val_score(model, X, y, cv=folds).mean())
    assert np.mean(rates) > best - 0.02
    assert min(rates) > best - 0.025


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_groups_for_explainable_boosting_machines_and_xgboost(real_data: Path) -> None:
    """Both are at chance on markers that tell only together, and are not with the groups."""
    glassbox = pytest.importorskip("interpret.glassbox", reason="pip install interpret-core")
    xgboost = pytest.importorskip("xgboost", reason="pip install xgboost-cpu")
    X, y = real(real_data, GAMETES)
    best = pd.crosstab([X["P1"], X["P2"], X["P3"]], y).max(axis=1).sum() / len(y)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    groups = HiddenGroupFeatures(max_variables=4).fit(X_train, y_train)

    def rate(model: Any) -> float:
        return float(model.fit(X_train, y_train).score(X_test, y_test))

    def machine(**more: Any) -> Any:
        return glassbox.ExplainableBoostingClassifier(n_jobs=1, outer_bags=2, random_state=0, **more)

    assert rate(machine()) < 0.6
    assert rate(machine(interactions=groups.to_ebm_interactions())) > best - 0.02
    assert rate(xgboost.XGBClassifier(n_jobs=1)) < 0.6
    constrained = xgboost.XGBClassifier(n_jobs=1, interaction_constraints=groups.to_xgboost_constraints())
    assert rate(constrained) > best - 0.02
    features = HiddenGroupFeatures(max_variables=4, passthrough=False, random_state=0)
    assert rate(make_pipeline(features, xgboost.XGBClassifier(n_jobs=1))) > best - 0.02
    numbers = HiddenGroupFeatures(max_variables=4).fit(X_train.to_numpy(), y_train)
    unnamed = xgboost.XGBClassifier(n_jobs=1, interaction_constraints=numbers.to_xgboost_constraints())
    assert unnamed.fit(X_train.to_numpy(), y_train).score(X_test.to_numpy(), y_test) > best - 0.02


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_it_passes_the_checks_of_scikit_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(HiddenGroupFeatures(max_variables=3))
    assert len(results) > 40


def test_values_that_are_no_categories() -> None:
    X, y = parity()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for column, told in (
        (pd.array(["u", None] * 200, dtype="string"), "Column 'a' has 200 missing values"),
        (np.array(["u", None] * 200, dtype=object), "Column 'a' has 200 missing values"),
        (pd.array([1, None] * 200, dtype="Int64"), "Column 'a' has 200 missing values"),
        (pd.date_range("2020", periods=400), "Column 'a' holds dates"),
        ([date(2020, 1, 1 + day % 28) for day in range(400)], "Column 'a' holds dates"),
        (["u", date(2020, 1, 1)] * 200, "Column 'a' holds dates"),
        ([timedelta(day) for day in range(400)], "Column 'a' holds dates"),
        ([[1]] * 400, "Column 'a' holds a list"),
    ):
        for estimator in (HiddenGroupFeatures(), MultiLinkClassifier()):
            with pytest.raises(DataError, match=told):
                estimator.fit(frame.assign(a=column), y)
    for estimator in (HiddenGroupFeatures(), MultiLinkClassifier()):
        with pytest.raises(DataError, match="'a' is used more than once"):
            estimator.fit(frame.rename(columns={"b": "a"}), y)
    with pytest.raises(DataError, match="The target has 400 missing values"):
        HiddenGroupFeatures().fit(frame, [None] * 400)


def test_whole_numbers_of_many_values_are_cut() -> None:
    X, _ = parity()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(a=np.random.default_rng(7).integers(0, 5000, 400))
    y = (frame["a"] > frame["a"].median()) ^ (frame["c"] == 1)
    assert HiddenGroupFeatures(max_variables=3).fit(frame, y).groups_ == [("a", "c")]


def test_noise_gives_no_groups_and_no_leak() -> None:
    generator = np.random.default_rng(1)
    X, y = generator.integers(0, 3, size=(300, 8)), generator.integers(0, 2, size=300)
    features = HiddenGroupFeatures(max_variables=3)
    assert features.fit(X, y).groups_ == []
    assert np.array_equal(features.transform(X), X)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_lines_of_the_page_where_there_is_no_group(n_classes: int) -> None:
    """A predictor gets the share of each class in place of groups, and predicts the most common one."""
    generator = np.random.default_rng(1)
    X, y = (
        generator.integers(0, 3, size=(300, 4)),
        np.minimum(generator.integers(0, 4, size=300), n_classes - 1),
    )
    features = HiddenGroupFeatures(max_variables=3, passthrough=False)
    with pytest.warns(DataWarning, match="No group of up to 2 columns tells of the target"):
        found = features.fit_transform(X, y)
    shares = np.bincount(y) / 300
    assert np.allclose(found, shares[1:] if n_classes == 2 else shares)
    assert features.get_feature_names_out().tolist() == [f"P({c})" for c in range(n_classes)][n_classes == 2 :]
    assert features.transform(X[:5]).shape == (5, found.shape[1])
    assert features.to_ebm_interactions() == []
    if n_classes > 1:
        with pytest.warns(DataWarning, match="No group"):
            model = lines_of_the_page(max_variables="3").fit(X, y)
        assert model.score(X, y) == shares.max()


def test_whole_numbers_of_which_there_are_few_rows_are_cut() -> None:
    """Fifty ages in two hundred rows say nothing each; in a thousand they are levels."""
    age = np.arange(1000) % 50 + 18
    levels = [MultiLinkClassifier().fit(age[:n, None], age[:n] > 40).network_.n_levels[0] for n in (200, 1000)]
    assert levels == [4, 50]


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
    assert max(gaps) < 1e-12  # none, where the five values of a cell are one number when they are rounded
    assert min(gaps) < -0.01
    whole = features.transform(X)[:, 0]  # knows all rows, so all of a cell have one value
    assert all(np.ptp(whole[cell == one]) == 0 for one in range(8))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_differences_finer_than_chance_are_rounded(n_classes: int) -> None:
    """Five folds give a cell five values, which differ by about half a standard error; few are left of them."""
    generator = np.random.default_rng(4)
    X = generator.integers(0, 3, size=(1200, 4))
    y = (X[:, 0] + X[:, 1] + (generator.random(1200) < 0.4) * generator.integers(0, 3, 1200)) % n_classes
    features = HiddenGroupFeatures(max_variables=3, passthrough=False, random_state=0)
    encoded, whole = features.fit_transform(X, y), features.transform(X)
    assert features.groups_ == [(0, 1)]
    told = range(1, 2) if n_classes == 2 else range(3)
    assert encoded.shape == (1200, len(told))
    for column, one in enumerate(told):
        share = (y == one).mean()
        step = np.sqrt(share * (1 - share) * 9 / 1200)  # a ninth of the rows is in a cell, on average
        in_steps = (np.concatenate([encoded, whole])[:, column] - share) / step
        assert np.allclose(in_steps, np.rint(in_steps))
        values = [set(encoded[(X[:, 0] == a) & (X[:, 1] == b), column]) for a in range(3) for b in range(3)]
        assert sum(map(len, values)) <= 27  # of 45


def test_names_and_lists_for_other_programs() -> None:
    X, y = parity()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    features = HiddenGroupFeatures(max_variables=4).fit(frame, y)
    assert features.to_ebm_interactions() == [("a", "c", "f")]
    assert features.to_xgboost_constraints() == [["a", "c", "f"], ["b"], ["d"], ["e"]]
    assert features.get_feature_names_out().tolist() == [*"abcdef", "P(1 | a, c, f)"]
    assert features.transform(frame).shape == (400, 7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "check", [check_transformer_get_feature_names_out, check_transformer_get_feature_names_out_pandas]
)
def test_names_that_are_given_are_checked(check: Any) -> None:
    check("HiddenGroupFeatures", HiddenGroupFeatures())


def test_probabilities_beside_an_array_of_text_are_numbers() -> None:
    X, y = parity()
    words = np.where(X == 1, "yes", "no")
    for rows in (words, words.tolist(), words.astype(object)):
        features = HiddenGroupFeatures(max_variables=4, random_state=0)
        encoded = features.fit_transform(rows, y)
        assert encoded[:, :-1].tolist() == words.tolist()
        assert all(isinstance(share, float) for share in encoded[:, -1])
        assert np.array_equal(features.transform(rows)[:, -1] > 0.5, y == 1)


def test_lists_of_rows_keep_their_numbers() -> None:
    X, y = parity()
    numbers = X[:, 5] + np.random.default_rng(0).normal(0, 0.01, len(X))
    frame = pd.DataFrame({"a": np.where(X[:, 0], "u", "v"), "c": X[:, 2], "f": numbers})
    rows = frame.to_numpy().tolist()
    for kind in (HiddenGroupFeatures, MultiLinkClassifier):
        by_rows, by_frame = kind(max_variables=4).fit(rows, y), kind(max_variables=4).fit(frame.to_numpy(), y)
        if isinstance(by_rows, MultiLinkClassifier):
            assert by_rows.score(rows, y) == by_frame.score(rows, y) > 0.98
        else:
            assert by_rows.groups_ == by_frame.groups_ == [(0, 1, 2)]


@pytest.mark.parametrize("kind", [HiddenGroupFeatures, MultiLinkClassifier])
def test_columns_of_another_type_than_in_fit(kind: Any) -> None:
    X, y = parity()
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"a": X[:, 0], "c": np.where(X[:, 2], "u", "v"), "f": generator.normal(size=len(X))})
    fitted = kind().fit(frame, y)
    use = fitted.transform if hasattr(fitted, "transform") else fitted.predict
    use(frame.assign(a=7))  # not there in fit, and of the same type
    use(frame.assign(a=["1", *X[1:, 0]]))  # one row of text
    with pytest.warns(DataWarning, match="Column 'a' holds '7' and nothing that was there in fit"):
        use(frame.assign(a="7"))
    with pytest.warns(DataWarning, match="Column 'c' holds 7 and nothing"):
        use(frame.assign(c=7))
    with pytest.raises(DataError, match=re.escape("Column 'f' held numbers in fit; '?' in row 3")):
        use(frame.assign(f=[*"123", *"?" * 397]))
    with pytest.raises(ValueError, match="y should be a 1d array"):
        kind().fit(frame, "target")


def test_groups_beside_text_that_is_encoded_apart() -> None:
    """The lines of the page for predictors that take numbers only."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    code = next(block for block in blocks if "make_union" in block)
    X, y = parity(seed=1)
    frame = pd.DataFrame(np.where(X == 1, "yes", "no"), columns=list("abcdef"))
    scope: dict[str, Any] = {}
    exec(code, scope)
    assert cross_val_score(LogisticRegression(), X, y).mean() < 0.6
    assert cross_val_score(scope["model"], frame, y).mean() > 0.98


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
    "settings",
    [
        {"max_variables": 2},
        {"alpha": 0},
        {"max_groups": 0},
        {"n_bins": 1},
        {"max_variables": True},
        {"alpha": "0.05"},
    ],
)
def test_settings_out_of_range(settings: dict[str, Any]) -> None:
    X, y = parity()
    with pytest.raises(SettingsError):
        HiddenGroupFeatures(**settings).fit(X, y)


@pytest.mark.parametrize("kind", [HiddenGroupFeatures, MultiLinkClassifier])
def test_categories_beside_truth_values(kind: Any) -> None:
    generator = np.random.default_rng(0)
    truth, word = generator.integers(0, 2, 300).astype(bool), generator.choice(["u", "v"], 300)
    frame = pd.DataFrame({"truth": truth, "word": pd.Categorical(word)})
    target = (truth ^ (word == "v")).astype(int)
    fitted = kind().fit(frame, target)
    if isinstance(fitted, MultiLinkClassifier):
        assert (fitted.predict(frame) == target).all()
    else:
        assert len(fitted.groups_) == 1
