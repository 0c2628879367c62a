"""A network as a file tells it, checked piece by piece; every reader of a directed format fills in one.

Nothing is allocated before the sizes that a file claims have been looked at, so a hostile file costs no more
than its own length. What is wrong is said by the reader's own ``wrong``, which knows the place in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from xordal.errors import about, nearest
from xordal.model.directed import BayesianNetwork, Family, topological_order
from xordal.model.sensible import ROUNDING

MOST_VARIABLES = 100_000
MOST_AXES = 32
"""Variables of one table: more could only have one level each, and arrays have no more axes."""
MOST_LEVELS = 2**20
"""Levels of one variable. Each is a text of its own: sixteen million took 2.2 GB."""

MOST_CELLS = 2**24
"""Cells of the largest table: 128 MB."""

MOST_IN_ALL = 2**24
"""Cells of all tables of a network together, since a short file can claim many large ones."""

_SHOWN = 40
Wrong = Callable[[str], NoReturn]


@dataclass(slots=True)
class Draft:
    """The variables and families seen so far."""

    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    families: dict[str, tuple[tuple[str, ...], NDArray[np.float64]]] = field(default_factory=dict)
    n_cells: int = 0

    def add_variable(self, name: str, levels: Sequence[str], wrong: Wrong) -> None:
        """Add a variable with its levels."""
        if name in self.levels:
            wrong(f"the variable {short(name)} is there a second time")
        if len(self.levels) >= MOST_VARIABLES:
            wrong(f"there are more than {MOST_VARIABLES:,} variables")
        if len(levels) > MOST_LEVELS:
            wrong(f"the variable {short(name)} has more than {MOST_LEVELS:,} levels")
        if not levels:
            wrong(f"the variable {short(name)} has no levels")
        if len(set(levels)) < len(levels):
            twice = next(level for level, n in Counter(levels).items() if n > 1)
            wrong(f"the variable {short(name)} has the level {short(twice)} twice")
        self.levels[name] = tuple(levels)

    def shape(self, child: str, parents: Sequence[str], wrong: Wrong) -> tuple[int, ...]:
        """Return the shape of a family's table: levels of the parents, then of the child; checked."""
        for name in (child, *parents):
            if name not in self.levels:
                wrong(f"there is no variable {short(name)} ({nearest(name[:_SHOWN], self.levels)})")
        if child in self.families:
            wrong(f"the probabilities of {short(child)} are there a second time")
        if len({child, *parents}) < len(parents) + 1:
            wrong(f"the parents of {short(child)} must be distinct, and other variables")
        shape = tuple(len(self.levels[name]) for name in (*parents, child))
        if prod(shape) > MOST_CELLS:
            wrong(f"the table of {short(child)} has {about(prod(shape))} cells; the most are {MOST_CELLS:,}")
        if len(parents) >= MOST_AXES:
            wrong(f"{short(child)} has {len(parents)} parents; the most are {MOST_AXES - 1}")
        self.n_cells += prod(shape)
        if self.n_cells > MOST_IN_ALL:
            wrong(f"the tables up to here have more than {MOST_IN_ALL:,} cells in all")
        return shape

    def add_family(
        self, child: str, parents: Sequence[str], chances: NDArray[np.float64], wrong: Wrong
    ) -> None:
        """Add the probabilities of a variable given its parents, whose shape :meth:`shape` has told."""
        if not np.isfinite(chances).all() or (chances < 0).any():
            wrong(f"the probabilities of {short(child)} must be numbers from 0 to 1")
        sums = chances.sum(axis=-1)
        if (np.abs(sums - 1) > ROUNDING + 1e-9).any():
            worst = float(sums.reshape(-1)[np.argmax(np.abs(sums - 1))])
            wrong(f"probabilities of {short(child)} sum to {worst:.6g} instead of 1")
        self.families[child] = (tuple(parents), chances)

    def network(self, wrong: Wrong) -> BayesianNetwork:
        """Return the network, which must be whole and without a cycle."""
        if not self.levels:
            wrong("there must be at least one variable")
        number = {name: v for v, name in enumerate(self.levels)}
        for name in self.levels:
            if name not in self.families:
                wrong(f"there are no probabilities of {short(name)}")
        parents = {name: tuple(number[u] for u in self.families[name][0]) for name in self.levels}
        if topological_order(list(parents.values())) is None:
            wrong("the arcs form a cycle")
        families = tuple(Family(number[name], parents[name], self.families[name][1]) for name in self.levels)
        return BayesianNetwork(tuple(self.levels), tuple(self.levels.values()), families)


def numbers(texts: Sequence[str], shape: tuple[int, ...], child: str, wrong: Wrong) -> NDArray[np.float64]:
    """Return numbers from their texts in a table's shape; the last axis changes fastest."""
    if len(texts) != prod(shape):
        wrong(f"there are {len(texts):,} probabilities of {short(child)}, where {prod(shape):,} belong")
    return np.array([number(text, wrong) for text in texts], dtype=np.float64).reshape(shape)


def number(text: str, wrong: Wrong) -> float:
    """Return a number from its text; nothing that only Python takes for one."""
    try:
        found = float(text) if "_" not in text and text.isascii() else None
    except ValueError:
        found = None
    if found is None:
        wrong(f"{short(text)} is no number")
    return found


def short(text: str) -> str:
    """Return a name or value for a message, in quotes and not too long."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
