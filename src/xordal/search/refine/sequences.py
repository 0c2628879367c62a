"""Sequences of moves with compiled kernels: the same sequences as :mod:`xordal.search.refine.local` tries.

Many columns have hundreds of thousands of sequences to try, which plain Python takes seconds to list. Here they
are rows of arrays. Moves are told apart by their link and their separator, and each is ranked once: what is new
among those that the kernels list is handed to whoever ranks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.compiled import words_of
from xordal.counting.threads import interruptible
from xordal.graph.moves import Move
from xordal.search._masks import REMOVES
from xordal.search.numbered import NumberedSteps
from xordal.search.refine import _sequences as kernels
from xordal.types.varsets import LinkSet

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

_AT_ONCE = 1 << 15  # moves listed between two words of progress

Rank = Callable[[Sequence[Move]], Sequence[float]]
"""Returns what each link is worth when it comes."""


class Tried(NamedTuple):
    """Sequences of moves: the links they flip in increasing order, what they add and how much they move it.

    A link is the number of its lower end times the number of columns plus its higher end.
    """

    links: Integers
    score: Floats
    moved: Floats

    def only(self, places: Integers) -> Tried:
        """Return some of the sequences."""
        return Tried(self.links[places], self.score[places], self.moved[places])


class AllowedMoves(NamedTuple):
    """What is allowed of moves, as the kernels read it: masks of links, and the largest clique."""

    barred: Words
    kept: Words
    largest: int


class RankedMoves:
    """What moves are worth, by link and separator.

    Parameters
    ----------
    n_words
        Words of a separator.
    rank
        Asked once for each move.
    """

    def __init__(self, n_words: int, rank: Rank) -> None:
        self._rank = rank
        self._steps = NumberedSteps(n_words)
        self._ranks = np.empty(0)

    def of(self, moves: Integers, separators: Words) -> Floats:
        """Return what each move adds to the score."""
        numbers, new = self._steps.numbers(moves[:, 1:3], separators)
        if new:
            ranks = self._rank([Move((x, y), separator, adds=True) for x, y, separator in new])
            self._ranks = np.concatenate([self._ranks, ranks])
        rank = self._ranks[numbers]
        return np.where(moves[:, 3] == REMOVES, -rank, rank)


class Sequences:
    """The sequences of moves from one graph, each with one move more than another.

    Parameters
    ----------
    neighbours, components
        The graph, as masks.
    allowed
        What is allowed.
    pairs
        The links between components that may be tried, the one worth most first.
    most_across
        How many of them are tried where a link that goes leaves two parts.
    ranked
        What moves are worth.
    """

    def __init__(
        self,
        neighbours: Sequence[int],
        components: Sequence[int],
        allowed: AllowedMoves,
        pairs: Integers,
        most_across: int,
        ranked: RankedMoves,
    ) -> None:
        self._n = len(neighbours)
        self._base, self._components = words_of(neighbours), words_of(components)
        self._allowed, self._pairs, self._most_across = allowed, pairs, most_across
        self._ranked = ranked
        self.nothing = Tried(np.empty((1, 0), np.int64), np.zeros(1), np.zeros(1))
        """The sequence of no move, with which all begin."""

    def continued(
        self, begun: Tried, tell: Callable[[int], None], tolerance: Callable[[float], float] | None
    ) -> Tried:
        """Return the sequences with one more move, in the order in which they are tried.

        Of last moves between parts that were one only the best can matter: where a ``tolerance`` is given,
        those that are worth less than the first by more than that are left out. ``tell`` is called with numbers
        of moves.
        """
        no_moves = np.empty((0, 4), np.int64), np.empty(0)
        parts = [self._with_one(begun, tell, *no_moves)]  # there may be no beginning to go on with
        parts += [self._with_one(begun, tell, *some) for some in self._listed(begun, tolerance)]
        if begun.links.shape[1] == 1:
            parts += [self._with_one(begun, tell, *some) for some in self._side_by_side(begun)]
        links, score, moved = zip(*parts, strict=True)
        return Tried(np.concatenate(links), np.concatenate(score), np.concatenate(moved))

    def _with_one(self, begun: Tried, tell: Callable[[int], None], moves: Integers, worth: Floats) -> Tried:
        of = moves[:, 0]
        links = np.column_stack([begun.links[of], moves[:, 1] * self._n + moves[:, 2]])
        links.sort(axis=1)
        tell(len(moves))
        return Tried(links, begun.score[of] + worth, begun.moved[of] + np.abs(worth))

    def _listed(
        self, begun: Tried, tolerance: Callable[[float], float] | None
    ) -> Iterator[tuple[Integers, Floats]]:
        """Yield moves that the moves of each beginning may have affected, and what they are worth."""
        flipped, begin = self._flipped(begun), 0
        size, across = max(_AT_ONCE, self._n * (self._n - 1)), (self._pairs, self._most_across)
        while begin < len(flipped):
            out, separators = self._room(size)
            with interruptible():
                n, begin = kernels.list_moves(
                    (self._base, self._components), flipped, begin, *across, self._allowed, out, separators
                )
            moves, worth = out[:n], self._ranked.of(out[:n], separators[:n])
            if tolerance is not None:
                can = _can_matter(moves, worth, begun.moved, tolerance)
                moves, worth = moves[can], worth[can]
            yield moves, worth

    def _side_by_side(self, begun: Tried) -> Iterator[tuple[Integers, Floats]]:
        """Yield two moves that may both affect a third, whether or not they affect each other."""
        flipped, begin = self._flipped(begun), 0
        size = max(_AT_ONCE, len(flipped))
        while begin < len(flipped):
            out, separators = self._room(size)
            with interruptible():
                n, begin = kernels.list_side_by_side(self._base, flipped, begin, self._allowed, out, separators)
            yield out[:n], self._ranked.of(out[:n], separators[:n])

    def _room(self, size: int) -> tuple[Integers, Words]:
        return np.empty((size, 4), np.int64), np.empty((size, self._base.shape[1]), np.uint64)

    def _flipped(self, begun: Tried) -> Integers:
        return np.stack([begun.links // self._n, begun.links % self._n], axis=2)

    def best_of(self, tried: Tried, most: int) -> Tried:
        """Return the best sequences, equal ones by their links; each set of links as it was tried first."""
        _, first = np.unique(self._codes(tried), return_index=True)
        once = tried.only(first)  # in increasing order of the links
        return once.only(np.argsort(-once.score, kind="stable")[:most])

    def _codes(self, tried: Tried) -> Integers:
        """Return a number for each set of links, in the order of the sets."""
        codes = np.zeros(len(tried.links), np.int64)
        for column in tried.links.T:
            codes = codes * self._n**2 + column
        return codes

    def links_of(self, row: Sequence[int]) -> LinkSet:
        """Return links by their numbers."""
        return tuple((link // self._n, link % self._n) for link in row)


def _can_matter(
    moves: Integers, worth: Floats, moved: Floats, tolerance: Callable[[float], float]
) -> NDArray[np.bool_]:
    """Return which moves are not links between parts that are worth less than the first of their beginning."""
    can = np.ones(len(moves), dtype=np.bool_)
    across = np.flatnonzero(moves[:, 3] > kernels.ACROSS)
    beginnings, first, number = np.unique(moves[across, 0], return_index=True, return_inverse=True)
    best = worth[across[first]]
    both = zip(moved[beginnings].tolist(), best.tolist(), strict=True)
    least = np.array([one - tolerance(before + abs(one)) for before, one in both])
    can[across] = worth[across] >= least[number]
    return can
