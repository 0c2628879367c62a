"""The completions of a variable set, worked out by kernels where there are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xordal.counting.compiled import Kernels, Worth
from xordal.counting.threads import interruptible
from xordal.graph.chain import Addition
from xordal.graph.fill_in import Completion, completions, region
from xordal.search.state import GraphState
from xordal.types.varsets import LinkSet, VarSet, members, varset

_WORTH_KERNELS = Worth(loading=1_000, compiling=4_000)  # sets, half a millisecond or one each in Python
_MOST = 64  # vertices of a region that are one word


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

    def completions(self, variables: VarSet) -> list[Completion]:
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

    def _by_kernels(self, inside: Sequence[int], apart: LinkSet) -> list[Completion] | None:
        from xordal.search.completing._completions import complete_set

        place = {v: number for number, v in enumerate(inside)}
        links = np.array([(place[u], place[v]) for u, v in apart], dtype=np.int64)
        levels = np.array([self._n_levels[v] for v in inside], dtype=np.float64)
        with interruptible():
            ends, sets, until, n_done = complete_set(self._state.words, np.array(inside), levels, links)
        if n_done < 0:
            return None
        own = set(apart)
        known: dict[int, VarSet] = {}
        steps: list[Addition] = []
        for (x, y), here in zip(ends.tolist(), sets.tolist(), strict=True):
            if here not in known:
                known[here] = varset([inside[v] for v in members(VarSet(here))])
            steps.append(Addition(inside[x], inside[y], known[here]))
        found: dict[LinkSet, Completion] = {}
        begin = 0
        for end in until[:n_done].tolist():
            some = tuple(steps[begin:end])
            begin = end
            fill_in = tuple(sorted([(x, y) for x, y, _ in some if (x, y) not in own]))
            found.setdefault(fill_in, Completion(some, fill_in))
        return list(found.values())


def _kernel() -> object:
    from xordal.search.completing._completions import complete_set

    return complete_set
