"""The completions of a variable set, worked out by kernels where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.compiled import Kernels, Worth
from xordal.counting.threads import interruptible
from xordal.graph.chain import Addition
from xordal.graph.fill_in import Completion, completions, region
from xordal.search.state import GraphState
from xordal.types.varsets import LinkSet, VarSet, members, varset

_WORTH_KERNELS = Worth(loading=1_000, compiling=4_000)  # sets, half a millisecond or one each in Python
_MOST = 64  # vertices of a region that are one word


class Listed(NamedTuple):
    """The completions of a set as kernels list them, their steps one behind the other.

    Attributes
    ----------
    inside
        The vertices of the region.
    links
        The missing links of the set, by places in the region.
    ends, sets
        The ends of each step and its separator, by places in the region.
    until
        Where the steps of each completion end.
    """

    inside: NDArray[np.int64]
    links: NDArray[np.int64]
    ends: NDArray[np.int64]
    sets: NDArray[np.uint64]
    until: NDArray[np.int64]

    @property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        """What is told by places in the region, and the vertices at these."""
        return self.ends, self.sets, self.inside, self.links

    def written(self, number: int) -> Completion:
        """Return one of the completions."""
        begin, end = int(self.until[number - 1]) if number else 0, int(self.until[number])
        inside, own = self.inside.tolist(), set(map(tuple, self.links.tolist()))
        steps, filled = list[Addition](), list[tuple[int, int]]()
        both = zip(self.ends[begin:end].tolist(), self.sets[begin:end].tolist(), strict=True)
        for (x, y), here in both:
            separator = varset([inside[v] for v in members(VarSet(here))])
            steps.append(Addition(inside[x], inside[y], separator))
            if (x, y) not in own:
                filled.append((inside[x], inside[y]))
        return Completion(tuple(steps), tuple(sorted(filled)))


class FillInRule:
    """Completes variable sets by the fill-in rule (:mod:`xordal.graph.fill_in`).

    Parameters
    ----------
    state
        The present graph.
    n_levels
        Number of levels of each variable.
    kernels
        Whether kernels may be used.
    """

    def __init__(self, state: GraphState, n_levels: tuple[int, ...], kernels: Kernels) -> None:
        self._state, self._n_levels, self._kernels = state, n_levels, kernels
        self._n_done = 0
        self._has_kernels = False

    def completions(self, variables: VarSet) -> list[Completion] | Listed:
        """Return how the fill-in rule completes a set: once where nothing has to be filled in."""
        state, self._n_done = self._state, self._n_done + 1
        if not self._has_kernels:
            self._has_kernels = self._kernels.pay(_WORTH_KERNELS, self._n_done, "fill-in", _kernel)
        if self._has_kernels:
            inside = members(region(state.graph, state.paths, variables))
            if len(inside) <= _MOST:
                found = self._by_kernels(inside, state.graph.missing_links(variables))
                if found is not None:
                    return found
        return completions(state.graph, state.paths, variables, self._n_levels)

    def _by_kernels(self, inside: Sequence[int], apart: LinkSet) -> Listed | None:
        from xordal.search.completing._completions import complete_set

        place = {v: number for number, v in enumerate(inside)}
        links = np.array([(place[u], place[v]) for u, v in apart], dtype=np.int64)
        levels = np.array([self._n_levels[v] for v in inside], dtype=np.float64)
        there = np.array(inside, dtype=np.int64)
        with interruptible():
            ends, sets, until, n_done = complete_set(self._state.words, there, levels, links)
        return None if n_done < 0 else Listed(there, links, ends, sets, until[:n_done])


def _kernel() -> object:
    from xordal.search.completing._completions import complete_set

    return complete_set
