"""How sure the gains of the steps of a search are."""

from __future__ import annotations

from collections.abc import Iterator

from xordal.counting.oracle import CellCounter
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change, free_parameters
from xordal.statistics.gain_range import Range, gain_range
from xordal.types.trace import Trace
from xordal.types.varsets import SignedSets, VarSet


def gain_ranges(trace: Trace, n_levels: tuple[int, ...], counter: CellCounter) -> tuple[Range | None, ...]:
    """Return for each step of a trace the range of what it gains; None for links taken out and for rules."""
    changes = list(_changes(trace, len(n_levels)))
    held = [VarSet(0) if one is None else _union(one) for one in changes]
    wanted = list(dict.fromkeys(variables for variables in held if variables))
    counted = dict(zip(wanted, counter.counts(wanted), strict=True)) if wanted else {}
    return tuple(
        None if one is None else gain_range(one, counted[variables], variables, free_parameters(one, n_levels))
        for one, variables in zip(changes, held, strict=True)
    )


def _changes(trace: Trace, n_variables: int) -> Iterator[SignedSets | None]:
    """Yield what each step adds to the signed sets; None for links taken out and for rules.

    Chains of additions know it from the links alone: reading it off both graphs, all of their cliques, took a
    wide table twice as long as all else of learning.
    """
    graph = ChordalGraph.empty(n_variables)
    for entry in trace:
        if entry.action == "remove":
            graph = graph.without(entry.links)
        if entry.action != "add":
            yield None
            continue
        chain = additions(graph, entry.links)
        assert chain is not None, "a trace holds link sets that keep the graph chordal"
        terms = change(chain)
        yield {s: terms[s] for s in sorted(terms)}
        graph = graph.extended(entry.links)


def _union(change: SignedSets) -> VarSet:
    everything = 0
    for s in change:
        everything |= s
    return VarSet(everything)
