"""The weights of all hypotheses of a search sum to at most one."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, exp, fsum, inf, log

import pytest
from hypothesis import given, settings

from tests.examples import some
from tests.strategies import chordal_graphs
from xordal.graph.chain import additions
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import change
from xordal.statistics.weights import RULES, Weights
from xordal.types.varsets import Link, SignedSets, varset


def chordal_graphs_over(n: int) -> list[ChordalGraph]:
    pairs = list(combinations(range(n), 2))
    found = []
    for mask in range(1 << len(pairs)):
        links = tuple(pair for place, pair in enumerate(pairs) if mask >> place & 1)
        if additions(ChordalGraph.empty(n), links) is not None:
            found.append(ChordalGraph.empty(n).add(links))
    return found


def shape(links: tuple[Link, ...], changed: SignedSets) -> tuple[int, int, int]:
    ends = varset(v for link in links for v in link)
    everything = 0
    for variables in changed:
        everything |= variables
    return ends.bit_count(), len(links), (everything & ~ends).bit_count()


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("max_links", [1, 3, 6])
def test_the_weights_of_every_change_sum_to_at_most_one(n: int, max_links: int) -> None:
    weights = Weights(n, max_links, max_links + 1)
    plain: dict[frozenset[tuple[int, int]], float] = {}
    filled: dict[frozenset[tuple[int, int]], float] = {}
    for graph in chordal_graphs_over(n):
        for size in range(2, n + 1):
            for W in combinations(range(n), size):
                links = graph.missing_links(varset(W))
                chain = additions(graph, links) if links else None
                if chain is None or len(links) > max_links:
                    continue
                changed = change(chain)
                sizes = shape(links, changed)
                plain[frozenset(changed.items())] = exp(weights.log_weight(*sizes))
        missing = [pair for pair in combinations(range(n), 2) if pair not in set(graph.links)]
        for count in range(2, 4 if n < 5 else 3):
            for links in combinations(missing, count):
                chain = additions(graph, links)
                if chain is not None:
                    changed = change(chain)
                    sizes = shape(links, changed)
                    filled[frozenset(changed.items())] = exp(weights.log_weight(*sizes, is_filled=True))
    assert 0 < fsum(plain.values()) <= 0.9
    assert fsum(plain.values()) + fsum(filled.values()) + RULES <= 1
    assert fsum(filled.values()) <= 0.05


@given(chordal_graphs(max_vertices=7))
@settings(max_examples=some(50))
def test_a_legal_candidate_within_the_bounds_has_a_weight(graph: ChordalGraph) -> None:
    weights = Weights(graph.n_vertices, 6, 4)
    for W in combinations(range(graph.n_vertices), min(4, graph.n_vertices)):
        links = graph.missing_links(varset(W))
        chain = additions(graph, links) if links else None
        if chain is not None:
            assert -inf < weights.log_weight(*shape(links, change(chain))) < 0


def test_half_of_all_is_for_single_links_and_less_for_each_further_variable() -> None:
    weights = Weights(20, 3, 4)  # kinds (i, m): (1, 2), (2, 3), (3, 3), (3, 4)
    total = 1 / 2 + 1 / 16 + 3 / 16 + 1 / 96
    assert exp(weights.log_weight(3, 3, 0)) == pytest.approx(0.9 * 3 / 16 / total / comb(20, 3) * 3 / 4)
    assert exp(weights.log_weight(3, 2, 0)) == pytest.approx(0.9 / 16 / total / comb(20, 3) / 3 * 3 / 4)
    assert exp(weights.log_weight(4, 3, 0)) == pytest.approx(0.9 / 96 / total / comb(20, 4) / 20 * 4 / 5)
    assert exp(weights.log_weight(2, 1, 2)) == pytest.approx(
        0.9 / 2 / total / comb(20, 2) / comb(18, 2) * 2 / 27
    )


@pytest.mark.parametrize("n", [3, 6, 20])
def test_asking_further_costs_at_most_a_factor_of_two(n: int) -> None:
    bounds = [(k, k + 1) for k in range(1, 7)] + [(comb(m, 2), m) for m in range(2, 9)]
    for few, many in product(bounds, repeat=2):
        if few[0] > many[0] or few[1] > many[1]:
            continue
        near, far = Weights(n, *few), Weights(n, *many)
        for m in range(2, min(few[1], n) + 1):
            for i in range(m - 1, min(few[0], comb(m, 2)) + 1):
                price = near.log_weight(m, i, 0) - far.log_weight(m, i, 0)
                assert -1e-12 <= price <= log(2)


def test_two_endpoints_are_always_plain_and_leave_the_share_of_rules() -> None:
    for max_links, max_variables in ((1, 2), (3, 4), (10, 5)):
        weights = Weights(12, max_links, max_variables)
        assert weights.log_weight(2, 1, 3) > -inf
        assert weights.log_weight(2, 1, 3, is_filled=True) == -inf
    # All numbers of endpoints and links of sets with fill-in, without context: what is left is that of rules.
    n, weights = 9, Weights(9, 3, 4)
    total = fsum(
        comb(n, m) * comb(comb(m, 2), i) * 2 ** (comb(m, 2) - i)  # endpoints, links, other links or not
        * exp(weights.log_weight(m, i, 0, is_filled=True))
        * fsum((m + 1.0) ** -s for s in range(n - m + 1))  # one over the probability of no context
        for m in range(2, n + 1) for i in range(1, comb(m, 2) + 1)
    )  # fmt: skip
    assert total == pytest.approx(0.05 * (1 - 2.0 ** (2 - n)))


def test_what_lies_beyond_the_bounds_of_the_search_shares_with_fill_in() -> None:
    weights = Weights(20, 3, 3)
    for m, i in ((4, 3), (4, 6), (5, 7)):
        assert weights.log_weight(m, i, 1) == weights.log_weight(m, i, 1, is_filled=True)
    assert weights.log_weight(3, 3, 0) > weights.log_weight(3, 3, 0, is_filled=True)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_what_is_shown_passes_on_no_more_than_its_weight(n: int) -> None:
    weights = Weights(n, 6, 4)
    passed_on: dict[tuple[int, ...], dict[frozenset[tuple[int, int]], float]] = {}
    for graph in chordal_graphs_over(n):
        for size in range(2, min(n, 5)):
            for joined in combinations(range(n), size):
                if graph.missing_links(varset(joined)):
                    continue
                for x in set(range(n)) - set(joined):
                    links = tuple(sorted((min(x, v), max(x, v)) for v in joined))
                    chain = None if set(links) & set(graph.links) else additions(graph, links)
                    if chain is not None:
                        m, _, s = shape(links, change(chain))
                        some = passed_on.setdefault(joined, {})
                        some[frozenset(change(chain).items())] = exp(weights.log_passed_on(m, s))
    assert passed_on
    for joined, some in passed_on.items():
        own = exp(weights.log_weight(len(joined), comb(len(joined), 2), 0))
        assert 0 < fsum(some.values()) <= own * (1 + 1e-12)


def test_sets_that_the_search_cannot_meet_pass_nothing_on() -> None:
    assert Weights(12, 3, 4).log_passed_on(4, 0) > -inf  # three columns have three links
    assert Weights(12, 3, 4).log_passed_on(5, 0) == -inf  # four have six
    assert Weights(12, 6, 3).log_passed_on(5, 0) == -inf
    assert Weights(4, 6, 4).log_passed_on(3, 2) == -inf  # there are no so many columns
