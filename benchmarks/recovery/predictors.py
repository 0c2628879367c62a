"""Predictors with hidden groups: boosting and explainable boosting machines, alone and with the groups found.

Two tables in which a target follows from several columns only together: parity5+5 (the parity of 5 of 10 bits)
and GAMETES (3 of 20 markers, heritability 0.2), both from the Penn Machine Learning Benchmarks. Gradient
boosting (scikit-learn, default settings) gets the groups as features, by the five lines of
[the page](../predictors.md); an explainable boosting machine (interpret, two bags) gets them as `interactions`,
XGBoost (default settings) as `interaction_constraints` and as features. Groups are found in the training rows
of each fold alone. Numbers are the share of rows predicted right, by three-fold cross-validation: the mean over
random states 0, 1, 2, ... of the folds, the predictor and the features, and the range. The best possible is
what a table of the true columns, counted in all rows, gets right; "table of the true columns" is one counted in
the training rows alone.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from benchmarks.recovery.study import arguments, markdown, publish
from xordal import HiddenGroupFeatures

TABLES = {
    "parity5+5": (6, ["Bit 2", "Bit 3", "Bit 4", "Bit 6", "Bit 8"]),
    "GAMETES_Epistasis_3_Way_20atts_0.2H_EDM_1_1": (4, ["P1", "P2", "P3"]),
}
"""The largest group to look for, the target counted, and the columns that the target follows from."""

HEADING = ("table", "best possible", "predictor", "alone, mean (range)", "with groups, mean (range)")

Model = Callable[[HiddenGroupFeatures | None, int], Any]
"""A predictor for groups that were found, or alone, and a random state."""


def boosting(groups: HiddenGroupFeatures | None, state: int) -> Any:
    """Make gradient boosting of scikit-learn; with groups in a pipeline, as on the page."""
    own = GradientBoostingClassifier(random_state=state)
    if groups is None:
        return own
    settings = groups.get_params() | {"passthrough": False, "random_state": state}
    return make_pipeline(HiddenGroupFeatures(**settings), own)


def machine(groups: HiddenGroupFeatures | None, state: int) -> Any:
    """Make an explainable boosting machine of interpret."""
    from interpret.glassbox import ExplainableBoostingClassifier  # type: ignore[import-untyped]

    more = {} if groups is None else {"interactions": groups.to_ebm_interactions()}
    return ExplainableBoostingClassifier(n_jobs=1, outer_bags=2, random_state=state, **more)


def xgboost(groups: HiddenGroupFeatures | None, state: int) -> Any:
    """Make XGBoost."""
    from xgboost import XGBClassifier

    more = {} if groups is None else {"interaction_constraints": groups.to_xgboost_constraints()}
    return XGBClassifier(n_jobs=1, random_state=state, **more)


def on_features(groups: HiddenGroupFeatures | None, state: int) -> Any:
    """Make XGBoost with the groups as features."""
    from xgboost import XGBClassifier

    own = XGBClassifier(n_jobs=1, random_state=state)
    if groups is None:
        return own
    settings = groups.get_params() | {"passthrough": False, "random_state": state}
    return make_pipeline(HiddenGroupFeatures(**settings), own)


MODELS: dict[str, Model] = {
    "gradient boosting": boosting,
    "explainable boosting machine": machine,
    "XGBoost": xgboost,
    "XGBoost, groups as features": on_features,
}


def rates(model: Model, X: Any, y: Any, size: int | None, n_states: int) -> list[float]:
    """Return the share of rows predicted right for each random state, with groups if there is a size."""
    found = []
    for state in range(n_states):
        right = 0
        for own, others in folds(X, y, state):
            groups = None
            if size is not None:
                groups = HiddenGroupFeatures(max_variables=size).fit(X.iloc[own], y.iloc[own])
            fitted = model(groups, state).fit(X.iloc[own], y.iloc[own])
            right += int((fitted.predict(X.iloc[others]) == y.iloc[others]).sum())
        found.append(right / len(y))
    return found


def folds(X: Any, y: Any, state: int) -> Iterator[tuple[Any, Any]]:
    """Yield the rows to learn from and the rows to predict."""
    yield from StratifiedKFold(3, shuffle=True, random_state=state).split(X, y)


def rates_of_tables(columns: Any, y: Any, n_states: int) -> list[float]:
    """Return the share of rows that a table of the true columns gets right, counted in the training rows."""
    cells, found = columns.astype(str).agg(" ".join, axis=1), []
    for state in range(n_states):
        right = 0
        for own, others in folds(columns, y, state):
            common = pd.crosstab(cells.iloc[own], y.iloc[own]).idxmax(axis=1)
            right += int((cells.iloc[others].map(common) == y.iloc[others]).sum())
        found.append(right / len(y))
    return found


def told(found: list[float]) -> str:
    """Return the mean and the range in per cent."""
    return f"{100 * np.mean(found):.1f} % ({100 * min(found):.1f} to {100 * max(found):.1f})"


def rows_of(name: str, file: Path, n_states: int) -> Iterator[tuple[object, ...]]:
    """Yield the lines of one table."""
    size, columns = TABLES[name]
    table = pd.read_csv(file, sep="\t")
    X, y = table.drop(columns="target"), table["target"]
    best = pd.crosstab([X[column] for column in columns], y).max(axis=1).sum() / len(y)
    short, possible = name.split("_", maxsplit=1)[0], f"{100 * best:.1f} %"
    yield short, possible, "table of the true columns", "", told(rates_of_tables(X[columns], y, n_states))
    for label, model in MODELS.items():
        alone, together = (rates(model, X, y, each, n_states) for each in (None, size))
        yield short, possible, label, told(alone), told(together)


def main() -> None:
    """Measure both tables."""
    chosen = arguments("Predictors alone and with hidden groups", runs=5)
    folder = Path(os.environ.get("XORDAL_DATA", "")) / "pmlb"
    if "XORDAL_DATA" not in os.environ or not folder.is_dir():
        sys.exit("Skipped: set XORDAL_DATA to the folder that holds pmlb/parity5+5.tsv and the like.")
    warnings.simplefilter("ignore")  # of the libraries
    rows: list[tuple[object, ...]] = []
    for name in TABLES:
        if chosen.only in name:
            for row in rows_of(name, folder / f"{name}.tsv", chosen.runs):
                print(*row, flush=True)
                rows.append(row)
    publish(__doc__, markdown(HEADING, rows), chosen.output)


if __name__ == "__main__":
    main()
