"""How often a sum would be zero, were one part of its columns independent of the rest.

A part of the columns has the sum s, and the rest asks for some value of it: s less the whole sum. In a row that
obeys the rule the two are the same. So the distribution of what is asked for is that of s itself, but for the
rows that break the rule, and one count of s serves both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from xordal.rules.candidate import Values, residues

_MOST_RANGE = 50_000  # values of a sum of whole numbers that are counted in a table; wider ones are numbered
_MOST_CELLS = 50_000  # of groups and sums that are counted in a table; of more, those that occur are


class Sums:
    """The values of some columns in each row, shape (columns, rows), and their sum; modulus 0 for none."""

    def __init__(self, terms: Values, constant: int, modulus: int, weights: NDArray[np.float64] | None) -> None:
        self._terms, self._modulus, self._weights = terms, modulus, weights
        total = residues(terms.sum(axis=0) + constant, modulus)
        self.is_zero: NDArray[np.bool_] = total == 0
        self._broken = np.flatnonzero(total)
        self._off = total[self._broken]
        self._constant = constant
        self._n = float(terms.shape[1] if weights is None else weights.sum())

    def independent(self) -> float:
        """Return how often the sum would be zero, were all columns independent: a convolution."""
        p = self._modulus
        if not p:
            return 0.0  # cuts say more, and whole numbers have no small table of sums
        share = np.zeros(p)
        share[self._constant % p] = 1.0
        shifts = (np.arange(p)[:, None] - np.arange(p)) % p
        for term in self._terms:
            share = (self._folded(self._count(term, p)) / max(self._n, 1))[shifts] @ share
        return float(share[0])

    def agreement(self, part: tuple[int, ...]) -> float:
        """Return how often the sum would be zero, were some of its columns independent of the others."""
        own = self._terms[part[0]]
        for place in part[1:]:
            own = own + self._terms[place]
        if not self._modulus:
            own, broken, asked = self._numbered(own)
            first = self._count(own, int(max(own.max(initial=0), asked.max(initial=0))) + 1)
            second = first + self._change(broken, asked, len(first))
        else:
            first = self._folded(self._count(own, self._modulus))
            second = first + self._change(*self._asked(own), self._modulus)
        return float(first @ second) / max(self._n, 1) ** 2

    def agreement_within(self, group: Values, place: int) -> float:
        """Return the same of one column, were it independent of the others within each group of rows.

        No row is compared with itself: where groups are small, a rule that holds in all rows would seem to
        follow from them. A group of one row says nothing, and counts as if there were no groups.
        """
        own = self._terms[place]
        if self._modulus:
            size = self._modulus
            broken, asked = self._asked(own)
        else:
            own, broken, asked = self._numbered(own)
            size = int(max(own.max(initial=0), asked.max(initial=0))) + 1
        n_groups = int(group.max(initial=0)) + 1
        own, of_broken = group * size + own, group[self._broken] * size
        broken, asked = of_broken + broken, of_broken + asked
        n_cells = n_groups * size
        if n_cells <= _MOST_CELLS:
            group_of_cell = np.arange(n_groups).repeat(size)
        else:
            cells, places = np.unique(np.concatenate([own, broken, asked]), return_inverse=True)
            own, broken, asked = np.split(places, [len(own), len(own) + len(broken)])
            n_cells, group_of_cell = len(cells), cells // size
        first = self._count(own, n_cells)
        second = first + self._change(broken, asked, n_cells)
        agree = np.bincount(group_of_cell, weights=first * second, minlength=n_groups).astype(np.float64)
        return self._of_groups(agree, group, place)

    def agreements_within_each(self, columns: Values) -> Iterator[float]:
        """Yield that of each column within the levels of each other one. ``columns`` are the levels of all."""
        pairs = permutations(range(len(self._terms)), 2)
        if not self._modulus or "numba" not in sys.modules:
            yield from (self.agreement_within(columns[other], place) for place, other in pairs)
            return
        from xordal.rules import _voting

        off = np.zeros(self._terms.shape[1], dtype=np.int64)
        off[self._broken] = self._off
        weights = np.ones(len(off)) if self._weights is None else self._weights
        n_levels = int(columns.max(initial=0)) + 1
        agree = _voting.agreeing(self._terms, off, columns, n_levels, weights, self._modulus)
        for place, other in pairs:
            n_groups = int(columns[other].max(initial=0)) + 1
            yield self._of_groups(agree[place, other, :n_groups], columns[other], place)

    def _of_groups(self, agree: NDArray[np.float64], group: Values, place: int) -> float:
        """Return the share of agreeing pairs of rows within groups, no row being compared with itself."""
        n_rows = self._count(group, len(agree))
        agree = agree - self._count(group[self.is_zero], len(agree), self.is_zero)
        found = float((agree / np.maximum(n_rows - 1, 1))[n_rows > 1].sum())
        if n_alone := float(n_rows[n_rows == 1].sum()):
            found += n_alone * self.agreement((place,))
        return found / max(self._n, 1)

    def _asked(self, own: Values) -> tuple[Values, Values]:
        """Return a part's sum in the rows that break the rule, and what the rest asks it to be."""
        broken = own[self._broken]
        return residues(broken, self._modulus), residues(broken - self._off, self._modulus)

    def _numbered(self, own: Values) -> tuple[Values, Values, Values]:
        """Return sums of whole numbers, of all rows, of those that break the rule and as asked, from 0 on."""
        asked = own[self._broken] - self._off
        both = np.concatenate([own, asked])
        least = int(both.min(initial=0))
        if int(both.max(initial=0)) - least > _MOST_RANGE:
            both = np.unique(both, return_inverse=True)[1].reshape(-1)
        else:
            both = both - least
        return both[: len(own)], both[self._broken], both[len(own) :]

    def _count(
        self, values: Values, least_size: int, of: NDArray[np.bool_] | slice = slice(None)
    ) -> NDArray[np.float64]:
        weights = None if self._weights is None else self._weights[of]
        return np.bincount(values, weights=weights, minlength=least_size).astype(np.float64)

    def _change(self, broken: Values, asked: Values, size: int) -> NDArray[np.float64] | float:
        """Return by how much the count of what is asked for differs from that of a part's own sum."""
        if not len(broken):
            return 0.0
        weights = None if self._weights is None else self._weights[self._broken]
        more = np.bincount(asked, weights=weights, minlength=size)
        return (more - np.bincount(broken, weights=weights, minlength=size)).astype(np.float64)

    def _folded(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return counts of sums as counts of what they are modulo the modulus."""
        p = self._modulus
        padded = np.zeros(-(-len(counts) // p) * p)
        padded[: len(counts)] = counts
        return np.asarray(padded.reshape(-1, p).sum(axis=0))
