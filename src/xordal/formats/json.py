"""A learned network as one JSON object: what ``xordal learn --json`` prints.

Variables appear by name everywhere. A key whose feature a run did not use is absent, not empty.
"""

from __future__ import annotations

from xordal.types import Learned, LinkSet, NamedSubmodel, TraceEntry, named_submodels

Json = dict[str, object]


def to_json(learned: Learned) -> Json:
    """Return a learned network as plain lists, numbers and strings.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> learned = learn(CategoricalTable.from_columns({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]}))
    >>> to_json(learned)["links"]
    [['x', 'y']]
    """
    run = learned.run
    return {
        "variables": list(learned.variables),
        "links": _named(learned, learned.links),
        **_groups(learned),
        "cliques": [list(learned.names(clique)) for clique in learned.cliques],
        "trace": [_entry(learned, entry) for entry in learned.trace],
        "graphs_tested": run.graphs_tested,
        "candidates_scored": run.candidates_scored,
        "sets_scanned": run.sets_scanned,
        **({} if run.is_complete else {"interrupted": True}),
        **learned.settings,
        "n_rows": learned.n_rows,
        "seconds": learned.seconds,
    }


def _named(learned: Learned, links: LinkSet) -> list[list[str]]:
    return [list(learned.names(link)) for link in links]


def _groups(learned: Learned) -> Json:
    if learned.submodels is None or learned.colored_links is None:
        return {}
    bound = {} if learned.submodels_up_to is None else {"submodels_up_to": learned.submodels_up_to}
    return {
        "colored_links": _named(learned, learned.colored_links),
        "submodels": [_submodel(submodel) for submodel in named_submodels(learned)],
        **bound,
    }


def _submodel(submodel: NamedSubmodel) -> Json:
    return {
        "variables": list(submodel.variables),
        "partition": [list(block) for block in submodel.partition],
        "kind": submodel.kind,
        **({"context": list(submodel.context)} if submodel.context else {}),
        "total_correlation": submodel.total_correlation,
    }


def _entry(learned: Learned, entry: TraceEntry) -> Json:
    significance: Json = {}
    if entry.log_p_value is not None:
        significance = {"log_p_value": entry.log_p_value, "p_value": entry.p_value}
    return {
        "action": entry.action,
        "lookahead": entry.lookahead,
        "links": _named(learned, entry.links),
        **({"fill_in": _named(learned, entry.fill_in)} if entry.fill_in else {}),
        "gain": entry.gain,
        "dof": entry.dof,
        **significance,
        "graphs_tested": entry.graphs_tested,
    }
