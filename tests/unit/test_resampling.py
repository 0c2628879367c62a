"""Resamples: the same for any number of workers, true to weights, and honest about what is unstable."""

from __future__ import annotations

import numpy as np
import pytest

from xordal import CategoricalTable, EntropyDecrement, SettingsError, bootstrap, learn
from xordal.formats.stability import stability_lines, stability_to_json
from xordal.pi.zoo import music_box
from xordal.resampling import resample
from xordal.types.learned import Stability
from xordal.types.varsets import VarSet

BOX = music_box().joint.sample_table(600, seed=2)


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same() -> None:
    one = bootstrap(BOX, 4, seed=3)
    assert bootstrap(BOX, 4, seed=3, workers=2) == one
    assert bootstrap(BOX, 4, seed=4) != one
    assert one.n_samples == 4 and set(one.links.values()) <= {0.25, 0.5, 0.75, 1.0}


def test_a_resample_has_some_of_the_rows_and_only_levels_that_occur() -> None:
    table = CategoricalTable.from_columns({"x": ["a"] * 50 + ["b"], "y": list(range(51))})
    for seed in range(5):
        drawn = resample(table, np.random.default_rng(seed))
        assert 20 < drawn.n_rows < 45
        assert all(
            set(codes) == set(range(len(levels)))
            for codes, levels in zip(drawn.codes, drawn.levels, strict=True)
        )


def test_weights_are_drawn_like_repeated_rows() -> None:
    light = CategoricalTable.from_columns({"x": [0, 1], "y": [0, 1]}, weights=[900, 100])
    drawn = resample(light, np.random.default_rng(0))
    assert drawn.weights is not None and 40 < drawn.weights.min() < 85
    assert 570 - 60 < drawn.weights.max() < 570 + 60


def test_settings_reach_every_resample_and_progress_is_told() -> None:
    done: list[int] = []
    none = bootstrap(BOX, 3, on_sample=done.append, criterion=EntropyDecrement(5.0))
    assert (none.links, none.submodels, done) == ({}, {}, [1, 2, 3])
    single = bootstrap(BOX, 3, max_links=1)
    assert single.links and not single.submodels


@pytest.mark.parametrize("wrong", [{"n_samples": 0}, {"seed": -1}, {"workers": 0}, {"workers": 1.5}])
def test_numbers_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=f"{next(iter(wrong))} must be"):
        bootstrap(BOX, **wrong)  # type: ignore[arg-type]


def test_the_least_stable_comes_first_and_strangers_are_named() -> None:
    learned = learn(BOX)
    first, *others = learned.links
    stability = Stability(20, 0, {first: 0.5, **dict.fromkeys(others, 1.0), (0, 7): 0.1}, {VarSet(1): 1.0})
    lines = stability_lines(stability, learned)
    assert lines[0] == "In 20 resamples of the rows these came back:"
    assert lines[1].split() == ["50%", "ball1", "-", "ball2"]
    assert lines[-1] == "1 link not in the network came up in 5 % or more, ball1 - John most often (10%)."
    told = stability_to_json(stability, learned)
    assert {"link": ["ball1", "John"], "confidence": 0.1} in told["links"]  # type: ignore[operator]
    assert all(group["confidence"] == 0.0 for group in told["submodels"])  # type: ignore[attr-defined]


def test_noise_does_not_come_back() -> None:
    """Repeated rows would make links of it: three and four levels, few rows, sets of three columns."""
    generator = np.random.default_rng(5)
    noise = {f"z{v}": generator.integers(0, 2 + v % 3, 300).tolist() for v in range(10)}
    stability = bootstrap(CategoricalTable.from_columns(noise), 5)
    assert max(stability.links.values(), default=0.0) <= 0.2
