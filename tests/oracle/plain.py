"""The plain engine: every pass enumerates and scores every variable set anew. For any criterion, and slow.

The library's engine is right when its trace equals this one's; for the paper's criterion this one's equals the
reference's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import comb, exp, fsum, inf, log, prod

import numpy as np

from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.oracle import CachedOracle
from xordal.counting.plain import CountingOracle, PlainScanner
from xordal.data.table import CategoricalTable
from xordal.graph.chordal import ChordalGraph, is_chordal, linked
from xordal.graph.fill_in import completions
from xordal.graph.junction_tree import maximal_cliques
from xordal.graph.separators import SeparatorPaths
from xordal.graph.signed_sets import free_parameters, signed_sets
from xordal.search.candidate import Candidate, addition, candidate, of_chain
from xordal.search.constraints import ALL_ALLOWED, Allowed
from xordal.search.problem import Judged, Problem, evidence, judge
from xordal.search.schedule import Position, Schedule
from xordal.statistics.chi_squared import log_tails
from xordal.statistics.criterion import Criterion, Evidence, Sample, Shape, Verdict
from xordal.statistics.oddness import SHARE, tail
from xordal.statistics.significance import Significance, SignificanceJudge
from xordal.types.trace import SearchRun, TraceEntry
from xordal.types.varsets import Link, LinkSet, VarSet, members, varset


def plain_search(
    table: CategoricalTable,
    schedule: Schedule,
    criterion: Criterion,
    *,
    max_variables: int | None = None,
    allowed: Allowed = ALL_ALLOWED,
    fill_in: bool = False,
    prune: bool = False,
    local: bool = False,
) -> SearchRun:
    """Carry a schedule out, testing everything in every pass."""
    counter = NumpyCounter(table)
    oracle = CachedOracle(CountingOracle(counter, table.n_levels))
    k = schedule.max_links
    if isinstance(criterion, Significance):
        allowed = allowed.with_copies(table.n_variables, copies_by_the_letter(table))
    sample = Sample(table.n_levels, table.n_rows, counter, k, max_variables or k + 1)
    problem = Problem(
        oracle,
        PlainScanner(oracle, table.n_levels),
        criterion.on(sample),
        table.n_levels,
        table.n_rows,
        max_variables,
        allowed,
        fill_in,
    )
    run = _Run(problem, schedule, prune, local, max_variables or k + 1)
    run.carry_out()
    while isinstance(criterion, Significance) and (
        higher := criterion.next_judge(run.problem.judge, run.trace, table.n_variables)
    ):
        run.problem = run.problem.at(higher)
        run.to_the_end()
    return SearchRun(tuple(run.trace), run.graphs_tested, run.n_scored, run.n_scored)


def copies_by_the_letter(table: CategoricalTable) -> LinkSet:
    """Return each column whose levels go one to one with those of an earlier one, behind the first such."""
    found: dict[int, int] = {}
    for u, v in combinations(range(table.n_variables), 2):
        pairs = set(zip(table.codes[u].tolist(), table.codes[v].tolist(), strict=True))
        is_one_to_one = len(pairs) == table.n_levels[u] == table.n_levels[v]
        if is_one_to_one and 1 < len(pairs) < table.n_rows and u not in found:
            found.setdefault(v, u)
    return tuple(sorted((u, v) for v, u in found.items()))


class _Run:
    """A search in progress."""

    def __init__(self, problem: Problem, schedule: Schedule, prune: bool, local: bool, largest: int) -> None:
        self.problem = problem
        self.schedule = schedule
        self.prune = prune
        self.local = local
        self.largest = largest
        self.graph = ChordalGraph.empty(len(problem.n_levels))
        self.trace: list[TraceEntry] = []
        self.graphs_tested = self.n_scored = 0

    def carry_out(self) -> None:
        allowed = self.problem.allowed
        if allowed.required:
            start = addition(self.graph, tuple(sorted((*allowed.required, *allowed.fill_in))), allowed.fill_in)
            assert start is not None
            self.add(0, judge(self.problem, [start])[0])
        self.to_the_end()

    def to_the_end(self) -> None:
        self.forward()
        seen: list[LinkSet] = []
        while self.graph.links not in seen:
            seen.append(self.graph.links)
            if self.refine():
                self.forward()

    def forward(self) -> None:
        position: Position | None = self.schedule.start
        while position is not None and position.i <= max(1, self.graph.n_missing):
            modified = False
            while True:
                able = list(legal(self.problem, self.graph, position.i))
                scored = judged_by_pieces(self.problem, self.graph, able)
                self.n_scored += len(scored)
                self.graphs_tested += comb(self.graph.n_missing, position.i)
                if self.problem.fill_in:
                    n_filled, good = with_fill_in(self.problem, self.graph, position.i)
                    scored += good
                    self.n_scored += n_filled
                best = first_of_best(self.problem, scored)
                if best is None:
                    break
                self.add(position.i, best)
                modified = True
            position = self.schedule.after(position, modified)

    def add(self, i: int, best: Judged) -> None:
        e, n_tested = best.evidence, self.graphs_tested
        entry = TraceEntry("add", i, e.links, e.gain, e.dof, n_tested, e.fill_in, best.verdict.log_p_value)
        self.trace.append(entry)
        self.graph = self.graph.add(e.links)

    def refine(self) -> bool:
        """Take out one link, or make one sequence of moves, after the other; everything is tested anew."""
        modified = False
        while self.backward() or self.move():
            modified = True
        return modified

    def backward(self) -> bool:
        found = self.idlest() if self.prune else None
        if found is None:
            return False
        self.take_out(*found)
        return True

    def take_out(self, e: Evidence, log_p: float | None, sequence: int = 0) -> None:
        entry = TraceEntry("remove", 1, e.links, -e.gain, -e.dof, self.graphs_tested, (), log_p, sequence)
        self.trace.append(entry)
        self.graph = self.graph.without(e.links)

    def move(self) -> bool:
        """Make the best of the shortest sequences of up to three moves that improve the score."""
        links = best_sequence(self.problem, self.graph) if self.local else ()
        for link in links:
            flipped = flip(self.graph, link)
            assert flipped is not None
            (judged,) = judge(self.problem, [bringing(self.graph, flipped, link)])
            if link in self.graph.links:
                self.take_out(judged.evidence, None, len(links))
            else:
                self.add(1, judged)
                self.trace[-1] = replace(self.trace[-1], sequence=len(links))
        return bool(links)

    def idlest(self) -> tuple[Evidence, float | None] | None:
        allowed, judging = self.problem.allowed, self.problem.judge
        idle: list[tuple[float, Evidence, float | None]] = []
        for link in set(self.graph.links) - {*allowed.required, *allowed.fill_in}:
            without = flip(self.graph, link)
            if without is None:
                continue
            (found,) = judge(self.problem, [bringing(self.graph, without, link)])
            if judging.depends([found.evidence])[0] or self.is_needed(link):
                continue
            log_ps = judging.log_p_values([found.evidence])
            strength = found.verdict.rank if log_ps is None else -log_ps[0]
            idle.append((strength, found.evidence, None if log_ps is None else log_ps[0]))
        if not idle:
            return None
        lowest = min(strength for strength, _, _ in idle)
        tied = [item for item in idle if item[0] <= lowest + judging.tolerance(lowest)]
        _, evidence, log_p = min(tied, key=lambda item: item[1].links)
        return evidence, log_p

    def is_needed(self, link: Link) -> bool:
        """By the letter: a set of pairwise linked variables, the link in it, with a pair hidden from view."""
        everything = range(self.graph.n_vertices)
        for size in range(3, self.largest + 1):
            for group in combinations(everything, size):
                is_clique = all(self.graph.neighbours[u] >> v & 1 for u, v in combinations(group, 2))
                if set(link) <= set(group) and is_clique:
                    for pair in combinations(group, 2):
                        rest = VarSet(varset(group) & ~varset(pair))
                        shown, alone = self.given(pair, rest), self.given(pair, VarSet(0))
                        judging = self.problem.judge
                        if judging.depends([shown])[0] and not judging.depends([alone], 1)[0]:
                            return True
                    pairs = [self.given(pair, VarSet(0)) for pair in combinations(group, 2)]
                    if not all(judging.depends(pairs, 1)) and self.would_come(varset(group)):
                        return True
        return False

    def would_come(self, group: VarSet) -> bool:
        """Whether a set would be linked, were it not linked at all, by what only all of it shows."""
        empty = ChordalGraph.empty(self.graph.n_vertices)
        found = candidate(empty, group)
        assert found is not None
        (judged,) = judged_by_pieces(self.problem, empty, [found])
        verdict = judged.verdict
        return verdict.is_accepted and verdict.is_joint

    def given(self, pair: Link, rest: VarSet) -> Evidence:
        x, y = (varset([v]) for v in pair)
        terms = {
            VarSet(rest | x | y): 1,
            VarSet(rest | x): -1,
            VarSet(rest | y): -1,
            **({rest: 1} if rest else {}),
        }
        return judge(self.problem, [Candidate(varset(pair), (pair,), terms)])[0].evidence


def judged_by_pieces(problem: Problem, graph: ChordalGraph, able: list[Candidate]) -> list[Judged]:
    """Judge candidates by the letter: by significance, their p-value is that of their least needed piece."""
    every = judge(problem, able)
    if not isinstance(problem.judge, SignificanceJudge):
        return every
    return [by_its_pieces(problem, graph, *both) for both in zip(able, every, strict=True)]


def by_its_pieces(problem: Problem, graph: ChordalGraph, found: Candidate, whole: Judged) -> Judged:
    """Judge a candidate by its least needed piece.

    A piece is a component of the graph between the variables of the set. Its part is what is to be added to any
    largest chordal graph that has no link of the piece among those that are missing. Where all variables have
    two levels, no context and two pieces at least, odd cells are the second test; both share the weight.
    """
    assert isinstance(problem.judge, SignificanceJudge)
    parts = []
    for piece in pieces_of(graph, found.variables):
        others = [link for link in found.links if not set(link) & piece]
        able = [set(some) for some in subsets(others) if is_chordal(linked(graph.neighbours, some))]
        for kept in able:
            if not any(kept < other for other in able):
                parts.append(between(problem, graph.add(kept), graph.add(found.links), found.variables))
    level = level_of(problem, graph, found)
    by_parts = least_needed(problem, parts, level)
    levels = [problem.n_levels[v] for v in members(found.variables)]
    n_pieces = len(pieces_of(graph, found.variables))
    if found.n_context or len(levels) < 3 or set(levels) != {2} or n_pieces < 2:
        return whole._replace(verdict=by_parts)
    assert by_parts.log_p_value is not None
    odd = by_odd_cells(problem, graph, found, whole.evidence) - log(SHARE)
    log_p = min(by_parts.log_p_value - log(1 - SHARE), odd, 0.0)
    return whole._replace(verdict=Verdict(-log_p, log_p <= level, log_p, odd <= level))


def by_odd_cells(problem: Problem, graph: ChordalGraph, found: Candidate, whole: Evidence) -> float:
    """Return the log p-value of odd cells: where the odd rows of each piece lie among the cells of the rest."""
    assert isinstance(problem.judge, SignificanceJudge) and whole.n_rows is not None
    (table,) = problem.judge._law.tables([found.variables])
    place = {v: at for at, v in enumerate(members(found.variables))}
    log_ps = [log_tails([2 * whole.n_rows * whole.gain], [1.0])[0]]
    for piece in pieces_of(graph, found.variables):
        own = [place[v] for v in sorted(piece)]
        rest = [at for at in range(len(place)) if at not in own]
        rows, odd = np.zeros((1, 2 ** len(rest))), np.zeros((1, 2 ** len(rest)))
        for cell, count in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
            at = int("".join(str(cell[v]) for v in rest), 2)
            rows[0, at] += count
            odd[0, at] += count * (sum(cell[v] for v in own) % 2)
        log_ps.append(float(tail(rows, odd)[0]))
    return max(log_ps)


def judged_with_fill_in(
    problem: Problem, graph: ChordalGraph, after: ChordalGraph, found: Candidate
) -> Verdict:
    """Judge the own links of a set that is completed with fill-in; ``after`` is the graph with all of them."""
    (own,) = judge(problem, [found])
    if not isinstance(problem.judge, SignificanceJudge):
        return own.verdict
    parts = [own.evidence]
    its_pieces = pieces_of(graph, found.variables)
    has_parts = any(not set(link) & piece for piece in its_pieces for link in found.links)
    for piece in its_pieces if has_parts else []:
        its_own = [link for link in found.links if set(link) & piece]
        able = [set(some) for some in subsets(its_own) if flipped(after, some) is not None]
        for gone in able:
            before = flipped(after, gone)
            if gone and before is not None and not any(gone < other for other in able):
                parts.append(between(problem, before, after, found.variables))
    return least_needed(problem, parts, problem.judge._levels.own(own.evidence.shape))


def level_of(problem: Problem, graph: ChordalGraph, found: Candidate) -> float:
    """Return the level of a set that comes as it is: by itself, and what the columns that it joins pass on."""
    assert isinstance(problem.judge, SignificanceJudge)
    levels, n = problem.judge._levels, found.variables.bit_count()
    weight = exp(levels._log_weight(n, len(found.links), found.n_context))
    for x in members(found.variables):
        others = VarSet(found.variables & ~varset([x]))
        is_joining = all(
            (link in graph.links) == (x not in link) for link in combinations(members(found.variables), 2)
        )
        if n > 2 and is_joining and levels._passes_on and is_shown(problem, others):
            weight += exp(levels._log_passed_on(n, found.n_context))
    return levels.log_alpha + log(weight)


def is_shown(problem: Problem, variables: VarSet) -> bool:
    """Whether a set would be linked, were there no link at all."""
    empty = ChordalGraph.empty(len(problem.n_levels))
    found = candidate(empty, variables)
    assert found is not None
    (judged,) = judged_by_pieces(problem, empty, [found])
    return judged.verdict.is_accepted


def least_needed(problem: Problem, parts: list[Evidence], level: float) -> Verdict:
    """Return the verdict by the largest p-value of some parts."""
    assert isinstance(problem.judge, SignificanceJudge)
    log_ps = problem.judge.log_p_values(parts)
    return Verdict(-max(log_ps), max(log_ps) <= level, max(log_ps))


def pieces_of(graph: ChordalGraph, variables: VarSet) -> list[set[int]]:
    chosen = members(variables)
    return [{chosen[v] for v in members(one)} for one in dict.fromkeys(graph.induced(chosen).components)]


def subsets(links: list[Link]) -> list[tuple[Link, ...]]:
    return [some for size in range(len(links) + 1) for some in combinations(links, size)]


def flipped(graph: ChordalGraph, links: set[Link] | tuple[Link, ...]) -> ChordalGraph | None:
    """Return the graph without some links, or None if it is not chordal."""
    return graph_of(linked([0] * graph.n_vertices, set(graph.links) - set(links)))


def between(problem: Problem, before: ChordalGraph, after: ChordalGraph, variables: VarSet) -> Evidence:
    """Return what the links gain that one graph has more than another."""
    old, new = signed_sets(before), signed_sets(after)
    gained = {s: new.get(s, 0) - old.get(s, 0) for s in old | new}
    links = tuple(sorted(set(after.links) - set(before.links)))
    return evidence(problem, [Candidate(variables, links, {s: c for s, c in gained.items() if c and s})])[0]


def flip(graph: ChordalGraph, link: Link) -> ChordalGraph | None:
    """Return the graph with one link more or less, or None if it is not chordal."""
    return graph_of(linked([0] * graph.n_vertices, set(graph.links) ^ {link}))


def graph_of(masks: list[int]) -> ChordalGraph | None:
    """Return the graph of some neighbour masks, or None if it is not chordal."""
    try:
        return ChordalGraph.of(masks)
    except ValueError:
        return None


def bringing(graph: ChordalGraph, flipped: ChordalGraph, link: Link) -> Candidate:
    """Return the candidate that adds the link in which two graphs differ."""
    smaller, larger = (flipped, graph) if link in graph.links else (graph, flipped)
    before, after = signed_sets(smaller), signed_sets(larger)
    gained = {s: after.get(s, 0) - before.get(s, 0) for s in before | after}
    return Candidate(varset(link), (link,), {s: c for s, c in gained.items() if c})


Moves = dict[ChordalGraph, list[tuple[Link, ChordalGraph, float]]]
"""The moves of each graph: the link that is flipped, the graph after it, and what that adds to the score."""


def best_sequence(
    problem: Problem, graph: ChordalGraph, longest: int = 3, known: Moves | None = None
) -> LinkSet:
    """Return the links that the best of the shortest improving sequences flips, in order; () if there is none.

    By the letter: every sequence of moves is tried from the graph itself. ``known`` keeps the moves of each
    graph, to which many sequences lead, from one call to the next.
    """
    known = {} if known is None else known
    made: dict[LinkSet, tuple[ChordalGraph, float, float]] = {(): (graph, 0.0, 0.0)}
    for _ in range(longest):
        longer: dict[LinkSet, tuple[ChordalGraph, float, float]] = {}
        for links, (at, score, moved) in made.items():
            if at not in known:
                known[at] = moves_from(problem, at)
            for link, flipped, worth in known[at]:
                if link not in links:
                    longer[*links, link] = flipped, score + worth, moved + abs(worth)
        better = {k: v for k, v in longer.items() if v[1] > problem.judge.tolerance(v[2])}
        if better:
            _, best, moved = max(better.values(), key=lambda found: found[1])
            tied = [k for k, v in better.items() if v[1] >= best - problem.judge.tolerance(moved)]
            return min(tied, key=lambda links: (sorted(links), links))
        made = longer
    return ()


def moves_from(problem: Problem, at: ChordalGraph) -> list[tuple[Link, ChordalGraph, float]]:
    """Return every single link that may come or go, the graph after it, and what that adds to the score."""
    flips = [(link, flip(at, link)) for link in combinations(range(at.n_vertices), 2)]
    able = [
        (link, flipped)
        for link, flipped in flips
        if flipped is not None and is_move_allowed(problem.allowed, at, flipped, link)
    ]
    judged = judge(problem, [bringing(at, flipped, link) for link, flipped in able])
    signs = [-1 if link in at.links else 1 for link, _ in able]
    return [
        (link, flipped, sign * found.verdict.rank)
        for (link, flipped), sign, found in zip(able, signs, judged, strict=True)
    ]


def is_move_allowed(allowed: Allowed, at: ChordalGraph, flipped: ChordalGraph, link: Link) -> bool:
    """Whether a move removes no required link, adds no forbidden one and builds no clique that is too large."""
    if link in at.links:
        return link not in {*allowed.required, *allowed.fill_in}
    return allowed.may_complete(varset(link)) and all(
        clique.bit_count() <= allowed.max_clique for clique in maximal_cliques(flipped)
    )


def legal(problem: Problem, graph: ChordalGraph, i: int) -> Iterator[Candidate]:
    """Yield every legal candidate of one pass."""
    for variables in variable_sets(graph, i, problem.max_variables):
        if problem.allowed.may_complete(variables):
            found = candidate(graph, variables)
            if found is not None and problem.allowed.may_change(found.change):
                yield found


def with_fill_in(problem: Problem, graph: ChordalGraph, i: int) -> tuple[int, list[Judged]]:
    """Return how many candidates of one pass need fill-in, and of each variable set the best that is accepted.

    By the letter, one variable set W and one completion after the other:

    1. W is admitted if what only the whole of it shows is enough (:func:`is_admitted`).
    2. The rule of :mod:`xordal.graph.fill_in`, which has a test by the letter of its own, completes W. That is
       a candidate if it needs links beyond those of W and keeps to what is forbidden and limited.
    3. The links of W must be accepted by themselves, each conditioned on what separates its ends when it comes
       in, and then all links together. By significance, each piece of W must be needed as well: of its own
       links, as many as can go from the graph that has all of them.
    4. A candidate ranks by the lower of these two ranks. Of completions of W that tie, the one that ranks best
       as a whole is taken, of those that still tie the first in the order of their links.
    """
    n_scored, best = 0, []
    for variables in variable_sets(graph, i, problem.max_variables):
        if not problem.allowed.may_complete(variables) or not is_admitted(problem, graph, variables):
            continue
        accepted = []
        for done in completions(graph, SeparatorPaths(graph), variables, problem.n_levels):
            links = tuple(sorted((x, y) for x, y, _ in done.steps))
            if not done.fill_in or not is_allowed(problem.allowed, graph, links, done.fill_in):
                continue
            n_scored += 1
            itself = of_chain(variables, done.own)
            ends = varset(v for link in links for v in link)
            everything = of_chain(ends, done.steps, done.fill_in)
            own = judged_with_fill_in(problem, graph, graph.add(links), itself)
            (whole,) = judge(problem, [everything])
            if own.is_accepted and whole.verdict.is_accepted:
                accepted.append((min(own.rank, whole.verdict.rank), whole))
        if accepted:
            best.append(best_completion(problem, accepted))
    return n_scored, best


def is_admitted(problem: Problem, graph: ChordalGraph, variables: VarSet) -> bool:
    """Whether the variables of a set themselves ask for their links; the graph around them does not matter.

    Every two of them that are not linked must share more given the rest of the set than they share alone, and
    by so much that the set could be accepted if nothing else were in the graph and it gained that. Two
    variables without a rest must share so much.
    """

    def entropy(s: int) -> float:
        return float(problem.oracle.entropies([VarSet(s)])[0]) if s else 0.0

    shown = []
    for u, v in graph.missing_links(variables):
        x, y = 1 << u, 1 << v
        rest = variables & ~x & ~y
        given = [entropy(rest | x), entropy(rest | y), -entropy(variables), -entropy(rest)]
        alone = [entropy(x), entropy(y), -entropy(x | y)] if rest else []
        shown.append(fsum([*given, *(-term for term in alone)]))  # one exactly rounded sum, as of every gain
    chosen = members(variables)
    n_levels = tuple(problem.n_levels[v] for v in chosen)
    inside = graph.induced(chosen)
    dof = prod(n_levels) - 1 - free_parameters(signed_sets(inside), n_levels)
    shape = Shape(len(chosen), len(shown), 0, dof, largest_part_of(inside, n_levels))
    return bool(problem.judge.ceiling(shape, np.array([min(shown)]))[0] > -inf)


def largest_part_of(graph: ChordalGraph, n_levels: tuple[int, ...]) -> int | None:
    """Return the most free parameters that the part of a piece adds when a whole graph is completed."""
    everything = VarSet((1 << graph.n_vertices) - 1)
    its_pieces, missing = pieces_of(graph, everything), list(graph.missing_links(everything))
    if all(set(link) & piece for piece in its_pieces for link in missing):
        return None
    found = []
    for piece in its_pieces:
        others = [link for link in missing if not set(link) & piece]
        able = [set(some) for some in subsets(others) if is_chordal(linked(graph.neighbours, some))]
        for kept in able:
            if not any(kept < other for other in able):
                before = free_parameters(signed_sets(graph.add(kept)), n_levels)
                found.append(prod(n_levels) - 1 - before)
    return max(found)


def is_allowed(allowed: Allowed, graph: ChordalGraph, links: LinkSet, fill_in: LinkSet) -> bool:
    """Whether nothing that is filled in is forbidden, and no clique becomes too large."""
    cliques = maximal_cliques(graph.add(links))
    return allowed.may_add(fill_in) and all(clique.bit_count() <= allowed.max_clique for clique in cliques)


def best_completion(problem: Problem, accepted: list[tuple[float, Judged]]) -> Judged:
    """Return the best completion of one variable set, with the rank at which it stands in the pass."""
    highest = max(rank for rank, _ in accepted)
    tied = [(rank, one) for rank, one in accepted if rank >= highest - problem.judge.tolerance(highest)]
    highest = max(one.verdict.rank for _, one in tied)
    tied = [(rank, one) for rank, one in tied if one.verdict.rank >= highest - problem.judge.tolerance(highest)]
    rank, first = min(tied, key=lambda pair: pair[1].evidence.links)
    return first._replace(verdict=first.verdict._replace(rank=rank))


def first_of_best(problem: Problem, scored: list[Judged]) -> Judged | None:
    """Return the first link set, in lexicographic order, that ties with the best accepted rank."""
    accepted = [found for found in scored if found.verdict.is_accepted]
    if not accepted:
        return None
    best = max(found.verdict.rank for found in accepted)
    tie = best - problem.judge.tolerance(best)
    return min(
        (found for found in accepted if found.verdict.rank >= tie),
        key=lambda found: (found.evidence.links, found.evidence.fill_in),
    )


def variable_sets(graph: ChordalGraph, i: int, max_variables: int | None = None) -> Iterator[VarSet]:
    """Yield every variable set with exactly i missing links in which each variable has one.

    Parameters
    ----------
    graph
        The current graph G.
    i
        Number of lookahead links.
    max_variables
        Largest set to yield; the paper's own bound, i + 1, by default.

    Examples
    --------
    >>> path = ChordalGraph.empty(4).add([(0, 1), (1, 2)])
    >>> [members(W) for W in variable_sets(path, 2)]
    [(0, 1, 3), (1, 2, 3)]
    """
    largest = min(i + 1, max_variables or i + 1, graph.n_vertices)
    for size in range(2, largest + 1):
        if comb(size, 2) >= i:
            for chosen in _grow(graph, size, i):
                if all(chosen & ~graph.neighbours[v] & ~(1 << v) for v in members(chosen)):
                    yield VarSet(chosen)


def _grow(graph: ChordalGraph, size: int, i: int) -> Iterator[int]:
    """Yield the sets of ``size`` variables with i missing links, adding variables in increasing order.

    ``apart[c]`` is the mask of later variables that miss c links to the chosen ones, so the last variable is
    read off a mask instead of tried.
    """

    def grow(chosen: int, n_chosen: int, missing: int, apart: list[int]) -> Iterator[int]:
        if n_chosen == size - 1:
            wanted = i - missing
            for v in members(apart[wanted]) if wanted < len(apart) else ():
                yield chosen | 1 << v
            return
        still_possible = comb(size, 2) - comb(n_chosen + 1, 2)  # missing links of the variables after the next
        for c, mask in enumerate(apart):
            if missing + c <= i <= missing + c + still_possible:
                for v in members(mask):
                    yield from grow(chosen | 1 << v, n_chosen + 1, missing + c, after(apart, v))

    def after(apart: list[int], v: int) -> list[int]:
        later, near = -(2 << v), graph.neighbours[v]
        moved = [*apart, 0]
        for c in range(len(apart), 0, -1):
            moved[c] = (moved[c] & near | apart[c - 1] & ~near) & later
        moved[0] &= near & later
        return moved

    yield from grow(0, 0, 0, [(1 << graph.n_vertices) - 1])
