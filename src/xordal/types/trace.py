"""How a search went: the link sets it learned, in order, and the work it took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import exp
from typing import Literal

from xordal.types.choices import Phase, StoppedBy
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import Link, LinkSet


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One change of the graph: the outcome of one learning pass.

    Attributes
    ----------
    action
        Whether the links were added or removed; ``"rule"`` for an additive rule, which has no links.
    lookahead
        How many links the pass looked ahead (the paper's ``i``); 0 for links that were required.
    links
        The learned link set.
    gain
        Entropy decrement of the network, in nats (the paper's ``dh``).
    dof
        Nominal degrees of freedom: free parameters the change adds.
    graphs_tested
        Link sets tested since the search began, legal or not, this pass included.
    fill_in
        Those of the links that only keep the graph chordal.
    log_p_value
        Natural logarithm of the uncorrected p-value, where the criterion computes one.
    sequence
        How many moves the sequence has that this entry is one of: entries of a local search that follow one
        another and improve the network only together. 0 for all other entries.
    rule
        The additive rule of an entry of this kind. Its gain is what it tells of a row beyond chance, and its
        p-value is corrected for the number of rules there are.
    """

    action: Literal["add", "remove", "rule"]
    lookahead: int
    links: LinkSet
    gain: float
    dof: int
    graphs_tested: int
    fill_in: LinkSet = ()
    log_p_value: float | None = None
    sequence: int = 0
    rule: AdditiveRule | None = None

    @property
    def p_value(self) -> float | None:
        """The uncorrected p-value; 0.0 where it underflows, None where the criterion computes none."""
        return None if self.log_p_value is None else exp(self.log_p_value)


Trace = tuple[TraceEntry, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of a search: every set of ``lookahead`` missing links tested once.

    Attributes
    ----------
    stage
        The search stage, the paper's ``j``.
    lookahead
        Links looked ahead, the paper's ``i``.
    steps
        Link sets tested in this pass, legal or not.
    learned
        The link set this pass learned; None for the last pass of every ``lookahead(i)``.
    """

    stage: int
    lookahead: int
    steps: int
    learned: LinkSet | None


@dataclass(frozen=True, slots=True)
class SearchRun:
    """What an engine returns: the trace, from which the graph follows, and the work it took.

    Attributes
    ----------
    trace
        One entry per learned link set, oldest first.
    graphs_tested
        Sets of i missing links, C(missing, i) per pass, legal or not: the paper's "# graphs tested".
    candidates_scored
        Legal link sets whose exact gain was computed.
    sets_scanned
        Sets the engine looked at to find them (variable sets; link sets in the reference engine).
    stopped_by
        What ended the search early, if anything did; the trace is then what it had learned.
    phases
        Seconds of each part of the work, in the order in which they began: together about all that ``learn``
        took. ``"reading"`` is all that comes before the search, ``"scoring"`` what of the search has no name of
        its own.
    """

    trace: Trace
    graphs_tested: int
    candidates_scored: int
    sets_scanned: int
    stopped_by: StoppedBy | None = None
    phases: Mapping[Phase, float] = field(default_factory=dict, compare=False)

    @property
    def is_complete(self) -> bool:
        """Whether the search came to its own end."""
        return self.stopped_by is None


def links_after(trace: Iterable[TraceEntry]) -> LinkSet:
    """Replay a trace from the empty graph and return its links in increasing order."""
    links: set[Link] = set()
    for entry in trace:
        if entry.action == "add":
            links.update(entry.links)
        else:  # a rule has no links
            links.difference_update(entry.links)
    return tuple(sorted(links))


def single_link_part(trace: Iterable[TraceEntry]) -> LinkSet:
    """Return what a single-link search would have learned: the first stage of the trace.

    Every schedule begins with ``lookahead(1)`` until nothing more is found, which is all that the common
    learners do.
    """
    links: list[Link] = []
    for entry in trace:
        if entry.lookahead > 1 or entry.action != "add" or entry.sequence:
            break
        links.extend(entry.links)
    return tuple(sorted(links))
