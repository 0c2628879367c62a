"""Local search and the best network of all against brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb, fsum, inf, lgamma, log, prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.examples import some
from tests.exhaustive import everything
from tests.oracle.plain import Moves, best_sequence, plain_search
from tests.strategies import chordal_graphs, tables
from xordal import BIC, EBIC, BDeu, CategoricalTable, Constraints, Limits, learn, read_table
from xordal.counting.exact import ExactOracle
from xordal.counting.oracle import CachedOracle
from xordal.graph.chordal import ChordalGraph, is_chordal, linked
from xordal.graph.junction_tree import maximal_cliques
from xordal.graph.moves import way, waypoint_of
from xordal.search.constraints import ALL_ALLOWED, Allowed, allowed_by
from xordal.search.passes import passes
from xordal.search.problem import Problem
from xordal.search.refine.local import LocalSearch
from xordal.search.refine.optimum import best_graph
from xordal.search.schedule import Schedule
from xordal.search.sources.around import BY_COMPONENT, HeldSets
from xordal.statistics.criterion import Evidence, Shape, Verdict
from xordal.types.trace import Trace, links_after
from xordal.types.varsets import Link, VarSet, members

Score = BIC | EBIC | BDeu
NO_CONSTRAINTS, NO_LIMITS = Constraints(), Limits()
scores: st.SearchStrategy[Score] = st.one_of(
    st.builds(BIC, st.sampled_from([0.2, 1.0])),
    st.builds(EBIC, st.sampled_from([0.1, 0.5])),
    st.builds(BDeu, st.sampled_from([0.5, 1.0, 8.0])),
)


def set_scores(table: CategoricalTable, criterion: Score) -> list[float]:
    """Return what every variable set adds to the score, by the formulas, from the rows."""
    n, columns = table.n_rows, table.n_variables
    rows = Counter(map(tuple, table.rows()))  # most rows come many times
    found = []
    for s in range(1 << columns):
        inside = members(s)
        own: Counter[tuple[object, ...]] = Counter()
        for row, n_times in rows.items():
            own[tuple([row[v] for v in inside])] += n_times
        counts = own.values()
        cells = prod(table.n_levels[v] for v in inside)
        if isinstance(criterion, BDeu):
            ess = criterion.ess
            of_cells = fsum(lgamma(ess / cells + c) - lgamma(ess / cells) for c in counts)
            found.append(lgamma(ess) - lgamma(ess + n) + of_cells)
            continue
        penalty = (cells - 1) * log(n) / 2 * (criterion.penalty if isinstance(criterion, BIC) else 1.0)
        if isinstance(criterion, EBIC):
            penalty += 2 * criterion.gamma * log(columns) * comb(len(inside), 2)
        found.append(fsum(c * log(c / n) for c in counts) - penalty)
    return found


def random_table(seed: int) -> CategoricalTable:
    """Return rows of a random joint distribution, or of a random network, over 3 to 6 columns."""
    generator = np.random.default_rng(seed)
    n, n_rows = int(generator.integers(3, 7)), int(generator.choice([30, 100, 500, 3000]))
    columns: list[NDArray[np.int64]] = []
    if seed % 2:
        levels = generator.integers(2, 4, n)
        shares = generator.gamma(float(generator.choice([0.2, 0.5, 1.0, 3.0])), size=int(np.prod(levels)))
        cells = generator.choice(len(shares), size=n_rows, p=shares / shares.sum())
        columns = list(np.unravel_index(cells, tuple(levels.tolist())))
    else:
        for v in range(n):
            parents = generator.permutation(v)[: generator.integers(0, 4)]
            shares = generator.beta(0.5, 0.5, size=1 << len(parents))
            cell = sum((columns[u] << i for i, u in enumerate(parents)), start=np.zeros(n_rows, dtype=np.int64))
            columns.append((generator.random(n_rows) < shares[cell]).astype(np.int64))
    return CategoricalTable.from_columns({f"v{v}": column.tolist() for v, column in enumerate(columns)})


def assert_optimal(table: CategoricalTable, criterion: Score) -> None:
    every, worth = everything(table.n_variables), set_scores(table, criterion)
    best = every.scores(worth).max()
    learned = every.score(learn(table, criterion=criterion).links, worth)
    assert learned == pytest.approx(best, rel=1e-12, abs=1e-7)


@pytest.mark.slow
@settings(max_examples=some(100))
@given(tables(max_variables=6), scores)
def test_up_to_six_columns_the_best_network_of_all_is_learned(
    table: CategoricalTable, criterion: Score
) -> None:
    assert_optimal(table, criterion)


@pytest.mark.slow
@settings(max_examples=some(100))
@given(st.integers(0, 10**9), scores)
def test_the_best_network_of_random_distributions_is_learned(seed: int, criterion: Score) -> None:
    assert_optimal(random_table(seed), criterion)


OPTIMA = {
    "reinis__gRbase": ["mental phys", "smoke phys protein", "smoke systol protein", "family"],
    "lizard__gRbase": ["diam species", "height species"],
    "UCBAdmissions__datasets": ["Admit Dept", "Gender Dept"],
    "HairEyeColor__datasets": ["Hair Eye", "Sex"],
    "PreSex__vcd": ["MaritalStatus ExtramaritalSex PremaritalSex", "PremaritalSex Gender"],
    "Titanic__datasets": ["Class Sex Survived", "Class Age Survived"],
    "DaytonSurvey__vcdExtra": ["cigarette alcohol marijuana", "alcohol race", "sex"],
}


@pytest.mark.parametrize("name", OPTIMA)
def test_real_tables(real_data: Path, name: str) -> None:
    """The optima stand in the literature, or were found by exhaustive search; here that is done again."""
    table = read_table(real_data / "loglinear" / f"{name}.csv", weights="Freq")
    learned = learn(table, criterion=BIC())
    assert {frozenset(learned.names(c)) for c in learned.cliques} == {
        frozenset(c.split()) for c in OPTIMA[name]
    }
    assert_optimal(table, BIC())


def bic_of(table: CategoricalTable, links: Sequence[Link]) -> float:
    from xordal.graph.signed_sets import signed_sets

    worth = set_scores(table, BIC())
    graph = ChordalGraph.empty(table.n_variables).add(links)
    return fsum(sign * worth[s] for s, sign in signed_sets(graph).items())


def test_the_scores_of_real_tables(real_data: Path) -> None:
    """Reinis: -6730.61 without local search. Rochdale: -2697.58 was the best of 60 restarts."""
    reinis, rochdale = (
        read_table(real_data / "loglinear" / f"{name}.csv", weights="Freq")
        for name in ("reinis__gRbase", "Rochdale__vcd")
    )
    greedy, local = (learn(reinis, criterion=BIC(), local_search=on).links for on in (False, True))
    assert bic_of(reinis, greedy) == pytest.approx(-6730.61, abs=0.005)
    assert bic_of(reinis, local) == pytest.approx(-6726.80, abs=0.005)
    assert bic_of(rochdale, learn(rochdale, criterion=BIC()).links) >= -2697.585


def same_trace_as_plain(
    table: CategoricalTable,
    k: int,
    criterion: Score,
    constraints: Constraints = NO_CONSTRAINTS,
    limits: Limits = NO_LIMITS,
    *,
    by_kernels: bool = False,
) -> Trace:
    """Compare the sequences alone: the way to the optimum is checked by its score."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xordal.search.refine.local._EXACT", 0)
        if by_kernels:
            patch.setattr(LocalSearch, "_is_worth_kernels", kernels_always)
            patch.setattr(HeldSets, "_are_kernels_used", lambda held: held._holding is BY_COMPONENT)
        fast = learn(
            table, max_links=k, criterion=criterion, constraints=constraints, limits=limits, find_rules=False
        )
    allowed = allowed_by(table.names, constraints, limits)
    plain = plain_search(
        table, Schedule("printed", k), criterion, allowed=allowed, fill_in=True, prune=True, local=True
    )
    assert fast.trace == plain.trace
    assert fast.run.graphs_tested == plain.graphs_tested
    steps = passes(fast.trace, Schedule("printed", k), table.n_variables)
    if comb(table.n_variables, 2) >= comb(k + 1, 2) + len(fast.links):
        assert sum(step.steps for step in steps) == fast.run.graphs_tested
    return fast.trace


@settings(max_examples=some(60))
@given(tables(max_variables=5), st.integers(1, 3), scores, st.booleans())
def test_same_trace_as_trying_every_sequence(
    table: CategoricalTable, k: int, criterion: Score, by_kernels: bool
) -> None:
    same_trace_as_plain(table, k, criterion, by_kernels=by_kernels)


@settings(max_examples=some(40))
@given(st.integers(0, 10**9), scores, st.data())
def test_same_trace_with_constraints(seed: int, criterion: Score, data: st.DataObject) -> None:
    table = random_table(seed)
    pair = st.sampled_from(list(combinations(table.names, 2)))
    required = data.draw(st.lists(pair, max_size=2, unique=True))
    forbidden = data.draw(st.lists(pair.filter(lambda one: one not in required), max_size=2, unique=True))
    constraints = Constraints(required, forbidden)
    limits = Limits(max_clique=data.draw(st.sampled_from([None, 3, 4])))
    same_trace_as_plain(table, 1, criterion, constraints, limits)


class Given:
    """A judge that knows what each variable set is worth, and nothing else."""

    def __init__(self, worth: Callable[[VarSet], float]) -> None:
        self._worth = worth

    def judge(self, batch: Sequence[Evidence]) -> list[Verdict]:
        ranks = [fsum(sign * self._worth(s) for s, sign in e.change.items()) for e in batch]
        return [Verdict(rank, rank > 0) for rank in ranks]

    def tolerance(self, best: float) -> float:
        return 1e-9 * max(1.0, abs(best))

    def ceiling(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full(np.shape(gains), inf)

    def highest(self, batch: Sequence[Evidence]) -> list[float]:
        return [inf] * len(batch)

    def least_gain(self, shape: Shape) -> float:
        return 0.0

    def log_p_values(self, batch: Sequence[Evidence]) -> None:
        return None

    def depends(self, batch: Sequence[Evidence], n_tests: int | None = None) -> list[bool]:
        raise NotImplementedError


def random_problem(n: int, seed: int, spread: float, allowed: Allowed = ALL_ALLOWED) -> Problem:
    """Return a problem in which sets are worth minus their links, and random numbers."""
    known: dict[VarSet, float] = {}

    def worth(s: VarSet) -> float:
        if s not in known:
            noise = np.random.default_rng([seed, s]).normal()
            known[s] = 0.0 if s.bit_count() < 2 else -comb(s.bit_count(), 2) + spread * noise
        return known[s]

    oracle = CachedOracle(ExactOracle(np.full((2,) * n, 2.0**-n)))
    return Problem(oracle, None, Given(worth), (2,) * n, 100, None, allowed)  # type: ignore[arg-type]


@settings(max_examples=some(60))
@given(chordal_graphs(min_vertices=3, max_vertices=6), st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 2.0]))
def test_every_sequence_that_can_improve_is_found(graph: ChordalGraph, seed: int, spread: float) -> None:
    """From any graph, step by step to the end: looking around moves misses none of all sequences."""
    compare_steps(graph, seed, spread)


larger = given(
    chordal_graphs(min_vertices=7, max_vertices=8), st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 2.0])
)


@pytest.mark.slow
@settings(max_examples=some(15))
@larger
def test_every_sequence_is_found_in_larger_graphs(graph: ChordalGraph, seed: int, spread: float) -> None:
    compare_steps(graph, seed, spread)


@pytest.mark.long
@settings(max_examples=some(100))
@larger
def test_every_sequence_is_found_in_many_larger_graphs(graph: ChordalGraph, seed: int, spread: float) -> None:
    compare_steps(graph, seed, spread)


@settings(max_examples=some(40))
@given(chordal_graphs(min_vertices=3, max_vertices=6), st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 2.0]))
def test_kernels_find_every_sequence_that_can_improve(graph: ChordalGraph, seed: int, spread: float) -> None:
    compare_steps(graph, seed, spread, by_kernels=True)


def compare_steps(graph: ChordalGraph, seed: int, spread: float, *, by_kernels: bool = False) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xordal.search.refine.local._EXACT", 0)
        if by_kernels:
            patch.setattr(LocalSearch, "_is_worth_kernels", kernels_always)
        problem = random_problem(graph.n_vertices, seed, spread)
        local, known = LocalSearch(problem), Moves()
        for _ in range(12):
            moves = local.best(graph) or ()
            assert tuple(move.link for move in moves) == best_sequence(problem, graph, known=known)
            if not moves:
                return
            for move in moves:
                assert waypoint_of(graph).move(move.link) == move
                graph = ChordalGraph.of(waypoint_of(graph).after(move).neighbours)
                assert set(graph.components) == set(waypoint_of(graph).components)


def kernels_always(local: LocalSearch, graph: ChordalGraph) -> bool:
    local._compiled = local._compiled or local._for_kernels()
    return True


def grown_graph(n: int, generator: np.random.Generator) -> ChordalGraph:
    """Return a chordal graph in which each vertex is linked to a part of a clique of earlier ones."""
    cliques: list[list[int]] = [[0]]
    links: list[Link] = []
    for v in range(1, n):
        clique = cliques[generator.integers(len(cliques))]
        near = [u for u in clique if generator.random() < 0.7]
        links += [(u, v) for u in near]
        cliques.append([*near, v])
    order = generator.permutation(n).tolist()
    return ChordalGraph.empty(n).add([(min(order[u], order[v]), max(order[u], order[v])) for u, v in links])


class NoEntropies:
    """An oracle for judges that do not ask what was gained."""

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        return np.zeros(len(sets))


def tried(problem: Problem, graph: ChordalGraph, *, by_kernels: bool) -> tuple[object, ...]:
    """Return the moves that are found, how many were told of by length, and what all of them are worth."""
    told: Counter[int] = Counter()
    local = LocalSearch(problem)
    local._on_block = lambda length, n_moves: told.update({length: n_moves})
    if by_kernels:
        kernels_always(local, graph)
    moves = (local._by_kernels if by_kernels else local._plainly)(waypoint_of(graph))
    return moves, told, local._ranks


@pytest.mark.parametrize("n", [9, 12, pytest.param(70, marks=pytest.mark.slow)])
def test_kernels_try_the_same_sequences(n: int) -> None:
    """Graphs of one word and of two, improved to the end; the same moves, the same scores, as often told of."""
    longest = 0
    for seed in range(1 if n == 70 else 4):
        generator = np.random.default_rng([seed, n])
        graph = grown_graph(n, generator)
        allowed = ALL_ALLOWED
        if seed % 2:
            absent = [pair for pair in combinations(range(n), 2) if pair not in set(graph.links)]
            barred = tuple(absent[at] for at in generator.integers(len(absent), size=n // 3).tolist())
            allowed = Allowed(graph.links[:2], (), tuple(map(VarSet, linked([0] * n, barred))), 5)
        problem = random_problem(4, seed, float(generator.choice([1.0, 2.0])), allowed)
        problem = replace(problem, oracle=NoEntropies(), n_levels=(2,) * n)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LocalSearch, "_is_worth_kernels", kernels_always)
            local, graphs = LocalSearch(problem), [graph]
            while moves := local.best(graphs[-1]):
                at = waypoint_of(graphs[-1])
                for move in moves:
                    at = at.after(move)
                graphs.append(ChordalGraph.of(at.neighbours))
        for graph in {graphs[0], graphs[-2], graphs[-1]}:
            plain, compiled = (tried(problem, graph, by_kernels=which) for which in (False, True))
            assert plain == compiled
            longest = max(longest, *plain[1])  # type: ignore[misc]
    assert longest == 3


@settings(max_examples=some(60))
@given(st.integers(1, 5), st.integers(0, 10**6), st.data())
def test_the_best_of_all_chordal_graphs(n: int, seed: int, data: st.DataObject) -> None:
    """Links that are required or forbidden, and cliques that may not be large, included."""
    worth = np.random.default_rng(seed).normal(size=1 << n) * 5
    worth[[0, *(1 << v for v in range(n))]] = 0.0
    pairs = list(combinations(range(n), 2))
    required = tuple(sorted(data.draw(st.sets(st.sampled_from(pairs), max_size=3)))) if pairs else ()
    if not is_chordal(linked([0] * n, required)):
        return
    forbidden = data.draw(st.sets(st.sampled_from(pairs), max_size=2)) - set(required) if pairs else set()
    largest = max(c.bit_count() for c in maximal_cliques(ChordalGraph.empty(n).add(required)))
    most = data.draw(st.sampled_from([inf, max(2, largest)]))
    masks = tuple(map(VarSet, linked([0] * n, forbidden)))
    ruled = Allowed(required, (), masks if forbidden else (), most)
    allowed = [
        score
        for links, score in zip(everything(n).links, everything(n).scores(worth), strict=True)
        if set(required) <= set(links)
        and not set(links) & forbidden
        and all(c.bit_count() <= most for c in maximal_cliques(ChordalGraph.empty(n).add(links)))
    ]
    ruled_out = [
        s.bit_count() > 1 and not (ruled.may_complete(VarSet(s)) and s.bit_count() <= most)
        for s in range(1 << n)
    ]
    links, score = best_graph(np.where(ruled_out, -inf, worth), ruled)
    assert score == pytest.approx(max(allowed))
    assert everything(n).score(links, worth) == pytest.approx(score)
    assert set(required) <= set(links)


@settings(max_examples=some(100))
@given(chordal_graphs(max_vertices=8), chordal_graphs(max_vertices=8))
def test_there_is_a_way_between_any_two_graphs(graph: ChordalGraph, goal: ChordalGraph) -> None:
    n = min(graph.n_vertices, goal.n_vertices)
    graph, goal = (
        ChordalGraph.empty(n).add([link for link in one.links if link[1] < n]) for one in (graph, goal)
    )
    at = waypoint_of(graph)
    for move in way(graph, goal.links):
        assert at.move(move.link) == move
        at = at.after(move)
        assert is_chordal(at.neighbours)
    assert at.neighbours == goal.neighbours


@pytest.mark.slow
def test_where_three_moves_are_not_enough() -> None:
    """The way to the optimum is one sequence, and the trace leads there."""
    lengths: list[int] = []
    for seed in range(200):
        table = random_table(seed)
        learned = learn(table, criterion=BIC())
        lengths.extend(entry.sequence for entry in learned.trace)
        assert links_after(learned.trace) == learned.links
    assert max(lengths) > 3
