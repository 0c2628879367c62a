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

from xordal.counting.oracle import EntropyOracle
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters
from xordal.pi.colored import ColoredIMap, color, links_colored
from xordal.pi.independence import Decide, Independence, Question
from xordal.pi.measuring import Rows, measured
from xordal.pi.rules import find_rule
from xordal.statistics.criterion import Evidence, Judge, Sample
from xordal.statistics.hidden import VISIBLE
from xordal.types.groups import Submodel
from xordal.types.varsets import EMPTY, SignedSets, VarSet, members


@dataclass(frozen=True, slots=True)
class Data:
    """What the search for submodels needs: entropies, the criterion's judge, the sample and the levels.

    ``alpha`` is the level at which hidden parts must be significant. ``check`` is called before each question
    and may end the search by raising.
    """

    oracle: EntropyOracle
    judge: Judge
    sample: Sample
    levels: Sequence[Sequence[Hashable]]
    alpha: float = 0.05
    check: Callable[[], None] = lambda: None


def discover(data: Data, graph: ChordalGraph, most_sets: int | None = None) -> ColoredIMap:
    """Return a learned graph with its PI submodels and the links they colour.

    ``most_sets`` bounds the subsets looked at in one clique, as in :func:`xordal.pi.colored.color`.
    """
    assert data.sample.counter is not None and data.sample.n_rows is not None
    rows = Rows.of(data.sample)
    colored = color(judged(data), graph, most_sets, asks_s5=False)
    # Asked as links are: every variable of the group must be needed, not only the whole be dependent.
    verdicts = data.judge.judge([_whole(data.sample, submodel) for submodel in colored.submodels])
    told = tuple(
        group_rule(data, _full_by_size(measured(rows, submodel)))
        for submodel, verdict in zip(colored.submodels, verdicts, strict=True)
        if verdict.is_accepted
    )
    return replace(colored, submodels=told, colored_links=links_colored(told))


def judged(data: Data) -> Independence:
    """Return dependence as the criterion decides it."""
    return Independence(data.oracle, decide=_decided_by(data))


def _decided_by(data: Data) -> Decide:
    def decide(questions: Sequence[Question], n_tests: int | None) -> list[bool]:
        data.check()
        return data.judge.depends([evidence_of(data.sample, question) for question in questions], n_tests)

    return decide


def evidence_of(sample: Sample, question: Question) -> Evidence:
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


def _full_by_size(submodel: Submodel) -> Submodel:
    """Return a submodel as a full one where its parts share next to nothing of what the whole does."""
    is_single = len(submodel.partition) == submodel.variables.bit_count() and submodel.context == EMPTY
    if not is_single or submodel.parts_share is None:
        return submodel
    is_full = submodel.parts_share <= VISIBLE * submodel.total_correlation
    return replace(submodel, kind="full") if is_full else submodel


def group_rule(data: Data, submodel: Submodel) -> Submodel:
    """Return a submodel with the rule that its variables follow in the data, if there is one.

    Of weighted or clustered rows, its numbers are those of as many rows as say as much as plain ones.
    """
    if submodel.context != EMPTY:
        return submodel
    assert data.sample.counter is not None
    (table,) = data.sample.counter.counts([submodel.variables])
    chosen = members(submodel.variables)
    parts = float(table.counts.sum()) / Rows.of(data.sample).n_rows if data.sample.design is not None else 1.0
    return replace(submodel, rule=find_rule(table, chosen, [data.levels[v] for v in chosen], parts=parts))
