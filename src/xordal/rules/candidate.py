"""A solution as functions of levels: what it says of each row, and the values of levels that had no unknown.

Solutions come from a sample of rows that leaves rare levels out, and some of its rows may break the rule. So
the values are put to a vote of all rows: given the values of the other columns, each row asks for one value of
its level. A level takes the value that most of its rows ask for.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xordal.rules.coding import Coding, numbers_of
from xordal.types.rules import AdditiveRule

UNKNOWN = np.iinfo(np.int64).min
"""The value of a level that too few rows have to tell."""
MOST_SWEEPS = 8
"""Rounds of a vote over all columns, at most."""
FEWEST_VOTES = 3
"""Rows a level needs for its value to be told from them."""

Values = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sum of functions of columns that may be a rule; modulus 0 for whole numbers.

    ``functions[k]`` holds the value of each level of ``variables[k]``, or ``UNKNOWN``.
    """

    modulus: int
    variables: tuple[int, ...]
    functions: tuple[Values, ...]
    constant: int

    def terms(self, codes: NDArray[np.int32] | Values) -> tuple[Values, NDArray[np.bool_]]:
        """Return the value of each column in each row, shape (columns, rows), and which rows are known."""
        terms = np.stack([f[codes[v]] for v, f in zip(self.variables, self.functions, strict=True)])
        known: NDArray[np.bool_] = (terms != UNKNOWN).all(axis=0)
        return np.where(terms == UNKNOWN, 0, terms), known

    def is_obeyed(self, codes: NDArray[np.int32] | Values) -> NDArray[np.bool_]:
        """Return in which rows the sum is zero."""
        if "numba" in sys.modules and self.variables:
            from xordal.rules import _voting

            return np.asarray(
                _voting.is_zero(
                    codes, np.array(self.variables), _padded(self), self.constant, self.modulus, UNKNOWN
                )
            )
        terms, known = self.terms(codes)
        return np.asarray((residues(terms.sum(axis=0) + self.constant, self.modulus) == 0) & known)


def residues(sums: Values, modulus: int) -> Values:
    """Return sums modulo a number; as they are for modulus 0."""
    return sums % modulus if modulus else sums


def candidate_of(rule: AdditiveRule) -> Candidate:
    """Return a rule that was told as the candidate that it was."""
    functions = tuple(
        np.array([UNKNOWN if value is None else value for value in f], dtype=np.int64) for f in rule.functions
    )
    return Candidate(rule.modulus, rule.variables, functions, rule.constant)


def from_solution(coding: Coding, solution: Values, modulus: int) -> Candidate:
    """Return a solution as a candidate: of the columns that it needs, their first known level at 0."""
    levels = coding.as_levels
    every = levels.values(solution)
    shifted = residues(every - np.repeat(every[levels.first], levels.sizes), modulus)
    constant = int(residues(solution[0] + every[levels.first].sum(), modulus))
    is_needed = np.bincount(levels.column[levels.is_known & (shifted != 0)], minlength=len(levels.first))
    needed = np.flatnonzero(is_needed).tolist()
    shifted[~levels.is_known] = UNKNOWN
    functions = (shifted[levels.start[v] : levels.start[v + 1]] for v in needed)
    return Candidate(modulus, tuple(needed), tuple(functions), constant)


def without(candidate: Candidate, place: int) -> Candidate:
    """Return a candidate without one of its columns."""
    return replace(
        candidate,
        variables=candidate.variables[:place] + candidate.variables[place + 1 :],
        functions=candidate.functions[:place] + candidate.functions[place + 1 :],
    )


def voted(
    candidate: Candidate, codes: NDArray[np.int32], *, blanks: Sequence[int], only_unknown: bool
) -> Candidate:
    """Return the candidate with the values that most rows ask for; it holds in as many rows or more.

    ``only_unknown`` leaves values that are known as they are: of a column that enters by a weight. ``blanks``
    are the levels of all columns that missing values are, which have none.
    """
    if not candidate.modulus or len(candidate.variables) < 2:
        return candidate
    if "numba" in sys.modules:
        return _needed(_voted(candidate, codes, blanks, only_unknown))
    if candidate.is_obeyed(codes).all():
        return _needed(candidate)  # no value can be better
    for _ in range(MOST_SWEEPS):
        before = candidate
        for place in range(len(candidate.variables)):
            blank = blanks[candidate.variables[place]]
            candidate = _vote(candidate, place, codes, blank, only_unknown)
        if all(np.array_equal(a, b) for a, b in zip(before.functions, candidate.functions, strict=True)):
            break
    return _needed(candidate)


def _voted(
    candidate: Candidate, codes: NDArray[np.int32], blanks: Sequence[int], only_unknown: bool
) -> Candidate:
    """Return the same by compiled code, columns with all of their values not yet taken out."""
    from xordal.rules import _voting

    functions, variables = _padded(candidate), np.array(candidate.variables)
    rules = only_unknown, np.array(blanks)[variables], MOST_SWEEPS, FEWEST_VOTES
    _voting.vote(codes, variables, functions, candidate.constant, candidate.modulus, rules, UNKNOWN)
    both = zip(functions, candidate.functions, strict=True)
    return replace(candidate, functions=tuple([row[: len(values)] for row, values in both]))


def _padded(candidate: Candidate) -> Values:
    """Return the functions as one array, UNKNOWN past the last level of a column."""
    functions = np.full((len(candidate.variables), max(map(len, candidate.functions))), UNKNOWN)
    for row, values in zip(functions, candidate.functions, strict=True):
        row[: len(values)] = values
    return functions


def _vote(
    candidate: Candidate, place: int, codes: NDArray[np.int32], blank: int, only_unknown: bool
) -> Candidate:
    p, own = candidate.modulus, candidate.functions[place]
    if only_unknown and not (own == UNKNOWN).any():
        return candidate
    terms, known = without(candidate, place).terms(codes)
    asked = -(terms.sum(axis=0) + candidate.constant) % p
    keys = (codes[candidate.variables[place]] * p + asked)[known]
    votes = np.bincount(keys, minlength=len(own) * p).reshape(len(own), p)
    if blank >= 0:
        votes[blank] = 0
    winner, most, cast = votes.argmax(axis=1), votes.max(axis=1), votes.sum(axis=1)
    is_told = (most >= FEWEST_VOTES) & (2 * most > cast)
    present = own != UNKNOWN
    current = np.where(present, votes[np.arange(len(own)), np.where(present, own, 0)], -1)
    changes = np.where(present, (most > current) & (not only_unknown), is_told)
    return replace(
        candidate,
        functions=(
            *candidate.functions[:place], np.where(changes, winner, own), *candidate.functions[place + 1 :]
        ),
    )  # fmt: skip


def _needed(candidate: Candidate) -> Candidate:
    """Return the candidate without columns whose values have become the same, each first known level at 0."""
    functions, modulus = _padded(candidate), candidate.modulus
    known = functions != UNKNOWN
    zero = functions[np.arange(len(functions)), known.argmax(axis=1)]
    shifted = residues(functions - zero[:, None], modulus)
    kept = (known & (shifted != 0)).any(axis=1).tolist()
    shifted[~known] = UNKNOWN
    every = zip(kept, candidate.variables, shifted, map(len, candidate.functions), strict=True)
    needed = [(v, values[:size]) for is_kept, v, values, size in every if is_kept]
    constant = int(residues(candidate.constant + zero.sum(), modulus))
    return Candidate(modulus, tuple([v for v, _ in needed]), tuple([f for _, f in needed]), constant)


def weight_of(
    levels: Sequence[Hashable], values: Values, modulus: int, numbers: Sequence[int | None] | None = None
) -> int | None:
    """Return the weight of a column whose values are a multiple of its numbers plus a constant, or None.

    Of two multiples that fit, the smaller is taken. At least three numbers are needed to tell; levels that are
    no numbers are left out. ``numbers`` are the levels as such, where they are known already.

    Examples
    --------
    >>> weight_of(("0", "1", "2"), np.array([0, 3, 6]), 10), weight_of(("0", "1", "2"), np.array([0, 3, 1]), 10)
    (3, None)
    """
    pairs = [
        (number, int(value))
        for number, value in zip(numbers or numbers_of(levels), values.tolist(), strict=True)
        if number is not None and value != UNKNOWN
    ]
    if len(pairs) < 3:
        return None
    own, wanted = np.array(pairs).T
    own, wanted = own - own[0], wanted - wanted[0]
    if modulus:
        weights = np.arange(modulus)
        fits = ((weights[:, None] * (own % modulus) - wanted) % modulus == 0).all(axis=1)
        return int(np.argmax(fits)) if fits.any() else None
    at = int(np.argmax(own != 0))
    weight, rest = divmod(int(wanted[at]), int(own[at]))
    return weight if rest == 0 and np.array_equal(weight * own, wanted) else None
