"""Exact joints: margins, conditions, entropies, rows; and everything that is no joint."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from xordal import DataError, EntropyDecrement, SettingsError, learn
from xordal.pi.joint import Joint
from xordal.pi.zoo import FAMILIES, build, music_box, table_1
from xordal.types.varsets import VarSet, varset

HALF = Fraction(1, 2)


def test_margins_and_conditions() -> None:
    joint = table_1().joint
    assert joint.marginal(["d", "c"]).probabilities.tolist() == pytest.approx(
        np.array([[0.32, 0.18], [0.28, 0.22]]).ravel().reshape(2, 2)
    )
    assert pytest.approx(joint.marginal(["d", "c"]).probabilities) == joint.marginal(["c", "d"]).probabilities.T
    given = joint.conditional({"d": "0", "a": "0"})
    assert given.variables == ("b", "c")
    assert given.probabilities == pytest.approx(np.array([[0.2, 0.2], [0.6, 0.0]]))


def test_entropies_are_those_of_the_exact_table() -> None:
    for model in (table_1(), music_box()):
        from xordal.counting.cpu_numpy import NumpyCounter
        from xordal.counting.plain import CountingOracle

        table = model.joint.exact_table()
        sets = [VarSet(mask) for mask in range(1 << table.n_variables)]
        counted = CountingOracle(NumpyCounter(table), table.n_levels).entropies(sets)
        assert model.joint.oracle().entropies(sets) == pytest.approx(counted, abs=1e-12)
    assert table_1().joint.oracle().entropies([varset([])])[0] == 0
    fair = Joint.from_array("x", np.array([0.5, 0.5]))
    assert fair.oracle().entropies([varset([0])])[0] == pytest.approx(log(2))


def test_learning_from_a_joint_is_learning_from_its_exact_table() -> None:
    for model in (table_1(), music_box()):
        sources, paper = (model.joint, model.joint.exact_table()), EntropyDecrement()
        exact, counted = (learn(source, criterion=paper) for source in sources)
        assert [e.links for e in exact.trace] == [e.links for e in counted.trace]
        assert [e.graphs_tested for e in exact.trace] == [e.graphs_tested for e in counted.trace]
        assert [e.gain for e in exact.trace] == pytest.approx([e.gain for e in counted.trace], abs=1e-12)
        assert exact.submodels and exact.n_rows is None
    with pytest.raises(SettingsError, match="needs rows"):
        learn(table_1().joint, engine="reference")


@pytest.mark.parametrize("name", ["table-1", "music-box", "parity", "modulus"])
def test_exact_rows_hold_the_joint(name: str) -> None:
    joint = build(name).joint
    assert joint.fractions is not None
    rows = list(joint.exact_rows())
    for state, p in joint.fractions.items():
        assert Fraction(rows.count(state), len(rows)) == p


def test_sizes_of_the_smallest_tables() -> None:
    assert len(list(table_1().joint.exact_rows())) == 100
    assert len(list(music_box().joint.exact_rows())) == 1000


def test_the_music_box_is_what_the_paper_tells() -> None:
    fractions = music_box().joint.fractions
    assert fractions is not None
    for ball1, ball2, ball3, box, light1, light2, dog, john in fractions:
        assert (box == "plays") == ([ball1, ball2, ball3].count("white") in (1, 3))
        assert (dog == "barks") == (light1 == light2)
        too_quiet = box == "silent" and dog == "quiet"
        too_noisy = box == "plays" and dog == "barks"
        assert (john == "complains") == (too_quiet or too_noisy)


def test_samples_follow_the_seed_and_the_joint() -> None:
    joint = table_1().joint
    assert list(joint.sample_rows(50, seed=3)) == list(joint.sample_rows(50, seed=3))
    assert list(joint.sample_rows(50, seed=3)) != list(joint.sample_rows(50, seed=4))
    rows = list(joint.sample_rows(20_000, seed=5))
    assert joint.fractions is not None
    for state, p in joint.fractions.items():
        assert abs(rows.count(state) - float(p) * 20_000) <= 5 * (float(p) * 20_000) ** 0.5


@pytest.mark.parametrize(
    ("variables", "states", "told"),
    [
        (["x"], {("0",): HALF}, "sum to 0.5; they must sum to 1"),
        (["x"], {("0",): HALF, ("1",): Fraction(1, 2) + Fraction(1, 10**12)}, "must sum to 1"),
        (["x"], {("0",): 0.25, ("1",): 0.5}, "sum to 0.75"),
        (["x"], {("0",): 1.5, ("1",): -0.5}, r"State \('1',\) has probability -0.5"),
        (["x"], {("0",): 1.0, ("1",): float("nan")}, r"State \('1',\) has probability nan"),
        (["x", "x"], {("0", "0"): HALF, ("1", "1"): HALF}, "'x' is named more than once"),
        (["x", "y"], {("0",): Fraction(1)}, "has 1 value"),
        ([], {(): Fraction(1)}, "one axis per variable"),
    ],
)
def test_what_is_no_joint(
    variables: list[str], states: dict[tuple[str, ...], Fraction | float], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        Joint.from_states(variables, states)


@pytest.mark.parametrize("value", [-0.5, float("nan"), float("inf")])
def test_an_array_that_is_no_joint(value: float) -> None:
    with pytest.raises(DataError, match=r"Cell \(1,\) has probability"):
        Joint.from_array("x", np.array([1.0, value]))


def test_wrong_names_and_levels_are_answered_with_the_nearest() -> None:
    joint = music_box().joint
    with pytest.raises(DataError, match="did you mean 'music_box'"):
        joint.marginal(["musicbox"])
    with pytest.raises(DataError, match="did you mean 'barks'"):
        joint.conditional({"dog": "bark"})
    with pytest.raises(DataError, match="probability zero"):
        joint.conditional({"light1": "on", "light2": "on", "dog": "quiet"})
    with pytest.raises(DataError, match="no fractions"):
        build("full-pi").joint.exact_table()
    with pytest.raises(DataError, match="800,000,000 rows"):
        build("embedded").joint.exact_table()


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("musicbox", {}, "did you mean 'music-box'"),
        ("parity", {"variabels": "4"}, "did you mean 'variables'"),
        ("table-1", {"seed": "1"}, "it has none"),
        ("parity", {"variables": "four"}, "must be a whole number, not 'four'"),
        ("parity", {"noise": "1/0"}, "a number or a fraction"),
        ("parity", {"noise": "0.7"}, "below 1/2"),
        ("parity", {"variables": "2"}, "at least 3"),
        ("modulus", {"levels": "1"}, "at least 2"),
        ("partial-pi", {"blocks": "2"}, "two or more sizes"),
        ("partial-pi", {"blocks": "2+x"}, "such as 2\\+1"),
        ("partial-pi", {"strength": "nan"}, "above 0 and at most 1"),
        ("embedded", {"depth": "1"}, "cannot have depth 1; it can have depth 2, 3, 4"),
        ("embedded", {"variables": "5"}, "it can have depth 2"),
        ("embedded", {"variables": "4", "inputs": "2"}, "depth 3; nor any other"),
        ("embedded", {"depth": "0"}, "depth must be at least 1"),
        ("embedded", {"depth": "999999999999999999999"}, "cannot have depth"),
        ("embedded", {"inputs": "1+2"}, "from 2 to 9 such as 2\\+3, not '1\\+2'"),
        ("embedded", {"inputs": "two"}, "whole numbers such as 2\\+3"),
        ("embedded", {"seed": "-1"}, "seed must be zero or positive, not -1"),
        ("full-pi", {"seed": "-1"}, "seed must be zero or positive, not -1"),
        ("partial-pi", {"seed": "-1"}, "seed must be zero or positive, not -1"),
        ("full-pi", {"variables": "2"}, "^variables must be at least 3, not 2"),
        ("full-pi", {"variables": "999999999999999999999"}, "at most"),
        ("full-pi", {"levels": "2+3"}, "one for each of the 3 variables, not '2\\+3'"),
        ("full-pi", {"levels": "2+1+2"}, "levels must be at least 2, not 1"),
        ("full-pi", {"margins": "0.3+0.2"}, "for 2 of the 3 variables"),
        ("full-pi", {"margins": "0.3+0.2+x"}, "margins must be a number or a fraction"),
        ("full-pi", {"margins": "0.3+0.2+1"}, "leave some chance for level 0, not '1'"),
        ("full-pi", {"margins": "0.3+0.2+0.1", "levels": "2+2+3"}, "margins of 3 levels are 2 chances"),
        ("full-pi", {"margins": "0.3+0.5+0.2", "interaction": "0.04"}, "from -3/100 to 3/100 with these"),
        ("full-pi", {"margins": "0.3+0.5+0.2", "interaction": "-0.04"}, "from -3/100 to 3/100 with these"),
        ("full-pi", {"margins": "0.3+0.5+0.2", "interaction": "0"}, "cannot be told from rounding"),
        ("full-pi", {"levels": "3", "interaction": "0.1"}, "two levels only"),
        ("partial-pi", {"blocks": "9999999999+1"}, "at most"),
        ("conditional-pi", {"strength": "1e-6"}, "from rounding: raise strength"),
        ("epistasis", {"minor": "1/1000", "strength": "1/100000"}, "raise strength or minor"),
        ("epistasis", {"loci": "1"}, "loci must be at least 2"),
        ("epistasis", {"loci": "20000"}, "at most"),
        ("parity", {"noise": "0.4999999"}, "choose less noise"),
        ("ring", {"noise": "0.4999999"}, "choose less noise"),
        ("ring", {"noise": "-1"}, "noise must be at least 0"),
        ("parity", {"variables": "20000"}, "at most 1,048,576 states"),
        ("ring", {"gates": "30000"}, "at most 1,048,576 states"),
        ("embedded", {"noise": "0.5"}, "below 1/2"),
        ("embedded", {"variables": "40"}, "at most"),
        ("full-pi", {"strength": "0"}, "above 0"),
        ("epistasis", {"minor": "0.6"}, "at most 1/2"),
        ("ring", {"gates": "2"}, "at least 3"),
        ("parity", {"variables": "60"}, "at most"),
    ],
)
def test_wrong_parameters_are_told(name: str, parameters: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        build(name, parameters)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("levels", [2, 3])
def test_random_interactions_touch_no_smaller_margin(seed: int, levels: int) -> None:
    model = build("full-pi", {"variables": "4", "levels": str(levels), "seed": str(seed), "strength": "1"})
    (submodel,) = model.truth().submodels
    assert submodel.kind == "full"
    assert model.joint.probabilities.min() >= 0
    blocks = (
        build("partial-pi", {"blocks": "2+1+1", "levels": str(levels), "seed": str(seed)}).truth().submodels
    )
    assert [len(s.partition) for s in blocks if s.variables.bit_count() == 4] == [3]


def test_every_family_says_what_it_is() -> None:
    for family in FAMILIES.values():
        assert family.summary.endswith(".")


def test_a_text_is_one_name() -> None:
    half = Joint.from_states(["lamp", "l", "a"], {("on", "0", "0"): HALF, ("off", "1", "0"): HALF})
    assert half.marginal("lamp").variables == ("lamp",)
    assert half.varset("lamp") == varset([0])
    assert half.varset(["l", "a", "a"]) == varset([1, 2])
    for wrong in (half.marginal, half.varset):
        with pytest.raises(DataError, match="no variable 'lmp'; did you mean 'lamp'"):
            wrong("lmp")
        with pytest.raises(DataError, match="no variable 'la'"):
            wrong("la")


def test_names_of_one_letter_may_stand_together() -> None:
    assert Joint.from_array("ab", np.full((2, 2), 0.25)).variables == ("a", "b")
    refused = r"'lamp' is read as 4 one-letter names; .* \['lamp'\]"
    with pytest.raises(DataError, match=refused):
        Joint.from_array("lamp", np.array([0.5, 0.5]))
    with pytest.raises(DataError, match=refused):
        Joint.from_states("lamp", {("on",): HALF, ("off",): HALF})


def test_what_is_no_marginal_or_condition() -> None:
    joint = table_1().joint
    with pytest.raises(DataError, match="'a' is named more than once"):
        joint.marginal(["a", "a"])
    with pytest.raises(DataError, match="at least one variable"):
        joint.marginal([])
    with pytest.raises(DataError, match="Every variable is given"):
        joint.conditional(dict.fromkeys("dabc", "0"))


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ([["0", "1"]], "for 1 of 2 variables"),
        ([["0", "1"], ["a", "b", "c"]], "y has 3 levels; its axis has 2"),
        ([["0", "1"], ["a", "a"]], "y has the level 'a' more than once"),
        ([["0", "1"], [1, "1"]], "y has the level '1' more than once"),
    ],
)
def test_levels_that_do_not_fit(levels: list[list[str]], told: str) -> None:
    with pytest.raises(DataError, match=told):
        Joint.from_array(["x", "y"], np.full((2, 2), 0.25), levels)


def test_values_of_any_type_are_their_text_everywhere() -> None:
    joint = Joint.from_states(["x", "y"], {(0, True): HALF, (10, None): HALF / 2, (9, None): HALF / 2})
    assert joint.levels == (("0", "9", "10"), ("None", "True"))
    rows = [("0", "True"), ("0", "True"), ("10", "None"), ("9", "None")]
    assert list(joint.exact_rows()) == rows
    assert set(joint.sample_rows(100, seed=0)) == set(rows)
    assert joint.conditional({"x": 0}).levels == joint.conditional({"x": "0"}).levels == (("True",),)
    with pytest.raises(DataError, match="more than once: values are told apart by their text"):
        Joint.from_states(["x"], {(1,): HALF, ("1",): HALF})


def test_parts_of_a_joint_keep_the_fractions() -> None:
    joint = table_1().joint
    part = joint.marginal(["c", "d"])
    assert part.fractions == {
        ("0", "0"): Fraction(32, 100),
        ("1", "0"): Fraction(18, 100),
        ("0", "1"): Fraction(28, 100),
        ("1", "1"): Fraction(22, 100),
    }
    given = joint.conditional({"d": "0", "a": "0"})
    assert given.fractions is not None
    assert len(list(given.exact_rows())) == 5
    for joint in (part, given):
        assert joint.fractions is not None
        for state, p in joint.fractions.items():
            cell = tuple(known.index(level) for known, level in zip(joint.levels, state, strict=True))
            assert joint.probabilities[cell] == pytest.approx(float(p))


def test_levels_that_cannot_occur_are_left_out() -> None:
    never = Joint.from_states(["x", "y"], {("0", "0"): HALF, ("1", "1"): HALF, ("2", "1"): Fraction(0)})
    array = Joint.from_array("xy", np.array([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]]))
    quiet = music_box().joint.conditional({"light1": "on", "light2": "on"})
    assert never.levels == array.levels == (("0", "1"), ("0", "1"))
    assert never.fractions is not None and len(never.fractions) == 2
    assert quiet.levels[quiet.variables.index("dog")] == ("barks",)
    for joint in (never, quiet):
        assert joint.n_levels == joint.exact_table().n_levels


def test_rows_are_drawn_in_bounds_and_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = music_box().joint
    with pytest.raises(SettingsError, match="from 0 to 50,000,000"):
        joint.sample_rows(999_999_999, seed=0)
    with pytest.raises(SettingsError, match="seed must be zero or positive"):
        joint.sample_rows(5, seed=-1)
    whole = list(joint.sample_rows(1000, seed=0))
    monkeypatch.setattr("xordal.pi.joint._ROWS_AT_A_TIME", 300)
    assert list(joint.sample_rows(1000, seed=0)) == whole
    assert next(joint.sample_rows(50_000_000, seed=0)) == whole[0]
