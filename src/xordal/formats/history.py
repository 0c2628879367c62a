"""The history of a network in a model file: what ``learn --json`` prints of it, read and checked."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Literal, cast, get_args

from xordal.formats.checked import Node
from xordal.formats.rule_json import rule_from_json
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.types.choices import Control, Phase, StoppedBy
from xordal.types.groups import GroupKind, Share, Submodel
from xordal.types.learned import Learned
from xordal.types.rules import AdditiveRule, Rate, Rule, RuleKind
from xordal.types.trace import SearchRun, TraceEntry, links_after
from xordal.types.varsets import EMPTY, Link, LinkSet, VarSet, members, varset

# Keys with a meaning of their own; all others at the top are settings of the run.
_KNOWN = {
    "format", "version", "xordal", "variables", "links", "cliques", "n_rows", "levels", "smoothing", "tables",
    "data", "copies", "single_link", "colored_links", "submodels", "submodels_up_to",
    "sets_that_follow", "sets_not_examined",
    "trace", "smallest_effects", "rules", "network_rules", "rule_links",
    "graphs_tested", "candidates_scored", "sets_scanned", "stopped_by", "seconds", "phases",
}  # fmt: skip
Levels = tuple[tuple[Hashable, ...], ...]

_MOST = 2**53  # whole numbers beyond it are no floats


def history(
    top: Node,
    variables: tuple[str, ...],
    levels: Levels,
    graph: ChordalGraph,
    n_rows: int,
) -> Learned | None:
    """Return how the network of a graph was learned; None for a file without a trace."""
    if top.get("trace") is None:
        return None
    trace, links = tuple(_entry(item, variables, levels) for item in top["trace"].items()), graph.links
    if _replayed(top["trace"], trace) != links:
        top["trace"].wrong("the steps do not lead to the links of the network")
    if (single := top.get("single_link")) is not None:
        read_links(single["links"], variables)
    stopped, phases = top.get("stopped_by"), top.get("phases")
    run = SearchRun(
        trace,
        top["graphs_tested"].integer(0),
        top["candidates_scored"].integer(0),
        top["sets_scanned"].integer(0),
        None if stopped is None else cast("StoppedBy", stopped.one_of(*get_args(StoppedBy))),
        {} if phases is None else _phases(phases),
    )
    copied = top.get("copies")
    up_to, submodels, colored = top.get("submodels_up_to"), top.get("submodels"), top.get("colored_links")
    following, unexamined = top.get("sets_that_follow"), top.get("sets_not_examined")
    return Learned(
        variables=variables,
        links=links,
        cliques=tuple(members(clique) for clique in maximal_cliques(graph)),
        run=run,
        settings=_settings(top),
        n_rows=n_rows,
        seconds=top["seconds"].number(0),
        submodels=None
        if submodels is None
        else tuple(_submodel(item, variables, levels, n_rows) for item in submodels.items()),
        colored_links=None if colored is None else read_links(colored, variables),
        submodels_up_to=None if up_to is None else up_to.integer(2),
        copies=() if copied is None else read_links(copied, variables),
        levels=levels,
        n_following=0 if following is None else following.integer(0),
        n_unexamined=0 if unexamined is None else unexamined.integer(0),
        gain_ranges=tuple(_range(item.get("gain_range")) for item in top["trace"].items()),
    )


def _phases(node: Node) -> dict[Phase, float]:
    """Return the seconds of each part of the work."""
    if unknown := set(node.object()) - set(get_args(Phase)):
        node.wrong(f"there is no part of learning called {min(unknown)!r}")
    return {cast("Phase", name): node[name].number(0) for name in node.object()}


def read_links(node: Node, variables: tuple[str, ...]) -> LinkSet:
    """Return a list of pairs of names as links, checked and in increasing order."""
    number = {name: v for v, name in enumerate(variables)}
    links: set[tuple[int, int]] = set()
    for item in node.items():
        pair = [name for _, name in item.texts()]
        if len(pair) != 2:
            item.wrong("a link joins two variables")
        for name in pair:
            if name not in number:
                item.wrong(f"{name!r} is no variable of the network")
        link = cast("tuple[int, int]", tuple(sorted(number[name] for name in pair)))
        if link in links:
            item.wrong("this link is there a second time")
        links.add(link)
    return tuple(sorted(links))


def _entry(node: Node, variables: tuple[str, ...], levels: Levels) -> TraceEntry:
    is_rule = node["action"].value == "rule"
    log_p, fill_in, sequence = node.get("log_p_value"), node.get("fill_in"), node.get("sequence")
    links = read_links(node["links"], variables)
    filled = () if fill_in is None else read_links(fill_in, variables)
    if not links and not is_rule:
        node["links"].wrong("a step changes at least one link")
    if links and is_rule:
        node["links"].wrong("a rule has no links")
    if not set(filled) <= set(links):
        node["fill_in"].wrong("links that fill in are among the links of the step")
    return TraceEntry(
        action=cast("Literal['add', 'remove', 'rule']", node["action"].one_of("add", "remove", "rule")),
        lookahead=node["lookahead"].integer(0),
        links=links,
        gain=node["gain"].number(),
        dof=node["dof"].integer(-_MOST, _MOST),
        graphs_tested=node["graphs_tested"].integer(0),
        fill_in=filled,
        log_p_value=None if log_p is None else log_p.log_share(),
        sequence=0 if sequence is None else sequence.integer(1),
        rule=rule_from_json(node, variables, levels) if is_rule else None,
    )


def _replayed(node: Node, trace: tuple[TraceEntry, ...]) -> LinkSet:
    """Return the links after all steps; each step adds what is not there, or removes what is."""
    links: set[tuple[int, int]] = set()
    for item, entry in zip(node.items(), trace, strict=True):
        known = set(entry.links) & links
        if known != (set() if entry.action == "add" else set(entry.links)):
            item["links"].wrong("the step adds a link that is there, or removes one that is not")
        links ^= set(entry.links)
    return links_after(trace)


def _submodel(node: Node, variables: tuple[str, ...], levels: Levels, n_rows: int) -> Submodel:
    whole = _set(node["variables"], variables)
    partition = tuple(_set(block, variables) for block in node["partition"].items())
    kind = cast("GroupKind", node["kind"].one_of(*get_args(GroupKind)))
    if sum(partition) != whole:  # blocks are disjoint exactly when their masks add up
        node["partition"].wrong("the parts of a group must make up its variables")
    if (len(partition) < 2) != (kind == "interaction"):
        node["partition"].wrong("an interaction is one part, any other group has at least two")
    context, rule, undecided = node.get("context"), node.get("rule"), node.get("undecided")
    if context is not None and _set(context, variables) & whole:
        context.wrong("what a group is given is none of its own variables")
    return Submodel(
        variables=whole,
        partition=partition,
        kind=kind,
        total_correlation=node["total_correlation"].number(),
        context=EMPTY if context is None else _set(context, variables),
        hidden=_number(node.get("hidden")),
        share=_share(node.get("share")),
        log_p_value=_log_share(node.get("log_p_value")),
        log_p_corrected=_log_share(node.get("log_p_corrected")),
        pairwise_bound=_number(node.get("pairwise_bound")),
        parts_share=_number(node.get("parts_share")),
        undecided=() if undecided is None else read_links(undecided, variables),
        turned=_turned(node.get("turned"), whole, variables),
        rule=None if rule is None else _rule(rule, whole, variables, levels, n_rows),
        hidden_range=_range(node.get("hidden_range")),
    )


def _range(node: Node | None) -> tuple[float, float] | None:
    if node is None:
        return None
    ends = [item.number(0) for item in node.items()]
    if len(ends) != 2 or ends[0] > ends[1]:
        node.wrong("a range has a lower and an upper end")
    return ends[0], ends[1]


def _number(node: Node | None) -> float | None:
    return None if node is None else node.number(0)


def _log_share(node: Node | None) -> float | None:
    return None if node is None else node.log_share()


def _share(node: Node | None) -> Share | None:
    if node is None:
        return None
    found = Share(node["estimate"].share(), node["low"].share(), node["high"].share())
    if not found.low <= found.estimate <= found.high:
        node.wrong("a share lies within its interval")
    return found


def _turned(node: Node | None, whole: VarSet, variables: tuple[str, ...]) -> Link | None:
    if node is None:
        return None
    pair = _set(node, variables)
    if pair.bit_count() != 2 or pair & ~whole:
        node.wrong("there must be two variables of the group")
    one, other = members(pair)
    return one, other


def _rule(node: Node, whole: VarSet, variables: tuple[str, ...], levels: Levels, n_rows: int) -> Rule:
    kind = cast("RuleKind", node["kind"].one_of(*get_args(RuleKind)))
    holds, by_chance = node["holds"].share(), node["by_chance"].share()
    sure = {} if kind == "rates" else _sureness(node)
    if kind in ("function", "rates"):
        target = node["target"]
        if (place := _set_of_one(target, variables)) not in members(whole):
            target.wrong("the rule is about a variable of the group")
        if kind == "function":
            return replace(Rule(kind, holds, by_chance, target=place), **sure)
        found = tuple(_rate(item, whole.bit_count() - 1) for item in node["rates"].items())
        return Rule(kind, holds, by_chance, target=place, level=_level(node["level"]), rates=found)
    factors = tuple(item.integer(-_MOST, _MOST) for item in node["factors"].items())
    marked = tuple(map(_level, node["marked"].items())) if kind == "parity" else ()
    if len(factors) != whole.bit_count():
        node["factors"].wrong("a rule has one factor for each variable of the group")
    if kind == "parity" and len(marked) != len(factors):
        node["marked"].wrong("a rule of parity has one mark for each variable of the group")
    modulus = node["modulus"].integer(2, 2 if kind == "parity" else _MOST)
    if any(len(levels[v]) != modulus for v in members(whole)):
        node["modulus"].wrong("a sum is modulo the number of levels of its variables")
    remainder = node["remainder"].integer(0, modulus - 1)
    n_broken, log_p = n_rows - round(holds * n_rows), sure.get("log_p_value", 0.0)
    additive = AdditiveRule.of_codes(
        members(whole), modulus, factors, remainder, n_rows, n_broken, by_chance, log_p
    )
    return replace(Rule(kind, holds, by_chance, additive, marked), **sure)


def _sureness(node: Node) -> dict[str, Any]:
    """Return how sure a rule is; files of earlier versions do not say it."""
    if node.get("low") is None:
        return {}
    exact = node["is_exact"]
    if not isinstance(exact.value, bool):
        exact.wrong("there must be true or false")
    low, high = node["low"].share(), node["high"].share()
    return {"low": low, "high": high, "log_p_value": node["log_p_value"].log_share(), "is_exact": exact.value}


def _rate(node: Node, n_others: int) -> Rate:
    n_rows = node["n_rows"].integer(1, _MOST)
    levels = tuple(map(_level, node["levels"].items()))
    if len(levels) != n_others:
        node["levels"].wrong("a rate has one level of each other variable of the group")
    hits = node["n_hits"].integer(0, n_rows)
    return Rate(levels, hits, n_rows, node["low"].share(), node["high"].share())


def _level(node: Node) -> str:
    """Return the text of a level: any text, empty or not."""
    if not isinstance(node.value, str):
        node.wrong("there must be the text of a level")
    return str(node.value)


def _set_of_one(node: Node, variables: tuple[str, ...]) -> int:
    if (name := node.name()) not in variables:
        node.wrong(f"{name!r} is no variable of the network")
    return variables.index(name)


def _set(node: Node, variables: tuple[str, ...]) -> VarSet:
    for item, name in node.texts():
        if name not in variables:
            item.wrong(f"{name!r} is no variable of the network")
    found = varset(variables.index(name) for _, name in node.texts())
    if not found:
        node.wrong("there must be at least one variable")
    return found


def _settings(top: Node) -> dict[str, object]:
    settings = {key: top[key].simple() for key in top.object() if key not in _KNOWN}
    criterion = top["criterion"]
    criterion["name"].text()
    if (alpha := criterion.get("alpha")) is not None and not 0 < alpha.share() < 1:
        alpha.wrong("there must be a probability above 0 and below 1")
    if (control := criterion.get("control")) is not None and control.text() not in get_args(Control):
        control.wrong("there must be fwer or fdr")
    if (threshold := criterion.get("delta_h")) is not None:
        threshold.number(0)
    top["max_links"].integer(1, _MOST)
    if (size := top.get("max_variables")) is not None and size.value is not None:
        size.integer(2, _MOST)
    top["schedule"].text()
    return settings
