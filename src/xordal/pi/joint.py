"""Exact joint distributions over named categorical variables.

A joint is an array of probabilities with one axis per variable. Where it was built from fractions it can also
be written out as the smallest table of rows that holds it exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from xordal.counting.exact import ExactOracle
from xordal.counting.oracle import CachedOracle
from xordal.data.levels import ordered_levels
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted, nearest
from xordal.types import VarSet, varset

State = tuple[str, ...]

SUM_TOLERANCE = 1e-9
"""How far from one floating-point probabilities may sum; they are then scaled to sum to one."""

_MOST_ROWS = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A joint distribution of named categorical variables.

    Attributes
    ----------
    variables
        Distinct names.
    levels
        The levels of each variable.
    probabilities
        Shape (levels of the first variable, ...): non-negative, sums to one.
    fractions
        The same as exact fractions by state, where they are known.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> copy = Joint.from_states(["x", "y"], {("0", "0"): half, ("1", "1"): half})
    >>> copy.marginal(["x"]).probabilities.tolist()
    [0.5, 0.5]
    >>> list(copy.exact_rows())
    [('0', '0'), ('1', '1')]
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    probabilities: NDArray[np.float64]
    fractions: Mapping[State, Fraction] | None = None

    @classmethod
    def from_states(cls, variables: Sequence[str], probabilities: Mapping[State, Fraction | float]) -> Joint:
        """Build a joint from the probability of each state; states left out have none.

        Exact rows can be written when all probabilities are fractions (or integers).
        """
        for state, p in probabilities.items():
            if len(state) != len(variables):
                raise DataError(f"State {state} has {counted(len(state), 'value')}; name {len(variables)}.")
            if not p >= 0:
                raise DataError(f"State {state} has probability {p}; it must be zero or positive.")
        levels = [ordered_levels(state[v] for state in probabilities) for v in range(len(variables))]
        code = [{level: place for place, level in enumerate(known)} for known in levels]
        array = np.zeros([len(known) for known in levels])
        for state, p in probabilities.items():
            array[tuple(code[v][value] for v, value in enumerate(state))] = float(p)
        named = tuple(tuple(str(level) for level in known) for known in levels)
        joint = cls.from_array(variables, array, named)
        exact = {state: Fraction(p) for state, p in probabilities.items() if not isinstance(p, float)}
        if len(exact) < len(probabilities):
            return joint
        if sum(exact.values()) != 1:
            raise DataError(f"The probabilities sum to {sum(exact.values())}; they must sum to 1.")
        return cls(joint.variables, joint.levels, joint.probabilities, exact)

    @classmethod
    def from_array(
        cls,
        variables: Sequence[str],
        probabilities: NDArray[np.float64],
        levels: Sequence[Sequence[str]] | None = None,
    ) -> Joint:
        """Build a joint from an array with one axis per variable; levels are "0", "1", ... by default."""
        array = np.asarray(probabilities, dtype=np.float64)
        repeated = [name for name, times in Counter(variables).items() if times > 1]
        if repeated:
            raise DataError(f"Variable {repeated[0]!r} is named more than once. Give each its own name.")
        if array.ndim != len(variables) or not variables:
            raise DataError(
                f"An array of {array.ndim} dimensions cannot hold {counted(len(variables), 'variable')}: "
                "it needs one axis per variable."
            )
        wrong = np.argwhere(~(array >= 0) | ~np.isfinite(array))
        if len(wrong):
            cell = tuple(wrong[0].tolist())
            raise DataError(f"Cell {cell} has probability {array[cell]}; it must be zero or positive.")
        if abs(array.sum() - 1) > SUM_TOLERANCE:
            raise DataError(f"The probabilities sum to {array.sum():.12g}; they must sum to 1.")
        if levels is None:
            levels = [[str(code) for code in range(size)] for size in array.shape]
        return cls(tuple(variables), tuple(tuple(known) for known in levels), array / array.sum())

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each variable."""
        return self.probabilities.shape

    def varset(self, names: Iterable[str] | None = None) -> VarSet:
        """Return the set of the named variables, of all by default."""
        return varset(self._number(name) for name in (self.variables if names is None else names))

    def oracle(self) -> CachedOracle:
        """Return the entropies of this joint, through the interface that data serve."""
        return CachedOracle(ExactOracle(self.probabilities))

    def marginal(self, names: Sequence[str]) -> Joint:
        """Return the joint of some variables, in the order named."""
        kept = [self._number(name) for name in names]
        others = tuple(v for v in range(len(self.variables)) if v not in kept)
        summed = self.probabilities.sum(axis=others)
        places = [sorted(kept).index(v) for v in kept]
        array = np.transpose(summed, places) if kept else summed
        return Joint.from_array(list(names), array, [self.levels[v] for v in kept])

    def conditional(self, given: Mapping[str, str]) -> Joint:
        """Return the joint of the other variables given the levels of some."""
        chosen: list[int | slice] = [slice(None)] * len(self.variables)
        for name, level in given.items():
            v = self._number(name)
            if level not in self.levels[v]:
                raise DataError(f"{name} has no level {level!r}; {nearest(str(level), self.levels[v])}")
            chosen[v] = self.levels[v].index(level)
        part = self.probabilities[tuple(chosen)]
        if not part.sum() > 0:
            told = ", ".join(f"{name}={level}" for name, level in given.items())
            raise DataError(f"{told} has probability zero; nothing can be conditioned on it.")
        rest = [v for v, name in enumerate(self.variables) if name not in given]
        names = [self.variables[v] for v in rest]
        return Joint.from_array(names, part / part.sum(), [self.levels[v] for v in rest])

    def exact_rows(self) -> Iterator[State]:
        """Yield the rows of the smallest table in exact proportions.

        Raises
        ------
        DataError
            If the probabilities are not fractions, or the table would be unreasonably long.
        """
        if self.fractions is None:
            raise DataError(
                "This model's probabilities are no fractions, so no table holds it exactly. Draw rows."
            )
        occurring = {state: p for state, p in self.fractions.items() if p > 0}
        denominator = lcm(*(p.denominator for p in occurring.values()))
        counts = {state: int(p * denominator) for state, p in occurring.items()}
        common = gcd(*counts.values())
        n_rows = sum(counts.values()) // common
        if n_rows > _MOST_ROWS:
            raise DataError(f"The smallest exact table of this model has {counted(n_rows, 'row')}. Draw rows.")
        for state, count in counts.items():
            yield from (state for _ in range(count // common))

    def sample_rows(self, n_rows: int, seed: int) -> Iterator[State]:
        """Yield independent random rows."""
        generator = np.random.default_rng(seed)
        flat = self.probabilities.reshape(-1)
        drawn = generator.choice(flat.size, size=n_rows, p=flat / flat.sum())
        for codes in np.stack(np.unravel_index(drawn, self.n_levels), axis=1).tolist():
            yield tuple(self.levels[v][code] for v, code in enumerate(codes))

    def exact_table(self) -> CategoricalTable:
        """Return the smallest table in exact proportions."""
        return CategoricalTable.from_rows(self.variables, list(self.exact_rows()))

    def sample_table(self, n_rows: int, seed: int) -> CategoricalTable:
        """Return a table of independent random rows."""
        return CategoricalTable.from_rows(self.variables, list(self.sample_rows(n_rows, seed)))

    def _number(self, name: str) -> int:
        if name not in self.variables:
            raise DataError(f"There is no variable {name!r}; {nearest(name, self.variables)}")
        return self.variables.index(name)
