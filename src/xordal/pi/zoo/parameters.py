"""Parameters of the families: numbers in text, their bounds, and what no model can be built from."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import repeat
from math import log

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError

MOST_STATES = 2**20
"""States of the largest joint a family builds: twenty binary variables."""

LEAST_INFORMATION = 1e-10
"""Nats that an interaction must share to be told from rounding: a hundred times what counts as independent."""


def check_size(n_levels: Iterable[int]) -> None:
    """Refuse a model whose joint would not fit, before it is built and before its size is computed."""
    n_states = 1
    for levels in n_levels:
        n_states *= levels
        if n_states > MOST_STATES:
            raise SettingsError(
                f"A model can have at most {MOST_STATES:,} states, as many as 20 binary variables have: "
                "use fewer variables or levels."
            )


def alike(variables: int, levels: int) -> Iterable[int]:
    """Return the same number of levels for each of some variables, however many are asked for."""
    return repeat(levels, min(variables, 64))


def check_at_least(name: str, value: int, least: int) -> None:
    """Refuse a parameter below its smallest value."""
    if value < least:
        raise SettingsError(f"{name} must be at least {least}, not {value}.")


def check_strength(strength: float | Fraction) -> None:
    """Refuse a share of the largest interaction that is none."""
    if not 0 < strength <= 1:
        raise SettingsError(f"strength must be above 0 and at most 1, not {strength}.")


def check_noise(noise: Fraction, levels: int = 2) -> None:
    """Refuse noise at which a sum says nothing, or next to nothing, of its terms."""
    largest = Fraction(levels - 1, levels)
    if not 0 <= noise < largest:
        raise SettingsError(f"noise must be at least 0 and below {largest}, not {noise}.")
    wrong = float(noise)
    left = (1 - wrong) * log((1 - wrong) * levels)
    check_information(
        left + (wrong * log(wrong * levels / (levels - 1)) if wrong else 0.0), "choose less noise"
    )


def check_interaction(
    joint: NDArray[np.float64] | NDArray[np.object_],
    without: NDArray[np.float64] | NDArray[np.object_],
    remedy: str,
) -> None:
    """Refuse a joint that can hardly be told from the one without the interaction."""
    p, q = joint.astype(np.float64), without.astype(np.float64)
    occurs = p > 0
    check_information(float(np.sum(p[occurs] * np.log(p[occurs] / q[occurs]))), remedy)


def check_information(nats: float, remedy: str) -> None:
    """Refuse a dependence too weak to be told from rounding."""
    if nats < LEAST_INFORMATION:
        raise SettingsError(
            f"The variables would share less than {LEAST_INFORMATION:g} nats, which cannot be told from "
            f"rounding: {remedy}."
        )


def seeded(seed: int) -> np.random.Generator:
    """Return the random numbers of a seed."""
    if seed < 0:
        raise SettingsError(f"seed must be zero or positive, not {seed}.")
    return np.random.default_rng(seed)


def sizes_in(name: str, text: str, example: str) -> list[int]:
    """Return whole numbers written with a plus between.

    Examples
    --------
    >>> sizes_in("blocks", "2+1", "2+1")
    [2, 1]
    """
    try:
        return [int(size) for size in text.split("+")]
    except ValueError:
        raise SettingsError(f"{name} must be whole numbers such as {example}, not {text!r}.") from None


def levels_in(levels: int | str, variables: int) -> list[int]:
    """Return the number of levels of each variable, from one for all or one for each.

    Examples
    --------
    >>> levels_in(2, 3), levels_in("2+3+3", 3)
    ([2, 2, 2], [2, 3, 3])
    """
    given = sizes_in("levels", str(levels), "3 or 2+3+3")
    for size in given:
        check_at_least("levels", size, 2)
    check_size(alike(variables, min(given)))
    if len(given) not in (1, variables):
        raise SettingsError(
            f"levels must be one number or one for each of the {variables} variables, not {levels!r}."
        )
    n_levels = given * variables if len(given) == 1 else given
    check_size(n_levels)
    return n_levels


def margins_in(margins: str, n_levels: list[int]) -> list[list[Fraction]]:
    """Return the probabilities of every level, from those of the levels 1, 2, ... of each variable.

    Examples
    --------
    >>> margins_in("0.3+1/2", [2, 2])
    [[Fraction(7, 10), Fraction(3, 10)], [Fraction(1, 2), Fraction(1, 2)]]
    """
    texts = margins.split("+")
    if len(texts) != len(n_levels):
        raise SettingsError(
            f"margins are given for {len(texts)} of the {len(n_levels)} variables: {margins!r}."
        )
    found = []
    for text, size in zip(texts, n_levels, strict=True):
        chances = [fraction_in("margins", chance) for chance in text.split(",")]
        if len(chances) != size - 1:
            raise SettingsError(
                f"margins of {size} levels are {size - 1} chances, those of 1, 2, ...: not {text!r}."
            )
        found.append([1 - sum(chances, Fraction(0)), *chances])
        if min(found[-1]) <= 0:
            raise SettingsError(f"margins must be above 0 and leave some chance for level 0, not {text!r}.")
    return found


def fraction_in(name: str, text: object) -> Fraction:
    """Return a number given as text as the fraction it is."""
    try:
        return Fraction(str(text))
    except (ValueError, ZeroDivisionError):
        raise SettingsError(f"{name} must be a number or a fraction such as 1/20, not {text!r}.") from None
