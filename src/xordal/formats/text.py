"""A learned network in words: what the command line prints and the estimator's summary shows.

Names and values are data: control characters in them are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable

from xordal.errors import counted
from xordal.statistics.chance import WEAK, weak_entries
from xordal.types import Learned, LinkSet, Submodel, single_link_part

_MOST_GROUPS = 20
_MOST_LINKS = 12


def shown(name: object) -> str:
    r"""Return a name or value as printable text.

    Examples
    --------
    >>> print(shown("red\x1b[31m"))
    red\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(name))


def link_text(names: Iterable[str]) -> str:
    """Return a link as it is printed: its two names with a dash between."""
    return " - ".join(shown(name) for name in names)


def links_text(variables: tuple[str, ...], links: LinkSet) -> str:
    """Return a link set as it is printed."""
    return ", ".join(link_text((variables[u], variables[v])) for u, v in links)


def network_lines(learned: Learned) -> list[str]:
    """Return the network in words: cliques, hidden groups, and what a single-link search would have missed."""
    if not learned.links:
        return [_nothing_found(learned)]
    return [*_cliques(learned), *_hidden_groups(learned), *_missed(learned)]


def weakness(learned: Learned) -> str | None:
    """Return a warning where chance may well explain some of the steps, and what to do about it."""
    if learned.n_rows is None:
        return None
    weak = weak_entries(learned.trace, learned.n_rows)
    if not weak:
        return None
    steps = f"{len(weak)} of {counted(len(learned.trace), 'step')} {'gains' if len(weak) == 1 else 'gain'}"
    return (
        f"{steps} less than {WEAK:g} times what chance gives on average with {counted(learned.n_rows, 'row')}: "
        "this may well be chance, and what is built on it too. "
        f"A threshold of {_round_up(max(entry.gain for entry in weak))} nats (--delta-h) leaves it out."
    )


def _round_up(gain: float) -> float:
    """Return a number of two digits that is not below the gain."""
    return float(f"{gain * 1.05:.1e}")


def _cliques(learned: Learned) -> list[str]:
    together = [clique for clique in learned.cliques if len(clique) > 1]
    alone = [clique[0] for clique in learned.cliques if len(clique) == 1]
    lines = [f"Network: {counted(len(learned.links), 'link')} in {counted(len(together), 'clique')}"]
    lines += ["  { " + ", ".join(map(shown, learned.names(clique))) + " }" for clique in together]
    if alone:
        lines.append("  on their own: " + ", ".join(map(shown, learned.names(alone))))
    return lines


def _hidden_groups(learned: Learned) -> list[str]:
    """Return the PI submodels, strongest first; of many only the strongest."""
    if not learned.submodels:
        return []
    groups = sorted(learned.submodels, key=lambda submodel: -round(submodel.total_correlation, 4))
    lines = ["", "Hidden groups: parts between bars look independent pair by pair, and are not together"]
    lines += [_hidden_group(learned, submodel) for submodel in groups[:_MOST_GROUPS]]
    if left := len(groups) - _MOST_GROUPS:
        lines += [f"  and {counted(left, 'weaker group')}; --json lists them all"] if left > 0 else []
    if (most := learned.submodels_up_to) is not None:
        lines.append(
            f"  (of the largest cliques only groups of up to {most} variables were looked at, and the whole)"
        )
    return lines


def _hidden_group(learned: Learned, submodel: Submodel) -> str:
    blocks = (" ".join(map(shown, learned.names(block))) for block in submodel.partition)
    given = " ".join(map(shown, learned.names(submodel.context)))
    kind = f"{submodel.kind}, given {given}" if submodel.context else submodel.kind
    return f"  {submodel.total_correlation:.4f} nats  {' | '.join(blocks)}  ({kind})"


def _missed(learned: Learned) -> list[str]:
    single = single_link_part(learned.trace)
    missed = len(learned.links) - len(single)
    if not missed:
        return []
    found = links_text(learned.variables, single[:_MOST_LINKS]) if single else "nothing"
    if (more := len(single) - _MOST_LINKS) > 0:
        found += f" and {counted(more, 'other link')}"
    return [
        "",
        f"A single-link search, as common learners do, would have missed {missed} of the "
        f"{counted(len(learned.links), 'link')}:",
        f"  it finds {found}, and stops.",
    ]


def _nothing_found(learned: Learned) -> str:
    settings = learned.settings
    single = settings["schedule"] == "single"
    reach = "single link" if single else f"set of up to {settings['max_links']} links"
    effect, advice = "is accepted by the criterion", "Weaker effects need a looser criterion"
    if isinstance(criterion := settings["criterion"], dict) and "delta_h" in criterion:
        effect = f"gains more than {criterion['delta_h']} nats, the smallest effect this run can show"
        advice = "Weaker effects need a smaller --delta-h"
    larger = "another --schedule" if single else "-m 4 or more"
    return f"No links found: no {reach} {effect}.\n{advice}, larger hidden groups {larger}."
