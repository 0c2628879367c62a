"""Tuning: the best of what was tried, by rows that were held out; the same for any number of workers."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import some
from tests.strategies import chordal_graphs, tables
from xordal import (
    BIC,
    Backoff,
    CategoricalTable,
    DataError,
    Limits,
    SettingsError,
    TraceEntry,
    TuningInterrupted,
    learn,
    read_table,
    tune,
)
from xordal.formats.model_file import dumps, loads
from xordal.formats.stories import variable_lines
from xordal.learning.fitting import fit_network
from xordal.pi.zoo import music_box
from xordal.statistics.criterion import EntropyDecrement
from xordal.tuning import paths
from xordal.tuning.holding_out import folds_of, split_with
from xordal.tuning.paths import Path, TuningProgress
from xordal.tuning.record import tuning_lines
from xordal.tuning.trials import Grid, SplitResult, Trial, best_of, log_probs, trials_of

BOX = music_box().joint.sample_table(500, seed=1)
MORE = music_box().joint.sample_table(300, seed=2)
QUICK: dict[str, Any] = {"links": (1, 3), "penalties": (1, 0.5), "smoothings": (0.5, Backoff(5))}


def trial(penalty: float, mean: float, parameters: int = 10, links: int = 1, smoothing: float = 1.0) -> Trial:
    return Trial(links, penalty, smoothing, mean, 0.1, 3, parameters)


def test_it_is_what_learning_scoring_and_choosing_by_hand_gives() -> None:
    tuned = tune(BOX, valid=MORE, **QUICK)
    by_hand = {}
    for k in (1, 3):
        for penalty in (1.0, 0.5):
            learned = learn(BOX, max_links=k, criterion=BIC(penalty), local_search=False, find_rules=False)
            for smoothing in (0.5, Backoff(5)):
                network = fit_network(BOX, learned, smoothing=smoothing)
                by_hand[k, penalty, smoothing] = network.score_rows(MORE).log_prob
    assert len(tuned.trials) == len(by_hand) == 8
    for found in tuned.trials:
        logs = by_hand[found.max_links, found.penalty, found.smoothing]
        assert found.log_likelihood == pytest.approx(logs.mean(), abs=1e-9)
        assert found.standard_error == pytest.approx(logs.std() / len(logs) ** 0.5, rel=1e-6)
    assert tuned.best.log_likelihood == max(found.log_likelihood for found in tuned.trials)
    assert tuned.best.max_links == 3
    again = learn(BOX, max_links=3, criterion=BIC(tuned.best.penalty), local_search=False)
    assert tuned.learned.links == again.links and tuned.learned.submodels == again.submodels
    assert tuned.network.smoothing == tuned.best.smoothing
    assert (tuned.n_held_out, tuned.n_folds, tuned.seed, tuned.is_complete) == (300, None, None, True)


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_and_the_seed_matters() -> None:
    one = tune(BOX, folds=3, seed=4, **QUICK)
    two = tune(BOX, folds=3, seed=4, workers=2, **QUICK)
    assert (one.trials, one.best, one.learned.links) == (two.trials, two.best, two.learned.links)
    assert tune(BOX, folds=3, seed=5, **QUICK).trials != one.trials
    assert (one.n_held_out, one.n_folds, one.seed) == (500, 3, 4)


def test_weights_are_repeated_rows_and_their_order_does_not_matter() -> None:
    mixed = CategoricalTable(BOX.names, BOX.levels, BOX.codes[:, np.random.default_rng(0).permutation(500)])
    expected = tune(BOX, folds=2, **QUICK).trials
    assert tune(BOX.distinct(), folds=2, **QUICK).trials == expected
    assert tune(mixed, folds=2, **QUICK).trials == expected
    weighted = tune(BOX, valid=MORE.distinct(), **QUICK)
    assert weighted.trials == tune(BOX, valid=MORE, **QUICK).trials and weighted.n_held_out == 300


@given(tables(), st.integers(2, 4), st.integers(0, 3))
def test_folds_hold_each_row_out_once(table: CategoricalTable, n_folds: int, seed: int) -> None:
    if table.n_rows < 2 * n_folds:
        with pytest.raises(SettingsError, match=f"too few for {n_folds} folds"):
            folds_of(table, n_folds, seed)
        return
    splits = folds_of(table, n_folds, seed)
    sizes = [int(split.weights.sum()) for split in splits]
    assert sum(sizes) == table.n_rows and max(sizes) - min(sizes) <= 1
    rows = sorted(map(tuple, table.codes.T.tolist()))
    held_out = [np.repeat(split.codes, split.weights, axis=1).T.tolist() for split in splits]
    assert sorted(tuple(row) for part in held_out for row in part) == rows
    for split, part in zip(splits, held_out, strict=True):
        assert sorted([*split.training.rows(), *map(tuple, part)]) == rows
        assert split.training.levels == table.levels


@settings(max_examples=some(40))
@given(chordal_graphs(2, 4), st.data())
def test_many_smoothings_at_once_are_those_one_by_one(graph: Any, data: st.DataObject) -> None:
    table = data.draw(tables(graph.n_vertices, graph.n_vertices))
    learned = replace(learn(table, find_rules=False), links=graph.links)
    network = fit_network(table, learned)
    cells = np.indices(table.n_levels).reshape(table.n_variables, -1)
    chosen: list[float | Backoff] = [0.5, Backoff(3), 20.0, Backoff(0.1)]
    found = log_probs(network, cells, chosen)
    for smoothing, logs in zip(chosen, found, strict=True):
        assert logs == pytest.approx(fit_network(table, learned, smoothing=smoothing).log_prob(cells), abs=1e-9)


def test_a_level_of_held_out_rows_alone_is_one_never_seen() -> None:
    table = CategoricalTable.from_columns({"x": ["a", "b"] * 20, "y": ["u", "v"] * 20})
    valid = CategoricalTable.from_columns({"y": ["u", "w"], "x": ["a", "b"]})
    split = split_with(table, valid)
    assert split.training.levels == (("a", "b"), ("u", "v", "w"))
    tuned = tune(table, valid=valid, links=(1,), penalties=(1,), smoothings=(1.0, 0.0))
    assert tuned.network.levels[1] == ("u", "v", "w") and tuned.network.query("y")["w"] > 0
    assert tuned.network.log_likelihood(valid) == pytest.approx(2 * tuned.best.log_likelihood)
    by_smoothing = {found.smoothing: found for found in tuned.trials}
    assert by_smoothing[0.0].log_likelihood == -inf and by_smoothing[0.0].standard_error == inf
    assert tuned.best.smoothing == 1.0
    loaded = loads(dumps(tuned.network))
    assert loaded.levels == tuned.network.levels
    record: Any = loaded.learned.settings["tuned"]  # type: ignore[union-attr]
    assert [one["log_likelihood"] is None for one in record["tried"]] == [False, True]


def test_a_level_of_one_fold_alone_does_not_end_a_cross_validation() -> None:
    table = CategoricalTable.from_columns({"x": ["a", "b"] * 20 + ["c"], "y": ["u", "v"] * 20 + ["u"]})
    tuned = tune(table, folds=4, links=(1,), penalties=(1,), smoothings=(1.0,))
    assert np.isfinite(tuned.best.log_likelihood)


def test_numbers_of_a_validation_frame_go_into_the_bins_learned_from() -> None:
    numbers = np.random.default_rng(0).normal(size=400)
    frame = pd.DataFrame({"x": numbers, "sign": np.where(numbers > 0, "plus", "minus")})
    tuned = tune(read_table(frame[:300], bins=4), valid=frame[300:], **QUICK)
    assert tuned.network.n_levels == (4, 2) and tuned.n_held_out == 100


@pytest.mark.parametrize(
    ("valid", "told"),
    [
        ({"a": [0, 1]}, "The table has no column 'b'"),
        ({"a": [0, 1], "b": [0, None]}, "Column 'b', row 2: the value is missing. Rows to judge by"),
        ({"a": ["0", "1"], "b": ["0", "1"]}, "the network knows levels such as 0"),
        ({"a": [], "b": []}, "no rows"),
    ],
)
def test_validation_rows_that_do_not_fit(valid: dict[str, list[Any]], told: str) -> None:
    table = CategoricalTable.from_columns({"a": [0, 1] * 10, "b": [0, 1] * 10})
    with pytest.raises(DataError, match=told):
        tune(table, valid=pd.DataFrame(valid) if valid["a"] else valid, **QUICK)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"folds": 1}, "folds must be a whole number of at least 2"),
        ({"workers": 0}, "workers must be"),
        ({"seed": -1}, "seed must be"),
        ({"links": ()}, "links must be a list of at least one value"),
        ({"links": (0,)}, "Each of links must be a whole number of at least 1"),
        ({"links": 3}, "links must be a list"),
        ({"penalties": (0,)}, "penalty must be a positive number"),
        ({"smoothings": (-1,)}, "smoothing must be zero or a positive number"),
        ({"smoothings": Backoff(3)}, "smoothings must be a list"),
        ({"criterion": EntropyDecrement()}, "tune.. chooses by BIC what criterion would say; leave it out"),
        ({"max_links": 2}, "what max_links would say"),
        ({"folds": 400}, "500 rows are too few for 400 folds"),
        ({"limits": Limits(time_limit=1e-6)}, "A limit ended the tuning before one setting was tried"),
    ],
)
def test_wrong_settings(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        tune(BOX, **wrong)


def test_data_may_be_a_file_and_miss_values(tmp_path: pathlib.Path) -> None:
    (tmp_path / "xor.csv").write_text("a,b,c\n" + "0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 20 + ",1,0\n")
    tuned = tune(tmp_path / "xor.csv", missing="drop", links=(3,), penalties=(1,), smoothings=(1.0,))
    assert len(tuned.network.graph.links) == 3
    with pytest.raises(DataError, match="the value is missing"):
        tune(tmp_path / "xor.csv", links=(3,), penalties=(1,))


def test_equals_go_to_the_simpler() -> None:
    smoothings = (1.0, 2.0)
    worst = trial(0.1, -3.0, 1)
    for simple, other in (
        (trial(0.5, -2.0, 5), trial(1.0, -2.0, 6)),
        (trial(0.5, -2.0, links=1), trial(1.0, -2.0, links=2)),
        (trial(1.0, -2.0), trial(0.5, -2.0)),
        (trial(1.0, -2.0, smoothing=1.0), trial(1.0, -2.0, smoothing=2.0)),
    ):
        assert best_of([worst, simple, other], smoothings) is best_of([other, simple], smoothings) is simple


def test_splits_are_taken_together() -> None:
    parts = [SplitResult(2, 4, 3, ((-3.0, 3.0),)), SplitResult(4, 8, 1, ((-5.0, 25.0),))]
    (found,) = trials_of(2, 0.5, (1.0,), parts)
    assert (found.log_likelihood, found.n_links, found.n_parameters) == (-2.0, 3.0, 6.0)
    assert found.standard_error == pytest.approx((np.std([-1, -1, -1, -5])) / 2)


def test_a_path_ends_when_other_networks_do_not_help() -> None:
    path = Path(1, [0.4, 0.3, 0.2, 0.1])
    for mean in (-3.0, -3.0, -3.0, -2.0, -2.5, -2.5):  # the same network again counts for nothing
        path.add([trial(1.0, mean)])
        assert path.left
    path.add([trial(1.0, -2.2)])
    assert not path.left and len(path.trials) == 7


def test_grids_are_sorted_and_free_of_repeats() -> None:
    assert Grid.of([3, 1, 3], [0.5, 1, 1.0], [1, Backoff(2), 1.0]) == Grid(
        (1, 3), (1.0, 0.5), (1.0, Backoff(2))
    )


def test_progress_counts_the_searches() -> None:
    told: list[TuningProgress] = []
    tuned = tune(BOX, folds=2, on_progress=told.append, **QUICK)
    assert [at.n_done for at in told] == list(range(1, 9))
    assert told[-1].n_most == 8 and told[-1].best == tuned.best and told[0].best is None


def stop_after(n: int) -> Callable[[TuningProgress], None]:
    def tell(at: TuningProgress) -> None:
        if at.n_done == n:
            raise KeyboardInterrupt

    return tell


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_the_best_so_far(workers: int) -> None:
    with pytest.raises(TuningInterrupted) as stop:
        tune(BOX, valid=MORE, workers=workers, on_progress=stop_after(2), **QUICK)
    tuned = stop.value.tuned
    assert tuned is not None and not tuned.is_complete and 2 <= len(tuned.trials) // 2 < 4
    assert tuned.best in tuned.trials and tuned.network.graph.links == tuned.learned.links
    with pytest.raises(TuningInterrupted) as stop:
        tune(BOX, folds=3, workers=workers, on_progress=stop_after(1), **QUICK)
    assert stop.value.tuned is None


def test_ctrl_c_in_the_last_search_keeps_what_it_had_learned() -> None:
    n_done = 0

    def count(at: TuningProgress) -> None:
        nonlocal n_done
        n_done = at.n_done

    def stop(entry: TraceEntry) -> None:
        if n_done == 4 and entry.lookahead == 2:  # after the trials
            raise KeyboardInterrupt

    with pytest.raises(TuningInterrupted) as ended:
        tune(BOX, valid=MORE, on_progress=count, on_entry=stop, **QUICK)
    tuned = ended.value.tuned
    assert tuned is not None and not tuned.is_complete
    assert tuned.learned.run.stopped_by == "interruption" and 0 < len(tuned.learned.links) < 12
    assert tuned.network.graph.links == tuned.learned.links


def test_a_time_limit_ends_it_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(0, 1000, 10))
    monkeypatch.setattr(paths, "monotonic", lambda: float(next(times)))
    tuned = tune(BOX, valid=MORE, limits=Limits(time_limit=120), **QUICK)
    assert not tuned.is_complete and 0 < len(tuned.trials) < 8
    assert tuned.best in tuned.trials


def test_the_record_is_in_the_settings_and_the_table_marks_the_choice() -> None:
    tuned = tune(BOX, folds=2, **QUICK)
    record: Any = tuned.learned.settings["tuned"]
    assert record["held_out"] == {"rows": 500, "folds": 2, "seed": 0} and len(record["tried"]) == 8
    assert record["chosen"] in record["tried"] and record["chosen"]["max_links"] == 3
    lines = tuning_lines(tuned.trials, tuned.best)
    assert len(lines) == 5 and sum(" * " in line for line in lines) == 1
    assert len(set(map(len, lines))) == 1
    loaded = loads(dumps(tuned.network))
    assert loaded.learned is not None and loaded.learned.settings["tuned"] == record
    assert not any("tried" in line for line in variable_lines(loaded))


def test_back_off_helps_where_cliques_are_large_and_rows_few() -> None:
    """Most of the many contexts say nothing about y but by its uneven margin, which back-off knows."""
    generator = np.random.default_rng(3)
    x = generator.integers(0, 30, 400)
    y = np.where(x == 0, 5, generator.choice(6, 400, p=[0.6, 0.2, 0.1, 0.05, 0.03, 0.02]))
    table = CategoricalTable.from_columns({"x": x.tolist(), "y": y.tolist()})
    tuned = tune(table, links=(1,), penalties=(0.01,), smoothings=(1.0, 10.0, 100.0, Backoff(10)))
    assert tuned.best.smoothing == Backoff(10) and tuned.best.n_links == 1
