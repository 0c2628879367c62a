"""Exact joint distributions over named categorical variables.

A joint is an array of probabilities with one axis per variable, in which every level can occur: levels of
probability zero are left out, as they are in a table. Where it was built from fractions it can also be written
out as the smallest table of rows that holds it exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.counting.exact import ExactOracle
from xordal.counting.oracle import CachedOracle
from xordal.data.levels import ordered_levels
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError, counted, nearest
from xordal.types.varsets import VarSet, varset

State = tuple[str, ...]

SUM_TOLERANCE = 1e-9
"""How far from one floating-point probabilities may sum; they are then scaled to sum to one."""

MOST_EXACT_STATES = 4096
"""States of the largest joint whose fractions a model of the zoo computes; arithmetic on them is slow."""

MOST_SAMPLED_ROWS = 50_000_000
"""Rows to draw at the most."""

_MOST_EXACT_ROWS = 5_000_000
_ROWS_AT_A_TIME = 1_000_000  # drawn, which takes 8 MB of random numbers


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A joint distribution of named categorical variables.

    Attributes
    ----------
    variables
        Distinct names.
    levels
        The levels of each variable as text; each has a positive probability.
    probabilities
        Shape (levels of the first variable, ...): non-negative, sums to one.
    fractions
        The same as exact fractions by state, where they are known.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> copy = Joint.from_states(["x", "y"], {("0", "0"): half, ("1", "1"): half})
    >>> copy.marginal("x").probabilities.tolist()
    [0.5, 0.5]
    >>> list(copy.exact_rows())
    [('0', '0'), ('1', '1')]
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    probabilities: NDArray[np.float64]
    fractions: Mapping[State, Fraction] | None = None

    @classmethod
    def from_states(
        cls, variables: Sequence[str], probabilities: Mapping[tuple[Any, ...], Fraction | float]
    ) -> Joint:
        """Build a joint from the probability of each state; states left out have none.

        Values become text. Exact rows can be written when all probabilities are fractions (or integers). Names
        of one letter may stand in one text: ``"abc"`` for ``["a", "b", "c"]``.
        """
        by_text: dict[State, Fraction | float] = {}
        for given, p in probabilities.items():
            state = tuple(str(value) for value in given)
            _check_letters(variables, len(state))
            if len(state) != len(variables):
                raise DataError(f"State {state} has {counted(len(state), 'value')}; name {len(variables)}.")
            if not p >= 0:
                raise DataError(f"State {state} has probability {p}; it must be zero or positive.")
            if state in by_text:
                raise DataError(f"State {state} is given more than once: values are told apart by their text.")
            by_text[state] = p
        levels = [
            [str(x) for x in ordered_levels(state[v] for state in by_text)] for v in range(len(variables))
        ]
        code = [{level: place for place, level in enumerate(known)} for known in levels]
        array = np.zeros([len(known) for known in levels])
        for state, p in by_text.items():
            array[tuple(code[v][value] for v, value in enumerate(state))] = float(p)
        joint = cls.from_array(variables, array, levels)
        exact = {state: Fraction(p) for state, p in by_text.items() if not isinstance(p, float)}
        if len(exact) < len(by_text):
            return joint
        if sum(exact.values()) != 1:
            raise DataError(f"The probabilities sum to {sum(exact.values())}; they must sum to 1.")
        return joint._with_fractions(exact)

    @classmethod
    def from_array(
        cls,
        variables: Sequence[str],
        probabilities: NDArray[np.float64],
        levels: Sequence[Sequence[Hashable]] | None = None,
    ) -> Joint:
        """Build a joint from an array with one axis per variable; levels are "0", "1", ... by default.

        Names of one letter may stand in one text: ``"abc"`` for ``["a", "b", "c"]``.
        """
        array = np.asarray(probabilities, dtype=np.float64)
        _check_letters(variables, array.ndim)
        _check_repeated(variables)
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
        named = _level_names(variables, array.shape, levels)
        for v in range(array.ndim):
            occurs = array.max(axis=tuple(other for other in range(array.ndim) if other != v)) > 0
            array = np.compress(occurs, array, axis=v) if not occurs.all() else array
            named[v] = tuple(level for level, does in zip(named[v], occurs, strict=True) if does)
        return cls(tuple(variables), tuple(named), array / array.sum())

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each variable."""
        return self.probabilities.shape

    def varset(self, names: str | Iterable[str] | None = None) -> VarSet:
        """Return the set of the named variables, of all by default; a text is the name of one variable."""
        return varset(range(len(self.variables)) if names is None else self._numbers(names))

    def oracle(self) -> CachedOracle:
        """Return the entropies of this joint, through the interface that data serve."""
        return CachedOracle(ExactOracle(self.probabilities))

    def marginal(self, names: str | Iterable[str]) -> Joint:
        """Return the joint of some variables, in the order named; a text is the name of one variable."""
        kept = self._numbers(names)
        _check_repeated([self.variables[v] for v in kept])
        if not kept:
            raise DataError("A marginal needs the name of at least one variable.")
        others = tuple(v for v in range(len(self.variables)) if v not in kept)
        places = [sorted(kept).index(v) for v in kept]
        array = np.transpose(self.probabilities.sum(axis=others), places)
        return self._part(kept, array, self.fractions)

    def conditional(self, given: Mapping[str, Hashable]) -> Joint:
        """Return the joint of the other variables given the levels of some; levels ruled out are left out."""
        chosen: dict[int, str] = {}
        for name, value in given.items():
            v, level = self._number(name), str(value)
            if level not in self.levels[v]:
                raise DataError(f"{name} has no level {level!r}; {nearest(level, self.levels[v])}")
            chosen[v] = level
        rest = [v for v in range(len(self.variables)) if v not in chosen]
        if not rest:
            raise DataError("Every variable is given; leave at least one out.")
        cell = [
            self.levels[v].index(chosen[v]) if v in chosen else slice(None) for v in range(len(self.levels))
        ]
        part = self.probabilities[tuple(cell)]
        if not part.sum() > 0:
            told = ", ".join(f"{name}={level}" for name, level in given.items())
            raise DataError(f"{told} has probability zero; nothing can be conditioned on it.")
        fitting = None
        if self.fractions is not None:
            fitting = {s: p for s, p in self.fractions.items() if all(s[v] == x for v, x in chosen.items())}
            total = sum(fitting.values())
            fitting = {state: p / total for state, p in fitting.items()}
        return self._part(rest, part / part.sum(), fitting)

    def exact_rows(self) -> Iterator[State]:
        """Yield the rows of the smallest table in exact proportions.

        Raises
        ------
        DataError
            If the probabilities are not fractions, or the table would be unreasonably long.
        """
        if self.fractions is None:
            raise DataError(self._why_not_exact())
        n_rows = lcm(*(p.denominator for p in self.fractions.values()))  # no smaller number makes all whole
        if n_rows > _MOST_EXACT_ROWS:
            much = f"more than {_MOST_EXACT_ROWS:,} rows" if n_rows > 10**18 else counted(n_rows, "row")
            raise DataError(f"The smallest exact table of this model has {much}. Draw rows.")
        for state, p in self.fractions.items():
            yield from repeat(state, int(p * n_rows))

    def sample_rows(self, n_rows: int, seed: int) -> Iterator[State]:
        """Return independent random rows, drawn as they are asked for.

        Raises
        ------
        SettingsError
            If the number of rows is negative or above 50 million, or the seed is negative.
        """
        if not 0 <= n_rows <= MOST_SAMPLED_ROWS:
            raise SettingsError(f"The number of rows to draw must be from 0 to {MOST_SAMPLED_ROWS:,}.")
        if seed < 0:
            raise SettingsError(f"seed must be zero or positive, not {seed}.")
        return self._drawn(n_rows, np.random.default_rng(seed))

    def exact_table(self) -> CategoricalTable:
        """Return the smallest table in exact proportions."""
        return CategoricalTable.from_rows(self.variables, list(self.exact_rows()))

    def sample_table(self, n_rows: int, seed: int) -> CategoricalTable:
        """Return a table of independent random rows."""
        return CategoricalTable.from_rows(self.variables, list(self.sample_rows(n_rows, seed)))

    def _drawn(self, n_rows: int, generator: np.random.Generator) -> Iterator[State]:
        flat = self.probabilities.reshape(-1)
        states: dict[int, State] = {}  # one tuple for all rows in the same state
        for done in range(0, n_rows, _ROWS_AT_A_TIME):
            cells = generator.choice(flat.size, size=min(_ROWS_AT_A_TIME, n_rows - done), p=flat / flat.sum())
            for cell in set(cells.tolist()) - states.keys():
                codes = np.unravel_index(cell, self.n_levels)
                states[cell] = tuple(self.levels[v][code] for v, code in enumerate(codes))
            yield from map(states.__getitem__, cells.tolist())

    def _part(
        self, kept: Sequence[int], array: NDArray[np.float64], fractions: Mapping[State, Fraction] | None
    ) -> Joint:
        """Return the joint of the kept variables, with the fractions of the states summed over the others."""
        names, levels = [self.variables[v] for v in kept], [self.levels[v] for v in kept]
        joint = Joint.from_array(names, array, levels)
        if fractions is None:
            return joint
        summed: dict[State, Fraction] = {}
        for state, p in fractions.items():
            part = tuple(state[v] for v in kept)
            summed[part] = summed.get(part, Fraction(0)) + p
        return joint._with_fractions(summed)

    def _with_fractions(self, fractions: Mapping[State, Fraction]) -> Joint:
        """Return the same joint with its fractions, those of levels that were left out left out."""
        known = [set(levels) for levels in self.levels]
        kept = {s: p for s, p in fractions.items() if all(map(set.__contains__, known, s))}
        return Joint(self.variables, self.levels, self.probabilities, kept)

    def _why_not_exact(self) -> str:
        if self.probabilities.size > MOST_EXACT_STATES:
            return (
                f"This model has {counted(self.probabilities.size, 'state')}; exact proportions are computed "
                f"for up to {MOST_EXACT_STATES:,}. Draw rows."
            )
        return "This model's probabilities are no fractions, so no table holds it exactly. Draw rows."

    def _numbers(self, names: str | Iterable[str]) -> list[int]:
        return [self._number(name) for name in ([names] if isinstance(names, str) else names)]

    def _number(self, name: str) -> int:
        if name not in self.variables:
            raise DataError(f"There is no variable {name!r}; {nearest(str(name), self.variables)}")
        return self.variables.index(name)


def _check_letters(variables: Sequence[str], n_axes: int) -> None:
    """Refuse a text that cannot stand for one-letter names, one for each axis."""
    if isinstance(variables, str) and len(variables) != n_axes:
        raise DataError(
            f"The text {variables!r} is read as {counted(len(variables), 'one-letter name')}; the joint has "
            f"{counted(n_axes, 'variable')}. Give a list of names: [{variables!r}]."
        )


def _check_repeated(variables: Sequence[str]) -> None:
    repeated = [name for name, times in Counter(variables).items() if times > 1]
    if repeated:
        raise DataError(f"Variable {repeated[0]!r} is named more than once. Give each its own name.")


def _level_names(
    variables: Sequence[str], shape: tuple[int, ...], levels: Sequence[Sequence[Hashable]] | None
) -> list[tuple[str, ...]]:
    """Return the levels of each axis as text, distinct and as many as the axis is long."""
    if levels is None:
        return [tuple(str(code) for code in range(size)) for size in shape]
    if len(levels) != len(shape):
        told = counted(len(shape), "variable")
        raise DataError(f"Levels are given for {len(levels)} of {told}: give them for each.")
    named = [tuple(str(level) for level in known) for known in levels]
    for name, known, size in zip(variables, named, shape, strict=True):
        if len(known) != size:
            raise DataError(f"{name} has {counted(len(known), 'level')}; its axis has {size}.")
        if len(set(known)) < size:
            twice = next(level for level, times in Counter(known).items() if times > 1)
            raise DataError(f"{name} has the level {twice!r} more than once.")
    return named
