"""check(network, data): what of a network holds in rows that it was not learned from.

Whatever was chosen in some rows looks better there than it is: the links, the groups and the rules of a network
are the best of many. New rows know nothing of the choice. Each finding is put to them again, with an interval
and a p-value that is corrected for the number of findings of its kind, and there are three answers: it *held*;
it is *gone*, when the interval leaves out what was learned; or it is *undecided*, when the rows are too few to
tell.

* A link: what the two share given the rest of a clique that holds both.
* A hidden group: its hidden part and share (:mod:`xordal.statistics.hidden`).
* A rule: in how many rows it holds, as it was read off the old rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from xordal.counting.finalize import entropy
from xordal.counting.oracle import CellCounter, CellCounts
from xordal.counting.select import oracle_for
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted
from xordal.formats import additive
from xordal.formats.rules import function_words, rule_words
from xordal.formats.shown import beside, shown
from xordal.model.estimation import CliqueCounts
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.rows import RowCodes, encoded
from xordal.model.sums import sums_of
from xordal.pi.discover import evidence_of
from xordal.pi.independence import Independence, Question
from xordal.pi.measuring import MOST_CELLS, Rows, measured
from xordal.pi.rules import interval, known_levels, log_p_above
from xordal.rules.coding import blanks_of, is_blank
from xordal.rules.finding import FoundRules
from xordal.statistics.chi_squared import log_tail_of
from xordal.statistics.criterion import Sample
from xordal.statistics.gain_range import SURE
from xordal.statistics.hidden import VISIBLE, Sharing
from xordal.statistics.significance import Significance
from xordal.types.groups import Share, Submodel
from xordal.types.learned import Learned
from xordal.types.rules import AdditiveRule, Rule, RuleKind
from xordal.types.varsets import VarSet, members

Verdict = Literal["held", "gone", "undecided"]
Levels = Sequence[Sequence[Hashable]]
ALPHA = 0.05
"""The level at which findings must be significant, corrected for all of their kind."""

_LEAST_OF_RATE = 10  # rows of a combination, old and new, from which its rate is compared
_LEAST_ROWS = 10  # for each cell of a group, from which they tell that little of it is hidden


@dataclass(frozen=True, slots=True)
class CheckedLink:
    """A link put to new rows: what its ends share, in nats, given the rest of a clique.

    ``before`` is the same number in the rows learned from, ``low`` and ``high`` the 95 % interval of the new
    one.
    """

    variables: tuple[str, str]
    given: tuple[str, ...]
    before: float
    now: float
    low: float
    high: float
    log_p_corrected: float
    verdict: Verdict

    @property
    def p_corrected(self) -> float:
        """The p-value, corrected for all links."""
        return exp(self.log_p_corrected)


@dataclass(frozen=True, slots=True)
class CheckedGroup:
    """A hidden group put to new rows: the hidden part in nats, and its share of what the group shares."""

    variables: tuple[str, ...]
    context: tuple[str, ...]
    before: Share | None
    hidden: float
    share: Share
    log_p_corrected: float
    verdict: Verdict

    @property
    def p_corrected(self) -> float:
        """The p-value of the hidden part, corrected for all groups."""
        return exp(self.log_p_corrected)


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """A rule put to new rows: in which share of them it holds; of rates, whether they are the old ones."""

    told: str
    kind: RuleKind
    before: float
    holds: float
    low: float
    high: float
    by_chance: float
    log_p_corrected: float
    verdict: Verdict

    @property
    def p_corrected(self) -> float:
        """Of a rule, that it holds so often by chance; of rates, that old and new ones differ by chance."""
        return exp(self.log_p_corrected)


@dataclass(frozen=True, slots=True, repr=False)
class Checked:
    """What of a network holds in new rows; ``n_left_out`` rows had a value missing or never seen."""

    n_rows: int
    n_left_out: int
    links: tuple[CheckedLink, ...]
    groups: tuple[CheckedGroup, ...]
    rules: tuple[CheckedRule, ...]

    def __repr__(self) -> str:
        kinds = (("links", self.links), ("hidden groups", self.groups), ("rules", self.rules))
        told = [
            f"{sum(one.verdict == 'held' for one in found)} of {len(found)} {kind} held"
            for kind, found in kinds
            if found
        ]
        return f"Checked on {counted(self.n_rows, 'new row')}: {', '.join(told) or 'nothing to check'}"


def check(network: DecomposableMarkovNetwork | Learned, data: Any, *, by_text: bool = False) -> Checked:
    """Put the links, hidden groups and rules of a network to rows it was not learned from.

    Parameters
    ----------
    network
        A network that was learned from rows, or what :func:`xordal.learn` returned.
    data
        The new rows: anything :func:`xordal.read_table` takes. Rows in which a value is missing, or a level
        that the network never saw, are left out.
    by_text
        Whether levels of other types are matched by their text; those of files always are.

    Raises
    ------
    DataError
        If a column is absent, no row is left, or the network was not learned from rows.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> table = CategoricalTable.from_rows("abc", rows)
    >>> found = check(learn(table), table)
    >>> found
    Checked on 100 new rows: 3 of 3 links held, 1 of 1 hidden groups held, 1 of 1 rules held
    >>> [link.verdict for link in found.links], found.groups[0].verdict, found.rules[0].holds
    (['held', 'held', 'held'], 'held', 1.0)
    """
    network = network.network() if isinstance(network, Learned) else network
    return check_rows(network, encoded(network, data, unseen="missing", by_text=by_text, offered=[]))


def check_rows(network: DecomposableMarkovNetwork, found: RowCodes) -> Checked:
    """Do what :func:`check` does, with rows that are codes of the network's levels already."""
    if not network.is_counted:
        raise DataError("This network was given with its probabilities: there are no old rows to compare with.")
    table, n_left_out = _complete(network, found)
    new = oracle_for(table, backend="numpy")
    old = CliqueCounts({found.variables: found.counted for found in network.clique_tables()})
    groups = () if network.learned is None else network.learned.submodels or ()
    ruled = [group for group in groups if group.rule is not None]
    sums = () if network.learned is None else network.learned.rules
    n_rules = len(ruled) + len(sums)
    rows = Rows(new, table.n_levels, table.n_rows)
    return Checked(
        table.n_rows,
        n_left_out,
        _links(network, rows, new, old),
        tuple(_group(network, rows, group, len(groups)) for group in groups if _fits(rows, group)),
        (
            *(_rule(network, group, new, old, n_rules) for group in ruled),
            *(_sum(network, table, rule, n_rules) for rule in sums),
        ),
    )


def _complete(network: DecomposableMarkovNetwork, found: RowCodes) -> tuple[CategoricalTable, int]:
    """Return the rows that have all values, and how many were left out."""
    kept = (found.codes >= 0).all(axis=0)
    weights = found.weights
    if not kept.any():
        raise DataError(
            f"None of {counted(found.n_rows, 'row')} has all values, at levels that the network knows."
        )
    n_left_out = int((~kept).sum() if weights is None else weights[~kept].sum())
    codes = found.codes[:, kept].astype(np.int32)
    chosen = None if weights is None else weights[kept]
    return CategoricalTable(network.variables, network.levels, codes, chosen), n_left_out


def _links(
    network: DecomposableMarkovNetwork, rows: Rows, new: CellCounter, old: CellCounter
) -> tuple[CheckedLink, ...]:
    """Return all links, each in the smallest clique that holds it."""
    links = network.graph.links
    if not links:
        return ()
    sample = Sample(rows.n_levels, rows.n_rows, new, 1, 2)
    now = Independence(_Entropies(new))
    cliques = [table.variables for table in network.clique_tables()]
    questions = []
    for u, v in links:
        ends = 1 << u | 1 << v
        holding = [clique for clique in cliques if clique & ends == ends]
        rest = VarSet(min(holding, key=rows.n_cells) & ~ends)
        a, b = VarSet(1 << u), VarSet(1 << v)
        questions.append(Question(a, b, rest, max(0.0, now.information(a, b, rest))))
    judge = Significance(ALPHA).on(sample)
    log_ps = judge.log_p_values([evidence_of(sample, question) for question in questions])
    assert log_ps is not None
    before = Independence(_Entropies(old))
    return tuple(
        _link(network, rows, question, before, min(0.0, log_p + log(len(links))))
        for question, log_p in zip(questions, log_ps, strict=True)
    )


def _link(
    network: DecomposableMarkovNetwork, rows: Rows, question: Question, old: Independence, log_p: float
) -> CheckedLink:
    a, b, rest, nats = question
    before = max(0.0, old.information(a, b, rest))
    low, high = _information_interval(rows, question)
    verdict: Verdict = "held" if log_p <= log(ALPHA) else "gone" if high < before / 2 else "undecided"
    one, other = (network.variables[members(end)[0]] for end in (a, b))
    return CheckedLink((one, other), network.names(rest), before, nats, low, high, log_p, verdict)


def _information_interval(rows: Rows, question: Question) -> tuple[float, float]:
    """Return the 95 % interval of an information; the widest there is where its table is too large."""
    both = VarSet(question.a | question.b)
    if rows.n_cells(both | question.given) > MOST_CELLS:
        return 0.0, min(log(rows.n_levels[members(end)[0]]) for end in (question.a, question.b))
    found = rows.sharing(both, question.given)
    shares = found.table / found.table.sum()
    first = float((shares * (found.total.log_ratios - found.total.nats) ** 2).sum()) / rows.n_rows
    second = 2 * found.total.dof / (2 * rows.n_rows) ** 2
    middle, half = found.total.corrected(rows.n_rows), SURE * sqrt(first + second)
    return max(0.0, middle - half), middle + half


def _fits(rows: Rows, group: Submodel) -> bool:
    return rows.n_cells(group.variables | group.context) <= MOST_CELLS


def _group(network: DecomposableMarkovNetwork, rows: Rows, group: Submodel, n_groups: int) -> CheckedGroup:
    sharing: Sharing = rows.sharing(group.variables, group.context)
    found = measured(rows, group, sharing)
    assert found.share is not None and found.hidden is not None and found.log_p_value is not None
    share = found.share if _tells_how_little(network, rows, group) else replace(found.share, high=1.0)
    log_p = min(0.0, found.log_p_value + log(n_groups))
    verdict: Verdict = "undecided"
    if log_p <= log(ALPHA) and share.low > VISIBLE:
        verdict = "held"
    elif share.high < (VISIBLE if group.share is None else max(VISIBLE, group.share.estimate / 2)):
        verdict = "gone"
    names, given = network.names(group.variables), network.names(group.context)
    return CheckedGroup(names, given, group.share, found.hidden, share, log_p, verdict)


def _tells_how_little(network: DecomposableMarkovNetwork, rows: Rows, group: Submodel) -> bool:
    """Whether the new rows can tell how little of a group is hidden: some for each cell of the old ones.

    The interval of a share is too narrow where there are few: of groups that were there 40 % were called gone
    in 15 rows of eight cells, 13 % in 25, 8 % in 40 and 3 % in 80.
    """
    whole = group.variables | group.context
    old = next((one for one in network.clique_tables() if whole & ~one.variables == 0), None)
    if old is None:
        return rows.n_rows >= _LEAST_ROWS * rows.n_cells(whole)
    inside = members(old.variables)
    n_cells = len(old.counted.over([inside.index(v) for v in members(whole)]).counts)
    return rows.n_rows >= _LEAST_ROWS * n_cells


def _rule(
    network: DecomposableMarkovNetwork, group: Submodel, new: CellCounter, old: CellCounter, n_rules: int
) -> CheckedRule:
    assert group.rule is not None
    names = [shown(name) for name in network.names(group.variables)]
    target = "" if group.rule.target is None else shown(network.variables[group.rule.target])
    told = f"{beside(names)}: {rule_words(group.rule, names, target)}"
    if group.rule.kind == "function":
        told = f"{beside(name for name in names if name != target)} {function_words(group.rule, target)}"
    (now,), (before,) = new.counts([group.variables]), old.counts([group.variables])
    if group.rule.kind == "rates":
        return replace(_rates(network.levels, group, group.rule, (before, now), n_rules), told=told)
    follows = _follows(group, group.rule, before)
    hits = sum(
        count
        for cell, count in zip(now.cells.tolist(), now.counts.tolist(), strict=True)
        if follows(tuple(cell))
    )
    shares = group.rule.holds, group.rule.by_chance
    return _judged(told, group.rule.kind, shares, (hits, int(now.counts.sum())), n_rules)


def _sum(
    network: DecomposableMarkovNetwork, table: CategoricalTable, rule: AdditiveRule, n_rules: int
) -> CheckedRule:
    """Put an additive rule of any number of columns to new rows."""
    sums = sums_of(rule, table.codes, rule.variables)
    rows = np.ones(len(sums), dtype=np.int64) if table.weights is None else table.weights
    blank = is_blank(blanks_of(network.levels), rule.variables, table.codes)
    hits, n_told = int(rows[sums == 0].sum()), int((rows if blank is None else rows[~blank]).sum())
    told = additive.rule_words(FoundRules(network.variables, network.levels, (rule,), 0, (), (), 0.0), rule)
    kind: RuleKind = "parity" if rule.modulus == 2 else "sum"
    return _judged(told, kind, (rule.holds, rule.by_chance), (hits, n_told), n_rules)


def _judged(
    told: str, kind: RuleKind, shares: tuple[float, float], found: tuple[int, int], n_rules: int
) -> CheckedRule:
    """Return whether a rule holds, from the shares of old rows and by chance, and how many new rows obey it."""
    (before, by_chance), (hits, n_rows) = shares, found
    if not n_rows:  # every new row misses a value
        return CheckedRule(told, kind, before, 0.0, 0.0, 1.0, by_chance, 0.0, "undecided")
    holds, (low, high) = hits / n_rows, interval(hits, n_rows)
    log_p = log_p_above(holds, by_chance, n_rows, n_rules)
    half_way = (before + by_chance) / 2
    verdict: Verdict = "undecided"
    if log_p <= log(ALPHA) and high >= half_way:
        verdict = "held"
    elif high < half_way:
        verdict = "gone"
    return CheckedRule(told, kind, before, holds, low, high, by_chance, log_p, verdict)


def _follows(group: Submodel, rule: Rule, before: CellCounts) -> Callable[[tuple[int, ...]], bool]:
    """Return whether a cell follows a rule, a function being read off the old rows."""
    if (sums := rule.additive) is not None:
        return lambda cell: sums.sum_of(cell) == 0
    assert rule.target is not None
    place = members(group.variables).index(rule.target)
    best: dict[tuple[int, ...], tuple[int, int]] = {}
    for cell, count in zip(before.cells.tolist(), before.counts.tolist(), strict=True):
        others = (*cell[:place], *cell[place + 1 :])
        best[others] = max(best.get(others, (0, 0)), (count, cell[place]))
    return lambda cell: best.get((*cell[:place], *cell[place + 1 :]), (0, -1))[1] == cell[place]


def _rates(
    levels: Levels, group: Submodel, rule: Rule, tables: tuple[CellCounts, CellCounts], n_rules: int
) -> CheckedRule:
    """Return whether rates are what they were: a likelihood-ratio test of all combinations that both have.

    Combinations of a few rows say next to nothing, and their G2 is larger than its law has it. That the test
    sees no difference says little where rows are few. So rates are held only where the new ones differ from
    combination to combination, by a test of the same kind.
    """
    assert rule.target is not None
    place = members(group.variables).index(rule.target)
    code = [str(level) for level in levels[rule.target]].index(rule.level)
    known = known_levels(levels[rule.target])
    olds, news = (_hits(table, place, code, known) for table in tables)
    g2, dof = 0.0, 0
    hits, n_rows = (sum(column) for column in zip(*news.values(), strict=True))
    news = {others: told for others, told in news.items() if told[1] >= _LEAST_OF_RATE}
    for others in news.keys() & {others for others, told in olds.items() if told[1] >= _LEAST_OF_RATE}:
        g2 += _g2(olds[others], news[others])
        dof += 1
    log_p = min(0.0, (log_tail_of(g2, dof) if dof else 0.0) + log(n_rules))
    low, high = interval(hits, n_rows)
    verdict: Verdict = "undecided"
    if dof and log_p <= log(ALPHA):
        verdict = "gone"
    elif len(news) > 1:
        g2 = sum(_g2_of(own, (hits, n_rows)) for own in news.values())
        if log_tail_of(g2, len(news) - 1) + log(n_rules) <= log(ALPHA):
            verdict = "held"
    return CheckedRule("", "rates", rule.holds, hits / n_rows, low, high, rule.by_chance, log_p, verdict)


def _hits(
    table: CellCounts, place: int, code: int, known: Sequence[int]
) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return hits and rows of each combination of the others, in rows in which the variable is known."""
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for cell, count in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
        if cell[place] not in known:
            continue
        others = (*cell[:place], *cell[place + 1 :])
        hits, rows = found.get(others, (0, 0))
        found[others] = (hits + (count if cell[place] == code else 0), rows + count)
    return found


def _g2(old: tuple[int, int], new: tuple[int, int]) -> float:
    """Return G2 of two shares, each of hits and rows, being the same."""
    both = old[0] + new[0], old[1] + new[1]
    return _g2_of(old, both) + _g2_of(new, both)


def _g2_of(own: tuple[int, int], all_rows: tuple[int, int]) -> float:
    """Return what hits and rows add to the G2 of their share being that of all rows."""
    share = all_rows[0] / all_rows[1]
    parts = (own[0], share), (own[1] - own[0], 1 - share)
    return sum(2 * seen * log(seen / (own[1] * expected)) for seen, expected in parts if seen)


@dataclass(frozen=True, slots=True)
class _Entropies:
    """Entropies of whatever counts."""

    counter: CellCounter

    def entropies(self, sets: Sequence[VarSet]) -> NDArray[np.float64]:
        """Return the entropy of each set in nats."""
        counts = iter(self.counter.counts([variables for variables in sets if variables]))
        return np.array([entropy(next(counts).counts) if variables else 0.0 for variables in sets])
