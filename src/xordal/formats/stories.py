"""Networks, their links and their comparison, as JSON and in words: ``xordal inspect`` and ``compare``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log

from xordal.errors import counted
from xordal.formats.additive import rule_words
from xordal.formats.answers import finite, plain
from xordal.formats.json import Json, to_json
from xordal.formats.rule_json import network_rule_to_json
from xordal.formats.shown import beside, padded, shown, width_of
from xordal.formats.text import link_text, network_lines, p_text, share_text
from xordal.model.compare import Comparison
from xordal.model.explain import LinkStory
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.smoothing import smoothing_text, smoothing_to_json
from xordal.rules.finding import FoundRules
from xordal.types.groups import NamedSubmodel
from xordal.types.learned import Learned
from xordal.types.trace import single_link_part

_NOTHING = 5e-4  # nats by which data and network differ visibly
_VISIBLY = 0.05  # or this share of what the data have
_MOST_LEVELS = 8


def network_to_json(network: DecomposableMarkovNetwork) -> Json:
    """Return what is known of a network: how it was learned, its variables and its size."""
    told: Json = {} if network.learned is None else dict(to_json(network.learned))
    return told | {
        "variables": list(network.variables),
        "links": [[network.variables[u], network.variables[v]] for u, v in network.graph.links],
        "cliques": [list(clique) for clique in network.cliques],
        "levels": {
            name: [plain(level) for level in levels]
            for name, levels in zip(network.variables, network.levels, strict=True)
        },
        "n_rows": network.n_rows,
        "n_parameters": network.n_parameters,
        "entropy": network.entropy(),
        "smoothing": smoothing_to_json(network.smoothing),
        **_network_rules(network),
        **_single_link(network),
    }


def _network_rules(network: DecomposableMarkovNetwork) -> Json:
    if not network.rules:
        return {}
    told = [network_rule_to_json(rule, network.variables, network.levels) for rule in network.rules]
    return {"network_rules": told}


def _single_link(network: DecomposableMarkovNetwork) -> Json:
    if network.learned is None:
        return {}
    found = single_link_part(network.learned.trace)
    return {"single_link": {"links": [[network.variables[u], network.variables[v]] for u, v in found]}}


def variable_lines(network: DecomposableMarkovNetwork) -> list[str]:
    """Return size, settings and variables of a network in words."""
    variables, rows = counted(len(network.variables), "variable"), counted(network.n_rows, "row")
    parameters = counted(network.n_parameters, "parameter")
    source = f"counted from {rows}" if network.is_counted else "given with its probabilities"
    smoothing = f", smoothing {smoothing_text(network.smoothing)}" if network.is_counted else ""
    lines = [f"{variables}, {source}; {parameters}, entropy {network.entropy():.4f} nats{smoothing}"]
    if network.learned is not None:
        told = "  ".join(f"{key}={setting_text(value)}" for key, value in told_settings(network.learned))
        lines.append(f"settings: {told}")
    lines += ["", "Variables and their levels"]
    longest = max(width_of(shown(name)) for name in network.variables)
    for name, levels in zip(network.variables, network.levels, strict=True):
        some = ", ".join(map(shown, levels[:_MOST_LEVELS]))
        more = f" and {len(levels) - _MOST_LEVELS} others" if len(levels) > _MOST_LEVELS else ""
        lines.append(f"  {padded(shown(name), longest)}  {some}{more}")
    return lines


def structure_lines(network: DecomposableMarkovNetwork) -> list[str]:
    """Return cliques, hidden groups and what a single-link search would have missed."""
    if network.learned is not None:
        lines, stopped_by = network_lines(network.learned), network.learned.run.stopped_by
        lines += ["", *network_rule_lines(network)] if network.rules else []
        if stopped_by is None:
            return lines
        article = "an" if stopped_by == "interruption" else "a"
        return [*lines, "", f"The search was ended by {article} {stopped_by}."]
    return [f"Network: {counted(len(network.graph.links), 'link')}", *map(_clique, network.cliques)]


def _clique(names: Iterable[str]) -> str:
    return "  { " + ", ".join(map(shown, names)) + " }"


def network_rule_lines(network: DecomposableMarkovNetwork) -> list[str]:
    """Return for each rule of a network which column's table it replaces; none where there are no rules."""
    rules = tuple(each.rule for each in network.rules)
    found = FoundRules(network.variables, network.levels, rules, network.n_rows, (), (), 0.0)
    lines = ["Rules in the network, each in the place of one column's table"] if rules else []
    for each in network.rules:
        lines.append(f"  {rule_words(found, each.rule)}")
        given = "".join(f", {shown(name)}" for name in network.names(each.earlier))
        share = 100 * each.delta(network.smoothing)
        lines.append(
            f"    gives {shown(network.variables[each.last])} from the others{given}; {share:.2g} % break it"
        )
    return lines


def told_settings(learned: Learned) -> Iterator[tuple[str, object]]:
    """Yield the settings of a search by name; what a tuning tried is too long to be told among them."""
    yield from ((name, value) for name, value in learned.settings.items() if name != "tuned")


def setting_text(value: object) -> str:
    """Return the value of a setting as it is printed."""
    if isinstance(value, dict):
        inner = ", ".join(f"{key}={other}" for key, other in value.items() if key != "name")
        return shown(f"{value.get('name', '')}({inner})")
    return shown(value)


def story_to_json(story: LinkStory) -> Json:
    """Return why two variables are linked, or what keeps them apart."""
    told: Json = {"link": list(story.variables), "is_linked": story.is_linked, "pair": story.pair}
    if story.rules:
        told["n_rules"] = len(story.rules)
    if story.pair_in_data is not None:
        told |= {"pair_in_data": story.pair_in_data, "log_p_pair_in_data": story.log_p_pair}
    if not story.is_linked:
        return told | {"separator": list(story.separator)}
    told |= {"given_rest": story.given_rest, "clique": list(story.clique)}
    if story.entry is not None:
        told |= {
            "step": story.step,
            "lookahead": story.entry.lookahead,
            "gain": story.entry.gain,
            "by_chance": story.by_chance,
            "together_with": [list(link) for link in story.together_with],
            "is_fill_in": story.is_fill_in,
        }
    if story.submodels is not None:
        told["hidden_by"] = [_group_json(group) for group in story.submodels]
    if story.turned_by:
        told["turned_by"] = [_group_json(group) for group in story.turned_by]
    if story.single_link is not None:
        told["single_link_finds_it"] = story.single_link
    return told


def _group_json(group: NamedSubmodel) -> Json:
    return {
        "variables": list(group.variables),
        "partition": [list(block) for block in group.partition],
        "kind": group.kind,
        **({"context": list(group.context)} if group.context else {}),
        "total_correlation": group.total_correlation,
    }


def story_lines(story: LinkStory) -> list[str]:
    """Return why two variables are linked, or what keeps them apart, in words."""
    one, other = map(shown, story.variables)
    pair = _pair_text(story)
    if not story.is_linked:
        return [f"{one} and {other} are not linked.", pair, _apart(story), *_rule_notes(story)]
    lines = [f"{one} and {other} are linked.", pair]
    rest = [shown(name) for name in story.clique if name not in story.variables]
    if rest and story.given_rest is not None:
        lines.append(f"Given {', '.join(rest)} they share {story.given_rest:.4f} nats in the network.")
    lines += [*_step_lines(story), *_rule_notes(story)]
    lines += [f"Both are in {_group_text(group)}." for group in story.submodels or ()]
    lines += [f"How they go together is turned round by others in {_group_text(g)}." for g in story.turned_by]
    return [*lines, *_single_lines(story)]


def _group_text(group: NamedSubmodel) -> str:
    blocks = " | ".join(beside(block) for block in group.partition)
    given = f", given {beside(group.context)}" if group.context else ""
    hidden = "" if group.share is None else f", {share_text(group.share)}"
    told = f"{group.kind}{given}; in the data {group.total_correlation:.4f} nats in all{hidden}"
    return f"the hidden group {blocks}  ({told})"


def _rule_notes(story: LinkStory) -> list[str]:
    """Return a line for each rule that holds both variables."""
    lines = []
    for rule in story.rules:
        others = counted(len(rule.variables) - 2, "other column")
        name = f" ({rule.name})" if rule.name else ""
        modulus = f", modulo {rule.modulus}" if rule.modulus else ""
        lines.append(
            f"Both are in a rule with {others}{name}{modulus}: given those, each determines the other."
        )
    return lines


def _pair_text(story: LinkStory) -> str:
    """Return what the two share as a pair: in the rows and, where it differs visibly, in the network."""
    in_network = f"{story.pair:.4f} nats in the network"
    if story.pair_in_data is None or story.log_p_pair is None:
        return f"As a pair they share {in_network}; the file does not hold their rows, --data FILE tells."
    told = f"As a pair they share {story.pair_in_data:.4f} nats in the data ({p_text(story.log_p_pair)})"
    if abs(story.pair - story.pair_in_data) > max(_NOTHING, _VISIBLY * story.pair_in_data):
        told += f", {in_network}"
    return f"{told}{_judged(story.log_p_pair)}."


def _judged(log_p: float) -> str:
    return ": nothing that a pairwise view could tell from chance" if log_p > log(0.05) else ""


def _apart(story: LinkStory) -> str:
    if not story.separator:
        if story.rules:
            return "No path of links joins them."
        return "No path of links joins them: in this network they are independent."
    between = ", ".join(map(shown, story.separator))
    return f"All paths between them pass {between}; given that, they are independent."


def _step_lines(story: LinkStory) -> list[str]:
    entry = story.entry
    if entry is None:
        return ["How the link was learned is not known."]
    if entry.lookahead == 0:
        how = f"Step {story.step}: the link was required"
    else:
        how = f"Step {story.step} learned it, looking {counted(entry.lookahead, 'link')} ahead"
    if entry.sequence:
        how = f"Step {story.step} learned it, in a sequence of {counted(entry.sequence, 'move')}"
    if story.is_fill_in:
        how += ", as one that only keeps the graph chordal"
    lines = [f"{how}."]
    if story.together_with:
        lines.append(f"It came together with {', '.join(map(link_text, story.together_with))}.")
    chance = ""
    if entry.log_p_value is not None:
        least = ", of what was needed least in it" if len(entry.links) > 2 and not entry.fill_in else ""
        chance = f"; {p_text(entry.log_p_value)}{least}"
    elif story.by_chance is not None:
        chance = f"; by chance such a step gains {story.by_chance:.4f} on average"
    return [*lines, f"The step gained {entry.gain:.4f} nats{chance}."]


def _single_lines(story: LinkStory) -> list[str]:
    if story.single_link is None:
        return []
    if story.single_link:
        return ["A single-link search would have found it as well."]
    return ["A single-link search would have said that the two are not linked."]


def comparison_to_json(found: Comparison) -> Json:
    """Return two networks side by side; null stands for a divergence that is infinite or not defined."""
    there, back = found.divergence, found.divergence_back
    told: Json = {
        "shared": [list(link) for link in found.shared],
        "missing": [list(link) for link in found.missing],
        "extra": [list(link) for link in found.extra],
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
        "divergence": None if there is None else finite(there),
        "divergence_back": None if back is None else finite(back),
        "is_infinite": [value == float("inf") for value in (there, back)],
    }
    return told if found.reason is None else told | {"reason": found.reason}


def comparison_lines(found: Comparison, first: str, second: str) -> list[str]:
    """Return two networks side by side, in words."""
    lines = [f"{counted(len(found.shared), 'link')} in both"]
    for links, where in ((found.missing, first), (found.extra, second)):
        if links:
            lines += [
                "",
                f"{counted(len(links), 'link')} in {shown(where)} only",
                *(f"  {link_text(link)}" for link in links),
            ]
    for names, where in ((found.only_first, first), (found.only_second, second)):
        if names:
            lines += ["", f"Variables of {shown(where)} only: {', '.join(map(shown, names))}"]
    lines.append("")
    if found.divergence is None or found.divergence_back is None:
        return [*lines, f"No Kullback-Leibler divergence: {shown(found.reason)}."]
    if found.reason is not None:
        lines += [f"Their levels differ: {shown(found.reason)}.", ""]
    return [
        *lines,
        "Kullback-Leibler divergence, what a row loses in nats by the wrong network:",
        f"  {_nats(found.divergence)}  if {shown(first)} is true and {shown(second)} is used",
        f"  {_nats(found.divergence_back)}  if {shown(second)} is true and {shown(first)} is used",
    ]


def _nats(value: float) -> str:
    return "infinite" if value == float("inf") else f"{value:8.4f}"
