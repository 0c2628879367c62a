"""What follows from rules already found: sums and multiples of rules are rules, and are not told again."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules.candidate import UNKNOWN, Candidate
from xordal.rules.coding import blanks_of, level_counts
from xordal.rules.drawn import connected
from xordal.rules.relations import LARGE_PRIME
from xordal.rules.sparse import echelon

_MOST_LEVELS = 16  # of a column, the commonest: two rules that agree on them are the same but for rare levels
_MOST_REACHED = 40  # rules that one may follow from where it shares no column with some: time grows as the cube


class Span:
    """Rules found so far, as vectors: the value of each level less that of the column's commonest one."""

    def __init__(self, table: CategoricalTable) -> None:
        counts = level_counts(table)
        for of, blank in zip(counts, blanks_of(table.levels), strict=True):
            if blank >= 0:
                of[blank] = -1  # the first level of a column must have a value
        self._levels = [np.argsort(-n, kind="stable")[:_MOST_LEVELS] for n in counts]
        self._n_levels = table.n_levels
        sizes = [max(len(levels) - 1, 0) for levels in self._levels]
        self._start = np.concatenate([[0], np.cumsum(sizes)])
        self._column = np.repeat(np.arange(len(sizes)), sizes)  # of each place of a vector
        self._found: list[Candidate] = []
        self._vectors: dict[tuple[Candidate, int], NDArray[np.int64]] = {}

    def emptied(self) -> Span:
        """Return another one of the same table, without rules."""
        other = copy(self)
        other._found = []
        return other

    def add(self, candidate: Candidate) -> None:
        """Add a rule."""
        self._found.append(candidate)

    def reasons(self, candidate: Candidate) -> list[Candidate]:
        """Return rules from which one follows, as few as will do; none if it is new.

        Whole numbers hold modulo everything. Rules that share a column with the candidate are tried first. Then
        those that share one with these, and so on: where two digits of a number are mostly equal, the rule of
        its check digit mostly holds without either.
        """
        like = [rule for rule in self._found if rule.modulus in (0, candidate.modulus)]
        nearest = [rule for rule in like if self._touches(rule, candidate)]
        if not nearest:
            return []
        if needed := self._needed(candidate, nearest):
            return needed
        reached = connected(candidate, like)[:_MOST_REACHED]
        return self._needed(candidate, reached) if len(reached) > len(nearest) else []

    def _needed(self, candidate: Candidate, known: list[Candidate]) -> list[Candidate]:
        """Return those of some rules from which one follows, as few as will do; none if it does not."""
        # Whole numbers that are told are small: equal modulo a large prime is equal.
        p = candidate.modulus or LARGE_PRIME
        vectors = np.array([self._vector(rule, p) for rule in (*known, candidate)])
        used = vectors[:, (vectors != 0).any(axis=0) & self._is_told(candidate)]
        if not _is_spanned(used[:-1], used[-1], p):
            return []
        needed = list(range(len(known)))
        for place in reversed(range(len(known))):  # those found first are the cleanest, and stay
            fewer = [k for k in needed if k != place]
            if _is_spanned(used[fewer], used[-1], p):
                needed = fewer
        return [known[k] for k in needed]

    def variation(self, candidate: Candidate) -> Candidate | None:
        """Return a rule of the same columns and modulus that differs in the levels of one column at most."""
        p = candidate.modulus
        like = (rule for rule in self.near(candidate) if p and rule.modulus == p)
        return next((rule for rule in like if rule.variables == candidate.variables), None)

    def near(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield rules of which a multiple differs from a candidate in the levels of one column at most.

        "Exactly one of seven" is near to "exactly one of six", which holds wherever the seventh is not the one;
        and a total is near to the same total with another value for a level that only errors have.
        """
        p = candidate.modulus or LARGE_PRIME
        other = self._vector(candidate, p)
        for rule in self._found:
            if rule.modulus not in (0, candidate.modulus) or not self._touches(rule, candidate):
                continue
            one = self._vector(rule, p)
            both = np.flatnonzero((one != 0) & (other != 0))
            columns = self._column[both]
            if not len(both) or columns[0] == columns[-1]:
                continue
            # Of two columns that both have, one at least is not the column in which they differ.
            for place in (both[0], both[columns > columns[0]][0]):
                factor = int(one[place]) * pow(int(other[place]), -1, p)
                differing = self._column[np.flatnonzero((one - factor * other) % p)]
                if not len(differing) or differing[0] == differing[-1]:
                    yield rule
                    break

    def within(self, candidate: Candidate) -> list[Candidate]:
        """Return rules of other moduli, of just the columns of a candidate, that follow from those added."""
        found = []
        inside = np.concatenate([np.arange(*self._start[v : v + 2]) for v in candidate.variables])
        for p in {rule.modulus for rule in self._found} - {candidate.modulus, 0}:
            vectors = np.array([self._vector(rule, p) for rule in self._found if rule.modulus == p])
            outside = np.setdiff1d(np.flatnonzero(vectors.any(axis=0)), inside)
            reduced = echelon(vectors, p, np.concatenate([outside, inside])) if len(vectors) else vectors
            found += [self._candidate(v, p, candidate.variables) for v in reduced if not v[outside].any()]
        same = [rule for rule in self._found if rule.modulus == 0 and rule.variables == candidate.variables]
        return found + same

    def _candidate(self, vector: NDArray[np.int64], p: int, variables: tuple[int, ...]) -> Candidate:
        """Return a vector as a rule; levels that it does not hold have no value."""
        functions = []
        for v in variables:
            values = np.full(self._n_levels[v], UNKNOWN, dtype=np.int64)
            values[self._levels[v]] = np.concatenate([[0], vector[self._start[v] : self._start[v + 1]]])
            functions.append(values)
        return Candidate(p, variables, tuple(functions), 0)

    def remove(self, candidate: Candidate) -> None:
        """Forget a rule."""
        self._found = [rule for rule in self._found if rule is not candidate]

    @staticmethod
    def _touches(rule: Candidate, candidate: Candidate) -> bool:
        return bool(set(rule.variables) & set(candidate.variables))

    def _is_told(self, candidate: Candidate) -> NDArray[np.bool_]:
        """Return which places of a vector a rule has a value for: all but those of levels too rare to tell."""
        told = np.ones(self._start[-1], dtype=bool)
        for variable, values in zip(candidate.variables, candidate.functions, strict=True):
            levels = self._levels[variable]
            told[self._start[variable] : self._start[variable + 1]] = values[levels][1:] != UNKNOWN
        return told

    def _vector(self, candidate: Candidate, p: int) -> NDArray[np.int64]:
        """Return a rule as a vector, kept: each rule is compared with many others."""
        if (candidate, p) not in self._vectors:
            self._vectors[candidate, p] = self._written(candidate, p)
        return self._vectors[candidate, p]

    def _written(self, candidate: Candidate, p: int) -> NDArray[np.int64]:
        vector = np.zeros(self._start[-1], dtype=np.int64)
        for variable, values in zip(candidate.variables, candidate.functions, strict=True):
            told = values[self._levels[variable]]
            shifted = np.where((told == UNKNOWN) | (told[0] == UNKNOWN), 0, told - told[0]) % p
            vector[self._start[variable] : self._start[variable + 1]] = shifted[1:]
        return vector


def _is_spanned(vectors: NDArray[np.int64], vector: NDArray[np.int64], p: int) -> bool:
    return len(echelon(vectors, p)) == len(echelon(np.vstack([vectors, vector]), p))
