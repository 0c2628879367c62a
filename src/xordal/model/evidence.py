"""Evidence in names and levels, as people give it, into codes; unknown names and levels suggest the nearest."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xordal.data.discretise import bin_of, is_binned
from xordal.data.levels import as_number, as_numbers
from xordal.errors import DataError, nearest
from xordal.model.observed import Observed

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork, Given, Likely


def number_of(network: DecomposableMarkovNetwork, name: str) -> int:
    """Return the number of a variable."""
    if not isinstance(name, str):
        raise DataError(f"A column is asked for by its name, not by an object of type {type(name).__name__}.")
    try:
        return network.variables.index(name)
    except ValueError:
        raise DataError(f"The network has no variable {name!r}; {nearest(name, network.variables)}") from None


def code_of(network: DecomposableMarkovNetwork, v: int, level: Hashable) -> int:
    """Return the code of a level of a variable, of the type learned from; of a number its bin."""
    levels = network.levels[v]
    if level in levels:
        return levels.index(level)
    is_number = isinstance(level, Real) and not isinstance(level, bool)
    code = bin_of(levels, float(level)) if is_number else None  # type: ignore[arg-type]
    if code is None:
        raise _unknown_level(network.variables[v], levels, level)
    return code


def level_from_text(network: DecomposableMarkovNetwork, name: str, text: str) -> Hashable:
    """Return the level that a text stands for: the level itself, its text form, its number, or its bin.

    Raises
    ------
    DataError
        If there is none, naming the nearest.
    """
    levels = network.levels[number_of(network, name)]
    code = text_matcher(levels)(text)
    if (
        code is None and (written := as_numbers([text])) is not None
    ):  # 1,75 or $32: as the table may have had it
        code = bin_of(levels, written[0])
    if code is None:
        raise _unknown_level(name, levels, text)
    return levels[code]


def text_matcher(levels: tuple[Hashable, ...]) -> Callable[[str], int | None]:
    """Return what finds the code of the one level a text stands for, or None.

    Examples
    --------
    >>> text_matcher((1, 2))("2"), text_matcher((0.5, 2.0))("2"), text_matcher(("<= 40", "> 40"))("37")
    (1, 1, 0)
    """
    by_text: dict[str, int] = {}
    by_number: dict[float, list[int]] = {}
    for code, level in enumerate(levels):
        by_text.setdefault(str(level), code)
        if (number := as_number(level)) is not None:
            by_number.setdefault(number, []).append(code)

    def match(text: str) -> int | None:
        if text in by_text:
            return by_text[text]
        if (number := as_number(text)) is None:
            return None
        equal = by_number.get(number, [])
        return equal[0] if len(equal) == 1 else bin_of(levels, number)

    return match


def evidence_of(
    network: DecomposableMarkovNetwork, given: Given | None = None, likely: Likely | None = None
) -> Observed:
    """Return evidence on one row as codes."""
    codes = np.full((len(network.variables), 1), -1, dtype=np.int64)
    for name, level in _items(given, "given").items():
        v = number_of(network, name)
        codes[v] = code_of(network, v, level)
    weights = {}
    for name, likelihoods in _items(likely, "likely").items():
        v = number_of(network, name)
        if codes[v, 0] >= 0:
            raise DataError(f"{name!r} is given for certain; leave out how likely its levels are.")
        weights[v] = _weights(network, v, likelihoods)
    return Observed(codes, weights)


def _items(evidence: object, what: str) -> Mapping[str, Hashable]:
    if evidence is None:
        return {}
    if not isinstance(evidence, Mapping):
        raise DataError(f"{what} must map names to levels, such as {{'dog': 'barks'}}, not {evidence!r}.")
    return evidence


def _weights(network: DecomposableMarkovNetwork, v: int, likelihoods: object) -> NDArray[np.float64]:
    name, levels = network.variables[v], network.levels[v]
    if not isinstance(likelihoods, Mapping):
        raise DataError(
            f"Soft evidence on {name!r} must map each of its levels to a likelihood, not be {likelihoods!r}."
        )
    weights = np.full(len(levels), -1.0)
    for level, weight in likelihoods.items():
        if not isinstance(weight, Real) or not isfinite(weight) or weight < 0:
            raise DataError(
                f"The likelihood of {name}={level} must be zero or a positive number, not {weight!r}."
            )
        weights[code_of(network, v, level)] = float(weight)
    if (weights < 0).any():
        left_out = ", ".join(str(level) for level, weight in zip(levels, weights, strict=True) if weight < 0)
        raise DataError(
            f"Soft evidence on {name!r} says nothing of {left_out}. Give each level a likelihood; 0 rules one "
            "out. (On the command line *:1 stands for all that are not named.)"
        )
    if not weights.any():
        raise DataError(
            f"Soft evidence on {name!r} rules out all of its levels. One must have a likelihood above 0."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))


def _unknown_level(name: str, levels: tuple[Hashable, ...], level: Hashable) -> DataError:
    same_text = [known for known in levels if str(known) == str(level)]
    if same_text:
        return DataError(
            f"{name!r} has no level {level!r}; it has {same_text[0]!r}, of type {type(same_text[0]).__name__}."
        )
    or_number = " (bins: a number is taken too)" if is_binned(levels) else ""
    return DataError(f"{name!r} has no level {str(level)!r}; {nearest(level, map(str, levels))}{or_number}")
