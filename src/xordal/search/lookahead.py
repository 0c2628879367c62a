"""One i-link-only search: the best legal set of i links, pass after pass (function lookahead, lines 3-7).

A lookahead is a list of sources and two ways to complete what they find: as it is, as in the paper, and with
fill-in. The best of either way competes by rank. Whoever adds a source adds a line to
:meth:`Lookahead._sources`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, inf

from xordal.search.best_first import BestFirst
from xordal.search.completing.as_it_is import AsItIs
from xordal.search.completing.with_fill_in import WithFillIn
from xordal.search.problem import Judged
from xordal.search.sources import Source
from xordal.search.sources.around import BY_COMPONENT, BY_LINKS, Around, Held, Holding
from xordal.search.sources.extended import Extended, extended_kinds
from xordal.search.sources.scanned import Free, SetScan, Unlinked


class Lookahead:
    """``lookahead(i)`` on a graph that changes.

    Parameters
    ----------
    held
        The problem, the present graph, and the sets that its links hold together.
    i
        Number of lookahead links.
    """

    def __init__(self, held: Held, i: int) -> None:
        problem, state = held.problem, held.state
        self._problem, self._held, self._i = problem, held, i
        n = state.graph.n_vertices
        self._largest = int(min(n, problem.max_variables or i + 1, i + 1, problem.allowed.max_clique))
        scans = [SetScan(problem, m, held.tell) for m in range(2, self._largest + 1) if comb(m, 2) == i]
        plain = [*map(Free, scans), *self._sources(BY_COMPONENT)]
        self._ways = [BestFirst(held, AsItIs(problem, state, i), plain)]
        if problem.fill_in:
            filled = [*map(Unlinked, scans), *self._sources(BY_LINKS)]
            self._ways.append(BestFirst(held, WithFillIn(problem, state, i), filled))

    def _sources(self, holding: Holding) -> Iterator[Source]:
        """Yield the sources of sets with parts of two or more variables."""
        for n_more, kind in extended_kinds(self._i, self._largest):
            around = Around(self._held, holding, kind)
            yield Extended(around, n_more) if n_more else around

    @property
    def candidates_scored(self) -> int:
        """How many exact gains were computed, equal ones once."""
        return sum(way.completing.n_scored for way in self._ways)

    def best(self) -> Judged | None:
        """Return the best acceptable set of i links.

        Of those that tie with it, the first link set in lexicographic order, then the first fill-in.
        """
        found: list[Judged] = []
        for way in self._ways:
            found += way.best(max([one.verdict.rank for one in found], default=-inf))
        at_least = self._problem.tie_with(max([one.verdict.rank for one in found], default=-inf))
        tied = [one for one in found if one.verdict.rank >= at_least]
        return min(tied, key=lambda one: (one.evidence.links, one.evidence.fill_in), default=None)
