"""The paper's two models: exact proportions, and what the text says of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from xordal import SettingsError
from xordal.pi.joint import Joint
from xordal.pi.zoo import MODELS, model, music_box, table_1


@pytest.mark.parametrize("name", MODELS)
def test_exact_rows_hold_the_joint(name: str) -> None:
    joint = model(name).joint()
    rows = list(joint.exact_rows())
    for state, p in joint.probabilities.items():
        assert Fraction(rows.count(state), len(rows)) == p


def test_sizes_of_the_smallest_tables() -> None:
    assert len(list(table_1().exact_rows())) == 100
    assert len(list(music_box().exact_rows())) == 1000


def test_the_music_box_is_what_the_paper_tells() -> None:
    for ball1, ball2, ball3, box, light1, light2, dog, john in music_box().probabilities:
        assert (box == "plays") == ([ball1, ball2, ball3].count("white") in (1, 3))
        assert (dog == "barks") == (light1 == light2)
        too_quiet = box == "silent" and dog == "quiet"
        too_noisy = box == "plays" and dog == "barks"
        assert (john == "complains") == (too_quiet or too_noisy)


def test_samples_follow_the_seed_and_the_joint() -> None:
    joint = table_1()
    assert list(joint.sample_rows(50, seed=3)) == list(joint.sample_rows(50, seed=3))
    assert list(joint.sample_rows(50, seed=3)) != list(joint.sample_rows(50, seed=4))
    rows = list(joint.sample_rows(20_000, seed=5))
    for state, p in joint.probabilities.items():
        spread = 5 * (float(p) * 20_000) ** 0.5
        assert abs(rows.count(state) - float(p) * 20_000) <= spread


def test_probabilities_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match="sum to 1/2"):
        Joint(("x",), {("0",): Fraction(1, 2)})


def test_an_unknown_model_is_answered_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'music-box'"):
        model("musicbox")
