"""MultiLinkSearch: the scikit-learn contract, and what the estimator adds to ``learn``."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import estimator_checks_generator

from xordal import (
    BIC,
    Backoff,
    CategoricalTable,
    Constraints,
    DataError,
    EntropyDecrement,
    Limits,
    MultiLinkSearch,
    SettingsError,
    Significance,
    learn,
    read_table,
)
from xordal.pi.zoo import music_box, table_1


def frame(table: CategoricalTable) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: [levels[code] for code in codes]
            for name, levels, codes in zip(table.names, table.levels, table.codes.tolist(), strict=True)
        }
    )


BOX = frame(music_box().joint.exact_table())


CHECKS = [
    pytest.param(estimator, check, id=f"{estimator}-{check.func.__name__}")
    for candidate in (MultiLinkSearch(), MultiLinkSearch(max_variables=2, smoothing=0.5))
    for estimator, check in estimator_checks_generator(candidate)
]


@pytest.mark.filterwarnings("ignore::xordal.errors.DataWarning")  # its data are continuous
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_the_contract_of_scikit_learn(estimator: MultiLinkSearch, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_what_is_learned() -> None:
    search = MultiLinkSearch(max_links=3, criterion=EntropyDecrement(0.004)).fit(BOX)
    learned = learn(music_box().joint.exact_table(), criterion=EntropyDecrement(0.004))
    assert search.trace_ == learned.trace
    assert nx.utils.graphs_equal(
        nx.Graph(search.graph_.edges), nx.Graph([learned.names(link) for link in learned.links])
    )
    assert list(search.graph_.nodes) == list(BOX.columns)
    assert search.feature_names_in_.tolist() == list(BOX.columns)
    assert [levels.tolist() for levels in search.categories_] == [sorted(set(BOX[c])) for c in BOX]
    assert search.n_features_in_ == 8


def test_categories_keep_their_type() -> None:
    search = MultiLinkSearch().fit(pd.DataFrame({"b": [True, False], "n": [2, 10], "s": ["x", "1"]}))
    assert [levels.dtype.kind for levels in search.categories_] == ["b", "i", "U"]
    mixed = read_table({"n": [1, None], "s": ["x", "y"]}, missing="level")
    assert MultiLinkSearch().fit(mixed).categories_[0].tolist() == [1.0, "(missing)"]


def test_score_without_smoothing_is_minus_the_entropy_of_the_network() -> None:
    """1000 rows hold the music box exactly: the network's entropy is that of its five causes."""
    search = MultiLinkSearch(smoothing=0).fit(BOX)
    chances = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5], [0.5, 0.5], [0.3, 0.7]])
    assert search.score(BOX) == pytest.approx((chances * np.log(chances)).sum(), abs=1e-12)
    single = MultiLinkSearch(max_links=1, smoothing=0).fit(BOX)
    assert single.score(BOX) == pytest.approx(
        search.score(BOX), abs=1e-12
    )  # rules make up for the links it misses
    assert search.score(BOX) > single.network_.without_rules().log_likelihood(BOX) / len(BOX) + 0.6


def test_smoothing_makes_unseen_cells_possible_but_not_unseen_levels() -> None:
    impossible = BOX.iloc[:1].assign(John=["content" if BOX.John[0] == "complains" else "complains"])
    assert MultiLinkSearch(smoothing=0).fit(BOX).score_samples(impossible)[0] == -np.inf
    assert np.isfinite(MultiLinkSearch(smoothing=1).fit(BOX).score_samples(impossible)[0])
    stranger = BOX.iloc[:1].assign(John=["sleeps"])
    assert MultiLinkSearch().fit(BOX).score_samples(stranger)[0] == -np.inf
    with pytest.raises(SettingsError, match="smoothing"):
        MultiLinkSearch(smoothing=-1).fit(BOX)


def test_weights_are_repeated_rows() -> None:
    distinct = BOX.groupby(list(BOX.columns), sort=False).size().reset_index(name="n")
    light = MultiLinkSearch().fit(distinct.drop(columns="n"), sample_weight=distinct["n"])
    heavy = MultiLinkSearch().fit(BOX)
    assert light.trace_ == heavy.trace_
    assert light.score_samples(BOX).tolist() == heavy.score_samples(BOX).tolist()
    assert light.score(distinct.drop(columns="n"), sample_weight=distinct["n"]) == pytest.approx(
        heavy.score(BOX)
    )
    with pytest.raises(ValueError, match=r"Row 1: -0\.5 is not a row weight"):
        MultiLinkSearch().fit(BOX, sample_weight=np.full(len(BOX), -0.5))


def test_pickles_and_clones() -> None:
    search = MultiLinkSearch(
        2,
        criterion=EntropyDecrement(0.001),
        constraints=Constraints(forbidden=[("ball1", "ball2")]),
        limits=Limits(max_clique=4),
    ).fit(BOX)
    again = pickle.loads(pickle.dumps(search))
    assert again.trace_ == search.trace_
    assert again.score(BOX) == search.score(BOX)
    copied = clone(search)
    assert copied.get_params() == search.get_params()
    assert copied.fit(BOX).trace_ == search.trace_


def test_in_a_pipeline_and_cross_validated() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(600, 2))
    data = np.column_stack([x, x[:, 0] * x[:, 1]])  # the sign of the third is the XOR of the other two
    bins = KBinsDiscretizer(2, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
    criterion = EntropyDecrement(0.02)
    pipeline = make_pipeline(bins, MultiLinkSearch(criterion=criterion))
    assert pipeline.fit(data)[-1].trace_[0].lookahead == 3
    scores = cross_val_score(pipeline, data, cv=3)
    alone = cross_val_score(make_pipeline(bins, MultiLinkSearch(1, criterion=criterion)), data, cv=3)
    assert (scores > alone + 0.3).all()


def test_progress_is_told() -> None:
    told: list[Any] = []
    MultiLinkSearch(callback=told.append).fit(BOX)
    assert {progress.lookahead for progress in told} == {1, 2, 3}


def test_constraints_name_columns_also_of_arrays() -> None:
    rows = table_1().joint.exact_table().codes.T
    search = MultiLinkSearch(2, constraints=Constraints(required=[("x0", "x1")])).fit(rows)
    assert ("x0", "x1") in search.graph_.edges
    with pytest.raises(SettingsError, match="no column 'x9'"):
        MultiLinkSearch(constraints=Constraints(required=[("x0", "x9")])).fit(rows)


def test_summary_prints_what_a_person_wants(capsys: pytest.CaptureFixture[str]) -> None:
    search = MultiLinkSearch().fit(BOX.assign(coin=["heads", "tails"] * 500))
    search.summary()
    text = capsys.readouterr().out
    assert "9 variables, learned from 1,000 rows" in text
    assert "12 links in 3 cliques" in text
    assert "{ music_box, dog, John }" in text
    assert "on their own: coin" in text
    assert "would have missed 10 of the 12 links" in text
    with pytest.raises(NotFittedError):
        MultiLinkSearch().summary()


def test_in_a_notebook() -> None:
    search = MultiLinkSearch()
    assert "<pre>Decomposable" not in search._repr_html_()
    search.fit(BOX.rename(columns={"dog": "<dog>"}))
    html = search._repr_html_()
    assert "music_box, &lt;dog&gt;, John" in html
    assert search._repr_mimebundle_()["text/html"].startswith("<pre>")
    with sklearn.config_context(display="text"):
        assert not hasattr(search, "_repr_html_")


def test_a_search_that_ran_out_of_time_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    search = MultiLinkSearch(limits=Limits(time_limit=1e-9)).fit(BOX)
    search.summary()
    assert "ran out of time" in capsys.readouterr().out
    assert np.isfinite(search.score(BOX))


def test_what_cannot_be_scored() -> None:
    search = MultiLinkSearch().fit(BOX)
    with pytest.raises(NotFittedError):
        MultiLinkSearch().score_samples(BOX)
    with pytest.raises(ValueError, match="feature names should match"):
        search.score_samples(BOX[BOX.columns[::-1]])
    with pytest.raises(ValueError, match="is expecting 8 features"):
        MultiLinkSearch().fit(BOX.to_numpy()).score_samples(BOX.to_numpy()[:, :3])
    numbers = MultiLinkSearch().fit(pd.DataFrame({"a": [0, 1], "b": [1, 0]}))
    with pytest.raises(
        DataError, match="Column 'a' holds values such as '0'; the network knows levels such as 0"
    ):
        numbers.score_samples(pd.DataFrame({"a": ["0"], "b": ["1"]}))
    with pytest.raises(DataError, match="row 1: the value is missing"):
        search.score_samples(BOX.iloc[:1].assign(dog=[None]))
    with pytest.raises(DataError, match=r"read it with xordal\.read_table"):
        MultiLinkSearch().fit(Path("box.csv"))


def test_one_kind_of_frame_can_be_learned_from_and_another_scored() -> None:
    search = MultiLinkSearch().fit(BOX)
    assert search.score(pl.from_pandas(BOX)) == search.score(BOX)
    assert search.score(read_table(BOX)) == search.score(BOX)


def test_hidden_groups_are_named() -> None:
    search = MultiLinkSearch().fit(music_box().joint.exact_table())
    assert search.submodels_ is not None
    assert search.colored_links_ is not None
    assert ("music_box", "dog", "John") in [group.variables for group in search.submodels_]
    assert len(search.submodels_) == 3  # the parities; two sets of the paper's five follow from one of them
    assert len(search.colored_links_) == 10
    assert ("light1", "dog") not in search.colored_links_


def test_scores_count_rows_as_often_as_their_weights_say() -> None:
    rows = [(0, 0), (0, 1), (1, 1)]
    search = MultiLinkSearch().fit([*rows, (0, 0), (1, 1), (1, 1)])
    named = MultiLinkSearch().fit(CategoricalTable.from_rows(["a", "b"], [*rows, (0, 0), (1, 1), (1, 1)]))
    repeated = search.score([rows[0], rows[0], rows[2]])
    assert search.score(rows, sample_weight=[2, 0, 1]) == pytest.approx(repeated)
    weighted = CategoricalTable.from_rows(["a", "b"], rows, weights=[2, 0, 1])
    assert named.score(weighted) == pytest.approx(repeated)
    assert np.isfinite(search.score([(0, 0), (5, 5)], sample_weight=[1, 0]))
    for wrong in ([-1, 1, 1], [np.nan, 1, 1], [0, 0, 0], [1, 1], "x0"):
        with pytest.raises((DataError, ValueError)):
            search.score(rows, sample_weight=wrong)
    with pytest.raises(DataError, match="no column 'weight'"):
        search.fit(rows, sample_weight="weight")


@pytest.mark.parametrize(
    "wrong",
    [
        {"constraints": [("a", "b")]},
        {"limits": {"max_clique": 3}},
        {"criterion": EntropyDecrement},
        {"max_links": "3"},
    ],
)
def test_settings_of_the_wrong_type_are_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        MultiLinkSearch(**wrong).fit([(0, 0), (1, 1)])


def test_numpy_integers_are_whole_numbers() -> None:
    one: Any = np.int64(1)
    assert len(MultiLinkSearch(max_links=one).fit([(0, 0), (1, 1)] * 9).graph_.edges) == 1


@pytest.mark.parametrize(
    ("settings", "seed"),
    [
        ({}, 0),
        ({"random_state": 7}, 7),
        ({"random_state": 7, "criterion": Significance(seed=3)}, 3),
        ({"random_state": np.random.RandomState(0)}, np.random.RandomState(0).randint(2**31 - 1)),
    ],
)
def test_the_seed_of_what_is_random(settings: dict[str, Any], seed: int) -> None:
    fitted = MultiLinkSearch(**settings).fit([(0, 0), (1, 1)] * 9)
    criterion = fitted.learned_.settings["criterion"]
    assert criterion == {"name": "Significance", "alpha": 0.05, "seed": seed}


def test_criterion_and_smoothing_are_searched_by_scikit_learn() -> None:
    """The score is the mean log-likelihood, so that its own tools choose settings for prediction, too."""
    grid: dict[str, list[object]] = {
        "criterion": [BIC(8.0), BIC(1.0)],
        "smoothing": [0.01, Backoff(5)],
        "max_links": [1, 3],
    }
    # Else one link ahead finds it all, too.
    greedy = MultiLinkSearch(criterion=BIC(2.0), local_search=False, find_rules=False)
    search = GridSearchCV(greedy, grid, cv=KFold(3, shuffle=True, random_state=0))
    search.fit(BOX)
    assert search.best_params_["max_links"] == 3
    assert len(search.cv_results_["params"]) == 8
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_estimator_.network_.smoothing == search.best_params_["smoothing"]
    copied = clone(search.best_estimator_)
    assert (copied.criterion, copied.smoothing) == (
        search.best_params_["criterion"],
        search.best_params_["smoothing"],
    )
