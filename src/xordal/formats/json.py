"""A learned network as one JSON object: what ``xordal learn --json`` prints.

Variables appear by name everywhere. A key whose feature a run did not use is absent, not empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from xordal.formats.effects import smallest_effects
from xordal.formats.rule_json import rule_to_json
from xordal.pi.zoo.codes import Codes, TypingError
from xordal.pi.zoo.model import Model
from xordal.types.groups import Share, Submodel, named_submodel
from xordal.types.learned import Learned
from xordal.types.rules import Rule
from xordal.types.trace import TraceEntry
from xordal.types.varsets import LinkSet

Json = dict[str, object]


def to_json(learned: Learned) -> Json:
    """Return a learned network as plain lists, numbers and strings.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> learned = learn(CategoricalTable.from_columns({"x": [0, 1] * 20, "y": [0, 1] * 20}))
    >>> to_json(learned)["links"]
    [['x', 'y']]
    """
    run = learned.run
    return {
        "variables": list(learned.variables),
        "links": _named(learned.variables, learned.links),
        **_groups(learned),
        **_rules(learned),
        "cliques": [list(learned.names(clique)) for clique in learned.cliques],
        **({"copies": _named(learned.variables, learned.copies)} if learned.copies else {}),
        "trace": [
            _entry(learned, entry, range_of)
            for entry, range_of in zip_longest(learned.trace, learned.gain_ranges)
        ],
        **_smallest(learned),
        "graphs_tested": run.graphs_tested,
        "candidates_scored": run.candidates_scored,
        "sets_scanned": run.sets_scanned,
        **({} if run.is_complete else {"stopped_by": run.stopped_by}),
        **learned.settings,
        "n_rows": learned.n_rows,
        "seconds": learned.seconds,
        **({"phases": dict(run.phases)} if run.phases else {}),
    }


def truth_to_json(model: Model) -> Json:
    """Return what is true of a model of the zoo, in the words of :func:`to_json`.

    Examples
    --------
    >>> from xordal.pi.zoo import parity
    >>> truth_to_json(parity(variables=3))["links"]
    [['x1', 'x2'], ['x1', 'y'], ['x2', 'y']]
    """
    names, truth = model.joint.variables, model.truth()
    return {
        "variables": list(names),
        "links": _named(names, model.graph.links),
        "colored_links": _named(names, truth.colored_links),
        "submodels": [_submodel(submodel, names) for submodel in truth.submodels],
    }


def codes_to_json(codes: Codes, errors: Sequence[TypingError]) -> Json:
    """Return what is true of codes that were drawn: their rules, and the rows with typing errors, from 1.

    Examples
    --------
    >>> from xordal.pi.zoo import isbn_10
    >>> codes_to_json(isbn_10(), [])["rules"][0]["modulus"]
    11
    """
    return {
        "variables": list(codes.variables),
        "rules": [
            {"variables": [codes.characters[place] for place in rule.places], "modulus": rule.modulus}
            for rule in codes.rules
        ],
        "errors": [{"row": error.row + 1, "right": error.right} for error in errors],
    }


def _named(names: tuple[str, ...], links: LinkSet) -> list[list[str]]:
    return [[names[u], names[v]] for u, v in links]


def _groups(learned: Learned) -> Json:
    if learned.submodels is None or learned.colored_links is None:
        return {}
    bound = {} if learned.submodels_up_to is None else {"submodels_up_to": learned.submodels_up_to}
    following = {"sets_that_follow": learned.n_following} if learned.n_following else {}
    if learned.n_unexamined:
        following["sets_not_examined"] = learned.n_unexamined
    return {
        "colored_links": _named(learned.variables, learned.colored_links),
        "submodels": [_submodel(submodel, learned.variables) for submodel in learned.submodels],
        **following,
        **bound,
    }


def _submodel(submodel: Submodel, names: tuple[str, ...]) -> Json:
    named = named_submodel(submodel, names)
    return {
        "variables": list(named.variables),
        "partition": [list(block) for block in named.partition],
        "kind": named.kind,
        **({"context": list(named.context)} if named.context else {}),
        "total_correlation": named.total_correlation,
        **({} if named.hidden is None else {"hidden": named.hidden}),
        **({} if named.hidden_range is None else {"hidden_range": list(named.hidden_range)}),
        **({} if named.share is None else {"share": _share(named.share)}),
        **_significance(named.log_p_value, named.p_value),
        **(
            {}
            if named.p_corrected is None
            else {"log_p_corrected": named.log_p_corrected, "p_corrected": named.p_corrected}
        ),
        **({} if named.pairwise_bound is None else {"pairwise_bound": named.pairwise_bound}),
        **({} if named.parts_share is None else {"parts_share": named.parts_share}),
        **({} if not named.undecided else {"undecided": [list(pair) for pair in named.undecided]}),
        **({} if named.turned is None else {"turned": list(named.turned)}),
        **({} if named.rule is None else {"rule": _rule(named.rule, names)}),
    }


def _rule(rule: Rule, names: tuple[str, ...]) -> Json:
    told: Json = {"kind": rule.kind, "holds": rule.holds, "by_chance": rule.by_chance}
    if rule.kind == "rates" and rule.target is not None:
        found = [
            {"levels": list(rate.levels), "n_hits": rate.n_hits, "n_rows": rate.n_rows,
             "share": rate.share, "low": rate.low, "high": rate.high}
            for rate in rule.rates
        ]  # fmt: skip
        return {**told, "target": names[rule.target], "level": rule.level, "rates": found}
    told |= {"low": rule.low, "high": rule.high, "log_p_value": rule.log_p_value, "is_exact": rule.is_exact}
    if rule.target is not None:
        return {**told, "target": names[rule.target]}
    assert rule.additive is not None, "what has no target is a sum"
    additive = rule.additive
    told |= {"modulus": additive.modulus, "remainder": additive.remainder, "factors": list(additive.factors)}
    return {**told, "marked": list(rule.marked)} if rule.marked else told


def _share(share: Share) -> Json:
    return {"estimate": share.estimate, "low": share.low, "high": share.high}


def _significance(log_p_value: float | None, p_value: float | None) -> Json:
    return {} if log_p_value is None else {"log_p_value": log_p_value, "p_value": p_value}


def _rules(learned: Learned) -> Json:
    if not learned.rules:
        return {}
    return {"rules": [rule_to_json(rule, learned.variables, learned.levels) for rule in learned.rules]}


def _smallest(learned: Learned) -> Json:
    """Return the smallest effects that could have been shown, by the number of columns."""
    found = smallest_effects(learned)
    return {"smallest_effects": {str(size): nats for size, nats in found.items()}} if found else {}


def _entry(learned: Learned, entry: TraceEntry, range_of: tuple[float, float] | None) -> Json:
    rule = {} if entry.rule is None else rule_to_json(entry.rule, learned.variables, learned.levels)
    return {
        "action": entry.action,
        **rule,
        "lookahead": entry.lookahead,
        **({"sequence": entry.sequence} if entry.sequence else {}),
        "links": _named(learned.variables, entry.links),
        **({"fill_in": _named(learned.variables, entry.fill_in)} if entry.fill_in else {}),
        "gain": entry.gain,
        **({} if range_of is None else {"gain_range": list(range_of)}),
        "dof": entry.dof,
        **_significance(entry.log_p_value, entry.p_value),
        "graphs_tested": entry.graphs_tested,
    }
