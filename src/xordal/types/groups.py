"""Hidden groups: pseudo-independent (PI) submodels by variable number, and the same in column names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Literal

from xordal.types.rules import Rule
from xordal.types.varsets import EMPTY, Link, LinkSet, VarSet, members

GroupKind = Literal["full", "partial", "conditional", "interaction"]


@dataclass(frozen=True, slots=True)
class Share:
    """A share between 0 and 1 with its 95 % interval; of an exact joint all three are the same number."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Submodel:
    """A pseudo-independent (PI) submodel: variables that depend on each other together, not part by part.

    Attributes
    ----------
    variables
        The variables of the submodel, in increasing order.
    partition
        The finest blocks that no visible pair joins: variables of different blocks look independent pair by
        pair. One block for an interaction.
    kind
        ``"full"``: any proper part looks independent (Definition 1). ``"partial"``: pairs from different blocks
        do (Definitions 2 and 3). ``"conditional"``: pairs from different blocks do, given the context.
        ``"interaction"``, in data only: visible pairs join all of the variables, and still no pairs explain
        what they share.
    total_correlation
        What the variables share in all, in nats; given the context where there is one.
    context
        The variables a conditional submodel is conditioned on.
    hidden
        The part of it, in nats, that no pairs explain (:mod:`xordal.statistics.hidden`).
    share
        That part as a share of the whole, what chance adds taken off, with its 95 % interval.
    hidden_range
        The hidden part without what chance adds: its 95 % range, in nats. None for an exact joint.
    log_p_value
        Of the hidden part: natural logarithm, uncorrected. None for an exact joint.
    log_p_corrected
        The same, corrected for all sets of as many variables that there are.
    pairwise_bound
        In data, independence is an accepted guess: pairs of different blocks may share up to this many nats,
        each with 95 % confidence. None for an exact joint.
    parts_share
        In data, the most that all but one of the variables share, in nats.
    undecided
        Pairs of which the rows do not say whether they hold more than 5 % of the whole; the blocks take them
        for what is more likely.
    turned
        Two variables of two levels whose relation another variable of the group turns round.
    rule
        A simple rule that the variables follow in the data, if there is one.
    """

    variables: VarSet
    partition: tuple[VarSet, ...]
    kind: GroupKind
    total_correlation: float
    context: VarSet = EMPTY
    hidden: float | None = None
    share: Share | None = None
    log_p_value: float | None = None
    log_p_corrected: float | None = None
    pairwise_bound: float | None = None
    parts_share: float | None = None
    undecided: LinkSet = ()
    turned: Link | None = None
    rule: Rule | None = None
    hidden_range: tuple[float, float] | None = None

    @property
    def size(self) -> float:
        """What groups are ranked by: the hidden part in nats; all that is shared where it is not known."""
        return self.total_correlation if self.hidden is None else self.hidden

    def colored_links(self) -> LinkSet:
        """Return the links between different blocks: those a colored I-map draws dotted (Definition 4)."""
        block_of = {v: block for block in self.partition for v in members(block)}
        inside = members(self.variables)
        return tuple((u, v) for u in inside for v in inside if u < v and block_of[u] != block_of[v])


@dataclass(frozen=True, slots=True, repr=False)
class NamedSubmodel:
    """A PI submodel in column names; see :class:`Submodel` for what the fields mean."""

    variables: tuple[str, ...]
    partition: tuple[tuple[str, ...], ...]
    kind: GroupKind
    total_correlation: float
    context: tuple[str, ...] = ()
    hidden: float | None = None
    share: Share | None = None
    log_p_value: float | None = None
    log_p_corrected: float | None = None
    pairwise_bound: float | None = None
    parts_share: float | None = None
    undecided: tuple[tuple[str, str], ...] = ()
    turned: tuple[str, str] | None = None
    rule: Rule | None = None
    hidden_range: tuple[float, float] | None = None

    @property
    def p_value(self) -> float | None:
        """The uncorrected p-value of the hidden part; None where there is none."""
        return None if self.log_p_value is None else exp(self.log_p_value)

    @property
    def p_corrected(self) -> float | None:
        """The p-value of the hidden part, corrected for all sets of this size; None where there is none."""
        return None if self.log_p_corrected is None else exp(self.log_p_corrected)

    def __repr__(self) -> str:
        blocks = " | ".join(", ".join(block) for block in self.partition)
        given = f" given {', '.join(self.context)}" if self.context else ""
        hidden = "" if self.hidden is None else f"{self.hidden:.4f} hidden of "
        return f"<{self.kind} group {blocks}{given}: {hidden}{self.total_correlation:.4f} nats>"


def named_submodel(submodel: Submodel, names: Sequence[str]) -> NamedSubmodel:
    """Return a PI submodel in the names of its variables."""

    def named(variables: VarSet) -> tuple[str, ...]:
        return tuple(names[v] for v in members(variables))

    def pair(link: Link) -> tuple[str, str]:
        return names[link[0]], names[link[1]]

    return NamedSubmodel(
        variables=named(submodel.variables),
        partition=tuple(named(block) for block in submodel.partition),
        kind=submodel.kind,
        total_correlation=submodel.total_correlation,
        context=named(submodel.context),
        hidden=submodel.hidden,
        share=submodel.share,
        log_p_value=submodel.log_p_value,
        log_p_corrected=submodel.log_p_corrected,
        pairwise_bound=submodel.pairwise_bound,
        parts_share=submodel.parts_share,
        undecided=tuple(map(pair, submodel.undecided)),
        turned=None if submodel.turned is None else pair(submodel.turned),
        rule=submodel.rule,
        hidden_range=submodel.hidden_range,
    )
