"""A network in use: questions, predictions, imputation, odd rows, samples."""

from __future__ import annotations

from itertools import product
from math import exp, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.brute import margin, weighted, whole_joint
from tests.examples import some
from tests.oracle.test_inference import evidences, networks, rows_of
from xordal import (
    CategoricalTable,
    DataError,
    DecomposableMarkovNetwork,
    ImpossibleEvidence,
    SettingsError,
    check,
    learn,
    read_table,
)
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.graph.chordal import ChordalGraph
from xordal.learning.fitting import fit_network
from xordal.model.estimation import estimate
from xordal.model.predict import score_rows
from xordal.model.rows import RowCodes, encoded
from xordal.pi.zoo import music_box


def box(smoothing: float = 0.0, **settings: object) -> DecomposableMarkovNetwork:
    table = music_box().joint.exact_table()
    return fit_network(table, learn(table, **settings), smoothing=smoothing)  # type: ignore[arg-type]


def xor(smoothing: float = 0.0) -> DecomposableMarkovNetwork:
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    table = CategoricalTable.from_rows(["a", "b", "c"], rows)
    return fit_network(table, learn(table), smoothing=smoothing)


def test_the_music_box_is_certain_where_single_links_toss_a_coin() -> None:
    table = music_box().joint.exact_table()
    john = np.array(table.levels[-1])[table.codes[-1]]
    whole = box()
    assert (np.array(whole.predict(table, "John")) == john).all()
    assert whole.predict_proba(table, "John").max(axis=1) == pytest.approx(1)
    assert box(schedule="single").predict_proba(table, "John") == pytest.approx(0.5)


def test_answers_are_mappings_from_levels() -> None:
    network = xor()
    assert network.query("c", given={"a": 0, "b": 1}) == {0: 0.0, 1: 1.0}
    joint = network.query(["c", "a"], given={"b": 1})
    assert joint == pytest.approx({(0, 0): 0.0, (0, 1): 0.5, (1, 0): 0.5, (1, 1): 0.0})
    assert network.query(["a"]) == pytest.approx({(0,): 0.5, (1,): 0.5})
    assert network.probability({"a": 0, "b": 0}) == pytest.approx(0.25)
    assert network.probability({"a": 0, "b": 0, "c": 1}) == 0
    assert network.log_probability({"a": 0, "b": 0, "c": 1}) == -np.inf
    assert network.probability({}) == pytest.approx(1)


def test_soft_evidence_by_hand() -> None:
    network = xor()
    likely = {"a": {0: 3.0, 1: 1.0}}
    assert network.query("a", likely=likely) == pytest.approx({0: 0.75, 1: 0.25})
    assert network.query("c", given={"b": 0}, likely=likely) == pytest.approx({0: 0.75, 1: 0.25})
    assert network.query("c", given={"b": 0}, likely={"a": {0: 300, 1: 100}}) == pytest.approx(
        {0: 0.75, 1: 0.25}
    )
    assert network.query("a", likely={"a": {0: 0, 1: 2}}) == {0: 0.0, 1: 1.0}
    assert network.probability({}, likely) == pytest.approx(2)


@pytest.mark.parametrize(
    ("asked", "given", "likely", "told"),
    [
        ("d", {}, {}, "no variable 'd'"),
        ("C", {}, {}, "did you mean 'c'"),
        ("c", {"A": 0}, {}, "did you mean 'a'"),
        ("c", {"a": 2}, {}, "'a' has no level '2'; known are: 0, 1"),
        ("c", {"a": "1"}, {}, "it has 1, of type int"),
        ("c", {"a": 0}, {"a": {0: 1, 1: 1}}, "given for certain"),
        ("c", {}, {"a": {0: 1}}, "says nothing of 1"),
        ("c", {}, {"a": {0: 0, 1: 0}}, "rules out all"),
        ("c", {}, {"a": {0: -1, 1: 0}}, "zero or a positive number"),
        ("c", {}, {"a": {0: float("nan"), 1: 0}}, "zero or a positive number"),
        ("c", {}, {"a": 0}, "must map each of its levels"),
        ("c", "a", {}, "given must map names to levels"),
        ([], {}, {}, "at least one"),
        (["a", "a"], {}, {}, "once"),
    ],
)
def test_questions_that_cannot_be_answered(
    asked: str, given: dict[str, int], likely: dict[str, dict[int, float]], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        xor().query(asked, given, likely)


def test_impossible_evidence_is_named() -> None:
    network = box()
    given = {"ball1": "white", "light1": "on", "light2": "off", "dog": "barks", "John": "content"}
    with pytest.raises(ImpossibleEvidence, match=r"evidence: light1=on, light2=off, dog=barks have together"):
        network.query("ball2", given)
    for ask in (network.marginals, network.most_probable):
        with pytest.raises(ImpossibleEvidence, match="smoothed"):
            ask(given)
    with pytest.raises(ImpossibleEvidence):
        network.sample(5, given=given)
    with pytest.raises(ImpossibleEvidence, match="what is likely of c"):
        xor().query("a", {"a": 0, "b": 0}, {"c": {0: 0, 1: 1}})
    assert sum(network.smoothed(1).query("ball2", given).values()) == pytest.approx(1)


def test_a_table_too_large_is_refused_by_name() -> None:
    names = [f"v{v}" for v in range(30)]
    rows = np.random.default_rng(0).integers(0, 2, size=(50, 30)).tolist()
    table = CategoricalTable.from_rows(names, rows)
    whole = ChordalGraph.empty(30).add([(u, v) for u in range(30) for v in range(u + 1, 30)])
    network = estimate(whole, NumpyCounter(table), table.names, table.levels)
    with pytest.raises(DataError, match=r"The clique \{v0, v1, .* has a table of 1,073,741,824 cells"):
        network.query("v0")
    known = {f"v{v}": 0 for v in range(1, 30)}
    hand = {code: network.log_prob(np.array([[code], *[[0]] * 29]))[0] for code in (0, 1)}
    expected = exp(hand[0]) / (exp(hand[0]) + exp(hand[1]))
    assert network.query("v0", known)[0] == pytest.approx(expected, abs=1e-12)
    apart = estimate(ChordalGraph.empty(30), NumpyCounter(table), table.names, table.levels)
    with pytest.raises(DataError, match=r"The joint of \{v0, .* Ask for fewer"):
        apart.query(names)
    assert len(apart.query(names[:3])) == 8


def test_predictions_on_a_huge_clique_with_all_else_known() -> None:
    names = [f"v{v}" for v in range(40)]
    rows = np.random.default_rng(0).integers(0, 3, size=(60, 40)).tolist()
    table = CategoricalTable.from_rows(names, rows)
    whole = ChordalGraph.empty(40).add([(u, v) for u in range(40) for v in range(u + 1, 40)])
    network = estimate(whole, NumpyCounter(table), table.names, table.levels)
    chances = network.predict_proba(table, "v7")
    assert (np.argmax(chances, axis=1) == table.codes[7]).all()


@settings(max_examples=some(100))
@given(st.data())
def test_rows_with_missing_cells_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(networks())
    codes = data.draw(evidences(network)).codes
    joint = whole_joint(network)
    rows = RowCodes(codes, None, lambda row, name: "")
    scores = score_rows(network, rows)
    for number, row in enumerate(codes.T):
        known = {v: int(code) for v, code in enumerate(row) if code >= 0}
        assert exp(scores.log_prob[number]) == pytest.approx(weighted(joint, known, {}).sum(), abs=1e-10)
        complete = len(known) == len(network.variables)
        if complete and np.isfinite(scores.log_prob[number]):
            assert scores.surprise[number] == pytest.approx(
                -scores.log_prob[number] - network.entropy(), abs=1e-8
            )


@settings(max_examples=some(60))
@given(st.data())
def test_the_blame_is_what_the_clique_adds_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(networks(max_vertices=5))
    joint = whole_joint(network)
    cells = np.array(list(product(*map(range, network.n_levels)))).T
    scores = score_rows(network, RowCodes(cells, None, lambda row, name: ""))
    tree = network.inference.tree
    for number, cell in enumerate(cells.T):
        if joint[tuple(cell)] == 0:
            continue
        each = []
        for clique, separator in zip(tree.cliques, tree.separators, strict=True):
            inside = tuple(v for v in range(joint.ndim) if clique >> v & 1)
            shared = tuple(v for v in inside if separator >> v & 1)
            each.append(surprise(joint, inside, cell) - surprise(joint, shared, cell))
        assert scores.blame[number] == pytest.approx(max(each), abs=1e-8)
        assert each[scores.blamed[number]] == pytest.approx(max(each), abs=1e-8)
        assert sum(each) == pytest.approx(scores.surprise[number], abs=1e-8)


def surprise(
    joint: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    inside: tuple[int, ...],
    cell: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> float:
    """Return minus log P of a part of a cell, minus its mean."""
    if not inside:
        return 0.0
    part = margin(joint, inside)
    entropy = -sum(p * log(p) for p in part.reshape(-1) if p > 0)
    return -log(part[tuple(cell[list(inside)])]) - entropy


def test_the_clique_to_blame() -> None:
    odd = {"ball1": "black", "ball2": "white", "ball3": "black", "music_box": "plays"}
    odd |= {"light1": "on", "light2": "on", "dog": "barks", "John": "content"}
    scores = box(1.0).score_rows({name: [level] for name, level in odd.items()})
    assert scores.cliques[scores.blamed[0]] == ("music_box", "dog", "John")
    assert scores.blame[0] > 7
    impossible = box().score_rows({name: [level] for name, level in odd.items()})
    assert impossible.log_prob[0] == -np.inf
    assert impossible.cliques[impossible.blamed[0]] == ("music_box", "dog", "John")


def test_log_likelihood_counts_weights() -> None:
    network = xor(1.0)
    table = CategoricalTable.from_rows(["a", "b", "c"], [(0, 0, 0), (1, 0, 1)], weights=[3, 2])
    repeated = CategoricalTable.from_rows(["a", "b", "c"], [(0, 0, 0)] * 3 + [(1, 0, 1)] * 2)
    assert network.log_likelihood(table) == pytest.approx(network.log_likelihood(repeated))
    assert network.log_likelihood({"a": [0], "b": [None], "c": [1]}) == pytest.approx(
        log(network.probability({"a": 0, "c": 1}))
    )


def test_the_advice_is_what_the_caller_offers() -> None:
    network, new = xor(1.0), {"a": [7], "b": [0], "c": [0]}
    with pytest.raises(DataError, match=r"unseen='missing' ignores such a cell, unseen='impossible'"):
        network.score_rows(new)
    with pytest.raises(DataError, match=r"unseen='missing' ignores such a cell\.$"):
        network.predict(new, "c")
    with pytest.raises(DataError, match=r"\(absent='missing'\)"):
        network.predict({"a": [0]}, "c")
    with pytest.raises(DataError, match=r"Rename it\.$"):
        check(network, {"a": [0]})


def test_unseen_levels_and_absent_columns() -> None:
    network = xor(1.0)
    data = {"a": [0, 7], "b": [0, 1], "c": [0, 1], "extra": ["x", "y"]}
    with pytest.raises(
        DataError, match="Column 'a', row 2: the network never saw the level '7'; known are: 0, 1"
    ):
        network.score_rows(data)
    scores = network.score_rows(data, unseen="impossible")
    assert np.isfinite(scores.log_prob[0])
    assert scores.log_prob[1] == -np.inf
    ignored = network.score_rows(data, unseen="missing").log_prob
    assert ignored[1] == pytest.approx(log(network.probability({"b": 1, "c": 1})))
    assert not np.isnan(scores.surprise).any()
    with pytest.raises(SettingsError, match="unseen"):
        network.predict(data, "c", unseen="impossible")
    with pytest.raises(SettingsError, match="unseen must be one of"):
        network.predict(data, "c", unseen="whatever")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no column 'b'"):
        network.score_rows({"a": [0], "c": [1]})
    assert network.predict_proba({"a": [0]}, "c", absent="missing") == pytest.approx(0.5)
    with pytest.raises(DataError, match="no rows"):
        network.score_rows({"a": [], "b": [], "c": []})


def test_the_target_is_not_looked_at() -> None:
    network = xor(1.0)
    without = network.predict_proba({"a": [0, 1], "b": [1, 1]}, "c")
    assert network.predict_proba({"a": [0, 1], "b": [1, 1], "c": ["odd", None]}, "c") == pytest.approx(without)
    assert network.predict({"a": [0, 1], "b": [1, 1]}, "c") == [1, 0]


def test_an_impossible_row_is_an_error_with_its_place() -> None:
    network = box()
    table = music_box().joint.exact_table()
    rows = {
        name: [levels[code] for code in codes[:3]]
        for name, levels, codes in zip(table.names, table.levels, table.codes, strict=True)
    }
    rows["light1"][1], rows["light2"][1], rows["dog"][1] = "on", "off", "barks"
    with pytest.raises(
        ImpossibleEvidence, match=r"^Row 2: Impossible evidence: light1=on, light2=off, dog=barks"
    ):
        network.predict_proba(rows, "John")
    rows["ball1"][1] = None
    with pytest.raises(ImpossibleEvidence, match="Row 2"):
        network.impute(rows)


def test_imputation_completes_each_row_to_its_most_probable_state() -> None:
    network = box()
    table = music_box().joint.exact_table()
    frame = pd.DataFrame(
        {
            name: np.array(levels, dtype=object)[codes]
            for name, levels, codes in zip(table.names, table.levels, table.codes, strict=True)
        }
    )
    holes = frame.copy()
    holes.loc[::2, "music_box"] = None
    holes.loc[1::2, "dog"] = None
    filled = network.impute(holes)
    assert filled.n_rows == table.n_rows
    for v, name in enumerate(filled.names):
        assert [filled.levels[v][code] for code in filled.codes[v]] == frame[name].tolist()


@settings(max_examples=some(60))
@given(st.data())
def test_imputed_rows_are_most_probable_by_brute_force(data: st.DataObject) -> None:
    network = data.draw(networks().filter(lambda n: n.smoothing != 0.0))
    evidence = data.draw(evidences(network))
    columns = {
        name: [None if code < 0 else levels[code] for code in codes]
        for name, levels, codes in zip(network.variables, network.levels, evidence.codes, strict=True)
    }
    filled = network.impute(columns)
    joint = whole_joint(network)
    for number, expected in enumerate(rows_of(joint, type(evidence)(evidence.codes))):
        state = tuple(
            network.levels[v].index(filled.levels[v][filled.codes[v, number]])
            for v in range(len(network.variables))
        )
        assert expected[state] == pytest.approx(expected.max(), rel=1e-9)


def test_numbers_find_the_bins_they_were_learned_with() -> None:
    numbers = np.random.default_rng(0).normal(size=400) * 1000 + 0.123456789
    frame = pd.DataFrame({"x": numbers, "sign": np.where(numbers > 0, "plus", "minus")})
    table = read_table(frame, bins=4)
    network = fit_network(table, learn(table))
    assert np.array_equal(encoded(network, frame).codes, table.codes)
    assert network.predict({"x": [-5000.0, 5000.0]}, "sign") == ["minus", "plus"]


def test_rare_and_missing_levels_are_those_of_learning() -> None:
    data = {"x": ["a"] * 10 + ["b"] * 10 + ["r1", "r2"], "y": ["u"] * 10 + [None] * 10 + ["w", "w"]}
    table = read_table(data, missing="level", merge_rare=2)
    network = fit_network(table, learn(table))
    assert network.predict({"x": ["never seen"]}, "y") == ["w"]
    assert network.predict({"y": [None]}, "x") == ["b"]


def test_samples_are_seeded_and_follow_the_network() -> None:
    network = box()
    one, same, other = (network.sample(20_000, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.codes, same.codes)
    assert not np.array_equal(one.codes, other.codes)
    shares = np.bincount(one.codes[0]) / one.n_rows
    assert shares == pytest.approx([0.8, 0.2], abs=0.02)
    assert np.isfinite(network.log_prob(one.codes)).all()
    given = network.sample(5_000, seed=0, given={"John": "content", "dog": "barks"})
    assert given.levels[network.variables.index("music_box")] == ("silent",)
    soft = network.sample(20_000, seed=0, likely={"dog": {"barks": 3, "quiet": 1}})
    assert np.bincount(soft.codes[6]) / soft.n_rows == pytest.approx([0.75, 0.25], abs=0.02)
    for n in (0, -1, 1.5, 10**9):
        with pytest.raises(SettingsError, match="rows can be drawn"):
            network.sample(n)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="seed"):
        network.sample(1, seed=-1)


@settings(max_examples=some(30))
@given(st.data())
def test_samples_fit_the_exact_margins(data: st.DataObject) -> None:
    """Every pair of variables, given evidence: within five standard errors of the exact joint."""
    network = data.draw(networks(max_vertices=4))
    joint = whole_joint(network)
    n = 4_000
    given = dict(list(network.most_probable().items())[:1])
    expected = weighted(joint, {0: network.levels[0].index(given[network.variables[0]])}, {})
    expected /= expected.sum()
    table = network.sample(n, seed=3, given=given)
    for v in range(joint.ndim):
        exact = margin(expected, (v,))
        found = np.zeros(len(exact))
        for level, count in zip(table.levels[v], np.bincount(table.codes[v]), strict=True):
            found[network.levels[v].index(level)] = count / n
        assert (np.abs(found - exact) <= 5 * np.sqrt(np.clip(exact * (1 - exact), 0, 1) / n) + 1e-9).all()
