"""The values every module speaks in: variable sets, links, and the trace of a search.

Variables are numbered 0 .. N-1 in the order of the table's columns; names come back only at the edge
(:class:`Learned`, formats, command line). Everything here is frozen and knows nothing of data or graphs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import exp
from typing import Literal, NewType

VarSet = NewType("VarSet", int)
"""A set of variables as a bitmask: bit v is set when variable v is a member."""

Link = tuple[int, int]
"""An undirected link (u, v) with u < v."""

LinkSet = tuple[Link, ...]
"""Distinct links in increasing order; link sets compare lexicographically, which is also the tie rule."""

SignedSets = dict[VarSet, int]
"""A signed multiset of variable sets: +1 per clique, -1 per separator, zeros and the empty set left out."""

# What a user chooses by name. It stands here, where nothing heavy is imported, so that the command line offers
# the very choices that the library knows.
ScheduleName = Literal["printed", "as_run", "straightforward", "single"]
EngineName = Literal["fast", "reference"]
RankBy = Literal["interaction", "total"]
BinBy = Literal["quantile", "width"]
Missing = Literal["error", "drop", "level"]
"""What becomes of missing values when a table is read."""
Unseen = Literal["error", "missing", "impossible"]
"""What becomes of a level that a network never saw."""
Absent = Literal["error", "missing"]
"""What becomes of a column that a network knows and a table lacks."""

StoppedBy = Literal["time limit", "memory limit", "interruption"]
"""What can end a search early."""

HiddenBy = Literal["size", "letter"]
"""How hidden groups are told in data: by how much pairs show, or by whether a test sees that a pair depends."""

RuleKind = Literal["parity", "sum", "function", "rates"]
GroupKind = Literal["full", "partial", "conditional", "interaction"]

EMPTY = VarSet(0)


def varset(variables: Iterable[int]) -> VarSet:
    """Return the set of the given variables.

    Examples
    --------
    >>> varset([0, 2])
    5
    """
    mask = 0
    for v in variables:
        mask |= 1 << v
    return VarSet(mask)


@lru_cache(maxsize=1 << 16)
def members(variables: int) -> tuple[int, ...]:
    """Return the variables of a set in increasing order.

    Examples
    --------
    >>> members(varset([2, 0]))
    (0, 2)
    """
    found = []
    while variables:
        lowest = variables & -variables
        found.append(lowest.bit_length() - 1)
        variables ^= lowest
    return tuple(found)


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
class Rate:
    """How often a level occurs in one combination of levels of other variables, with its 95 % interval."""

    levels: tuple[str, ...]
    n_hits: int
    n_rows: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of the rows with this combination that have the level."""
        return self.n_hits / self.n_rows


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that the variables of a submodel follow, and how often.

    Attributes
    ----------
    kind
        ``"parity"``: the number of variables at their ``marked`` level is ``remainder`` modulo 2.
        ``"sum"``: with levels numbered from 0 in their order, the sum of the variables times their ``factors``
        is ``remainder`` modulo ``modulus``. ``"function"``: ``target`` follows from the others. ``"rates"``: no
        rule, but how often ``target`` has its ``level`` in each combination of the others, ``rates``.
    holds
        The share of rows in which it holds; for a function, of rows that were left out when it was read off
        the others; for rates, the share of all rows that have the level.
    by_chance
        The share in which it would hold, were some one variable independent of the others; for a function,
        that of the target's commonest level.
    low, high
        The 95 % interval of ``holds``.
    log_p_value
        Natural logarithm of the chance to see it hold this often, or more, times the rules that were in
        question; an upper bound.
    is_exact
        Whether no row is an exception.
    """

    kind: RuleKind
    holds: float
    by_chance: float
    modulus: int = 2
    remainder: int = 0
    factors: tuple[int, ...] = ()
    marked: tuple[str, ...] = ()
    target: int | None = None
    low: float = 0.0
    high: float = 1.0
    log_p_value: float = 0.0
    is_exact: bool = False
    level: str = ""
    rates: tuple[Rate, ...] = ()


@dataclass(frozen=True, slots=True)
class AdditiveRule:
    """A sum of functions of some columns that is the same in almost all rows, modulo a number.

    ``constant`` plus the value that ``functions`` gives to the level of each of the ``variables`` is 0 modulo
    ``modulus``. Modulus 0 means that the sum itself is 0: congruence modulo 0 is equality.

    Attributes
    ----------
    variables
        The columns of the rule, in increasing order.
    modulus
        2 or more, or 0 for an equation of whole numbers.
    functions
        For each of the variables the value of each of its levels, in the order of the levels. None where a
        level is too rare to tell; a row with such a level counts as one that breaks the rule.
    constant
        What is added to the values.
    n_rows
        Number of rows.
    n_broken
        Rows in which the sum is not 0.
    by_chance
        The share of rows in which the rule would hold, were some part of its columns independent of the rest
        of them; the largest such share.
    log_p_value
        Natural logarithm of the chance to see a rule hold this often, for any of the rules there are: the
        binomial tail at ``by_chance``, times the number of rules that were in question.
    name
        What is known of it: a scheme such as ``"ISBN-10"``, or what kind of relation it is.

    Examples
    --------
    >>> rule = AdditiveRule((0, 1, 2), 2, ((0, 1), (0, 1), (0, 1)), 0, 1000, 10, 0.5, -500.0, "parity")
    >>> rule.holds, rule.p_value < 0.05
    (0.99, True)
    """

    variables: tuple[int, ...]
    modulus: int
    functions: tuple[tuple[int | None, ...], ...]
    constant: int
    n_rows: int
    n_broken: int
    by_chance: float
    log_p_value: float
    name: str = ""

    @property
    def holds(self) -> float:
        """The share of rows in which the rule holds."""
        return 1 - self.n_broken / self.n_rows

    @property
    def p_value(self) -> float:
        """The p-value, corrected for the number of rules there are; 0.0 where it underflows."""
        return exp(min(self.log_p_value, 0.0))


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

    @property
    def size(self) -> float:
        """What groups are ranked by: the hidden part in nats; all that is shared where it is not known."""
        return self.total_correlation if self.hidden is None else self.hidden

    def colored_links(self) -> LinkSet:
        """Return the links between different blocks: those a colored I-map draws dotted (Definition 4)."""
        block_of = {v: block for block in self.partition for v in members(block)}
        inside = members(self.variables)
        return tuple((u, v) for u in inside for v in inside if u < v and block_of[u] != block_of[v])


@dataclass(frozen=True, slots=True)
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

    @property
    def p_value(self) -> float | None:
        """The uncorrected p-value of the hidden part; None where there is none."""
        return None if self.log_p_value is None else exp(self.log_p_value)

    @property
    def p_corrected(self) -> float | None:
        """The p-value of the hidden part, corrected for all sets of this size; None where there is none."""
        return None if self.log_p_corrected is None else exp(self.log_p_corrected)


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
    """

    trace: Trace
    graphs_tested: int
    candidates_scored: int
    sets_scanned: int
    stopped_by: StoppedBy | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the search came to its own end."""
        return self.stopped_by is None


@dataclass(frozen=True, slots=True)
class Learned:
    """A learned network over named variables, how it was found and what it took.

    ``links``, ``cliques`` and ``submodels`` hold variable numbers; :meth:`names` turns them into column names.
    ``colored_links`` are those between variables of a PI submodel that look independent as a pair. Both are
    None where an interruption or a limit ended the look for them. ``submodels_up_to`` is set where cliques were
    too large to look at all their subsets: then only those of up to this many variables, and whole cliques,
    were. ``n_following`` counts the sets with a hidden part that are parts of the submodels listed or follow
    from them, from links or from rules; ``n_unexamined`` those that were left when many were listed. ``n_rows``
    is None where an exact joint was learned; ``seconds`` is the time of the search. ``copies`` are pairs of a
    column and one that says the same in every row, maybe in other words; by significance the second is linked
    with the first at most, which stands for both. ``levels`` are those of each variable, where they are known:
    the functions of rules are in their order.
    """

    variables: tuple[str, ...]
    links: LinkSet
    cliques: tuple[tuple[int, ...], ...]
    run: SearchRun
    settings: Mapping[str, object]
    n_rows: int | None
    seconds: float = field(compare=False)
    submodels: tuple[Submodel, ...] | None = None
    colored_links: LinkSet | None = None
    submodels_up_to: int | None = None
    copies: LinkSet = ()
    levels: tuple[tuple[Hashable, ...], ...] | None = field(default=None, compare=False, repr=False)
    n_following: int = 0
    n_unexamined: int = 0

    @property
    def trace(self) -> Trace:
        """The learned link sets in order."""
        return self.run.trace

    @property
    def rules(self) -> tuple[AdditiveRule, ...]:
        """The additive rules, in the order of the trace."""
        return tuple(entry.rule for entry in self.trace if entry.rule is not None)

    @property
    def filled_links(self) -> LinkSet:
        """Those of the links that came in to keep the graph chordal."""
        filled: dict[Link, bool] = {}
        for entry in self.trace:
            filled.update((link, entry.action == "add" and link in entry.fill_in) for link in entry.links)
        return tuple(sorted(link for link, is_filled in filled.items() if is_filled))

    def names(self, variables: Iterable[int] | VarSet) -> tuple[str, ...]:
        """Return the column names of some variables, given by their numbers or as a set."""
        numbers = members(variables) if isinstance(variables, int) else variables
        return tuple(self.variables[v] for v in numbers)


@dataclass(frozen=True, slots=True)
class Stability:
    """In which share of resamples links and hidden groups were learned.

    Attributes
    ----------
    n_samples
        Number of resamples.
    seed
        Of their random numbers.
    links
        Share of the resamples whose network has the link; links that none has are left out.
    submodels
        Share of the resamples in which these variables, with their context, are a hidden group.
    """

    n_samples: int
    seed: int
    links: dict[Link, float]
    submodels: dict[VarSet, float]


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
    )


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
