"""How sure the gains of the steps of a search are."""

from __future__ import annotations

from xordal.counting.oracle import CellCounter
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.statistics.gain_range import Range, gain_range
from xordal.types.trace import Trace
from xordal.types.varsets import SignedSets, VarSet


def gain_ranges(trace: Trace, n_levels: tuple[int, ...], counter: CellCounter) -> tuple[Range | None, ...]:
    """Return for each step of a trace the range of what it gains; None for links taken out and for rules."""
    graph = ChordalGraph.empty(len(n_levels))
    changes: list[SignedSets | None] = []
    for entry in trace:
        if entry.action == "rule":
            changes.append(None)
            continue
        after = graph.add(entry.links) if entry.action == "add" else graph.without(entry.links)
        changes.append(_change(graph, after) if entry.action == "add" else None)
        graph = after
    held = [VarSet(0) if change is None else _union(change) for change in changes]
    wanted = list(dict.fromkeys(variables for variables in held if variables))
    counted = dict(zip(wanted, counter.counts(wanted), strict=True)) if wanted else {}
    return tuple(
        None
        if change is None
        else gain_range(change, counted[variables], variables, free_parameters(change, n_levels))
        for change, variables in zip(changes, held, strict=True)
    )


def _change(before: ChordalGraph, after: ChordalGraph) -> SignedSets:
    old, new = signed_sets(before), signed_sets(after)
    terms = {s: new.get(s, 0) - old.get(s, 0) for s in (*old, *new)}
    return {s: sign for s, sign in terms.items() if sign and s}


def _union(change: SignedSets) -> VarSet:
    everything = 0
    for s in change:
        everything |= s
    return VarSet(everything)
