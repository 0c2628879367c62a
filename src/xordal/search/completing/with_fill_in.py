"""Sets whose own links would break chordality, completed together with a fill-in.

:mod:`xordal.search.completing` says when such a set is a candidate. Work is put off: a set that is admitted is
looked at again only when the graph changes on the paths between its variables. A pair has up to two fill-ins
for each separator between its ends; what its own link may gain with each bounds their ranks, so that they are
worked out one after the other, and most never. What all steps of a fill-in gain bounds its rank once more, and
only what could then be the best is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count, islice
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xordal.counting.compiled import Worth
from xordal.graph.chain import Addition
from xordal.graph.chordal import ChordalGraph
from xordal.graph.fill_in import (
    Completion,
    PairFillIn,
    Spread,
    fill_ins_of_pair,
    region,
    spreads_of,
    written_out,
)
from xordal.graph.pieces import has_parts, last_to_come
from xordal.search.best_first import Scored
from xordal.search.candidate import Candidate, gains, of_chain
from xordal.search.completing.fill_in_rule import FillInRule, Listed
from xordal.search.completing.legality import allowed_fill_ins
from xordal.search.problem import Judged, Problem, Sum, accepted, evidence, verdicts
from xordal.search.sources.bounded import BoundedSets
from xordal.search.state import Change, GraphState
from xordal.statistics.criterion import BoundsByCounts, Evidence, Shape
from xordal.types.varsets import Link, SignedSets, VarSet, members, varset

_TRIED = 300  # own links that are bounded by their margins before it is asked whether that pays

if TYPE_CHECKING:
    from xordal.search.numbered import SummedFillIns

# Separators passed on the way between pairs, some 20 microseconds each in Python.
_WORTH_KERNELS = Worth(loading=20_000, compiling=200_000)


class Stage(IntEnum):
    """What is known of the rank of a pair's own link: a bound by its gain, one by its margins too, or all."""

    BY_GAIN = 0
    BY_MARGINS = 1
    JUDGED = 2


class Waiting(NamedTuple):
    """Fill-ins of a pair that come next.

    Attributes
    ----------
    order
        Minus the rank that the pair's own link may have with them, then a number that tells equal ones apart.
    fill_ins
        The fill-ins.
    stage
        How surely the own link has this rank.
    """

    order: tuple[float, int]
    fill_ins: list[PairFillIn]
    stage: Stage

    @property
    def upper(self) -> float:
        """The highest rank that the fill-ins can have."""
        return -self.order[0]


@dataclass(slots=True, eq=False)
class Admitted:
    """An admitted set, as it lies in the present graph.

    Attributes
    ----------
    region
        The variables on the paths between its own: while these stay the same, and the links between them, so
        do its fill-ins.
    number
        Its place among the admitted, in the order in which they came.
    waiting
        Of a pair the fill-ins that were not worked out yet, a heap by the rank that its own link may have; of
        a larger set nothing is known of them.
    is_scored
        Whether the fill-ins of a larger set were worked out.
    """

    region: VarSet
    number: int
    waiting: list[Waiting] = field(default_factory=list)
    is_scored: bool = False


class Filled(NamedTuple):
    """A fill-in of an admitted set."""

    admitted: Admitted
    completion: Completion


class WithFillIn:
    """Completes sets of i missing links whose own links would break chordality."""

    def __init__(self, problem: Problem, state: GraphState, i: int) -> None:
        self.n_scored = 0
        self._problem, self._state, self._i = problem, state, i
        self._rule = FillInRule(state, problem.n_levels, problem.kernels)
        self._tested: set[VarSet] = set()
        self._admitted: dict[VarSet, Admitted] = {}
        self._numbers = count()
        self._near: dict[int, set[VarSet]] = {}  # admitted sets that have a variable in their region, or had
        # The rank of a pair's own link, or a bound: the link is the same in most later graphs.
        self._own: dict[Addition, tuple[float, Stage]] = {}
        self._n_bounded = self._n_past_bounds = 0  # own links bounded by margins, and judged nevertheless
        self._spreads: dict[tuple[int, int, bool], Spread] = {}  # of the present graph, and their sums
        self._sums: dict[Spread, list[Sum]] = {}
        self._n_summed = 0
        self._summed: SummedFillIns | None = None

    def is_pointless(self) -> bool:
        """Whether all variables of each component are linked: no set needs fill-in then."""
        return self._state.graph.is_union_of_cliques

    def bounded(self, found: Iterable[BoundedSets], change: Change) -> Iterable[BoundedSets]:
        """Return the sets that are admitted: new ones, and those that the change can have altered."""
        self._spreads, self._sums = {}, {}
        with self._problem.watch.phases.of("fill-in"):
            sets = self._altered(change)
            for some in found:
                sets += self._admit(some.all())
            return [self._looked_at(sets)] if sets else []

    def _altered(self, change: Change) -> list[VarSet]:
        """Return the admitted sets that lie in the graph in another way; forget those that miss other links."""
        for link in map(varset, change.removed):  # what misses one more link is another question
            self._tested = {s for s in self._tested if s & link != link}
        self._problem.watch.check()
        ends, touched, regrouped = change.ends, change.touched, change.regrouped
        flipped = [varset(link) for link in (*change.added, *change.removed)]
        near = {s for v in members(VarSet(ends | touched | regrouped)) for s in self._near.get(v, ())}
        found = []
        for s in sorted(near & self._admitted.keys(), key=lambda s: self._admitted[s].number):
            one = self._admitted[s]
            if s & ends and len(change.after.missing_links(s)) != self._i:
                del self._admitted[s]
            elif one.region & touched or s & regrouped:
                inside = one.region
                if any(not link & ~inside for link in flipped) or inside != self._region(s):
                    found.append(s)
        return found

    def _region(self, variables: VarSet) -> VarSet:
        """Return what lies between the variables of a set in the present graph."""
        return region(self._state.graph, self._state.paths, variables)

    def _admit(self, sets: list[VarSet]) -> list[VarSet]:
        """Test the sets that were not tested before; return those that are admitted."""
        graph = self._state.graph
        new = [s for s in dict.fromkeys(sets) if s not in self._tested and graph.misses(s, self._i)]
        self._tested.update(new)
        return [s for s, may in zip(new, admitted(self._problem, graph, new), strict=True) if may]

    def _looked_at(self, sets: list[VarSet]) -> BoundedSets:
        """Return sets with the highest ranks they can have: of a pair, what its own link may reach."""
        for s in sets:
            before = self._admitted.get(s)
            one = Admitted(self._region(s), next(self._numbers) if before is None else before.number)
            self._admitted[s] = one
            for v in members(VarSet(s | one.region)):
                self._near.setdefault(v, set()).add(s)
        able = [s for s in sets if self._problem.allowed.may_complete(s)]
        pairs = [s for s in able if s.bit_count() == 2]
        rows = [(s, inf) for s in able if s.bit_count() > 2]
        for s, some in zip(pairs, self._fill_ins(pairs), strict=True):
            rows += self._wait(s, some)
        return BoundedSets.each([s for s, _ in rows], [upper for _, upper in rows])

    def _wait(self, pair: VarSet, some: Iterable[PairFillIn]) -> Iterator[tuple[VarSet, float]]:
        """Let fill-ins of a pair wait by the rank that its own link can have; yield the pair with each rank."""
        by_rank: dict[tuple[float, Stage], list[PairFillIn]] = {}
        for one in some:
            by_rank.setdefault(self._own[one.own], []).append(one)
        for (upper, stage), fill_ins in by_rank.items():
            if upper > -inf:
                waiting = Waiting((-upper, next(self._numbers)), fill_ins, stage)
                heappush(self._admitted[pair].waiting, waiting)
                yield pair, upper

    def _fill_ins(self, pairs: Sequence[VarSet]) -> list[list[PairFillIn]]:
        """Return the fill-ins of each pair, and work out what its own link gains with them."""
        graph, paths = self._state.graph, self._state.paths
        every = [
            fill_ins_of_pair(graph, paths, *members(s)) if graph.n_components_of(s) == 1 else [] for s in pairs
        ]
        new = list(dict.fromkeys(one.own for some in every for one in some if one.own not in self._own))
        self._problem.weigh(new)
        uppers = self._problem.highest([self._problem.sum_of([step]) for step in new])
        first = Stage.BY_GAIN if self._problem.has_p_values else Stage.JUDGED
        self._own.update((step, (upper, first)) for step, upper in zip(new, uppers, strict=True))
        return every

    def score(self, sets: Sequence[VarSet]) -> list[Scored | BoundedSets]:
        """Return the next fill-ins of each set, those that may be accepted, by what their steps gain.

        A pair is named as often as it has fill-ins of different ranks, the highest first. Where p-values are
        dear its own link is judged first: that takes one step, which was most often judged for an earlier graph
        already, and the pair waits once more, by the rank that it really has.
        """
        with self._problem.watch.phases.of("fill-in"):
            of_pairs: list[tuple[VarSet, float, PairFillIn]] = []
            of_larger: list[tuple[VarSet, Filled]] = []
            listed: list[tuple[VarSet, Listed]] = []
            to_judge: list[tuple[VarSet, list[PairFillIn]]] = []
            for s in sets:
                self._problem.watch.check()
                one = self._admitted.get(s)
                if one is not None and one.waiting:
                    first = heappop(one.waiting)
                    if first.stage is Stage.JUDGED:
                        of_pairs += [(s, first.upper, fill_in) for fill_in in first.fill_ins]
                    else:
                        to_judge.append((s, first.fill_ins))
                elif one is not None and s.bit_count() > 2 and not one.is_scored:
                    one.is_scored = True
                    offered = self._rule.completions(s)
                    if isinstance(offered, Listed):
                        listed.append((s, offered))
                    else:
                        of_larger += [
                            (s, Filled(one, done)) for done in allowed_fill_ins(self._problem, offered)
                        ]
            again = self._by_own_links(to_judge) if to_judge else []
            larger = [*self._scored_larger(of_larger), *self._scored_listed(listed)]
            return [*again, *self._scored_pairs(of_pairs), *larger]

    def _by_own_links(self, some: Sequence[tuple[VarSet, list[PairFillIn]]]) -> list[BoundedSets]:
        """Return pairs by what is known next of the ranks of their own links; not those that are refused."""
        judge, known = self._problem.judge, self._own
        steps = list(dict.fromkeys(one.own for _, group in some for one in group))
        batch = dict(zip(steps, evidence(self._problem, list(map(_alone, steps))), strict=True))
        # Where bounds by margins have spared one link in five, or few were tried, they are asked for.
        pays = self._n_bounded < _TRIED or self._n_past_bounds < 0.8 * self._n_bounded
        self._n_past_bounds += sum(known[step][1] is Stage.BY_MARGINS for step in steps)
        if isinstance(judge, BoundsByCounts) and pays:
            first = [step for step in steps if known[step][1] is Stage.BY_GAIN]
            with self._problem.watch.phases.of("p-values"):
                uppers = judge.nearer([batch[step] for step in first])
            for step, upper in zip(first, uppers, strict=True):
                if upper is not None:
                    known[step] = min(upper, known[step][0]), Stage.BY_MARGINS
                    del batch[step]
                    self._n_bounded += 1
        for step, verdict in zip(batch, verdicts(self._problem, list(batch.values())), strict=True):
            known[step] = (verdict.rank if verdict.is_accepted else -inf), Stage.JUDGED
        rows = [row for s, group in some for row in self._wait(s, group)]
        return [BoundedSets.each([s for s, _ in rows], [upper for _, upper in rows])] if rows else []

    def _scored_pairs(self, some: Sequence[tuple[VarSet, float, PairFillIn]]) -> list[Scored]:
        """Return fill-ins of pairs that may be accepted; only these are written out.

        On long paths there are hundreds of thousands of fill-ins, made of a few thousand spreads.
        """
        graph = self._state.graph
        found: list[Scored] = []
        for (s, upper, fill_in), of_all in zip(
            some, self._highest_whole([one for *_, one in some]), strict=True
        ):
            if of_all > -inf:
                done = allowed_fill_ins(self._problem, [written_out(graph, fill_in, self._spreads)])
                found += [Scored(s, min(upper, of_all), Filled(self._admitted[s], one)) for one in done]
        return found

    def _highest_whole(self, fill_ins: Sequence[PairFillIn]) -> list[float]:
        """Return the highest rank that all steps of each fill-in can have together."""
        if not fill_ins:
            return []
        self._n_summed += sum(len(one.separators) for one in fill_ins)
        if self._problem.kernels.pay(_WORTH_KERNELS, self._n_summed, "fill-ins", _kernel):
            gains, sizes = self._by_number().of(self._state.words, fill_ins)
            return self._problem.highest_of(gains.tolist(), map(tuple, sizes.tolist()))
        spreads = [spreads_of(self._state.graph, fill_in, self._spreads) for fill_in in fill_ins]
        new = list(dict.fromkeys(one for both in spreads for one, _ in both if one not in self._sums))
        self._problem.weigh(step for spread in new for step in spread.steps)
        for spread in new:
            self._sums[spread] = self._problem.sums_up_to(spread.steps, spread.up_to)
        own = [self._problem.sum_of([fill_in.own]) for fill_in in fill_ins]
        whole = [
            self._sums[one][at_one].with_more(self._sums[other][at_other]).with_more(link)
            for ((one, at_one), (other, at_other)), link in zip(spreads, own, strict=True)
        ]
        return self._problem.highest(whole)

    def _by_number(self) -> SummedFillIns:
        """Return what adds up steps by kernels."""
        if self._summed is None:
            from xordal.search.numbered import SummedFillIns

            self._summed = SummedFillIns(self._state.words.shape[1], self._problem.weights_of)
        return self._summed

    def _scored_listed(self, some: Sequence[tuple[VarSet, Listed]]) -> list[Scored]:
        """Return fill-ins of larger sets that kernels listed; only what may be accepted is written out."""
        if not some:
            return []
        from xordal.search.completing._completions import put_back
        from xordal.search.numbered import words_as

        words = self._state.words
        n_steps = np.cumsum([0, *(len(one.ends) for _, one in some)])
        ends, separators = np.empty((n_steps[-1], 2), np.int64), np.empty((n_steps[-1], words.shape[1]), "u8")
        is_own = np.empty(n_steps[-1], np.bool_)
        for (_, one), begin, end in zip(some, n_steps[:-1].tolist(), n_steps[1:].tolist(), strict=True):
            put_back(*one.places, ends[begin:end], separators[begin:end], is_own[begin:end])
        until = np.concatenate([one.until + begin for (_, one), begin in zip(some, n_steps[:-1], strict=True)])
        lengths = [len(one.until) for _, one in some]
        sets = np.repeat(words_as([s for s, _ in some], words), lengths, axis=0)
        sums = self._by_number().of_completions(ends, separators, until, is_own, sets)
        own, whole = (self._problem.highest_of(g.tolist(), map(tuple, sizes.tolist())) for g, sizes in sums)
        uppers, found = map(min, own, whole), list[Scored]()
        for s, one in some:
            for number, upper in enumerate(islice(uppers, len(one.until))):
                if upper > -inf:
                    done = allowed_fill_ins(self._problem, [one.written(number)])
                    found += [Scored(s, upper, Filled(self._admitted[s], it)) for it in done]
        return found

    def _scored_larger(self, some: Sequence[tuple[VarSet, Filled]]) -> list[Scored]:
        """Return fill-ins of larger sets that may be accepted."""
        problem = self._problem
        problem.weigh(step for _, (_, done) in some for step in done.steps)
        own = problem.highest([problem.sum_of(done.own)._replace(ends=s) for s, (_, done) in some])
        whole = problem.highest([problem.sum_of(done.steps) for _, (_, done) in some])
        return [
            Scored(s, upper, filled)
            for (s, filled), upper in zip(some, map(min, own, whole), strict=True)
            if upper > -inf
        ]

    def judge(self, batch: Sequence[Scored]) -> list[Judged | None]:
        """Return the verdicts on fill-ins."""
        with self._problem.watch.phases.of("fill-in"):
            self.n_scored += len(batch)
            some = [(one.variables, one.what.completion) for one in batch]
            return accepted_filled(self._problem, self._state.graph, some)

    def stands(self, scored: Scored) -> bool:
        """Whether a set still lies in the graph as it did."""
        return self._admitted.get(scored.variables) is scored.what.admitted


def _alone(step: Addition) -> Candidate:
    """Return the candidate that takes a step by itself."""
    return of_chain(varset(step[:2]), (step,))


def _kernel() -> object:
    """Return the kernel whose state on disk says whether those of fill-ins are compiled."""
    from xordal.search._numbered import list_spreads

    return list_spreads


def admitted(problem: Problem, graph: ChordalGraph, sets: Sequence[VarSet]) -> list[bool]:
    """Return which sets are admitted: every two variables that are not linked need the rest of the set."""
    missing = [graph.missing_links(s) for s in sets]
    pairs = [_beyond_the_pair(s, link) for s, links in zip(sets, missing, strict=True) for link in links]
    shared = iter(gains(pairs, problem.oracle))
    own = np.array([min([next(shared) for _ in links]) for links in missing])
    alike: dict[Shape, list[int]] = {}
    for number, (s, links) in enumerate(zip(sets, missing, strict=True)):
        alike.setdefault(problem.shapes.alone(s, links), []).append(number)
    passes = np.zeros(len(sets), dtype=np.bool_)
    for shape, numbers in alike.items():
        plain = shape._replace(is_odd=False)  # with fill-in only parts are tested
        passes[numbers] = problem.judge.ceiling(plain, own[numbers]) > -inf
    return passes.tolist()


def _beyond_the_pair(variables: VarSet, link: Link) -> SignedSets:
    """Return the change whose gain is what two variables share given the rest of a set, less what they share.

    For a pair by itself it is what they share.
    """
    x, y = VarSet(1 << link[0]), VarSet(1 << link[1])
    pair = VarSet(x | y)
    terms: SignedSets = {variables: 1, VarSet(variables & ~x): -1, VarSet(variables & ~y): -1}
    if rest := VarSet(variables & ~pair):
        terms |= {rest: 1, pair: -1, x: 1, y: 1}  # no two of these seven are the same set
    return terms


def accepted_filled(
    problem: Problem, graph: ChordalGraph, some: Sequence[tuple[VarSet, Completion]]
) -> list[Judged | None]:
    """Return the verdict on each fill-in of a set, by the evidence for all links and that for the set's own.

    What parts the own links of a set have takes long to work out, so both are first asked for as a whole: most
    fill-ins of larger sets end there.
    """
    own = evidence(problem, [of_chain(s, done.own) for s, done in some])
    whole = evidence(problem, [of_chain(done.ends, done.steps, done.fill_in) for _, done in some])
    found = accepted(problem, [e._replace(also=(its,)) for e, its in zip(whole, own, strict=True)])
    parts = {
        place: _parts(problem, graph, some[place][1], own[place])
        for place, one in enumerate(found)
        if one is not None
    }
    divided = [place for place, some_parts in parts.items() if some_parts]
    with_parts = [whole[place]._replace(also=(own[place]._replace(parts=parts[place]),)) for place in divided]
    for place, judged in zip(divided, accepted(problem, with_parts), strict=True):
        found[place] = judged
    return found


def _parts(
    problem: Problem, graph: ChordalGraph, done: Completion, own: Evidence
) -> tuple[tuple[Addition, ...], ...]:
    """Return the links of each piece of a set that can come last, when all other links are there."""
    problem.watch.check()
    if not has_parts(own.variables, own.links):
        return ()
    after = graph.extended(tuple((step.x, step.y) for step in done.steps))
    return last_to_come(after, own.variables, own.links)
