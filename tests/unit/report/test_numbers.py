"""Every number of a report, computed again from the rows of two real tables; the page prints no others.

The rows are counted here one by one, and what follows from the counts is written out as the definitions say.
The intervals of shares and the p-values are those of the library, which has tests of its own for both
(``tests/unit/statistics``, ``tests/oracle``); they are put to tables that were counted here.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from html import unescape
from itertools import combinations, permutations, product
from math import isclose, log, prod
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import chndtr
from scipy.stats import binom

from benchmarks.recovery.first_screen import is_same
from xordal import CategoricalTable, Learned, learn, read_table
from xordal.formats.text import p_text, p_value_text, ranked_groups
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import signed_sets
from xordal.learning.fitting import fit_network
from xordal.report import html
from xordal.report.contrast import Contrast
from xordal.report.evidence import GroupTables
from xordal.report.summary import ReportSummary, summarise
from xordal.statistics.hidden import Sharing
from xordal.types.groups import Submodel
from xordal.types.rules import AdditiveRule, Rule
from xordal.types.varsets import members

pytestmark = pytest.mark.slow

FILES = ("pmlb/kr_vs_kp.tsv", "calendar/nycflights13_cat_30k.csv")
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")


@dataclass
class Again:
    """A table with its report, and the rows counted anew."""

    table: CategoricalTable
    learned: Learned
    summary: ReportSummary

    def __post_init__(self) -> None:
        self.rows = list(zip(*self.table.codes.tolist(), strict=True))
        self.known: dict[tuple[int, ...], Counter[tuple[int, ...]]] = {}

    def count(self, variables: tuple[int, ...]) -> Counter[tuple[int, ...]]:
        if variables not in self.known:
            self.known[variables] = Counter(tuple([row[v] for v in variables]) for row in self.rows)
        return self.known[variables]

    def entropy(self, variables: tuple[int, ...]) -> float:
        n_rows = len(self.rows)
        return -sum(c / n_rows * log(c / n_rows) for c in self.count(variables).values())

    def shared(self, variables: tuple[int, ...]) -> float:
        return sum(self.entropy((v,)) for v in variables) - self.entropy(variables)

    def one_apart(self, variables: tuple[int, ...], rule: AdditiveRule, part: tuple[int, ...]) -> float:
        """Return how often a rule would hold, were a part of its columns independent of the others."""
        own, rest = self._sums_of(variables, rule, part)
        n_rows = len(self.rows)
        return sum(count * rest[_residue(-value, rule)] for value, count in own.items()) / n_rows**2

    def _sums_of(
        self, variables: tuple[int, ...], rule: AdditiveRule, part: tuple[int, ...]
    ) -> tuple[Counter[int], Counter[int]]:
        own: Counter[int] = Counter()
        rest: Counter[int] = Counter()
        for cell, count in self.count(variables).items():
            values = [f[code] for f, code in zip(rule.functions, cell, strict=True)]
            assert None not in values
            inside = sum(value for place, value in enumerate(values) if place in part and value is not None)
            whole = sum(value for value in values if value is not None) + rule.constant
            own[_residue(inside, rule)] += count
            rest[_residue(whole - inside, rule)] += count
        return own, rest

    def one_apart_within(self, rule: AdditiveRule, one: int, two: int) -> float:
        """Return the same for one column that is independent of the others given the level of another."""
        told = 0.0
        for level in range(self.table.n_levels[rule.variables[two]]):
            own: Counter[int] = Counter()
            rest: Counter[int] = Counter()
            for cell, count in self.count(rule.variables).items():
                if cell[two] == level:
                    values = [f[code] or 0 for f, code in zip(rule.functions, cell, strict=True)]
                    own[_residue(values[one], rule)] += count
                    rest[_residue(sum(values) + rule.constant - values[one], rule)] += count
            if own:
                told += sum(n * rest[_residue(-value, rule)] for value, n in own.items()) / own.total()
        return told / len(self.rows)

    def counts(self, variables: tuple[int, ...]) -> np.ndarray:
        table = np.zeros([self.table.n_levels[v] for v in variables])
        for cell, count in self.count(variables).items():
            table[cell] = count
        return table


def _residue(value: int, rule: AdditiveRule) -> int:
    return value % rule.modulus if rule.modulus else value


@pytest.fixture(scope="module", params=FILES)
def again(request: pytest.FixtureRequest, real_data: Path) -> Again:
    table = read_table(real_data / request.param)
    learned = learn(table)
    return Again(table, learned, summarise(fit_network(table, learned)))


def test_columns_and_cliques(again: Again) -> None:
    table, summary = again.table, again.summary
    graph = nx.Graph(again.learned.links)
    assert summary.n_rows == len(again.rows) and summary.n_links == graph.number_of_edges()
    for v, variable in enumerate(summary.variables):
        counted = again.count((v,))
        assert [number for _, number in variable.levels] == [counted[(c,)] for c in range(table.n_levels[v])]
        assert variable.n_links == (graph.degree(v) if v in graph else 0)
    cliques = {tuple(sorted(clique)) for clique in nx.find_cliques(graph)}
    assert summary.n_cliques == len(cliques)
    number = {name: v for v, name in enumerate(table.names)}
    assert {tuple(number[name] for name in clique.names) for clique in summary.cliques} == cliques
    for clique in summary.cliques:
        chosen = tuple(number[name] for name in clique.names)
        counted = again.count(chosen)
        assert clique.n_occupied == len(counted) and clique.n_cells == prod(table.n_levels[v] for v in chosen)
        for labels, count in clique.cells:
            codes = [list(map(str, table.levels[v])).index(x) for v, x in zip(chosen, labels, strict=True)]
            assert counted[tuple(codes)] == count


def test_groups(again: Again) -> None:
    groups = ranked_groups(again.learned.submodels or ())
    assert groups and again.summary.groups is not None
    for group, told in zip(groups, again.summary.groups, strict=True):
        assert is_same(again.table, group)
        inside, given = members(group.variables), members(group.context)
        sharing = Sharing(again.counts((*inside, *given)), len(again.rows), len(given))
        assert told.share is not None and told.hidden is not None
        assert isclose(told.share.estimate, sharing.share().estimate, abs_tol=1e-6)
        assert isclose(told.share.low, sharing.share().low, abs_tol=1e-6)
        assert isclose(told.share.high, sharing.share().high, abs_tol=1e-6)
        n_sets = prod(range(len(again.table.names), len(again.table.names) - len(inside), -1))
        n_sets //= prod(range(1, len(inside) + 1))
        if not given:
            log_p = min(0.0, sharing.log_p(sharing.hidden, sharing.margins(2)) + log(n_sets))
            assert told.p_value == p_text(log_p)
        assert words_are_explained(again, group, told.words)
        if not given:
            bounds_come_out_again(again, group)
            if group.rule is not None:
                chances_come_out_again(again, inside, group.rule)


def bounds_come_out_again(again: Again, group: Submodel) -> None:
    """What pairs across the bars may share at most, and what all columns but one share."""
    n_rows, inside = len(again.rows), members(group.variables)
    bounds = []
    for u, v in group.colored_links():
        dof = (again.table.n_levels[u] - 1) * (again.table.n_levels[v] - 1)
        g2 = max(2 * n_rows * again.shared((u, v)), dof)
        if float(chndtr(g2, dof, 0.0)) <= 0.05:  # rather independent than this
            bounds.append(0.0)
        else:
            bounds.append(
                brentq(lambda nc, g2=g2, dof=dof: float(chndtr(g2, dof, nc)) - 0.05, 0.0, 50 * g2 + 50)
            )
    if bounds:
        assert group.pairwise_bound is not None
        assert isclose(group.pairwise_bound, max(bounds) / (2 * n_rows), rel_tol=1e-6, abs_tol=1e-12)
    assert group.parts_share is not None
    parts = combinations(inside, len(inside) - 1)
    assert isclose(group.parts_share, max(map(again.shared, parts)), abs_tol=1e-9)


def chances_come_out_again(again: Again, inside: tuple[int, ...], rule: Rule) -> None:
    """How often the rule of a group would hold by chance, and the intervals (Wilson's, by its equation)."""
    n_rows = len(again.rows)
    shares = [(rate.share, rate.low, rate.high, rate.n_rows) for rate in rule.rates]
    if rule.kind != "rates":
        shares.append((rule.holds, rule.low, rule.high, n_rows))
    for share, *limits, n in shares:
        for limit in limits:  # a limit is as far from the share as 1.96 of its own standard deviations
            apart = 1.959964**2 * limit * (1 - limit) / n
            assert isclose((share - limit) ** 2, apart, rel_tol=1e-6, abs_tol=1e-9)
    if rule.kind == "function":
        assert rule.target is not None
        assert isclose(rule.by_chance, max(again.count((rule.target,)).values()) / n_rows, abs_tol=1e-9)
    if (additive := rule.additive) is not None:
        chances = [again.one_apart(inside, additive, (place,)) for place in range(len(inside))]
        assert isclose(rule.by_chance, max(chances), abs_tol=1e-9)


def test_rules(again: Again) -> None:
    """Rows that obey a rule, and how many would if one part of its columns were independent of the rest."""
    # In kr_vs_kp c9 is "c8 or c22", in every row; sums that come near such a function are not told.
    assert bool(again.learned.rules) == (again.table.names[0] != "c1")
    assert len(again.summary.rules) == len(again.learned.rules)
    for rule, told in zip(again.learned.rules, again.summary.rules, strict=True):
        m, n_rows = len(rule.variables), len(again.rows)
        broken = sum(count for cell, count in again.count(rule.variables).items() if rule.sum_of(cell) != 0)
        assert (rule.n_rows, rule.n_broken, rule.n_blank) == (n_rows, broken, 0)
        cuts = [part for size in range(1, m) for part in combinations(range(m), size)]
        chances = [again.one_apart(rule.variables, rule, part) for part in cuts]
        chances += [again.one_apart_within(rule, one, two) for one, two in permutations(range(m), 2)]
        # The library takes it from 5,000 rows at most.
        assert isclose(rule.by_chance, max(chances), abs_tol=1e-9 if n_rows <= 5000 else 0.02)
        log_p = float(binom.logsf(n_rows - broken - 1, n_rows, rule.by_chance))
        assert log_p < rule.log_p_value < 0  # corrected for the rules that there are
        expected = f"{100 * rule.by_chance:.1f} % by chance"
        assert expected in told.evidence and p_text(rule.log_p_value) in told.evidence
        share = re.match(r"in ([\d.]+) % of rows", told.evidence)
        assert share is not None and is_among(share[1], [100 * (1 - broken / n_rows)])
        words = (
            f"{broken:,} rows break it" if broken > 1 else "1 row breaks it" if broken else "no row breaks it"
        )
        assert words in told.evidence
        obeys, breaks = (cell for line in told.table.cells for cell in line)
        assert (obeys.count, breaks.count) == (n_rows - broken, broken)
        assert isclose(obeys.expected, rule.by_chance * n_rows)
        assert isclose(breaks.expected, (1 - rule.by_chance) * n_rows)


def test_single_links(again: Again) -> None:
    """What was found before two links at once were tried, as far as it is in the network, and what was not."""
    single = again.summary.single
    assert single is not None
    first = [entry for entry in again.learned.trace if entry.action != "rule"]
    alone: set[tuple[int, int]] = set()
    for entry in first:
        if entry.lookahead > 1:
            break
        alone ^= set(entry.links)
    links = set(again.learned.links)
    assert set(single.links) == links & alone
    assert len(single.found) == len(single.links) and len(single.missed) == len(links - alone)


def words_are_explained(again: Again, group: Submodel, words: tuple[str, ...]) -> bool:
    """Whether each number in the words is one that :func:`is_same` or this module has computed again."""
    assert group.share is not None
    known = [group.total_correlation, group.total_correlation / log(2), 5, 95, group.variables.bit_count()]
    known += [100 * value for value in (group.share.estimate, group.share.low, group.share.high)]
    known += [value for value in (group.pairwise_bound, group.parts_share) if value is not None]
    known += [len(group.undecided) - 3, group.variables.bit_count() - 1]
    if group.rule is not None:
        known += [100 * x for x in (group.rule.holds, group.rule.by_chance, group.rule.low, group.rule.high)]
        known += [len(group.rule.rates) - 8]
        if group.rule.additive is not None:
            known += [group.rule.additive.modulus, group.rule.additive.constant]
        known += [100 * x for rate in group.rule.rates for x in (rate.share, rate.low, rate.high)]
    labels = {str(level) for levels in again.table.levels for level in levels}
    return all(token in labels or is_among(token, known) for line in words for token in NUMBER.findall(line))


def is_among(token: str, known: list[float]) -> bool:
    """Whether a printed number is one of some, rounded to as many digits."""
    plain = token.replace(",", "")
    decimals = len(plain.partition(".")[2]) if "e" not in plain else 0
    bar = 0.5 * 10**-decimals if "e" not in plain else 0.06 * float(plain)
    return any(abs(float(plain) - value) <= bar + 1e-9 for value in known)


def test_evidence(again: Again) -> None:
    groups = ranked_groups(again.learned.submodels or ())
    drawn = [(g, told.evidence) for g, told in zip(groups, again.summary.groups or (), strict=True)]
    assert any(evidence is not None for _, evidence in drawn)
    for group, evidence in drawn:
        if evidence is not None and not group.context:
            blocks = [members(b) for b in group.partition]
            if len(blocks) == 1:
                blocks = [(v,) for v in blocks[0]]
            check_evidence(again, blocks, evidence)


def check_evidence(again: Again, blocks: list[tuple[int, ...]], evidence: GroupTables) -> None:
    crossing = [tuple(sorted(p)) for a, b in combinations(blocks, 2) for p in product(a, b)]
    shared = {p: again.entropy((p[0],)) + again.entropy((p[1],)) - again.entropy(p) for p in crossing}
    assert evidence.n_pairs == len(crossing)
    assert isclose(evidence.most_shared, max(shared.values()), abs_tol=1e-9)
    number = {name: v for v, name in enumerate(again.table.names)}
    for table in evidence.pairs:
        pair = sorted(number[name] for name in (*table.row_names, table.column_name))
        check_table(again, table, [(v,) for v in pair])
    check_table(again, evidence.joint, blocks)


def check_table(again: Again, table: Contrast, blocks: list[tuple[int, ...]]) -> None:
    """Counts, what is expected of them, what is shared and what chance would give."""
    n_rows, inside = len(again.rows), tuple(sorted(v for block in blocks for v in block))
    number = {name: v for v, name in enumerate(again.table.names)}
    rows = [number[name] for name in table.row_names]
    for labels, line in zip(table.row_labels, table.cells, strict=True):
        for place, cell in enumerate(line):
            at = dict(zip(rows, labels, strict=True))
            if table.column_labels:
                at[number[table.column_name]] = table.column_labels[place]
            codes = {v: list(map(str, again.table.levels[v])).index(x) for v, x in at.items()}
            assert cell.count == again.count(inside)[tuple(codes[v] for v in inside)]
            expected = n_rows * prod(again.count(b)[tuple(codes[v] for v in b)] / n_rows for b in blocks)
            assert isclose(cell.expected, expected, rel_tol=1e-9, abs_tol=1e-9)
            assert (cell.tone != 0) == (abs(cell.count - expected) > 3 * max(expected, 1.0) ** 0.5)
    assert table.shared is not None
    total = sum(again.entropy(block) for block in blocks) - again.entropy(inside)
    assert isclose(table.shared, total, abs_tol=1e-9)
    if table.by_chance is not None:
        sizes = [prod(again.table.n_levels[v] for v in block) for block in blocks]
        dof = prod(sizes) - 1 - sum(size - 1 for size in sizes)
        assert isclose(table.by_chance, dof / (2 * n_rows), rel_tol=1e-9)


def test_steps(again: Again) -> None:
    """Gains by entropies of the rows; p-values and numbers of graphs by a search that counts in another way."""
    other = learn(again.table, backend="numpy", find_groups=False)
    links: set[tuple[int, int]] = set()
    before = graph_entropy(again, links)
    assert len(again.summary.steps) == len(again.learned.trace)
    steps = list(zip(again.summary.steps, again.learned.trace, strict=True))
    for step, entry in steps:
        if entry.rule is not None:  # told of the rows: the divergence of how often it holds from chance
            shares = entry.rule.holds, 1 - entry.rule.holds
            chances = entry.rule.by_chance, 1 - entry.rule.by_chance
            told = sum(p * log(p / q) for p, q in zip(shares, chances, strict=True) if p)
            assert isclose(step.gain, told, abs_tol=1e-9)
    steps = [(step, entry) for step, entry in steps if entry.rule is None]
    for (step, entry), same in zip(steps, (entry for entry in other.trace if entry.rule is None), strict=True):
        links = links | set(entry.links) if entry.action == "add" else links - set(entry.links)
        after = graph_entropy(again, links)
        change = before - after if entry.action == "add" else after - before
        assert isclose(abs(step.gain), abs(change), abs_tol=1e-9)
        assert (step.links, step.graphs_tested) == (same.links, same.graphs_tested)
        assert step.p_value == ("" if same.log_p_value is None else p_value_text(same.log_p_value))
        before = after


def graph_entropy(again: Again, links: set[tuple[int, int]]) -> float:
    graph = ChordalGraph.empty(len(again.table.names)).extended(tuple(sorted(links)))
    return sum(sign * again.entropy(members(s)) for s, sign in signed_sets(graph).items() if s)


def test_strengths_of_links(again: Again) -> None:
    best: dict[tuple[int, int], float] = dict.fromkeys(again.learned.links, 0.0)
    for clique in again.learned.cliques:
        for u, v in combinations(sorted(clique), 2):
            rest = tuple(w for w in sorted(clique) if w not in (u, v))
            shared = again.entropy(tuple(sorted((*rest, u)))) + again.entropy(tuple(sorted((*rest, v))))
            shared -= again.entropy(tuple(sorted(clique))) + (again.entropy(rest) if rest else 0.0)
            levels = again.table.n_levels
            dof = (levels[u] - 1) * (levels[v] - 1) * prod(levels[w] for w in rest)
            best[u, v] = max(best[u, v], shared - dof / (2 * len(again.rows)))
    for link in again.summary.map.links:
        if link.is_final:
            assert isclose(link.strength, best[link.ends], abs_tol=1e-9)


def test_facts(again: Again) -> None:
    facts, levels = dict(again.summary.facts), again.table.n_levels
    graph = ChordalGraph.empty(len(levels)).extended(again.learned.links)
    terms = {members(s): sign for s, sign in signed_sets(graph).items() if s}
    free = sum(sign * (prod(levels[v] for v in s) - 1) for s, sign in terms.items())
    assert facts["free parameters"] == f"{free:,}"
    assert facts["rows"] == f"{len(again.rows):,}" and facts["variables"] == str(len(levels))
    assert facts["smoothing"] == "1 row"  # one row spread evenly over each table

    def smoothed(variables: tuple[int, ...]) -> float:
        table = again.counts(variables)
        chances = (table + 1 / table.size) / (len(again.rows) + 1)
        return float(-(chances * np.log(chances)).sum())

    entropy = sum(sign * smoothed(s) for s, sign in terms.items())
    assert facts["entropy of the network"] == f"{entropy:.4f} nats"


def numbers_in(value: object) -> list[float]:
    """Return all numbers in a summary: values, lengths of lists, and those that stand in texts."""
    if isinstance(value, str):
        return [float(token.replace(",", "")) for token in NUMBER.findall(value)]
    if isinstance(value, int | float):
        return [float(value)]
    if isinstance(value, dict):
        value = tuple(value.items())
    if isinstance(value, tuple | list):
        return [float(len(value)), *(x for part in value for x in numbers_in(part))]
    found = fields(value) if is_dataclass(value) else ()
    return [x for field in found for x in numbers_in(getattr(value, field.name))]


def printed(page: str) -> list[str]:
    """Return the numbers that a reader sees or hears, in drawings and replayed steps too."""
    told = re.findall(r'"words": "([^"]*)"|(?:aria-label|title)="([^"]*)"', page)
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return NUMBER.findall(unescape(" ".join([re.sub(r"<[^>]*>", " ", text), *map("".join, told)])))


def of_the_template() -> set[str]:
    """Return the numbers that stand in the page itself, such as the nats of a fair coin."""
    folder = Path(html.__file__).parent / "templates"
    texts = [re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", " ", file.read_text(encoding="utf-8"), flags=re.DOTALL)
             for file in sorted(folder.glob("*.html"))]  # fmt: skip
    return {token for text in texts for token in printed(text)}


def test_the_page_prints_no_other_number(again: Again) -> None:
    summary = again.summary
    known = numbers_in(summary)
    known += numbers_in(summary.lead)
    known += [len(variable.levels) - 8 for variable in summary.variables]
    known += [clique.n_occupied - len(clique.cells) for clique in summary.cliques]
    known += [link.strength / log(2) for link in summary.strongest_links]  # printed in bits
    for group in summary.groups or ():
        if group.evidence is not None:
            shown = len(group.evidence.pairs)
            known += [group.evidence.n_pairs - shown, shown - 2, shown - 3]
    without = sum(group.evidence is None for group in summary.groups or ())
    known += [without, len(summary.groups or ()) - 1, *range(1, len(summary.groups or ()) + 1)]
    exact = {round(abs(value), d) for value in known for d in range(9)}
    static = of_the_template()
    strange = [
        token
        for token in printed(html.report_page(summary))
        if token not in static and round(float(token.replace(",", "")), 8) not in exact
    ]
    assert strange == []
