"""Local search for scores: sequences of up to three links that come or go, until none improves the network.

A greedy search ends where no single step helps; often two or three together do, a link that goes so that
another may come. A score of a chordal graph adds up over moves (:mod:`xordal.graph.moves`), so that a sequence
is worth the sum of its moves. The shortest sequences that improve come first; of those the best; of equal ones
the set of links that is first in lexicographic order, its moves in the first order that keeps every graph on
the way chordal.

While no shorter one improves, a sequence from which a move could be left out without affecting the others
cannot: it is worth the sum of two that do not. So only moves that affect each other are put together. All such
sequences are tried, up to 10 columns always. Beyond that there are bounds: of the beginnings of one length the
thousand best are continued; where a link that goes leaves two parts, the hundred best links between them are
tried; and with more than 300 columns links between components only where they improve by themselves.

Three moves are not always enough. Up to 8 columns the best network of all is known
(:mod:`xordal.search.refine.optimum`); where no sequence improves and it is better still, the way there is one
long sequence.

A graph of few columns has so few sequences that plain Python is done before kernels are loaded. From some
hundred thousand on they are tried by kernels (:mod:`xordal.search.refine.sequences`): the same ones, with the
same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from itertools import combinations, islice
from math import fsum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xordal.counting.compiled import Worth, words_of
from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph, linked
from xordal.graph.moves import (
    Move,
    Waypoint,
    disturbed_by,
    in_order,
    moves_near,
    way,
    waypoint_of,
    within_reach,
)
from xordal.graph.signed_sets import change
from xordal.search.candidate import Candidate
from xordal.search.problem import Problem, judge
from xordal.search.refine.optimum import best_network
from xordal.search.shapes import free_shape
from xordal.search.state import labels_of
from xordal.statistics.criterion import Evidence
from xordal.types.varsets import EMPTY, Link, LinkSet, VarSet, varset

if TYPE_CHECKING:
    from xordal.search.refine.sequences import AllowedMoves, RankedMoves

_LONGEST = 3  # moves of a sequence: so many reach the optimum of small real tables, which single moves miss
_EXACT = 8  # columns up to which the best network of all is sought
_MOST_BEGINNINGS = 1000  # all sets of two of the 45 pairs of 10 columns are 990
_MOST_ACROSS = 100  # pairs of variables a beginning has put apart that are tried, the best first
_ALL_PAIRS = 300  # columns up to which all pairs are ranked
_BLOCK = 4096  # sequences scored in one go: enough that NumPy's calls count for nothing
_WORTH_KERNELS = Worth(loading=100_000, compiling=1_000_000)  # moves, some four microseconds each in Python

OnBlock = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Some moves made: the links they flipped, what they add to the score, how much they move it in all."""

    waypoint: Waypoint
    links: LinkSet = ()
    score: float = 0.0
    moved: float = 0.0
    last: Move | None = None

    def made(self) -> Waypoint:
        """Return the graph after the last move."""
        return self.waypoint if self.last is None else self.waypoint.after(self.last)


_Step = tuple[_Beginning, Waypoint, Move]  # what was made so far, the graph after it, and the next move


class LocalSearch:
    """Finds sequences of moves that improve a score, remembering what each move is worth.

    Parameters
    ----------
    problem
        Who counts and who decides: a judge whose ranks add up. Required links stay.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._on_block: OnBlock = lambda length, n_moves: None
        self._required = {*problem.allowed.required, *problem.allowed.fill_in}
        self._ranks: dict[tuple[Link, VarSet], float] = {}
        self._pairs: NDArray[np.int64] | None = None
        self._optimum: LinkSet | None = None
        self._n_looked_at = 0
        self._compiled: tuple[RankedMoves, AllowedMoves] | None = None
        self._finished: ChordalGraph | None = None  # the last graph that no sequence improves

    @property
    def candidates_scored(self) -> int:
        """How many moves were scored, each once with the same separator."""
        return len(self._ranks)

    def best(
        self, graph: ChordalGraph, on_block: OnBlock = lambda length, n_moves: None
    ) -> tuple[Move, ...] | None:
        """Return the moves of the best of the shortest sequences that improve the score, if there is one.

        ``on_block`` is called with the length of the sequences tried and their number since its last call.
        """
        self._on_block = on_block
        if graph == self._finished:
            return None
        base = waypoint_of(graph)
        moves = self._by_kernels(base) if self._is_worth_kernels(graph) else self._plainly(base)
        if moves is None and graph.n_vertices <= _EXACT:
            moves = self._to_optimum(graph)
        if moves is None:
            self._finished = graph
        return moves

    def _plainly(self, base: Waypoint) -> tuple[Move, ...] | None:
        """Return the best of the shortest sequences that improve the score."""
        beginnings = [_Beginning(base)]
        for length in range(1, _LONGEST + 1):
            found: dict[LinkSet, _Beginning] = {}
            improving: list[_Beginning] = []
            for begun in self._continued(base, beginnings, length):
                if begun.score > self._tolerance(begun.moved):
                    improving.append(begun)
                elif length < _LONGEST:
                    found.setdefault(begun.links, begun)
            if improving:
                return self._first_of_best(base, improving)
            beginnings = nsmallest(_MOST_BEGINNINGS, found.values(), key=lambda one: (-one.score, one.links))
        return None

    def _is_worth_kernels(self, graph: ChordalGraph) -> bool:
        """Whether enough has been looked at, in earlier graphs, for kernels to pay."""
        if self._compiled is None:
            kernels = self._problem.kernels
            if graph.n_vertices <= _EXACT or not kernels.pay(
                _WORTH_KERNELS, self._n_looked_at, "the local search", _kernel
            ):
                return False
            self._compiled = self._for_kernels()
        return True

    def _for_kernels(self) -> tuple[RankedMoves, AllowedMoves]:
        """Return what stays the same in all graphs, as the kernels read it."""
        from xordal.search.refine.sequences import AllowedMoves, RankedMoves

        allowed, n = self._problem.allowed, len(self._problem.n_levels)
        barred = words_of(allowed.forbidden or (0,) * n)
        kept, most = words_of(linked((0,) * n, self._required)), int(min(allowed.max_clique, n))
        return RankedMoves(barred.shape[1], self._ranked), AllowedMoves(barred, kept, most)

    def _by_kernels(self, base: Waypoint) -> tuple[Move, ...] | None:
        """Return the same as :meth:`_plainly`, listed and added up by kernels."""
        from xordal.search.refine.sequences import Sequences

        assert self._compiled is not None
        ranked, allowed = self._compiled
        sequences = Sequences(*base, allowed, self._ranked_pairs(), _MOST_ACROSS, ranked)
        begun = sequences.nothing
        for length in range(1, _LONGEST + 1):
            tolerance = self._tolerance if length == _LONGEST else None
            tried = sequences.continued(begun, partial(self._on_block, length), tolerance)
            able = tried.only(np.flatnonzero(tried.score > 0))  # no tolerance is less than nothing
            every = zip(able.links.tolist(), able.score.tolist(), able.moved.tolist(), strict=True)
            improving = [
                _Beginning(base, sequences.links_of(row), score, moved)
                for row, score, moved in every
                if score > self._tolerance(moved)
            ]
            if improving:
                return self._first_of_best(base, improving)
            begun = sequences.best_of(tried, _MOST_BEGINNINGS) if length < _LONGEST else begun
        return None

    def _ranked(self, moves: Sequence[Move]) -> list[float]:
        """Return what links are worth when they come."""
        self._rank(moves)
        return [self._ranks[move.link, move.separator] for move in moves]

    def evidence(self, move: Move) -> Evidence:
        """Return what the data say about the link of a move, as if it came."""
        return judge(self._problem, [_candidate(move)])[0].evidence

    def _to_optimum(self, graph: ChordalGraph) -> tuple[Move, ...] | None:
        """Return the way to the best network of all, if it is better than the graph."""
        if self._optimum is None:
            self._optimum, _ = best_network(self._problem)
        moves = way(graph, self._optimum, self._required)
        self._rank(moves)
        worth = [self._worth(move) for move in moves]
        return moves if fsum(worth) > self._tolerance(fsum(map(abs, worth))) else None

    def _tolerance(self, score: float) -> float:
        return self._problem.judge.tolerance(score)

    def _first_of_best(self, base: Waypoint, improving: list[_Beginning]) -> tuple[Move, ...]:
        best = max(improving, key=lambda one: one.score)
        at_least = best.score - self._tolerance(best.moved)
        first = min(one.links for one in improving if one.score >= at_least)
        return next(order for order in in_order(base, first) if all(map(self._may, order)))

    def _continued(self, base: Waypoint, beginnings: list[_Beginning], length: int) -> Iterator[_Beginning]:
        """Yield the beginnings with one more move, each with its score."""
        following = self._following(base, beginnings, length)
        while waiting := list(islice(following, _BLOCK)):
            yield from self._scored(waiting, length)

    def _following(self, base: Waypoint, beginnings: list[_Beginning], length: int) -> Iterator[_Step]:
        for begun in beginnings:
            waypoint = begun.made()
            moves = self._affected(base, waypoint, begun, length == _LONGEST) if length > 1 else self._all(base)
            yield from ((begun, waypoint, move) for move in moves)
        if length == 2:
            yield from self._side_by_side(base, beginnings)

    def _scored(self, waiting: list[_Step], length: int) -> Iterator[_Beginning]:
        self._rank(move for _, _, move in waiting)
        self._n_looked_at += len(waiting)
        self._on_block(length, len(waiting))
        for begun, waypoint, move in waiting:
            worth = self._worth(move)
            links = tuple(sorted((*begun.links, move.link)))
            yield _Beginning(waypoint, links, begun.score + worth, begun.moved + abs(worth), move)

    def _all(self, base: Waypoint) -> Iterator[Move]:
        """Yield every move of a graph."""
        yield from filter(self._may, moves_near(base, (1 << len(base.neighbours)) - 1))
        pairs = self._ranked_pairs()
        labels = labels_of(base.components)[pairs]
        for x, y in pairs[labels[:, 0] != labels[:, 1]].tolist():
            yield Move((x, y), EMPTY, adds=True)

    def _affected(self, base: Waypoint, waypoint: Waypoint, begun: _Beginning, is_last: bool) -> Iterator[Move]:
        """Yield the moves that the moves made so far may have affected."""
        for move in moves_near(waypoint, disturbed_by(base, waypoint, begun.links)):
            if move.link not in begun.links and self._may(move):
                yield move
        if waypoint.components != base.components:
            yield from self._across(base, waypoint, begun, is_last)

    def _across(self, base: Waypoint, waypoint: Waypoint, begun: _Beginning, is_last: bool) -> Iterator[Move]:
        """Yield links between parts that were one, the best first; of last moves only the best can matter."""
        pairs = self._ranked_pairs()
        before, now = (labels_of(at.components)[pairs] for at in (base, waypoint))
        apart = np.flatnonzero((now[:, 0] != now[:, 1]) & (before[:, 0] == before[:, 1]))[:_MOST_ACROSS]
        best = None
        for x, y in pairs[apart].tolist():
            move = Move((x, y), EMPTY, adds=True)
            if move.link in begun.links:
                continue
            worth = self._worth(move)
            best = worth if best is None else best
            if is_last and worth < best - self._tolerance(begun.moved + abs(best)):
                return
            yield move

    def _side_by_side(self, base: Waypoint, beginnings: list[_Beginning]) -> Iterator[_Step]:
        """Yield two moves that may both affect a third, whether or not they affect each other."""
        waypoints = [begun.made() for begun in beginnings]
        around = [disturbed_by(base, at, one.links) for at, one in zip(waypoints, beginnings, strict=True)]
        for i, begun in enumerate(beginnings):
            reach = within_reach(base.neighbours, around[i])
            for j in range(i + 1, len(beginnings)):
                if reach & around[j]:
                    move = waypoints[i].move(beginnings[j].links[0])
                    if move is not None and self._may(move):
                        yield begun, waypoints[i], move

    def _may(self, move: Move) -> bool:
        """Whether constraints and limits allow a move."""
        allowed = self._problem.allowed
        if not move.adds:
            return move.link not in self._required
        return allowed.may_complete(varset(move.link)) and move.separator.bit_count() + 2 <= allowed.max_clique

    def _worth(self, move: Move) -> float:
        """Return what a ranked move adds to the score."""
        rank = self._ranks[move.link, move.separator]
        return rank if move.adds else -rank

    def _rank(self, moves: Iterable[Move]) -> None:
        """Find out what moves are worth, those that were not met before, in one call."""
        new = {
            (move.link, move.separator): move
            for move in moves
            if (move.link, move.separator) not in self._ranks
        }
        judged = judge(self._problem, [_candidate(move) for move in new.values()])
        self._ranks.update(zip(new, (found.verdict.rank for found in judged), strict=True))

    def _ranked_pairs(self) -> NDArray[np.int64]:
        """Return the pairs that may be linked between components, the one worth most first."""
        if self._pairs is None:
            pairs = [Move(pair, EMPTY, adds=True) for pair in self._eligible_pairs()]
            allowed = [move for move in pairs if self._may(move)]
            for start in range(0, len(allowed), _BLOCK):
                self._rank(allowed[start : start + _BLOCK])
                self._on_block(1, 0)
            allowed.sort(key=lambda move: (-self._worth(move), move.link))
            self._pairs = np.array([move.link for move in allowed], dtype=np.int64).reshape(-1, 2)
        return self._pairs

    def _eligible_pairs(self) -> Iterator[Link]:
        """Yield all pairs of columns; of very many columns, those that may improve the score by themselves."""
        n = len(self._problem.n_levels)
        if n <= _ALL_PAIRS:
            yield from combinations(range(n), 2)
            return
        for x in range(n):
            shared = self._problem.scanner.extensions([varset([x])])[0] + self._problem.scanner.error
            for y in range(x + 1, n):
                shape = free_shape((self._problem.n_levels[x], self._problem.n_levels[y]))
                if shared[y] > self._problem.shapes.least_gain(shape):
                    yield x, y


def _candidate(move: Move) -> Candidate:
    """Return the candidate that adds the link of a move."""
    chain = (Addition(*move.link, move.separator),)
    return Candidate(varset(move.link), (move.link,), change(chain), chain=chain)


def _kernel() -> object:
    from xordal.search.refine._sequences import list_moves

    return list_moves
