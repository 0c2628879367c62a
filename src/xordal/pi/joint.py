"""Exact joint distributions over named categorical variables.

Probabilities are fractions, so a joint can be written out as the smallest table of rows that holds it exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from xordal.data.table import CategoricalTable

State = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint distribution: the probability of every state that can occur, as a fraction.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> copy = Joint(("x", "y"), {("0", "0"): half, ("1", "1"): half})
    >>> list(copy.exact_rows())
    [('0', '0'), ('1', '1')]
    """

    variables: tuple[str, ...]
    probabilities: Mapping[State, Fraction]

    def __post_init__(self) -> None:
        if sum(self.probabilities.values()) != 1:
            raise ValueError(f"the probabilities sum to {sum(self.probabilities.values())}, not to 1")

    def exact_counts(self) -> dict[State, int]:
        """Return how often each state occurs in the smallest table in exact proportions."""
        occurring = {state: p for state, p in self.probabilities.items() if p > 0}
        denominator = lcm(*(p.denominator for p in occurring.values()))
        counts = {state: int(p * denominator) for state, p in occurring.items()}
        common = gcd(*counts.values())
        return {state: count // common for state, count in counts.items()}

    def exact_rows(self) -> Iterator[State]:
        """Yield the rows of the smallest table in exact proportions."""
        for state, count in self.exact_counts().items():
            yield from (state for _ in range(count))

    def sample_rows(self, n_rows: int, seed: int) -> Iterator[State]:
        """Yield independent random rows."""
        states = list(self.probabilities)
        chances = np.array([float(p) for p in self.probabilities.values()])
        generator = np.random.default_rng(seed)
        for drawn in generator.choice(len(states), size=n_rows, p=chances / chances.sum()):
            yield states[drawn]

    def exact_table(self) -> CategoricalTable:
        """Return the smallest table in exact proportions."""
        return CategoricalTable.from_rows(self.variables, list(self.exact_rows()))

    def sample_table(self, n_rows: int, seed: int) -> CategoricalTable:
        """Return a table of independent random rows."""
        return CategoricalTable.from_rows(self.variables, list(self.sample_rows(n_rows, seed)))
