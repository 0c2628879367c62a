"""Bayesian networks from BIF files, as far as studies need them: random rows and their true likelihood."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_VARIABLE = re.compile(r"variable\s+(\S+)\s*\{[^{]*\{([^}]*)\}")
_PROBABILITY = re.compile(r"probability\s*\(\s*([^)|\s]+)\s*(?:\|([^)]*))?\)\s*\{(.*?)\}", re.DOTALL)
_ROW = re.compile(r"\(([^)]*)\)([^;]*);")


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A variable, its parents and its probabilities: shape (levels of the parents ..., levels)."""

    variable: int
    parents: tuple[int, ...]
    probabilities: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BayesianNetwork:
    """Names, numbers of levels and families, parents before children."""

    names: tuple[str, ...]
    n_levels: tuple[int, ...]
    families: tuple[Family, ...]

    def sample(self, n_rows: int, seed: int) -> NDArray[np.int32]:
        """Return random rows, shape (variables, rows)."""
        generator = np.random.default_rng(seed)
        codes = np.zeros((len(self.names), n_rows), dtype=np.int32)
        for family in self.families:
            up_to = np.cumsum(family.probabilities, axis=-1)[tuple(codes[list(family.parents)])]
            draws = generator.random(n_rows)[:, None] * up_to[..., -1:]
            codes[family.variable] = (draws >= up_to.reshape(-1, up_to.shape[-1])).sum(axis=1)
        return codes

    def log_likelihood(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the log probability of each row."""
        total = np.zeros(codes.shape[1])
        for family in self.families:
            scaled = family.probabilities / family.probabilities.sum(axis=-1, keepdims=True)
            total += np.log(scaled[tuple(codes[[*family.parents, family.variable]])])
        return total


def read_bif(path: Path) -> BayesianNetwork:
    """Read a network."""
    text = path.read_text(encoding="utf-8")
    levels = {name: [one.strip() for one in found.split(",")] for name, found in _VARIABLE.findall(text)}
    place = {name: number for number, name in enumerate(levels)}
    found = _PROBABILITY.findall(text)
    waiting = [_family(name, given, body, levels, place) for name, given, body in found]
    families: list[Family] = []
    known: set[int] = set()
    while waiting:
        ready = [family for family in waiting if set(family.parents) <= known]
        families += ready
        known |= {family.variable for family in ready}
        waiting = [family for family in waiting if family.variable not in known]
    return BayesianNetwork(tuple(levels), tuple(map(len, levels.values())), tuple(families))


def _family(name: str, given: str, body: str, levels: dict[str, list[str]], place: dict[str, int]) -> Family:
    parents = [parent.strip() for parent in given.split(",") if parent.strip()]
    table = np.zeros([*(len(levels[parent]) for parent in parents), len(levels[name])])
    if not parents:
        table[:] = _numbers(body.partition("table")[2].partition(";")[0])
    for states, numbers in _ROW.findall(body) if parents else ():
        chosen = [levels[p].index(state.strip()) for p, state in zip(parents, states.split(","), strict=True)]
        table[tuple(chosen)] = _numbers(numbers)
    return Family(place[name], tuple(place[parent] for parent in parents), table)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]
