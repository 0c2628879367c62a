"""Why: why two variables are linked or apart, and which evidence moved an answer.

A link is explained by the step of the search that learned it and by what its pair shows alone: a link inside a
hidden group came in with others, and its pair shows nothing. An answer is explained by taking evidence away:
each item alone, all but each item, and each item's fair share of the change over all orders in which the
evidence could have come (its Shapley value; Shapley 1953). Evidence of an exclusive-or moves nothing alone and
everything when left out.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial, fsum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xordal.counting.select import oracle_for
from xordal.data.table import CategoricalTable
from xordal.errors import DataError
from xordal.graph.signed_sets import free_parameters
from xordal.model.evidence import evidence_of, number_of
from xordal.model.observed import Observed
from xordal.model.query import check_possible, normalised
from xordal.statistics.chance import expected_gain
from xordal.statistics.criterion import Evidence, Sample
from xordal.statistics.hidden import Sharing
from xordal.statistics.significance import Significance
from xordal.types.groups import NamedSubmodel, named_submodel
from xordal.types.rules import AdditiveRule
from xordal.types.trace import TraceEntry, single_link_part
from xordal.types.varsets import SignedSets, VarSet, members

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork, Given, Likely

MOST_SHARED = 10
"""Items of evidence up to which shares are computed: all subsets of them are looked at."""


@dataclass(frozen=True, slots=True)
class LinkStory:
    """Why two variables are linked, or what keeps them apart; information is in nats.

    Attributes
    ----------
    variables
        The two, in the order of the network.
    is_linked
        Whether the network links them.
    pair
        Mutual information of the two alone in the network.
    pair_in_data, log_p_pair
        The same in the rows, all that a pairwise view of them sees, and its log p-value (as in the trace, not
        corrected). None where the rows of the pair are not known: a model file holds those of linked ones.
    given_rest
        For a link: the information of the two given the rest of a clique that holds both, the largest.
    clique
        That clique.
    separator
        For two that are not linked: variables given which they are independent in the network.
    step, entry, together_with
        The step (1, 2, ...) of the trace that added the link, its entry, and the links it added with this one.
    is_fill_in
        Whether that step added the link only to keep the graph chordal.
    by_chance
        What such a step gains on average where there is nothing to find.
    submodels
        The hidden groups (PI submodels) that hide this link: both are in it, in different parts. None where
        hidden groups were not looked for.
    turned_by
        The interactions in which the other columns turn the relation of the two round.
    single_link
        Whether a single-link search would have learned the link. None where the history is not known.
    rules
        The rules of the network that hold both: by them the two are dependent, given the rule's other columns.
    """

    variables: tuple[str, str]
    is_linked: bool
    pair: float
    pair_in_data: float | None = None
    log_p_pair: float | None = None
    given_rest: float | None = None
    clique: tuple[str, ...] = ()
    separator: tuple[str, ...] = ()
    step: int | None = None
    entry: TraceEntry | None = None
    together_with: tuple[tuple[str, str], ...] = ()
    is_fill_in: bool = False
    by_chance: float | None = None
    submodels: tuple[NamedSubmodel, ...] | None = None
    turned_by: tuple[NamedSubmodel, ...] = ()
    single_link: bool | None = None
    rules: tuple[AdditiveRule, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceEffect:
    """What one item of evidence does to an answer; every distribution is in the order of the levels.

    Attributes
    ----------
    name, level
        The item; the level is None for soft evidence.
    alone
        The answer from this item alone.
    without
        The answer from all items but this one.
    share
        Its share of the change from the answer without evidence to the answer with all of it; the shares of
        all items add up to that change. None where there are more than :data:`MOST_SHARED` items.
    """

    name: str
    level: Hashable | None
    alone: tuple[float, ...]
    without: tuple[float, ...]
    share: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class AnswerStory:
    """Which evidence moved an answer: the distribution before and after it, and what each item does."""

    asked: str
    levels: tuple[Hashable, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    effects: tuple[EvidenceEffect, ...]


def why_link(network: DecomposableMarkovNetwork, one: str, other: str) -> LinkStory:
    """Answer :meth:`DecomposableMarkovNetwork.why_link`."""
    u, v = sorted((number_of(network, one), number_of(network, other)))
    if u == v:
        raise DataError(f"A link joins two variables; {one!r} is given twice.")
    names = (network.variables[u], network.variables[v])
    pair = _information(network, u, v, ())
    if not network.graph.neighbours[u] >> v & 1:
        between = network.names(_separator(network, u, v))
        return LinkStory(names, False, pair, separator=between, rules=_rules_of(network, u, v))
    holding = [c for c in network.tree.cliques if c >> u & 1 and c >> v & 1]
    within = {c: _information(network, u, v, members(c & ~(1 << u | 1 << v))) for c in holding}
    clique = max(holding, key=within.__getitem__)
    story = LinkStory(
        names,
        True,
        pair,
        given_rest=within[clique],
        clique=network.names(clique),
        rules=_rules_of(network, u, v),
    )
    if network.is_counted:
        tables = {table.variables: table.counted for table in network.clique_tables()}
        table = tables[clique].over([members(clique).index(end) for end in (u, v)])
        story = with_rows(story, table.cells[:, 0], table.cells[:, 1], table.counts)
    return story if network.learned is None else _with_history(network, story, (u, v))


def with_rows(
    story: LinkStory, one: NDArray[np.int64], other: NDArray[np.int64], counts: NDArray[np.int64]
) -> LinkStory:
    """Return a story with what the two share in some rows, given as codes and how often each pair counts."""
    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one, other), counts)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    found = Sharing(table, int(table.sum()))
    return replace(story, pair_in_data=found.total.nats, log_p_pair=_log_p_of_pair(table, found.total.nats))


def _log_p_of_pair(table: NDArray[np.float64], nats: float) -> float:
    """Return the log p-value that a search gives to the link of two columns, so that both tell one number."""
    occupied = table > 0
    codes, counts = np.array(np.nonzero(occupied), dtype=np.int32), table[occupied].astype(np.int64)
    levels = tuple(tuple(range(size)) for size in table.shape)
    rows = CategoricalTable(("one", "other"), levels, codes, counts)
    sample = Sample(rows.n_levels, rows.n_rows, oracle_for(rows, backend="numpy"), max_links=1, max_variables=2)
    change: SignedSets = {VarSet(3): 1, VarSet(1): -1, VarSet(2): -1}
    dof = free_parameters(change, rows.n_levels)
    pair = Evidence(VarSet(3), ((0, 1),), change, nats, dof, rows.n_rows)
    log_ps = Significance().on(sample).log_p_values([pair])
    assert log_ps is not None
    return log_ps[0]


def _rules_of(network: DecomposableMarkovNetwork, u: int, v: int) -> tuple[AdditiveRule, ...]:
    return tuple(each.rule for each in network.rules if {u, v} <= {*each.rule.variables})


def _with_history(network: DecomposableMarkovNetwork, story: LinkStory, link: tuple[int, int]) -> LinkStory:
    learned = network.learned
    assert learned is not None
    steps = [(n, e) for n, e in enumerate(learned.trace, 1) if e.action == "add" and link in e.links]
    submodels, turned_by = None, tuple[NamedSubmodel, ...]()
    if learned.submodels is not None:
        hiding = [s for s in learned.submodels if link in s.colored_links()]
        submodels = tuple(named_submodel(s, network.variables) for s in hiding)
        turning = [s for s in learned.submodels if s.kind == "interaction" and s.turned == link]
        turned_by = tuple(named_submodel(s, network.variables) for s in turning)
    story = replace(
        story, submodels=submodels, turned_by=turned_by, single_link=link in single_link_part(learned.trace)
    )
    if not steps:
        return story
    step, entry = steps[-1]
    others = tuple((network.variables[a], network.variables[b]) for a, b in entry.links if (a, b) != link)
    chance = None if learned.n_rows is None else expected_gain(entry.dof, learned.n_rows)
    filled = link in entry.fill_in
    return replace(story, step=step, entry=entry, together_with=others, is_fill_in=filled, by_chance=chance)


def _information(network: DecomposableMarkovNetwork, u: int, v: int, given: tuple[int, ...]) -> float:
    """Return I(u; v | given) in nats, of variables anywhere in the network."""
    inference = network.inference
    nothing = Observed(np.full((len(network.variables), 1), -1, dtype=np.int64))

    def entropy(variables: tuple[int, ...]) -> float:
        if not variables:
            return 0.0
        chances = np.exp(inference.joint(nothing, variables)).reshape(-1)
        chances = chances[chances > 0]
        return float(-(chances * np.log(chances)).sum())

    total = entropy((u, *given)) + entropy((v, *given)) - entropy((u, v, *given)) - entropy(given)
    return max(total, 0.0)


def _separator(network: DecomposableMarkovNetwork, u: int, v: int) -> int:
    """Return the neighbours of u that a path from v can reach: they separate the two."""
    neighbours = network.graph.neighbours
    near = neighbours[u]
    reached = frontier = 1 << v
    while frontier:
        spread = 0
        for w in members(frontier):
            spread |= neighbours[w]
        frontier = spread & ~reached & ~(1 << u)
        reached |= frontier
        frontier &= ~near
    return reached & near


def why_answer(
    network: DecomposableMarkovNetwork, asked: str, given: Given | None = None, likely: Likely | None = None
) -> AnswerStory:
    """Answer :meth:`DecomposableMarkovNetwork.why_answer`."""
    v = number_of(network, asked)
    evidence = evidence_of(network, given, likely)
    check_possible(network, evidence, network.inference.joint(evidence, ())[0])
    items = [*np.flatnonzero(evidence.codes[:, 0] >= 0).tolist(), *sorted(evidence.weights)]
    n = len(items)
    if n <= MOST_SHARED:
        subsets = [frozenset(chosen) for size in range(n + 1) for chosen in combinations(items, size)]
    else:
        everything = frozenset(items)
        one_by_one = [part for item in items for part in (frozenset({item}), everything - {item})]
        subsets = [frozenset(), everything, *one_by_one]
    answers = _answers(network, v, evidence, subsets)
    effects = tuple(_effect(network, evidence, answers, items, item) for item in items)
    before, after = answers[frozenset()], answers[frozenset(items)]
    return AnswerStory(asked, network.levels[v], tuple(before.tolist()), tuple(after.tolist()), effects)


Answers = dict[frozenset[int], NDArray[np.float64]]


def _answers(
    network: DecomposableMarkovNetwork, v: int, evidence: Observed, subsets: list[frozenset[int]]
) -> Answers:
    """Return the distribution of a variable given each subset of the evidence, one batch per soft part."""
    by_soft: dict[frozenset[int], list[frozenset[int]]] = {}
    for subset in subsets:
        by_soft.setdefault(subset.intersection(evidence.weights), []).append(subset)
    answers: Answers = {}
    for soft, rows in by_soft.items():
        codes = np.full((len(network.variables), len(rows)), -1, dtype=np.int64)
        for place, subset in enumerate(rows):
            for item in subset - soft:
                codes[item, place] = evidence.codes[item, 0]
        weights = {item: evidence.weights[item] for item in soft}
        answers.update(
            zip(rows, normalised(network.inference.joint(Observed(codes, weights), [v])), strict=True)
        )
    return answers


def _effect(
    network: DecomposableMarkovNetwork, evidence: Observed, answers: Answers, items: list[int], item: int
) -> EvidenceEffect:
    others = frozenset(items) - {item}
    share = None
    if len(items) <= MOST_SHARED:
        share = tuple(_share(answers, sorted(others), item))
    code = int(evidence.codes[item, 0])
    return EvidenceEffect(
        network.variables[item],
        network.levels[item][code] if code >= 0 else None,
        tuple(answers[frozenset({item})].tolist()),
        tuple(answers[others].tolist()),
        share,
    )


def _share(answers: Answers, others: list[int], item: int) -> list[float]:
    """Return the Shapley value of an item, level by level: its mean effect over all orders of the evidence."""
    n = len(others) + 1
    terms = []
    for size in range(n):
        weight = factorial(size) * factorial(n - size - 1) / factorial(n)
        for before in combinations(others, size):
            change = answers[frozenset({*before, item})] - answers[frozenset(before)]
            terms.append(weight * change)
    return [fsum(column) for column in zip(*(term.tolist() for term in terms), strict=True)]
