"""The two models of the paper."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from xordal.pi.joint import Joint
from xordal.pi.zoo.model import Model


def table_1() -> Model:
    """Four variables in three independent blocks, with three embedded PI submodels (the paper's Table 1)."""
    percent = [2, 2, 6, 0, 10, 6, 14, 10, 3, 1, 1, 5, 9, 7, 15, 9]  # (d, a, b, c), c running fastest
    states = product("01", repeat=4)
    joint = Joint.from_states(
        "dabc", {state: Fraction(p, 100) for state, p in zip(states, percent, strict=True)}
    )
    return Model.of_cliques(joint, ["dabc"])


def music_box() -> Model:
    """Balls, music box, lights, dog and John, with five PI submodels in its cliques (section 6, Figures 5, 6).

    Three balls, 20, 60 and 50 % white; the box plays when an odd number is white. The dog barks when two
    lights agree. John complains when it is too quiet or too noisy: when the box plays exactly if the dog
    barks. The chances that the lights are on, 50 and 30 %, follow from the paper's own entropy decrements.
    """
    chances = [Fraction(percent, 100) for percent in (20, 60, 50, 50, 30)]
    states = {}
    for causes in product([True, False], repeat=5):
        ball1, ball2, ball3, light1, light2 = causes
        plays = ball1 ^ ball2 ^ ball3
        barks = light1 == light2
        state = (
            *("white" if ball else "black" for ball in (ball1, ball2, ball3)),
            "plays" if plays else "silent",
            *("on" if light else "off" for light in (light1, light2)),
            "barks" if barks else "quiet",
            "complains" if plays == barks else "content",
        )
        states[state] = prod(
            (p if happens else 1 - p for happens, p in zip(causes, chances, strict=True)), start=Fraction(1)
        )
    joint = Joint.from_states(
        ("ball1", "ball2", "ball3", "music_box", "light1", "light2", "dog", "John"), states
    )
    families = [
        ("ball1", "ball2", "ball3", "music_box"),
        ("light1", "light2", "dog"),
        ("music_box", "dog", "John"),
    ]
    return Model.of_cliques(joint, families)
