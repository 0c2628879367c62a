"""Hidden groups for people: each in words, with the evidence that convinces, the strongest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from xordal.formats.shown import beside, brief, shown
from xordal.formats.text import (
    MOST_GROUPS,
    VISIBLE_PAIRS,
    group_rule_text,
    nearly,
    p_text,
    ranked_groups,
    share_text,
    visible_lines,
)
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.evidence import GroupTables, evidence_of
from xordal.types.groups import Share, Submodel
from xordal.types.learned import Learned
from xordal.types.varsets import LinkSet, VarSet, members

_LONGEST = 64  # letters of a name in a heading
_MOST_CELLS = 3000  # cells of evidence in a page, so that it stays small however many groups there are


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A hidden group in words, with its evidence; without it where a page has enough already.

    ``heading`` has the parts between bars, long names without their middle; ``names`` is the same with all in
    full, or empty where that is no different. ``variables`` and ``links`` are numbers.
    """

    heading: str
    names: str
    kind: str
    variables: tuple[int, ...]
    links: LinkSet
    total_correlation: float
    hidden: float | None
    share: Share | None
    p_value: str
    words: tuple[str, ...]
    evidence: GroupTables | None


def group_summaries(network: DecomposableMarkovNetwork, learned: Learned) -> tuple[GroupSummary, ...]:
    """Return all hidden groups, the largest hidden part first."""
    groups = ranked_groups(learned.submodels or ())
    cliques = [table.variables for table in network.clique_tables()]
    summaries: list[GroupSummary] = []
    n_cells = 0
    for group in groups:
        inside = any((group.variables | group.context) & ~clique == 0 for clique in cliques)
        has_room = n_cells < _MOST_CELLS and len(summaries) < MOST_GROUPS
        evidence = evidence_of(network, group) if inside and has_room else None
        n_cells += 0 if evidence is None else evidence.n_cells
        summaries.append(_summary(learned, group, evidence))
    return tuple(summaries)


def _summary(learned: Learned, group: Submodel, evidence: GroupTables | None) -> GroupSummary:
    whole = {name: shown(name) for name in learned.names(VarSet(group.variables | group.context))}
    short = brief(whole.values(), _LONGEST)
    heading = _heading(learned, group, {name: short[text] for name, text in whole.items()})
    names = _heading(learned, group, whole)
    return GroupSummary(
        heading=heading,
        names="" if names == heading else names,
        kind=group.kind,
        variables=members(group.variables | group.context),
        links=group.colored_links(),
        total_correlation=group.total_correlation,
        hidden=group.hidden,
        share=group.share,
        p_value="" if group.log_p_corrected is None else p_text(group.log_p_corrected),
        words=tuple(_words(learned, group)),
        evidence=evidence,
    )


def _heading(learned: Learned, group: Submodel, texts: Mapping[str, str]) -> str:
    parts = " | ".join(beside(texts[name] for name in learned.names(block)) for block in group.partition)
    given = ", ".join(texts[name] for name in learned.names(group.context))
    return f"{parts}, given {given}" if given else parts


def _words(learned: Learned, group: Submodel) -> list[str]:
    names, more = [shown(name) for name in learned.names(group.variables)], _more(learned, group)
    all_of_them = f"{', '.join(names[:-1])} and {names[-1]}"
    given = ", ".join(map(shown, learned.names(group.context)))
    share = f"{group.total_correlation:.4f} nats ({group.total_correlation / log(2):.2f} bits)"
    if group.share is not None:
        share += f", {share_text(group.share)} from every pair"
    if group.kind == "interaction":
        return [f"Pairs of {all_of_them} are visible, and do not explain the whole: they share {share}.", *more]
    if group.kind == "full":
        apart = f"{all_of_them} look {nearly(group)}independent {_some(len(names))}."
        return [f"{apart} Together they are not: all {len(names)} share {share}.", *more]
    behind = f"Given {given}, any" if given else "Any"
    return [f"{behind} two across the bars show little, or nothing. All {len(names)} share {share}.", *more]


def _more(learned: Learned, group: Submodel) -> list[str]:
    """Return the rule of a group and what its pairs may show after all."""
    lines = [] if group.rule is None else [f"Together: {group_rule_text(learned, group, group.rule)}."]
    return [
        *lines,
        *(f"{told[0].upper()}{told[1:]}." for told in visible_lines(learned, group) if told != VISIBLE_PAIRS),
    ]


def _some(size: int) -> str:
    """Return how many of a full group's variables look independent at a time."""
    return "two at a time" if size == 3 else f"two at a time, and so do any {size - 1} of them"
