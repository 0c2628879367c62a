"""What follows from rules already found: sums and multiples of rules are rules, and are not told again."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules.candidate import UNKNOWN, Candidate
from xordal.rules.coding import level_counts
from xordal.rules.sparse import echelon

_MOST_LEVELS = 16  # of a column, the commonest: two rules that agree on them are the same but for rare levels


class Span:
    """Rules found so far, as vectors: the value of each level less that of the column's commonest one."""

    def __init__(self, table: CategoricalTable) -> None:
        self._levels = [np.argsort(-n, kind="stable")[:_MOST_LEVELS] for n in level_counts(table)]
        self._n_levels = table.n_levels
        sizes = [max(len(levels) - 1, 0) for levels in self._levels]
        self._start = np.concatenate([[0], np.cumsum(sizes)])
        self._found: list[Candidate] = []

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

        Whole numbers hold modulo everything.
        """
        p = candidate.modulus
        known = [rule for rule in self._found if rule.modulus in (0, p) and self._touches(rule, candidate)]
        if not known:
            return []
        if p == 0:
            p = 1021  # whole numbers that are told are small: equal modulo a large prime is equal
        vectors = np.array([self._vector(rule, p) for rule in (*known, candidate)])
        used = vectors[:, (vectors != 0).any(axis=0) & self._is_told(candidate)]
        if not _is_spanned(used[:-1], used[-1], p):
            return []
        needed = list(range(len(known)))
        for place in range(len(known)):
            fewer = [k for k in needed if k != place]
            if _is_spanned(used[fewer], used[-1], p):
                needed = fewer
        return [known[k] for k in needed]

    def variation(self, candidate: Candidate) -> Candidate | None:
        """Return a rule of the same columns and modulus that differs in the levels of one column at most."""
        p = candidate.modulus
        for rule in self._found:
            if p and rule.modulus == p and rule.variables == candidate.variables:
                one, other = self._vector(rule, p), self._vector(candidate, p)
                for factor in range(1, p):
                    places = np.flatnonzero((one - factor * other) % p)
                    if len(set(np.searchsorted(self._start, places, side="right").tolist())) <= 1:
                        return rule
        return None

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
        vector = np.zeros(self._start[-1], dtype=np.int64)
        for variable, values in zip(candidate.variables, candidate.functions, strict=True):
            told = values[self._levels[variable]]
            shifted = np.where((told == UNKNOWN) | (told[0] == UNKNOWN), 0, told - told[0]) % p
            vector[self._start[variable] : self._start[variable + 1]] = shifted[1:]
        return vector


def _is_spanned(vectors: NDArray[np.int64], vector: NDArray[np.int64], p: int) -> bool:
    return len(echelon(vectors, p)) == len(echelon(np.vstack([vectors, vector]), p))
