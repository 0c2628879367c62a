"""A zoo of models with pseudo-independent submodels: the two of the paper.

Each is a function that returns the exact joint; :data:`MODELS` lists them under the names of the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from xordal.errors import SettingsError, nearest
from xordal.pi.joint import Joint


def table_1() -> Joint:
    """Return the model of the paper's Table 1: a partial PI model with three embedded submodels."""
    percent = [2, 2, 6, 0, 10, 6, 14, 10, 3, 1, 1, 5, 9, 7, 15, 9]  # (d, a, b, c), c running fastest
    states = product("01", repeat=4)
    return Joint(
        ("d", "a", "b", "c"), {state: Fraction(p, 100) for state, p in zip(states, percent, strict=True)}
    )


def music_box() -> Joint:
    """Return the music box, the dog and John (section 6, Figure 5).

    Three balls, 20, 60 and 50 % white; the box plays when an odd number is white. The dog barks when two
    lights agree. John complains when it is too quiet or too noisy: when the box plays exactly if the dog
    barks. The chances that the lights are on, 50 and 30 %, follow from the paper's own entropy decrements.
    """
    chances = [Fraction(20, 100), Fraction(60, 100), Fraction(50, 100), Fraction(50, 100), Fraction(30, 100)]
    probabilities = {}
    for causes in product([True, False], repeat=5):
        ball1, ball2, ball3, light1, light2 = causes
        plays = ball1 ^ ball2 ^ ball3
        barks = light1 == light2
        complains = plays == barks
        state = (
            *("white" if ball else "black" for ball in (ball1, ball2, ball3)),
            "plays" if plays else "silent",
            *("on" if light else "off" for light in (light1, light2)),
            "barks" if barks else "quiet",
            "complains" if complains else "content",
        )
        chance = Fraction(1)
        for happens, p in zip(causes, chances, strict=True):
            chance *= p if happens else 1 - p
        probabilities[state] = chance
    return Joint(
        ("ball1", "ball2", "ball3", "music_box", "light1", "light2", "dog", "John"),
        probabilities,
    )


@dataclass(frozen=True, slots=True)
class Model:
    """A named model of the zoo."""

    summary: str
    joint: Callable[[], Joint]


MODELS: dict[str, Model] = {
    "table-1": Model("four variables, three embedded PI submodels (the paper's Table 1)", table_1),
    "music-box": Model(
        "eight variables: balls, music box, lights, dog and John (the paper's section 6)", music_box
    ),
}


def model(name: str) -> Model:
    """Return a model by its name; an unknown one is answered with the nearest.

    Examples
    --------
    >>> model("table-1").joint().variables
    ('d', 'a', 'b', 'c')
    """
    if name not in MODELS:
        raise SettingsError(f"There is no model {name!r}; {nearest(name, MODELS)}")
    return MODELS[name]
