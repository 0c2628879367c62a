"""PI submodels in data: which sets inside a learned network hide from every pairwise view, and how surely.

The definitions are those of exact joints (:mod:`xordal.pi.definitions`); only the questions are answered by the
criterion that learned the network. A pair counts as dependent when a link could be learned from it, among all
that a search may look at; variables of a clique, which are known to depend on each other, are collectively
dependent when each pair is, given the others, among the pairs of the set. Independence is then an accepted
guess, so each submodel carries a bound on what its pairs may share after all.

Two things differ from exact joints. A set is full when any proper part of it shares next to nothing of what the
whole does, which is said in nats: with many rows nothing is quite independent. And S5 is not asked for: a set
that is PI by itself is hidden from a pairwise view, whatever chain of dependences joins its parts elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod

from xordal.counting.oracle import EntropyOracle
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters
from xordal.pi.colored import ColoredIMap, color, links_colored
from xordal.pi.independence import Decide, Independence, Question
from xordal.pi.rules import find_rule
from xordal.statistics.bounds import information_bound
from xordal.statistics.criterion import Evidence, Judge, Sample
from xordal.types import EMPTY, SignedSets, Submodel, VarSet, members

_NEXT_TO_NOTHING = 0.05
"""The share of what the whole of a full PI set shares that a part of it may share, in data."""


@dataclass(frozen=True, slots=True)
class Data:
    """What the search for submodels needs: entropies, the criterion's judge, the sample and the levels.

    ``check`` is called before each question and may end the search by raising.
    """

    oracle: EntropyOracle
    judge: Judge
    sample: Sample
    levels: Sequence[Sequence[Hashable]]
    check: Callable[[], None] = lambda: None


def discover(data: Data, graph: ChordalGraph, most_sets: int | None = None) -> ColoredIMap:
    """Return a learned graph with its PI submodels and the links they colour.

    ``most_sets`` bounds the subsets looked at in one clique, as in :func:`xordal.pi.colored.color`.
    """
    independence = Independence(data.oracle, decide=_decided_by(data))
    colored = color(independence, graph, most_sets, asks_s5=False)
    sets = [_whole(data.sample, submodel) for submodel in colored.submodels]
    is_seen = data.judge.depends(sets)
    log_ps = data.judge.log_p_values([found for found, seen in zip(sets, is_seen, strict=True) if seen])
    submodels = [submodel for submodel, seen in zip(colored.submodels, is_seen, strict=True) if seen]
    told = tuple(
        _told(data, independence, submodel, None if log_ps is None else log_ps[number])
        for number, submodel in enumerate(submodels)
    )
    return replace(colored, submodels=told, colored_links=links_colored(told))


def _decided_by(data: Data) -> Decide:
    def decide(questions: Sequence[Question], n_tests: int | None) -> list[bool]:
        data.check()
        return data.judge.depends([_evidence_of(data.sample, question) for question in questions], n_tests)

    return decide


def _evidence_of(sample: Sample, question: Question) -> Evidence:
    """Return a question as a change of the graph that joins a and b, each complete with the context."""
    a, b, given, information = question
    change = {VarSet(a | b | given): 1, VarSet(a | given): -1, VarSet(b | given): -1}
    if given:
        change[given] = 1
    links = tuple(sorted([(min(pair), max(pair)) for pair in product(members(a), members(b))]))
    dof = free_parameters(change, sample.n_levels)
    return Evidence(VarSet(a | b), links, change, information, dof, sample.n_rows)


def _whole(sample: Sample, submodel: Submodel) -> Evidence:
    """Return what the variables of a submodel share as the change that links them all."""
    single, context = members(submodel.variables), submodel.context
    terms = [(submodel.variables | context, 1), *((1 << v | context, -1) for v in single)]
    change = _change([*terms, (context, len(single) - 1)])
    links = tuple(combinations(single, 2))
    dof = free_parameters(change, sample.n_levels)
    return Evidence(submodel.variables, links, change, submodel.total_correlation, dof, sample.n_rows)


def _change(terms: Sequence[tuple[int, int]]) -> SignedSets:
    return {VarSet(s): sign for s, sign in terms if s != EMPTY and sign}


def _told(data: Data, independence: Independence, submodel: Submodel, log_p: float | None) -> Submodel:
    """Add to a submodel what only data have: a p-value, a bound for its pairs, a rule."""
    assert data.sample.counter is not None
    rule = None
    if submodel.context == EMPTY:
        (table,) = data.sample.counter.counts([submodel.variables])
        chosen = members(submodel.variables)
        rule = find_rule(table, chosen, [data.levels[v] for v in chosen])
    shared = _parts_share(independence, submodel)
    is_full = len(submodel.partition) == submodel.variables.bit_count() and submodel.context == EMPTY
    if is_full and shared <= _NEXT_TO_NOTHING * submodel.total_correlation:
        submodel = replace(submodel, kind="full")
    return replace(
        submodel,
        parts_share=shared,
        log_p_value=log_p,
        pairwise_bound=_pairwise_bound(data, independence, submodel),
        rule=rule,
    )


def _parts_share(independence: Independence, submodel: Submodel) -> float:
    """Return the most that all but one of the variables share, in nats."""
    parts = [submodel.variables & ~(1 << v) for v in members(submodel.variables)]
    return max(independence.total_correlation(part, submodel.context) for part in parts)


def _pairwise_bound(data: Data, independence: Independence, submodel: Submodel) -> float:
    assert data.sample.n_rows is not None
    bounds = []
    n_levels = data.sample.n_levels
    n_strata = prod(n_levels[v] for v in members(submodel.context))
    for x, y in submodel.colored_links():
        shared = independence.information(1 << x, 1 << y, submodel.context)
        dof = (n_levels[x] - 1) * (n_levels[y] - 1) * n_strata
        bounds.append(information_bound(shared, dof, data.sample.n_rows))
    return max(bounds)
