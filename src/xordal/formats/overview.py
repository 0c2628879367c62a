"""A learned network in a few lines: what Python shows of it when its name is typed."""

from __future__ import annotations

from xordal.errors import counted
from xordal.formats.additive import evidence_text, function_lines, rule_words, told
from xordal.formats.shown import shown
from xordal.formats.text import group_rule_text, link_text, ranked_groups, share_text
from xordal.types.groups import Share, Submodel
from xordal.types.learned import Learned
from xordal.types.varsets import members

_MOST_GROUPS, _MOST_RULES, _MOST_LINKS = 5, 3, 8
_MOST_FUNCTIONS = 3


def overview(learned: Learned, all_in: str = ".groups") -> str:
    """Return a line on sizes, the strongest hidden groups and rules, or the first links where there is none.

    ``all_in`` is what has the groups that are not told.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> print(overview(learn(CategoricalTable.from_rows("ab", [(0, 0), (1, 1)] * 20))))
    Learned from 40 rows of 2 columns: 1 link, no hidden groups
      a - b
    """
    groups = ranked_groups(learned.submodels or ())
    lines = [f"  {_group(learned, group)}" for group in groups[:_MOST_GROUPS]]
    if (left := len(groups) - _MOST_GROUPS) > 0:
        lines.append(f"  and {counted(left, 'smaller group')}: {all_in} has all of them")
    found = told(learned)
    for rule in learned.rules[:_MOST_RULES]:
        lines.append(f"  {rule_words(found, rule)}, {evidence_text(rule)}")
        lines += [f"    {line}" for line in function_lines(found, rule)[:_MOST_FUNCTIONS]]
    if (left := len(learned.rules) - _MOST_RULES) > 0:
        lines.append(f"  and {counted(left, 'further rule')}")
    if not lines and learned.links:
        more = len(learned.links) - _MOST_LINKS
        links = learned.links if more <= 0 else _first_learned(learned)
        listed = ", ".join(link_text(learned.names(link)) for link in links)
        lines.append(
            f"  {listed}" if more <= 0 else f"  The first that were learned: {listed}, and {more:,} more"
        )
    if learned.run.stopped_by is not None:
        lines.append(f"  The search was ended by the {learned.run.stopped_by}: this is what it had learned.")
    return "\n".join([_sizes(learned), *lines])


def _first_learned(learned: Learned) -> list[tuple[int, int]]:
    """Return the links that were learned first, each the best at its time, of those that stayed."""
    steps = dict.fromkeys(link for entry in learned.trace for link in entry.links if link not in entry.fill_in)
    kept = [link for link in steps if link in learned.links]
    return [*kept, *(link for link in learned.links if link not in steps)][:_MOST_LINKS]


def _sizes(learned: Learned) -> str:
    rows = "an exact joint" if learned.n_rows is None else counted(learned.n_rows, "row")
    links = counted(len(learned.links), "link") if learned.links else "no links"
    found = [links]
    if learned.submodels is not None:
        n_groups = len(learned.submodels)
        none = "no hidden groups" if learned.run.is_complete else "no hidden groups so far"
        found.append(counted(n_groups, "hidden group") if n_groups else none)
    if learned.rules:
        found.append(counted(len(learned.rules), "rule"))
    return f"Learned from {rows} of {counted(len(learned.variables), 'column')}: {', '.join(found)}"


def _group(learned: Learned, group: Submodel) -> str:
    names = ", ".join(map(shown, learned.names(group.variables)))
    given = f" given {', '.join(map(shown, learned.names(group.context)))}" if group.context else ""
    if group.rule is not None and group.rule.target is not None and group.rule.kind == "function":
        others = [
            shown(name) for name in learned.names(v for v in members(group.variables) if v != group.rule.target)
        ]
        return f"{', '.join(others)}{given} {group_rule_text(learned, group, group.rule).removeprefix('they ')}"
    if group.rule is not None:
        return f"{names}{given}: {group_rule_text(learned, group, group.rule)}"
    return f"{names}{given}" + ("" if group.share is None else f": {_share(group.share)}")


def _share(share: Share) -> str:
    """Return a share of what is hidden in a sentence that needs no heading."""
    part, _, interval = share_text(share).partition(" % hidden")
    return f"{part} % of what they share shows in no pair of them{interval}"
