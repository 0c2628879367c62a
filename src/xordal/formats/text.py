"""A learned network in words: what the command line prints and the estimator's summary shows.

Names and values are data: control characters in them are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, isqrt, log

from xordal.errors import counted
from xordal.formats.effects import smallest_text
from xordal.formats.rules import rule_text
from xordal.formats.shown import beside, shown
from xordal.statistics.chance import WEAK, weak_entries
from xordal.types.groups import Share, Submodel
from xordal.types.learned import Learned
from xordal.types.rules import Rule
from xordal.types.trace import TraceEntry, single_link_part
from xordal.types.varsets import LinkSet

__all__ = [
    "MOST_GROUPS",
    "copies_lines",
    "following_text",
    "group_rule_text",
    "hidden_text",
    "independence_text",
    "link_text",
    "links_text",
    "network_lines",
    "p_text",
    "p_value_text",
    "ranked_groups",
    "share_text",
    "shown",
    "step_text",
    "visible_lines",
    "weakness",
]

MOST_GROUPS = 20
"""Hidden groups that a screen shows."""

VISIBLE_PAIRS = "its pairs are visible, and do not explain the rest"
"""What is said of an interaction."""

_MOST_UNDECIDED = 3
_MOST_LINKS = 12
_OF_SHARES = "; shares: chance taken off both, ranges of 95 %"
_LEAST_POWER = -300  # of ten: below, a p-value has no digits that mean anything


def link_text(names: Iterable[str]) -> str:
    """Return a link as it is printed: its two names with a dash between."""
    return " - ".join(shown(name) for name in names)


def links_text(variables: tuple[str, ...], links: LinkSet) -> str:
    """Return a link set as it is printed."""
    return ", ".join(link_text((variables[u], variables[v])) for u, v in links)


def step_text(variables: tuple[str, ...], entry: TraceEntry) -> str:
    """Return what one step of a trace did, links that are filled in apart.

    Examples
    --------
    >>> step_text(("a", "b", "c", "d"), TraceEntry("add", 1, ((0, 2), (0, 3)), 0.1, 2, 9, ((0, 2),)))
    'a - d; filled in: a - c'
    """
    if entry.rule is not None:
        names = ", ".join(shown(variables[v]) for v in entry.rule.variables)
        return f"rule {f'modulo {entry.rule.modulus}' if entry.rule.modulus else 'of whole numbers'}: {names}"
    own = links_text(variables, tuple(link for link in entry.links if link not in entry.fill_in))
    if entry.action == "remove":
        return f"{own} taken out"
    return f"{own}; filled in: {links_text(variables, entry.fill_in)}" if entry.fill_in else own


def p_value_text(log_p: float) -> str:
    """Return a p-value to a digit or two, from its natural logarithm; of tiny ones only that they are.

    Examples
    --------
    >>> p_value_text(log(0.0213)), p_value_text(log(3.2e-9)), p_value_text(-1e5)
    ('0.021', '3e-9', '<1e-300')
    """
    power = log_p / log(10)
    if power < _LEAST_POWER:
        return f"<1e{_LEAST_POWER}"
    if power > -3:
        return f"{10**power:.2g}" if power < -0.005 else "1"
    exponent = floor(power)
    digit = round(10 ** (power - exponent))
    return f"{digit}e{exponent}" if digit < 10 else f"1e{exponent + 1}"


def p_text(log_p: float) -> str:
    """Return what a p-value is in a sentence.

    Examples
    --------
    >>> p_text(log(0.0213)), p_text(-1e5)
    ('p = 0.021', 'p < 1e-300')
    """
    return f"p = {p_value_text(log_p)}".replace("= <", "< ")


def network_lines(learned: Learned) -> list[str]:
    """Return the network in words: cliques, hidden groups, and what a single-link search would have missed."""
    rules = _rules(learned)
    if not learned.links:
        return [*(_nothing_found(learned) if not rules else ["No links found."]), *rules]
    said_twice = copies_lines(learned)
    return [*_cliques(learned), *said_twice, *hidden_groups_lines(learned), *rules, *_missed(learned)]


def copies_lines(learned: Learned) -> list[str]:
    """Return which columns say the same as another, in words; nothing where none does.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> table = CategoricalTable.from_columns({"code": ["de", "fr"] * 20, "name": [1, 2] * 20})
    >>> copies_lines(learn(table))
    ['  name says the same as code in every row, and is linked with nothing else']
    """
    others = ", and is linked with nothing else" if _alpha(learned) is not None else ""
    named = [map(shown, learned.names(pair)) for pair in learned.copies]
    return [f"  {copy} says the same as {first} in every row{others}" for first, copy in named]


def _rules(learned: Learned) -> list[str]:
    from xordal.formats.additive import told, told_lines  # which imports this module

    return ["", *told_lines(told(learned))] if learned.rules else []


def weakness(learned: Learned) -> str | None:
    """Return a warning where chance may well explain some of the steps, and what to do about it."""
    if learned.n_rows is None or _alpha(learned) is not None or "tuned" in learned.settings:
        return None
    # A move of a local search is made for what comes after it, not for what it gains.
    own = (entry for entry in learned.trace if entry.log_p_value is None and entry.links and not entry.sequence)
    weak = weak_entries(own, learned.n_rows)
    if not weak:
        return None
    steps = f"{len(weak)} of {counted(len(learned.trace), 'step')} {'gains' if len(weak) == 1 else 'gain'}"
    return (
        f"{steps} less than {WEAK:g} times what chance gives on average with {counted(learned.n_rows, 'row')}: "
        "this may well be chance, and what is built on it too."
        f"{_advice(max(entry.gain for entry in weak))}"
    )


def _advice(gain: float) -> str:
    """Return which threshold leaves a gain out, of two digits and not below it; nothing for a gain of nothing.

    Examples
    --------
    >>> _advice(0.00123), _advice(-1e-17)
    (' A threshold of 0.0013 nats (--delta-h) leaves it out.', '')
    """
    return f" A threshold of {float(f'{gain * 1.05:.1e}')} nats (--delta-h) leaves it out." if gain > 0 else ""


def _cliques(learned: Learned) -> list[str]:
    together = [clique for clique in learned.cliques if len(clique) > 1]
    alone = [clique[0] for clique in learned.cliques if len(clique) == 1]
    filled = f" ({len(learned.filled_links):,} filled in)" if learned.filled_links else ""
    lines = [f"Network: {counted(len(learned.links), 'link')}{filled} in {counted(len(together), 'clique')}"]
    lines += ["  { " + ", ".join(map(shown, learned.names(clique))) + " }" for clique in together]
    if alone:
        lines.append("  on their own: " + ", ".join(map(shown, learned.names(alone))))
    return lines


def hidden_groups_lines(learned: Learned) -> list[str]:
    """Return the hidden groups in words, the largest hidden part first; of many only the first."""
    if not learned.submodels:
        return []
    groups = ranked_groups(learned.submodels)
    lines = [
        "",
        "Hidden groups: what columns share in the data beyond any pair, in nats (a fair coin has 0.69)"
        f"{'' if learned.n_rows is None else _OF_SHARES}",
    ]
    for submodel in groups[:MOST_GROUPS]:
        lines += _hidden_group(learned, submodel)
    if (left := len(groups) - MOST_GROUPS) > 0:
        lines.append(f"  and {counted(left, 'smaller group')}; --json lists them all")
    if learned.n_following:
        lines.append(f"  and {following_text(learned.n_following)}")
    if learned.n_unexamined:
        lines.append(f"  and {unexamined_text(learned.n_unexamined)}")
    if (most := learned.submodels_up_to) is not None:
        lines.append(
            f"  (of the largest cliques only groups of up to {most} variables were looked at, and the whole)"
        )
    return lines


def ranked_groups(groups: Iterable[Submodel]) -> list[Submodel]:
    """Return groups in the order in which they are told: the largest hidden part first."""
    return sorted(groups, key=lambda group: -round(group.size, 4))


def following_text(n_following: int) -> str:
    """Return in words how many sets need not be told, since they follow from what is."""
    verb = "follows" if n_following == 1 else "follow"
    return f"{counted(n_following, 'set')} that {verb} from these, from links or from rules"


def unexamined_text(n_unexamined: int) -> str:
    """Return in words how many sets were left when the search for groups ended."""
    verb = "was" if n_unexamined == 1 else "were"
    return f"{counted(n_unexamined, 'weaker set')} that {verb} not looked into: many follow from these"


def _hidden_group(learned: Learned, submodel: Submodel) -> list[str]:
    blocks = (beside(learned.names(block)) for block in submodel.partition)
    given = beside(learned.names(submodel.context))
    told = [f"{submodel.kind}, given {given}" if submodel.context else submodel.kind]
    if submodel.log_p_corrected is not None:
        told.append(p_text(submodel.log_p_corrected))
    lines = [f"  {hidden_text(submodel)}  {' | '.join(blocks)}  ({', '.join(told)})"]
    lines += [f"    {line}" for line in visible_lines(learned, submodel)]
    if submodel.rule is not None:
        lines.append(f"    together: {group_rule_text(learned, submodel, submodel.rule)}")
    return lines


def hidden_text(submodel: Submodel) -> str:
    """Return how much a group hides of what it shares.

    Examples
    --------
    >>> from xordal.types.groups import Share
    >>> from xordal.types.varsets import VarSet
    >>> group = Submodel(VarSet(7), (VarSet(1), VarSet(6)), "partial", 0.0174, hidden=0.0109,
    ...                  share=Share(0.638, 0.49, 0.787))
    >>> hidden_text(group)
    '0.0109 of 0.0174 nats, 64 % hidden (49 to 79)'
    """
    if submodel.hidden is None or submodel.share is None:
        return f"{submodel.total_correlation:.4f} nats"
    return f"{submodel.hidden:.4f} of {submodel.total_correlation:.4f} nats, {share_text(submodel.share)}"


def share_text(share: Share) -> str:
    """Return a share of what is hidden with its interval, where there is one."""
    low, estimate, high = (f"{100 * value:.0f}" for value in (share.low, share.estimate, share.high))
    interval = f" ({low} to {high})" if low != high else ""
    return f"{estimate} % hidden{interval}"


def visible_lines(learned: Learned, submodel: Submodel) -> list[str]:
    """Return in words what pairs of a group show, as far as the rows tell."""
    lines = []
    if submodel.pairwise_bound is not None:
        lines.append(independence_text(submodel))
    elif submodel.kind == "interaction" and submodel.share is not None:
        lines.append(VISIBLE_PAIRS)
    if submodel.undecided:
        pairs = links_text(learned.variables, submodel.undecided[:_MOST_UNDECIDED])
        more = len(submodel.undecided) - _MOST_UNDECIDED
        pairs += f" and {counted(more, 'other pair')}" if more > 0 else ""
        lines.append(f"undecided, for lack of rows, whether more than 5 % shows in {pairs}")
    if submodel.kind == "interaction" and submodel.turned is not None:
        one, other = map(shown, learned.names(submodel.turned))
        lines.append(f"how {one} goes with {other} is turned round by the other columns")
    return lines


def independence_text(submodel: Submodel) -> str:
    """Return in words what looks independent, and up to what it may not be."""
    most = f"no pair shares more than {submodel.pairwise_bound:.2g} nats (95 % sure)"
    if submodel.kind != "full" or submodel.parts_share is None:
        return f"across the bars {most}"
    n_others = submodel.variables.bit_count() - 1
    shared = f", no {n_others} more than {submodel.parts_share:.2g}" if n_others > 2 else ""
    return f"any {n_others} of them look {nearly(submodel)}independent: {most}{shared}"


def nearly(submodel: Submodel) -> str:
    """Return the word that is due when some of a full group's variables share more than 1 % of the whole."""
    return "nearly " if (submodel.parts_share or 0.0) > 0.01 * submodel.total_correlation else ""


def group_rule_text(learned: Learned, submodel: Submodel, rule: Rule) -> str:
    """Return in words the rule that a hidden group follows."""
    names = [shown(name) for name in learned.names(submodel.variables)]
    return rule_text(rule, names, "" if rule.target is None else shown(learned.variables[rule.target]))


def _missed(learned: Learned) -> list[str]:
    single = single_link_part(learned.trace)
    missed = len(set(learned.links) - set(single))
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


def _alpha(learned: Learned) -> float | None:
    criterion = learned.settings["criterion"]
    return criterion.get("alpha") if isinstance(criterion, dict) else None


def _nothing_found(learned: Learned) -> list[str]:
    """Return what was not found, and what to do about it."""
    settings, alpha = learned.settings, _alpha(learned)
    advice = "Weaker effects need a looser criterion"
    if isinstance(criterion := settings["criterion"], dict) and "delta_h" in criterion:
        advice = "Weaker effects need a smaller --delta-h"
    if alpha is not None:
        advice = "Weaker effects need more rows"
    is_single = settings["schedule"] == "single"
    columns = (
        1 + isqrt(1 + 8 * int(str(settings["max_links"])))
    ) // 2  # that so many links can join all in all
    larger = "another --schedule" if is_single else f"-m {max(columns + 1, 4)} or more"
    return [*not_found(learned), f"{advice}, larger hidden groups {larger}."]


def not_found(learned: Learned) -> list[str]:
    """Return what a search without a link looked for, and the smallest effect that it could have shown."""
    settings = learned.settings
    single = settings["schedule"] == "single"
    is_pairs = single or settings["max_links"] == 1
    reach = "single link" if is_pairs else f"set of up to {settings['max_links']} links"
    effect = "is accepted by the criterion"
    if isinstance(criterion := settings["criterion"], dict) and "delta_h" in criterion:
        effect = f"gains more than {criterion['delta_h']} nats, the smallest effect this run can show"
    if (alpha := _alpha(learned)) is not None:
        is_share = isinstance(criterion, dict) and criterion.get("control") == "fdr"
        effect = f"is significant at {'a false discovery rate of' if is_share else 'alpha ='} {alpha:g}"
    shown_by_rows = [] if alpha is None else [_smallest_effect(learned)]
    return [f"No links found: no {reach} {effect}.", *shown_by_rows]


def _smallest_effect(learned: Learned) -> str:
    """Return what these rows could have shown, of columns with two levels."""
    found = smallest_text(learned)
    if found is None:
        return "There is nothing to link."
    return found if found.endswith(".") else f"{found} (a fair coin has 0.69)."
